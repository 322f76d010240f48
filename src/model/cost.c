/* cost - FLOPs of a configuration, without running it. */
#include "model/model_impl.h"

double sl_model_flops_paper(const sl_model *m, double cells, double tokens) {
    return 6.0 * (double)m->count / 2 * (cells + tokens);
}

/* One product with a (K, C) matrix takes 2 C K per row forward and twice that backward. */
double sl_model_flops(const sl_model *m, int points, double tokens) {
    const double d = (double)m->options.width, P = points, T = tokens;
    const double columns = (double)m->options.columns, cells = columns * P;
    double dd = 0;   // products with d x d matrices, in rows
    double ad = 0;   // queries times keys, each of which costs two products of length d
    double thin = 0; // products with matrices of columns + 3 rows of length d
    for (int i = 0; i < m->options.layers; i++) {
        double read = i + 1 == m->options.layers ? P : cells; // rows that are read on
        double first = 2 * cells + read;                      // queries, keys, values
        if (i == 0)
            thin += first; // affine_body.h
        else
            dd += first;
        dd += 13 * read;
        ad += read * (columns + P);
    }
    dd += (double)m->options.decoder_layers * (14 * T + 2 * P);
    ad += (double)m->options.decoder_layers * T * ((T + 1) / 2 + P);
    dd += columns + T; // codes of columns and positions; the latter are shared by a chunk at best
    double forward = 2 * dd * d * d + 2 * thin * (columns + 3) * d + 4 * ad * d +
                     2 * T * d * (double)m->options.vocabulary + 4 * cells * d;
    return 3 * forward;
}
