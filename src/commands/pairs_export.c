/* pairs_export - a range of pairs as JSON lines, CSV, .npy or text for people.
 *
 * Pairs are made and written by all threads, a block at a time:
 *
 *     block     [ part 0 | part 1 | ...        ]  some pairs each, a text of its own
 *     output    part 0, part 1, ...               in order, by the calling thread
 *
 * Memory is bounded by a block, whatever the range is; the pairs of a part do not depend on how
 * many threads there are, so neither do the bytes. */
#include <math.h>

#include "commands/commands_impl.h"

/* What a worker writes often is a cache line away from that of the next worker. */
typedef struct worker {
    sl_arena arena; // of the pair at hand
    sl_str text;    // an expression on its way into JSON
    char apart[128];
} worker;

typedef sl_status (*write_fn)(sl_str *s, worker *w, const sl_commands__export *x, const sl_pair *p);

/* ---------------------------------------------------------------- formats ------------------- */

static sl_status add_expr(sl_str *s, worker *w, const char *name, sl_format format,
                          const sl_node *e) {
    sl_str_truncate(&w->text, 0);
    SL_TRY(sl_expr_print(&w->text, format, e, NULL));
    sl_io_json_add_text(s, name, sl_str_text(&w->text));
    return SL_OK;
}

static void add_reals(sl_str *s, const char *name, const double *v, int64_t n) {
    sl_io_json_open(s, name, '[');
    for (int64_t i = 0; i < n; i++) sl_io_json_add_real(s, NULL, v[i]);
    sl_io_json_close(s, ']');
}

static sl_status write_jsonl(sl_str *s, worker *w, const sl_commands__export *x, const sl_pair *p) {
    char id[40];
    (void)x;
    sl_snprintf(id, sizeof id, "%s/%lld", sl_pairs_split_name(p->split), (long long)p->index);
    sl_io_json_open(s, NULL, '{');
    sl_io_json_add_text(s, "id", id);
    sl_io_json_add_int(s, "base", p->base);
    SL_TRY(add_expr(s, w, "expr", SL_FORMAT_PYTHON, p->expr));
    SL_TRY(add_expr(s, w, "latex", SL_FORMAT_LATEX, p->expr));
    sl_io_json_open(s, "tokens", '[');
    for (int i = 0; i < p->n_tokens; i++) sl_io_json_add_int(s, NULL, p->tokens[i]);
    sl_io_json_close(s, ']');
    sl_io_json_open(s, "x", '[');
    for (int c = 0; c < p->data.inputs; c++) add_reals(s, NULL, p->data.x[c], p->data.rows);
    sl_io_json_close(s, ']');
    add_reals(s, "y", p->data.y, p->data.rows);
    sl_io_json_close(s, '}');
    sl_str_add_char(s, '\n');
    return SL_OK;
}

static int variables_of(const sl_commands__export *x) {
    return sl_universe_config(sl_pairs_universe(x->pairs))->variables;
}

/* A row is JSON values without the brackets: they put the commas between them, and what reads one
 * reads the other. A column that was left out is nan, which numpy and pandas read. */
static sl_status write_csv(sl_str *s, worker *w, const sl_commands__export *x, const sl_pair *p) {
    const int variables = variables_of(x);
    (void)w;
    for (int i = 0; i < p->data.rows; i++) {
        if (!x->alone) sl_io_json_add_int(s, NULL, p->index);
        for (int c = 0; c < p->data.inputs; c++) sl_io_json_add_real(s, NULL, p->data.x[c][i]);
        for (int c = p->data.inputs; c < variables; c++)
            sl_str_add(s, ",nan"); // never the first one
        sl_io_json_add_real(s, NULL, p->data.y[i]);
        sl_str_add_char(s, '\n');
    }
    return SL_OK;
}

/* Point by point x1, x2, ..., y as they are in memory. */
static sl_status write_npy(sl_str *s, worker *w, const sl_commands__export *x, const sl_pair *p) {
    const int variables = variables_of(x);
    (void)w;
    for (int i = 0; i < p->data.rows; i++) {
        double row[SL_UNIVERSE_MAX_VARS + 1];
        for (int c = 0; c < variables; c++)
            row[c] = c < p->data.inputs ? p->data.x[c][i] : (double)NAN;
        row[variables] = p->data.y[i];
        sl_str_add_bytes(s, row, sizeof row[0] * (size_t)(variables + 1));
    }
    return SL_OK;
}

