/* Random sequences of tokens for the tests of this and higher folders. */
#ifndef SL_TOKEN_TEST_H
#define SL_TOKEN_TEST_H

#include "token/token.h"

/* ids[0..*n) := a form of at most `room` tokens (2 .. SL_TOKEN_MAX), end token included: a walk
 * along the masks. Each walk draws its own likes, so that some are long sums, some deep, some full
 * of digits. Nothing is said about the value. */
void sl_token_random(sl_token *ids, int *n, sl_rng *rng, int variables, int room);

#endif
