/* Uniforms to points, for any x86-64. */
#define SCATTER sl_pairs__scatter_base
#include "pairs/scatter_body.h"
