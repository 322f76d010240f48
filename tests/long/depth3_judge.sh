#!/usr/bin/env bash
# The whole list of depth 3, 1.29 million functions, by tools/judge_expressions.py: no function twice.
#
# It also looks for all 5 million raw trees. 108 of them match no line as it is written, though each
# is a member of one of 13 listed classes: the class began with a function real in one quadrant only,
# such as sqrt(x1)*(sqrt(x1) - sqrt(x2)), with which they agree; the shorter form that stands for it
# now, x1 - sqrt(x1*x2), is real in a second quadrant and differs there. Agreement is not transitive
# (docs/decisions/0001-universe-order-and-domains.md). Minutes; 1 GB.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=${SYMLAW:-build/symlaw}
python=python3
/usr/bin/python3 -c 'import numpy' 2> /dev/null && python=/usr/bin/python3
list=$(mktemp)
trap 'rm -f "$list"' EXIT

"$program" expressions --depth 3 --size 0 --format python --quiet > "$list"
"$python" tools/judge_expressions.py --complete 3 --allow-missing 120 "$list"
"$python" tools/judge_expressions.py --seed 1 --per-orthant 16 "$list"
