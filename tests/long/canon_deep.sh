#!/usr/bin/env bash
# The laws of the canonical form on 120,000 random trees each, and once more with another seed.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=${SYMLAW:-build/symlaw}
test=$(dirname "$program")/test/expr.canon
SL_TEST_SCALE=40 "$test"
SL_TEST_SCALE=40 SL_TEST_SEED=20240607 "$test"
