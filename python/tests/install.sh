#!/usr/bin/env bash
# The package as a wheel, of the library that a build folder has, installed in a clean virtual environment
# with NumPy alone: what it needs is in it. Skipped (77) where PyPI cannot be reached.
set -euo pipefail
build=$1
clean=$(mktemp -d)
trap 'rm -rf "$clean"' EXIT
/usr/bin/python3 -m venv "$clean/venv" || { echo "skipped: no module venv (Debian: python3-venv)"; exit 77; }
pip=("$clean/venv/bin/pip" --disable-pip-version-check -q)
"${pip[@]}" install --retries 2 --timeout 20 numpy pytest 'scikit-build-core>=0.10' 2> "$clean/log" ||
    { tail -1 "$clean/log"; echo "skipped: pip cannot get NumPy, pytest and scikit-build-core"; exit 77; }
"${pip[@]}" wheel ./python --no-deps --no-build-isolation -w "$clean/dist" \
    --config-settings=cmake.define.SYMLAW_PREBUILT="$build"
"${pip[@]}" install --no-deps "$clean"/dist/*.whl
unset PYTHONPATH SYMLAW SYMLAW_LIBRARY
cp python/tests/test_formula.py "$clean"
cd "$clean"
venv/bin/python -B -m pytest -q -rs -p no:cacheprovider test_formula.py
venv/bin/python -c '
import numpy, symlaw
assert symlaw.__file__.startswith("'"$clean"'"), symlaw.__file__
x = numpy.linspace(1, 9, 30)
assert str(symlaw.discover(x, x**1.5 / 7).formula) == "x1^(3/2)/7"
assert any(c.source == "model" for c in symlaw.discover(x, numpy.cos(9 * x), search="model").candidates)
print(symlaw.__version__)'
venv/bin/symlaw --version
