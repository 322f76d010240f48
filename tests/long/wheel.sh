#!/usr/bin/env bash
# The wheel in a clean virtual environment with the newest scikit-learn, pandas and SymPy of PyPI: all
# tests of the package and of its SRBench folder, and scikit-learn's checks with the default parameters.
# tools/fresh_root wheel does it where none of our Debian packages is installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
make wheel
clean=$(mktemp -d)
trap 'rm -rf "$clean"' EXIT
/usr/bin/python3 -m venv "$clean/venv"
wheel=(build-wheel/dist/*.whl)
"$clean/venv/bin/pip" install -q --disable-pip-version-check "${wheel[0]}[test]"
"$clean/venv/bin/python" -c 'import sklearn, symlaw; print("scikit-learn", sklearn.__version__, symlaw.__file__)'
unset PYTHONPATH SYMLAW SYMLAW_LIBRARY
"$clean/venv/bin/python" -B -m pytest -q -rs -p no:cacheprovider python/tests
SYMLAW_TEST_FULL=1 "$clean/venv/bin/python" -B -m pytest -q -rs -p no:cacheprovider python/tests/test_regressor.py
