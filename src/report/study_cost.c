/* study_cost - the cost of a study before it is run: FLOPs and time of its runs. */
#include <math.h>

#include "report/report_impl.h"

/* ---------------------------------------------------------------- for programs -------------- */

static void add_size_json(sl_str *s, const sl_report_study_cost *o, int i) {
    const sl_study_size *size = &o->plan->size[i];
    const sl_report_size_cost *c = &o->size[i];
    sl_io_json_open(s, NULL, '{');
    sl_io_json_add_text(s, "name", size->name);
    sl_io_json_add_real(s, "parameters", c->params);
    sl_io_json_add_real(s, "tokens_per_pair", c->tokens);
    sl_io_json_add_real(s, "flops_pair_paper", c->flops_pair);
    sl_io_json_add_real(s, "flops_pair", c->flops_pair_executed);
    sl_io_json_add_int(s, "memory", c->memory);
    sl_io_json_add_real(s, "rate", isnan(o->given) ? c->rate : o->given);
    sl_io_json_add_real(s, "share", c->share);
    sl_io_json_add_int(s, "measured_pairs", c->measured);
    sl_io_json_open(s, "sweep", '{');
    sl_io_json_add_int(s, "runs", c->sweep_runs);
    sl_io_json_add_int(s, "runs_grown", c->sweep_runs + c->grow_runs);
    sl_io_json_add_real(s, "ratio", size->sweep_ratio);
    sl_io_json_add_real(s, "flops_run", c->sweep_flops);
    sl_io_json_add_real(s, "flops", c->sweep_flops * c->sweep_runs);
    sl_io_json_add_real(s, "seconds", c->sweep_seconds);
    sl_io_json_close(s, '}');
    sl_io_json_open(s, "scale", '[');
    for (int k = 0; k < size->ratios.n; k++) {
        const sl_report_run_cost *run = &c->scale[k];
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_real(s, "ratio", size->ratios.at[k]);
        sl_io_json_add_int(s, "seeds", size->scale_seeds.n);
        SL_JSON_FIELDS(s, run, tokens, flops, seconds);
        sl_io_json_close(s, '}');
    }
    sl_io_json_close(s, ']');
    sl_io_json_close(s, '}');
}

void sl_report_study_cost_json(sl_str *s, const sl_report_study_cost *o) {
    sl_io_json_open(s, "plan", '{');
    SL_JSON_FIELDS(s, o->plan, name, about);
    sl_io_json_open(s, "sizes", '[');
    for (int i = 0; i < o->plan->sizes; i++) add_size_json(s, o, i);
    sl_io_json_close(s, ']');
    SL_JSON_FIELDS(s, o, runs_sweep, runs_scale);
    sl_io_json_add_int(s, "runs_grown", o->runs_grow);
    SL_JSON_FIELDS(s, o, flops_sweep, flops_scale);
    sl_io_json_add_real(s, "flops", o->flops_sweep + o->flops_scale);
    sl_io_json_add_real(s, "flops_grown", o->flops_grow);
    SL_JSON_FIELDS(s, o, seconds_sweep, seconds_scale);
    sl_io_json_add_real(s, "seconds", o->seconds_sweep + o->seconds_scale);
    sl_io_json_add_real(s, "sgemm_rate", o->peak);
    sl_io_json_close(s, '}');
}

/* ---------------------------------------------------------------- for people ---------------- */

static void add_sweep(sl_str *s, const sl_report_study_cost *o) {
    char a[32], t[32];
    sl_str_addf(s, "\nthe sweep\n  %-12s %12s %11s %6s %6s %11s %11s  %s\n", "size", "parameters",
                "tokens/pair", "ratio", "runs", "FLOPs each", "FLOPs", "time");
    for (int i = 0; i < o->plan->sizes; i++) {
        const sl_study_size *size = &o->plan->size[i];
        const sl_report_size_cost *c = &o->size[i];
        const double all = c->sweep_flops * c->sweep_runs;
        sl_str_addf(s, "  %-12s %12s %11.4g %6g %6d %11.3g %11.3g  %s\n", size->name,
                    sl_group_digits(a, (int64_t)c->params), c->tokens, size->sweep_ratio,
                    c->sweep_runs, c->sweep_flops, all, sl_report_duration(t, c->sweep_seconds));
    }
}

