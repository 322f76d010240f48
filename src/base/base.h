/* base - used by every other folder: status, options, memory, the CPU's instruction set, random
 * numbers, elementary functions, strings, hashing, files, clock.
 *
 * Three rules hold everywhere:
 *
 *   errors    A function that can fail returns sl_status. The function that detects the failure
 *             calls `return sl_fail(SL_EFORMAT, "...")`, which stores one line for the thread. Its
 *             callers return the status unchanged with SL_TRY, or with SL_GO if they must release
 *             something.
 *   memory    All memory comes from sl_malloc, sl_calloc and sl_realloc, so tests can make the n-th
 *             allocation fail and count leaks. Short-lived objects live in an arena: take a mark,
 *             work, rewind.
 *   numbers   sl_exp, sl_sin, sl_log and the random numbers are the same bits on every CPU. Those
 *             of libm are not: it chooses code by CPU. Data sets are computed and not stored, so
 *             they must not depend on the machine. Numbers are read and written by sl_strtod and
 *             sl_snprintf, which do not depend on the locale.
 *
 * Threads: the only shared state is the allocation counters, which are atomic. The error line is
 * thread-local; par/ copies it from a worker to the caller. */
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

/* Every way a call can fail. Static assertions of src/api compare the numbers with those of
 * symlaw.h. They are negative so that the minimum of several statuses is a failure if there is one.
 *                                                                            id  number  text */
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

/* The error message of the last failing call of this thread; "" if none failed. Valid until the
 * next failure. */
const char *sl_last_error(void);

/* Three-valued answer. It is a struct so that `if (t)` does not compile: use sl_yes and sl_no. */
typedef struct sl_truth { int answer; } sl_truth; // 1 yes, -1 no, 0 unknown
static inline bool sl_yes(sl_truth t) { return t.answer > 0; }
static inline bool sl_no(sl_truth t) { return t.answer < 0; }

/* Stores the line for sl_last_error and returns st. An argument may be the line that is stored. It
 * allocates nothing, so it works without memory. */
SL_PRINTF(2, 3) sl_status sl_fail(sl_status st, const char *format, ...);

/* The same function, with a return value that the compiler knows. Otherwise it assumes that SL_OK
 * is possible and warns of uninitialised outputs. */
#define sl_fail(st, ...)                        \
    __extension__({                             \
        sl_status sl_fail_ = (st);              \
        (void)(sl_fail)(sl_fail_, __VA_ARGS__); \
        sl_fail_;                               \
    })

/* Replaces the stored line: for par/, which moves a worker's message to the caller, and for calls
 * that succeed despite a failure inside and must not change the line. */
void sl_fail_restore(const char *line);
#define SL_FAIL_LINE 1024 // most bytes of the stored line, terminator included

#define SL_TRY(call)                            \
    do {                                        \
        sl_status sl_try_ = (call);             \
        if (sl_try_ != SL_OK) return sl_try_;   \
    } while (0)

/* For functions that release something at the end: needs `sl_status st` and a label `done`. */
#define SL_GO(call)                             \
    do {                                        \
        st = (call);                            \
        if (st != SL_OK) goto done;             \
    } while (0)

/* For errors of this code. On in every build: a wrong result costs more than the test. */
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

/* An option is described once, by a row of a table in the folder that owns its struct:
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
    SL_OPTION_TEXTS_COUNT = 2, // texts of one option
    SL_OPTION_TEXT_MAX = 32    // bytes of a number or choice
};

/* The use of a file or folder that a TEXT names. */
typedef enum sl_option_path {
    SL_PATH_NONE, // the text is no path
    SL_PATH_FILE_INPUT,
    SL_PATH_FILE_OUTPUT,
    SL_PATH_FILE_IN_PLACE, // read, then added to
    SL_PATH_FOLDER_INPUT,
    SL_PATH_FOLDER_IN_PLACE,
} sl_option_path;

