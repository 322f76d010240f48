/* plan - a plan as JSON: its members and their defaults.
 *
 * docs/formats.md has the format. A size may have its own `sweep`, `scale` and `eval`, whose
 * members override the study's. */
#include <string.h>

#include "study/study_impl.h"

const char *sl_study_set_name(sl_study_set s) {
    static const char *const names[] = {
#define X(id, name) name,
        SL_STUDY_SETS(X)
#undef X
    };
    return names[s];
}

enum { MAX_TEXT = 1 << 20, MAX_NAME = 32, MAX_GROW = 16, MAX_RUNS = 4096, MAX_BASELINES = 16 };

static const char *const plan_members[] = { "name",  "about", "train", "sizes",
                                            "sweep", "scale", "eval",  "attempts" };
static const char *const sweep_members[] = { "ratio", "batch", "lr", "seeds", "grow" };
static const char *const scale_members[] = { "ratios", "seeds" };
static const char *const size_members[] = { "name", "sweep", "scale",
                                            "eval" }; // the others: options

/* A member that the study and a size may have: the size's overrides the study's. */
typedef struct choice {
    const sl_json *value;  // NULL: neither has it
    sl_study__place above; // the object that it is a member of
    sl_study__place place;
} choice;

/* section: "sweep". at: the size's place; NULL: the study's alone. */
static void choose(choice *c, const sl_json *plan, const sl_json *size, const sl_study__place *at,
                   const char *section, const char *name) {
    const sl_json *from[] = { size, plan };
    for (int i = 0; i < 2; i++) {
        const sl_json *object = from[i] ? sl_io_json_get(from[i], section) : NULL;
        c->value = object ? sl_io_json_get(object, name) : NULL;
        c->above = (sl_study__place){ i == 0 ? at : NULL, section, 0 };
        c->place = (sl_study__place){ &c->above, name, 0 };
        if (c->value) return;
    }
}

/* ---------------------------------------------------------------- names --------------------- */

/* Names are used in the names of folders. */
static bool is_name(const char *text) {
    const size_t n = strlen(text);
    if (n < 1 || n > MAX_NAME || text[0] == '.' || text[0] == '-') return false;
    for (const char *c = text; *c; c++)
        if (!sl_isalpha(*c) && !sl_isdigit(*c) && *c != '.' && *c != '_' && *c != '-') return false;
    return true;
}

static sl_status read_name(const char **out, const sl_study__reader *r, const sl_study__place *p,
                           const sl_json *j) {
    SL_TRY(sl_study__kind(r, p, j, SL_JSON_TEXT));
    const char *text = sl_io_json_text(j);
    if (!is_name(text))
        return sl_study__fail(
            r, p,
            "must be 1 to %d letters, digits, points, dashes and underscores, and "
            "begin with a letter or digit",
            MAX_NAME);
    return sl_study__copy(out, r->arena, text, strlen(text));
}

/* By its name, by the name of its size of the model, or by width and layers. */
static sl_status name_size(const char **out, const sl_study__reader *r, const sl_study__place *p,
                           const sl_json *size, const char *train) {
    const sl_json *name = sl_io_json_get(size, "name");
    if (name) return read_name(out, r, &(sl_study__place){ p, "name", 0 }, name);
    sl_json *j = NULL;
    sl_str s = { 0 };
    SL_TRY(sl_io_json_parse(&j, train, strlen(train)));
    const sl_json *model = sl_io_json_get(j, "size"), *width = sl_io_json_get(j, "width"),
                  *layers = sl_io_json_get(j, "layers");
    if (model && sl_io_json_kind_of(model) == SL_JSON_TEXT && is_name(sl_io_json_text(model)))
        sl_str_add(&s, sl_io_json_text(model));
    else if (width && layers && sl_io_json_kind_of(width) == SL_JSON_INT &&
             sl_io_json_kind_of(layers) == SL_JSON_INT)
        sl_str_addf(&s, "%lldx%lld", (long long)sl_io_json_int(width),
                    (long long)sl_io_json_int(layers));
    sl_io_json_free(j);
    const bool found = s.len > 0 || s.failed;
    SL_TRY(sl_study__take(out, r->arena, &s));
    if (found) return SL_OK;
    return sl_study__fail(r, p, "needs a name, or size, or width and layers");
}

