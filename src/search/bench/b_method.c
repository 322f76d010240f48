/* b_method - what one method alone finds in a file of pairs, level by level.
 *
 * The file has one pair a line: "expr", "x" by column, "y". Tab separated: number, levels that
 * found a formula (none: empty), CPU-seconds of every level that ran, the last formula, the truth.
 * all: 1 runs the levels behind one that found a formula too, so that one run shows what any order
 * of levels would find.
 *
 *     build/bench/search.method METHOD FILE [first] [pairs] [first level] [last level] [all] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "search/bench/pair_file.h"

enum { LEVELS = 24 };

static const sl_search__method *const methods[] = { &sl_search__closure, &sl_search__lattice,
                                                    &sl_search__quotients, &sl_search__rational,
                                                    &sl_search__skeletons };

static const sl_search__method *find_method(const char *name) {
    for (int i = 0; i < SL_LEN(methods); i++)
        if (!strcmp(methods[i]->name, name)) return methods[i];
    return NULL;
}

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

typedef struct range {
    int from, to;
    bool all;
} range;

static sl_status print_best(sl_str *text, const sl_search__job *j) {
    const sl_search_formula *f = &j->kept[j->n_kept - 1];
    sl_str_clear(text);
    return sl_expr_print_values(text, SL_FORMAT_INFIX, f->fit.expr, NULL, f->fit.value);
}

/* found: bit i for level i. */
static sl_status run(double *seconds, uint32_t *found, sl_str *text, const sl_search__method *m,
                     const pair *p, range levels) {
    static const sl_search_grammar grammar = SL_SEARCH_GRAMMAR_INIT;
    sl_search_options o = SL_SEARCH_OPTIONS_INIT;
    sl_dataset problem = sl_data_view(p->column, p->columns, p->y, p->rows);
    sl_search__job j = { .all = &problem, .o = &o, .precision = 0x1p-52 };
    void *state = NULL;
    bool more = true;
    sl_status st;
    o.grammar = &grammar;
    atomic_store(&j.ended, SL_SEARCH__RUNNING);
    j.result = sl_calloc(1, sizeof *j.result);
    if (!j.result) return sl_fail_memory(1, sizeof *j.result, "a result");
    SL_GO(sl_search__prepare(&j));
    SL_GO(m->open(&state, &j));
    for (int l = levels.from; l <= levels.to && more && (levels.all || !*found); l++) {
        double start = cpu_seconds();
        SL_GO(m->level(&more, state, l));
        seconds[l] = cpu_seconds() - start;
        if (!j.exact) continue;
        *found |= 1u << l;
        SL_GO(print_best(text, &j));
        j.exact = j.n_kept = 0; // the next level finds it anew
    }
    st = SL_OK;
done:
    m->close(state);
    sl_free(j.kept);
    sl_arena_clear(&j.arena);
    sl_search_result_free(j.result);
    return st;
}

int main(int argc, char **argv) {
    static pair p;
    const sl_search__method *m = argc > 2 ? find_method(argv[1]) : NULL;
    if (!m) return printf("usage: %s METHOD FILE [first] [pairs] [from] [to] [all]\n", argv[0]), 2;
    int first = argc > 3 ? atoi(argv[3]) : 0, pairs = argc > 4 ? atoi(argv[4]) : 1 << 30;
    const range levels = { argc > 5 ? atoi(argv[5]) : 0, argc > 6 ? atoi(argv[6]) : LEVELS - 1,
                           argc > 7 && atoi(argv[7]) };
    FILE *f = fopen(argv[2], "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    if (!f || levels.to >= LEVELS) return 1;
    for (int i = 0; i < first + pairs && (n = getline(&line, &room, f)) > 0; i++) {
        if (i < first) continue;
        double seconds[LEVELS] = { 0 };
        uint32_t found = 0;
        sl_str text = { 0 };
        if (read_pair(&p, line, (size_t)n) != SL_OK ||
            run(seconds, &found, &text, m, &p, levels) != SL_OK)
            return printf("%s\n", sl_last_error()), 1;
        printf("%d\t", i);
        for (int l = 0; l < LEVELS; l++)
            if (found >> l & 1) printf("%d ", l);
        printf("\t");
        for (int l = levels.from; l <= levels.to; l++) printf("%.2f ", seconds[l]);
        printf("\t%s\t%s\n", sl_str_text(&text), p.text);
        fflush(stdout);
        sl_str_clear(&text);
    }
    free(line);
    fclose(f);
    return 0;
}
