/* discovery_csv - every candidate as a row of a table: for --candidates. */
#include <math.h>
#include <string.h>

#include "report/discovery_impl.h"

static const char heading[] =
    "rank,formula,r2,r2_holdout,rms,size,bits,bits_structure,bits_numbers,bits_constants,bits_data,"
    "evidence,front,status,source,method,level,times,log_prob,seconds\n";

/* In quotes, those inside doubled (RFC 4180). */
static void add_quoted(sl_str *s, const char *text) {
    sl_str_add_char(s, '"');
    for (const char *at = text; *at; at++) {
        if (*at == '"') sl_str_add_char(s, '"');
        sl_str_add_char(s, *at);
    }
    sl_str_add_char(s, '"');
}

/* What is not known is an empty cell. */
static void add_real(sl_str *s, double x) {
    sl_str_add_char(s, ',');
    if (isfinite(x)) sl_str_addf(s, "%.17g", x);
}

static sl_status add_formula(sl_str *s, const sl_candidate *c, const sl_names *names) {
    sl_str text = { 0 };
    sl_status st = SL_OK;
    if (sl_report__can_print(c)) st = sl_discover_candidate_print(&text, c, SL_FORMAT_INFIX, names);
    if (st == SL_OK) st = sl_str_status(&text);
    if (st == SL_OK) add_quoted(s, sl_str_text(&text));
    sl_str_clear(&text);
    return st;
}

static sl_status add_row(sl_str *s, const sl_candidate *c, int64_t rank, const sl_names *names) {
    sl_str_addf(s, "%lld,", (long long)rank);
    SL_TRY(add_formula(s, c, names));
    add_real(s, c->r2);
    add_real(s, c->r2_holdout);
    add_real(s, c->rms);
    sl_str_addf(s, ",%d", c->size);
    add_real(s, c->bits.total);
    add_real(s, c->bits.structure);
    add_real(s, c->bits.numbers);
    add_real(s, c->bits.constants);
    add_real(s, c->bits.data);
    add_real(s, c->evidence);
    sl_str_addf(s, ",%s,%s,%s,%s,", c->front ? "yes" : "no",
                sl_discover_candidate_state_name(c->state), sl_discover_source_name(c->source),
                c->method ? c->method : "");
    if (c->method) sl_str_addf(s, "%d", c->level);
    sl_str_addf(s, ",%lld", (long long)c->times);
    add_real(s, c->log_prob);
    add_real(s, c->seconds);
    sl_str_add_char(s, '\n');
    return SL_OK;
}

sl_status sl_report_discovery_csv(sl_str *s, const sl_report_discovery *f) {
    sl_str_add(s, heading);
    for (int64_t i = 0; f->discovery && i < f->discovery->count; i++)
        SL_TRY(add_row(s, &f->discovery->candidate[i], i + 1, &f->names));
    return SL_OK;
}
