/* Random sequences of tokens: for tests of this and higher folders only. */
#include "token/token_test.h"

void sl_token_random(sl_token *ids, int *n, sl_rng *rng, int variables, int room) {
    SL_ASSERT(room >= 2 && room <= SL_TOKEN_MAX);
    static const uint32_t likes[] = { 1, 1, 2, 8, 64 };
    uint32_t weight[SL_TOKEN_COUNT];
    for (int id = 0; id < SL_TOKEN_COUNT; id++)
        weight[id] = likes[sl_rng_below(rng, SL_LEN(likes))];

    sl_token_state s;
    sl_token_begin(&s, variables);
    *n = 0;
    while (s.top > 0) {
        sl_token_set next;
        sl_token_next(&next, &s, room - *n);
        uint32_t sum = 0;
        for (int id = 0; id < SL_TOKEN_COUNT; id++)
            if (sl_token_in(&next, id)) sum += weight[id];
        SL_ASSERT(sum > 0); // a prefix that was allowed can be completed
        uint32_t at = sl_rng_below(rng, sum);
        int id = 0;
        while (!sl_token_in(&next, id) || at >= weight[id]) {
            if (sl_token_in(&next, id)) at -= weight[id];
            id++;
        }
        const sl_token_reason reason = sl_token_push(&s, id);
        SL_ASSERT(reason == SL_TOKEN_FINE);
        ids[(*n)++] = (sl_token)id;
    }
}
