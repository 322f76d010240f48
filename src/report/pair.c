/* pair - one pair as text: its base, its constants, its data. */
#include <math.h>
#include <stdlib.h>

#include "report/report_impl.h"

static void add_name(sl_str *s, const char *name) { sl_str_addf(s, "  %-11s ", name); }

static sl_status add_expr(sl_str *s, const char *name, sl_format format, const sl_node *e) {
    add_name(s, name);
    SL_TRY(sl_expr_print(s, format, e, NULL));
    sl_str_add_char(s, '\n');
    return SL_OK;
}

static sl_status add_base(sl_str *s, const sl_universe *u, const sl_pair *p) {
    char all[32];
    add_name(s, "base");
    sl_str_addf(s, "#%lld of %s, depth %d: ", (long long)p->base,
                sl_group_digits(all, sl_universe_size(u)), sl_universe_level(u, p->base));
    SL_TRY(sl_expr_print(s, SL_FORMAT_INFIX, sl_universe_get(u, p->base), NULL));
    sl_str_add_char(s, '\n');
    return SL_OK;
}

/* ---------------------------------------------------------------- constants ----------------- */

static void add_occurrence(sl_str *s, const sl_pair_site *site) {
    if (site->op == SL_OP_VAR)
        sl_str_addf(s, "x%d", site->variable);
    else if (site->op == SL_OP_POW)
        sl_str_add(s, "root(...)");
    else
        sl_str_add(s, site->op == SL_OP_EXP ? "exp(...)" : "sin(...)");
}

/* x1 -> -2*x1 + 5 */
static void add_site(sl_str *s, const sl_pair_site *site) {
    add_occurrence(s, site);
    sl_str_add(s, " -> ");
    if (site->a == -1)
        sl_str_add_char(s, '-');
    else if (site->a != 1)
        sl_str_addf(s, "%d*", site->a);
    add_occurrence(s, site);
    if (site->b != 0) sl_str_addf(s, " %c %d", site->b < 0 ? '-' : '+', abs(site->b));
}

static void add_constants(sl_str *s, const sl_pair *p) {
    int n = 0;
    for (int i = 0; i < p->n_sites; i++) n += (p->site[i].a != 1) + (p->site[i].b != 0);
    add_name(s, "constants");
    if (n > 0)
        sl_str_addf(s, "%d in", n);
    else
        sl_str_add(s, "none in");
    sl_str_addf(s, " %d place%s", p->n_sites, p->n_sites == 1 ? "" : "s");
    const char *between = ": ";
    for (int i = 0; i < p->n_sites; i++) {
        if (p->site[i].a == 1 && p->site[i].b == 0) continue;
        sl_str_add(s, between);
        add_site(s, &p->site[i]);
        between = ", ";
    }
    sl_str_add_char(s, '\n');
}

/* ---------------------------------------------------------------- tokens and data ----------- */

static void add_tokens(sl_str *s, const sl_pair *p) {
    add_name(s, "tokens");
    sl_str_addf(s, "%d:", p->n_tokens);
    for (int i = 0; i < p->n_tokens; i++) sl_str_addf(s, " %s", sl_token_text(p->tokens[i]));
    sl_str_add_char(s, '\n');
}

static void add_data(sl_str *s, const sl_pairs *pairs, const sl_pair *p) {
    double low = p->data.y[0], high = p->data.y[0];
    for (int i = 1; i < p->data.rows; i++) {
        low = fmin(low, p->data.y[i]);
        high = fmax(high, p->data.y[i]);
    }
    int uniform = 0, n = p->mixture->clusters;
    for (int i = 0; i < n; i++) uniform += p->mixture->cluster[i].uniform;
    const int variables = sl_universe_config(sl_pairs_universe(pairs))->variables;

    add_name(s, "data");
    sl_str_addf(s, "%d points, %d ", (int)p->data.rows, p->data.inputs);
    if (p->data.inputs < variables) sl_str_addf(s, "of %d ", variables);
    sl_str_addf(s, "column%s, y from %.3g to %.3g; ", variables == 1 ? "" : "s", low, high);
    if (p->noise > 0) sl_str_addf(s, "noise %.2g of y's root mean square; ", p->noise);
    if (uniform == 0 || uniform == n)
        sl_str_addf(s, "%d %s cluster%s", n, uniform ? "uniform" : "Gaussian", n == 1 ? "" : "s");
    else
        sl_str_addf(s, "%d clusters (%d Gaussian, %d uniform)", n, n - uniform, uniform);
    sl_str_addf(s, "; %d draw%s", p->tries, p->tries == 1 ? "" : "s");
    if (p->attempts > 1) sl_str_addf(s, " in attempt %d", p->attempts);
    sl_str_add_char(s, '\n');

    // x1 of the pair need not be x1 of its base
    if (p->data.inputs < variables) {
        add_name(s, "columns");
        for (int c = 0; c < p->data.inputs; c++)
            sl_str_addf(s, "%sx%d is x%d of the base", c > 0 ? ", " : "", c + 1, p->column[c]);
        sl_str_add_char(s, '\n');
    }
}

sl_status sl_report_pair(sl_str *s, sl_arena *scratch, const sl_pairs *pairs, const sl_pair *p) {
    sl_str_addf(s, "%s/%lld\n", sl_pairs_split_name(p->split), (long long)p->index);
    SL_TRY(add_expr(s, "latex", SL_FORMAT_LATEX, p->expr));
    SL_TRY(add_expr(s, "infix", SL_FORMAT_INFIX, p->expr));
    SL_TRY(add_base(s, sl_pairs_universe(pairs), p));
    add_constants(s, p);
    add_tokens(s, p);
    add_data(s, pairs, p);
    sl_str_add_char(s, '\n');
    return sl_report__pair_plot(s, scratch, p);
}