static void add_scale(sl_str *s, const sl_report_study_cost *o) {
    char t[32];
    sl_str_addf(s, "\nthe best of each size, by ratio\n  %-12s %6s %6s %11s %11s  %s\n", "size",
                "ratio", "seeds", "tokens", "FLOPs each", "time each");
    for (int i = 0; i < o->plan->sizes; i++) {
        const sl_study_size *size = &o->plan->size[i];
        const sl_report_size_cost *c = &o->size[i];
        for (int k = 0; k < size->ratios.n; k++) {
            const sl_report_run_cost *run = &c->scale[k];
            sl_str_addf(s, "  %-12s %6g %6d %11.3g %11.3g  %s\n", size->name, size->ratios.at[k],
                        size->scale_seeds.n, run->tokens, run->flops,
                        sl_report_duration(t, run->seconds));
        }
    }
}

/* The speed that the times follow from. */
static void add_speed(sl_str *s, const sl_report_study_cost *o) {
    char where[64] = "";
    if (o->ranks > 1)
        sl_snprintf(where, sizeof where, ", and %.0f processes %.0f times as much", o->ranks,
                    o->ranks);
    if (!isnan(o->given)) {
        sl_report_line(s, "speed", "%.3g FLOP/s in training, as given%s", o->given, where);
        return;
    }
    sl_report_line(s, "speed", "this machine has %.0f GFLOP/s in products of matrices, %d thread%s",
                   1e-9 * o->peak, o->threads, o->threads == 1 ? "" : "s");
    for (int i = 0; i < o->plan->sizes; i++) {
        const sl_study_size *size = &o->plan->size[i];
        const sl_report_size_cost *c = &o->size[i];
        char share[48] = "";
        if (!isnan(c->share)) sl_snprintf(share, sizeof share, ", %.2f of that", c->share);
        if (c->measured)
            sl_report_line(s, "", "%s: %.1f GFLOP/s%s, measured with %lld pairs a step", size->name,
                           1e-9 * c->rate, share, (long long)c->measured);
        else
            sl_report_line(s, "", "%s: %.1f GFLOP/s%s, not measured: a step is too large here",
                           size->name, 1e-9 * c->rate, share);
    }
    if (o->ranks > 1)
        sl_report_line(s, "", "%.0f processes are taken to be %.0f times as fast", o->ranks,
                       o->ranks);
}

void sl_report_study_cost_table(sl_str *s, const sl_report_study_cost *o) {
    char a[32], b[32], c[32];
    sl_str_addf(s, "%s%s%s\n", o->plan->name, o->plan->about ? ": " : "",
                o->plan->about ? o->plan->about : "");
    add_sweep(s, o);
    add_scale(s, o);
    sl_str_add(s, "\nin all\n");
    sl_report_line(s, "runs", "%d of the sweep and %d more", o->runs_sweep, o->runs_scale);
    sl_report_line(s, "FLOPs", "%.3g = %.3g + %.3g, as the paper counts",
                   o->flops_sweep + o->flops_scale, o->flops_sweep, o->flops_scale);
    sl_report_line(s, "time", "%s = %s + %s, one run after the other, without evaluations",
                   sl_report_duration(a, o->seconds_sweep + o->seconds_scale),
                   sl_report_duration(b, o->seconds_sweep),
                   sl_report_duration(c, o->seconds_scale));
    sl_report_line(s, "growth", "at most %d runs more, %.3g FLOPs, if grids grow on all sides",
                   o->runs_grow, o->flops_grow);
    add_speed(s, o);
}
