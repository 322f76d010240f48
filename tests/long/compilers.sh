#!/usr/bin/env bash
# The default set of depth 3, and pairs of a smaller one, are the same to the bit with every compiler:
# gcc, clang, and gcc without optimisation under the sanitizers. Builds beside the tree; the
# last one enumerates for minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

build() { # name, preset, options
    cmake --preset "$2" -B "$dir/$1" -DSYMLAW_TESTS=OFF "${@:3}" > "$dir/$1.log" 2>&1 &&
        cmake --build "$dir/$1" --parallel "${SL_JOBS:-2}" --target symlaw >> "$dir/$1.log" 2>&1 ||
        { cat "$dir/$1.log"; exit 1; }
}

build gcc release -DCMAKE_C_COMPILER=gcc
build clang clang
build sanitize sanitize -DCMAKE_C_COMPILER=gcc
for name in gcc clang sanitize; do
    "$dir/$name/symlaw" expressions --depth 3 --count-only --quiet > "$dir/$name.count"
    echo "$name: $(grep '^hash' "$dir/$name.count")"
    "$dir/$name/symlaw" pairs --depth 2 --withheld 0.1 --hash --quiet > "$dir/$name.pairs"
done
for name in clang sanitize; do
    [[ $(grep '^hash' "$dir/gcc.count") == "$(grep '^hash' "$dir/$name.count")" ]]
    diff "$dir/gcc.pairs" "$dir/$name.pairs"
done
