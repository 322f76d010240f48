/* base - what every other folder stands on: status, memory, randomness, elementary functions,
 * strings, hashing, files, clock, and the CPU's instruction set.
 *
 * Three rules are made here and kept everywhere:
 *
 *   errors    A function that can fail returns sl_status. The one that notices calls
 *             `return sl_fail(SL_EFORMAT, "...")`, which stores one line for the thread; everybody
 *             above passes it up unchanged with SL_TRY, or SL_GO when something is held.
 *   memory    Everything comes through sl_malloc and friends, so tests can make the n-th allocation
 *             fail and count what was not given back. Short-lived work lives in an arena: take a
 *             mark, work, rewind.
 *   numbers   sl_exp, sl_sin, sl_log and the generator give the same bits on every CPU.
 *             libm does not (it picks code by CPU), and a data set that is computed rather than
 *             stored must not depend on who computes it. Nor on where: text becomes numbers and
 *             numbers text by sl_strtod, sl_snprintf and friends, which the locale does not touch.
 *
 * Threads: nothing here is shared but the allocation counters, which are atomic. The error line is
 * thread-local; par/ carries it from worker to caller. */
#ifndef SL_BASE_H
#define SL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdarg.h>
#include <locale.h>
#include <float.h>

#define SL_NODISCARD __attribute__((warn_unused_result))
#define SL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define SL_LEN(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define SL_MIN(a, b) ((a) < (b) ? (a) : (b))
#define SL_MAX(a, b) ((a) > (b) ? (a) : (b))

/* ---------------------------------------------------------------- errors -------------------- */

/* Every way a call can fail: the numbers of symlaw.h, which src/api holds against these. Negative,
 * so that the minimum of several answers is the worst of them.               id  number  text */
#define SL_STATUS_LIST(X)                                \
    X(OK,        0, "ok")                                \
    X(EINVAL,   -1, "invalid argument")                  \
    X(EFORMAT,  -2, "malformed input")                   \
    X(ELIMIT,   -3, "limit exceeded")                    \
    X(EOVERFLOW, -4, "number beyond 64-bit rationals")   \
    X(ENOMEM,   -5, "out of memory")                     \
    X(EIO,      -6, "input or output failed")            \
    X(ECANCEL,  -7, "cancelled")

typedef enum sl_status {
#define X(id, number, text) SL_##id = number,
    SL_STATUS_LIST(X)
#undef X
} sl_status;

/* The name of a status, such as "out of memory". */
const char *sl_status_text(sl_status st);

/* What went wrong in the last failing call of this thread; "" if none did. Valid until the next
 * failure. */
const char *sl_last_error(void);

/* Three-valued answer. A struct, so that `if (t)` does not compile: use sl_yes and sl_no. */
typedef struct sl_truth { int answer; } sl_truth; // 1 yes, -1 no, 0 unknown
static inline bool sl_yes(sl_truth t) { return t.answer > 0; }
static inline bool sl_no(sl_truth t) { return t.answer < 0; }

/* Stores the line for sl_last_error and returns st. Needs no memory, so it can report its lack. */
SL_PRINTF(2, 3) sl_status sl_fail(sl_status st, const char *format, ...);

/* The same function, but the compiler sees that the answer is st: else it takes SL_OK for possible
 * and warns of outputs that would be uninitialised then. */
#define sl_fail(st, ...)                        \
    __extension__({                             \
        sl_status sl_fail_ = (st);              \
        (void)(sl_fail)(sl_fail_, __VA_ARGS__); \
        sl_fail_;                               \
    })

/* Replaces the stored line: for par/, which moves a worker's message to the caller, and for calls
 * that go on after a failure inside and must leave the line as it was. */
void sl_fail_restore(const char *line);
#define SL_FAIL_LINE 1024 // bytes of the stored line at most, its end included

#define SL_TRY(call)                            \
    do {                                        \
        sl_status sl_try_ = (call);             \
        if (sl_try_ != SL_OK) return sl_try_;   \
    } while (0)

