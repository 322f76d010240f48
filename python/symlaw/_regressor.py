"""Symbolic regression as an estimator of scikit-learn."""
from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np

from ._discovery import Discovery, discover, target_name
from ._formula import Formula, as_columns, column_names, needs
from ._library import EventCallback

needs("sklearn", "symlaw.SymbolicRegressor", "scikit-learn")

from joblib import effective_n_jobs  # noqa: E402
from sklearn.base import BaseEstimator, RegressorMixin  # noqa: E402
from sklearn.utils.validation import (_check_sample_weight, check_is_fitted,  # noqa: E402
                                      check_random_state)

if TYPE_CHECKING:
    import pandas
    from sympy import Expr

__all__ = ["SymbolicRegressor"]


class SymbolicRegressor(RegressorMixin, BaseEstimator):
    """Finds a formula for y.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"m": np.linspace(1, 2, 20), "v": np.linspace(3, 1, 20)**2})
    >>> reg = SymbolicRegressor().fit(X, X.m * X.v**2 / 2)
    >>> print(reg.formula_)
    m*v^2/2
    >>> reg.sympy(), round(reg.score(X, X.m * X.v**2 / 2), 6)
    (m*v**2/2, 1.0)

    Parameters
    ----------
    effort : "low", "normal" or "high"
        The amount of work. The result does not depend on time or threads.
    max_time : float, optional
        Seconds after which the best formula so far is taken. None: no limit.
    random_state : int, RandomState or None
        Seed of what is random: samples of the model, the rows of `holdout`.
    ops : str or list, optional
        Functions and operators of formulas, as "exp,sin,sqrt". Sums, products and powers are
        always allowed. None: all.
    max_size : int
        Largest number of nodes of a formula; 0: any.
    search : "both", "exhaustive" or "model"
        Source of formulas: the search, and a model where the search finds nothing within the
        noise; or one of the two.
    model : str or path, optional
        A run's folder or a file of weights; None: the one of the package.
    sigma : float, optional
        Standard deviation of the errors of y. None: estimated.
    units : str or mapping, optional
        Units of columns, as "m=kg,v=m/s,E=J"; the target is called `target`.
    holdout : float
        Part of the rows that is held out to judge by (`candidates_.holdout_r2`).
    fill : float or "mean", optional
        What `predict` returns where the formula has no real value; "mean" is that of the training
        target. None: NaN.
    max_memory : float
        Largest memory of the search, in GB.
    n_jobs : int, optional
        Threads; None: one per core; -1, -2, ... count back from that, as in scikit-learn. The
        result does not depend on it.
    target : str
        Name of y in what is shown; the name of a pandas series wins.
    verbose : int
        Not 0: progress on standard error.
    on_event : callable, optional
        Gets every `symlaw.Event`; a true answer ends the fit with the best so far.
    options : dict, optional
        Further options of `symlaw discover`; they override parameters.

    Attributes
    ----------
    formula_ : symlaw.Formula
        The best formula; `str(reg.formula_)` is its text.
    candidates_ : pandas.DataFrame
        Every formula that was ranked, the best first; those with `front` are the trade-off between
        size and error.
    discovery_ : symlaw.Discovery
        All of it.
    cut_ : str
        "time" or "cancel" if the fit ended early.

    Of more than 16 inputs those that explain most of y are used (`inputs_`). Ctrl-C ends a fit with
    the best formula so far: the estimator is fitted, and KeyboardInterrupt is raised."""

    def __init__(self, *, effort: str = "normal", max_time: Optional[float] = None,
                 random_state: Any = 0, ops: Union[None, str, Sequence[str]] = None,
                 max_size: int = 0, search: str = "both", model: Any = None,
                 sigma: Optional[float] = None,
                 units: Union[None, str, Mapping[str, str]] = None, holdout: float = 0.0,
                 fill: Union[None, float, str] = None, max_memory: float = 1.0,
                 n_jobs: Optional[int] = None, target: str = "y", verbose: int = 0,
                 on_event: Optional[EventCallback] = None,
                 options: Optional[Mapping[str, Any]] = None) -> None:
        self.effort = effort
        self.max_time = max_time
        self.random_state = random_state
        self.ops = ops
        self.max_size = max_size
        self.search = search
        self.model = model
        self.sigma = sigma
        self.units = units
        self.holdout = holdout
        self.fill = fill
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.target = target
        self.verbose = verbose
        self.on_event = on_event
        self.options = options

    # ------------------------------------------------------------ scikit-learn

    def _checked(self, X: Any, y: Any = None, **how: Any) -> Any:
        """validate_data of scikit-learn 1.6 and later, or what came before it."""
        try:
            from sklearn.utils.validation import validate_data
        except ImportError:
            return self._validate_data(X, **({} if y is None else {"y": y}), **how)
        return validate_data(self, X, **({} if y is None else {"y": y}), **how)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "SymbolicRegressor":
        """Looks for a formula of the columns of X.

        sample_weight: 1/variance of each y up to a factor; rows of weight 0 are left out."""
        if y is None:
            raise ValueError("this estimator requires y to be passed, but the target y is None")
        target = target_name(y, column_names(X) or (), self.target)
        if hasattr(X, "columns"):
            as_columns(X)  # its errors name the column
        X, y = self._checked(X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        y = np.asarray(y, dtype=np.float64)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        self.y_mean_ = float(np.average(y, weights=sample_weight))
        if self.fill is not None:
            self._fill()  # fails now rather than after the search
        options = {"effort": self.effort, "max_time": self.max_time, "search": self.search,
                   "model": self.model, "sigma": self.sigma, "random_state": self._seed(),
                   "threads": 0 if self.n_jobs is None else effective_n_jobs(self.n_jobs),
                   "ops": self.ops, "max_size": self.max_size, "units": self.units,
                   "holdout": self.holdout, "max_memory": self.max_memory,
                   "verbose": self.verbose, "on_event": self.on_event, **(self.options or {})}
        try:
            found = discover(X, y, names=getattr(self, "feature_names_in_", None), target=target,
                             sample_weight=sample_weight, **options)
        except BaseException as error:
            partial = getattr(error, "discovery", None)
            if partial is not None and len(partial) > 0:
                self._take(partial)
            raise
        self._take(found)
        return self

    def _seed(self) -> int:
        if isinstance(self.random_state, numbers.Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _take(self, found: Discovery) -> None:
        if len(found) == 0:
            raise ValueError("no formula was found that is real in every row; with search='model' "
                             "try search='both'")
        self.discovery_ = found
        self.inputs_ = np.array(found.inputs)
        self.formula_: Formula = found.formula
        self.cut_ = found.cut
        self.select(0)

    def select(self, place: int) -> "SymbolicRegressor":
        """Takes another candidate as the formula: the row of `candidates_` with this number."""
        check_is_fitted(self, "discovery_")
        self.formula_ = self.discovery_[place].formula
        self.place_ = place
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Values of the formula; `fill` where it has none."""
        check_is_fitted(self, "formula_")
        X = self._checked(X, dtype=np.float64, reset=False)
        y = self.formula_._eval([np.ascontiguousarray(X[:, i]) for i in self.inputs_])
        if self.fill is not None:
            y[~np.isfinite(y)] = self._fill()
        return y

    def _fill(self) -> float:
        """The value of `fill`."""
        if self.fill == "mean":
            return self.y_mean_
        if isinstance(self.fill, numbers.Real):
            return float(self.fill)
        raise ValueError(f"fill must be a number, 'mean' or None, not {self.fill!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "formula_")

    # ------------------------------------------------------------ formulas

    @property
    def candidates_(self) -> "pandas.DataFrame":
        check_is_fitted(self, "discovery_")
        return self.discovery_.table()

    def sympy(self) -> "Expr":
        """The formula as an expression of SymPy with the columns' names."""
        check_is_fitted(self, "formula_")
        return self.formula_.sympy()

    def latex(self) -> str:
        """The formula as LaTeX with the columns' names."""
        check_is_fitted(self, "formula_")
        return self.formula_.latex()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        if not self.__sklearn_is_fitted__():
            return super()._repr_mimebundle_(**kwargs)
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        """Formula, figure and front, for a notebook."""
        if not self.__sklearn_is_fitted__():
            inner = super()._repr_html_
            return inner() if callable(inner) else str(inner)
        return self.discovery_._repr_html_()
