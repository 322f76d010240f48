/* page - the parts of a report in order: the page, its figures as files, its sentences. */
#include <string.h>

#include "report/report_impl.h"

static void add_contents(sl_str *s, const sl_report__view *v, const sl_report__section *c) {
    for (; c->id; c++)
        if (c->is(v)) sl_str_addf(s, "<li><a href=\"#%s\">%s</a></li>\n", c->id, c->title);
}

/* Above all else: what follows holds for a part of the study. */
static void add_unfinished(sl_str *s, const char *done) {
    if (!done) return;
    sl_str_add(s, "<p class=\"note bad\" id=\"unfinished\"><span class=\"red\">This study is not "
                  "complete:</span> ");
    sl_plot_escape(s, done);
    sl_str_add(s, ".</p>\n");
}

static sl_status add_sections(sl_str *s, sl_report__view *v, const sl_report__section *c) {
    for (; c->id; c++) {
        if (!c->is(v)) continue;
        sl_str_addf(s,
                    "<h2 id=\"%s\">%s<a class=\"here\" href=\"#%s\" aria-label=\"Link to this "
                    "section\">#</a></h2>\n",
                    c->id, c->title, c->id);
        SL_TRY(c->add(s, v));
    }
    return SL_OK;
}

sl_status sl_report_html(sl_str *out, const sl_report_input *in) {
    sl_arena arena = { 0 };
    sl_report__view v;
    const size_t mark = out->len;
    sl_status st;
    SL_GO(sl_report__view_init(&v, &arena, in));
    sl_report__head(out, &v);
    add_unfinished(out, in->unfinished);
    if (!sl_report__sentences(out, &v, true))
        sl_str_add(out, "<p class=\"lead\">The table has too few finished runs for a law.</p>\n");
    sl_report__keys(out, &v);
    sl_str_add(out, "<nav aria-label=\"Contents\"><b>Contents</b>\n<ol>\n");
    add_contents(out, &v, sl_report__sections_laws);
    add_contents(out, &v, sl_report__sections_study);
    sl_str_add(out, "</ol>\n</nav>\n");
    SL_GO(add_sections(out, &v, sl_report__sections_laws));
    SL_GO(add_sections(out, &v, sl_report__sections_study));
    sl_report__foot(out);
    st = sl_str_status(out);
done:
    if (st != SL_OK) sl_str_truncate(out, mark);
    sl_arena_clear(&arena);
    return st;
}

sl_status sl_report_sentences(sl_str *out, const sl_report_input *in) {
    sl_arena arena = { 0 };
    sl_report__view v;
    sl_status st;
    SL_GO(sl_report__view_init(&v, &arena, in));
    (void)sl_report__sentences(out, &v, false);
    st = sl_str_status(out);
done:
    sl_arena_clear(&arena);
    return st;
}

/* ---------------------------------------------------------------- figures as files ---------- */

static const sl_report__figure *const figures[] = {
    &sl_report__fig_solved,     &sl_report__fig_r2,      &sl_report__fig_loss,
    &sl_report__fig_predict,    &sl_report__fig_sweep,   &sl_report__fig_optima,
    &sl_report__fig_allocation, &sl_report__fig_isoflop, &sl_report__fig_curves,
    &sl_report__fig_others,
};

static sl_status save_plot(const sl_plot *p, const char *id, sl_report_save save, void *payload) {
    sl_str text = { 0 };
    char name[64];
    sl_status st;
    sl_snprintf(name, sizeof name, "%s.svg", id);
    SL_GO(sl_plot_svg(&text, p));
    st = save(name, sl_str_text(&text), text.len, payload);
done:
    sl_str_clear(&text);
    return st;
}

sl_status sl_report_figures(const sl_report_input *in, sl_report_save save, void *payload) {
    sl_arena arena = { 0 };
    sl_report__view v;
    sl_plot *p = NULL;
    sl_status st;
    SL_GO(sl_report__view_init(&v, &arena, in));
    for (int i = 0; i < SL_LEN(figures); i++) {
        if (!figures[i]->is(&v)) continue;
        SL_GO(figures[i]->draw(&p, &v, false));
        sl_plot_title(p, figures[i]->name);
        SL_GO(save_plot(p, figures[i]->id, save, payload));
        sl_plot_free(p);
        p = NULL;
    }
    for (int i = 0; i < in->n_problems; i++) {
        char id[32];
        sl_snprintf(id, sizeof id, "problem-%d", i + 1);
        SL_GO(sl_report__draw_problem(&p, &in->problems[i]));
        SL_GO(save_plot(p, id, save, payload));
        sl_plot_free(p);
        p = NULL;
    }
done:
    sl_plot_free(p);
    sl_arena_clear(&arena);
    return st;
}

static sl_status save_file(const char *name, const char *svg, size_t n, void *payload) {
    const char *folder = payload;
    sl_str path = { 0 };
    sl_file *f = NULL;
    sl_status st;
    sl_str_addf(&path, "%s/%s", folder, name);
    SL_GO(sl_str_status(&path));
    SL_GO(sl_file_create(&f, path.text));
    SL_GO(sl_file_write(f, svg, n));
    st = sl_file_commit(&f);
done:
    sl_file_discard(&f);
    sl_str_clear(&path);
    return st;
}

sl_status sl_report_figures_folder(const sl_report_input *in, const char *folder) {
    SL_TRY(sl_folder_make(folder, 0777));
    return sl_report_figures(in, save_file, (void *)(uintptr_t)folder);
}
