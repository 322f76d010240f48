/* discovery_page - a page around the figure: the formula, how good it is, its constants, the next
 * ones.
 *
 * The page is one file: no scripts, no fonts, nothing is fetched. It is well-formed XML and HTML,
 * so programs that read either can parse it. */
#include <math.h>
#include <string.h>

#include "report/discovery_impl.h"

static const char style_sheet[] =
    ":root{color-scheme:light dark;--back:" SL_PLOT_LIGHT
    ";--text:#1f2328;--dim:#57606a;--line:#e1e5ea;--card:#f6f8fa}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--back:" SL_PLOT_DARK
    ";--text:#eef1f4;--dim:#a9b2bc;--line:#2f363e;--card:#1c2127}}\n"
    "body{margin:0;background:var(--back);color:var(--text);font:15px/1.5 system-ui,-apple-system,"
    "'Segoe UI',Roboto,Helvetica,Arial,'DejaVu Sans',sans-serif}\n"
    "main{max-width:720px;margin:0 auto;padding:36px 20px 48px}\n"
    "h1{font-size:24px;line-height:1.25;margin:0;overflow-wrap:anywhere}\n"
    "h2{font-size:17px;margin:36px 0 10px}\n"
    "p{margin:6px 0}\n"
    ".dim,footer,caption{color:var(--dim)}\n"
    ".note{border-left:3px solid #cbac0d;padding:4px 12px;margin:16px 0}\n"
    ".formula{font-size:22px;text-align:center;background:var(--card);border:1px solid var(--line);"
    "border-radius:10px;padding:20px 16px;margin:22px 0 14px;overflow-x:auto}\n"
    "math{font-family:'Latin Modern Math','STIX Two Math','Cambria Math',math,serif}\n"
    "dl{display:flex;flex-wrap:wrap;gap:10px 32px;margin:14px 0 24px}\n"
    "dt{color:var(--dim);font-size:13px}\n"
    "dd{margin:0;font-size:18px;font-variant-numeric:tabular-nums}\n"
    "figure{margin:0}\n"
    "figure svg{display:block;margin:0 auto;max-width:100%;height:auto}\n"
    ".wide{overflow-x:auto}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\n"
    "th{color:var(--dim);font-weight:500;font-size:13px;text-align:left}\n"
    "th,td{padding:7px 14px 7px 0;border-bottom:1px solid var(--line);vertical-align:middle;"
    "white-space:nowrap}\n"
    ".n{text-align:right}\n"
    "code{font:13px/1.5 ui-monospace,Consolas,'DejaVu Sans Mono',monospace;white-space:pre-wrap;"
    "overflow-wrap:anywhere}\n"
    "summary{cursor:pointer;margin:28px 0 8px;font-weight:600}\n"
    "footer{margin-top:36px;font-size:13px;border-top:1px solid var(--line);padding-top:10px}\n"
    "@media print{main{max-width:none;padding:0}figure,tr,.formula{break-inside:avoid}}\n";

static const char *state_text(sl_candidate_state s) {
#define X(id, name, text) text,
    static const char *const texts[] = { SL_CANDIDATE_STATES(X) };
#undef X
    return texts[s];
}

static void add_count(sl_str *s, int64_t n, const char *one, const char *many) {
    char digits[32];
    sl_str_addf(s, "%s %s", sl_group_digits(digits, n), n == 1 ? one : many);
}

/* ---------------------------------------------------------------- pieces -------------------- */

