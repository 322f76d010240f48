/* Files appear whole or not at all; errors name the path and the cause; nothing is left behind. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "fixture/fixture.h"

/* How many files stand in the test's folder? */
static int files(void) {
    DIR *d = opendir(sl_test_path("."));
    assert_non_null(d);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static sl_status save(const char *path, const char *text) {
    sl_status st;
    sl_file *f = NULL;
    SL_GO(sl_file_create(&f, path));
    SL_GO(sl_file_write(f, text, strlen(text) / 2));
    SL_GO(sl_file_write(f, text + strlen(text) / 2, strlen(text) - strlen(text) / 2));
    st = sl_file_commit(&f);
done:
    sl_file_discard(&f);
    return st;
}

/* The file must hold exactly `text`. */
static void holds(sl_fixture *t, const char *path, const char *text) {
    char *got = NULL;
    size_t n = 0;
    SL_MUST(t, sl_file_read(&got, &n, path, 1 << 20));
    assert_int_equal(n, strlen(text));
    assert_string_equal(got, text);
    sl_free(got);
}

static void says(sl_status st, sl_status want, const char *a, const char *b) {
    assert_int_equal(st, want);
    if (!strstr(sl_last_error(), a) || !strstr(sl_last_error(), b))
        fail_msg("the message lacks \"%s\" or \"%s\": %s", a, b, sl_last_error());
}

static void a_commit_replaces_the_whole_file(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("whole");
    SL_MUST(t, save(path, "the first text, which is longer"));
    holds(t, path, "the first text, which is longer");
    SL_MUST(t, save(path, "second"));
    holds(t, path, "second");
    SL_MUST(t, save(path, ""));
    holds(t, path, "");
    assert_int_equal(files(), 1);
    unlink(path);
}

static void before_the_commit_the_old_file_stands(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("old");
    SL_MUST(t, save(path, "old"));
    sl_file *f = NULL;
    SL_MUST(t, sl_file_create(&f, path));
    SL_MUST(t, sl_file_write(f, "new", 3));
    holds(t, path, "old");
    assert_int_equal(files(), 2); // the temporary lies beside it
    sl_file_discard(&f);
    assert_null(f);
    sl_file_discard(&f);
    holds(t, path, "old");
    assert_int_equal(files(), 1);
    unlink(path);
}

/* Sizes around the buffer's, small and large pieces mixed. */
static void bytes_arrive_in_order(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("order");
    enum { SIZE = 400000 };
    unsigned char *bytes = sl_malloc(SIZE, 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < SIZE; i++) bytes[i] = (unsigned char)sl_rng_u32(&t->rng);
    for (int round = 0; round < sl_test_iters(t, 12); round++) {
        static const uint32_t top[] = { 10000, 70000, 200000 };
        sl_file *f = NULL;
        SL_MUST(t, sl_file_create(&f, path));
        size_t n = 0;
        while (n < SIZE) {
            size_t piece = sl_rng_below(&t->rng, top[round % 3]);
            if (sl_rng_below(&t->rng, 5) == 0) piece = 65536; // exactly the buffer
            piece = SL_MIN(piece, SIZE - n);
            SL_MUST(t, sl_file_write(f, bytes + n, piece));
            n += piece;
        }
        SL_MUST(t, sl_file_commit(&f));
        assert_null(f);
        char *got = NULL;
        size_t got_n = 0;
        SL_MUST(t, sl_file_read(&got, &got_n, path, SIZE));
        assert_int_equal(got_n, SIZE);
        SL_CHECK(t, memcmp(got, bytes, SIZE) == 0, "round %d", round);
        sl_free(got);
    }
    sl_free(bytes);
    unlink(path);
}

/* As on a full disk: whichever write fails, it is reported and the old file stays. */
static void a_failing_write_leaves_the_old_file(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("full");
    SL_MUST(t, save(path, "old"));
    int n = 1;
    for (;; n++) {
        sl_file_fail_at(n);
        sl_status st = save(path, "new");
        sl_file_fail_at(0);
        if (st == SL_OK) break;
        says(st, SL_EIO, path, "No space left");
        holds(t, path, "old");
        assert_int_equal(files(), 1);
    }
    assert_int_equal(n, 4); // two writes and the sync
    holds(t, path, "new");

    // a caller that overlooks the failure does not get a file with a hole
    sl_file *f = NULL;
    SL_MUST(t, sl_file_create(&f, path));
    sl_file_fail_at(1);
    assert_int_equal(sl_file_write(f, "lost", 4), SL_EIO);
    SL_MUST(t, sl_file_write(f, "rest", 4));
    says(sl_file_commit(&f), SL_EIO, path, "earlier write failed");
    assert_null(f);
    holds(t, path, "new");
    assert_int_equal(files(), 1);
    unlink(path);
}

/* Named before it is safe on the disk; gone again if it does not become so. */
static void a_published_file_is_there_before_its_commit(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("published");
    for (int end = 0; end < 3; end++) {
        sl_file *f = NULL;
        SL_MUST(t, sl_file_create(&f, path));
        SL_MUST(t, sl_file_write(f, "whole", 5));
        assert_int_not_equal(access(path, F_OK), 0);
        SL_MUST(t, sl_file_publish(f));
        holds(t, path, "whole");
        assert_int_equal(files(), 1);
        if (end == 0) {
            SL_MUST(t, sl_file_commit(&f));
            sl_file_discard(&f);
            holds(t, path, "whole");
            unlink(path);
        } else if (end == 1) {
            sl_file_discard(&f);
        } else {
            sl_file_fail_at(1);
            says(sl_file_commit(&f), SL_EIO, path, "No space left");
            sl_file_fail_at(0);
        }
        assert_int_equal(files(), 0);
    }
}

static void errors_name_what_is_wrong(void **state) {
    sl_fixture *t = *state;
    sl_file *f = NULL;
    says(sl_file_create(&f, ""), SL_EIO, "without a name", "");
    says(sl_file_create(&f, "/tmp"), SL_EIO, "/tmp", "it is a folder");
    const char *slash = sl_test_path("no/");
    says(sl_file_create(&f, slash), SL_EIO, slash, "it is a folder");
    const char *lost = sl_test_path("no/such/x");
    says(sl_file_create(&f, lost), SL_EIO, lost, "does not exist");
    says(sl_file_create(&f, lost), SL_EIO, sl_test_path("no/such"), "folder");
    const char *file = sl_test_path("file"), *below = sl_test_path("file/x");
    SL_MUST(t, save(file, "x"));
    says(sl_file_create(&f, below), SL_EIO, below, "is not a folder");
    unlink(file);
    assert_null(f);
    assert_int_equal(files(), 0);
}

/* Devices and pipes cannot be replaced by renaming: they are written to. */
static sl_status add(const char *path, const char *text, bool sync) {
    sl_status st;
    sl_file *f = NULL;
    SL_GO(sl_file_append(&f, path));
    SL_GO(sl_file_write(f, text, strlen(text)));
    st = sl_file_flush(f, sync);
done:
    sl_file_discard(&f);
    return st;
}

/* A growing file: what was flushed is there while it is still open, and nothing is replaced. */
static void appending_goes_behind_what_is_there(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("grows");
    sl_file *f = NULL;
    SL_MUST(t, sl_file_append(&f, path));
    holds(t, path, "");
    SL_MUST(t, sl_file_write(f, "one\n", 4));
    SL_MUST(t, sl_file_flush(f, false));
    holds(t, path, "one\n");
    SL_MUST(t, add(path, "two\n", true)); // another writer, meanwhile
    SL_MUST(t, sl_file_write(f, "three\n", 6));
    SL_MUST(t, sl_file_flush(f, true));
    holds(t, path, "one\ntwo\nthree\n");
    sl_file_discard(&f);
    holds(t, path, "one\ntwo\nthree\n");
    assert_int_equal(files(), 1);

    for (int n = 1; n <= 2; n++) { // a full disk: at the write, at the sync
        sl_file_fail_at(n);
        says(add(path, "x", true), SL_EIO, "grows", n == 1 ? "writing" : "syncing");
    }
    sl_file_fail_at(0);
    says(add(sl_test_path("nowhere/x"), "x", false), SL_EIO, "nowhere/x", "does not exist");
    says(add(sl_test_path("."), "x", false), SL_EIO, "cannot write", "folder");
    SL_EACH_ALLOCATION(t, add(path, "y", false));
    unlink(path);
}

static void folders_are_made_with_those_above(void **state) {
    sl_fixture *t = *state;
    char path[600];
    struct stat s;
    snprintf(path, sizeof path, "%s/b//c/", sl_test_path("a"));
    for (int i = 0; i < 2; i++) { // a second time it is there
        SL_MUST(t, sl_folder_make(path, 0777));
        assert_true(stat(path, &s) == 0 && S_ISDIR(s.st_mode));
    }
    const char *file = sl_test_path("file");
    SL_MUST(t, save(file, "x"));
    says(sl_folder_make(file, 0777), SL_EIO, "cannot make folder", "Not a directory");
    says(sl_folder_make("", 0777), SL_EIO, "cannot make folder", "No such file");
    snprintf(path, sizeof path, "%s/d", file);
    says(sl_folder_make(path, 0777), SL_EIO, "cannot make folder", "Not a directory");
    SL_EACH_ALLOCATION(t, sl_folder_make(sl_test_path("a"), 0777));
    rmdir(sl_test_path("a/b/c"));
    rmdir(sl_test_path("a/b"));
    rmdir(sl_test_path("a"));
    unlink(file);
}

static void what_is_no_regular_file_is_written_directly(void **state) {
    sl_fixture *t = *state;
    SL_MUST(t, save("/dev/null", "gone"));
    struct stat s;
    assert_true(stat("/dev/null", &s) == 0 && S_ISCHR(s.st_mode));
    says(save("/dev/full", "too much"), SL_EIO, "/dev/full", "No space left");

    const char *pipe = sl_test_path("pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    int fd = open(pipe, O_RDONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    SL_MUST(t, save(pipe, "through the pipe"));
    char got[64] = "";
    assert_int_equal(read(fd, got, sizeof got - 1), 16);
    assert_string_equal(got, "through the pipe");
    close(fd);
    assert_true(stat(pipe, &s) == 0 && S_ISFIFO(s.st_mode));
    unlink(pipe);
}

/* /dev/stdout may lead to a file that a shell holds open: the same file, behind what is there. */
static void an_open_file_by_its_descriptor_is_appended_to(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("out");
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "head ", 5), 5);
    char name[64];
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    SL_MUST(t, save(name, "body"));
    close(fd);
    holds(t, path, "head body");
    unlink(path);
}

