/* Formulas as values: read one, bring it to canonical form, compare, evaluate, and walk through the
 * set of all formulas up to a depth.
 *
 *     cc algebra.c $(pkg-config --cflags --libs symlaw) -o algebra && ./algebra */
#include <stdio.h>
#include <symlaw/symlaw.h>

/* Prints a formula, or why it cannot be. */
static int show(const char *what, const symlaw_formula *f, const char *format) {
    char *text = NULL;
    if (symlaw_formula_print(&text, f, format) != SYMLAW_OK) return 1;
    printf("%-10s %s\n", what, text);
    symlaw_string_free(text);
    return 0;
}

/* The energy of a moving mass in units where light has speed 1, over columns with names. */
static int algebra(void) {
    static const char *const names[] = { "m", "v" };
    static const double m[] = { 1, 2, 3 }, v[] = { 0, 0.6, 2 }; /* the last one is too fast */
    const double *columns[] = { m, v };
    symlaw_formula *energy = NULL, *canon = NULL, *other = NULL;
    symlaw_truth same;
    double value[3];
    int failed =
        symlaw_formula_parse(&energy, "m/sqrt((1 - v)*(1 + v))", "infix", names, 2) != SYMLAW_OK ||
        symlaw_formula_parse(&other, "m*(1 - v^2)^(-1/2)", "infix", names, 2) != SYMLAW_OK ||
        symlaw_formula_canon(&canon, energy) != SYMLAW_OK || show("read", energy, "infix") ||
        show("canonical", canon, "infix") || show("LaTeX", canon, "latex") ||
        show("C", canon, "c") || symlaw_formula_same(&same, energy, other) != SYMLAW_OK ||
        symlaw_formula_eval(value, energy, columns, 2, 3) != SYMLAW_OK;
    if (!failed) {
        printf("same       %s\n", symlaw_yes(same) ? "yes" : symlaw_no(same) ? "no" : "unknown");
        printf("values     %g %g %g\n", value[0], value[1], value[2]);
    }
    symlaw_formula_free(other);
    symlaw_formula_free(canon);
    symlaw_formula_free(energy);
    return failed;
}

/* Every function of one variable that two steps of + * sin make. */
static int enumerate(void) {
    symlaw_set_options options = SYMLAW_SET_OPTIONS_INIT;
    symlaw_set *set = NULL;
    int failed = 0;
    options.depth = 2;
    options.variables = 1;
    options.ops = "+,*,sin";
    options.count = 0; /* all of them */
    if (symlaw_set_open(&set, &options, NULL, NULL) != SYMLAW_OK) return 1;
    printf("%lld functions\n", (long long)symlaw_set_count(set));
    for (int64_t i = 0; i < symlaw_set_count(set) && !failed; i++) {
        symlaw_formula *f = NULL;
        failed = symlaw_set_get(&f, set, i) != SYMLAW_OK || show("", f, "infix");
        symlaw_formula_free(f);
    }
    symlaw_set_close(set);
    return failed;
}

int main(void) {
    if (algebra() || enumerate()) {
        fprintf(stderr, "algebra: %s\n", symlaw_last_error());
        return 1;
    }
    return 0;
}
