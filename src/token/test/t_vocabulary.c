/* The vocabulary: ids and texts stand for each other, and none has moved. */
#include "fixture/fixture.h"

#include <string.h>

#include "token/token_impl.h"

static void ids_and_texts_are_one_to_one(void **state) {
    sl_fixture *t = *state;
    for (int id = 0; id < SL_TOKEN_COUNT; id++) {
        const char *text = sl_token_text(id);
        SL_CHECK(t, text && *text, "id %d has no text", id);
        SL_CHECK(t, sl_token_find(text, strlen(text)) == id, "\"%s\" finds %d, not %d", text,
                 sl_token_find(text, strlen(text)), id);
    }
    SL_CHECK(t, !sl_token_text(-1) && !sl_token_text(SL_TOKEN_COUNT), "a text without a row");
    SL_CHECK(t, !sl_token_reserved(-1) && !sl_token_reserved(SL_TOKEN_COUNT), "a row beyond");
}

/* Against a search that knows nothing of tables: all texts of one and two bytes, and every text of
 * the vocabulary cut short, lengthened, or with one byte changed. */
static int find_slowly(const char *text, size_t n) {
    for (int id = 0; id < SL_TOKEN_COUNT; id++)
        if (strlen(sl_token_text(id)) == n && memcmp(sl_token_text(id), text, n) == 0) return id;
    return -1;
}

static void check_find(sl_fixture *t, const char *text, size_t n) {
    SL_CHECK(t, sl_token_find(text, n) == find_slowly(text, n), "\"%.*s\" finds %d", (int)n, text,
             sl_token_find(text, n));
}

static void nothing_else_is_found(void **state) {
    sl_fixture *t = *state;
    char text[32];
    check_find(t, "", 0);
    for (int i = 0; i < 1 << 16; i++) {
        text[0] = (char)i, text[1] = (char)(i >> 8);
        check_find(t, text, 1);
        check_find(t, text, 2);
    }
    for (int id = 0; id < SL_TOKEN_COUNT; id++) {
        const size_t n = strlen(sl_token_text(id));
        for (size_t k = 0; k < n; k++) check_find(t, sl_token_text(id), k);
        for (size_t k = 0; k < n; k++) {
            for (int c = 0; c < 256; c++) {
                memcpy(text, sl_token_text(id), n + 1);
                text[n] = (char)c;
                check_find(t, text, n + 1);
                text[k] = (char)c;
                check_find(t, text, n);
            }
        }
    }
}

static void these_are_in_use(void **state) {
    sl_fixture *t = *state;
    static const char *const words[] = {
        "<pad>", "<start>", "<end>", "0",   "1",      "2",      "3",      "4",     "5", "6",
        "7",     "8",       "9",     "+",   "-",      "^",      "{",      "}",     "(", ")",
        "e",     "x_1",     "x_2",   "x_3", "\\cdot", "\\frac", "\\sqrt", "\\sin",
    };
    int used = 0;
    for (int id = 0; id < SL_TOKEN_COUNT; id++) used += !sl_token_reserved(id);
    for (int i = 0; i < SL_LEN(words); i++) {
        const int id = sl_token_find(words[i], strlen(words[i]));
        SL_CHECK(t, id >= 0 && !sl_token_reserved(id), "%s is not in use", words[i]);
    }
    SL_CHECK(t, used == SL_LEN(words), "%d tokens are in use, not %d", used, SL_LEN(words));
}

/* Checkpoints hold this. A row that changes its text or place makes them worthless: reserve a new
 * row instead. */
static void no_row_has_moved(void **state) {
    sl_fixture *t = *state;
    char hash[33];
    sl_token_vocabulary_hash(hash);
    SL_CHECK(t, strcmp(hash, "7f9377c8506f9713fd726815c20a0bca") == 0,
             "the vocabulary is another one: %s", hash);
    SL_CHECK(t,
             sl_token_find("<pad>", 5) == 0 && sl_token_find("\\frac", 5) == 22 &&
                 sl_token_find("x_1", 3) == 26 && sl_token_find("\\omega", 6) == 103,
             "a row has moved");
}

/* The table in the document is the vocabulary: a line for each row, in order. */
static void the_document_has_the_same_table(void **state) {
    sl_fixture *t = *state;
    static const char *const class_names[] = {
#define X(id, name) name,
        SL_CLASSES(X)
#undef X
    };
    char *text;
    size_t n;
    SL_MUST(t, sl_file_read(&text, &n, "docs/formats.md", 1 << 20)); // tests run in the source tree
    int found = 0;
    bool same = true;
    char line[128];
    const char *at = strstr(text, "| id | token |");
    for (; same && at && found < SL_TOKEN_COUNT; found++) {
        snprintf(line, sizeof line, "\n| %d | `%s` | %s%s |\n", found, sl_token_text(found),
                 class_names[sl_token__rows[found].class],
                 sl_token_reserved(found) ? ", reserved" : "");
        for (char *bar = strstr(line, "`|`"); bar; bar = NULL) { // a bar ends a cell
            memmove(bar + 3, bar + 2, strlen(bar + 1));
            memcpy(bar, "`\\|`", 4);
        }
        const char *row = strstr(at, line);
        same = row != NULL;
        if (row) at = row + 1;
    }
    sl_free(text);
    SL_CHECK(t, found == SL_TOKEN_COUNT && same, "row %d of the table should be%s", found - 1,
             line);
}

static void reasons_have_names_and_texts(void **state) {
    sl_fixture *t = *state;
    for (int a = 0; a < SL_TOKEN_REASON_COUNT; a++) {
        SL_CHECK(t, *sl_token_reason_text((sl_token_reason)a), "reason %d has no text", a);
        for (int b = 0; b < a; b++)
            SL_CHECK(t,
                     strcmp(sl_token_reason_name((sl_token_reason)a),
                            sl_token_reason_name((sl_token_reason)b)) != 0,
                     "reasons %d and %d share a name", a, b);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(ids_and_texts_are_one_to_one),
        SL_TEST(nothing_else_is_found),
        SL_TEST(these_are_in_use),
        SL_TEST(no_row_has_moved),
        SL_TEST(the_document_has_the_same_table),
        SL_TEST(reasons_have_names_and_texts),
    };
    return sl_test_main("token.vocabulary", tests, SL_LEN(tests));
}