/* For functions that hold something: needs `sl_status st` and a label `done`. */
#define SL_GO(call)                             \
    do {                                        \
        st = (call);                            \
        if (st != SL_OK) goto done;             \
    } while (0)

/* Our own mistakes: on in every build, because a wrong answer costs more than the test. */
_Noreturn void sl_assert_failed(const char *what, const char *file, int line);
#define SL_ASSERT(x) ((x) ? (void)0 : sl_assert_failed(#x, __FILE__, __LINE__))

/* Defines the function that answers a column of an enum's table of rows X(id, name, text) or
 * X(id, name):  SL_DEFINE_NAMES(sl_pairs_split_name, sl_split, SL_SPLITS, SL_ROW_NAME) */
#define SL_DEFINE_NAMES(function, type, TABLE, COLUMN)                   \
    const char *function(type value) {                                   \
        static const char *const column[] = { TABLE(COLUMN) };           \
        SL_ASSERT((unsigned)value < (unsigned)SL_LEN(column));           \
        return column[value];                                            \
    }
#define SL_ROW_NAME(id, ...) SL_ROW__FIRST(__VA_ARGS__, ),
#define SL_ROW_TEXT(id, name, text) text,
#define SL_ROW__FIRST(first, ...) first

#define SL_YES ((sl_truth){ 1 })
#define SL_NO ((sl_truth){ -1 })
#define SL_UNKNOWN ((sl_truth){ 0 })

/* ---------------------------------------------------------------- options ------------------- */

/* An option is described once, by a row of a table in the folder whose struct it is a field of:
 *
 *     static const sl_option rows[] = {
 *         SL_OPTION(sl_pairs_options, points, "points", .value = 64, .min = 2, .max = 4096,
 *                   .shown = "N", .help = "points of a data set"),
 *         ...
 *
 * Defaults, checks, the parser, --help, shell completion, man pages and the recorded configuration
 * are all made from the rows. */
typedef enum sl_option_kind { // by the type of the field
    SL_KIND_FLAG,             // bool
    SL_KIND_INT,              // int64_t; SL_NONE: not given
    SL_KIND_REAL,             // double; NaN: not given
    SL_KIND_CHOICE,           // int: place in `choices`, from 0; -1: not given
    SL_KIND_TEXT,             // const char *; NULL: not given
    SL_KIND_TEXTS,            // const char *[SL_OPTION_TEXTS_COUNT]; NULL: not given
} sl_option_kind;
#define SL_NONE INT64_MIN
enum {
    SL_OPTION_TEXTS_COUNT = 2,
    SL_OPTION_TEXT_MAX = 32
}; // texts of one option; bytes of a number or choice

/* What a TEXT that names a file or a folder is for. */
typedef enum sl_option_path {
    SL_PATH_NONE, // it names neither
    SL_PATH_FILE_INPUT,
    SL_PATH_FILE_OUTPUT,
    SL_PATH_FILE_IN_PLACE, // read, then added to
    SL_PATH_FOLDER_INPUT,
    SL_PATH_FOLDER_IN_PLACE,
} sl_option_path;

typedef struct sl_option {
    const char *name;    // without dashes
    const char *alias;   // a former name, which is read for ever and shown nowhere; NULL: none
    size_t offset;       // of the field in its struct
    sl_option_kind kind;
    double value;        // default of a number, a flag (0, 1) or a choice (its place); NaN: none
    const char *text;    // default of a text; NULL: none
    const char *choices; // "a|b|c"
    double min, max;     // of numbers
    const char *shown;   // name of its value, such as "N"
    const char *help;    // one sentence
    const char *group;   // heading in --help; set by the command
    sl_option_path path;
} sl_option;

#define SL_OPTION(type, field, option, ...)                                    \
    { .name = option, .offset = offsetof(type, field),                         \
      .kind = _Generic(((type *)0)->field, bool: SL_KIND_FLAG, int64_t: SL_KIND_INT, \
                       double: SL_KIND_REAL, int: SL_KIND_CHOICE,              \
                       const char *: SL_KIND_TEXT, const char **: SL_KIND_TEXTS), \
      __VA_ARGS__ }