typedef struct sl_option {
    const char *name;    // without dashes
    const char *alias;   // a former name, accepted and never shown; NULL: none
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
/* The same, asserting that there is one. */
const sl_option *sl_option_get(const sl_option_table *t, const char *name);

/* The field of a number, flag or choice as a double; the field of a text. */
double sl_option_number(const void *options, const sl_option *o);
void sl_option_set(void *options, const sl_option *o, double value); // NaN: not given
const char **sl_option_texts(const void *options, const sl_option *o);
bool sl_option_is_given(const void *options, const sl_option *o);
void sl_option_copy(void *to, const void *from, const sl_option *o);
bool sl_option_same(const void *a, const void *b, const sl_option *o); // texts by strcmp

/* The name of a choice's place; asserts that there is one. */
const char *sl_option_choice(char name[SL_OPTION_TEXT_MAX], const sl_option *o, int place);
/* The place of a name among the choices; -1: it is none of them. */
int sl_option_place(const sl_option *o, const char *name);
/* The default as a user would type it: `text`, or a text of the row; NULL: there is none. */
const char *sl_option_default_text(char text[SL_OPTION_TEXT_MAX], const sl_option *o);

/* ---------------------------------------------------------------- memory -------------------- */

/* Free stack that a calling thread needs, a few times what most calls use. */
#define SL_STACK_BYTES (256 * 1024)

/* SL_ELIMIT if the calling thread has less than SL_STACK_BYTES of free stack. Public calls begin
 * with it; after the first time in a thread it costs a comparison. */
SL_NODISCARD sl_status sl_stack_check(void);

/* Like malloc, calloc and realloc; NULL without memory, or if a test makes the call fail. Sizes are
 * given as count x size and checked for overflow. Zero bytes give a valid pointer. */
SL_NODISCARD void *sl_malloc(size_t count, size_t size);
SL_NODISCARD void *sl_calloc(size_t count, size_t size);
SL_NODISCARD void *sl_realloc(void *p, size_t count, size_t size); // NULL leaves p as it was
void sl_free(void *p);
/* For arrays of vector code: starts at a cache line, and in huge pages if it is long enough to gain
 * from them. Not cleared. */
SL_NODISCARD void *sl_malloc_aligned(size_t count, size_t size);
/* Room for one more: *array, a pointer of any type, has n elements of `size` bytes and room for
 * *room of them, which doubles if all are taken. SL_ENOMEM leaves both as they were. */
SL_NODISCARD sl_status sl_grow(void *array, int64_t *room, int64_t n, size_t size,
                               const char *what);

/* The error of the common `if (!p)`. */
sl_status sl_fail_memory(size_t count, size_t size, const char *what);
#define sl_fail_memory(count, size, what) \
    __extension__({ (void)(sl_fail_memory)(count, size, what); SL_ENOMEM; })

/* For tests: the n-th allocation from now fails (1 is the next; 0 switches off), and with `forever`
 * so do all later ones. Number of blocks not yet freed, and of allocations so far. */
void sl_mem_fail_at(int64_t n, bool forever);
int64_t sl_mem_blocks(void);
int64_t sl_mem_calls(void);

/* Bytes allocated and not yet freed, and their maximum since sl_mem_peak_reset. */
int64_t sl_mem_bytes(void);
int64_t sl_mem_peak(void);
void sl_mem_peak_reset(void);

/* Bytes of physical memory that this process can probably still allocate; 0 if unknown. */
int64_t sl_mem_available(void);

/* An arena: allocation is a pointer bump, release is all at once or back to a mark.
 *
 *     chunks   [=====used=====|..free..] -> [====|.........] -> ...
 *
 * It grows by chunks of doubling size, so pointers stay valid. Bytes that are not allocated are
 * poisoned for AddressSanitizer. `{0}` is a valid empty arena. An arena belongs to one thread. */
typedef struct sl_arena_chunk sl_arena_chunk;
typedef struct sl_arena {
    sl_arena_chunk *chunk; // the newest, linked to the older ones
    char *at, *end;        // free part of it
    size_t before;         // bytes allocated in older chunks
    size_t limit;          // most bytes that may be allocated; 0: any
} sl_arena;

/* 16-byte aligned, not cleared. NULL without memory or past the limit; the caller calls sl_fail. */
SL_NODISCARD void *sl_arena_alloc(sl_arena *a, size_t bytes);
/* A copy of text[0 .. n), terminated. NULL as above. */
SL_NODISCARD const char *sl_arena_text(sl_arena *a, const char *text, size_t n);
/* Shrinks the newest allocation p, made since the last rewind, from `bytes` to `kept`. */
void sl_arena_shrink(sl_arena *a, void *p, size_t bytes, size_t kept);
size_t sl_arena_mark(const sl_arena *a);
void sl_arena_rewind(sl_arena *a, size_t mark); // keeps the newest chunk for reuse
void sl_arena_clear(sl_arena *a);               // frees all memory

/* ---------------------------------------------------------------- the CPU ------------------- */

/* A kernel that gains from wider vectors is one text compiled for several instruction sets: X.c,
 * X.avx2.c, X.avx512.c (base/vector.h). sl_cpu() decides which variants the library uses, and which
 * instructions the GEMM libraries may use. */
typedef enum sl_isa {
    SL_ISA_BASE,   // x86-64-v2 and all other CPUs: 16-byte vectors, no fused multiply-add
    SL_ISA_AVX2,   // with FMA and F16C: 32-byte vectors
    SL_ISA_AVX512, // F, DQ, VL, BW: 64-byte vectors
    SL_ISA_COUNT
} sl_isa;

/* The variants of a kernel, indexed by sl_isa; on other CPUs those of x86-64 are NULL. */
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
/* The instruction set that the environment variable's word lowers `best` to; NULL, unknown words
 * and wider sets do not change it. */
sl_isa sl_cpu_lowered(sl_isa best, const char *word);
/* SL_EINVAL: the word names no instruction set, or one wider than `best`. NULL and "" are fine. */
SL_NODISCARD sl_status sl_cpu_check(const char *word, sl_isa best);
void sl_cpu_pause(void); // for loops that wait for another thread: frees the core's other thread

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
double sl_rng_normal(sl_rng *r);              // N(0, 1), from sl_log and sl_sin

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

/* A growing text. A failure is remembered: append without checks and call sl_str_status once at the
 * end. `{0}` is a valid empty text; `text` is terminated once anything was appended. */
typedef struct sl_str {
    char *text;
    size_t len, cap;
    bool failed;
} sl_str;

void sl_str_add(sl_str *s, const char *text);
void sl_str_add_bytes(sl_str *s, const void *bytes, size_t n);
void sl_str_add_char(sl_str *s, char c);
void sl_str_add_uint(sl_str *s, uint64_t n); // in decimal, several times as fast as sl_str_addf
SL_PRINTF(2, 3) void sl_str_addf(sl_str *s, const char *format, ...);
void sl_str_truncate(sl_str *s, size_t len);
SL_NODISCARD sl_status sl_str_status(const sl_str *s); // SL_OK or SL_ENOMEM
const char *sl_str_text(const sl_str *s);              // "" when empty
void sl_str_clear(sl_str *s);

/* Edit distance with transpositions, for "did you mean". Words of more than 63 bytes have a large
 * distance from all others. */
int sl_edit_distance(const char *a, const char *b);

/* The code point at text[0..n), n > 0, with its length in *used; -1 and 1 where it is not UTF-8:
 * overlong forms, surrogates and numbers past U+10FFFF are not. */
int32_t sl_utf8_read(const char *text, size_t n, int *used);

/* Writes a finite double and a terminator, returns the length: with 15 significant digits if those
 * read back as the same double, else 16, else 17, laid out as by "%g". There is always a point or
 * an exponent. */
#define SL_REAL_TEXT_MAX 32 // -2.2250738585072014e-308 has 24 characters
int sl_real_text(char text[SL_REAL_TEXT_MAX], double value);

/* A copy of the text in a that is safe to print in a terminal and in a comment: control characters
 * become blanks, bytes that are not UTF-8 become U+FFFD. NULL without memory. */
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

/* The host program may have set any locale. These functions behave as the C functions of the same
 * name in the C locale, and the host's locale is in force when they return. No other file calls the
 * C functions. */
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

/* Before and after a call into another library that formats or reads numbers: the thread has the C
 * locale in between. leave takes the value that enter returned. No callback of the host may be
 * called in between. */
SL_NODISCARD locale_t sl_locale_enter(void);
void sl_locale_leave(locale_t before);

/* ---------------------------------------------------------------- hashing ------------------- */

uint64_t sl_hash(const void *bytes, size_t n, uint64_t seed); // XXH3, 64 bits
/* 128-bit hash of a sequence of pieces, printed as 32 hex digits: identifies sets, pairs and
 * weights. */
typedef struct sl_hasher sl_hasher;
SL_NODISCARD sl_status sl_hasher_new(sl_hasher **out);
void sl_hasher_add(sl_hasher *h, const void *bytes, size_t n);
void sl_hasher_text(const sl_hasher *h, char out[33]);
void sl_hasher_free(sl_hasher *h);

/* ---------------------------------------------------------------- files and time ------------ */

/* A file that appears whole or not at all: it is written under a temporary name in the same folder,
 * synced, and renamed on commit.
 *
 * Two kinds of files are distinguished:
 *
 *   user      Named by the user. An input may be a pipe or a terminal; io/ reads it. An output may
 *             be a pipe, a terminal or a device such as /dev/null: sl_file_create writes to it
 *             directly, because a rename would replace it. A pipe without a reader within a second,
 *             a socket and a disk are refused.
 *   own       Written and read by symlaw: of a run, a checkpoint, a cache, a journal. It must be a
 *             regular file; the other functions below refuse anything else without waiting. */
typedef struct sl_file sl_file;
SL_NODISCARD sl_status sl_file_create(sl_file **out, const char *path);  // user
SL_NODISCARD sl_status sl_file_replace(sl_file **out, const char *path); // own
/* Would sl_file_create write directly to what is at the path, instead of replacing it? */
bool sl_file_is_direct(const char *path);
SL_NODISCARD sl_status sl_file_write(sl_file *f, const void *bytes, size_t n);
SL_NODISCARD sl_status sl_file_commit(sl_file **f); // sync, rename, sync directory; *f becomes NULL
void sl_file_discard(sl_file **f);                  // removes the temporary; fine after a commit
/* An own file := these bytes. */
SL_NODISCARD sl_status sl_file_put(const char *path, const void *bytes, size_t n);
/* Renames before the commit, which then only syncs. From now on readers find the whole file, also
 * if this process is killed, but perhaps not after a crash of the machine. For files whose readers
 * detect damage. */
SL_NODISCARD sl_status sl_file_publish(sl_file *f);
/* An own file that is appended to in place, created if missing. A line survives the process once it
 * is flushed, and a crash of the machine if flushed with `sync`. */
SL_NODISCARD sl_status sl_file_append(sl_file **out, const char *path);
SL_NODISCARD sl_status sl_file_flush(sl_file *f, bool sync);
/* *fd := an own file, open for reading. */
SL_NODISCARD sl_status sl_file_open(int *fd, const char *path);
/* A whole own file, terminated by an extra NUL; SL_ELIMIT past max_bytes. sl_free it. */
SL_NODISCARD sl_status sl_file_read(char **out, size_t *n, const char *path, size_t max_bytes);
/* Makes a folder and those above it, like mkdir -p; succeeds if it exists. mode: as for mkdir. */
SL_NODISCARD sl_status sl_folder_make(const char *path, unsigned mode);
/* Bytes that identify this boot of the machine and this process namespace: where they are equal,
 * process numbers can be compared. Returns their count; *booted: the boot is among them. */
enum { SL_MACHINE_MAX = 128 };
size_t sl_machine(char out[SL_MACHINE_MAX], bool *booted);

/* A temporary file of sl_file is called `<name>.tmp-<machine>-<process>`, followed by `-<n>` if
 * that name is taken; older versions left out the machine. A killed process leaves its files.
 *
 * Removes from a folder the temporary files of which `ours` accepts the name [0 .. n) and that no
 * living process can be writing: those of this machine if the process is gone, those of other
 * machines if nothing was written for ten minutes. alone: the caller holds the folder's lock, so no
 * other process writes these files; then those without a machine are removed too, if no process of
 * this machine has their number. Allocates nothing; a file that cannot be removed stays. */
void sl_file_sweep(const char *dir, bool (*ours)(const char *name, size_t n), bool alone);
/* The length of the name that a temporary file is for; 0 if it is no temporary file. */
size_t sl_file_temporary(const char *name);
/* For tests: the n-th write from now fails as a full disk would; 0 switches off. */
void sl_file_fail_at(int64_t n);

double sl_clock(void); // seconds, monotonic, from an arbitrary start
/* A deadline is a time of a clock; 0: none. A limit of 0 seconds is no deadline. */
static inline double sl_deadline(double start, double seconds) {
    return seconds > 0 ? start + seconds : 0;
}
static inline bool sl_deadline_passed(double deadline, double now) {
    return deadline > 0 && now >= deadline;
}

#endif