static sl_status write_pretty(sl_str *s, worker *w, const sl_commands__export *x,
                              const sl_pair *p) {
    if (p->index > x->start) sl_str_add_char(s, '\n');
    return sl_report_pair(s, &w->arena, x->pairs, p);
}

/* The header, before the first pair. */
static void write_head(sl_str *s, const sl_commands__export *x) {
    const int variables = variables_of(x);
    if (x->format == SL_COMMANDS__PAIR_NPY) {
        int64_t shape[] = { x->count, sl_pairs_config(x->pairs)->points, variables + 1 };
        sl_io_npy_header(s, shape, SL_LEN(shape));
    }
    if (x->format == SL_COMMANDS__PAIR_CSV) {
        if (!x->alone) sl_str_add(s, "pair,");
        for (int c = 1; c <= variables; c++) sl_str_addf(s, "x%d,", c);
        sl_str_add(s, "y\n");
    }
}

static write_fn writer_of(sl_commands__pair_format format) {
    switch (format) {
    case SL_COMMANDS__PAIR_JSONL: break;
    case SL_COMMANDS__PAIR_CSV: return write_csv;
    case SL_COMMANDS__PAIR_NPY: return write_npy;
    case SL_COMMANDS__PAIR_PRETTY: return write_pretty;
    }
    return write_jsonl;
}

/* ---------------------------------------------------------------- blocks -------------------- */

enum { PARTS = 64, PART_POINTS = 512 }; // a part is about this many points, but one pair at least

typedef struct block {
    const sl_commands__export *x;
    write_fn write;
    worker *workers;
    int64_t first; // pair
    int64_t grain; // pairs of a part
    sl_str part[PARTS];
} block;

static sl_status add_pairs(sl_str *s, worker *w, const block *b, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        sl_pair p;
        sl_arena_rewind(&w->arena, 0);
        SL_TRY(sl_pairs_get(&p, &w->arena, b->x->pairs, b->x->split, b->first + i));
        SL_TRY(b->write(s, w, b->x, &p));
    }
    return sl_str_status(s);
}

static sl_status make_part(int64_t begin, int64_t end, int number, void *payload) {
    block *b = payload;
    sl_str *part = &b->part[begin / b->grain], s = *part; // neighbours share a cache line with it
    sl_str_truncate(&s, 0);
    sl_status st = add_pairs(&s, &b->workers[number], b, begin, end);
    *part = s;
    return st;
}

static sl_status pass_on(sl_commands_run *run, const block *b, int64_t n) {
    for (int64_t i = 0; i * b->grain < n; i++) {
        sl_str_add_bytes(&run->output, b->part[i].text, b->part[i].len);
        SL_TRY(sl_commands__output(run));
    }
    return SL_OK;
}

static sl_status make_blocks(sl_commands_run *run, sl_pool *pool, block *b) {
    const sl_commands__export *x = b->x;
    run->total = (double)x->count;
    for (int64_t done = 0, n; done < x->count; done += n) {
        n = SL_MIN(x->count - done, PARTS * b->grain);
        b->first = x->start + done;
        run->done = (double)done;
        SL_TRY(sl_commands_send_event(&run->listener, SYMLAW_EVENT_PROGRESS, "writing", 7,
                                      run->done, run->total));
        SL_TRY(sl_par_for(pool, n, b->grain, make_part, b));
        SL_TRY(pass_on(run, b, n));
    }
    return SL_OK;
}

sl_status sl_commands__export_pairs(sl_commands_run *run, sl_pool *pool,
                                    const sl_commands__export *x) {
    const int64_t points = sl_pairs_config(x->pairs)->points;
    const int threads = sl_par_pool_threads(pool);
    block b = { .x = x, .write = writer_of(x->format), .grain = SL_MAX(1, PART_POINTS / points) };
    b.workers = sl_calloc((size_t)threads, sizeof *b.workers);
    if (!b.workers) return sl_fail_memory((size_t)threads, sizeof *b.workers, "workers");
    write_head(&run->output, x);
    sl_status st = make_blocks(run, pool, &b);
    for (int i = 0; i < threads; i++) {
        sl_arena_clear(&b.workers[i].arena);
        sl_str_clear(&b.workers[i].text);
    }
    for (int i = 0; i < PARTS; i++) sl_str_clear(&b.part[i]);
    sl_free(b.workers);
    return st;
}
