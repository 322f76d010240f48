/* The journal: what was judged comes back to the bit, a torn line is dropped, and whatever else is
 * in the file is reported and left alone. */
#include "eval/test/small.h"

#include <float.h>
#include <unistd.h>

static const char identity[] = "{\"model\":\"m\",\"samples\":128,\"part\":{\"t\":1.5,\"on\":true},"
                               "\"list\":[1,2]}";

enum { MOST = 64 };
typedef struct seen {
    sl_fixture *t;
    int n;
    sl_judgement j[MOST];
    char id[MOST][40];
} seen;

static sl_status see(const sl_judgement *j, const char *id, void *payload) {
    seen *s = payload;
    SL_CHECK(s->t, s->n < MOST, "too many");
    s->j[s->n] = *j;
    SL_TRY(sl_eval__text(&s->j[s->n].expr, &s->t->arena, j->expr));
    SL_TRY(sl_eval__text(&s->j[s->n].latex, &s->t->arena, j->latex));
    SL_TRY(sl_eval__text(&s->j[s->n].method, &s->t->arena, j->method));
    snprintf(s->id[s->n++], sizeof s->id[0], "%s", id);
    return SL_OK;
}

static double random_real(sl_rng *rng) {
    switch (sl_rng_below(rng, 6)) {
    case 0: return NAN;
    case 1: return -DBL_MAX;
    case 2: return 1;
    case 3: return 1 - 0x1p-53;
    default: return ldexp(sl_rng_range(rng, -1, 1), (int)sl_rng_below(rng, 200) - 100);
    }
}

static sl_judgement random_judgement(sl_rng *rng, int i) {
    static const char *const texts[] = { "", "x1*sin(x2)", "\\frac{x_1}{2}",
                                         "\"quoted\" \xc3\xa4" };
    sl_judgement j = { .problem = i / 3,
                       .seed = i % 3,
                       .verdict = (sl_verdict)sl_rng_below(rng, SL_VERDICT_COUNT),
                       .same_tokens = sl_rng_below(rng, 2),
                       .cut = sl_rng_below(rng, 2),
                       .among = sl_rng_below(rng, 2),
                       .claimed = sl_rng_below(rng, 2),
                       .structure = sl_rng_below(rng, 2),
                       .on_front = sl_rng_below(rng, 2),
                       .answered = random_real(rng),
                       .r2 = random_real(rng),
                       .r2_fresh = random_real(rng),
                       .loss = random_real(rng),
                       .samples = sl_rng_below(rng, 1000),
                       .distinct = sl_rng_below(rng, 1000),
                       .seconds = sl_rng_uniform(rng),
                       .expr = texts[sl_rng_below(rng, 4)],
                       .latex = texts[sl_rng_below(rng, 4)],
                       .method = sl_rng_below(rng, 2) ? "sums" : "" };
    for (int r = 0; r < SL_TOKEN_REASON_COUNT; r++)
        if (sl_rng_below(rng, 2)) j.invalid[r] = sl_rng_below(rng, 100);
    return j;
}

static void id_of(char out[40], int i) { snprintf(out, 40, "no %d", i); }

/* Opens, adds judgements first .. first + n - 1 of the stream, closes. */
static sl_status session(sl_fixture *t, seen *s, const char *path, const char *identity_text,
                         int first, int n) {
    sl_eval__journal j;
    s->n = 0;
    s->t = t;
    SL_TRY(sl_eval__journal_open(&j, path, identity_text, see, s));
    sl_status st = SL_OK;
    for (int i = first; i < first + n && st == SL_OK; i++) {
        char id[40];
        sl_rng rng;
        sl_rng_init(&rng, 5, 0, (uint64_t)i);
        const sl_judgement judgement = random_judgement(&rng, i);
        id_of(id, i);
        st = sl_eval__journal_add(&j, &judgement, id);
    }
    sl_eval__journal_close(&j);
    return st;
}

static void check_seen(sl_fixture *t, const seen *s, int n) {
    SL_CHECK(t, s->n == n, "%d judgements, not %d", s->n, n);
    for (int i = 0; i < n; i++) {
        char id[40];
        sl_rng rng;
        sl_rng_init(&rng, 5, 0, (uint64_t)i);
        const sl_judgement want = random_judgement(&rng, i);
        id_of(id, i);
        SL_CHECK(t, same_judgement(&s->j[i], &want) && s->j[i].seconds == want.seconds,
                 "judgement %d is another", i);
        assert_string_equal(s->id[i], id);
    }
}

