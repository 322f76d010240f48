/* For the tests of this folder: a choice, and tokens in messages. */
#ifndef SL_TOKEN_SPELL_H
#define SL_TOKEN_SPELL_H

#include <stdio.h>

#include "token/token.h"

static inline int pick(sl_rng *rng, int n) { return (int)sl_rng_below(rng, (uint32_t)n); }

/* For messages: valid until the next call. */
static inline const char *spell(const sl_token *ids, int n) {
    static char text[4096];
    sl_str s = { 0 };
    sl_token_to_latex(&s, ids, n);
    snprintf(text, sizeof text, "%s", sl_str_text(&s));
    sl_str_clear(&s);
    return text;
}

#endif
