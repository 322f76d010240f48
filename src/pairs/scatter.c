/* Uniforms to points, for every CPU. */
#define SCATTER sl_pairs__scatter_base
#include "pairs/scatter_body.h"
