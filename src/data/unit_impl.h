/* Shared by the files that know units. */
#ifndef SL_UNIT_IMPL_H
#define SL_UNIT_IMPL_H

#include "data/data.h"

/* *out := the unit called name[0..n), with or without a prefix. */
bool sl_data__unit_find(sl_unit *out, const char *name, size_t n);
/* The name in the table that is nearest to it, or NULL. */
const char *sl_data__unit_near(const char *name, size_t n);
/* The SI unit with a name of its own that is coherent and has this dimension, or NULL. */
const char *sl_data__unit_name_of(sl_dimension d);

#endif