static void add_head(sl_str *s, const sl_report__picture *v) {
    const sl_discovery *d = v->r->discovery;
    const char *title = v->title ? v->title : v->target;
    sl_str_add(s, "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n"
                  "<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
                  "content=\"width=device-width,initial-scale=1\"/>\n<title>");
    sl_plot_escape(s, title);
    sl_str_addf(s, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>", style_sheet);
    sl_plot_escape(s, title);
    sl_str_add(s, "</h1>\n<p class=\"dim\">");
    sl_plot_escape(s, v->target);
    sl_str_add(s, " by ");
    for (int k = 0; k < v->rows.inputs; k++) {
        if (k) sl_str_add(s, k + 1 < v->rows.inputs ? ", " : " and ");
        sl_plot_escape(s, v->name[k]);
    }
    sl_str_add(s, " · ");
    add_count(s, d->rows_fit, "row", "rows");
    sl_str_add(s, " fitted");
    if (d->rows_held) {
        sl_str_add(s, ", ");
        add_count(s, d->rows_held, "row", "rows");
        sl_str_add(s, " held out");
    }
    sl_str_add(s, "</p>\n");
    if (d->cut != SL_CUT_NONE)
        sl_str_addf(s,
                    "<p class=\"note\">%s before the search was finished: these are the best so "
                    "far.</p>\n",
                    d->cut == SL_CUT_TIME ? "The time limit was reached" : "It was stopped");
}

/* Appends MathML as the printer wrote it. left: what is equal to it, or NULL. */
static void add_math(sl_str *s, const sl_str *printed, const char *left) {
    static const char row[] = "<mrow>";
    const char *at = sl_str_text(printed), *next = strstr(at, row);
    SL_ASSERT(next); // every formula of the printer is one
    next += strlen(row);
    sl_str_add_bytes(s, at, (size_t)(next - at));
    if (left) {
        sl_str_add(s, "<mi>");
        sl_plot_escape(s, left);
        sl_str_add(s, "</mi><mo>=</mo>");
    }
    sl_str_add(s, next);
}

static sl_status add_formula(sl_str *s, const sl_report__picture *v, const sl_candidate *c,
                             const char *left) {
    sl_str printed = { 0 };
    const sl_status st = sl_discover_candidate_print(&printed, c, SL_FORMAT_MATHML, &v->r->names);
    if (st == SL_OK) add_math(s, &printed, left);
    sl_str_clear(&printed);
    return st;
}

static void open_figure(sl_str *s, const char *name) {
    sl_str_addf(s, "<div><dt>%s</dt><dd>", name);
}

static void add_figures(sl_str *s, const sl_report__picture *v) {
    static const char close[] = "</dd></div>\n";
    const sl_candidate *c = v->best;
    sl_str_add(s, "<dl>\n");
    open_figure(s, "R²");
    sl_report__r2(s, "", c->r2);
    sl_str_add(s, close);
    if (v->r->discovery->rows_held) {
        open_figure(s, "R² on held-out rows");
        sl_report__r2(s, "", c->r2_holdout);
        sl_str_add(s, close);
    }
    open_figure(s, "size");
    add_count(s, c->size, "node", "nodes");
    sl_str_add(s, close);
    open_figure(s, "status");
    sl_str_addf(s, "<span title=\"%s\">%s</span>%s", state_text(c->state),
                sl_discover_candidate_state_name(c->state), close);
    open_figure(s, "source");
    sl_str_addf(s, "%s%s", sl_discover_source_name(c->source), close);
    open_figure(s, "found after");
    sl_plot_number(s, c->seconds, 3);
    sl_str_addf(s, " s%s</dl>\n", close);
}

/* The formula with names for its constants, and their values with standard errors. */
static sl_status add_constants(sl_str *s, const sl_report__picture *v) {
    const sl_candidate *c = v->best;
    if (!c->params) return SL_OK;
    sl_str printed = { 0 };
    const sl_status st = sl_expr_print(&printed, SL_FORMAT_MATHML, c->expr, &v->r->names);
    sl_str_add(s, "<h2>Constants</h2>\n<div class=\"wide\"><p>");
    if (st == SL_OK) add_math(s, &printed, v->target);
    sl_str_clear(&printed);
    if (st != SL_OK) return st;
    sl_str_add(s, "</p>\n<table>\n<tr><th>constant</th><th class=\"n\">value</th>"
                  "<th class=\"n\">standard error</th></tr>\n");
    for (int i = 0; i < c->params; i++) {
        sl_str_addf(s,
                    "<tr><td><math xmlns=\"http://www.w3.org/1998/Math/MathML\"><msub><mi>c</mi>"
                    "<mn>%d</mn></msub></math></td><td class=\"n\">",
                    i + 1);
        sl_plot_number(s, c->value[i], 10);
        sl_str_add(s, "</td><td class=\"n\">");
        sl_plot_number(s, c->error ? c->error[i] : NAN, 2);
        sl_str_add(s, "</td></tr>\n");
    }
    sl_str_add(s, "</table></div>\n");
    return SL_OK;
}

static sl_status add_candidate(sl_str *s, const sl_report__picture *v, int64_t rank) {
    const sl_discovery *d = v->r->discovery;
    const sl_candidate *c = &d->candidate[rank];
    const size_t mark = sl_arena_mark(v->arena);
    sl_candidate rounded;
    SL_TRY(sl_discover_candidate_round(&rounded, v->arena, c, &v->rounding));
    sl_str_addf(s, "<tr><td class=\"n\">%lld</td><td>", (long long)rank + 1);
    SL_TRY(add_formula(s, v, &rounded, NULL));
    sl_arena_rewind(v->arena, mark);
    sl_str_add(s, "</td><td class=\"n\">");
    sl_report__r2(s, "", c->r2);
    if (d->rows_held) {
        sl_str_add(s, "</td><td class=\"n\">");
        sl_report__r2(s, "", c->r2_holdout);
    }
    sl_str_addf(s, "</td><td class=\"n\">%d</td><td title=\"%s\">%s</td><td class=\"n\">", c->size,
                state_text(c->state), sl_discover_candidate_state_name(c->state));
    sl_plot_number(s, c->seconds, 3);
    sl_str_add(s, "</td></tr>\n");
    return SL_OK;
}

static sl_status add_next(sl_str *s, const sl_report__picture *v) {
    const sl_discovery *d = v->r->discovery;
    const int64_t end = SL_MIN(d->ranked, v->r->top + 1);
    if (end < 2) return SL_OK;
    sl_str_addf(s,
                "<h2>Other candidates</h2>\n<div class=\"wide\"><table>\n<tr><th class=\"n\"></th>"
                "<th>formula</th><th class=\"n\">R²</th>%s<th class=\"n\">size</th>"
                "<th>status</th><th class=\"n\">seconds</th></tr>\n",
                d->rows_held ? "<th class=\"n\">held out</th>" : "");
    for (int64_t i = 1; i < end; i++) SL_TRY(add_candidate(s, v, i));
    sl_str_add(s, "</table></div>\n");
    return SL_OK;
}

/* The best formula with all digits, to be copied. */
static sl_status add_texts(sl_str *s, const sl_report__picture *v) {
    static const sl_format formats[] = { SL_FORMAT_INFIX, SL_FORMAT_PYTHON, SL_FORMAT_NUMPY,
                                         SL_FORMAT_SYMPY, SL_FORMAT_JULIA,  SL_FORMAT_C,
                                         SL_FORMAT_LATEX };
    sl_str text = { 0 };
    sl_status st = SL_OK;
    sl_str_add(s, "<details><summary>As text</summary>\n<table>\n");
    for (int i = 0; i < SL_LEN(formats); i++) {
        sl_str_truncate(&text, 0);
        SL_GO(sl_discover_candidate_print(&text, v->best, formats[i], &v->r->names));
        sl_str_addf(s, "<tr><th>%s</th><td><code>", sl_expr_format_name(formats[i]));
        sl_plot_escape(s, sl_str_text(&text));
        sl_str_add(s, "</code></td></tr>\n");
    }
    sl_str_add(s, "</table></details>\n");
done:
    sl_str_clear(&text);
    return st;
}

static void add_foot(sl_str *s, const sl_discovery *d) {
    const sl_discover_cost *c = &d->cost;
    sl_str_add(s, "<footer>");
    if (c->samples) {
        add_count(s, c->samples, "sample", "samples");
        sl_str_add(s, " from ");
        add_count(s, c->bags, "row subset", "row subsets");
        sl_str_add(s, ": ");
        add_count(s, c->invalid[SL_TOKEN_FINE], "is an expression", "are expressions");
        sl_str_add(s, ", ");
        add_count(s, c->distinct, "of them distinct", "of them distinct");
        sl_str_add(s, ". ");
    }
    add_count(s, d->ranked, "candidate", "candidates");
    sl_str_add(s, " ranked, ");
    add_count(s, c->refined, "fitted", "fitted");
    sl_str_add(s, ", in ");
    sl_plot_number(s, d->seconds, 3);
    sl_str_add(s, " s. symlaw " SL_VERSION "</footer>\n");
}

sl_status sl_report__discovery_page(sl_str *s, const sl_report__picture *v) {
    add_head(s, v);
    if (v->best) {
        sl_str_add(s, "<div class=\"formula\">");
        SL_TRY(add_formula(s, v, &v->rounded, v->target));
        sl_str_add(s, "</div>\n");
        add_figures(s, v);
    } else {
        sl_str_add(s, "<p class=\"note\">No formula is defined on all rows.</p>\n");
    }
    sl_str_add(s, "<figure>\n");
    SL_TRY(sl_report__discovery_figure(s, v));
    sl_str_add(s, "</figure>\n");
    if (v->best) {
        SL_TRY(add_constants(s, v));
        SL_TRY(add_next(s, v));
        SL_TRY(add_texts(s, v));
    }
    add_foot(s, v->r->discovery);
    sl_str_add(s, "</main>\n</body>\n</html>\n");
    return sl_str_status(s);
}
