"""SymbolicRegressor follows scikit-learn."""
import multiprocessing
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")
pd = pytest.importorskip("pandas")

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import symlaw  # noqa: E402
from symlaw import SymbolicRegressor  # noqa: E402

# Small, so that a hundred fits take seconds. SYMLAW_TEST_FULL=1: as it is by default.
QUICK = {} if os.environ.get("SYMLAW_TEST_FULL") else {
    "effort": "low", "search": "exhaustive", "max_size": 5, "max_memory": 0.02, "n_jobs": 1}

# Checks of scikit-learn that are expected to fail, each with the reason.
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data":
        "a weight is 1/variance: it says how precise a row is, not how often it was seen, and the "
        "criterion of choice counts rows",
}


def expected(estimator=None):
    return EXPECTED_FAILURES


def checks():
    version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    how = {"expected_failed_checks": expected} if version >= (1, 6) else {}
    return parametrize_with_checks([SymbolicRegressor(**QUICK)], **how)


@checks()
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def frame(rows=60, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"Länge [m]": rng.uniform(1, 3, rows), "class": rng.uniform(1, 3, rows)})
    return X, pd.Series(2.5 * X["Länge [m]"] ** 2 / X["class"], name="F")


def test_names_formula_and_front():
    sympy = pytest.importorskip("sympy")
    X, y = frame()
    reg = SymbolicRegressor().fit(X, y)
    assert reg.formula_.same("5*`Länge [m]`^2/(2*class)") is True
    assert list(reg.feature_names_in_) == ["Länge [m]", "class"]
    assert "Länge" in reg.latex() and "Länge" in str(reg.formula_)
    assert {s.name for s in reg.sympy().free_symbols} == {"Länge [m]", "class"}
    at = {sympy.Symbol(n): v for n, v in X.iloc[3].items()}
    assert float(reg.sympy().subs(at)) == pytest.approx(reg.predict(X)[3], rel=1e-12)
    table = reg.candidates_
    assert table.formula[0] == str(reg.formula_) and table.front.any() and table.r2[0] > 0.999999
    assert reg.score(X, y) == pytest.approx(1)
    assert reg.discovery_.target == "F"
    assert reg.cut_ == ""


def test_another_candidate_can_be_selected():
    X, y = frame()
    reg = SymbolicRegressor(effort="low").fit(X, y)
    reg.select(1)
    assert str(reg.formula_) == reg.candidates_.formula[1]
    assert np.allclose(reg.predict(X), reg.formula_(X))


def test_it_pickles_and_clones():
    X, y = frame()
    reg = SymbolicRegressor(effort="low", random_state=3).fit(X, y)
    again = pickle.loads(pickle.dumps(reg))
    assert again.predict(X).tobytes() == reg.predict(X).tobytes()
    assert str(again.formula_) == str(reg.formula_)
    assert clone(reg).get_params() == reg.get_params()


def test_grid_search_with_two_processes():
    X, y = frame()
    y = y + np.random.default_rng(1).normal(0, 0.05, len(y))
    grid = GridSearchCV(SymbolicRegressor(effort="low", search="exhaustive", max_memory=0.02, fill="mean", n_jobs=1),
                        {"max_size": [3, 8]}, n_jobs=2, cv=2).fit(X, y)
    assert grid.best_params_ == {"max_size": 8} and grid.best_score_ > 0.98
    scores = cross_val_score(grid.best_estimator_, X, y, cv=2)
    assert scores.min() > 0.9


def fit_in_child(seed):
    X, y = frame(seed=seed)
    return str(SymbolicRegressor(effort="low").fit(X, y).formula_)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_after_a_fit(method):
    here = fit_in_child(0)  # threads have run, the model is open
    symlaw.discover(np.linspace(1, 2, 20), np.random.default_rng(0).normal(size=20), effort="low")
    with multiprocessing.get_context(method).Pool(2) as pool:
        answers = pool.map_async(fit_in_child, [0, 1, 2, 3]).get(timeout=240)
    assert answers[0] == here and len(answers) == 4


def test_rows_without_a_value_are_filled():
    X = np.linspace(0.1, 4, 40).reshape(-1, 1)
    y = np.log(X[:, 0])
    reg = SymbolicRegressor(effort="low").fit(X, y)
    assert np.isnan(reg.predict([[-1.0]])[0])
    assert reg.set_params(fill="mean").predict([[-1.0]])[0] == pytest.approx(y.mean())
    assert reg.set_params(fill=7).predict([[-1.0]])[0] == 7


def test_wrong_parameters_are_named_before_the_search():
    X, y = frame()
    with pytest.raises(ValueError, match="fill must be a number, 'mean' or None, not 'median'"):
        SymbolicRegressor(fill="median").fit(X, y)
    with pytest.raises(ValueError, match="column 'day' has values of type datetime64"):
        SymbolicRegressor().fit(X.assign(day=pd.date_range("2020", periods=len(X))), y)
    with pytest.raises(ValueError, match="n_jobs"):
        SymbolicRegressor(n_jobs=0).fit(X, y)


def test_options_lists_and_mappings():
    X, y = frame()
    reg = SymbolicRegressor(effort="high", n_jobs=-2, ops=["exp", "sin"], options={"effort": "low"},
                            units={"Länge [m]": "m", "class": "s", "F": "m^2/s"}).fit(X, y)
    assert reg.formula_.same("5*`Länge [m]`^2/(2*class)") is True


def test_of_many_columns_the_strongest_are_used():
    rng = np.random.default_rng(5)
    X = rng.uniform(1, 2, (120, 30))
    reg = SymbolicRegressor(effort="low").fit(X, X[:, 21] * X[:, 4])
    assert len(reg.inputs_) == 16 and {4, 21} <= set(reg.inputs_)
    assert reg.formula_.same(symlaw.Formula("x5*x22", names=reg.formula_.names)) is True
    assert np.allclose(reg.predict(X), X[:, 21] * X[:, 4])


def test_a_notebook_shows_formula_figure_and_front():
    X, y = frame()
    reg = SymbolicRegressor(effort="low")
    assert "SymbolicRegressor" in reg._repr_html_()
    page = reg.fit(X, y)._repr_mimebundle_()["text/html"]
    assert "<math" in page and "<svg" in page and "<table>" in page and "Länge" in page


def test_an_interrupted_fit_is_a_fit():
    from test_discover import hard
    X, y = hard()

    def stop(event):
        if event.kind == "front":
            raise KeyboardInterrupt

    reg = SymbolicRegressor(effort="high", on_event=stop)
    with pytest.raises(KeyboardInterrupt):
        reg.fit(X, y)
    assert reg.cut_ == "cancel" and reg.predict(X).shape == y.shape


def test_the_module_imports_without_optional_packages():
    code = """
import sys
for name in ("sklearn", "pandas", "sympy", "scipy"): sys.modules[name] = None
import numpy as np, symlaw
x = np.linspace(1, 9, 30)
found = symlaw.discover(x, x**1.5/7)
print(found.formula)
for call in (lambda: symlaw.SymbolicRegressor, found.table, found.formula.sympy):
    try: call()
    except ImportError as error: print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == [
        "x1^(3/2)/7",
        "symlaw.SymbolicRegressor needs scikit-learn: pip install scikit-learn",
        "Discovery.table needs pandas: pip install pandas",
        "Formula.sympy needs sympy: pip install sympy"], done.stdout + done.stderr
