/* api_universe - sets of expressions and pairs: a few open sets, kept for the next request.
 *
 * A set is built by one thread at a time, within a limit of time; requests for others of them wait
 * for it, a few, and are refused beyond. */
#include <stdlib.h>
#include <string.h>

#include "serve/serve_impl.h"

enum { SETS = 4, WAITING_MAX = 2, DEPTH_MAX = 3, ITEMS_MAX = 200, OPS_MAX = 200 };
enum { SIZE_MAX_SET = 1000000, DRAW_LOOKED = 200000, LEVELS_MAX = 5 };
static const double BUILD_SECONDS = 60, DRAW_SECONDS = 5, LIST_SECONDS = 10;

/* What names a set. */
typedef struct key {
    int64_t depth, variables, size, seed;
    char ops[OPS_MAX];
} key;

typedef struct kept {
    key key;
    symlaw_set *set;
    symlaw_pairs *pairs;
    char *levels;                  // JSON
    int64_t level_end[LEVELS_MAX]; // members up to a level
    int users;
    double used;
} kept;

struct sl_serve__sets {
    sl_serve *s;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    kept one[SETS];
    bool building;
    int waiting;
    volatile bool stop;
};

bool sl_serve__sets_begin(sl_serve__sets **out, sl_serve *s) {
    *out = calloc(1, sizeof **out);
    if (!*out) return false;
    (*out)->s = s;
    pthread_mutex_init(&(*out)->lock, NULL);
    pthread_cond_init(&(*out)->changed, NULL);
    return true;
}

void sl_serve__sets_stop(sl_serve__sets *sets) {
    pthread_mutex_lock(&sets->lock);
    sets->stop = true;
    pthread_cond_broadcast(&sets->changed);
    pthread_mutex_unlock(&sets->lock);
}

static void drop(kept *k) {
    symlaw_pairs_close(k->pairs);
    symlaw_set_close(k->set);
    free(k->levels);
    *k = (kept){ 0 };
}

void sl_serve__sets_free(sl_serve__sets *sets) {
    if (!sets) return;
    for (int i = 0; i < SETS; i++) drop(&sets->one[i]);
    pthread_cond_destroy(&sets->changed);
    pthread_mutex_destroy(&sets->lock);
    free(sets);
}

/* ---------------------------------------------------------------- building ------------------ */

typedef struct building {
    sl_serve__sets *sets;
    double until;
} building;

static int on_event(const symlaw_event *e, void *payload) {
    const building *b = payload;
    (void)e;
    return b->sets->stop || sl_serve__now() > b->until;
}

static void add_set_options(sl_serve__text *t, const sl_serve__sets *sets, const key *k) {
    sl_serve__json_int(t, "depth", k->depth);
    sl_serve__json_int(t, "variables", k->variables);
    if (k->ops[0]) sl_serve__json_text(t, "ops", k->ops);
    sl_serve__json_int(t, "set-size", k->size);
    sl_serve__json_int(t, "seed", k->seed);
    sl_serve__json_real(t, "max-memory", sets->s->config.max_memory);
}

/* Appends a level; without a count of it raw and distinct are null. */
static void add_level(sl_serve__text *t, int level, const json_t *count, int64_t members) {
    sl_serve__json_open(t, NULL, '{');
    sl_serve__json_int(t, "level", level);
    if (count) {
        sl_serve__json_int(t, "raw", json_integer_value(json_object_get(count, "raw")));
        sl_serve__json_int(t, "distinct", json_integer_value(json_object_get(count, "distinct")));
    } else {
        sl_serve__json_raw(t, "raw", NULL);
        sl_serve__json_raw(t, "distinct", NULL);
    }
    sl_serve__json_int(t, "members", members);
    sl_serve__json_close(t, '}');
}

/* Numbers of each level, as "symlaw expressions --count-only --json" has them up to depth 2. Those
 * of depth 3 would take as long as the set itself. */
