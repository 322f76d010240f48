/* claim_content - the content of a claim, a text of fixed length. */
#include <string.h>

#include "io/io.h"
#include "study/claim_impl.h"

sl_status sl_study__content_write(char out[SL_STUDY__CLAIM_BYTES], const sl_study__content *c) {
    sl_str s = { 0 };
    sl_io_json_open(&s, NULL, '{');
    SL_JSON_FIELDS(&s, &c->by, host, machine, pid, start);
    SL_JSON_FIELDS(&s, c, nonce, beat, expiry, released, done, total);
    const size_t before = s.len;
    sl_io_json_add_text(&s, "text", c->text);
    if (s.len + 2 > SL_STUDY__CLAIM_BYTES) { // a text of escapes: there is no room for it
        sl_str_truncate(&s, before);
        sl_io_json_add_text(&s, "text", "");
    }
    sl_io_json_close(&s, '}');
    const sl_status st = sl_str_status(&s);
    if (st == SL_OK) {
        SL_ASSERT(s.len < SL_STUDY__CLAIM_BYTES);
        memset(out, ' ', SL_STUDY__CLAIM_BYTES);
        memcpy(out, s.text, s.len);
        out[SL_STUDY__CLAIM_BYTES - 1] = '\n';
    }
    sl_str_clear(&s);
    return st;
}

static void take_text(char *out, size_t size, const sl_json *object, const char *name) {
    sl_snprintf(out, size, "%s", sl_io_json_get_text(object, name, ""));
}

void sl_study__content_read(sl_study__content *out, const char *bytes, size_t n) {
    sl_json *j = NULL;
    *out = (sl_study__content){ 0 };
    if (n > SL_STUDY__CLAIM_BYTES) n = SL_STUDY__CLAIM_BYTES; // a mark of the next holder follows
    if (sl_io_json_parse(&j, bytes, n) != SL_OK) return;
    if (sl_io_json_kind_of(j) == SL_JSON_OBJECT) {
        take_text(out->by.host, sizeof out->by.host, j, "host");
        take_text(out->by.machine, sizeof out->by.machine, j, "machine");
        take_text(out->nonce, sizeof out->nonce, j, "nonce");
        take_text(out->text, sizeof out->text, j, "text");
        out->by.pid = sl_io_json_get_int(j, "pid", 0);
        out->by.start = sl_io_json_get_int(j, "start", 0);
        out->beat = sl_io_json_get_int(j, "beat", 0);
        out->expiry = sl_io_json_get_real(j, "expiry", 0);
        out->done = sl_io_json_get_real(j, "done", 0);
        out->total = sl_io_json_get_real(j, "total", 0);
        out->released = sl_io_json_get_bool(j, "released", false);
    }
    sl_io_json_free(j);
}
