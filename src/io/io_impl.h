/* Shared inside io/ only. */
#ifndef SL_IO_IMPL_H
#define SL_IO_IMPL_H

#include "io/io.h"

/* ---------------------------------------------------------------- bytes --------------------- */

/* The bytes of a file, in order; unpacked if its first two bytes are those of gzip. "-" is standard
 * input, which is never closed. */
typedef struct sl_io__bytes sl_io__bytes;
SL_NODISCARD sl_status sl_io__bytes_open(sl_io__bytes **out, const char *path);
/* A file that the library writes itself: sl_file_open. "-" is an ordinary name. */
SL_NODISCARD sl_status sl_io__bytes_open_own(sl_io__bytes **out, const char *path);
/* buffer[0 .. *got) := the next bytes, n > 0 at most; fewer if fewer are available, so that a
 * terminal or pipe need not fill the buffer. *got = 0 at the end. SL_ECANCEL: interrupted by a
 * signal, the same call may be repeated; SL_EIO: it cannot be read or unpacked. */
SL_NODISCARD sl_status sl_io__bytes_read(size_t *got, sl_io__bytes *b, char *buffer, size_t n);
void sl_io__bytes_close(sl_io__bytes *b);
const char *sl_io__bytes_shown(const sl_io__bytes *b); // the file's name, for messages
int64_t sl_io__bytes_taken(const sl_io__bytes *b);     // of the file itself, so far
int64_t sl_io__bytes_size(const sl_io__bytes *b);      // of the file itself; 0 if unknown

/* The same as UTF-8 without a byte order mark, decoded from the encoding that is named, or else
 * detected from the first bytes. SL_EFORMAT: a known kind of file that is no text, or a byte 0. */
typedef struct sl_io__text sl_io__text;
SL_NODISCARD sl_status sl_io__text_open(sl_io__text **out, const char *path,
                                        sl_text_encoding encoding);
SL_NODISCARD sl_status sl_io__text_read(size_t *got, sl_io__text *t, char *buffer, size_t n);
void sl_io__text_close(sl_io__text *t);
const sl_io__bytes *sl_io__text_bytes(const sl_io__text *t);
sl_text_encoding sl_io__text_encoding(const sl_io__text *t); // never AUTO

/* ---------------------------------------------------------------- fields -------------------- */

/* What ended a field. A field that ends with the bytes is whole only if no more of them come. */
typedef enum sl_csv__end {
    SL_CSV__SEPARATOR,
    SL_CSV__LINE,
    SL_CSV__BYTES,
    SL_CSV__QUOTE, // opened, and the bytes end inside
    SL_CSV__BEHIND // text between a closing quote and the separator
} sl_csv__end;

typedef struct sl_csv__field {
    const char *text; // without quotes around, and without blanks unless they are quoted
    size_t n;
    bool quoted;
    bool doubled;     // some "" inside stand for "
    sl_csv__end end;
    const char *next; // behind what ended it
} sl_csv__field;

/* The syntax of one file. */
typedef struct sl_csv__dialect {
    char separator; // ' ': any run of blanks
    char line_end;  // LF, or CR in files without any LF
    bool closed;    // a separator also ends the last cell of a row
    char comment[SL_CSV_COMMENT_MAX + 1]; // lines that begin with it are no rows; "": none
} sl_csv__dialect;

/* What the marks of a number's text show of a file's style; 0: it is no number, or has none. */
enum {
    SL_CELL__COMMA_DECIMAL = 1,
    SL_CELL__COMMA_GROUP = 2,
    SL_CELL__COMMA_UNCLEAR = 4, // 421,204
    SL_CELL__POINT_DECIMAL = 8,
    SL_CELL__POINT_GROUP = 16,
    SL_CELL__POINT_UNCLEAR = 32,
};
unsigned sl_io__cell_marks(const sl_cell *cell);

/* The field that begins at `at`. */
sl_csv__field sl_io__csv_scan(const char *at, const char *end, const sl_csv__dialect *d);

/* Is the line from `at` on a comment? Blanks before it do not count. What spreadsheets write for
 * errors, as #N/A, is none. */
bool sl_io__csv_is_comment(const char *at, const char *end, const sl_csv__dialect *d);

enum { SL_CSV__ROWS_TRIED = 100 };

/* A row within the first bytes. */
typedef struct sl_csv__row {
    size_t at;     // of its first byte
    int64_t line;  // from 0
    int64_t cells; // without the empty one behind a closing separator
} sl_csv__row;

/* The first rows, as a dialect cuts them. */
typedef struct sl_csv__sample {
    sl_csv__row row[SL_CSV__ROWS_TRIED];
    int rows;
    int first;       // the first one that has `columns` cells
    int64_t columns; // most frequent number of cells, 2 or more; else of the second row
} sl_csv__sample;

/* d->separator (0: detect it too) and d->closed := those of the first bytes of a table; line_end
 * and comment are set. whole: these bytes are the whole file. *s := its rows. */
void sl_io__csv_guess(sl_csv__dialect *d, sl_csv__sample *s, const char *bytes, size_t n,
                      bool whole);
/* Would a reader of either style take it for a number? */
bool sl_io__cell_is_number(const sl_cell *cell);

/* Where the table begins within the first bytes of a file, and how it is written. */
typedef struct sl_csv__head {
    sl_csv__dialect dialect;
    size_t start;    // of the row of names, or of the first row
    int64_t line;    // of that, from 0
    bool header;
    size_t names, names_end; // of the text of a comment line that has the names; equal: none
    sl_csv_facts facts;
} sl_csv__head;
SL_NODISCARD sl_status sl_io__csv_head(sl_csv__head *out, const char *bytes, size_t n, bool whole,
                                       char line_end, const sl_csv_options *o);
char sl_io__csv_line_end(const char *bytes, size_t n);

#endif
