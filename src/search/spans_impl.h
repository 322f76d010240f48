/* Inside the search modulo spans (spans*.c) only.
 *
 *     walk -> batch of terms -> values, logarithms, projections, keys -> tables -> hits -> verify
 *
 * One sl_spans is one side, products or sums. A span is a space of functions whose coefficients are
 * free: log|x_i| and 1 for products, monomials up to a degree for sums; sums have several. A target
 * is a transform of y. Each (span, target of the first few) has a table of keys in which two terms
 * meet; all targets together have a directory, in which one term is looked up by its direction; at
 * some levels each further target gets a small table of the first terms. */
#ifndef SL_SEARCH_SPANS_IMPL_H
#define SL_SEARCH_SPANS_IMPL_H

#include <math.h>

#include "search/search_impl.h"
#include "search/spans_kernels.h"

enum {
    SL_SPANS__SPANS = 3,     // of one side at most
    SL_SPANS__QUADRATIC = SL_SPANS__SPANS, // one more, of spans_zero.c
    SL_SPANS__TABLES = 6,    // targets of one span that have a table
    SL_SPANS__SHARDS = 8,    // parts of a table, each filled by one thread at a time
    SL_SPANS__BATCH = 4096,  // terms that are processed together
    SL_SPANS__BLOCKS = SL_SPANS__BATCH / SL_SPANS__BLOCK,
    SL_SPANS__TERMS = 3,     // of one formula, besides the span
    SL_SPANS__COLUMNS = 80,  // of one least squares problem
    SL_SPANS__FIRST = 8192,  // terms that triples are made of
};

/* ---------------------------------------------------------------- spans --------------------- */

typedef struct sl_search__spans_span {
    int degree;      // of monomials; products have none
    int dim;         // functions that span it
    int rows;        // probes in use
    int left;        // dimensions that are left of these: SL_SPANS__DIMS or, with few rows, fewer
    double *normal;  // orthonormal basis of its complement: [SL_SPANS__DIMS][stride], padded with 0
    int8_t (*power)[SL_DATA_MAX_INPUTS]; // sums: exponents of function i, by column
} sl_search__spans_span;

/* power[] := the exponents of all monomials of `inputs` variables up to a degree, low degrees
 * first. Returns how many there are; no more than `room` are written. */
int sl_search__spans_monomials(int8_t (*power)[SL_DATA_MAX_INPUTS], int room, int inputs,
                               int degree);
/* value[i] := the product of powers of columns in rows 0 .. n-1. */
void sl_search__spans_monomial(double *value, const int8_t *power, const double *const *x,
                               int inputs, int64_t n);

/* ---------------------------------------------------------------- targets ------------------- */

/* The transform of y; z is the factor. */
#define SL_SPANS__KINDS(X)                                 \
    X(TIMES) /* y^power z                              */  \
    X(LESS)  /* y^power - constant z                   */  \
    X(RATIO) /* (1 - t)/(1 + t), t^power = y, power > 0 */ \
    X(SIN)                                                 \
    X(COS)                                                 \
    X(TAN)                                                 \
    X(EXP)   /* exp(y z)                               */  \
    X(LOG)   /* log(y z)                               */  \
    X(REST)  /* log(1 - y z)                           */  \
    X(LEVEL) /* exp(k (y - z)), k a scale              */

typedef enum sl_search__spans_kind {
#define X(id) SL_SPANS__##id,
    SL_SPANS__KINDS(X)
#undef X
} sl_search__spans_kind;

typedef enum sl_search__spans_factor {
    SL_SPANS__ONE,
    SL_SPANS__MONOMIAL,
    SL_SPANS__FUNCTION,
    SL_SPANS__ELEMENTARY,
    SL_SPANS__ROW, // a monomial by its row of exponents
} sl_search__spans_factor;

typedef struct sl_search__spans_target {
    sl_search__spans_kind kind;
    int8_t power;                   // of y: 1, -1, 2, -2
    sl_search__spans_factor factor; // 1, or a monomial or a function of the store
    int index;                      // which of those
    int constant;                   // LESS: number of the store's constant
} sl_search__spans_target;

/* A target as one span sees it. */
typedef struct sl_search__spans_image {
    double q[SL_SPANS__DIMS]; // projection
    double size;              // |values|, to recognise what is rounding
} sl_search__spans_image;

/* Targets by the direction of their images, read only: key -> target. */
typedef struct sl_search__spans_directory {
    uint64_t *key; // 0: free
    int *target;
    uint64_t mask;
    uint64_t filter[4096]; // a bit for some bits of each key, so that most look-ups end here
} sl_search__spans_directory;

/* ---------------------------------------------------------------- tables -------------------- */

