#!/bin/sh
# The public header must compile alone, in the strictest dialects a user may have.
#
#     headertest.sh ROOT CC [CXX]
set -eu
root=$1 cc=$2 cxx=${3:-}
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
