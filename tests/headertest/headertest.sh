#!/bin/sh
# The public header must compile alone, in the strictest dialects a user may have, and the shared
# library must export what it declares and nothing else.
#
#     headertest.sh ROOT LIBRARY CC [CXX]
set -eu
root=$1 library=$2 cc=$3 cxx=${4:-}
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
strict="-pedantic-errors -Wall -Wextra -Werror -fsyntax-only -I$root/include"

# twice: the guard; and a use of the macros, which the compiler would otherwise not look into
cat > "$temp/use.c" <<'END'
#include <symlaw/symlaw.h>
#include <symlaw/symlaw.h>
const char *version(void);
const char *version(void) { return SYMLAW_OK == 0 ? SYMLAW_VERSION : symlaw_status_text(SYMLAW_EIO); }
END
cp "$temp/use.c" "$temp/use.cc"

for std in c99 c11 c17; do
    "$cc" -std=$std $strict -Wstrict-prototypes -Wundef "$temp/use.c"
done
if [ -n "$cxx" ]; then
    for std in c++11 c++17; do
        "$cxx" -std=$std $strict -Wundef "$temp/use.cc"
    done
else
    echo "no C++ compiler: the header is not tested as C++"
fi

# declared: names after SYMLAW_API and its type, before the parenthesis
tr '\n' ' ' < "$root/include/symlaw/symlaw.h" | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/| |g' | tr ';' '\n' |
    sed -n 's/.*SYMLAW_API[^(]*[ *]\(symlaw_[a-z0-9_]*\) *(.*/\1/p' | sort -u > "$temp/declared"
nm -D --defined-only "$library" | awk '$2 ~ /[TDBRVW]/ { print $3 }' | grep -v '^__\|^_init$\|^_fini$' |
    sort -u > "$temp/exported"
if ! [ -s "$temp/declared" ]; then
    echo "found no SYMLAW_API function in the header"
    exit 1
fi
if ! diff "$temp/declared" "$temp/exported" > "$temp/diff"; then
    echo "the header declares (<) and the library exports (>) different names:"
    cat "$temp/diff"
    exit 1
fi
echo "$(wc -l < "$temp/declared") functions declared and exported"