static void judgements_come_back(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("come_back");
    static seen s;
    for (int k = 0; k < 5; k++) {
        SL_MUST(t, session(t, &s, path, identity, 10 * k, 10));
        check_seen(t, &s, 10 * k);
    }
    const char *text = file_text(t, path);
    int lines = 0;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    assert_int_equal(lines, 51);
    SL_MUST(t, session(t, &s, path, identity, 0, 0)); // to look at it changes nothing
    assert_string_equal(file_text(t, path), text);
    // the same identity in another spelling
    SL_MUST(t, session(t, &s, path,
                       "{\"part\": {\"on\": true, \"t\": 15e-1}, \"samples\": 128, "
                       "\"list\": [1, 2], \"model\": \"m\"}",
                       0, 0));
    check_seen(t, &s, 50);
    SL_MUST(t, session(t, &s, NULL, identity, 0, 9)); // none is kept
    assert_int_equal(s.n, 0);
}

/* Cut off at any byte: what has a whole line is kept, the rest is made again. */
static void any_cut_is_repaired(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("torn");
    static seen s;
    SL_MUST(t, session(t, &s, path, identity, 0, 3));
    const char *whole = file_text(t, path);
    const size_t size = strlen(whole);
    const size_t mark = sl_arena_mark(&t->arena);
    for (size_t cut = 0; cut <= size; cut++) {
        // each mend waits for the disk: all places near the ends of lines, and some between
        bool near = cut % 29 == 0;
        for (size_t i = cut < 3 ? 0 : cut - 3; i <= cut + 3 && i < size; i++)
            near = near || i == 0 || whole[i] == '\n';
        if (!near) continue;
        sl_arena_rewind(&t->arena, mark);
        unlink(path);
        sl_test_write_text(path, whole);
        assert_int_equal(truncate(path, (off_t)cut), 0);
        // a line that lacks nothing but its end is whole too
        int lines = 0;
        for (size_t i = 0; i <= cut; i++) lines += whole[i] == '\n';
        const int kept = lines > 0 ? lines - 1 : 0;
        SL_MUST(t, session(t, &s, path, identity, kept, 3 - kept));
        check_seen(t, &s, kept);
        SL_CHECK(t, strcmp(file_text(t, path), whole) == 0, "cut at %zu: %s", cut,
                 file_text(t, path));
    }
}

/* Refused with these words, and not a byte is changed. */
static void refused(sl_fixture *t, const char *path, const char *identity_text, sl_status st,
                    const char *said) {
    static seen s;
    const char *was = file_text(t, path);
    const sl_status got = session(t, &s, path, identity_text, 0, 3);
    SL_CHECK(t, got == st && strstr(sl_last_error(), said), "%s: %s; not %s", sl_status_text(got),
             sl_last_error(), said);
    assert_string_equal(file_text(t, path), was);
}

static void other_files_are_left_alone(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("foreign");
    static const char *const files[] = {
        "dear diary",
        "dear diary\n",
        "{}\n",
        "[]",
        "{\"journal\":7}\n",
        "{\"journal\":\"symlaw train\",\"version\":1,\"identity\":{}}\n",
        "\n",
        "{\"journal\"\n",
        "{\"journal\":\"symlaw eval\",\"version\":1,\"identitY",
    };
    for (int i = 0; i < SL_LEN(files); i++) {
        sl_test_write_text(path, files[i]);
        refused(t, path, identity, SL_EINVAL, "is not a journal");
    }
    const char *folder = sl_test_path("folder");
    static seen s;
    SL_MUST(t, sl_folder_make(folder, 0777));
    assert_int_equal(session(t, &s, folder, identity, 0, 1), SL_EIO);
    assert_int_equal(session(t, &s, sl_test_path("none/such"), identity, 0, 1), SL_EIO);
}

