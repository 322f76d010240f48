/* The passes over doubles. */
#include <math.h>

#define REAL double
#define SQRT sqrt
#include "optim/adam_body.h"

const sl_optim__kernels sl_optim__double = { "double", sizeof(double), adam, shrink, squares };
