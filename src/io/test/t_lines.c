/* Lines of a file: the same as cutting the whole text at every LF, in bounded memory, whatever the
 * bytes, however they arrive. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture/fixture.h"
#include "io/io.h"

static const char *file_of(sl_fixture *t, const char *bytes, size_t n) {
    const char *path = sl_test_path("lines.txt");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    SL_CHECK(t, fd >= 0 && write(fd, bytes, n) == (ssize_t)n, "cannot write %s", path);
    close(fd);
    return path;
}

/* The naive version, over the whole text: takes the first line off the rest; false if none. */
static bool cut(const char **line, size_t *n, const char **rest, size_t *n_rest) {
    if (*n_rest == 0) return false;
    size_t len = 0;
    while (len < *n_rest && (*rest)[len] != '\n') len++;
    const bool ended = len < *n_rest;
    *line = *rest;
    *n = ended && len > 0 && (*rest)[len - 1] == '\r' ? len - 1 : len;
    *rest += len + ended;
    *n_rest -= len + ended;
    return true;
}

/* The next line, however many signals come first; they are counted. */
static int interrupted;
static sl_status next_line(const char **line, size_t *n, sl_lines *l) {
    sl_status st;
    while ((st = sl_io_lines_next(line, n, l)) == SL_ECANCEL) interrupted++;
    return st;
}

static void same_as_cut(sl_fixture *t, sl_lines *l, const char *text, size_t size,
                        size_t max_bytes) {
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3, size -= 3;
    const char *line, *want;
    size_t n, n_want;
    int64_t number = 0;
    while (cut(&want, &n_want, &text, &size)) {
        sl_status st = next_line(&line, &n, l);
        number++;
        SL_CHECK(t, sl_io_lines_number(l) == number, "line %lld is given as %lld",
                 (long long)number, (long long)sl_io_lines_number(l));
        if (n_want > max_bytes) {
            SL_CHECK(t, st == SL_ELIMIT && !line, "%zu bytes are not past the limit of %zu", n_want,
                     max_bytes);
            continue;
        }
        SL_CHECK(t, st == SL_OK, "line %lld: %s", (long long)number, sl_last_error());
        SL_CHECK(t, line && n == n_want && memcmp(line, want, n) == 0,
                 "line %lld has %zu bytes, not %zu", (long long)number, n, n_want);
    }
    for (int i = 0; i < 2; i++) { // the end stays the end
        SL_MUST(t, next_line(&line, &n, l));
        SL_CHECK(t, !line && n == 0, "a line behind the last");
        SL_CHECK(t, sl_io_lines_number(l) == number, "not the number of the last line");
    }
}

/* Text in which everything special is common; lines of up to about `length` bytes. */
static size_t random_text(sl_rng *rng, char *text, size_t max, uint32_t length) {
    size_t n = sl_rng_below(rng, (uint32_t)max), k = 0;
    if (n > 3 && sl_rng_below(rng, 3) == 0) {
        memcpy(text, "\xEF\xBB\xBF\xEF\xBB\xBF", 6);
        k = 1 + sl_rng_below(rng, 6); // also cut short, and twice
    }
    for (; k < n; k++) {
        uint32_t what = sl_rng_below(rng, length);
        text[k] = (char)(what == 0   ? '\n'
                         : what == 1 ? '\r'
                         : what == 2 ? '\0'
                                     : (int)sl_rng_below(rng, 256));
        if (what == 3 && k + 1 < n) memcpy(text + k++, "\r\n", 2);
    }
    return n;
}

static void lines_are_the_text_cut_at_lf(void **state) {
    sl_fixture *t = *state;
    enum { SIZE = 300 };
    for (int i = 0; i < sl_test_iters(t, 1000); i++) {
        char text[SIZE + 8];
        size_t n = random_text(&t->rng, text, SIZE, 4 + sl_rng_below(&t->rng, 60));
        size_t max_bytes = 1 + sl_rng_below(&t->rng, i % 2 ? 8 : 100);
        sl_lines *l = NULL;
        SL_MUST(t, sl_io_lines_open(&l, file_of(t, text, n), max_bytes));
        same_as_cut(t, l, text, n, max_bytes);
        sl_io_lines_close(l);
    }
}