static sl_status check_names(const sl_study__reader *r, const sl_study_plan *plan) {
    const sl_study__place above = { NULL, "sizes", 0 };
    for (int i = 0; i < plan->sizes; i++)
        for (int k = 0; k < i; k++)
            if (sl_strcasecmp(plan->size[i].name, plan->size[k].name) == 0)
                return sl_study__fail(r, &(sl_study__place){ &above, NULL, i },
                                      "is called %s, like sizes[%d]; give it another \"name\"",
                                      plan->size[i].name, k);
    return SL_OK;
}

/* ---------------------------------------------------------------- grids and ratios ---------- */

/* fallback: the default; 0 values: the member is required. */
static sl_status read_list(sl_study_list *out, const sl_study__reader *r, const choice *c,
                           const sl_study__range *g, sl_study_list fallback) {
    *out = fallback;
    if (c->value) return sl_study__list_read(out, r, &c->place, c->value, g);
    if (fallback.n > 0) return SL_OK;
    return sl_study__fail(r, NULL, "needs %s.%s", c->above.name, c->place.name);
}

static sl_status read_lists(sl_study_size *out, const sl_study__reader *r, const sl_json *plan,
                            const sl_json *size, const sl_study__place *p) {
    static const double zero = 0;
    static const sl_study_list none = { NULL, 0 }, first = { &zero, 1 };
    static const sl_study__range grows = { "", 0, MAX_GROW, true };
    const struct {
        const char *section, *name;
        sl_study_list *out;
        const sl_study__range *range;
        sl_study_list fallback;
    } lists[] = { { "sweep", "batch", &out->batch, &sl_study__batch, none },
                  { "sweep", "lr", &out->lr, &sl_study__lr, none },
                  { "sweep", "seeds", &out->sweep_seeds, &sl_study__seed, first },
                  { "scale", "ratios", &out->ratios, &sl_study__ratio, none },
                  { "scale", "seeds", &out->scale_seeds, &sl_study__seed, first } };
    choice c;
    for (int i = 0; i < SL_LEN(lists); i++) {
        choose(&c, plan, size, p, lists[i].section, lists[i].name);
        SL_TRY(read_list(lists[i].out, r, &c, lists[i].range, lists[i].fallback));
    }
    out->sweep_ratio = 20;
    choose(&c, plan, size, p, "sweep", "ratio");
    if (c.value)
        SL_TRY(sl_study__number_read(&out->sweep_ratio, r, &c.place, c.value, &sl_study__ratio));
    double grow = 2;
    choose(&c, plan, size, p, "sweep", "grow");
    if (c.value) SL_TRY(sl_study__number_read(&grow, r, &c.place, c.value, &grows));
    out->grow = (int)grow;
    return SL_OK;
}

/* The largest number of runs of a size. */
static int64_t most_runs(const sl_study_size *s) {
    const int64_t batch = s->batch.n + (s->batch.n > 1 ? 2 * s->grow : 0);
    const int64_t lr = s->lr.n + (s->lr.n > 1 ? 2 * s->grow : 0);
    return batch * lr * s->sweep_seeds.n + (int64_t)s->ratios.n * s->scale_seeds.n;
}

static sl_status check_runs(const sl_study__reader *r, const sl_study_plan *plan) {
    int64_t n = 0;
    for (int i = 0; i < plan->sizes; i++) n += most_runs(&plan->size[i]);
    if (n <= MAX_RUNS) return SL_OK;
    return sl_study__fail(r, NULL, "comes to %lld runs when all grids have grown; %d are the most",
                          (long long)n, MAX_RUNS);
}

/* ---------------------------------------------------------------- evaluations --------------- */

static const char *const eval_members[] = { "test", "withheld", "formulas", "baselines" };