static symlaw_status count_levels(kept *k, const sl_serve__sets *sets, building *b) {
    enum { COUNTED = 2 };
    sl_serve__text options = { 0 }, levels = { 0 };
    char *result = NULL;
    json_error_t e;
    int64_t sum = 0;
    const int64_t all = symlaw_set_count(k->set);
    key counted = k->key;
    if (counted.depth > COUNTED) counted.depth = COUNTED;
    sl_serve__json_open(&options, NULL, '{');
    add_set_options(&options, sets, &counted);
    sl_serve__json_bool(&options, "count-only", true);
    sl_serve__json_close(&options, '}');
    const symlaw_status st =
        options.failed ? SYMLAW_ENOMEM
                       : symlaw_command("expressions", options.text, on_event, b, &result);
    json_t *j = result ? sl_serve__json_read(&e, result, strlen(result)) : NULL;
    const json_t *list = json_object_get(j, "levels");
    sl_serve__json_open(&levels, NULL, '[');
    for (int i = 0; i < LEVELS_MAX; i++) {
        const json_t *level = json_array_get(list, (size_t)i);
        const int64_t before = sum;
        sum += json_integer_value(json_object_get(level, "distinct"));
        if (i == k->key.depth || sum > all) sum = all; // of the last one, a sample
        k->level_end[i] = sum;
        if (i <= k->key.depth) add_level(&levels, i, level, sum - before);
    }
    sl_serve__json_close(&levels, ']');
    k->levels = levels.text;
    json_decref(j);
    symlaw_string_free(result);
    sl_serve__clear(&options);
    return st;
}

static symlaw_status build(kept *k, sl_serve__sets *sets) {
    building b = { sets, sl_serve__now() + BUILD_SECONDS };
    symlaw_set_options o = SYMLAW_SET_OPTIONS_INIT;
    o.depth = (int)k->key.depth;
    o.variables = (int)k->key.variables;
    o.ops = k->key.ops[0] ? k->key.ops : NULL;
    o.count = k->key.size;
    o.seed = (uint64_t)k->key.seed;
    o.max_memory = (int64_t)(1e9 * sets->s->config.max_memory);
    symlaw_status st = symlaw_set_open(&k->set, &o, on_event, &b);
    if (st == SYMLAW_OK) st = count_levels(k, sets, &b);
    if (st == SYMLAW_OK) st = symlaw_pairs_open(&k->pairs, k->set, NULL);
    return st;
}

/* The set of this key, or a free place for it; NULL: all are in use. Within the lock. */
static kept *find(sl_serve__sets *sets, const key *wanted) {
    kept *oldest = NULL;
    for (int i = 0; i < SETS; i++) {
        kept *k = &sets->one[i];
        if (k->set && memcmp(&k->key, wanted, sizeof *wanted) == 0) return k;
        if (k->users == 0 && (!oldest || k->used < oldest->used)) oldest = k;
    }
    return oldest;
}

static void refuse(sl_serve__reply *r, const char *text) {
    sl_serve__fail(r, 503, "try again in some seconds", "%s", text);
}

