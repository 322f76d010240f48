/* cells - a data set as the encoder reads it. */
#include <string.h>

#include "model/model.h"

static void write_column(float *mantissa, float *exponent, const double *v, int rows) {
    const size_t bytes = (size_t)rows * sizeof(float);
    if (!v) {
        memset(mantissa, 0, bytes);
        memset(exponent, 0, bytes);
        return;
    }
    sl_data_number_split_array(mantissa, exponent, v, rows);
    for (int i = 0; i < rows; i++) exponent[i] /= 10.0f;
}

void sl_model_write_cells(float *mantissa, float *exponent, uint8_t *present, const sl_dataset *d,
                          int columns) {
    SL_ASSERT(d->inputs < columns);
    const int rows = (int)d->rows;
    for (int c = 0; c < columns; c++) {
        const double *v = c == 0 ? d->y : c <= d->inputs ? d->x[c - 1] : NULL;
        const size_t at = (size_t)c * (size_t)rows;
        present[c] = v != NULL;
        write_column(mantissa + at, exponent + at, v, rows);
    }
}
