/* io - formats that other programs read and write: JSON, lines of text, CSV, .npy.
 *
 * Reading and writing JSON work differently. Input comes from outside and may be anything, so
 * jansson parses it into a tree, which is then queried. The shape of output is known where it is
 * written, so it goes straight into a sl_str, without a tree:
 *
 *     sl_io_json_open(&s, NULL, '{');               {"depth":3,"ops":["+","-"]}
 *     sl_io_json_add_int(&s, "depth", 3);
 *     sl_io_json_open(&s, "ops", '[');
 *     sl_io_json_add_text(&s, NULL, "+");
 *     sl_io_json_add_text(&s, NULL, "-");
 *     sl_io_json_close(&s, ']');
 *     sl_io_json_close(&s, '}');
 *
 * Commas need no state: one is due unless the text so far ends in an opening bracket or a new line
 * (or is empty). So values one after the other, with '\n' between them, are JSON lines.
 *
 * Output is always valid: bytes that are no UTF-8 become U+FFFD, and a number that is not finite
 * becomes null.
 *
 * Files of many values are JSON lines, so that no reader has to hold a whole file: sl_lines returns
 * one line at a time, and sl_csv one row of a table. Both unpack gzip files. To read all numbers at
 * once there is .npy, a header before plain memory.
 *
 * Ownership: a parsed tree belongs to the caller of the parse function; pointers into it are
 * borrowed. jansson allocates its own memory: its allocator is global to the program, so it is not
 * replaced. Threads: no shared state. */
#ifndef SL_IO_H
#define SL_IO_H

#include "base/base.h"

/* ---------------------------------------------------------------- reading ------------------- */

typedef struct json_t sl_json; // jansson's type, opaque outside io/

typedef enum sl_json_kind {
    SL_JSON_NULL,
    SL_JSON_BOOL,
    SL_JSON_INT, // fits int64_t
    SL_JSON_REAL,
    SL_JSON_TEXT,
    SL_JSON_ARRAY,
    SL_JSON_OBJECT
} sl_json_kind;

/* *out := the one value in text (n bytes, any bytes). SL_EFORMAT reports line, column and reason;
 * a repeated member, bytes that are no UTF-8 and NUL inside a text are refused. */
SL_NODISCARD sl_status sl_io_json_parse(sl_json **out, const char *text, size_t n);
/* The same for one line of a file written by another program. Errors report a column only and name
 * NaN and Infinity. Where a whole number is beyond int64_t, all numbers are read as REAL: many
 * programs have only one kind of number. */
SL_NODISCARD sl_status sl_io_json_parse_line(sl_json **out, const char *line, size_t n);
void sl_io_json_free(sl_json *j);

sl_json_kind sl_io_json_kind_of(const sl_json *j);
const char *sl_io_json_kind_text(sl_json_kind kind); // "a text", "an object", for messages
bool sl_io_json_bool(const sl_json *j);              // of a BOOL
int64_t sl_io_json_int(const sl_json *j);            // of an INT
double sl_io_json_real(const sl_json *j);            // of an INT or a REAL
const char *sl_io_json_text(const sl_json *j);       // of a TEXT: UTF-8, terminated
int sl_io_json_count(const sl_json *j);              // elements of an ARRAY, members of an OBJECT
const sl_json *sl_io_json_at(const sl_json *array, int i);
const sl_json *sl_io_json_get(const sl_json *object, const char *name); // NULL if there is none

/* A member, or `otherwise` where it is missing or of another kind, or where object is NULL.
 * get_real: INT or REAL. */
double sl_io_json_get_real(const sl_json *object, const char *name, double otherwise);
int64_t sl_io_json_get_int(const sl_json *object, const char *name, int64_t otherwise);
bool sl_io_json_get_bool(const sl_json *object, const char *name, bool otherwise);
const char *sl_io_json_get_text(const sl_json *object, const char *name, const char *otherwise);

/* The members of an object in the order they were written; name is NULL behind the last:
 *     for (sl_json_member m = sl_io_json_first(j); m.name; m = sl_io_json_next(j, m)) ... */
typedef struct sl_json_member {
    const char *name;
    const sl_json *value;
    void *at;
} sl_json_member;
sl_json_member sl_io_json_first(const sl_json *object);
sl_json_member sl_io_json_next(const sl_json *object, sl_json_member m);