/* *out := an open set, to be released; false with the reply. */
static bool take(kept **out, sl_serve__sets *sets, const key *wanted, sl_serve__reply *r) {
    pthread_mutex_lock(&sets->lock);
    kept *k = find(sets, wanted);
    while (sets->building && !(k && k->set && memcmp(&k->key, wanted, sizeof *wanted) == 0)) {
        if (sets->waiting >= WAITING_MAX || sets->stop) {
            pthread_mutex_unlock(&sets->lock);
            refuse(r, "another set of expressions is being built");
            return false;
        }
        sets->waiting++;
        pthread_cond_wait(&sets->changed, &sets->lock);
        sets->waiting--;
        k = find(sets, wanted);
    }
    if (!k) {
        pthread_mutex_unlock(&sets->lock);
        refuse(r, "all sets of expressions are in use");
        return false;
    }
    k->users++;
    k->used = sl_serve__now();
    if (k->set && memcmp(&k->key, wanted, sizeof *wanted) == 0) {
        pthread_mutex_unlock(&sets->lock);
        *out = k;
        return true;
    }
    sets->building = true;
    kept made = { .key = *wanted };
    symlaw_set *old = k->set;
    symlaw_pairs *old_pairs = k->pairs;
    char *old_levels = k->levels;
    k->set = NULL;
    k->pairs = NULL;
    k->levels = NULL;
    pthread_mutex_unlock(&sets->lock);
    symlaw_pairs_close(old_pairs);
    symlaw_set_close(old);
    free(old_levels);
    const symlaw_status st = build(&made, sets);
    if (st == SYMLAW_ECANCEL)
        sl_serve__fail(r, 503, "ask for a smaller depth or fewer operators",
                       "the set of expressions takes longer than %g s to build", BUILD_SECONDS);
    else if (st != SYMLAW_OK)
        sl_serve__fail_call(r, st);
    pthread_mutex_lock(&sets->lock);
    sets->building = false;
    if (st == SYMLAW_OK) {
        made.users = k->users;
        made.used = sl_serve__now();
        *k = made;
        *out = k;
    } else {
        drop(&made);
        k->users--;
    }
    pthread_cond_broadcast(&sets->changed);
    pthread_mutex_unlock(&sets->lock);
    return st == SYMLAW_OK;
}

static void give_back(sl_serve__sets *sets, kept *k) {
    pthread_mutex_lock(&sets->lock);
    k->users--;
    pthread_cond_broadcast(&sets->changed);
    pthread_mutex_unlock(&sets->lock);
}

/* ---------------------------------------------------------------- numbers of the query ------ */

static bool number(int64_t *out, sl_serve__reply *r, const sl_serve__call *c, const char *name,
                   int64_t usual, int64_t least, int64_t most) {
    const char *text = sl_serve__query(c, name);
    *out = usual;
    if (!text) return true;
    if (sl_serve__whole(out, text) && *out >= least && *out <= most) return true;
    sl_serve__fail(r, 400, "correct the query", "\"%s\" is a whole number from %lld to %lld", name,
                   (long long)least, (long long)most);
    return false;
}

static bool read_key(key *k, sl_serve__reply *r, const sl_serve__call *c) {
    const char *ops = sl_serve__query(c, "ops");
    memset(k, 0, sizeof *k); // compared byte by byte
    if (!number(&k->depth, r, c, "depth", 2, 0, DEPTH_MAX) ||
        !number(&k->variables, r, c, "variables", 2, 1, 3) ||
        !number(&k->size, r, c, "size", 100000, 1, SIZE_MAX_SET) ||
        !number(&k->seed, r, c, "seed", 0, 0, (INT64_C(1) << 53) - 1))
        return false;
    if (ops && strlen(ops) >= sizeof k->ops) {
        sl_serve__fail(r, 400, "name fewer operators", "\"ops\" has %zu bytes", strlen(ops));
        return false;
    }
    if (ops) memcpy(k->ops, ops, strlen(ops));
    return true;
}

/* ---------------------------------------------------------------- items --------------------- */

static int level_of(const kept *k, int64_t index) {
    int level = 0;
    while (level < LEVELS_MAX - 1 && index >= k->level_end[level]) level++;
    return level;
}

static void add_texts(sl_serve__text *t, const symlaw_formula *f) {
    sl_serve__formula_member(t, "formula", f, "infix");
    sl_serve__formula_member(t, "latex", f, "latex");
    sl_serve__formula_member(t, "mathml", f, "mathml");
}

static void add_item(sl_serve__text *t, const char *name, const kept *k, int64_t index,
                     const symlaw_formula *f) {
    sl_serve__json_open(t, name, '{');
    sl_serve__json_int(t, "index", index);
    sl_serve__json_int(t, "level", level_of(k, index));
    add_texts(t, f);
    sl_serve__json_close(t, '}');
}

static bool contains(const symlaw_formula *f, const char *text) {
    char *infix = NULL;
    const bool found =
        symlaw_formula_print(&infix, f, "infix") == SYMLAW_OK && strstr(infix, text) != NULL;
    symlaw_string_free(infix);
    return found;
}