static void links_and_permissions_survive(void **state) {
    sl_fixture *t = *state;
    const char *target = sl_test_path("target"), *link = sl_test_path("link");
    SL_MUST(t, save(target, "old"));
    assert_int_equal(chmod(target, 0640), 0);
    assert_int_equal(symlink("target", link), 0);
    SL_MUST(t, save(link, "new"));
    holds(t, target, "new");
    struct stat s;
    assert_true(lstat(link, &s) == 0 && S_ISLNK(s.st_mode));
    assert_true(stat(target, &s) == 0 && (s.st_mode & 0777) == 0640);
    assert_int_equal(files(), 2);
    unlink(link);
    unlink(target);
}

/* Renaming over it would turn the link into a file. */
static void a_dangling_link_is_refused(void **state) {
    sl_fixture *t = *state;
    const char *link = sl_test_path("link");
    assert_int_equal(symlink("nothing", link), 0);
    SL_CHECK(t, save(link, "new") == SL_EIO, "written");
    SL_CHECK(t, strstr(sl_last_error(), "link"), "%s", sl_last_error());
    struct stat s;
    assert_true(lstat(link, &s) == 0 && S_ISLNK(s.st_mode));
    assert_int_equal(files(), 1);
    unlink(link);
}

/* Two writers of one path in one process: each its own temporary, the last commit wins whole. */
static void two_writers_do_not_mix(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("two");
    sl_file *a = NULL, *b = NULL;
    SL_MUST(t, sl_file_create(&a, path));
    SL_MUST(t, sl_file_create(&b, path));
    SL_MUST(t, sl_file_write(a, "aaaaaaaa", 8));
    SL_MUST(t, sl_file_write(b, "bb", 2));
    SL_MUST(t, sl_file_commit(&a));
    holds(t, path, "aaaaaaaa");
    SL_MUST(t, sl_file_commit(&b));
    holds(t, path, "bb");
    assert_int_equal(files(), 1);
    unlink(path);
}

