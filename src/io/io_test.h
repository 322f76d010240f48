/* For the tests of this folder and of everyone above it. */
#ifndef SL_IO_TEST_H
#define SL_IO_TEST_H

#include "io/io.h"

/* From now on jansson's memory comes through sl_malloc, so that it can fail and leaks are seen. Not
 * done outside tests: jansson has one allocator per process, and that is the program's to choose. */
void sl_io_json_count_memory(void);

#endif
