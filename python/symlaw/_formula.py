"""Formulas: text in and out, values, and comparison."""
from __future__ import annotations

import re
from ctypes import byref
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np

from ._library import (Handle, Truth, column_array, encoded, lib, made, name_array, printed)

if TYPE_CHECKING:
    from sympy import Expr

__all__ = ["Formula"]


def needs(module: str, what: str, package: Optional[str] = None) -> Any:
    """An optional module, or an error that says how to get it."""
    import importlib
    try:
        return importlib.import_module(module)
    except ImportError:
        package = package or module
        raise ImportError(f"{what} needs {package}: pip install {package}") from None


class Formula:
    """An expression over x1, x2, ... or over named columns.

    >>> f = Formula("x1*sin(x2)/2")
    >>> f.latex()
    '\\\\frac{x_1 \\\\sin(x_2)}{2}'
    >>> f([[1.0, 0.0], [2.0, 0.5]])
    array([0.        , 0.47942554])
    >>> Formula("(a + b)^2", names=["a", "b"]).same("a^2 + 2*a*b + b^2")
    True

    Numbers are exact: 0.5 is one half. A formula that was fitted to data also has constants that
    are doubles (`constants`). c1, c2, ... in a text are constants that have no value yet; `bind`
    gives them one.

    text: in `format` "infix" (which also reads Python, SymPy and C), "latex" or "prefix".
    names: of x1, x2, ...; then no other variable exists."""

    __slots__ = ("_handle", "_names")

    def __init__(self, text: str, format: str = "infix",
                 names: Optional[Sequence[str]] = None) -> None:
        self._names = None if names is None else as_names(names)
        self._handle = made("formula_free", lib.formula_parse, encoded(text), encoded(format),
                            name_array(self._names), len(self._names or ()))

    @classmethod
    def _of(cls, handle: Handle, names: Optional[Sequence[str]]) -> "Formula":
        self = cls.__new__(cls)
        self._handle = handle
        self._names = None if names is None else as_names(names)
        return self

    # ------------------------------------------------------------ text

    def text(self, format: str = "infix") -> str:
        """In "infix", "python", "sympy", "latex", "mathml", "c", "prefix", ..."""
        return printed(lib.formula_print, self._handle.pointer, encoded(format))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        plain = self._names is None or self._names == plain_names(len(self._names))
        names = "" if plain else f", names={list(self.names)!r}"
        return f"Formula({self.text()!r}{names})"

    def latex(self) -> str:
        return self.text("latex")

    def mathml(self) -> str:
        return self.text("mathml")

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def sympy(self) -> "Expr":
        """The formula as an expression of SymPy, whose symbols have the columns' names.

        >>> Formula("mass*speed^2/2", names=["mass", "speed"]).sympy()
        mass*speed**2/2"""
        sympy = needs("sympy", "Formula.sympy")
        symbols = {f"x{i + 1}": sympy.Symbol(name) for i, name in enumerate(self.names)}
        symbols.update({f"c{k + 1}": sympy.Symbol(f"c{k + 1}") for k in range(len(self.constants))})
        return sympy.sympify(self._plain().text("sympy"), locals=symbols)

    def _plain(self) -> "Formula":
        """The same with variables x1, x2, ...: a column may be called x2 and be another one."""
        values = self.constants
        return self.bind(None if np.isnan(values).any() else values,
                         plain_names(len(self.names)))

    def exact_text(self, digits: int = 12) -> str:
        """Text for SymPy with the columns' names, in which every number is an integer or a
        fraction: for readers that round decimals. A fitted constant keeps this many digits.

        >>> Formula("c1*sqrt(x1)/3").bind([0.125], names=["mass"]).exact_text()
        '(1/8)*sqrt(mass)/3'"""
        def exact(match: "re.Match[str]") -> str:
            value = Fraction(f"{float(match.group()):.{digits}g}")
            return str(value) if value.denominator == 1 else f"({value})"

        text = re.sub(r"(?<![\w.])(\d+\.\d*(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)", exact,
                      self._plain().text("sympy"))
        names = self.names
        return re.sub(r"\bx(\d+)\b", lambda match: names[int(match.group(1)) - 1], text)

    # ------------------------------------------------------------ parts

    @property
    def names(self) -> tuple[str, ...]:
        """Of its variables; x1, x2, ... by default."""
        if self._names is not None:
            return self._names
        return plain_names(self.variables)

    @property
    def nodes(self) -> int:
        """Its size: nodes of the tree."""
        return lib.formula_nodes(self._handle.pointer)

    @property
    def variables(self) -> int:
        """The highest number of a variable that it has."""
        return lib.formula_variables(self._handle.pointer)

    @property
    def constants(self) -> np.ndarray:
        """Fitted constants in the order of c1, c2, ...; NaN: it has no value.

        >>> Formula("c1*x1 + c2").bind([2.5, -1]).constants
        array([ 2.5, -1. ])"""
        p = self._handle.pointer
        return np.array([lib.formula_constant(p, k) for k in range(lib.formula_constants(p))])

    def bind(self, values: Union[Sequence[float], np.ndarray, None] = None,
             names: Optional[Sequence[str]] = None) -> "Formula":
        """The formula with these values of its constants, and these names.

        values None: constants without values, written c1, c2, ...

        >>> f = Formula("c1*exp(c2*x1)").bind([3, -0.5], names=["t"])
        >>> print(f, "|", f.bind())
        3*exp(-0.5*t) | c1*exp(t*c2)"""
        numbers = None if values is None else as_column(values, "values")
        new = self._names if names is None else as_names(names)
        handle = made("formula_free", lib.formula_bind, self._handle.pointer,
                      None if numbers is None else numbers.ctypes.data,
                      0 if numbers is None else len(numbers), name_array(new), len(new or ()))
        return Formula._of(handle, new)

    # ------------------------------------------------------------ algebra

    def canon(self) -> "Formula":
        """The canonical form: expanded, simplified, in one fixed order."""
        handle = made("formula_free", lib.formula_canon, self._handle.pointer)
        return Formula._of(handle, self._names)

    def same(self, other: Union["Formula", str]) -> Optional[bool]:
        """Is it the same function wherever both are real? None: undecided.

        >>> Formula("exp(x1)*exp(x2)").same("exp(x1 + x2)")
        True"""
        if not isinstance(other, Formula):
            other = Formula(other, names=self._names)
        truth = Truth()
        lib.formula_same(byref(truth), self._handle.pointer, other._handle.pointer)
        return None if truth.answer == 0 else truth.answer > 0

    def derivative(self, name: Union[str, int]) -> "Formula":
        """The exact derivative with respect to a variable, by name or number from 1.

        >>> print(Formula("a*exp(-b)", names=["a", "b"]).derivative("b"))
        -a*exp(-b)"""
        number = name if isinstance(name, int) else self._number(name)
        handle = made("formula_free", lib.formula_derivative, self._handle.pointer, number)
        return Formula._of(handle, self._names)

    def _number(self, name: str) -> int:
        if name in self.names:
            return self.names.index(name) + 1
        raise ValueError(f"no variable {name!r}; there are {', '.join(map(repr, self.names))}")

    # ------------------------------------------------------------ values

    def __call__(self, X: Any = None, **columns: Any) -> np.ndarray:
        """Its values, NaN where it is not real.

        X: an array of shape (rows, inputs), a data frame or mapping with columns of its names (a
        frame without them is taken column by column). Or columns by name: f(x1=..., x2=...)."""
        return self._eval(_columns(X, columns, self))

    def _eval(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        n = len(columns[0]) if columns else 1
        y = np.empty(n)
        lib.formula_eval(y.ctypes.data, self._handle.pointer, column_array(columns), len(columns),
                         n)
        return y

    # ------------------------------------------------------------ storing

    def _stored(self) -> tuple[str, Optional[list[float]], Optional[tuple[str, ...]]]:
        """Text with free constants, their values, and names: reading them gives the same bits."""
        values = self.constants
        free = bool(np.isnan(values).any())
        return self._plain().bind().text("prefix"), None if free else values.tolist(), self._names

    def __reduce__(self) -> Any:
        return _restored, self._stored()


def _restored(text: str, values: Optional[list[float]],
              names: Optional[tuple[str, ...]]) -> Formula:
    return Formula(text, "prefix").bind(values, names)


def plain_names(n: int) -> tuple[str, ...]:
    return tuple(f"x{i + 1}" for i in range(n))


def as_names(names: Sequence[str]) -> tuple[str, ...]:
    """Each name once, as the library writes them: one that is empty or repeats an earlier one is
    x<number>, with underscores before it where a column has that name."""
    texts = [str(name) for name in names]
    result = []
    for i, name in enumerate(texts):
        if not name or name in texts[:i]:
            name = f"x{i + 1}"
            while name in texts:
                name = "_" + name
        result.append(name)
    return tuple(result)


def column_names(X: Any) -> Optional[list[str]]:
    """Of a data frame, or of a series."""
    columns = getattr(X, "columns", None)
    if columns is not None:
        return [str(name) for name in columns]
    name = getattr(X, "name", None)
    return None if name is None or np.ndim(X) != 1 else [str(name)]


def _numbers(values: Any, what: str) -> np.ndarray:
    """values as doubles; `what` names them in errors."""
    if hasattr(values, "toarray"):
        raise TypeError(f"{what} is sparse; give the result of its method toarray()")
    kind = np.asarray(values).dtype
    if kind.kind in "cmM":
        raise ValueError(f"{what} has values of type {kind}; real numbers are needed")
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: {error}") from None


def as_column(values: Any, what: str = "y") -> np.ndarray:
    values = _numbers(values, what)
    if values.ndim > 1 and values.size != len(values):
        raise ValueError(f"{what} has the shape {values.shape}; one number for each row is needed")
    return np.ascontiguousarray(values).reshape(-1)


def as_columns(X: Any) -> list[np.ndarray]:
    """The columns of an array or a frame, contiguous doubles."""
    if hasattr(X, "iloc") and X.ndim == 2:  # a column of a frame has a type of its own
        return [as_column(X.iloc[:, i], f"column {name!r}") for i, name in enumerate(X.columns)]
    X = _numbers(X, "X")
    if X.ndim == 1:
        X = X.reshape(-1, 1)
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions; rows and columns are needed")
    return [np.ascontiguousarray(X[:, i]) for i in range(X.shape[1])]


def _columns(X: Any, columns: Mapping[str, Any], f: Formula) -> list[np.ndarray]:
    if X is not None and columns:
        raise TypeError("give X, or columns by name, not both")
    if X is None:
        X = columns
    keys = list(X if isinstance(X, Mapping) else getattr(X, "columns", ()))
    key_of = {str(key): key for key in keys}
    used = f.names[:f.variables]
    missing = [name for name in used if name not in key_of]
    if isinstance(X, Mapping) and missing:
        there = ", ".join(map(repr, key_of)) or "none"
        raise ValueError(f"no column {missing[0]!r}; there are {there}")
    if isinstance(X, Mapping) or (keys and not missing and len(key_of) == len(keys)):
        got = [_numbers(X[key_of[name]], f"column {name!r}") for name in used]
        if not got:
            return [np.zeros(max([np.size(X[key]) for key in keys], default=1))]
        return [as_column(column) for column in np.broadcast_arrays(*got)]
    result = as_columns(X)
    if f._names is not None and len(result) != len(f._names):
        raise ValueError(f"X has {len(result)} columns; the formula is of {len(f._names)}: "
                         f"{', '.join(map(repr, f._names))}")
    return result
