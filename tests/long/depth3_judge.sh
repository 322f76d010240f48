#!/usr/bin/env bash
# The whole list of depth 3, 1.29 million functions, by tools/judge_expressions.py: no function twice.
# And none of the 5 million raw trees is missing, except constants and functions with an empty domain.
# Minutes; 1 GB.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=${SYMLAW:-build/symlaw}
python=python3
/usr/bin/python3 -c 'import numpy' 2> /dev/null && python=/usr/bin/python3
list=$(mktemp)
trap 'rm -f "$list"' EXIT

"$program" expressions --depth 3 --set-size 0 --format python --quiet > "$list"
"$python" tools/judge_expressions.py --complete 3 "$list"
"$python" tools/judge_expressions.py --seed 1 --per-orthant 16 "$list"
