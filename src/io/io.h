/* io - formats that other programs read and write: JSON, lines of text, .npy.
 *
 * Reading and writing are two different jobs here. What is read comes from outside and may be
 * anything, so it is parsed into a tree, by jansson, and asked questions. What is written is ours
 * and its shape is known where it is written, so it goes straight into a sl_str, without a tree:
 *
 *     sl_json_open(&s, NULL, '{');               {"depth":3,"ops":["+","-"]}
 *     sl_json_add_int(&s, "depth", 3);
 *     sl_json_open(&s, "ops", '[');
 *     sl_json_add_text(&s, NULL, "+");
 *     sl_json_add_text(&s, NULL, "-");
 *     sl_json_close(&s, ']');
 *     sl_json_close(&s, '}');
 *
 * Commas need no state: one is due unless the text so far ends in an opening bracket or a new line
 * (or is empty). So values one after the other, with '\n' between them, are JSON lines.
 *
 * What is written is always valid: bytes that are no UTF-8 become U+FFFD, and a number that is not
 * finite becomes null.
 *
 * Files of many values are JSON lines, so that nobody needs to hold a whole one: sl_lines gives one
 * line at a time. Who wants all numbers at once reads .npy, which is a header before plain memory.
 *
 * Ownership: the reader's tree belongs to who parsed it; everything it answers is borrowed from it.
 * jansson's memory is its own: its allocator belongs to the whole program, so we leave it as it is.
 * Threads: no shared state. */
#ifndef SL_IO_H
#define SL_IO_H

#include "base/base.h"

/* ---------------------------------------------------------------- reading ------------------- */

typedef struct json_t sl_json; // jansson's own, which nobody outside io/ looks into

typedef enum sl_json_kind {
    SL_JSON_NULL,
    SL_JSON_BOOL,
    SL_JSON_INT, // fits int64_t
    SL_JSON_REAL,
    SL_JSON_TEXT,
    SL_JSON_ARRAY,
    SL_JSON_OBJECT
} sl_json_kind;

/* *out := the one value that text (n bytes, any bytes) holds. SL_EFORMAT gives line, column and
 * reason; a member that comes twice, bytes that are no UTF-8 and NUL inside a text are refused. */
SL_NODISCARD sl_status sl_json_parse(sl_json **out, const char *text, size_t n);
/* The same for a line of a file that others wrote. The place is a column alone, NaN and Infinity
 * are called by their names, and where a whole number is beyond int64_t all numbers are read as
 * REAL: to other programs there is one kind of number. */
SL_NODISCARD sl_status sl_json_parse_line(sl_json **out, const char *line, size_t n);
void sl_json_free(sl_json *j);

sl_json_kind sl_json_kind_of(const sl_json *j);
const char *sl_json_kind_text(sl_json_kind kind); // "a text", "an object", for messages
bool sl_json_bool(const sl_json *j);              // of a BOOL
int64_t sl_json_int(const sl_json *j);            // of an INT
double sl_json_real(const sl_json *j);            // of an INT or a REAL
const char *sl_json_text(const sl_json *j);       // of a TEXT: UTF-8, terminated
int sl_json_count(const sl_json *j);              // elements of an ARRAY, members of an OBJECT
const sl_json *sl_json_at(const sl_json *array, int i);
const sl_json *sl_json_get(const sl_json *object, const char *name); // NULL if there is none

/* The members of an object in the order they were written; name is NULL behind the last:
 *     for (sl_json_member m = sl_json_first(j); m.name; m = sl_json_next(j, m)) ... */
typedef struct sl_json_member {
    const char *name;
    const sl_json *value;
    void *at;
} sl_json_member;
sl_json_member sl_json_first(const sl_json *object);
sl_json_member sl_json_next(const sl_json *object, sl_json_member m);

/* ---------------------------------------------------------------- writing ------------------- */

/* A value: as member `name`, or without a name (NULL) as an element or on its own. Lack of memory
 * sticks to s. */
void sl_json_open(sl_str *s, const char *name, char bracket); // '{' or '['
void sl_json_close(sl_str *s, char bracket);                  // '}' or ']'
void sl_json_add_null(sl_str *s, const char *name);
void sl_json_add_bool(sl_str *s, const char *name, bool value);
void sl_json_add_int(sl_str *s, const char *name, int64_t value);
void sl_json_add_real(sl_str *s, const char *name, double value); // shortest text that reads back
void sl_json_add_text(sl_str *s, const char *name, const char *value); // NULL: null

/* ---------------------------------------------------------------- lines --------------------- */

/* The lines of a file, one at a time, in bounded memory. "-" is standard input. A byte order mark
 * at the very start is not part of the first line. */
typedef struct sl_lines sl_lines;
SL_NODISCARD sl_status sl_lines_open(sl_lines **out, const char *path, size_t max_bytes);
/* *line := the next line without its end (LF or CRLF), n bytes of it, any bytes, valid until the
 * next call; NULL behind the last. A last line needs no LF. SL_ELIMIT: longer than max_bytes; the
 * next call goes on behind it. */
SL_NODISCARD sl_status sl_lines_next(const char **line, size_t *n, sl_lines *l);
int64_t sl_lines_number(const sl_lines *l); // of the line just read, from 1
void sl_lines_close(sl_lines *l);

/* ---------------------------------------------------------------- .npy ---------------------- */

/* Appends the header of a NumPy file of little-endian doubles in C order; the values follow it as
 * they are in memory. Its size does not depend on the first dimension, so a file of as yet unknown
 * length can be begun with any and its header written over at the end. */
void sl_npy_header(sl_str *s, const int64_t *shape, int dims);

#endif
