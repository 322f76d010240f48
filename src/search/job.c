/* job - the rows that are searched.
 *
 * A table may have columns without information (constant, or a multiple of another), repeated rows,
 * and more rows than a search needs. The search sees a part of it: columns that differ, at most
 * ROWS_MAX rows, ordered so that any first k of them are good probes:
 *
 *   - far apart. Terms are compared by their part outside a span of low-degree functions,
 *     and close points leave little. Each next row is the one farthest from those before it, in
 *     ranks, so that the unit of a column does not matter.
 *   - of moderate |y|. Where y nearly cancels its relative error is large, and the largest values
 *     dominate all sums; so the smallest tenth and the largest twentieth come last.
 *
 * Formulas are verified on all rows of the table (offer.c). */
#include <math.h>
#include <string.h>

#include "num/num.h"
#include "search/search_impl.h"

enum { ROWS_MAX = 400, PROBES_MAX = 96 };

/* ---------------------------------------------------------------- columns ------------------- */

static bool is_constant(const double *x, int64_t rows) {
    for (int64_t i = 1; i < rows; i++)
        if (x[i] != x[0]) return false;
    return true;
}

/* Is b a multiple of a, up to two roundings? */
static bool is_multiple(const double *b, const double *a, int64_t rows) {
    int64_t k = 0;
    while (k < rows && a[k] == 0) k++;
    if (k == rows) return false;
    double factor = b[k] / a[k];
    for (int64_t i = 0; i < rows; i++)
        if (!(fabs(b[i] - factor * a[i]) <= 0x1p-51 * fabs(b[i]))) return false;
    return true;
}

static void choose_columns(sl_search__job *j) {
    const sl_dataset *all = j->all;
    int n = 0;
    for (int v = 0; v < all->inputs; v++) {
        bool keep = !is_constant(all->x[v], all->rows);
        for (int u = 0; keep && u < n; u++)
            keep = !is_multiple(all->x[v], all->x[j->column[u]], all->rows);
        if (keep) j->column[n++] = v;
    }
    j->rows.inputs = n;
}

/* ---------------------------------------------------------------- rows ---------------------- */

static uint64_t row_hash(const sl_search__job *j, int64_t i) {
    uint64_t h = sl_hash(&j->all->y[i], sizeof(double), 1);
    for (int v = 0; v < j->rows.inputs; v++)
        h = sl_hash(&j->all->x[j->column[v]][i], sizeof(double), h);
    return h;
}

static bool rows_equal(const sl_search__job *j, int64_t a, int64_t b) {
    if (j->all->y[a] != j->all->y[b]) return false;
    for (int v = 0; v < j->rows.inputs; v++)
        if (j->all->x[j->column[v]][a] != j->all->x[j->column[v]][b]) return false;
    return true;
}

/* list[] := rows of `all` that are equal to none before them; returns how many. */
static sl_status distinct_rows(int64_t *list, int64_t *n, const sl_search__job *j) {
    int64_t rows = j->all->rows, size = 16;
    while (size < 2 * rows) size *= 2;
    int64_t *slot = sl_malloc((size_t)size, sizeof *slot);
    if (!slot) return sl_fail_memory((size_t)size, sizeof *slot, "the search for repeated rows");
    memset(slot, 0xFF, (size_t)size * sizeof *slot);
    *n = 0;
    for (int64_t i = 0; i < rows; i++) {
        int64_t s = (int64_t)(row_hash(j, i) & (uint64_t)(size - 1));
        while (slot[s] >= 0 && !rows_equal(j, slot[s], i)) s = (s + 1) & (size - 1);
        if (slot[s] >= 0) continue;
        slot[s] = i;
        list[(*n)++] = i;
    }
    sl_free(slot);
    return SL_OK;
}

/* ---------------------------------------------------------------- order --------------------- */

/* rank[i] := place of x[i] among all, from 0 to 1; equal values get the mean of their places. */
static void ranks(double *rank, sl_keyed *room, const double *x, int n) {
    for (int i = 0; i < n; i++) room[i] = (sl_keyed){ x[i], i };
    sl_num_sort_keyed(room, n);
    for (int i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && room[end].key == room[i].key;) end++;
        for (int k = i; k < end; k++) rank[room[k].at] = 0.5 * (i + end - 1) / SL_MAX(n - 1, 1);
    }
}

/* Rows as they are ordered: coordinates in ranks, and how far each is from those already taken. */
typedef struct layout {
    int n, inputs;
    double *rank[SL_DATA_MAX_INPUTS];
    double *gap; // squared distance to the nearest row taken
    bool *apart; // too small or too large a |y| to be a probe
    int *order;
} layout;

static void take(layout *l, int row, int place) {
    l->order[place] = row;
    l->gap[row] = -1;
    for (int i = 0; i < l->n; i++) {
        double d = 0;
        for (int v = 0; v < l->inputs; v++) {
            double z = l->rank[v][i] - l->rank[v][row];
            d += z * z;
        }
        if (l->gap[i] > d) l->gap[i] = d;
    }
}