typedef struct sl_option_table {
    const sl_option *row;
    int n;
} sl_option_table;

/* A default that differs from the table's; a list ends with one without a name. */
typedef struct sl_option_preset {
    const char *name;
    double value;
} sl_option_preset;

/* Every field of the table := its default. */
void sl_option_defaults(void *options, const sl_option_table *t);
/* The fields that are listed := other defaults. */
void sl_option_presets(void *options, const sl_option_table *t, const sl_option_preset *list);
/* SL_EINVAL names the first option whose number is outside its bounds; NaN is outside. */
SL_NODISCARD sl_status sl_option_check(const void *options, const sl_option_table *t);

/* The row of this name or former name; NULL: there is none. */
const sl_option *sl_option_find(const sl_option_table *t, const char *name);
/* The same, of a name that must be there. */
const sl_option *sl_option_get(const sl_option_table *t, const char *name);

/* The field of a number, flag or choice, as it is held; the field of a text. */
double sl_option_number(const void *options, const sl_option *o);
void sl_option_set(void *options, const sl_option *o, double value); // NaN: not given
const char **sl_option_texts(const void *options, const sl_option *o);
bool sl_option_is_given(const void *options, const sl_option *o);
void sl_option_copy(void *to, const void *from, const sl_option *o);
bool sl_option_same(const void *a, const void *b, const sl_option *o); // texts by their letters

/* The name of a choice's place; asserts that there is one. */
const char *sl_option_choice(char name[SL_OPTION_TEXT_MAX], const sl_option *o, int place);
/* The place of a name; -1: it is none. */
int sl_option_place(const sl_option *o, const char *name);
/* The default as it can be typed, in text or a text of the row's; NULL: there is none. */
const char *sl_option_default_text(char text[SL_OPTION_TEXT_MAX], const sl_option *o);

/* ---------------------------------------------------------------- memory -------------------- */

/* Free stack that a calling thread needs, a few times what most calls take. */
#define SL_STACK_BYTES (256 * 1024)

/* SL_ELIMIT if the calling thread has less than SL_STACK_BYTES of stack left. Public calls that
 * work begin with it; after the first time in a thread it costs a comparison. */
SL_NODISCARD sl_status sl_stack_check(void);

/* Like malloc and friends; NULL when there is no memory (or the test says so). Sizes are given as
 * count x size and checked for overflow. Zero bytes give a valid pointer. */
SL_NODISCARD void *sl_malloc(size_t count, size_t size);
SL_NODISCARD void *sl_calloc(size_t count, size_t size);
SL_NODISCARD void *sl_realloc(void *p, size_t count, size_t size); // NULL leaves p as it was
void sl_free(void *p);
/* For arrays that vector code runs over: at the start of a cache line, and in huge pages where it
 * is long enough to gain from them. Not cleared. */
SL_NODISCARD void *sl_malloc_aligned(size_t count, size_t size);

/* One line for the common `if (!p)`. */
sl_status sl_fail_memory(size_t count, size_t size, const char *what);
#define sl_fail_memory(count, size, what) \
    __extension__({ (void)(sl_fail_memory)(count, size, what); SL_ENOMEM; })

/* For tests: the n-th allocation from now fails (1 is the next; 0 switches off), and with `forever`
 * so do all later ones. Blocks alive, and allocations made so far. */
void sl_mem_fail_at(int64_t n, bool forever);
int64_t sl_mem_blocks(void);
int64_t sl_mem_calls(void);

/* Bytes given out and not yet given back, and the most that ever were since sl_mem_peak_reset. */
int64_t sl_mem_bytes(void);
int64_t sl_mem_peak(void);
void sl_mem_peak_reset(void);

/* Bytes of physical memory that this process may still expect to get; 0 if unknown. */
int64_t sl_mem_available(void);

/* An arena: allocation is a pointer bump, release is all at once or back to a mark.
 *
 *     chunks   [=====used=====|..free..] -> [====|.........] -> ...
 *
 * Grows by chunks that double, so pointers stay where they are; bytes not handed out are poisoned
 * for AddressSanitizer. `{0}` is a valid empty arena. Not for sharing between threads. */
