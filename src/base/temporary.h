/* Inside base/ only: names of temporary files. */
#ifndef SL_TEMPORARY_H
#define SL_TEMPORARY_H

#include <stddef.h>

enum { SL_TEMPORARY__MAX = 40 }; // bytes that the name has more than the path, with the terminator

/* The name of try i for `path`. */
void sl_temporary__name(char *out, size_t size, const char *path, int i);

#endif
