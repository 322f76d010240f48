/* Any bytes as LaTeX text: see fuzz_text.h. */
#include "fuzz/fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_text(SL_FORMAT_LATEX, data, size);
    return 0;
}