/* Past the first buffer, which must grow, and up to the limit, where it must not. */
static void long_lines_are_whole(void **state) {
    sl_fixture *t = *state;
    enum { SIZE = 1 << 20 };
    char *text = sl_malloc(SIZE + 8, 1);
    assert_non_null(text);
    for (int i = 0; i < sl_test_iters(t, 6); i++) {
        size_t n = random_text(&t->rng, text, SIZE, 1000u << i % 6 * 2);
        size_t max_bytes = i % 2 ? SIZE : 100000 + sl_rng_below(&t->rng, 100000);
        sl_lines *l = NULL;
        SL_MUST(t, sl_io_lines_open(&l, file_of(t, text, n), max_bytes));
        same_as_cut(t, l, text, n, max_bytes);
        sl_io_lines_close(l);
    }
    // of lengths around the first buffer and its double, with either end or none
    static const size_t around[] = { 65536, 131072 };
    static const char *const ends[] = { "\n", "\r\n", "" };
    memset(text, 'a', SIZE);
    for (int k = 0; k < SL_LEN(around); k++)
        for (int off = -4; off <= 4; off++)
            for (int e = 0; e < SL_LEN(ends); e++)
                for (size_t max_bytes = around[k] - 2; max_bytes <= around[k] + 2; max_bytes += 2) {
                    size_t n = (size_t)((int64_t)around[k] + off), n_end = strlen(ends[e]);
                    memcpy(text + n, ends[e], n_end);
                    sl_lines *l = NULL;
                    SL_MUST(t, sl_io_lines_open(&l, file_of(t, text, n + n_end), max_bytes));
                    same_as_cut(t, l, text, n + n_end, max_bytes);
                    sl_io_lines_close(l);
                    memset(text + n, 'a', n_end);
                }
    sl_free(text);
}

static void memory_is_bounded_by_the_longest_line_allowed(void **state) {
    sl_fixture *t = *state;
    enum { SIZE = 1 << 20 };
    char *text = sl_malloc(SIZE, 1);
    assert_non_null(text);
    memset(text, 'a', SIZE);
    text[SIZE - 3] = text[SIZE - 1] = '\n';
    sl_lines *l = NULL;
    const char *line;
    size_t n;
    SL_MUST(t, sl_io_lines_open(&l, file_of(t, text, SIZE), 1000));
    int64_t calls = sl_mem_calls();
    assert_int_equal(sl_io_lines_next(&line, &n, l), SL_ELIMIT);
    SL_CHECK(t, strstr(sl_last_error(), "lines.txt:1: longer than 1000 bytes"), "no place: %s",
             sl_last_error());
    SL_MUST(t, sl_io_lines_next(&line, &n, l)); // behind it reading goes on
    assert_int_equal(n, 1);
    assert_int_equal(sl_io_lines_number(l), 2);
    SL_CHECK(t, sl_mem_calls() == calls, "the buffer was made larger than a line may be");
    sl_io_lines_close(l);
    sl_free(text);
}

/* ---------------------------------------------------------------- pipes --------------------- */

static void ignore(int number) { (void)number; }

/* A process that writes text into a pipe, a few bytes at a time; *fd is the end to read from. */
static pid_t write_in_pieces(sl_fixture *t, int *fd, const char *text, size_t n) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    uint64_t seed = sl_rng_u64(&t->rng);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sl_rng rng;
        sl_rng_init(&rng, seed, 0, 0);
        close(ends[0]);
        while (n > 0) {
            size_t part = 1 + sl_rng_below(&rng, 40);
            part = SL_MIN(part, n);
            if (write(ends[1], text, part) != (ssize_t)part) _exit(1);
            text += part;
            n -= part;
            usleep(sl_rng_below(&rng, 100));
        }
        _exit(0);
    }
    close(ends[1]);
    *fd = ends[0];
    return child;
}

/* Bytes that come in pieces, from standard input, while signals interrupt the reading. */
static void a_pipe_gives_the_same_lines(void **state) {
    sl_fixture *t = *state;
    enum { SIZE = 2000 };
    char text[SIZE + 8];
    struct sigaction act = { .sa_handler = ignore }, old; // no SA_RESTART: read says EINTR
    struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { 0 };
    sigaction(SIGALRM, &act, &old);
    int held = dup(STDIN_FILENO);
    for (int i = 0; i < 5; i++) {
        int fd;
        size_t n = random_text(&t->rng, text, SIZE, 30);
        pid_t child = write_in_pieces(t, &fd, text, n);
        dup2(fd, STDIN_FILENO);
        close(fd);
        setitimer(ITIMER_REAL, &often, NULL);
        sl_lines *l = NULL;
        SL_MUST(t, sl_io_lines_open(&l, "-", 60));
        same_as_cut(t, l, text, n, 60);
        setitimer(ITIMER_REAL, &never, NULL);
        sl_io_lines_close(l);
        SL_CHECK(t, fcntl(STDIN_FILENO, F_GETFD) >= 0, "standard input was closed");
        waitpid(child, NULL, 0);
    }
    SL_CHECK(t, interrupted > 0, "no signal was reported");
    dup2(held, STDIN_FILENO);
    close(held);
    sigaction(SIGALRM, &old, NULL);
}

