/* text - expressions and names in the values of options. */
#include <string.h>

#include "commands/commands_impl.h"

sl_status sl_commands__read_expr(const sl_node **out, sl_commands_run *run, const char *what,
                                 const char *text, sl_format format, const sl_names *names) {
    sl_text_error e = { 0 };
    sl_status st = sl_expr_parse(out, &run->arena, format, text, strlen(text), names, &e);
    if (st == SL_OK || st == SL_ENOMEM) return st;
    st = sl_fail(st, "%s, %s", what, sl_last_error());

    // the line for sl_last_error has no room for this; without memory it is left out
    sl_str s = { 0 };
    sl_str_add_excerpt(&s, text, e.offset);
    if (!s.failed) {
        sl_status ignored =
            sl_commands_send_event(&run->listener, SYMLAW_EVENT_EXCERPT, s.text, s.len, 0, 0);
        if (ignored == SL_ECANCEL) st = ignored;
    }
    sl_str_clear(&s);
    return st;
}

sl_status sl_commands__read_names(sl_names *out, sl_commands_run *run, const char *text) {
    *out = (sl_names){ 0 };
    if (!text) return SL_OK;
    size_t n = strlen(text), count = 1;
    for (size_t i = 0; i < n; i++) count += text[i] == ',';
    if (count > SL_EXPR_MAX_VARS)
        return sl_fail(SL_EINVAL, "--names has %zu names; the most is %d", count, SL_EXPR_MAX_VARS);

    char *copy = sl_arena_alloc(&run->arena, n + 1);
    const char **names = sl_arena_alloc(&run->arena, count * sizeof *names);
    if (!copy || !names) return sl_fail_memory(n + 1, 1, "names of variables");
    memcpy(copy, text, n + 1);
    for (size_t i = 0; i < count; i++) {
        names[i] = copy;
        copy += strcspn(copy, ",");
        *copy++ = '\0';
        if (!*names[i])
            return sl_fail(SL_EINVAL, "--names: name %zu is empty; write them as a,b", i + 1);
        for (size_t k = 0; k < i; k++)
            if (strcmp(names[k], names[i]) == 0)
                return sl_fail(SL_EINVAL, "--names: \"%.40s\" stands for two variables", names[i]);
    }
    *out = (sl_names){ names, (int)count };
    return SL_OK;
}

sl_status sl_commands__style_find(sl_commands__style *out, const sl_commands_run *run,
                                  const int *format) {
    *out = *format == SL_COMMANDS__FORMAT_TABLE             ? SL_COMMANDS__TABLE
           : sl_commands__format(*format) == SL_FORMAT_JSON ? SL_COMMANDS__JSON
                                                            : SL_COMMANDS__PASTE;
    if (run->common->json && *out == SL_COMMANDS__PASTE) {
        char name[SL_OPTION_TEXT_MAX];
        return sl_fail(SL_EINVAL, "--json prints JSON, --format %s does not; give one of them",
                       sl_option_choice(name, sl_commands__row(run, format), *format));
    }
    if (run->common->json) *out = SL_COMMANDS__JSON;
    return SL_OK;
}