typedef struct sl_arena_chunk sl_arena_chunk;
typedef struct sl_arena {
    sl_arena_chunk *chunk; // the one being filled; older ones hang behind it
    char *at, *end;        // free part of it
    size_t before;         // bytes handed out in older chunks
    size_t limit;          // 0, or the most bytes it may hand out
} sl_arena;

/* 16-byte aligned, not cleared. NULL without memory or past the limit; sl_fail is the caller's. */
SL_NODISCARD void *sl_arena_alloc(sl_arena *a, size_t bytes);
/* A copy of text[0 .. n), terminated. NULL as above. */
SL_NODISCARD const char *sl_arena_text(sl_arena *a, const char *text, size_t n);
/* Gives back the tail of the newest allocation p, made since the last rewind: it had `bytes`, keep
 * `kept`. */
void sl_arena_shrink(sl_arena *a, void *p, size_t bytes, size_t kept);
size_t sl_arena_mark(const sl_arena *a);
void sl_arena_rewind(sl_arena *a, size_t mark); // keeps the newest chunk for reuse
void sl_arena_clear(sl_arena *a);               // gives all memory back

/* ---------------------------------------------------------------- the CPU ------------------- */

/* A kernel that gains from wider vectors is one text compiled for several instruction sets: X.c,
 * X.avx2.c, X.avx512.c (base/vector.h). Every choice between them in the library, and what the GEMM
 * libraries may use, is made by sl_cpu(). */
typedef enum sl_isa {
    SL_ISA_BASE,   // x86-64-v2 and all other CPUs: 16-byte vectors, no fused multiply-add
    SL_ISA_AVX2,   // with FMA and F16C: 32-byte vectors
    SL_ISA_AVX512, // F, DQ, VL, BW: 64-byte vectors
    SL_ISA_COUNT
} sl_isa;

/* The variants of a kernel by sl_isa; those that are not compiled for other CPUs are NULL there. */
#if defined(__x86_64__)
#define SL_ISA_VARIANTS(base, avx2, avx512) { &base, &avx2, &avx512 }
#else
#define SL_ISA_VARIANTS(base, avx2, avx512) { &base }
#endif

#define SL_CPU_VARIABLE "SYMLAW_CPU" // in the environment: a name from below lowers sl_cpu()

sl_isa sl_cpu(void);      // the one in use; read from CPU and environment once, then constant
sl_isa sl_cpu_best(void); // the widest that this CPU has: tests run all up to it
const char *sl_isa_name(sl_isa isa); // "base", "avx2", "avx512"
/* The name that the manufacturer gave the CPU; "unknown" where the system does not say. */
const char *sl_cpu_model(char out[128]);
/* What the environment's word makes of `best`: never a wider one; NULL and other words change
 * nothing. */
sl_isa sl_cpu_lowered(sl_isa best, const char *word);
/* SL_EINVAL: the word names no instruction set, or one wider than `best`. NULL and "" are fine. */
SL_NODISCARD sl_status sl_cpu_check(const char *word, sl_isa best);
void sl_cpu_pause(void); // in loops that wait for another thread: leaves the core to its neighbour

/* ---------------------------------------------------------------- randomness ---------------- */

/* Philox4x32-10: a keyed bijection of 128-bit counters. Number i of a stream is a function of
 * (key, i) alone, so any thread or rank can make any part of any stream. */
typedef struct sl_philox_block { uint32_t v[4]; } sl_philox_block;
sl_philox_block sl_philox(uint64_t key, uint64_t counter_hi, uint64_t counter_lo);

/* A stream read in order: (seed, stream) is the key space, `index` the place where it starts. */
typedef struct sl_rng {
    uint64_t key, hi, lo; // counter = (hi, lo)
    uint32_t left;        // unread words of `block`
    sl_philox_block block;
} sl_rng;

/* seed: the run's; stream: what the numbers are for; index: which item. Different triples never
 * share a counter. */
