/* Inside src/search only: the parts of the search for two terms over a common divisor. quotients.c
 * describes the method. */
#ifndef SL_SEARCH_QUOTIENTS_IMPL_H
#define SL_SEARCH_QUOTIENTS_IMPL_H

#include "search/lattice_impl.h"
#include "search/quotients_kernels.h"
#include "search/search_impl.h"
#include "search/write.h"

enum {
    SL_QUOTIENTS__CONSTANTS = 3, // of one term at most
    SL_QUOTIENTS__VARIABLES = 2,
    SL_QUOTIENTS__FACTORS = 4, // of one product
    SL_QUOTIENTS__PARTS = 3,   // of one sum
    SL_QUOTIENTS__ROWS = 64,   // that hits are checked at
    SL_QUOTIENTS__STRUCTURES = 2048,
    SL_QUOTIENTS__NUMERATORS = 128,
    SL_QUOTIENTS__TRIPLES = 128,
    SL_QUOTIENTS__HITS = 256,  // of one structure, independent of the order of threads
};

/* ---------------------------------------------------------------- structures ---------------- */

/* A product without constants: powers of inputs, of their sines, and exponentials of them. */
typedef struct sl_search__quotients_product {
    int8_t power[SL_QUOTIENTS__VARIABLES]; // in halves
    int8_t sine[SL_QUOTIENTS__VARIABLES];
    int8_t rate[SL_QUOTIENTS__VARIABLES];  // in halves: exp(x/2) has 1
} sl_search__quotients_product;

/* One occurrence of an input or a function with its constants:
 *   LINEAR   (a x + b)^k
 *   ROOT     a (c x + d)^(k/2) + b, k odd
 *   SINE     (a sin(c x + d) + b)^k
 *   RATE     a exp(k (c x + d) / 2) + b                                                          */
typedef enum sl_search__quotients_kind {
    SL_QUOTIENTS__LINEAR,
    SL_QUOTIENTS__ROOT,
    SL_QUOTIENTS__SINE,
    SL_QUOTIENTS__RATE,
    SL_QUOTIENTS__KINDS
} sl_search__quotients_kind;

/* A sum of products, or a function of one, to a power: kind and exponent as above, with the sum for
 * c x + d. No parts: 1. */
typedef struct sl_search__quotients_core {
    int8_t kind, exponent, parts;
    int8_t factor[SL_QUOTIENTS__PARTS]; // of the products in the sum, up to sign
    sl_search__quotients_product part[SL_QUOTIENTS__PARTS];
} sl_search__quotients_core;

/* What both terms of a formula have in common. */
typedef struct sl_search__quotients_structure {
    sl_search__quotients_product product;
    sl_search__quotients_core core;
} sl_search__quotients_structure;

/* Numerators of a half of three terms, by place. */
typedef struct sl_search__quotients_triple {
    int16_t numerator[3];
} sl_search__quotients_triple;

/* Numerators and common structures of all bases. */
typedef struct sl_search__quotients_bases {
    int numerators, simple, structures; // the first `simple` numerators are parts of sums
    sl_search__quotients_product numerator[SL_QUOTIENTS__NUMERATORS];
    sl_search__quotients_structure structure[SL_QUOTIENTS__STRUCTURES];
    int triples; // of the simple numerators
    sl_search__quotients_triple triple[SL_QUOTIENTS__TRIPLES];
} sl_search__quotients_bases;

/* quotients_bases.c: from the canonical forms of the grammar's halves. */
SL_NODISCARD sl_status sl_search__quotients_make_bases(sl_search__quotients_bases *out,
                                                       const sl_search_grammar *grammar,
                                                       int variables);

static inline sl_search__quotients_product
sl_search__quotients_times(sl_search__quotients_product a, sl_search__quotients_product b) {
    for (int v = 0; v < SL_QUOTIENTS__VARIABLES; v++) {
        a.power[v] = (int8_t)(a.power[v] + b.power[v]);
        a.sine[v] = (int8_t)(a.sine[v] + b.sine[v]);
        a.rate[v] = (int8_t)(a.rate[v] + b.rate[v]);
    }
    return a;
}

