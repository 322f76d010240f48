"""Formula: text, names, values, comparison, storing."""
import pickle

import numpy as np
import pytest

import symlaw
from symlaw import Formula

ODD = ["Länge [m]", "x 1", "lambda", "class"]


def test_text_of_every_format_is_the_same_function():
    f = Formula("x1*sin(x2) - sqrt(x1)/3")
    assert str(f) == f.text("infix")
    for format in ("infix", "python", "sympy", "c"):
        assert f.same(f.text(format)) is True
    for format in ("latex", "prefix"):
        assert f.same(Formula(f.text(format), format)) is True
    assert f.mathml().startswith("<math")
    assert f.nodes > 5 and f.variables == 2


def test_odd_names_stay():
    sympy = pytest.importorskip("sympy")
    f = Formula("`Länge [m]`^2*class/(3*lambda) + `x 1`", names=ODD)
    assert "`Länge [m]`" in str(f) and "class" in str(f)
    assert "Länge" in f.latex() and "lambda" in f.latex()
    e = f.sympy()
    assert {s.name for s in e.free_symbols} == set(ODD)
    x = np.random.default_rng(0).uniform(1, 2, (5, 4))
    values = [float(e.subs({sympy.Symbol(n): v for n, v in zip(ODD, row)})) for row in x]
    assert np.allclose(values, f(x), rtol=1e-13)


def test_names_that_are_those_of_other_columns():
    pytest.importorskip("sympy")
    x = np.array([[2.0, 3.0, 5.0]])
    for names in (["x0", "x1", "x2"], ["x2", "x3", "x1"], ["c1", "x1", "exp"]):
        f = Formula("c1*x1^2 - x2/x3").bind([0.5], names)
        e = f.sympy()
        assert {s.name for s in e.free_symbols} == set(names)
        assert float(e.subs(dict(zip([s for n in names for s in e.free_symbols if s.name == n], x[0])))) \
            == pytest.approx(f(x)[0], rel=1e-14)
        assert f(dict(zip(names, x.T)))[0] == f(x)[0]


def test_values_by_array_mapping_and_name():
    f = Formula("a - 2*b", names=["a", "b"])
    assert f([[1, 2], [3, 4]]).tolist() == [-3, -5]
    assert f({"b": [2, 4], "a": [1, 3], "c": ["no", "numbers"]}).tolist() == [-3, -5]
    assert f(a=1, b=np.array([2, 4])).tolist() == [-3, -7]
    assert np.isnan(Formula("log(x1)")([[-1.0]])[0])
    with pytest.raises(ValueError, match="no column 'b'"):
        f({"a": [1]})
    with pytest.raises(ValueError, match="x2"):
        Formula("x2")([[1.0]])


def test_frames_are_taken_by_name():
    pd = pytest.importorskip("pandas")
    f = Formula("a - 2*b", names=["a", "b"])
    frame = pd.DataFrame({"b": [2, 4], "z": [0, 0], "a": [1, 3]})
    assert f(frame).tolist() == [-3, -5]
    assert f(pd.DataFrame({0: [1, 3], 1: [2, 4]})).tolist() == [-3, -5]


def test_constants_can_be_bound_and_freed():
    f = Formula("c1*exp(c2*x1)")
    assert np.isnan(f.constants).all() and len(f.constants) == 2
    g = f.bind([3, -1e-30], names=["t"])
    assert g.names == ("t",) and g.constants.tolist() == [3, -1e-30]
    assert str(g.bind()) == "c1*exp(t*c2)"
    assert g([[2.0]])[0] == pytest.approx(3)
    with pytest.raises(ValueError, match="1 values for 2 constants"):
        f.bind([1])


def test_a_pickled_formula_has_the_same_bits():
    x = np.random.default_rng(1).uniform(0.5, 2, (64, 3))
    for text, values in (("c1*x1^c2/(x3 + c3)", [1e-30, 0.1, 2.5e100]), ("x1 - x2/3 + x3^(2/3)", []),
                         ("c1*sin(c2*x2 + c1) - x1*exp(-x3)/7", [-0.3, 11.25])):
        for names in (None, ["c1", "x 1", "x2"]):
            f = Formula(text).bind(values, names)
            g = pickle.loads(pickle.dumps(f))
            assert g(x).tobytes() == f(x).tobytes() and str(g) == str(f) and g.names == f.names
    free = pickle.loads(pickle.dumps(Formula("c1*x1")))
    assert str(free) == str(Formula("c1*x1")) and np.isnan(free.constants).all()


def test_derivatives_are_exact():
    f = Formula("c1*x1^3*sin(x2)").bind([0.5], names=["x 1", "b"])
    d = f.derivative("x 1")
    assert d.names == ("x 1", "b") and d.constants.tolist() == [0.5]
    x = np.array([[2.0, 0.3], [1.5, -1]])
    assert np.allclose(d(x), 1.5 * x[:, 0] ** 2 * np.sin(x[:, 1]), rtol=1e-14)
    assert str(f.derivative(2)) == str(f.derivative("b"))
    with pytest.raises(ValueError, match="no variable 'q'"):
        f.derivative("q")


def test_exact_text_has_fractions_only():
    f = Formula("c1*x1^c2 + c3*exp(x2)/x3 - x1/3").bind([0.1, -2.5e-7, 3e20], ["x2", "E1", "mass"])
    text = f.exact_text()
    assert "." not in text and "e-" not in text
    value = eval(text, {"x2": 1.7, "E1": 0.3, "mass": 4.0, "exp": np.exp, "Rational": lambda p, q: p / q})
    assert value == pytest.approx(f([[1.7, 0.3, 4.0]])[0], rel=1e-12)


def test_same_has_three_answers():
    assert Formula("exp(x1)*exp(x2)").same("exp(x1 + x2)") is True
    assert Formula("x1").same("x2") is False
    assert str(Formula("(x1 + 1)^2 - 1").canon()) == "x1^2 + 2*x1"


def test_errors_are_exceptions():
    with pytest.raises(symlaw.SymlawError, match="column 4") as info:
        Formula("x1+*")
    assert isinstance(info.value, ValueError)
    assert info.value.status == -2 and info.value.status_text == "malformed input"
    with pytest.raises(ValueError, match="unknown format"):
        Formula("x1").text("klingon")
    for call in (symlaw.Formula, Formula("x1").same):
        with pytest.raises(TypeError, match="a text is needed, not 3"):
            call(3)
    with pytest.raises(ValueError, match="no column 'x1'; there are none"):
        Formula("x1")()
    with pytest.raises(ValueError, match="NUL"):
        Formula("x1\0")