void sl_rng_init(sl_rng *r, uint64_t seed, uint32_t stream, uint64_t index);
uint32_t sl_rng_u32(sl_rng *r);
uint64_t sl_rng_u64(sl_rng *r);
uint32_t sl_rng_below(sl_rng *r, uint32_t n); // 0 .. n-1, exactly uniform; n > 0
double sl_rng_uniform(sl_rng *r);             // [0, 1), 53 bits
void sl_rng_uniforms(double *out, sl_rng *r, int n); // as n calls of sl_rng_uniform, faster
double sl_rng_range(sl_rng *r, double lo, double hi);
double sl_rng_normal(sl_rng *r);              // N(0, 1), by our own log and sin

/* ---------------------------------------------------------------- elementary functions ------ */

/* y[i] = f(x[i]), y may be x. Within about 1 ulp, the same bits on every CPU, for every n and
 * alignment. Special values as in IEEE 754 and C: exp(-inf) = 0, log(0) = -inf, log(-1) = NaN,
 * sin(inf) = NaN. */
void sl_exp_array(double *y, const double *x, int n);
void sl_sin_array(double *y, const double *x, int n);
void sl_log_array(double *y, const double *x, int n);
void sl_cos_array(double *y, const double *x, int n);
/* Within 2.5 ulp (docs/math/elementary.md), else as above. asin and acos outside -1..1 are NaN. */
void sl_tan_array(double *y, const double *x, int n);
void sl_sinh_array(double *y, const double *x, int n);
void sl_cosh_array(double *y, const double *x, int n);
void sl_tanh_array(double *y, const double *x, int n);
void sl_atan_array(double *y, const double *x, int n);
void sl_asin_array(double *y, const double *x, int n);
void sl_acos_array(double *y, const double *x, int n);
/* Both, the same bits, for little more than one of them. Either may be x. */
void sl_sincos_array(double *sine, double *cosine, const double *x, int n);
double sl_exp(double x);
double sl_sin(double x);
double sl_cos(double x);
double sl_log(double x);
double sl_tan(double x);
double sl_sinh(double x);
double sl_cosh(double x);
double sl_tanh(double x);
double sl_atan(double x);
double sl_asin(double x);
double sl_acos(double x);

/* A long double, which has 64 bits of mantissa (x86) or 113, rounded to 64 bits:
 * mantissa 2^(e - 16383 - 63), the upper bit of the mantissa set. e is the lower 15 bits of
 * `exponent`, the sign is above them. For normal numbers. */
typedef struct sl_long_bits {
    uint64_t mantissa;
    uint16_t exponent;
} sl_long_bits;
static inline sl_long_bits sl_long_bits_of(long double v) {
#if LDBL_MANT_DIG == 64
    union { long double v; sl_long_bits bits; } x = { v };
    return x.bits;
#else
    _Static_assert(LDBL_MANT_DIG == 113, "a long double has 64 or 113 bits of mantissa");
    union { long double v; uint64_t half[2]; } x = { v };
    const uint16_t exponent = (uint16_t)(x.half[1] >> 48);
    const uint64_t first = 1ull << 63 | x.half[1] << 16 >> 1 | x.half[0] >> 49;
    const uint64_t mantissa = first + (x.half[0] >> 48 & 1);
    return mantissa ? (sl_long_bits){ mantissa, exponent }
                    : (sl_long_bits){ 1ull << 63, (uint16_t)(exponent + 1) };
#endif
}

/* ---------------------------------------------------------------- strings ------------------- */

/* A growing text. Failures stick: append freely, ask once at the end with sl_str_status. `{0}` is a
 * valid empty text; `text` is always terminated once anything was appended. */
typedef struct sl_str {
    char *text;
    size_t len, cap;
    bool failed;
} sl_str;

void sl_str_add(sl_str *s, const char *text);
void sl_str_add_bytes(sl_str *s, const void *bytes, size_t n);
void sl_str_add_char(sl_str *s, char c);
void sl_str_add_uint(sl_str *s, uint64_t n); // in decimal, several times as fast as by format
SL_PRINTF(2, 3) void sl_str_addf(sl_str *s, const char *format, ...);
void sl_str_truncate(sl_str *s, size_t len);
SL_NODISCARD sl_status sl_str_status(const sl_str *s); // SL_OK or SL_ENOMEM
const char *sl_str_text(const sl_str *s);              // "" when empty
void sl_str_clear(sl_str *s);

