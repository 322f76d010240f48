/* Numbers in arrays to a formula: how far a stone has fallen after some time.
 *
 *     cc discover.c $(pkg-config --cflags --libs symlaw) -o discover && ./discover
 *
 * The search needs no model. An argument names one that "symlaw train" has made, a run's folder or
 * a file of weights: it is asked where the search finds nothing within the noise. */
#include <stdio.h>
#include <symlaw/symlaw.h>

enum { ROWS = 8 };
static const double seconds[ROWS] = { 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6 };
static const double metres[ROWS] = { 0.196, 0.785, 1.766, 3.139, 4.905, 7.063, 9.614, 12.557 };

/* Prints formula i with what is known about it. */
static int show(const symlaw_discovery *found, int64_t i) {
    symlaw_formula *f = NULL;
    char *text = NULL;
    int failed = symlaw_discovery_formula(&f, found, i) != SYMLAW_OK ||
                 symlaw_formula_print(&text, f, "c") != SYMLAW_OK;
    if (!failed) {
        printf("%s metres = %s\n", i == 0 ? "=>" : "  ", text);
        printf("    error %.2g, %d nodes, %.1f bits, by the %s\n", symlaw_discovery_rmse(found, i),
               symlaw_discovery_size(found, i), symlaw_discovery_bits(found, i),
               symlaw_discovery_source(found, i));
        for (int k = 0; k < symlaw_discovery_constants(found, i); k++) {
            double error, value = symlaw_discovery_constant(found, i, k, &error);
            printf("    %g with a standard error of %g\n", value, error);
        }
    }
    symlaw_string_free(text);
    symlaw_formula_free(f);
    return failed;
}

/* Anything but 0 would stop the work, which then returns the best so far. */
static int on_event(const symlaw_event *event, void *payload) {
    (void)payload;
    if (event->kind == SYMLAW_EVENT_PROGRESS)
        fprintf(stderr, "%.*s\n", (int)event->length, event->text);
    return 0;
}

int main(int argc, char **argv) {
    const double *columns[] = { seconds };
    static const char *const names[] = { "seconds" };
    symlaw_model *model = NULL;
    symlaw_discovery *found = NULL;
    if (argc > 2) {
        fprintf(stderr, "usage: discover [MODEL]\n");
        return 2;
    }
    int failed = (argc > 1 && symlaw_model_open(&model, argv[1]) != SYMLAW_OK) ||
                 symlaw_discover(&found, model, columns, 1, metres, ROWS, names,
                                 "{\"effort\":\"normal\",\"ops\":\"sqrt,exp,log\",\"timeout\":60}",
                                 on_event, NULL) != SYMLAW_OK;
    if (!failed && !symlaw_discovery_within_noise(found)) printf("only approximations:\n");
    for (int64_t i = 0; !failed && i < symlaw_discovery_count(found) && i < 3; i++)
        failed = show(found, i);
    if (failed) fprintf(stderr, "discover: %s\n", symlaw_last_error());
    symlaw_discovery_free(found);
    symlaw_model_close(model);
    return failed;
}