/* Members from start on, `count` of them at most; with a text those that have it. `next`: where
 * to go on; null at the end. */
static bool add_items(sl_serve__reply *r, const kept *k, int64_t start, int64_t count,
                      const char *text) {
    const double until = sl_serve__now() + LIST_SECONDS;
    const int64_t all = symlaw_set_count(k->set);
    int64_t i = start;
    sl_serve__json_open(&r->body, "items", '[');
    for (; i < all && count > 0; i++) {
        symlaw_formula *f = NULL;
        const symlaw_status st = symlaw_set_get(&f, k->set, i);
        if (st != SYMLAW_OK) {
            sl_serve__fail_call(r, st);
            return false;
        }
        if (!text || contains(f, text)) {
            add_item(&r->body, NULL, k, i, f);
            count--;
        }
        symlaw_formula_free(f);
        if (text && i % 256 == 0 && sl_serve__now() > until) {
            i++;
            break;
        }
    }
    sl_serve__json_close(&r->body, ']');
    if (i < all)
        sl_serve__json_int(&r->body, "next", i);
    else
        sl_serve__json_raw(&r->body, "next", NULL);
    return true;
}

static void list(sl_serve__reply *r, const sl_serve__call *c, const kept *k) {
    int64_t start, count;
    if (!number(&start, r, c, "start", 0, 0, INT64_C(1) << 40) ||
        !number(&count, r, c, "count", 50, 0, ITEMS_MAX))
        return;
    sl_serve__json_open(&r->body, NULL, '{');
    sl_serve__json_int(&r->body, "count", symlaw_set_count(k->set));
    sl_serve__json_text(&r->body, "hash", symlaw_set_hash(k->set));
    sl_serve__json_raw(&r->body, "levels", k->levels);
    if (add_items(r, k, start, count, sl_serve__query(c, "contains")))
        sl_serve__json_close(&r->body, '}');
}

static void look_up(sl_serve__reply *r, const sl_serve__call *c, const kept *k) {
    const char *format = sl_serve__query(c, "format");
    symlaw_formula *f = NULL, *member = NULL;
    int64_t index = -1;
    symlaw_status st =
        symlaw_formula_parse(&f, sl_serve__query(c, "find"), format ? format : "infix", NULL, 0);
    if (st == SYMLAW_OK) st = symlaw_set_find(&index, k->set, f);
    if (st == SYMLAW_OK && index >= 0) st = symlaw_set_get(&member, k->set, index);
    if (st == SYMLAW_OK) {
        sl_serve__json_open(&r->body, NULL, '{');
        if (member) {
            sl_serve__json_int(&r->body, "index", index);
            add_item(&r->body, "item", k, index, member);
        } else {
            sl_serve__json_raw(&r->body, "index", NULL);
            sl_serve__json_raw(&r->body, "item", NULL);
        }
        sl_serve__json_close(&r->body, '}');
    } else {
        sl_serve__fail_call(r, st);
    }
    symlaw_formula_free(member);
    symlaw_formula_free(f);
}

/* Does the query have `name` together with (without) another one? A name that would be ignored is
 * refused. */
static bool is_out_of_place(sl_serve__reply *r, const sl_serve__call *c, const char *name,
                            const char *other, bool with) {
    if (!sl_serve__query(c, name) || (sl_serve__query(c, other) != NULL) != with) return false;
    sl_serve__fail(r, 400, "correct the query", "\"%s\" is used %s \"%s\"", name,
                   with ? "without" : "with", other);
    return true;
}

void sl_serve__answer_universe(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r) {
    key wanted;
    kept *k;
    if (is_out_of_place(r, c, "format", "find", false) ||
        is_out_of_place(r, c, "contains", "find", true))
        return;
    if (!read_key(&wanted, r, c) || !take(&k, s->sets, &wanted, r)) return;
    if (sl_serve__query(c, "find"))
        look_up(r, c, k);
    else
        list(r, c, k);
    give_back(s->sets, k);
}

