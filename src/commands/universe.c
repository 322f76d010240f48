/* universe - sets of expressions, built or from the cache. */
#include <stdlib.h>
#include <string.h>

#include "commands/commands_impl.h"

static int on_progress(int level, const char *what, double done, double total, void *payload) {
    char text[128];
    int n = sl_snprintf(text, sizeof text, "depth %d: %s", level, what);
    size_t length = n < 0 ? 0 : SL_MIN((size_t)n, sizeof text - 1);
    return sl_commands_send_event(payload, SYMLAW_EVENT_PROGRESS, text, length, done, total) !=
           SL_OK;
}

/* In a setuid program the environment of the other user is ignored. */
void sl_commands_cache_folder(sl_str *s, const char *named) {
    const char *own = named ? named : secure_getenv("SYMLAW_CACHE");
    const char *xdg = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    if (own) {
        if (strcmp(own, "off") != 0) sl_str_add(s, own);
    } else if (xdg && xdg[0] == '/') { // the XDG rules: a relative one is to be ignored
        sl_str_addf(s, "%s/symlaw", xdg);
    } else if (home && home[0] == '/') {
        sl_str_addf(s, "%s/.cache/symlaw", home);
    }
}

static void on_note(const char *text, void *payload) { sl_commands_note(payload, "%s", text); }

sl_status sl_commands_universe_make(sl_universe **out, const sl_universe_options *o, int threads,
                                    sl_commands_need need, const char *dir,
                                    const sl_commands_listener *l) {
    sl_pool *pool = NULL;
    sl_commands_listener listener = *l;
    sl_universe_watch watch = { on_progress, on_note, &listener };
    SL_TRY(sl_par_pool_new(&pool, threads));
    sl_status st = need == SL_COMMANDS_BUILT
                       ? sl_universe_new(out, pool, o, &watch)
                       : sl_universe_open(out, pool, o, &watch, *dir ? dir : NULL);
    sl_par_pool_free(pool);
    return st;
}

sl_status sl_commands_universe(sl_universe **out, const sl_universe_options *o, int threads,
                               sl_commands_need need, const sl_commands_listener *l) {
    sl_str dir = { 0 };
    sl_commands_cache_folder(&dir, NULL);
    sl_status st = sl_str_status(&dir);
    if (st == SL_OK) st = sl_commands_universe_make(out, o, threads, need, sl_str_text(&dir), l);
    sl_str_clear(&dir);
    return st;
}
