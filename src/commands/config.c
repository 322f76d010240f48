/* config - what options say, as the structs that the modules below take.
 *
 * Found by name and not by number: the same rows stand at other places in the table of each
 * command that has them. */
#include <string.h>

#include "commands/commands.h"

int sl_commands__option_find(const symlaw_command_info *info, const char *name) {
    for (int i = 0; i < info->n_options; i++)
        if (strcmp(info->options[i].name, name) == 0) return i;
    return -1;
}

const sl_commands__value *sl_commands__named(const sl_commands__run *run, const char *name) {
    static const sl_commands__value absent;
    const int i = sl_commands__option_find(run->info, name);
    return i >= 0 ? &run->values[i] : &absent;
}

sl_status sl_commands__one_job(int *chosen, const sl_commands__run *run, const int *jobs, int n) {
    const symlaw_option_info *options = run->info->options;
    *chosen = -1;
    for (int i = 0; i < n; i++) {
        const sl_commands__value *v = &run->values[jobs[i]];
        bool wanted = options[jobs[i]].type == SYMLAW_OPTION_FLAG ? v->flag : v->given;
        if (wanted && *chosen >= 0)
            return sl_fail(SL_EINVAL, "--%s and --%s ask for different things; give one of them",
                           options[*chosen].name, options[jobs[i]].name);
        if (wanted) *chosen = jobs[i];
    }
    return SL_OK;
}

sl_status sl_commands__universe_options(sl_universe_options *out, const sl_commands__run *run) {
    // the size of the set, or of the model where there is a --set-size
    const bool model = sl_commands__option_find(run->info, "set-size") >= 0;
    *out = (sl_universe_options){
        .depth = (int)sl_commands__named(run, "depth")->whole,
        .variables = (int)sl_commands__named(run, "variables")->whole,
        .size = sl_commands__named(run, model ? "set-size" : "size")->whole,
        .seed = (uint64_t)sl_commands__named(run, "seed")->whole,
        .withheld = sl_commands__named(run, "withheld")->real,
        .max_memory = (int64_t)(sl_commands__named(run, "max-memory")->real * 1e9),
    };
    return sl_universe_ops_parse(&out->ops, sl_commands__named(run, "ops")->text[0]);
}

/* Which of "a|b|c" is `word`, from 0. */
static int place_in(const char *choices, const char *word) {
    const size_t n = strlen(word);
    for (int i = 0;; i++) {
        size_t m = strcspn(choices, "|");
        if (m == n && memcmp(choices, word, n) == 0) return i;
        SL_ASSERT(choices[m]); // the table has taken the word for one of them
        choices += m + 1;
    }
}

#define INT(v, choices)    (v)->whole
#define REAL(v, choices)   (v)->real
#define CHOICE(v, choices) place_in(choices, (v)->text[0])
#define READ(field, option, kind, value, text, choices, ...) \
    out->field = kind(sl_commands__named(run, option), choices);

void sl_commands__pairs_options(sl_pairs_options *out, const sl_commands__run *run) {
    out->seed = (uint64_t)sl_commands__named(run, "seed")->whole;
    SL_PAIRS_TABLE(READ)
}

void sl_commands__optim_options(sl_optim_options *out, const sl_commands__run *run) {
    SL_OPTIM_TABLE(READ)
}

void sl_commands__train_options(sl_train_options *out, const sl_commands__run *run) {
    SL_TRAIN_TABLE(READ)
}

static void infer_options(sl_infer_options *out, const sl_commands__run *run) {
    SL_INFER_TABLE(READ)
}

void sl_commands__discover_options(sl_discover_options *out, const sl_commands__run *run) {
    *out = (sl_discover_options)SL_DISCOVER_OPTIONS_INIT;
    out->seed = (uint64_t)sl_commands__named(run, "seed")->whole;
    SL_DISCOVER_TABLE(READ) // the paper's table has the same rows
    infer_options(&out->infer, run);
}

/* ---------------------------------------------------------------- the model ----------------- */

#define X(name, ...) "|" name
const char sl_commands__sizes[] = SL_MODEL_SIZES(X);
#undef X

/* Sets an option to what --size says it is, unless it was told something else. */
static sl_status size_says(sl_commands__run *run, const char *size, const char *name, int64_t n) {
    sl_commands__value *v = &run->values[sl_commands__option_find(run->info, name)];
    if (v->told && v->whole != n)
        return sl_fail(SL_EINVAL, "--size %s has --%s %lld, not %lld; give one of them", size, name,
                       (long long)n, (long long)v->whole);
    v->whole = n;
    v->told = true;
    return SL_OK;
}

sl_status sl_commands__model_options(sl_model_options *out, sl_commands__run *run) {
    const char *size = sl_commands__named(run, "size")->text[0];
    *out = (sl_model_options)SL_MODEL_OPTIONS_INIT;
    if (size) {
        sl_model_options named = *out;
        SL_TRY(sl_model_size_find(&named, size));
        SL_TRY(size_says(run, size, "width", named.width));
        SL_TRY(size_says(run, size, "layers", named.layers));
    }
    SL_MODEL_TABLE(READ)
    const sl_commands__value *variables = sl_commands__named(run, "variables");
    if (variables->given) out->columns = variables->whole + 1; // and the target
    out->vocabulary = SL_TOKEN_COUNT;
    return SL_OK;
}

int sl_commands__threads(const sl_commands__run *run) {
    const int64_t told = sl_commands__named(run, "threads")->whole;
    return told > 0 ? (int)told : SL_MAX(sl_par_cores() / sl_par_peers(), 1);
}
