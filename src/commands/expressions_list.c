/* expressions_list - members of a set, one per line. */
#include "commands/commands_impl.h"

/* Stream of the sampled listing, different from that of the set's own sample. */
enum { STREAM_LISTING = 0x6c697374 };

static sl_status add_line(sl_commands_run *run, const sl_commands__listing *l, int64_t index,
                          sl_str *text) {
    sl_str *s = &run->output;
    const sl_node *e = sl_universe_get(l->universe, index);
    if (!l->json) {
        SL_TRY(sl_expr_print(s, l->format, e, l->names));
    } else {
        sl_str_truncate(text, 0);
        SL_TRY(sl_expr_print(text, l->format, e, l->names));
        sl_io_json_open(s, NULL, '{');
        sl_io_json_add_int(s, "index", index);
        sl_io_json_add_int(s, "level", sl_universe_level(l->universe, index));
        sl_io_json_add_text(s, "expr", sl_str_text(text));
        if (sl_universe_config(l->universe)->withheld > 0)
            sl_io_json_add_bool(s, "withheld", sl_universe_withheld(l->universe, index));
        sl_io_json_close(s, '}');
    }
    sl_str_add_char(s, '\n');
    return sl_commands__output(run);
}

/* A sample is drawn in one pass (Knuth, TAOCP 2, algorithm 3.4.2 S): member i is taken with
 * probability (still wanted) / (still to come). So it stays in the order of the set and needs no
 * memory. */
sl_status sl_commands__list(int64_t *listed, sl_commands_run *run, const sl_commands__listing *l) {
    int64_t n = sl_universe_size(l->universe), wanted = l->sample > 0 ? SL_MIN(l->sample, n) : n;
    sl_rng rng;
    sl_rng_init(&rng, sl_universe_config(l->universe)->seed, STREAM_LISTING, 0);
    sl_str text = { 0 };
    sl_status st = SL_OK;
    *listed = wanted;
    run->printed = l->json;
    run->total = (double)n;
    for (int64_t i = 0; i < n && wanted > 0; i++) {
        if (wanted < n - i && sl_rng_uniform(&rng) * (double)(n - i) >= (double)wanted) continue;
        run->done = (double)i;
        SL_GO(add_line(run, l, i, &text));
        wanted--;
    }
    st = sl_str_status(&text);
done:
    sl_str_clear(&text);
    return st;
}