/* ---------------------------------------------------------------- factors ------------------- */

typedef struct sl_search__quotients_class {
    int8_t kind, variable, exponent;
} sl_search__quotients_class;

/* Constants of one occurrence; 1, 0, 1, 0 are none. */
typedef struct sl_search__quotients_variant {
    int8_t a, b, c, d;
} sl_search__quotients_variant;

/* Variants of a factor by number of constants, at the probes. */
typedef struct sl_search__quotients_factor {
    int32_t count, begin[SL_QUOTIENTS__CONSTANTS + 2];
    sl_search__quotients_variant *variant;
    double *v[SL_QUOTIENTS__PROBES];
} sl_search__quotients_factor;

/* FULL: one of each value vector and its negative. SCALE: one up to a factor. */
typedef enum sl_search__quotients_mode {
    SL_QUOTIENTS__FULL,
    SL_QUOTIENTS__SCALE,
    SL_QUOTIENTS__MODES
} sl_search__quotients_mode;

enum {
    SL_QUOTIENTS__EXPONENTS = 8, // -8 .. 8
    SL_QUOTIENTS__CLASSES =
        SL_QUOTIENTS__KINDS * SL_QUOTIENTS__VARIABLES * (2 * SL_QUOTIENTS__EXPONENTS + 1),
};

static inline int sl_search__quotients_class_of(sl_search__quotients_class c) {
    int width = 2 * SL_QUOTIENTS__EXPONENTS + 1;
    return (c.kind * SL_QUOTIENTS__VARIABLES + c.variable) * width + c.exponent +
           SL_QUOTIENTS__EXPONENTS;
}

/* out[] := the factors of p; returns how many, or -1 where there are too many. */
int sl_search__quotients_factors_of(sl_search__quotients_class *out,
                                    const sl_search__quotients_product *p);
/* The function of a kind at u, without a and b. */
double sl_search__quotients_function(int kind, int exponent, double u);
/* base^k. */
double sl_search__quotients_power(double base, int k);
double sl_search__quotients_factor_at(sl_search__quotients_class c, sl_search__quotients_variant t,
                                      double x);
const sl_node *sl_search__quotients_factor_expr(sl_writer *w, sl_search__quotients_class c,
                                                sl_search__quotients_variant t);
/* a f + b for the function of a kind at u, to the power that the kind has. */
const sl_node *sl_search__quotients_function_expr(sl_writer *w, int kind, int exponent,
                                                  const sl_node *u, sl_rat a, sl_rat b);

/* A set of keys that is emptied for every list. */
typedef struct sl_search__quotients_set {
    uint64_t *slot; // 0: free
    int64_t size, count;
} sl_search__quotients_set;
/* Is it new, and is there room? */
bool sl_search__quotients_set_add(sl_search__quotients_set *s, uint64_t key);
void sl_search__quotients_set_clear(sl_search__quotients_set *s);
/* The key of values at the probes, up to sign or factor by mode; 0: not finite, or a value is 0. */
uint64_t sl_search__quotients_key(const double *v, sl_search__quotients_mode mode);

/* ---------------------------------------------------------------- lists --------------------- */

/* A product with constants: 16 bits a factor, its place in that factor's list. */
typedef uint64_t sl_search__quotients_code;
#define SL_QUOTIENTS__PLACES 65535

static inline int sl_search__quotients_place(sl_search__quotients_code code, int factor) {
    return (int)(code >> (16 * factor) & 0xFFFF);
}

/* A numerator times the product of the structure. */
typedef struct sl_search__quotients_top {
    sl_search__quotients_code code;
    int32_t numerator;
} sl_search__quotients_top;

/* A core with constants: those of its parts, their signs, and b/a outside of its function. */
typedef struct sl_search__quotients_bottom {
    sl_search__quotients_code part[SL_QUOTIENTS__PARTS];
    int8_t sign[SL_QUOTIENTS__PARTS];
    int8_t summand, factor;
} sl_search__quotients_bottom;