/* A set is evaluated if its options are an object; null in a size removes the study's. */
static sl_status read_set(const char **out, const sl_study__reader *r, const sl_json *plan,
                          const sl_json *size, const sl_study__place *p, sl_study_set set) {
    const char *name = sl_study_set_name(set);
    choice own, common;
    choose(&own, NULL, size, p, "eval", name);
    choose(&common, plan, NULL, NULL, "eval", name);
    *out = NULL;
    if (!sl_io_json_get(plan, "eval") && !own.value && set == SL_STUDY_SET_TEST)
        return sl_study__copy(out, r->arena, "{}", 2);
    const choice *c = own.value ? &own : &common;
    if (!c->value || sl_io_json_kind_of(c->value) == SL_JSON_NULL) return SL_OK;
    SL_TRY(sl_study__kind(r, &c->place, c->value, SL_JSON_OBJECT));
    const bool both =
        own.value && common.value && sl_io_json_kind_of(common.value) == SL_JSON_OBJECT;
    SL_TRY(sl_study__options_merge(out, r->arena, both ? common.value : NULL, c->value, NULL, 0));
    if (set == SL_STUDY_SET_FORMULAS) SL_TRY(sl_study__formulas_find(out, r, &c->place));
    return SL_OK;
}

/* Checks the options of each set one by one, for every `eval` of the plan. */
static sl_status check_eval(const sl_study__reader *r, const sl_study__place *above,
                            const sl_json *eval, bool baselines) {
    const sl_study__place p = { above, "eval", 0 };
    static const char *const file[] = { "formulas" };
    SL_TRY(sl_study__members(r, &p, eval, eval_members, SL_LEN(eval_members) - !baselines));
    for (int i = 0; eval && i < SL_STUDY_SET_COUNT; i++) {
        const char *name = sl_study_set_name((sl_study_set)i);
        const sl_json *set = sl_io_json_get(eval, name);
        const sl_study__place here = { &p, name, 0 }, stray = { &here, "formulas", 0 };
        if (!set || sl_io_json_kind_of(set) == SL_JSON_NULL) continue;
        SL_TRY(sl_study__options_check(r, &here, set, "eval", file, 1));
        if (i != SL_STUDY_SET_FORMULAS && sl_io_json_get(set, "formulas"))
            return sl_study__fail(r, &stray, "belongs to eval.formulas, a set of its own");
    }
    return SL_OK;
}

static sl_status check_baseline(const sl_study__reader *r, const sl_study__place *here,
                                const char *name) {
    sl_str options = { 0 };
    sl_status st = sl_study_baseline_options(&options, name, NULL);
    if (st == SL_OK) st = r->check("eval", options.text, false, r->payload);
    if (st == SL_EINVAL)
        st = sl_study__fail(r, here, "%s; \"search\" is a baseline too", sl_last_error());
    sl_str_clear(&options);
    return st;
}

static sl_status read_baselines(sl_study_plan *out, const sl_study__reader *r,
                                const sl_json *plan) {
    choice c;
    choose(&c, plan, NULL, NULL, "eval", "baselines");
    if (!c.value) return SL_OK;
    SL_TRY(sl_study__kind(r, &c.place, c.value, SL_JSON_ARRAY));
    const int n = sl_io_json_count(c.value);
    if (n > MAX_BASELINES) return sl_study__fail(r, &c.place, "has more than %d", MAX_BASELINES);
    const char **names = sl_arena_alloc(r->arena, SL_MAX((size_t)n, 1) * sizeof *names);
    if (!names) return sl_fail_memory((size_t)n, sizeof *names, "baselines");
    for (int i = 0; i < n; i++) {
        const sl_study__place here = { &c.place, NULL, i };
        SL_TRY(read_name(&names[i], r, &here, sl_io_json_at(c.value, i)));
        for (int k = 0; k < i; k++)
            if (strcmp(names[i], names[k]) == 0)
                return sl_study__fail(r, &here, "%s is there twice", names[i]);
        if (!r->check) continue;
        SL_TRY(check_baseline(r, &here, names[i]));
    }
    out->baselines = names;
    out->n_baselines = n;
    return SL_OK;
}

/* ---------------------------------------------------------------- a size -------------------- */

