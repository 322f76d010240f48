/* report_page FILE - writes the page of a small study that never was, for the tests in a
 * browser. */
#include <stdio.h>

#include "report/report_test.h"

static report_study study;

static sl_status write_page(const char *path) {
    sl_arena arena = { 0 };
    sl_str page = { 0 };
    sl_file *f = NULL;
    sl_status st;
    SL_GO(report_study_make(&study, &arena, 200));
    SL_GO(sl_report_html(&page, &study.in));
    SL_GO(sl_file_create(&f, path));
    SL_GO(sl_file_write(f, page.text, page.len));
    st = sl_file_commit(&f);
done:
    sl_file_discard(&f);
    sl_str_clear(&page);
    sl_arena_clear(&arena);
    return st;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "report_page FILE\n");
        return 2;
    }
    if (write_page(argv[1]) == SL_OK) return 0;
    fprintf(stderr, "%s\n", sl_last_error());
    return 1;
}
