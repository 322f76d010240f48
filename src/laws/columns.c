/* columns - names of columns in files. */
#include <math.h>
#include <string.h>

#include "laws/laws_impl.h"

typedef struct column {
    const char *name, *names;
    bool text;
    size_t offset;
} column;

enum { T = 1, R = 0 };

static const column columns[] = {
#define X(field, kind, name, names, help) { name, names, kind, offsetof(sl_laws_run, field) },
    SL_LAWS_COLUMNS(X)
#undef X
};

const sl_laws_run SL_LAWS_RUN_NONE = {
#define SL_LAWS_NONE_T      ""
#define SL_LAWS_NONE_R      NAN
#define X(field, kind, ...) .field = SL_LAWS_NONE_##kind,
    SL_LAWS_COLUMNS(X)
#undef X
};

bool sl_laws__column_is_text(sl_laws_column c) { return columns[c].text; }

const char *sl_laws__column_name(sl_laws_column c) { return columns[c].name; }

double *sl_laws__number(sl_laws_run *run, sl_laws_column c) {
    SL_ASSERT(!columns[c].text);
    return (double *)(void *)((char *)run + columns[c].offset);
}

const char **sl_laws__text_of(sl_laws_run *run, sl_laws_column c) {
    SL_ASSERT(columns[c].text);
    return (const char **)(void *)((char *)run + columns[c].offset);
}

static char plain(char c) { return c == '-' || c == ' ' ? '_' : sl_tolower(c); }

static bool same_name(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!a[i] || plain(a[i]) != plain(b[i])) return false;
    }
    return !a[n];
}

int sl_laws__name_rank(const sl_laws__names *names, sl_laws_column c, const char *name) {
    // a name from --columns must match exactly
    if (names->name[c]) return strcmp(names->name[c], name) == 0 ? 0 : -1;
    const char *at = columns[c].names;
    for (int rank = 0; *at; rank++) {
        const size_t n = strcspn(at, "|");
        if (same_name(name, at, n)) return rank;
        at += n + (at[n] == '|');
    }
    return -1;
}

/* "params=N_nonemb,loss=L". */
sl_status sl_laws__names_read(sl_laws__names *out, sl_arena *a, const char *map) {
    *out = (sl_laws__names){ { NULL } };
    for (const char *at = map; at && *at;) {
        const size_t n = strcspn(at, ",");
        const char *equal = memchr(at, '=', n);
        if (!equal || equal == at || equal + 1 == at + n)
            return sl_fail(SL_EINVAL,
                           "\"%.*s\" does not name a column; write params=NAME,loss=NAME",
                           (int)SL_MIN(n, (size_t)60), at);
        int c = 0;
        while (c < SL_LAWS_COLUMN_COUNT && !same_name(columns[c].name, at, (size_t)(equal - at)))
            c++;
        if (c == SL_LAWS_COLUMN_COUNT)
            return sl_fail(SL_EINVAL,
                           "\"%.*s\" is no column of a table of runs; these are: id, size, phase, "
                           "status, params, tokens, flops, loss, loss_test, solved, solved_hits, "
                           "r2, r2_hits, trials, seed, batch, rate, ratio",
                           (int)SL_MIN(equal - at, 60), at);
        out->name[c] = sl_laws__text(a, "%.*s", (int)(at + n - equal - 1), equal + 1);
        if (!out->name[c]) return sl_fail(SL_ENOMEM, "no memory for names of columns");
        at += n + (at[n] == ',');
    }
    return SL_OK;
}