/* All options together, as its first run has them. */
static sl_status check_whole(const sl_study__reader *r, const sl_study__place *p,
                             const sl_study_plan *plan, int i) {
    if (!r->check) return SL_OK;
    const sl_study_size *s = &plan->size[i];
    const sl_study_run first = { .size = i,
                                 .batch = s->batch.at[0],
                                 .lr = s->lr.at[0],
                                 .ratio = s->ratios.at[0],
                                 .seed = (int64_t)s->scale_seeds.at[0] };
    sl_str options = { 0 };
    sl_study_train_options(&options, plan, &first);
    sl_status st = sl_str_status(&options);
    if (st == SL_OK) st = r->check("train", options.text, true, r->payload);
    for (int k = 0; k < SL_STUDY_SET_COUNT && st == SL_OK; k++)
        if (s->eval[k]) st = r->check("eval", s->eval[k], true, r->payload);
    if (st == SL_EINVAL) st = sl_study__fail(r, p, "%s", sl_last_error());
    sl_str_clear(&options);
    return st;
}

/* The set `withheld` requires that training withholds it. */
static sl_status check_withheld(const sl_study__reader *r, const sl_study__place *p,
                                const sl_study_size *s) {
    if (!s->eval[SL_STUDY_SET_WITHHELD]) return SL_OK;
    sl_json *j = NULL;
    SL_TRY(sl_io_json_parse(&j, s->train, strlen(s->train)));
    const sl_json *part = sl_io_json_get(j, "withheld");
    const bool number = part && (sl_io_json_kind_of(part) == SL_JSON_REAL ||
                                 sl_io_json_kind_of(part) == SL_JSON_INT);
    const bool some = number && sl_io_json_real(part) > 0;
    sl_io_json_free(j);
    if (some) return SL_OK;
    return sl_study__fail(
        r, p,
        "eval.withheld has no problems: the options of train need \"withheld\", the "
        "part of the set to keep from training, such as 0.05");
}

static sl_status read_size(sl_study_plan *plan, int i, const sl_study__reader *r,
                           const sl_json *top, const sl_json *j) {
    const sl_study__place above = { NULL, "sizes", 0 }, p = { &above, NULL, i };
    sl_study_size *s = &plan->size[i];
    SL_TRY(sl_study__options_check(r, &p, j, "train", size_members, SL_LEN(size_members)));
    SL_TRY(sl_study__members(r, &(sl_study__place){ &p, "sweep", 0 }, sl_io_json_get(j, "sweep"),
                             sweep_members, SL_LEN(sweep_members)));
    SL_TRY(sl_study__members(r, &(sl_study__place){ &p, "scale", 0 }, sl_io_json_get(j, "scale"),
                             scale_members, SL_LEN(scale_members)));
    SL_TRY(check_eval(r, &p, sl_io_json_get(j, "eval"), false));
    SL_TRY(sl_study__options_merge(&s->train, r->arena, sl_io_json_get(top, "train"), j,
                                   size_members, SL_LEN(size_members)));
    SL_TRY(name_size(&s->name, r, &p, j, s->train));
    SL_TRY(read_lists(s, r, top, j, &p));
    for (int k = 0; k < SL_STUDY_SET_COUNT; k++)
        SL_TRY(read_set(&s->eval[k], r, top, j, &p, (sl_study_set)k));
    SL_TRY(check_withheld(r, &p, s));
    return check_whole(r, &p, plan, i);
}

static sl_status read_sizes(sl_study_plan *plan, const sl_study__reader *r, const sl_json *top) {
    const sl_study__place p = { NULL, "sizes", 0 };
    const sl_json *sizes = sl_io_json_get(top, "sizes");
    if (!sizes) return sl_study__fail(r, NULL, "needs \"sizes\", a list of models");
    SL_TRY(sl_study__kind(r, &p, sizes, SL_JSON_ARRAY));
    plan->sizes = sl_io_json_count(sizes);
    if (plan->sizes < 1 || plan->sizes > SL_STUDY_MAX_SIZES)
        return sl_study__fail(r, &p, "must have 1 to %d sizes, not %d", SL_STUDY_MAX_SIZES,
                              plan->sizes);
    const size_t bytes = (size_t)plan->sizes * sizeof *plan->size;
    plan->size = sl_arena_alloc(r->arena, bytes);
    if (!plan->size) return sl_fail_memory(bytes, 1, "sizes of a plan");
    memset(plan->size, 0, bytes);
    for (int i = 0; i < plan->sizes; i++)
        SL_TRY(read_size(plan, i, r, top, sl_io_json_at(sizes, i)));
    SL_TRY(check_names(r, plan));
    return check_runs(r, plan);
}