static void another_identity_is_refused(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("other");
    static const struct {
        const char *identity, *said;
    } list[] = {
        { "{\"model\":\"m\",\"samples\":64,\"part\":{\"t\":1.5,\"on\":true},\"list\":[1,2]}",
          "its \"samples\" is 128, not 64;" },
        { "{\"model\":\"n\",\"samples\":128,\"part\":{\"t\":1.5,\"on\":true},\"list\":[1,2]}",
          "its \"model\" is \"m\", not \"n\";" },
        { "{\"model\":\"m\",\"samples\":128,\"part\":{\"t\":1.25,\"on\":true},\"list\":[1,2]}",
          "its \"t\" is 1.5, not 1.25;" },
        { "{\"model\":\"m\",\"samples\":128,\"part\":{\"t\":1.5,\"on\":false},\"list\":[1,2]}",
          "its \"on\" is true, not false;" },
        { "{\"model\":\"m\",\"samples\":128,\"part\":{\"t\":1.5,\"on\":true},\"list\":[1,3]}",
          "its \"list\" is 2, not 3;" },
        { "{\"model\":\"m\",\"samples\":128,\"part\":{\"t\":1.5,\"on\":true},\"list\":[1]}",
          "its \"list\" is another;" },
        { "{\"model\":\"m\",\"samples\":128,\"part\":{\"t\":1.5},\"list\":[1,2]}",
          "its \"on\" is another;" },
        { "{\"model\":\"m\",\"samples\":128,\"part\":7,\"list\":[1,2]}",
          "its \"part\" is another;" },
        { "{\"model\":\"m\",\"samples\":128,\"part\":{\"t\":1.5,\"on\":true},\"list\":[1,2],\"x\":"
          "1}",
          "its \"x\" is another;" },
        { "{\"model\":\"m\",\"samples\":null,\"part\":{\"t\":1.5,\"on\":true},\"list\":[1,2]}",
          "its \"samples\" is 128, not null;" },
        { "{}", "its \"model\" is another;" },
    };
    static seen s;
    SL_MUST(t, session(t, &s, path, identity, 0, 2));
    for (int i = 0; i < SL_LEN(list); i++)
        refused(t, path, list[i].identity, SL_EINVAL, list[i].said);
    refused(t, path, NULL, SL_EINVAL, "another evaluation");
    // a later version of this program
    char *text = file_text(t, path);
    *strstr(text, "\"version\":1") = '\0';
    char *newer = sl_arena_alloc(&t->arena, strlen(text) + strlen(identity) + 100);
    sprintf(newer, "%s\"version\":2,\"identity\":%s}\n", text, identity);
    sl_test_write_text(path, newer);
    refused(t, path, identity, SL_EINVAL, "its \"version\" is 2, not 1;");
}

static void a_damaged_line_is_named(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("damaged");
    static const struct {
        const char *from, *to, *said;
    } list[] = {
        { "\"id\":\"no 1\"", "\"id\":7", ":3: a damaged line: \"id\" is missing or not" },
        { "\"seed\":1", "\"seed\":1.5", ":3: a damaged line: \"seed\"" },
        { "\"seed\":1", "\"seed\":-1", ":3: a damaged line: \"seed\"" },
        { "\"seed\":1", "\"seed\":4294967296", ":3: a damaged line: \"seed\"" },
        { "\"verdict\":\"", "\"verdict\":\"un", ":2: a damaged line: \"verdict\"" },
        { "\"problem\":0", "\"prob\":0", ":2: a damaged line: \"problem\"" },
        { "\"r2\":", "\"r2\":\"1\",\"r3\":", ":2: a damaged line: \"r2\"" },
        { "\"cut\":", "\"cut\":0,\"uncut\":", ":2: a damaged line: \"cut\"" },
        { "\"expr\":", "\"expr\":null,\"ex\":", ":2: a damaged line: \"expr\"" },
        { "\"invalid\":{", "\"invalid\":{\"nonsense\":1,", ":2: a damaged line: \"invalid\"" },
        { "\"invalid\":{", "\"invalid\":7,\"valid\":{", ":2: a damaged line: \"invalid\"" },
        { "{\"id\":\"no 1\"", "[]\n{\"id\":\"no 1\"", ":3: a damaged line: it is no object" },
        { "{\"id\":\"no 1\"", "\n{\"id\":\"no 1\"", ":3: a damaged line: " },
        { "{\"id\":\"no 2\"", "\"id\":\"no 2\"", ":4: a damaged line: " }, // whole, and last
    };
    static seen s;
    SL_MUST(t, session(t, &s, path, identity, 0, 3));
    const char *whole = file_text(t, path);
    for (int i = 0; i < SL_LEN(list); i++) {
        char *text = sl_arena_alloc(&t->arena, strlen(whole) + 100);
        const char *at = strstr(whole, list[i].from);
        SL_CHECK(t, at != NULL, "there is no %s", list[i].from);
        sprintf(text, "%.*s%s%s", (int)(at - whole), whole, list[i].to, at + strlen(list[i].from));
        sl_test_write_text(path, text);
        refused(t, path, identity, SL_EFORMAT, list[i].said);
    }
}

