/* Tokens of the whole default set E, each member with random constants: there and back, and masks
 * along the way. */
#include "pairs/test/naive.h"

enum { STRIDE = 31 }; // prefixes whose masks are looked at: some 100,000 of all

static void the_whole_set_goes_round(void **state) {
    sl_fixture *t = *state;
    sl_pool *pool;
    sl_universe *u;
    const sl_universe_options all = SL_UNIVERSE_OPTIONS_INIT;
    sl_pairs_options o = sl_pairs_defaults();
    SL_MUST(t, sl_par_pool_new(&pool, 0));
    SL_MUST(t, sl_universe_new(&u, pool, &all, NULL));
    sl_par_pool_free(pool);
    assert_int_equal(sl_universe_size(u), 100000);
    sl_str scratch = { 0 };
    int long_ones = 0, failed = 0;
    for (int64_t i = 0; i < sl_universe_size(u); i++) {
        const sl_node *base = sl_universe_get(u, i), *e;
        sl_pair_site site[1024];
        sl_token ids[SL_TOKEN_MAX];
        int n, n_sites;
        assert_true(base->len <= SL_LEN(site));
        sl_arena_rewind(&t->arena, 0);
        // nothing put in, nothing changed
        o.constant_chance = 0;
        SL_MUST(t, sl_pairs__insert(&e, site, &n_sites, &t->arena, base, &t->rng, &o));
        SL_CHECK(t, same_bytes(e, base), "%s becomes %s", text_of(base), text_of(e));

        o.constant_chance = i % 8 ? 0.2 : 0.6;
        o.constant_max = i % 16 ? 9 : 1000;
        sl_status st = sl_pairs__insert(&e, site, &n_sites, &t->arena, base, &t->rng, &o);
        if (st == SL_EOVERFLOW) {
            failed++;
            continue;
        }
        SL_MUST(t, st);
        st = sl_token_from_expr(ids, &n, SL_TOKEN_MAX, e, &scratch);
        if (st == SL_ELIMIT) {
            long_ones++;
            continue;
        }
        SL_MUST(t, st);
        tokens_spell(t, ids, n, e, 2);
        masks_fit(t, ids, n, 2, STRIDE);
    }
    sl_str_clear(&scratch);
    SL_CHECK(t, failed < 1000 && long_ones < 1000, "%d overflow, %d are too long", failed,
             long_ones);
    sl_universe_free(u);
}

int main(void) {
    static const struct CMUnitTest tests[] = { SL_TEST(the_whole_set_goes_round) };
    return sl_test_main("pairs.long_tokens", tests, SL_LEN(tests));
}
