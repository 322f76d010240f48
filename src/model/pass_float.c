/* pass_float - the pass as it is used: float, fast kernels. */
#include <math.h>
#include <string.h>

#include "model/model_impl.h"
#include "nn/nn.h"

#define REAL      float
#define NN(f)     sl_nn_##f
#define OF(f)     sl_##f
#define WORK      sl_work
#define CODE      code_f
#define SQRT(x)   sqrtf(x)
#define OWN_CELLS 0
#include "model/pass_body.h"

void sl_model_work_set_stop(sl_work *w, bool (*stop)(void *payload), void *payload) {
    w->stop = stop;
    w->stop_payload = payload;
}