/* One word:
 *
 *     63..36  highest bits of the key   35..24  bits of the direction   23..0  term number, from 1
 *
 * Terms that are equal but for the span have key and direction in common, terms that make a formula
 * the key only. 0: free. Small, because a table is read at random places and should stay in the
 * caches. */
typedef uint64_t sl_search__spans_entry;
#define SL_SPANS__MAX_TERMS ((INT64_C(1) << 24) - 2)

/* Open addressing; the highest bits of a key name the shard, so that shards share nothing. */
typedef struct sl_search__spans_table {
    sl_search__spans_entry *entry; // NULL: there is no such table
    sl_search__spans_entry *old;   // while it grows: the slots before
    int64_t size, old_size;
    int ring_bits;          // a shard has 2^ring_bits slots
    int64_t limit;          // entries with which it is full
    int64_t used[SL_SPANS__SHARDS];
    bool full;              // no more is put in
    uint64_t *filter; // of a full one: a bit for each first bits of a key; NULL: there is none
    int filter_bits;
    double basis[SL_SPANS__DIMS - 1][SL_SPANS__DIMS]; // of the complement of the target's image
} sl_search__spans_table;

SL_NODISCARD sl_status sl_search__spans_table_open(sl_search__spans_table *t, sl_search__job *j,
                                                   int64_t limit);
void sl_search__spans_table_close(sl_search__spans_table *t, sl_search__job *j);
/* Makes room for that many more entries in every table, on all threads; where memory does not allow
 * it the table is marked as full. */
SL_NODISCARD sl_status sl_search__spans_table_grow(
    sl_search__spans_table (*table)[SL_SPANS__TABLES], int spans, sl_search__job *j, int64_t more);

typedef enum sl_search__spans_lookup {
    SL_SPANS__NEW,
    SL_SPANS__SAME,
    SL_SPANS__OTHER
} sl_search__spans_lookup;

static inline int sl_search__spans_shard(uint64_t key) { return (int)(key >> 61); }
/* The slot where a look-up begins. */
static inline int64_t sl_search__spans_slot(const sl_search__spans_table *t, uint64_t key) {
    return (int64_t)(key >> (61 - t->ring_bits));
}
/* May the key be in the table? A full table has a bit filter that rejects most keys. */
static inline bool sl_search__spans_table_may_hold(const sl_search__spans_table *t, uint64_t key) {
    if (!t->filter) return true;
    uint64_t bit = key >> (64 - t->filter_bits);
    return t->filter[bit / 64] >> bit % 64 & 1;
}
/* Looks up the key and inserts the term of this number where it is new. OTHER: term *other has the
 * same key and another direction. Only from the thread that owns the shard. */
sl_search__spans_lookup sl_search__spans_table_put(int64_t *other, sl_search__spans_table *t,
                                                   uint64_t key, uint64_t direction,
                                                   int64_t number);

/* ---------------------------------------------------------------- hits ---------------------- */

/* Terms that are, by their keys, linearly dependent with a target and a span. */
typedef struct sl_search__spans_hit {
    int place; // of the last term in the batch: hits are verified in this order
    int16_t span, n;
    int target;
    sl_store_term term[SL_SPANS__TERMS];
} sl_search__spans_hit;

typedef struct sl_search__spans_hits {
    sl_search__spans_hit *list;
    int n, room;
} sl_search__spans_hits;
/* Hits beyond the room are dropped. */
static inline void sl_search__spans_add_hit(sl_search__spans_hits *h,
                                            const sl_search__spans_hit *hit) {
    if (h->n < h->room) h->list[h->n++] = *hit;
}

/* ---------------------------------------------------------------- a batch ------------------- */

/* A block of terms modulo one span. */
typedef struct sl_search__spans_view {
    sl_search__spans_numbers q;
    double size[SL_SPANS__BLOCK], norm[SL_SPANS__BLOCK];
    uint64_t direction[SL_SPANS__BLOCK];
    uint64_t key[SL_SPANS__TABLES][SL_SPANS__BLOCK];
    /* By table: places in the block of the terms of each shard, shard after shard. */
    uint8_t place[SL_SPANS__TABLES][SL_SPANS__BLOCK];
    uint8_t shard_end[SL_SPANS__TABLES][SL_SPANS__SHARDS];
    bool fresh[SL_SPANS__BLOCK]; // the first table had not seen it
} sl_search__spans_view;

typedef struct sl_search__spans_block {
    int n;
    sl_store_term term[SL_SPANS__BLOCK];
    sl_search__spans_view view[SL_SPANS__SPANS];
} sl_search__spans_block;

/* ---------------------------------------------------------------- a side -------------------- */

extern const sl_search__method sl_search__spans_products, sl_search__spans_sums;