/* Values at the probes, by number of constants. Where it is full `flush` makes room; NULL: the rest
 * is left out. */
typedef struct sl_search__quotients_list {
    double *v[SL_QUOTIENTS__PROBES];
    int32_t count, room, begin[SL_QUOTIENTS__CONSTANTS + 2];
    void (*flush)(void *payload);
    void *payload;
} sl_search__quotients_list;

typedef struct sl_search__quotients_slot {
    uint32_t check; // 0: free
    int32_t top, bottom;
    float share;
} sl_search__quotients_slot;

enum { SL_QUOTIENTS__CELL_BITS = 22, SL_QUOTIENTS__MAP = 1 << (SL_QUOTIENTS__CELL_BITS - 2) };

/* Terms without y at all probes but the first. */
typedef struct sl_search__quotients_flat {
    double *e[SL_QUOTIENTS__PROBES - 1];
    int32_t *top, *bottom, count, room;
} sl_search__quotients_flat;

/* Where y is rounded: a term as its direction at the probes, in which y is 0. quotients_rounded.c
 * describes it. */
typedef struct sl_search__quotients_entry {
    float d[SL_QUOTIENTS__PROBES - 1];
    float share, doubt; // of y; of the direction, by rounding
    int32_t top, bottom;
    uint64_t key; // of its cell
    bool inside;  // no other cell is within reach
    bool chosen;  // another one may be in a cell within reach
} sl_search__quotients_entry;

/* The workspace of one thread. */
typedef struct sl_search__quotients_work {
    sl_search__quotients_list part[SL_QUOTIENTS__PARTS], tops, bottoms;
    sl_search__quotients_code *part_code[SL_QUOTIENTS__PARTS];
    sl_search__quotients_top *top;
    sl_search__quotients_bottom *bottom;
    sl_search__quotients_set set;
    sl_search__quotients_slot *slot;
    int64_t slots, used, room; // in use for this structure; filled; at most
    uint8_t *map; // two bits a cell; a key's cell are its highest bits
    int shift;    // bits that are left
    uint32_t *filter; // the same memory, where terms are looked up that are not stored
    uint8_t passed[SL_QUOTIENTS__BLOCK];
    sl_search__quotients_flat flat; // of three terms
    int32_t stamp; // slots of three terms that have it in place of a bottom are in use
    sl_search__quotients_keys keys;
    int32_t chosen[SL_QUOTIENTS__BLOCK + 1]; // of a block
    bool reports; // in use by the calling thread: progress may be reported
    sl_search__quotients_entry *entry; // where y is rounded; then slots have them for tops
    int32_t entries, entry_room;
} sl_search__quotients_work;

/* ---------------------------------------------------------------- a search ------------------ */

typedef struct sl_search__quotients_term {
    sl_search__quotients_top top;
    sl_search__quotients_bottom bottom;
    int32_t constants;
} sl_search__quotients_term;

typedef struct sl_search__quotients_hit {
    int32_t structure, terms;
    sl_search__quotients_term term[3];
    bool good; // verified, then:
    double coefficient[3], price;
    bool sure; // where y is rounded: see sl_search__lattice_snap
    sl_search__lattice_number number[3]; // that the coefficients are
} sl_search__quotients_hit;

typedef struct sl_search__quotients_hits {
    sl_search__quotients_hit *hit;
    int64_t count, room;
} sl_search__quotients_hits;