/* Edit distance with transposition of neighbours, for "did you mean". Words beyond 63 bytes are far
 * from everything. */
int sl_edit_distance(const char *a, const char *b);

/* The code point at text[0..n), n > 0, with its length in *used; -1 and 1 where it is not UTF-8:
 * overlong forms, surrogates and numbers past U+10FFFF are not. */
int32_t sl_utf8_read(const char *text, size_t n, int *used);

/* Writes a finite double and a terminator, returns the length: with 15 significant digits if those
 * read back as the same double, else 16, else 17, laid out as by "%g". There is always a point or
 * an exponent. */
#define SL_REAL_TEXT_MAX 32 // -2.2250738585072014e-308 has 24 characters
int sl_real_text(char text[SL_REAL_TEXT_MAX], double value);

/* A copy of the text in a that a terminal will not obey and a comment can hold: controls are
 * blanks, bytes that are not UTF-8 are U+FFFD. NULL without memory. */
const char *sl_text_visible(sl_arena *a, const char *text);
/* Appends the text as one word for a shell, in quotes where it needs them. */
void sl_str_add_word(sl_str *s, const char *text);
/* Appends the text as a string of JSON, with its quotes; bytes that are not UTF-8 are U+FFFD. */
void sl_str_add_quoted(sl_str *s, const char *text);
/* Appends the line of `text` around byte `offset`, and below it a caret: two lines without a
 * newline at the end. */
void sl_str_add_excerpt(sl_str *s, const char *text, size_t offset);

/* 12345678 -> "12,345,678" in a caller's buffer, which is returned. */
const char *sl_group_digits(char buffer[32], int64_t n);

/* ---------------------------------------------------------------- locale -------------------- */

/* The host program may have set any locale. These do as the C functions they are named after do in
 * the C locale, with the host's in force again when they return; no other file calls those. */
SL_PRINTF(3, 4) int sl_snprintf(char *text, size_t size, const char *format, ...);
SL_PRINTF(3, 0) int sl_vsnprintf(char *text, size_t size, const char *format, va_list args);
double sl_strtod(const char *text, char **end);   // end may be NULL
int64_t sl_strtoll(const char *text, char **end); // to base 10; numbers beyond become the nearest
int sl_strcasecmp(const char *a, const char *b);  // only A-Z and a-z are letters
int sl_strncasecmp(const char *a, const char *b, size_t n);
const char *sl_strerror(int error);
const char *sl_dlerror(void); // of the thread's last dlopen or dlsym; never NULL

static inline bool sl_isdigit(char c) { return c >= '0' && c <= '9'; }
static inline bool sl_isspace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static inline char sl_tolower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }
static inline bool sl_isalpha(char c) { return sl_tolower(c) >= 'a' && sl_tolower(c) <= 'z'; }

/* Around a call into another library that formats or reads numbers: the thread works in the C
 * locale until it leaves with what entering returned. Nothing of the host's is called in
 * between. */
SL_NODISCARD locale_t sl_locale_enter(void);
void sl_locale_leave(locale_t before);

/* ---------------------------------------------------------------- hashing ------------------- */

uint64_t sl_hash(const void *bytes, size_t n, uint64_t seed); // XXH3, 64 bits
/* Running 128-bit hash of many pieces, printed as 32 hex digits: names what a configuration
 * made. */
typedef struct sl_hasher sl_hasher;
SL_NODISCARD sl_status sl_hasher_new(sl_hasher **out);
void sl_hasher_add(sl_hasher *h, const void *bytes, size_t n);
void sl_hasher_text(const sl_hasher *h, char out[33]);
void sl_hasher_free(sl_hasher *h);

/* ---------------------------------------------------------------- files and time ------------ */