typedef struct sl_search__spans_first { // a term that triples are made of
    sl_store_term term;
    double q[SL_SPANS__DIMS];
} sl_search__spans_first;

typedef struct sl_spans {
    sl_search__job *job;
    sl_side side;
    const char *name;
    const sl_store *store;
    int stride, probes;
    const sl_search__spans_kernels *kernels;
    sl_arena arena;

    int spans;
    bool few;                     // rows: no spans, and only powers of the columns are tried
    sl_search__spans_span span[SL_SPANS__SPANS + 1];

    sl_search__spans_target *target;
    double y_low, y_high;
    int targets, tables;          // tables: targets of the front that have tables
    sl_search__spans_image *image[SL_SPANS__SPANS];
    sl_search__spans_directory *directory[SL_SPANS__SPANS];
    sl_search__spans_table table[SL_SPANS__SPANS][SL_SPANS__TABLES];

    sl_search__spans_block *block; // of the batch
    double **scratch;              // values of a block, one per worker
    int workers;
    int batch_terms, batch_simple; // of the batch; of them, its first, of simple families
    sl_search__spans_hits *shard_hits; // by span, table and shard
    sl_search__spans_hits *block_hits; // by block
    sl_search__spans_hits hits;        // of the batch, in order

    sl_search__spans_first *first[SL_SPANS__SPANS];
    int n_first[SL_SPANS__SPANS];

    int level;
    sl_store_term *log;                 // all terms so far, by number
    int64_t terms, log_room;
    int verified;                 // in this level
    bool found;                   // an exact formula
    int64_t found_at;             // number of terms then
} sl_spans;

/* spans_open.c */
/* Rows that a side needs; 0: it has no spans. */
int sl_search__spans_probes(const sl_search__job *j, sl_side side);
SL_NODISCARD sl_status sl_search__spans_open_spans(sl_spans *s);
/* value[0..stride) := the term's logarithm (products) or value (sums) at the probes. */
bool sl_search__spans_value(double *value, const sl_spans *s, sl_store_term t);
/* q, and |value|^2, of one vector over the probes. */
void sl_search__spans_project(double *q, double *size, const sl_spans *s, int span,
                              const double *value);

/* spans_target.c */
SL_NODISCARD sl_status sl_search__spans_open_targets(sl_spans *s);
/* out[i] := the target at rows 0 .. n-1; false where it is not finite. factor: its values at these
 * rows; NULL: 1. */
bool sl_search__spans_transform(double *out, const sl_search__spans_target *t, const double *y,
                                const double *factor, int64_t n);
double sl_search__spans_scale(int i); // of LEVEL, by the number that its constant is
/* Is the image larger than rounding? */
bool sl_search__spans_is_seen(const sl_search__spans_image *image);
/* basis[] := orthonormal vectors of length `left` that are orthogonal to the image. */
void sl_search__spans_find_basis(double basis[SL_SPANS__DIMS - 1][SL_SPANS__DIMS],
                                 const double *image, int left);
int sl_search__spans_look_up(const sl_search__spans_directory *d, uint64_t key); // target, or -1

/* The term that is the factor: a function, of an argument or elementary. */
sl_store_term sl_search__spans_factor_term(const sl_spans *s, const sl_search__spans_target *t);

/* Formulas without any term: targets that lie in a span. */
SL_NODISCARD sl_status sl_search__spans_no_terms(sl_spans *s);

/* spans_batch.c: the terms in block[], all at once. */
SL_NODISCARD sl_status sl_search__spans_batch(sl_spans *s);

/* spans_verify.c: fits the hit on all rows of the search and offers it. */
SL_NODISCARD sl_status sl_search__spans_verify(sl_spans *s, const sl_search__spans_hit *hit);

/* spans_zero.c: y^p z as a polynomial of degree 2, z the monomials from .. to - 1. */
SL_NODISCARD sl_status sl_search__spans_zero(sl_spans *s, int from, int to);

/* spans_pairs.c: pairs of the first terms for that many targets behind those that have tables. */
SL_NODISCARD sl_status sl_search__spans_pairs(sl_spans *s, int targets, int terms);

/* spans_three.c: triples of the first n terms. */
SL_NODISCARD sl_status sl_search__spans_three(sl_spans *s, int n);

/* The sine of the angle between a and b. */
static inline double sl_search__spans_sine(const double *a, const double *b, int n) {
    double length = sqrt(sl_search__dot(a, a, n)), sum = 0;
    double c = sl_search__dot(a, b, n) / sl_search__dot(b, b, n);
    for (int i = 0; i < n; i++) {
        double z = (a[i] - c * b[i]) / length;
        sum += z * z;
    }
    return sqrt(sum);
}

#endif