/* ---------------------------------------------------------------- writing ------------------- */

/* Appends a value: as member `name`, or without a name (NULL) as an element or on its own. Lack of
 * memory is recorded in s. A real is the shortest text that reads back. */
void sl_io_json_open(sl_str *s, const char *name, char bracket); // '{' or '['
void sl_io_json_close(sl_str *s, char bracket);                  // '}' or ']'
void sl_io_json_add_null(sl_str *s, const char *name);
void sl_io_json_add_bool(sl_str *s, const char *name, bool value);
void sl_io_json_add_int(sl_str *s, const char *name, int64_t value);
void sl_io_json_add_real(sl_str *s, const char *name, double value);
void sl_io_json_add_text(sl_str *s, const char *name, const char *value); // NULL: null
void sl_io_json_add_tree(sl_str *s, const char *name, const sl_json *value); // a parsed value

/* Appends fields of *object as members of the same names, each by its type:
 *     SL_JSON_FIELDS(&s, &bits, structure, numbers, constants);                  at most twelve */
#define SL_JSON_FIELDS(s, object, ...)                                                             \
    SL_JSON__PICK(__VA_ARGS__, SL_JSON__12, SL_JSON__11, SL_JSON__10, SL_JSON__9, SL_JSON__8,      \
                  SL_JSON__7, SL_JSON__6, SL_JSON__5, SL_JSON__4, SL_JSON__3, SL_JSON__2,          \
                  SL_JSON__1, )(s, object, __VA_ARGS__)
