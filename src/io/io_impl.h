/* Shared inside io/ only. */
#ifndef SL_IO_IMPL_H
#define SL_IO_IMPL_H

#include "io/io.h"

#define SL_JSON__REAL_MAX 32 // -2.2250738585072014e-308 has 24 characters

/* Writes a finite double and a terminator, returns the length: with 15 significant digits if those
 * read back as the same double, else 16, else 17. There is always a point or an exponent. */
int sl_json__real_text(char text[SL_JSON__REAL_MAX], double value);

#endif