/* ---------------------------------------------------------------- a plan -------------------- */

/* The plan's name, which is required: the study's folder is named after it. */
static sl_status name_plan(const char **out, const sl_study__reader *r, const sl_json *top) {
    const sl_json *name = sl_io_json_get(top, "name");
    if (name) return read_name(out, r, &(sl_study__place){ NULL, "name", 0 }, name);
    return sl_study__fail(r, NULL, "needs \"name\"");
}

static sl_status read_plan(sl_study_plan *out, const sl_study__reader *r, const sl_json *top) {
    static const sl_study__range attempts = { "", 1, 100, true };
    SL_TRY(sl_study__members(r, NULL, top, plan_members, SL_LEN(plan_members)));
    SL_TRY(name_plan(&out->name, r, top));
    const sl_json *about = sl_io_json_get(top, "about"), *n = sl_io_json_get(top, "attempts");
    if (about) {
        SL_TRY(sl_study__kind(r, &(sl_study__place){ NULL, "about", 0 }, about, SL_JSON_TEXT));
        SL_TRY(sl_study__copy(&out->about, r->arena, sl_io_json_text(about),
                              strlen(sl_io_json_text(about))));
    }
    double most = 2;
    if (n)
        SL_TRY(sl_study__number_read(&most, r, &(sl_study__place){ NULL, "attempts", 0 }, n,
                                     &attempts));
    out->attempts = (int)most;
    SL_TRY(sl_study__options_check(r, &(sl_study__place){ NULL, "train", 0 },
                                   sl_io_json_get(top, "train"), "train", NULL, 0));
    SL_TRY(sl_study__members(r, &(sl_study__place){ NULL, "sweep", 0 },
                             sl_io_json_get(top, "sweep"), sweep_members, SL_LEN(sweep_members)));
    SL_TRY(sl_study__members(r, &(sl_study__place){ NULL, "scale", 0 },
                             sl_io_json_get(top, "scale"), scale_members, SL_LEN(scale_members)));
    SL_TRY(check_eval(r, NULL, sl_io_json_get(top, "eval"), true));
    SL_TRY(read_sizes(out, r, top));
    return read_baselines(out, r, top);
}

sl_status sl_study_plan_read(sl_study_plan **out, sl_arena *a, const char *path,
                             sl_study_check check, void *payload) {
    sl_status st;
    char *text = NULL;
    size_t n;
    sl_json *top = NULL;
    sl_study__reader r = { .path = path, .arena = a, .check = check, .payload = payload };
    const size_t mark = sl_arena_mark(a);
    sl_study_plan *plan;
    SL_GO(sl_file_read(&text, &n, path, MAX_TEXT));
    st = sl_io_json_parse(&top, text, n);
    if (st == SL_EFORMAT) st = sl_fail(SL_EFORMAT, "%.300s is no plan: %s", path, sl_last_error());
    if (st != SL_OK) goto done;
    plan = sl_arena_alloc(a, sizeof *plan);
    SL_GO(plan ? SL_OK : sl_fail_memory(1, sizeof *plan, "a plan"));
    *plan = (sl_study_plan){ 0 };
    SL_GO(sl_study__copy(&plan->text, a, text, n));
    r.text = plan->text;
    SL_GO(read_plan(plan, &r, top));
    *out = plan;
done:
    if (st != SL_OK) sl_arena_rewind(a, mark);
    sl_io_json_free(top);
    sl_free(text);
    return st;
}

/* ---------------------------------------------------------------- options of a run ---------- */

void sl_study_train_options(sl_str *s, const sl_study_plan *plan, const sl_study_run *run) {
    const char *train = plan->size[run->size].train;
    const size_t n = strlen(train);
    SL_ASSERT(n >= 2 && train[n - 1] == '}'); // written by sl_study__options_merge
    sl_str_add_bytes(s, train, n - 1);
    sl_io_json_add_int(s, "batch", (int64_t)run->batch);
    SL_JSON_FIELDS(s, run, lr, ratio);
    sl_io_json_add_int(s, "weights-seed", run->seed);
    sl_io_json_close(s, '}');
}
