/* status - the public status, its texts and the version: those of base under public names. */
#include "base/base.h"
#include "ckpt/ckpt.h"
#include "symlaw/symlaw.h"

#define X(id, number, text) _Static_assert((int)SYMLAW_##id == (int)SL_##id, text);
SL_STATUS_LIST(X)
SYMLAW_STATUS_LIST(X)
#undef X
_Static_assert(SYMLAW_STACK_BYTES == SL_STACK_BYTES, "free stack of a call");

_Static_assert(sizeof SYMLAW_VERSION == sizeof SL_VERSION, "one version");

const char *symlaw_version(void) { return SL_VERSION; }
const char *symlaw_build(void) { return sl_ckpt_build(); }
const char *symlaw_status_text(symlaw_status st) { return sl_status_text((sl_status)st); }
const char *symlaw_last_error(void) { return sl_last_error(); }
