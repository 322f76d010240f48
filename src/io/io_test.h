/* For the tests of this folder and of the folders that depend on it. */
#ifndef SL_IO_TEST_H
#define SL_IO_TEST_H

#include "io/io.h"

/* From now on jansson allocates by sl_malloc, so that allocations can fail and leaks are seen. Only
 * in tests: jansson has one allocator per process, which belongs to the host program. */
void sl_io_json_count_memory(void);

#endif
