#!/usr/bin/env bash
# Searches that are cut at random moments have no data race: hundreds of them under the thread
# sanitizer, on one to four threads. So do the tests of what calls the search, and of the pool. Builds
# beside the tree.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
programs=(search.cancel search.run search.lattice search.skeleton search.skeleton_two
    search.skeleton_vary search.skeleton_vary_two search.skeleton_function search.quotients
    search.spans search.noise discover.run api.discover par.pool)

cmake --preset thread -B "$dir" > "$dir/log" 2>&1 &&
    cmake --build "$dir" --parallel "${SL_JOBS:-2}" --target "${programs[@]}" >> "$dir/log" 2>&1 ||
    { cat "$dir/log"; exit 1; }
export TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}"
SL_TEST_SCALE=${SL_TEST_SCALE:-50} "$dir/test/search.cancel"
for program in "${programs[@]:1}"; do "$dir/test/$program"; done