#define SL_JSON__PICK(a, b, c, d, e, f, g, h, i, j, k, l, each, ...) each
#define SL_JSON__1(s, o, field)                                                                    \
    _Generic((o)->field, bool: sl_io_json_add_bool, int: sl_io_json_add_int,                       \
             int64_t: sl_io_json_add_int, double: sl_io_json_add_real,                             \
             char *: sl_io_json_add_text, const char *: sl_io_json_add_text)(s, #field, (o)->field)
#define SL_JSON__2(s, o, f, ...) SL_JSON__1(s, o, f), SL_JSON__1(s, o, __VA_ARGS__)
#define SL_JSON__3(s, o, f, ...) SL_JSON__1(s, o, f), SL_JSON__2(s, o, __VA_ARGS__)
#define SL_JSON__4(s, o, f, ...) SL_JSON__1(s, o, f), SL_JSON__3(s, o, __VA_ARGS__)
#define SL_JSON__5(s, o, f, ...) SL_JSON__1(s, o, f), SL_JSON__4(s, o, __VA_ARGS__)
#define SL_JSON__6(s, o, f, ...) SL_JSON__1(s, o, f), SL_JSON__5(s, o, __VA_ARGS__)
#define SL_JSON__7(s, o, f, ...) SL_JSON__1(s, o, f), SL_JSON__6(s, o, __VA_ARGS__)
#define SL_JSON__8(s, o, f, ...) SL_JSON__1(s, o, f), SL_JSON__7(s, o, __VA_ARGS__)
#define SL_JSON__9(s, o, f, ...) SL_JSON__1(s, o, f), SL_JSON__8(s, o, __VA_ARGS__)
#define SL_JSON__10(s, o, f, ...) SL_JSON__1(s, o, f), SL_JSON__9(s, o, __VA_ARGS__)
#define SL_JSON__11(s, o, f, ...) SL_JSON__1(s, o, f), SL_JSON__10(s, o, __VA_ARGS__)
#define SL_JSON__12(s, o, f, ...) SL_JSON__1(s, o, f), SL_JSON__11(s, o, __VA_ARGS__)

/* ---------------------------------------------------------------- lines --------------------- */

/* The lines of a file, one at a time, in bounded memory, unpacked if it is a gzip file. "-" is
 * standard input. A byte order mark at the very start is not part of the first line. The file may
 * be a pipe or a terminal; reading blocks. */
typedef struct sl_lines sl_lines;
SL_NODISCARD sl_status sl_io_lines_open(sl_lines **out, const char *path, size_t max_bytes);
/* A file that the library writes itself, such as a log: only a regular file is accepted. "-" is an
 * ordinary name. */
SL_NODISCARD sl_status sl_io_lines_open_own(sl_lines **out, const char *path, size_t max_bytes);
/* *line := the next line without its end (LF or CRLF), n bytes of it, any bytes, valid until the
 * next call; NULL behind the last. A last line needs no LF. SL_ELIMIT: longer than max_bytes; the
 * next call continues behind it. */
SL_NODISCARD sl_status sl_io_lines_next(const char **line, size_t *n, sl_lines *l);
int64_t sl_io_lines_number(const sl_lines *l); // of the line just read, from 1
void sl_io_lines_close(sl_lines *l);
/* Rewrites such a file of the library's own with the lines that `keep` accepts, whole or not at
 * all. number: from 1. Lines longer than max_bytes are dropped. */
typedef bool (*sl_lines_keep)(const char *line, size_t n, int64_t number, void *payload);
SL_NODISCARD sl_status sl_io_lines_rewrite(const char *path, size_t max_bytes, sl_lines_keep keep,
                                           void *payload);

/* ---------------------------------------------------------------- tables -------------------- */

/* Rows of cells, as spreadsheets and instruments write them: fields between separators, in double
 * quotes where they hold one ("" inside is a quote), lines that end in LF or CRLF (or CR, where
 * there is no LF). Plain or packed by gzip, detected from the first bytes; "-" is standard input.
 * Cells are UTF-8, whatever the file is in. Comment lines, titles above the names and a row of
 * units below them are no rows of the table (csv_head.c); neither is a first line sep=X.
 * One row is held at a time. If every row ends in a separator, there is no empty cell after it. */
typedef struct sl_csv sl_csv;

typedef enum sl_text_encoding {
    SL_ENCODING_AUTO, // detected from the first bytes
    SL_ENCODING_UTF8,
    SL_ENCODING_LATIN1, // with the characters that Windows-1252 has besides
    SL_ENCODING_UTF16,  // either order of bytes; a byte order mark is not needed
} sl_text_encoding;

/* What a point or a comma between digits is. */
typedef enum sl_mark_use {
    SL_MARK_NONE, // no part of a number
    SL_MARK_DECIMAL,
    SL_MARK_GROUP, // before groups of three digits: 421,204
    SL_MARK_EITHER // as the digits around it show; 421,204 alone is refused
} sl_mark_use;

typedef struct sl_number_style {
    sl_mark_use point, comma;
} sl_number_style;

enum { SL_CSV_COMMENT_MAX = 3 };

typedef struct sl_csv_options {
    char separator; // 0: detected from the first lines: , ; tab | or ' ', runs of blanks
    int header;     // 1: the first row has names, 0: it has data, -1: names if a cell is no number
    size_t max_row; // bytes; 0: 1 MiB. A longer row is SL_ELIMIT
    int64_t skip;   // lines before the table
    const char *comment; // lines that begin with it are skipped; "": none are; NULL: detected.
                         // Of up to SL_CSV_COMMENT_MAX bytes
    char decimal;        // '.' or ','; 0: detected from the numbers of the first rows
    sl_text_encoding encoding;
    const char *shown; // the file's name in messages; NULL: its path, or standard input
    bool (*is_unit)(const char *text, size_t n); // for a row of units below names; NULL: none is
} sl_csv_options;

#define SL_CSV_OPTIONS_INIT { .separator = 0, .header = -1, .max_row = 0 }

/* What was done to read a file besides cutting it at separators. */
typedef struct sl_csv_facts {
    sl_text_encoding encoding; // that it is in
    char comment[SL_CSV_COMMENT_MAX + 1]; // what comment lines begin with; "": none are skipped
    int64_t comments;          // lines skipped so far
    bool comment_names;        // the names are those of the last comment line
    int titles;                // rows above the names
    int between;               // rows between names and data that are neither
    char title[64];            // beginning of the first of either
    bool units;                // a row of units is below the names
    bool row_names;            // the header has one name less: the first column has none
    sl_number_style style;
    bool assumed;      // commas are decimal, but the numbers seen may as well have groups:
    char example[32];  // one of them
} sl_csv_facts;

/* o may be NULL. SL_EIO: no such file, or it cannot be unpacked; SL_EFORMAT: empty, binary data, or
 * an unclosed quote in the first row; SL_ECANCEL: interrupted by a signal, what was read is lost;
 * SL_EINVAL: unsupported separator. */
SL_NODISCARD sl_status sl_io_csv_open(sl_csv **out, const char *path, const sl_csv_options *o);
void sl_io_csv_close(sl_csv *c);
int sl_io_csv_columns(const sl_csv *c); // of the first row
/* From 0. "x1".. where there is no header, "column 1" where it has no name for this one. */
const char *sl_io_csv_name(const sl_csv *c, int column);
bool sl_io_csv_has_header(const sl_csv *c);
char sl_io_csv_separator(const sl_csv *c);
/* The column of this name, or of this number from 1 where no name fits; -1 if there is none. */
int sl_io_csv_find(const sl_csv *c, const char *name);
/* Its cell in the row of units, "" if there is none. */
const char *sl_io_csv_unit(const sl_csv *c, int column);
const sl_csv_facts *sl_io_csv_facts(const sl_csv *c);

typedef struct sl_cell {
    const char *text; // without quotes and without blanks around; terminated
    size_t n;
    bool quoted;
} sl_cell;

/* *cells := the next row's cells, as many as there are columns, valid until the next call; NULL
 * after the last. Lines of blanks alone are no rows. SL_EFORMAT: a row with more or fewer cells, an
 * unclosed quote, text after a closing one, or a byte 0; the place is in the message, and the next
 * call reads the row after it. SL_ECANCEL: interrupted by a signal; call again to continue. */
SL_NODISCARD sl_status sl_io_csv_next(const sl_cell **cells, sl_csv *c);
int64_t sl_io_csv_row(const sl_csv *c);  // data rows read, from 1
int64_t sl_io_csv_line(const sl_csv *c); // line of the file where the row begins, from 1
/* Bytes of the file that were read, and its size (0 if unknown): for progress. */
int64_t sl_io_csv_bytes(const sl_csv *c);
int64_t sl_io_csv_size(const sl_csv *c);

/* Appends a cell, in quotes where needed; the caller adds commas and line ends. A number is the
 * shortest text that reads back, a whole one without a point; one that is not finite is empty. */
void sl_io_csv_add_text(sl_str *s, const char *text);
void sl_io_csv_add_number(sl_str *s, double v);

typedef enum sl_cell_kind {
    SL_CELL_NUMBER,
    SL_CELL_MISSING,  // empty, NA, N/A, n.a., NaN, null, none, ?, ., -, --, ---, in any case; what
                      // spreadsheets write for errors, as #N/A and #DIV/0!
    SL_CELL_INFINITE, // inf, infinity, or a number beyond doubles
    SL_CELL_TEXT
} sl_cell_kind;

/* The kind of a cell and its value; *out is NaN or an infinity where it is no number. Accepted:
 * digits with a point, an exponent after e or d, and a decimal comma where the separator is not a
 * comma. The result is the nearest double, in any locale. */
sl_cell_kind sl_io_cell_number(double *out, const sl_cell *cell, char separator);

/* What stands beside a number's digits. */
enum {
    SL_SIGN_PERCENT = 1,  // 12.5% is 12.5
    SL_SIGN_CURRENCY = 2, // a dollar, euro, pound or yen sign at either end
    SL_SIGN_GROUPS = 4,   // digits in groups of three
    SL_SIGN_UNCLEAR = 8   // no number: it has two values, by what its mark is
};
/* The same by the style of a file, as sl_io_csv_facts has it, and with such signs: digits may be in
 * groups of three, between them commas or points if the style has them, blanks or apostrophes in
 * any style. */
sl_cell_kind sl_io_cell_read(double *out, unsigned *signs, const sl_cell *cell,
                             sl_number_style style);

/* ---------------------------------------------------------------- .npy ---------------------- */

/* Appends the header of a NumPy file of little-endian doubles in C order; the values follow it as
 * they are in memory. Its size does not depend on the first dimension, so a file of unknown length
 * can begin with a placeholder header that is overwritten at the end. */
void sl_io_npy_header(sl_str *s, const int64_t *shape, int dims);

#endif
