/* call - begin and end of a public call: the check of the stack, and sl_last_error.
 *
 * A failure inside need not be a failure of the call: a set that is not in the cache is built, a
 * constant too long for exact numbers makes two formulas incomparable, a cancelled discovery
 * returns what it has. Each of these has stored a line. So the line is saved when a public call
 * begins and restored when it succeeds. */
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
