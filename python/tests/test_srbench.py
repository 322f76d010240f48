"""The steps of SRBench's evaluate_model.py, on five formulas of the Feynman lectures."""
import csv
import importlib.util
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
sympy = pytest.importorskip("sympy")
pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.metrics import r2_score  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402
from sympy.parsing.sympy_parser import parse_expr  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
METHOD = ROOT / "integrations/srbench/experiment/methods/symlaw/regressor.py"
FOLDER = ROOT / "integrations/srbench/algorithms/symlaw"
TABLE = ROOT / "examples/formulas/feynman.csv"
if not METHOD.exists() or not TABLE.exists():
    pytest.skip("not in the source tree", allow_module_level=True)

FORMULAS = ["I.12.1", "I.14.3", "I.16.6", "I.39.22", "II.8.31"]
MAX_TIME = 30


def algorithm():
    spec = importlib.util.spec_from_file_location("regressor", METHOD)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def dataset(name, rows=400):
    """A table of the formula, drawn from its ranges, and the formula."""
    with open(TABLE, newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["name"] == name)
    rng = np.random.default_rng(7)
    X = pd.DataFrame({n: rng.uniform(float(low), float(high), rows) for n, low, high in
                      (v.split(":") for v in row["variables"].split())})
    truth = parse_expr(row["formula"], local_dict={n: sympy.Symbol(n) for n in X})
    y = sympy.lambdify([sympy.Symbol(n) for n in X], truth, "numpy")(*X.to_numpy().T)
    return X, y, truth


def rounded(expression):
    """Decimals as SRBench's scorer leaves them."""
    for part in sympy.preorder_traversal(expression):
        if isinstance(part, sympy.Float):
            expression = expression.subs(part, sympy.Integer(0) if abs(part) < 0.0001
                                         else sympy.Float(round(part, 3), 3))
    return expression


def test_what_is_asked_for_is_there():
    module = algorithm()
    assert hasattr(module.est, "random_state") and hasattr(module.est, "max_time")
    assert module.eval_kwargs["scale_x"] is False and module.eval_kwargs["scale_y"] is False
    assert module.eval_kwargs["use_dataframe"] is True
    module.est.set_params(**module.eval_kwargs["test_params"])
    json.dumps(module.est.get_params())
    clone(module.est)
    metadata = (FOLDER / "metadata.yml").read_text()
    assert all(word in metadata for word in ("authors:", "name: symlaw", "description:", "url:"))


def test_the_source_to_install_from_is_asked_for(tmp_path):
    """install.sh gives pip the folder that SYMLAW_SOURCE names, or a clone of the repository."""
    pip = tmp_path / "python"
    pip.write_text('#!/bin/sh\nls "${4%[[]all]}"; echo "$@"\n')
    pip.chmod(0o755)
    source = tmp_path / "source"
    (source / "python").mkdir(parents=True)
    (source / "python" / "the_package").touch()
    subprocess.run("git init -q && git add . && git -c user.name=a -c user.email=a commit -q -m a", shell=True,
                   cwd=source, check=True)

    def install(variables):
        return subprocess.run(["bash", "install.sh"], cwd=FOLDER, capture_output=True, text=True,
                              env={"PATH": f"{tmp_path}:{os.environ['PATH']}", **variables})

    assert install({"SYMLAW_SOURCE": str(source)}).stdout == \
        f"the_package\n-m pip install {source}/python[all]\n"
    clone = install({"SYMLAW_SOURCE": f"file://{source}"})
    assert clone.stdout.startswith("the_package\n-m pip install /"), clone.stderr
    assert not os.path.exists(clone.stdout.split()[-1][:-len("/python[all]")])
    none = install({})
    assert none.returncode != 0 and "SYMLAW_SOURCE: a folder with the source of symlaw" in none.stderr


@pytest.mark.parametrize("name", FORMULAS)
def test_a_public_formula_is_solved(name):
    module = algorithm()
    est = module.est
    X, y, truth = dataset(name)
    np.random.seed(42)
    est.random_state = 42
    train, test, y_train, y_test = train_test_split(X, y, train_size=0.75, test_size=0.25, random_state=42)
    est.set_params(**module.eval_kwargs["test_params"])
    est.max_time = MAX_TIME

    def late(number, frame):
        raise AssertionError("max_time did not end the fit")

    old = signal.signal(signal.SIGALRM, late)
    signal.alarm(MAX_TIME + 60)
    try:
        est.fit(train, y_train)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)
    assert r2_score(y_test, est.predict(test)) > 0.999999

    # the formula is read with the columns' names alone, and nothing is lost by rounding decimals
    text = module.model(est, train)
    names = {n: sympy.Symbol(n) for n in X}
    found = parse_expr(text.replace("pi", "3.1415926535"), local_dict=names)
    assert not found.atoms(sympy.Float) and found.free_symbols <= set(names.values()), text
    assert sympy.simplify(rounded(found) - truth) == 0, text
    values = sympy.lambdify(list(names.values()), found, "numpy")(*test.to_numpy().T)
    assert np.allclose(values, est.predict(test), rtol=1e-10)


def test_the_time_limit_holds_without_an_alarm():
    module = algorithm()
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(500, 6)), columns=list("abcdef"))
    y = np.tanh(X.a * X.b) + np.sin(3 * X.c) * X.d + rng.normal(size=500)
    module.est.max_time = 1
    start = time.monotonic()
    module.est.fit(X, y)
    assert module.est.cut_ == "time" and time.monotonic() - start < 30
    parse_expr(module.model(module.est, X), local_dict={n: sympy.Symbol(n) for n in X})