/* ---------------------------------------------------------------- pairs --------------------- */

static bool is_split(const char *split) {
    return strcmp(split, "train") == 0 || strcmp(split, "valid") == 0 || strcmp(split, "test") == 0;
}

/* Appends the pair: its member, formula and points. */
static void add_pair(sl_serve__reply *r, const char *split, int64_t index, const symlaw_pair *p) {
    symlaw_formula *f = NULL;
    const symlaw_status st = symlaw_pair_formula(&f, p);
    if (st != SYMLAW_OK) {
        sl_serve__fail_call(r, st);
        return;
    }
    const int rows = symlaw_pair_rows(p);
    sl_serve__json_open(&r->body, NULL, '{');
    sl_serve__json_text(&r->body, "split", split);
    sl_serve__json_int(&r->body, "index", index);
    sl_serve__json_int(&r->body, "member", symlaw_pair_member(p));
    add_texts(&r->body, f);
    sl_serve__json_open(&r->body, "x", '[');
    for (int k = 0; k < symlaw_pair_columns(p); k++)
        sl_serve__json_reals(&r->body, NULL, symlaw_pair_x(p, k), rows);
    sl_serve__json_close(&r->body, ']');
    sl_serve__json_reals(&r->body, "y", symlaw_pair_y(p), rows);
    sl_serve__json_close(&r->body, '}');
    symlaw_formula_free(f);
}

/* The draw-th pair of this member, from the first pair of the split on, as far as is looked. */
static void draw_pair(sl_serve__reply *r, const kept *k, const char *split, int64_t member,
                      int64_t draw) {
    const double until = sl_serve__now() + DRAW_SECONDS;
    const int64_t all = symlaw_pairs_count(k->pairs, split);
    int64_t seen = 0, i = 0;
    for (; i < all && i < DRAW_LOOKED; i++) {
        symlaw_pair *p = NULL;
        const symlaw_status st = symlaw_pairs_get(&p, k->pairs, split, i);
        if (st != SYMLAW_OK) {
            sl_serve__fail_call(r, st);
            return;
        }
        const bool found = symlaw_pair_member(p) == member && seen++ == draw;
        if (found) add_pair(r, split, i, p);
        symlaw_pair_free(p);
        if (found) return;
        if (sl_serve__now() > until) break;
    }
    sl_serve__fail(r, 404, "ask for a smaller draw, or for a pair by its index",
                   "pair %lld of member %lld is not among the first %lld of this split",
                   (long long)draw, (long long)member, (long long)i);
}

static void pair(sl_serve__reply *r, const sl_serve__call *c, const kept *k) {
    const char *split = sl_serve__query(c, "split");
    int64_t index, member, draw;
    symlaw_pair *p = NULL;
    if (!split) split = "train";
    if (!is_split(split)) {
        sl_serve__fail(r, 400, "use train, valid or test", "\"%.40s\" is not a split", split);
        return;
    }
    if (!number(&index, r, c, "index", 0, 0, symlaw_pairs_count(k->pairs, split) - 1) ||
        !number(&member, r, c, "member", -1, 0, symlaw_set_count(k->set) - 1) ||
        !number(&draw, r, c, "draw", 0, 0, 1000000))
        return;
    if (member >= 0) {
        draw_pair(r, k, split, member, draw);
        return;
    }
    const symlaw_status st = symlaw_pairs_get(&p, k->pairs, split, index);
    if (st == SYMLAW_OK)
        add_pair(r, split, index, p);
    else
        sl_serve__fail_call(r, st);
    symlaw_pair_free(p);
}

void sl_serve__answer_pair(sl_serve *s, const sl_serve__call *c, sl_serve__reply *r) {
    key wanted;
    kept *k;
    if (is_out_of_place(r, c, "draw", "member", false) ||
        is_out_of_place(r, c, "index", "member", true))
        return;
    if (!read_key(&wanted, r, c) || !take(&k, s->sets, &wanted, r)) return;
    pair(r, c, k);
    give_back(s->sets, k);
}
