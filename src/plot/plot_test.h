/* For the tests of this and higher folders: a parser of XML that checks whether a text is
 * well-formed and lists its elements. It shares no code with the figures and pages that it
 * checks. */
#ifndef SL_PLOT_TEST_H
#define SL_PLOT_TEST_H

#include <stdlib.h>
#include <string.h>

#include "plot/plot.h"

typedef struct xml_element {
    char name[24];
    const char *attributes; // as written
    int length;
} xml_element;

typedef void (*xml_visit)(const xml_element *e, void *payload);

static inline bool xml_is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == ':';
}

/* The length of the reference at `at`; 0 if XML does not define it. */
static inline size_t xml_reference(const char *at) {
    static const char *const known[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&apos;" };
    for (int i = 0; i < SL_LEN(known); i++)
        if (strncmp(at, known[i], strlen(known[i])) == 0) return strlen(known[i]);
    if (at[1] != '#') return 0;
    char *end;
    const long c = at[2] == 'x' ? strtol(at + 3, &end, 16) : strtol(at + 2, &end, 10);
    return *end == ';' && c >= 0x20 ? (size_t)(end + 1 - at) : 0;
}

/* Bytes of the character at `at`, 0 if XML cannot hold it. */
static inline size_t xml_character(const char *at) {
    const unsigned char *b = (const unsigned char *)at;
    if (b[0] < 0x80) return b[0] >= 0x20 || b[0] == '\n' || b[0] == '\t' ? 1 : 0;
    const size_t n = b[0] >= 0xf0 ? 4 : b[0] >= 0xe0 ? 3 : b[0] >= 0xc2 ? 2 : 0;
    for (size_t i = 1; i < n; i++)
        if ((b[i] & 0xc0) != 0x80) return 0;
    if (n == 3 && b[0] == 0xed && b[1] >= 0xa0) return 0;                 // surrogates
    if (n == 3 && b[0] == 0xef && b[1] == 0xbf && b[2] >= 0xbe) return 0; // U+FFFE, U+FFFF
    if (n == 3 && b[0] == 0xe0 && b[1] < 0xa0) return 0; // overlong
    if (n == 4 && b[0] == 0xf0 && b[1] < 0x90) return 0;
    if (n == 4 && (b[0] > 0xf4 || (b[0] == 0xf4 && b[1] > 0x8f))) return 0;
    return n;
}

/* NULL if text is one well-formed element, perhaps behind <!DOCTYPE html>; else where it is not. */
static inline const char *xml_wrong(const char *text, xml_visit visit, void *payload) {
    char open[64][24];
    int depth = 0;
    bool seen = false;
    const char *at = text;
    if (strncmp(at, "<!DOCTYPE html>", 15) == 0) at += 15;
    while (*at) {
        if (*at == '&') {
            const size_t n = xml_reference(at);
            if (!n || !depth) return at;
            at += n;
        } else if (*at != '<') {
            const size_t n = xml_character(at);
            if (!n || (!depth && *at != '\n')) return at;
            at += n;
        } else if (at[1] == '/') {
            size_t n = 0;
            for (at += 2; xml_is_name(at[n]);) n++;
            if (!depth || strlen(open[depth - 1]) != n || strncmp(open[depth - 1], at, n) != 0)
                return at;
            depth--;
            at += n;
            if (*at++ != '>') return at - 1;
        } else {
            const char *const start = at;
            xml_element e = { 0 };
            size_t n = 0;
            for (at++; xml_is_name(at[n]) && n + 1 < sizeof e.name; n++) e.name[n] = at[n];
            if (!n || (!depth && seen)) return start;
            seen = true;
            at += n;
            e.attributes = at;
            while (*at == ' ') {
                const char *name = ++at;
                while (xml_is_name(*at)) at++;
                const size_t length = (size_t)(at - name);
                if (!length || at[0] != '=' || at[1] != '"') return at;
                for (const char *p = e.attributes; p + length + 3 < name; p++) // each once
                    if (p[0] == ' ' && strncmp(p + 1, name, length + 2) == 0) return name;
                for (at += 2; *at != '"';) {
                    const size_t c = *at == '&' ? xml_reference(at) : xml_character(at);
                    if (!c || *at == '<') return at;
                    at += c;
                }
                at++;
            }
            e.length = (int)(at - e.attributes);
            const bool empty = *at == '/';
            at += empty;
            if (*at++ != '>') return at - 1;
            if (visit) visit(&e, payload);
            if (empty) continue;
            if (depth == SL_LEN(open)) return start;
            memcpy(open[depth++], e.name, sizeof e.name);
        }
    }
    return depth || !seen ? at : NULL;
}

/* Does the element have this attribute? Then *value is behind the opening quote. */
static inline bool xml_attribute(const char **value, const xml_element *e, const char *name) {
    const size_t n = strlen(name);
    for (const char *p = e->attributes; p + n + 2 < e->attributes + e->length; p++)
        if (p[0] == ' ' && strncmp(p + 1, name, n) == 0 && p[n + 1] == '=' && p[n + 2] == '"') {
            *value = p + n + 3;
            return true;
        }
    return false;
}

static inline double xml_number(const xml_element *e, const char *name) {
    const char *value;
    return xml_attribute(&value, e, name) ? strtod(value, NULL) : 0;
}

#define XML_MUST(t, text, visit, payload)                                                   \
    do {                                                                                    \
        const char *xml_text_ = (text), *xml_wrong_ = xml_wrong(xml_text_, visit, payload); \
        SL_CHECK(t, !xml_wrong_, "not well-formed at byte %lld: %.60s",                     \
                 (long long)(xml_wrong_ - xml_text_), xml_wrong_);                          \
    } while (0)

#endif
