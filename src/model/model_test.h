/* For tests: the pass in double, with the plain kernels. As in model.h otherwise. */
#ifndef SL_MODEL_TEST_H
#define SL_MODEL_TEST_H

#include "model/model.h"

typedef struct sl_work_d sl_work_d;
SL_NODISCARD sl_status sl_model_work_new_d(sl_work_d **out, const sl_model *m, int pairs,
                                           int points, int tokens, int flags);
void sl_model_work_free_d(sl_work_d *w);
int64_t sl_model_work_bytes_d(const sl_model *m, int pairs, int points, int tokens, int flags);
double sl_model_pass_d(sl_work_d *w, double *grad, double *logits, const double *weights,
                       const sl_batch *b, sl_dropout dropout);
void sl_model_encode_d(double *memory, sl_work_d *w, const double *weights, const sl_batch *b);

#endif