/* The row nearest to the middle. */
static int middle(const layout *l) {
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < l->n; i++) {
        double d = l->apart[i] ? 1e6 : 0;
        for (int v = 0; v < l->inputs; v++) {
            double z = l->rank[v][i] - 0.5;
            d += z * z;
        }
        if (d < least) least = d, best = i;
    }
    return best;
}

static int farthest(const layout *l) {
    int best = -1;
    for (int pass = 0; pass < 2 && best < 0; pass++) {
        double most = -0.5;
        for (int i = 0; i < l->n; i++)
            if (l->gap[i] > most && l->apart[i] == (pass == 1)) most = l->gap[i], best = i;
    }
    return best;
}

static void spread_out(layout *l) {
    int probes = SL_MIN(l->n, PROBES_MAX), place = 0;
    for (int i = 0; i < l->n; i++) l->gap[i] = INFINITY;
    take(l, middle(l), place++);
    while (place < probes) take(l, farthest(l), place), place++;
    for (int i = 0; i < l->n; i++)
        if (l->gap[i] >= 0) l->order[place++] = i;
}

/* Marks the smallest tenth and the largest twentieth of |y|. */
static void set_apart(layout *l, sl_keyed *room, const double *y) {
    for (int i = 0; i < l->n; i++) room[i] = (sl_keyed){ fabs(y[i]), i };
    sl_num_sort_keyed(room, l->n);
    for (int i = 0; i < l->n; i++)
        l->apart[room[i].at] = i < l->n / 10 || i >= l->n - l->n / 20 || room[i].key == 0;
}

/* list[0 .. n) := the same rows in the order described above. */
static sl_status order_rows(int64_t *list, int n, sl_search__job *j) {
    size_t mark = sl_arena_mark(&j->arena);
    layout l = { .n = n, .inputs = j->rows.inputs };
    double *x = sl_arena_alloc(&j->arena, (size_t)n * sizeof *x);
    sl_keyed *room = sl_arena_alloc(&j->arena, (size_t)n * sizeof *room);
    int64_t *old = sl_arena_alloc(&j->arena, (size_t)n * sizeof *old);
    l.gap = sl_arena_alloc(&j->arena, (size_t)n * sizeof *l.gap);
    l.apart = sl_arena_alloc(&j->arena, (size_t)n * sizeof *l.apart);
    l.order = sl_arena_alloc(&j->arena, (size_t)n * sizeof *l.order);
    bool enough = x && room && old && l.gap && l.apart && l.order;
    for (int v = 0; v < l.inputs && enough; v++) {
        l.rank[v] = sl_arena_alloc(&j->arena, (size_t)n * sizeof(double));
        enough = l.rank[v] != NULL;
        for (int i = 0; i < n; i++) x[i] = j->all->x[j->column[v]][list[i]];
        if (enough) ranks(l.rank[v], room, x, n);
    }
    if (!enough) return sl_fail_memory((size_t)n, sizeof(double), "the order of the rows");
    for (int i = 0; i < n; i++) x[i] = j->all->y[list[i]];
    set_apart(&l, room, x);
    spread_out(&l);
    memcpy(old, list, (size_t)n * sizeof *old);
    for (int i = 0; i < n; i++) list[i] = old[l.order[i]];
    sl_arena_rewind(&j->arena, mark);
    return SL_OK;
}

/* ---------------------------------------------------------------- the whole ----------------- */

static sl_status gather_rows(sl_search__job *j, const int64_t *list, int64_t n) {
    for (int v = 0; v < j->rows.inputs; v++) {
        j->positive[v] = true;
        for (int64_t i = 0; i < j->all->rows; i++)
            if (!(j->all->x[j->column[v]][i] > 0)) j->positive[v] = false;
    }
    const sl_dataset chosen = sl_data_view_inputs(j->all, j->column, j->rows.inputs);
    return sl_data_pick_rows(&j->rows, &j->arena, &chosen, list, n);
}

sl_status sl_search__prepare(sl_search__job *j) {
    sl_status st;
    int64_t n = 0;
    int64_t *list = sl_malloc((size_t)j->all->rows, sizeof *list);
    if (!list) return sl_fail_memory((size_t)j->all->rows, sizeof *list, "the rows of a search");
    j->rows = *j->all;
    j->digits = sl_search__digits(j->all->y, j->all->rows);
    choose_columns(j);
    SL_GO(distinct_rows(list, &n, j));
    if (n > ROWS_MAX) { // evenly over the table
        for (int64_t i = 0; i < ROWS_MAX; i++)
            list[i] = list[(int64_t)((double)i * (double)n / ROWS_MAX)];
        n = ROWS_MAX;
    }
    SL_GO(order_rows(list, (int)n, j));
    st = gather_rows(j, list, n);
done:
    sl_free(list);
    return st;
}