typedef struct sl_quotients {
    sl_search__job *job;
    const sl_search__quotients_kernels *kernels;
    sl_search_grammar grammar;
    int variables, rows;
    double x[SL_QUOTIENTS__VARIABLES][SL_QUOTIENTS__ROWS]; // probes first
    double y[SL_QUOTIENTS__ROWS];
    double project[SL_QUOTIENTS__PROBES]; // y / y[0]
    // where y is rounded, else 0:
    double rounding[SL_QUOTIENTS__ROWS]; // half a unit of y's last digit
    double precision;                    // the largest, as a part of y
    double doubt;                        // norm of these parts at the probes
    double inverse[SL_QUOTIENTS__PROBES];    // 1 / y
    double length[SL_QUOTIENTS__PROBES - 1]; // factors of the directions
    sl_search__quotients_bases bases;
    bool needed[SL_QUOTIENTS__CLASSES][SL_QUOTIENTS__MODES];
    sl_search__quotients_factor factor[SL_QUOTIENTS__CLASSES][SL_QUOTIENTS__MODES];
    int constants; // largest number that factors are listed for; -1: none
    int64_t factor_bytes; // held by factors
    // of the present level
    int terms;            // 2 or 3
    int stored, streamed; // constants of terms that are stored; that are looked up at most
    int taken;            // of three terms: constants of the one that is projected out
    int numerators;       // the first ones
    _Atomic int32_t next; // structure
    sl_search__quotients_work *work;
    sl_search__quotients_hits *hits;
    int lanes;
} sl_quotients;

/* quotients_factors.c: lists of all factors with up to that many constants; older lists are their
 * beginnings. *done := false where max_memory does not allow it. */
SL_NODISCARD sl_status sl_search__quotients_make_factors(bool *done, sl_quotients *q,
                                                         int constants);
void sl_search__quotients_free_factors(sl_quotients *q);

/* quotients_lists.c: tops and bottoms of a structure with up to that many constants; returns false
 * where it has none. */
bool sl_search__quotients_make_lists(sl_search__quotients_work *w, const sl_quotients *q,
                                     const sl_search__quotients_structure *s, int constants);
/* Appends those of that many constants, the most that the lists have, and does not keep them: flush
 * is called whenever the list is full, and at the end. Equal ones may come again. */
void sl_search__quotients_stream_tops(sl_search__quotients_work *w, const sl_quotients *q,
                                      const sl_search__quotients_structure *s, int constants);
void sl_search__quotients_stream_bottoms(sl_search__quotients_work *w, const sl_quotients *q,
                                         const sl_search__quotients_structure *s, int constants);

/* quotients_meet.c: all terms of structure i. */
SL_NODISCARD sl_status sl_search__quotients_meet(sl_quotients *q, int lane, int32_t i);
/* The same for three terms: quotients_three.c. */
SL_NODISCARD sl_status sl_search__quotients_meet_three(sl_quotients *q, int lane, int32_t i);
/* Two terms where y is rounded: quotients_rounded.c. */
SL_NODISCARD sl_status sl_search__quotients_meet_rounded(sl_quotients *q, int lane, int32_t i);
void sl_search__quotients_set_rounding(sl_quotients *q, sl_digits digits);
sl_search__quotients_term sl_search__quotients_term_at(const sl_search__quotients_work *w,
                                                       int32_t top, int32_t bottom);
/* Unless there are `most` hits. */
SL_NODISCARD sl_status sl_search__quotients_add_hit(sl_search__quotients_hits *h,
                                                    const sl_search__quotients_hit *hit,
                                                    int64_t most);
/* Shares of two terms of one key: equal ones, as floats, differ by a factor alone. */
static inline bool sl_search__quotients_differ(float a, float b) {
    float apart = a < b ? b - a : a - b, size = (a < 0 ? -a : a) + (b < 0 ? -b : b);
    return apart > 1e-5f * size;
}

/* quotients_check.c */
SL_NODISCARD sl_status sl_search__quotients_check(sl_search__quotients_hit *h, sl_arena *scratch,
                                                  const sl_quotients *q);
/* Where y is rounded: the coefficients of a verified hit become exact numbers. */
SL_NODISCARD sl_status sl_search__quotients_snap(sl_search__quotients_hit *h, sl_arena *scratch,
                                                 const sl_quotients *q);
SL_NODISCARD sl_status sl_search__quotients_offer(sl_quotients *q,
                                                  const sl_search__quotients_hit *h, int level);

#endif