/* A write that fails is reported; and the file is good for another try. */
static void each_write_may_fail(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("full");
    static seen s;
    for (int torn = 0; torn < 2; torn++) {
        int failed = 0;
        for (int64_t n = 1;; n++) {
            unlink(path);
            if (torn) { // repair writes too
                SL_MUST(t, session(t, &s, path, identity, 0, 2));
                const char *text = file_text(t, path);
                assert_int_equal(truncate(path, (off_t)strlen(text) - 5), 0);
            }
            sl_file_fail_at(n);
            const sl_status st = session(t, &s, path, identity, torn ? 1 : 0, torn ? 2 : 3);
            sl_file_fail_at(0);
            SL_CHECK(t, st == SL_OK || st == SL_EIO, "%s", sl_status_text(st));
            const int kept = s.n;
            SL_MUST(t, session(t, &s, path, identity, 0, 0));
            const int have = s.n;
            SL_CHECK(t, have >= kept && have <= 3, "%d after a failure, %d before", have, kept);
            SL_MUST(t, session(t, &s, path, identity, have, 3 - have));
            SL_MUST(t, session(t, &s, path, identity, 0, 0));
            check_seen(t, &s, 3);
            if (st == SL_OK) break;
            failed++;
        }
        SL_CHECK(t, failed >= 4, "only %d writes", failed);
    }
}

static sl_status anew(sl_fixture *t, const char *path) {
    static seen s;
    unlink(path);
    return session(t, &s, path, identity, 0, 2);
}

static sl_status again(sl_fixture *t, const char *path, const char *text) {
    static seen s;
    sl_test_write_text(path, text);
    return session(t, &s, path, identity, 1, 1);
}

static void each_allocation_may_fail(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("memory");
    SL_EACH_ALLOCATION(t, anew(t, path));
    char *text = file_text(t, path);
    text[strlen(text) - 5] = '\0';
    SL_EACH_ALLOCATION(t, again(t, path, text));
}

/* A line of a version that had no search lacks members, and is read all the same. */
static void older_lines_are_read(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("older.jsonl");
    sl_eval__journal journal;
    seen s = { .t = t };
    const sl_judgement j = { .verdict = SL_VERDICT_CLOSE,
                             .claimed = true,
                             .r2 = 0.5,
                             .answered = 2,
                             .expr = "x1",
                             .latex = "x_1",
                             .method = "sums" };
    SL_MUST(t, sl_eval__journal_open(&journal, path, identity, see, &s));
    SL_MUST(t, sl_eval__journal_add(&journal, &j, "a"));
    sl_eval__journal_close(&journal);
    char *text = file_text(t, path), *from = strstr(text, ",\"claimed\"");
    char *to = strstr(text, ",\"invalid\"");
    assert_true(from && to && from < to);
    memmove(from, to, strlen(to) + 1);
    sl_test_write_text(path, text);
    SL_MUST(t, sl_eval__journal_open(&journal, path, identity, see, &s));
    sl_eval__journal_close(&journal);
    assert_true(s.n == 1 && s.j[0].verdict == SL_VERDICT_CLOSE && s.j[0].r2 == 0.5);
    assert_true(!s.j[0].claimed && isnan(s.j[0].answered) && !*s.j[0].method);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(older_lines_are_read),        SL_TEST(judgements_come_back),
        SL_TEST(any_cut_is_repaired),         SL_TEST(other_files_are_left_alone),
        SL_TEST(another_identity_is_refused), SL_TEST(a_damaged_line_is_named),
        SL_TEST(each_write_may_fail),         SL_TEST(each_allocation_may_fail),
    };
    return sl_test_main("eval.journal", tests, SL_LEN(tests));
}
