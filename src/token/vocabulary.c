/* The vocabulary: ids and their texts. */
#include "token/token_impl.h"

#define C(number, id, character, class, in_use) \
    [number] = { (const char[]){ character, '\0' }, 1, SL_CLASS_##class, in_use },
#define W(number, id, word, class, in_use) \
    [number] = { word, sizeof(word) - 1, SL_CLASS_##class, in_use },
const sl_token_row sl_token__rows[SL_TOKEN_COUNT] = { SL_TOKENS(C, W) };
#undef C
#undef W

// rows, and their numbers from 0 without a gap: no two are the same, or the sum would be another
#define X(...) +1
_Static_assert(SL_TOKENS(X, X) == SL_TOKEN_COUNT, "the vocabulary has a fixed number of rows");
#undef X
#define X(number, ...) +number
_Static_assert(SL_TOKENS(X, X) == SL_TOKEN_COUNT * (SL_TOKEN_COUNT - 1) / 2, "numbered 0, 1, ...");
#undef X
// the reader counts on it
_Static_assert(SL_TOKEN__9 - SL_TOKEN__0 == 9, "digits follow each other");
_Static_assert(SL_TOKEN__X_3 - SL_TOKEN__X_1 == SL_TOKEN_VARIABLES - 1, "so do variables");
// and sl_token_find on this
_Static_assert(SL_TOKEN__X_9 - SL_TOKEN__X_1 == 8 && SL_TOKEN__C_9 - SL_TOKEN__C_1 == 8, "names");
_Static_assert((int)SL_TOKEN__PAD == SL_TOKEN_PAD && (int)SL_TOKEN__START == SL_TOKEN_START &&
                   (int)SL_TOKEN__END == SL_TOKEN_END,
               "the face names these");

static const sl_token_row *row(int id) {
    return id >= 0 && id < SL_TOKEN_COUNT ? &sl_token__rows[id] : NULL;
}

const char *sl_token_text(int id) { return row(id) ? row(id)->text : NULL; }

bool sl_token_reserved(int id) { return row(id) && !row(id)->in_use; }

/* ---------------------------------------------------------------- finding ------------------- */

/* The id of a single character; 0, which is no character's, where it has none. */
#define C(number, id, character, class, in_use) [character] = number,
#define W(...)
static const uint8_t id_of_character[256] = { SL_TOKENS(C, W) };
#undef C
#undef W

/* The words, in the order of their ids: those in use come first. */
#define C(...)
#define W(number, ...) number,
static const uint8_t words[] = { SL_TOKENS(C, W) };
#undef C
#undef W

int sl_token_find(const char *text, size_t n) {
    if (n == 1) {
        const int id = id_of_character[(unsigned char)*text];
        return id ? id : -1;
    }
    if (n == 0) return -1;
    // variables are half of all words in a text
    if (n == 3 && text[1] == '_' && text[2] >= '1' && text[2] <= '9') {
        if (*text == 'x') return SL_TOKEN__X_1 + (text[2] - '1');
        if (*text == 'c') return SL_TOKEN__C_1 + (text[2] - '1');
    }
    // the last byte distinguishes most words, and the length most others
    for (int i = 0; i < SL_LEN(words); i++) {
        const sl_token_row *w = &sl_token__rows[words[i]];
        if (w->length == n && w->text[n - 1] == text[n - 1] && memcmp(w->text, text, n) == 0)
            return words[i];
    }
    return -1;
}

/* Over the texts alone: a checkpoint stays good when a reserved row comes into use. */
void sl_token_vocabulary_hash(char out[33]) {
    char all[SL_TOKEN_COUNT * 12];
    size_t n = 0;
    for (int id = 0; id < SL_TOKEN_COUNT; id++) {
        const size_t length = sl_token__rows[id].length + 1u; // with the NUL, which separates
        SL_ASSERT(n + length <= sizeof all);
        memcpy(all + n, sl_token__rows[id].text, length);
        n += length;
    }
    sl_snprintf(out, 33, "%016llx%016llx", (unsigned long long)sl_hash(all, n, 0),
                (unsigned long long)sl_hash(all, n, 1));
}

/* ---------------------------------------------------------------- reasons ------------------- */

SL_DEFINE_NAMES(sl_token_reason_name, sl_token_reason, SL_TOKEN_REASONS, SL_ROW_NAME)
SL_DEFINE_NAMES(sl_token_reason_text, sl_token_reason, SL_TOKEN_REASONS, SL_ROW_TEXT)