static void reading_stops_at_the_limit(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("long");
    char *got = NULL;
    size_t n = 99;
    SL_MUST(t, save(path, "0123456789"));
    SL_MUST(t, sl_file_read(&got, &n, path, 10));
    assert_int_equal(n, 10);
    assert_string_equal(got, "0123456789");
    sl_free(got);
    got = NULL;
    says(sl_file_read(&got, &n, path, 9), SL_ELIMIT, path, "more than 9 bytes");
    says(sl_file_read(&got, &n, path, 0), SL_ELIMIT, path, "more than 0 bytes");
    says(sl_file_read(&got, &n, "/proc/self/maps", 100), SL_ELIMIT, "/proc/self/maps", "100");
    assert_null(got);
    SL_MUST(t, save(path, ""));
    SL_MUST(t, sl_file_read(&got, NULL, path, 0));
    assert_string_equal(got, "");
    sl_free(got);
    unlink(path);
}

static void reading_what_has_no_size(void **state) {
    sl_fixture *t = *state;
    char *got = NULL;
    size_t n = 0;
    SL_MUST(t, sl_file_read(&got, &n, "/proc/self/status", 1 << 20)); // says 0 bytes
    assert_true(n > 100 && strlen(got) == n && strncmp(got, "Name:", 5) == 0);
    sl_free(got);
    got = NULL;
    const char *none = sl_test_path("none");
    says(sl_file_read(&got, &n, none, 10), SL_EIO, none, "No such file");
    says(sl_file_read(&got, &n, "/tmp", 10), SL_EIO, "/tmp", "it is a folder");
    assert_null(got);
}