/* A file that appears whole or not at all: written beside it under a temporary name, synced,
 * renamed on commit.
 *
 * What may stand at a path depends on whose it is. A user's input may be a pipe or a terminal, and
 * is waited for: that is io's affair. A user's output may be a pipe, a terminal or a device such as
 * /dev/null or /dev/stdout: sl_file_create writes to those directly, for nothing else would leave
 * them what they are. A pipe that nobody opens for reading within a second, a socket and a disk are
 * refused. A file of our own (of a run, a checkpoint, a cache, a journal) is a regular file: what
 * is not is refused by the other calls below, never waited for. */
typedef struct sl_file sl_file;
SL_NODISCARD sl_status sl_file_create(sl_file **out, const char *path);  // a user's
SL_NODISCARD sl_status sl_file_replace(sl_file **out, const char *path); // our own
/* Would sl_file_create write to what stands at the path, instead of replacing it? */
bool sl_file_is_direct(const char *path);
SL_NODISCARD sl_status sl_file_write(sl_file *f, const void *bytes, size_t n);
SL_NODISCARD sl_status sl_file_commit(sl_file **f); // sync, rename, sync directory; *f becomes NULL
void sl_file_discard(sl_file **f);                  // removes the temporary; fine after a commit
/* A file of our own := these bytes: all of the above in one. */
SL_NODISCARD sl_status sl_file_put(const char *path, const void *bytes, size_t n);
/* Renames before the commit, which then only syncs: whole for its readers from now on, also if
 * this process is killed, but not after a crash of the machine. For files whose readers can
 * tell. */
SL_NODISCARD sl_status sl_file_publish(sl_file *f);
/* A file of our own that grows: what is written goes behind what is there, in place. It is made if
 * missing; a line counts as kept once it is flushed, and outlives the machine's crash with
 * `sync`. */
SL_NODISCARD sl_status sl_file_append(sl_file **out, const char *path);
SL_NODISCARD sl_status sl_file_flush(sl_file *f, bool sync);
/* *fd := a file of our own, open for reading. */
SL_NODISCARD sl_status sl_file_open(int *fd, const char *path);
/* The whole of one, terminated by an extra NUL; SL_ELIMIT past max_bytes. sl_free it. */
SL_NODISCARD sl_status sl_file_read(char **out, size_t *n, const char *path, size_t max_bytes);
/* Makes a folder and those above it, like mkdir -p; fine if it is there. mode: as for mkdir. */
SL_NODISCARD sl_status sl_folder_make(const char *path, unsigned mode);
/* Where process numbers are counted as they are here: what tells this start of the machine and this
 * space of process numbers from others. Bytes, of which it answers how many; *booted: the start is
 * among them. */
enum { SL_MACHINE_MAX = 128 };
size_t sl_machine(char out[SL_MACHINE_MAX], bool *booted);

/* Temporary files of sl_file: `<name>.tmp-<machine>-<process>`, with `-<n>` behind it where that
 * was taken; older versions left out the machine. A process that is killed leaves its own. Removes
 * from a folder those of files that are `ours`, by name[0 .. n), and that no living process can be
 * writing: of this machine if the process is gone, of others if nothing was written for ten
 * minutes. alone: nobody else writes these files, as who holds the folder's lock knows; then also
 * those without a machine whose process is not here. Needs no memory; what cannot be removed
 * stays. */
void sl_file_sweep(const char *dir, bool (*ours)(const char *name, size_t n), bool alone);
/* The length of the name that a temporary file is for; 0 if it is none. */
size_t sl_file_temporary(const char *name);
/* For tests: the n-th write from now fails as a full disk would; 0 switches off. */
void sl_file_fail_at(int64_t n);

double sl_clock(void); // seconds, monotonic, from an arbitrary start
/* A deadline is a time of a clock; 0 is none, and comes of a limit of 0 seconds. */
static inline double sl_deadline(double start, double seconds) {
    return seconds > 0 ? start + seconds : 0;
}
static inline bool sl_deadline_passed(double deadline, double now) {
    return deadline > 0 && now >= deadline;
}

#endif
