/* pass_double - the same pass in double with the plain kernels: the judge of gradients. */
#include <math.h>
#include <string.h>

#include "model/model_impl.h"
#include "model/model_test.h"
#include "nn/nn.h"

#define REAL      double
#define NN(f)     sl_nn_ref_d_##f
#define OF(f)     sl_##f##_d
#define WORK      sl_work_d
#define CODE      code
#define SQRT(x)   sqrt(x)
#define OWN_CELLS 1
#include "model/pass_body.h"
