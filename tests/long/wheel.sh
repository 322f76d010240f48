#!/usr/bin/env bash
# The wheel in a clean virtual environment with the newest scikit-learn, pandas and SymPy of PyPI: all
# tests of the package and of its SRBench folder, scikit-learn's checks with the default parameters, and
# its types. Then the package as SRBench builds it, from a clone. tools/fresh_root wheel runs the tests
# where none of our Debian packages is installed.
set -euo pipefail
cd "$(dirname "$0")/../.."
make wheel
clean=$(mktemp -d)
trap 'rm -rf "$clean"' EXIT
/usr/bin/python3 -m venv "$clean/venv"
PATH=$clean/venv/bin:$PATH
unset PYTHONPATH SYMLAW SYMLAW_LIBRARY
export PIP_DISABLE_PIP_VERSION_CHECK=1
tests() { python -B -m pytest -q -rs -p no:cacheprovider "$@"; }

wheel=(build-wheel/dist/*.whl)
pip install -q "${wheel[0]}[test]" mypy pandas-stubs
python -c 'import sklearn, symlaw; print("scikit-learn", sklearn.__version__, symlaw.__file__)'
(cd python && mypy --cache-dir "$clean/mypy")
tests python/tests
SYMLAW_TEST_FULL=1 tests python/tests/test_regressor.py

pip uninstall -q -y symlaw
SYMLAW_SOURCE=file://$PWD bash integrations/srbench/algorithms/symlaw/install.sh > "$clean/log" 2>&1 ||
    { cat "$clean/log"; exit 1; }
tests python/tests/test_srbench.py python/tests/test_guide.py
