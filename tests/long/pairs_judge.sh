#!/usr/bin/env bash
# 20,000 pairs of the default configuration and some of others, by tools/judge_pairs.py: NumPy has the
# same values, the LaTeX means the expression, the tokens spell the LaTeX. A minute.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=${SYMLAW:-build/symlaw}
python=python3
/usr/bin/python3 -c 'import numpy' 2> /dev/null && python=/usr/bin/python3
list=$(mktemp)
trap 'rm -f "$list"' EXIT

"$program" pairs --split train --count 20000 --format jsonl --quiet > "$list"
"$python" tools/judge_pairs.py --whitened "$list"
"$program" pairs --split withheld --withheld 0.1 --test-size 5000 --format jsonl --quiet > "$list"
"$python" tools/judge_pairs.py --whitened "$list"
"$program" pairs --split train --count 5000 --seed 7 --constant-chance 0.5 --quiet > "$list"
"$python" tools/judge_pairs.py --whitened "$list"
