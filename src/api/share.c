/* share - files that are installed with the library. */
#include "api/api_impl.h"

static sl_status find(char **path, const char *name) {
    sl_str s = { 0 };
    if (!path || !name || !*name)
        return sl_fail(SL_EINVAL, "symlaw_share_find: path or name is NULL, or the name empty");
    const sl_status st = sl_commands_share_find(&s, name);
    if (st == SL_OK)
        *path = s.text;
    else
        sl_str_clear(&s);
    return st;
}

symlaw_status symlaw_share_find(char **path, const char *name) { SL_API__PUBLIC(find(path, name)); }
