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
} sl_csv__dialect;

/* The field that begins at `at`. */
sl_csv__field sl_io__csv_scan(const char *at, const char *end, const sl_csv__dialect *d);

/* The dialect, detected from the first bytes of a table; separator 0: detect it too. whole: these
 * bytes are the whole file. */
sl_csv__dialect sl_io__csv_guess(const char *bytes, size_t n, bool whole, char separator);

#endif