static mode_t mode_of(const char *path) {
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    return s.st_mode;
}

/* A file of ours that is a pipe, a device or a folder is neither read nor written nor waited for.
 */
static void our_own_files_are_regular(void **state) {
    sl_fixture *t = *state;
    const char *pipe = sl_test_path("pipe"), *socket_path = sl_test_path("socket");
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path);
    const int s = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    const struct {
        const char *path, *kind;
    } cases[] = { { pipe, "a pipe" },
                  { socket_path, "a socket" },
                  { "/dev/null", "a device" },
                  { "/dev/zero", "a device" },
                  { "/tmp", "a folder" } };
    for (int turn = 0; turn < 2; turn++) { // the pipe without and with an open other end
        const int other = turn ? open(pipe, O_RDWR | O_NONBLOCK) : -1;
        for (int i = 0; i < SL_LEN(cases); i++) {
            char *got = NULL;
            sl_file *f = NULL;
            int fd = -1;
            // opening a socket fails before it can be looked at
            const char *kind = S_ISSOCK(mode_of(cases[i].path)) ? "cannot read" : cases[i].kind;
            says(sl_file_open(&fd, cases[i].path), SL_EIO, cases[i].path, kind);
            says(sl_file_read(&got, NULL, cases[i].path, 100), SL_EIO, cases[i].path, kind);
            says(sl_file_replace(&f, cases[i].path), SL_EIO, cases[i].path, cases[i].kind);
            says(sl_file_append(&f, cases[i].path), SL_EIO, cases[i].path, cases[i].kind);
            assert_true(!got && !f && fd < 0);
        }
        if (turn) close(other);
    }
    close(s);
    unlink(socket_path);
    unlink(pipe);
    const char *path = sl_test_path("plain");
    sl_file *f = NULL;
    for (int i = 0; i < 2; i++) {
        SL_MUST(t, sl_file_replace(&f, path));
        SL_MUST(t, sl_file_write(f, "new", 3));
        SL_MUST(t, sl_file_commit(&f));
        holds(t, path, "new");
    }
    unlink(path);
}

