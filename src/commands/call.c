/* call - the edge of the library: whether a call can be made, and what it leaves in sl_last_error.
 *
 * Inside, a failure may be no failure of the call: a set that is not in the cache is built, a
 * constant too long for exact numbers makes two formulas incomparable, a discovery that is told to
 * stop returns what it has. Each of these has stored a line. So the line is kept at the edge of the
 * library, once for all of it. */
#include <string.h>

#include "commands/commands_impl.h"

void sl_commands__keep_line(char line[SL_FAIL_LINE]) {
    const char *now = sl_last_error();
    memcpy(line, now, strlen(now) + 1);
}

sl_status sl_commands_enter(sl_commands_call *c) {
    SL_TRY(sl_stack_check());
    c->stop = false;
    sl_commands__keep_line(c->line);
    return SL_OK;
}

sl_status sl_commands_leave(const sl_commands_call *c, sl_status st) {
    if (st == SL_OK) sl_fail_restore(c->line);
    return st;
}
