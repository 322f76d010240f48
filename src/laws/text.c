/* text - allocation, texts and notes in an arena. */
#include <stdarg.h>
#include <string.h>

#include "laws/laws_impl.h"

void *sl_laws__alloc(sl_arena *a, size_t count, size_t each) {
    if (each > 0 && count > (size_t)1 << 40) return NULL;
    return sl_arena_alloc(a, SL_MAX(count * each, (size_t)1));
}

static const char *format_text(sl_arena *a, const char *format, va_list args) {
    va_list copy;
    va_copy(copy, args);
    const int n = sl_vsnprintf(NULL, 0, format, args);
    char *text = n < 0 ? NULL : sl_laws__alloc(a, (size_t)n + 1, 1);
    if (text) sl_vsnprintf(text, (size_t)n + 1, format, copy);
    va_end(copy);
    return text;
}

const char *sl_laws__text(sl_arena *a, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = format_text(a, format, args);
    va_end(args);
    return text;
}

/* A list in an arena has room for the next power of two; growing leaves the old copy behind. */
static void *grown(sl_arena *a, const void *list, int n, size_t each) {
    const bool full = n == 0 || (n & (n - 1)) == 0;
    if (!full) return (void *)(uintptr_t)list;
    char *more = sl_laws__alloc(a, (size_t)n * 2 + 1, each);
    if (more && n > 0) memcpy(more, list, (size_t)n * each);
    return more;
}

sl_status sl_laws__table_note(sl_laws_table *t, sl_arena *a, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = format_text(a, format, args);
    va_end(args);
    const char **list = grown(a, t->note, t->n_note, sizeof *list);
    if (!text || !list) return sl_fail(SL_ENOMEM, "no memory for a note on the table");
    t->note = list;
    list[t->n_note++] = text;
    return SL_OK;
}

sl_status sl_laws__note(sl_laws *out, sl_arena *a, sl_laws_note_kind kind, const char *format,
                        ...) {
    va_list args;
    va_start(args, format);
    const char *text = format_text(a, format, args);
    va_end(args);
    sl_laws_note *list = grown(a, out->note, out->n_note, sizeof *list);
    if (!text || !list) return sl_fail(SL_ENOMEM, "no memory for a note");
    out->note = list;
    list[out->n_note++] = (sl_laws_note){ kind, text };
    return SL_OK;
}

const char *sl_laws__count_text(char buffer[32], double n) {
    static const char unit[] = " kMBT";
    int k = 0;
    while (n >= 999.5 && unit[k + 1]) n /= 1000, k++;
    sl_snprintf(buffer, 32, k ? "%.3g%c" : "%.3g", n, unit[k]);
    return buffer;
}

const char *sl_laws_metric_name(sl_laws_metric m) {
    static const char *const name[] = { "loss", "solved", "r2" };
    SL_ASSERT(m >= 0 && m < SL_LAWS_METRIC_COUNT);
    return name[m];
}

const char *sl_laws_form_name(sl_laws_form f) {
    static const char *const name[] = { "power", "floor", "binomial", "surface" };
    SL_ASSERT(f >= 0 && f < SL_LAWS_PREDICTOR_COUNT);
    return name[f];
}