/* From a terminal, a line must be returned when it is complete, not when the next one is. */
static void a_line_does_not_wait_for_the_next(void **state) {
    sl_fixture *t = *state;
    static const char *const first[] = { "1", "", "\xEF", "\xEF\xBB\xBF", "\xEF\xBB\xBF[]" };
    for (int i = 0; i < SL_LEN(first); i++) {
        int ends[2];
        char path[32];
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], first[i], strlen(first[i])), strlen(first[i]));
        assert_int_equal(write(ends[1], "\n", 1), 1);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        sl_lines *l = NULL;
        const char *line;
        size_t n;
        alarm(20); // ends the program if reading waits
        SL_MUST(t, sl_io_lines_open(&l, path, 100));
        SL_MUST(t, sl_io_lines_next(&line, &n, l));
        alarm(0);
        SL_CHECK(t, line && sl_io_lines_number(l) == 1, "no line");
        sl_io_lines_close(l);
        close(ends[0]);
        close(ends[1]);
    }
}

/* ---------------------------------------------------------------- faults -------------------- */

static void unreadable_files_are_named(void **state) {
    sl_fixture *t = *state;
    const char *folder = sl_test_path("folder");
    mkdir(folder, 0700);
    const char *cases[][2] = {
        { sl_test_path("missing"), "missing: No such file" },
        { folder, "folder: it is a folder, not a file" },
        { "", "without a name" },
    };
    for (int i = 0; i < SL_LEN(cases); i++) {
        sl_lines *l = NULL;
        sl_status st = sl_io_lines_open(&l, cases[i][0], 100);
        SL_CHECK(t, st == SL_EIO && !l, "\"%s\" is %s", cases[i][0], sl_status_text(st));
        SL_CHECK(t, strstr(sl_last_error(), cases[i][1]), "not named: %s", sl_last_error());
    }

    // opens but cannot be read: address 0 is not mapped
    sl_lines *l = NULL;
    const char *line;
    size_t n;
    SL_MUST(t, sl_io_lines_open(&l, "/proc/self/mem", 100));
    assert_int_equal(sl_io_lines_next(&line, &n, l), SL_EIO);
    SL_CHECK(t, strstr(sl_last_error(), "/proc/self/mem"), "not named: %s", sl_last_error());
    sl_io_lines_close(l);
    sl_io_lines_close(NULL);
}

static sl_status read_all(const char *path) {
    sl_status st;
    sl_lines *l = NULL;
    const char *line;
    size_t n;
    SL_GO(sl_io_lines_open(&l, path, 1 << 20));
    do SL_GO(sl_io_lines_next(&line, &n, l));
    while (line);
done:
    sl_io_lines_close(l);
    return st;
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    enum { SIZE = 300000 };
    char *text = sl_malloc(SIZE, 1);
    assert_non_null(text);
    memset(text, 'a', SIZE);
    text[10] = '\n';
    const char *path = file_of(t, text, SIZE);
    sl_free(text);
    SL_EACH_ALLOCATION(t, read_all(path));
}

/* ---------------------------------------------------------------- rewriting ------------------ */

static bool is_odd(const char *line, size_t n, int64_t number, void *payload) {
    SL_CHECK((sl_fixture *)payload, n > 0 && line[0] == (char)('0' + number), "line %lld is %.*s",
             (long long)number, (int)n, line);
    return number % 2 == 1;
}

static sl_status write_and_rewrite(sl_fixture *t) {
    static const char text[] = "1\n2\n3 is longer than the limit\n4\r\n5\n6\n7";
    return sl_io_lines_rewrite(file_of(t, text, sizeof text - 1), 8, is_odd, t);
}

static void a_rewritten_file_has_the_lines_that_were_kept(void **state) {
    sl_fixture *t = *state;
    char *now;
    size_t n;
    SL_EACH_ALLOCATION(t, write_and_rewrite(t));
    SL_MUST(t, sl_file_read(&now, &n, sl_test_path("lines.txt"), 1000));
    SL_CHECK(t, n == 6 && memcmp(now, "1\n5\n7\n", 6) == 0, "it has %.*s", (int)n, now);
    sl_free(now);
    SL_CHECK(t, sl_io_lines_rewrite(sl_test_path("missing"), 8, is_odd, t) == SL_EIO, "no file");
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(lines_are_the_text_cut_at_lf),
        SL_TEST(long_lines_are_whole),
        SL_TEST(memory_is_bounded_by_the_longest_line_allowed),
        SL_TEST(a_pipe_gives_the_same_lines),
        SL_TEST(a_line_does_not_wait_for_the_next),
        SL_TEST(unreadable_files_are_named),
        SL_TEST(lack_of_memory_is_reported),
        SL_TEST(a_rewritten_file_has_the_lines_that_were_kept),
    };
    return sl_test_main("io.lines", tests, SL_LEN(tests));
}
