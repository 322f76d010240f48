#!/usr/bin/env python3
"""Holds every object file of the library and the program to calling nothing that depends on the locale.

    calls.py [--self-test CC] OBJECT...

The host program may have called setlocale: strtod then reads "0.5" as 0, "%g" prints 0,5, strcasecmp takes
"INF" and "inf" for two words, strerror answers in German. src/base/locale.c has what the library uses
instead, src/cli/locale.c and src/serve/text.c what the program does. Objects are read rather than sources: macros, inline
functions and what the compiler makes of a call are all in their undefined symbols. An object's path ends
in that of its source and .o, as CMake names them. A file and name in ALLOWED must really be called there, so
a list that has become too long fails too.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BANNED = {
    "reads numbers by the locale": """
        strtod strtof strtold strtof128 strtof64 atof wcstod wcstof wcstold
        strtol strtoul strtoll strtoull strtoq strtouq strtoimax strtoumax atoi atol atoll a64l
        wcstol wcstoul wcstoll wcstoull strtod_l strtof_l strtold_l strtol_l strtoul_l strtoll_l strtoull_l
        scanf fscanf sscanf vscanf vfscanf vsscanf wscanf fwscanf swscanf vwscanf vfwscanf vswscanf""",
    "writes numbers by the locale": """
        printf fprintf sprintf snprintf vprintf vfprintf vsprintf vsnprintf asprintf vasprintf dprintf vdprintf
        wprintf fwprintf swprintf vwprintf vfwprintf vswprintf obstack_printf obstack_vprintf syslog vsyslog
        ecvt fcvt gcvt qecvt qfcvt qgcvt ecvt_r fcvt_r strfromd strfromf strfroml strfmon strfmon_l gzprintf
        gzvprintf""",
    "knows letters by the locale": """
        isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit
        tolower toupper ctype_b_loc ctype_tolower_loc ctype_toupper_loc ctype_get_mb_cur_max ctype_b
        iswalnum iswalpha iswblank iswcntrl iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper
        iswxdigit iswctype wctype towlower towupper towctrans wctrans
        strcasecmp strncasecmp strcasestr strcasecmp_l strncasecmp_l wcscasecmp wcsncasecmp
        strcoll strcoll_l strxfrm strxfrm_l wcscoll wcsxfrm
        mblen mbrlen mbtowc mbrtowc mbstowcs mbsrtowcs mbsnrtowcs mbsinit btowc wctob wctomb wcrtomb wcstombs
        wcsrtombs wcsnrtombs wcwidth wcswidth fgetwc fputwc fgetws fputws getwc putwc ungetwc
        regcomp regexec fnmatch glob wordexp rpmatch""",
    "texts in the language of the locale": """
        strerror strerror_r strerror_l xpg_strerror_r perror strsignal psignal psiginfo gai_strerror hstrerror
        dlerror regerror gettext dgettext dcgettext ngettext dngettext dcngettext
        strftime strftime_l wcsftime strptime getdate getdate_r error error_at_line
        err errx warn warnx verr verrx vwarn vwarnx getopt getopt_long getopt_long_only argp_parse""",
    "asks for or sets the locale": """
        setlocale localeconv nl_langinfo nl_langinfo_l newlocale uselocale duplocale freelocale""",
    "leads to jansson, which reads and writes reals by the locale": """
        json_loads json_loadb json_load_file json_load_callback json_loadf json_loadfd json_dumps json_dumpb
        json_dumpf json_dumpfd json_dump_file json_dump_callback json_pack json_vpack_ex json_pack_ex
        json_sprintf json_vsprintf""",
}
WHY = {name: why for why, names in BANNED.items() for name in names.split()}

ALLOWED = {
    "src/base/locale.c": {"newlocale", "uselocale", "vsnprintf", "strtod_l", "strerror_l", "dlerror"},
    "src/cli/locale.c": {"newlocale", "uselocale", "vsnprintf", "strtod_l", "strtoll_l", "strerror_l"},
    "src/serve/text.c": {"newlocale", "uselocale", "vsnprintf", "strtod_l", "strerror_l", "json_loadb"},
    "src/io/json_read.c": {"json_loadb"},  # between sl_locale_enter and sl_locale_leave
}


def plain(symbol):
    """The name as a program writes it: __snprintf_chk, __isoc99_sscanf and snprintf@GLIBC_2.2.5 are calls too."""
    symbol = symbol.split("@")[0]
    symbol = re.sub(r"^_*(isoc\d+_|interceptor_)?", "", symbol)
    return re.sub(r"(_chk|_internal|_finite)$", "", symbol)


def source_of(path):
    """.../symlaw_objects.dir/src/io/cell.c.o -> src/io/cell.c"""
    found = re.search(r"(?:^|/)(src/.*)\.o(?:bj)?$", str(path))
    return found.group(1) if found else Path(path).name


def called(objects):
    """Pairs of a source and the plain name of a symbol that it leaves undefined."""
    nm = os.environ.get("NM", "nm")
    text = subprocess.run([nm, "-A", "-u", "--", *map(str, objects)], capture_output=True, text=True, check=True)
    for line in text.stdout.splitlines():
        file, _, symbol = line.rpartition(":")
        yield source_of(file), plain(symbol.split()[-1])


def check(objects):
    """All violations as lines of text."""
    wrong, used = set(), set()
    for source, name in called(objects):
        if name not in WHY:
            continue
        if name in ALLOWED.get(source, ()):
            used.add((source, name))
        else:
            wrong.add(f"{source} calls {name}, which {WHY[name]}")
    return sorted(wrong), used


def unused(objects, used):
    """What is allowed to files that do not call it."""
    seen = {source_of(o) for o in objects}
    for source, names in ALLOWED.items():
        if source not in seen:
            yield f"{source} is in ALLOWED, but there is no such object"
        for name in sorted(names):
            if source in seen and (source, name) not in used:
                yield f"{source} is allowed to call {name}, and does not"


HEADERS = """
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>
"""
# What a program may write, and the names to be reported for it.
BAD = [
    ("double f(const char *s) { return strtod(s, 0); }", "strtod"),
    ("double f(const char *s) { return strtold(s, 0); }", "strtold"),
    ("long long f(const char *s) { return strtoll(s, 0, 10); }", "strtoll"),
    ("void f(char *s, double x) { snprintf(s, 9, \"%g\", x); }", "snprintf"),
    ("char o[9]; void f(double x) { sprintf(o, \"%g\", x); }", "sprintf"),  # __sprintf_chk where fortified
    ("void f(double x) { printf(\"%g\", x); }", "printf"),
    ("void f(va_list a) { vfprintf(stderr, \"%g\", a); }", "vfprintf"),
    ("void f(const char *s, double *x) { sscanf(s, \"%lf\", x); }", "sscanf"),  # __isoc99_sscanf
    ("int f(int c) { return isalpha(c); }", "ctype_b_loc"),
    ("int f(int c) { return (isxdigit)(c); }", "isxdigit"),
    ("int (*f)(int) = tolower;", "tolower"),
    ("int f(const char *a, const char *b) { return strcasecmp(a, b); }", "strcasecmp"),
    ("int f(const char *a, const char *b) { return strncasecmp(a, b, 3); }", "strncasecmp"),
    ("int f(const char *a, const char *b) { return strcoll(a, b); }", "strcoll"),
    ("const char *f(void) { return strerror(errno); }", "strerror"),
    ("void f(void) { perror(\"f\"); }", "perror"),
    ("const char *f(void) { return dlerror(); }", "dlerror"),
    ("void f(void) { setlocale(LC_ALL, \"\"); }", "setlocale"),
    ("locale_t f(void) { return uselocale((locale_t)0); }", "uselocale"),
    ("int f(wchar_t *w, const char *s) { return (int)mbstowcs(w, s, 9); }", "mbstowcs"),
    ("char *json_dumps(void *, size_t); char *f(void *j) { return json_dumps(j, 0); }", "json_dumps"),
    ("void *json_loadb(const char *, size_t); void *f(const char *s) { return json_loadb(s, 9); }", "json_loadb"),
]
GOOD = [
    "int sl_snprintf(char *, size_t, const char *, ...); void f(char *s) { sl_snprintf(s, 9, \"%g\", 1.5); }",
    "void f(void) { fputs(\"text\", stderr); }",
    "size_t f(const char *s) { return strlen(s) + strcspn(s, \"x\"); }",
    "int f(const char *a, const char *b) { return strcmp(a, b); }",
]


def self_test(cc):
    """A check that cannot fail is none: each of BAD must be reported and none of GOOD, with and without
    fortified calls; what base/locale.c may call, another file may not."""
    wrong = []
    with tempfile.TemporaryDirectory() as temp:
        def report(name, snippets, flags):
            source, target = Path(temp) / "x.c", Path(temp) / f"{name}.o"
            target.parent.mkdir(parents=True, exist_ok=True)
            functions = [re.sub(r"\bf\b(?=\(|\)\()", f"f{i}", code) for i, code in enumerate(snippets)]
            source.write_text(HEADERS + "\n".join(functions) + "\n")
            subprocess.run([cc, "-w", *flags, "-c", source, "-o", target], check=True)
            return check([target])[0]

        for flags in (["-O0"], ["-O2", "-D_FORTIFY_SOURCE=2"]):
            found = report("src/expr/x.c", [code for code, _ in BAD], flags)
            for _, name in BAD:
                if not any(f" calls {name}," in line for line in found):
                    wrong.append(f"self-test: {name} is let through, {' '.join(flags)}")
            wrong += [f"self-test: {line}" for line in report("src/expr/y.c", GOOD, flags)]
        enter = "locale_t f(void) { return uselocale((locale_t)0); }"
        if report("src/base/locale.c", [enter], []):
            wrong.append("self-test: base/locale.c may not call uselocale")
        if not report("src/io/locale.c", [enter], []):
            wrong.append("self-test: io/locale.c may call uselocale")
    return wrong


def main():
    args = sys.argv[1:]
    wrong = []
    if args[:1] == ["--self-test"]:
        wrong += self_test(args[1])
        args = args[2:]
    objects = [Path(a) for a in args]
    found, used = check(objects) if objects else (["no objects"], set())
    wrong += found + list(unused(objects, used))
    for line in wrong:
        print(line)
    print(f"{len(objects)} objects, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
