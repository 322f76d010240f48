/* config - configurations of older and newer versions. */
#include <string.h>

#include "ckpt/ckpt_impl.h"

sl_status sl_ckpt_config_format(int *out, const sl_json *config, const char *where) {
    const sl_json *j = sl_io_json_get(config, SL_CKPT_CONFIG_MEMBER);
    *out = 1;
    if (!j) return SL_OK;
    if (sl_io_json_kind_of(j) != SL_JSON_INT || sl_io_json_int(j) < 1)
        return sl_fail(SL_EFORMAT, "%.300s: \"%s\" of its configuration must be a number from 1",
                       where, SL_CKPT_CONFIG_MEMBER);
    if (sl_io_json_int(j) > SL_CKPT_CONFIG_FORMAT)
        return sl_fail(SL_EFORMAT,
                       "%.300s: its configuration was written by a newer version: its format is "
                       "%lld, the newest known here is %d; take that version of symlaw",
                       where, (long long)sl_io_json_int(j), SL_CKPT_CONFIG_FORMAT);
    *out = (int)sl_io_json_int(j);
    return SL_OK;
}

const sl_ckpt_older *sl_ckpt__older_find(const sl_ckpt_older *rows, const char *option,
                                         int format) {
    const sl_ckpt_older *found = NULL;
    for (const sl_ckpt_older *r = rows; r->option; r++)
        if (r->until >= format && (!found || r->until < found->until) &&
            strcmp(r->option, option) == 0)
            found = r;
    return found;
}

const sl_ckpt_older *sl_ckpt_older_default(const char *option, int format) {
#define X(option, until, value) { option, until, value },
    static const sl_ckpt_older rows[] = { SL_CKPT_OLDER_DEFAULTS(X){ .option = NULL } };
#undef X
    return sl_ckpt__older_find(rows, option, format);
}

bool sl_ckpt_config_needs(const char *option) {
    static const char *const shape[] = { "width", "layers", "decoder-layers", "heads",
                                         "variables" };
    for (int i = 0; i < SL_LEN(shape); i++)
        if (strcmp(option, shape[i]) == 0) return true;
    return false;
}

sl_status sl_ckpt_config_lacks(const char *option, const char *where) {
    return sl_fail(SL_EFORMAT,
                   "%.300s: its configuration lacks \"%s\", without which the weights cannot be "
                   "understood; every version has written it, so something else has removed it",
                   where, option);
}

void sl_ckpt_missing_add(sl_str *s, const char *option, double value) {
    char text[SL_REAL_TEXT_MAX];
    if (value == (double)(int64_t)value)
        sl_snprintf(text, sizeof text, "%lld", (long long)value);
    else
        sl_real_text(text, value);
    sl_str_addf(s, "%s\"%s\" (%s)", s->len > 0 ? ", " : "", option, text);
}