/* What a user names as an output may be anything that takes bytes. */
static void what_is_written_directly_is_known(void **state) {
    (void)state;
    const char *pipe = sl_test_path("pipe"), *link = sl_test_path("link");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(symlink("pipe", link), 0);
    assert_true(sl_file_is_direct(pipe) && sl_file_is_direct(link));
    assert_true(sl_file_is_direct("/dev/null") && sl_file_is_direct("/dev/stdout"));
    assert_false(sl_file_is_direct("/tmp") || sl_file_is_direct(sl_test_path("none")));
    unlink(link);
    unlink(pipe);
}

/* What stands below /dev is a file there like any other. */
static void files_in_shared_memory_are_replaced(void **state) {
    sl_fixture *t = *state;
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/symlaw-t-file-%ld", (long)getpid());
    if (access("/dev/shm", W_OK) != 0) return;
    SL_MUST(t, save(path, "old"));
    SL_MUST(t, save(path, "new"));
    holds(t, path, "new");
    unlink(path);
}

static void lack_of_memory_is_reported(void **state) {
    sl_fixture *t = *state;
    const char *path = sl_test_path("memory");
    SL_MUST(t, save(path, "old"));
    sl_file *f = NULL;
    SL_EACH_ALLOCATION(t, sl_file_create(&f, path));
    assert_int_equal(files(), 2);
    sl_file_discard(&f);
    char *got = NULL;
    SL_EACH_ALLOCATION(t, sl_file_read(&got, NULL, path, 100));
    assert_string_equal(got, "old");
    sl_free(got);
    got = NULL;
    SL_EACH_ALLOCATION(t, sl_file_read(&got, NULL, "/proc/self/maps", 1 << 20)); // grows
    sl_free(got);
    assert_int_equal(files(), 1);
    unlink(path);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        SL_TEST(a_commit_replaces_the_whole_file),
        SL_TEST(before_the_commit_the_old_file_stands),
        SL_TEST(bytes_arrive_in_order),
        SL_TEST(a_failing_write_leaves_the_old_file),
        SL_TEST(a_published_file_is_there_before_its_commit),
        SL_TEST(errors_name_what_is_wrong),
        SL_TEST(appending_goes_behind_what_is_there),
        SL_TEST(folders_are_made_with_those_above),
        SL_TEST(what_is_no_regular_file_is_written_directly),
        SL_TEST(an_open_file_by_its_descriptor_is_appended_to),
        SL_TEST(links_and_permissions_survive),
        SL_TEST(a_dangling_link_is_refused),
        SL_TEST(two_writers_do_not_mix),
        SL_TEST(reading_stops_at_the_limit),
        SL_TEST(reading_what_has_no_size),
        SL_TEST(our_own_files_are_regular),
        SL_TEST(what_is_written_directly_is_known),
        SL_TEST(files_in_shared_memory_are_replaced),
        SL_TEST(lack_of_memory_is_reported),
    };
    return sl_test_main("base.file", tests, SL_LEN(tests));
}
