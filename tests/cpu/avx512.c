/* Says which instruction sets the tests of this machine cover. Ends with 77, which ctest shows as
 * skipped, where AVX-512 is not among them: a green run must not look like more than it is. */
#include <stdio.h>

#include "base/base.h"

int main(void) {
    const sl_isa best = sl_cpu_best();
    printf("instruction sets tested:");
    for (int i = 0; i <= (int)best; i++) printf(" %s", sl_isa_name((sl_isa)i));
    for (int i = (int)best + 1; i < SL_ISA_COUNT; i++)
        printf("; %s NOT tested, this CPU does not have it", sl_isa_name((sl_isa)i));
    putchar('\n');
    return best == SL_ISA_AVX512 ? 0 : 77;
}
