"""Discovery: rows of numbers in, formulas out."""
from __future__ import annotations

import ctypes
import html
import json
import math
import os
import re
import threading
from ctypes import byref, c_double, c_int
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence

import numpy as np

from ._command import joined, options_json
from ._formula import Formula, as_column, as_columns, column_names, needs
from ._library import (EventCallback, Handle, Rows, SymlawError, column_array, encoded, lib, made,
                       name_array, printed, run)

if TYPE_CHECKING:
    import pandas

__all__ = ["discover", "Discovery", "Candidate"]

MAX_INPUTS = 16
_PICTURE_ROWS = 2000  # more cannot be told apart in a figure
_RENAMED = {"timeout": "max_time", "seed": "random_state"}  # options that have other names here


@dataclass(frozen=True)
class Candidate:
    """One formula with how well it does. See the C header, symlaw_discovery_*."""

    formula: Formula
    size: int                #: nodes
    r2: float                #: on the rows that were fitted
    rmse: float              #: root mean square error, in the unit of y
    bits: float              #: description length of formula and residuals
    evidence: float          #: by chance a formula as good is found once in 2**evidence
    front: bool              #: no simpler one is as good
    source: str              #: "search", "model" or "baseline"
    status: str              #: "scored", "refined" or "snapped"
    holdout_r2: float        #: on the rows that were held out; NaN without
    log_prob: float          #: of the model; -inf: not by the model
    errors: tuple[float, ...] = ()  #: standard errors of the formula's constants

    @property
    def constants(self) -> tuple[float, ...]:
        return tuple(self.formula.constants)


class _Data:
    """Rows as the library takes them; keeps what the struct points to."""

    def __init__(self, columns: Sequence[np.ndarray], y: np.ndarray, names: Optional[Sequence[str]],
                 target: Optional[str], sigma: Optional[np.ndarray], relative: bool) -> None:
        self.columns, self.y, self.sigma = list(columns), y, sigma
        self.names, self.target, self.relative = names, target, relative
        pointers, texts = column_array(self.columns), name_array(names)
        self._kept = (pointers, texts)
        self.rows = Rows(ctypes.sizeof(Rows), pointers, len(self.columns), y.ctypes.data, len(y),
                         texts, encoded(target), None if sigma is None else sigma.ctypes.data,
                         int(relative))

    def sample(self, n: int) -> "_Data":
        """At most n rows, spread evenly."""
        if len(self.y) <= n:
            pick = np.arange(len(self.y))
        else:
            pick = np.arange(n) * len(self.y) // n

        def part(a: Optional[np.ndarray]) -> Optional[np.ndarray]:
            return None if a is None else np.ascontiguousarray(a[pick])

        return _Data([part(c) for c in self.columns], part(self.y), self.names,  # type: ignore
                     self.target, part(self.sigma), self.relative)


@dataclass(repr=False)
class Discovery:
    """What `discover` has found: candidates, the best first.

    Indexing and iteration give candidates; `formula` is the best. cut: "time" or "cancel" if the
    work ended early, else "". within_noise: the best formula leaves no more than the noise of y, as
    far as the search can tell. details: the JSON object of all that was looked at. inputs: which
    columns of X the variables are, from 0; with more than 16 columns not all of them."""

    candidates: list[Candidate]
    cut: str
    within_noise: bool
    details: dict[str, Any]
    names: tuple[str, ...]
    target: str
    inputs: tuple[int, ...]
    _handle: Optional[Handle] = None
    _data: Optional[_Data] = None

    @property
    def formula(self) -> Formula:
        if not self.candidates:
            raise ValueError("no formula was found that is real in every row")
        return self.candidates[0].formula

    def __len__(self) -> int:
        return len(self.candidates)

    def __getitem__(self, i: int) -> Candidate:
        return self.candidates[i]

    @property
    def front(self) -> list[Candidate]:
        """Candidates that no simpler one equals, by size."""
        return sorted((c for c in self.candidates if c.front), key=lambda c: c.size)

    def table(self, front: bool = False) -> "pandas.DataFrame":
        """The candidates, or those of the front, as a data frame."""
        pandas = needs("pandas", "Discovery.table")
        chosen = self.front if front else self.candidates
        return pandas.DataFrame({
            "formula": [str(c.formula) for c in chosen],
            "size": [c.size for c in chosen],
            "r2": [c.r2 for c in chosen],
            "rmse": [c.rmse for c in chosen],
            "bits": [c.bits for c in chosen],
            "evidence": [c.evidence for c in chosen],
            "front": [c.front for c in chosen],
            "source": [c.source for c in chosen],
            "status": [c.status for c in chosen],
            "holdout_r2": [c.holdout_r2 for c in chosen],
        })

    def svg(self) -> Optional[str]:
        """A figure of data, best formula and residuals; None after unpickling, without the data."""
        if self._handle is None or self._data is None:
            return None
        return printed(lib.discovery_picture, self._handle.pointer, byref(self._data.rows))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_handle": None, "_data": None}

    def __str__(self) -> str:
        if not self.candidates:
            return "no formula"
        best = self.candidates[0]
        return f"{self.target} = {best.formula}   R2 {best.r2:.6g}, size {best.size}{self._doubt()}"

    def __repr__(self) -> str:
        return f"<symlaw.Discovery of {len(self)} formulas: {self}>"

    def _doubt(self) -> str:
        """What to know beside the formula."""
        return ("" if self.within_noise else "  (no formula within the noise: the best approximation)"
                ) + (f"  (ended early: {self.cut})" if self.cut else "")

    def _repr_html_(self) -> str:
        if not self.candidates:
            return "<p>no formula was found</p>"
        best = self.candidates[0]
        rows = "".join(
            f"<tr><td>{c.size}</td><td>{c.r2:.6g}</td><td>{c.rmse:.3g}</td><td>{c.bits:.4g}</td>"
            f"<td style='text-align:left'>{_shown(c.formula).mathml()}</td></tr>"
            for c in self.front)
        return f"""<div class='symlaw'>
<p style='font-size:140%'><math><mi>{html.escape(self.target)}</mi><mo>=</mo></math>
{_shown(best.formula).mathml()}</p>
<p>R<sup>2</sup> {best.r2:.6g}, rms error {best.rmse:.3g}, size {best.size}{self._doubt()}</p>
{self.svg() or ''}
<div style='overflow-x:auto'><table>
<thead><tr><th>size</th><th>R<sup>2</sup></th><th>rms error</th><th>bits</th>
<th style='text-align:left'>front</th></tr></thead>
<tbody>{rows}</tbody></table></div></div>"""


def _shown(f: Formula) -> Formula:
    """The formula with its constants to six digits, for a page."""
    return f.bind([float(f"{value:.6g}") for value in f.constants])


# ---------------------------------------------------------------- the model ---------------------

_models: dict[str, Handle] = {}
_models_lock = threading.Lock()


def _model(path: Optional[str]) -> Optional[Handle]:
    """A model by path, kept for later calls. The default one may be missing."""
    key = path or "\0".join((os.environ.get("SYMLAW_MODEL", ""), os.getcwd()))
    with _models_lock:
        if key not in _models:
            try:
                _models[key] = made("model_close", lib.model_open, encoded(path))
            except SymlawError as error:
                if path is None and error.status == -1:
                    return None  # there is none: the search works alone
                raise
        return _models[key]


# ---------------------------------------------------------------- the call ----------------------


def discover(X: Any, y: Any, *, names: Optional[Sequence[str]] = None, target: Optional[str] = None,
             sample_weight: Any = None, sigma: Any = None, effort: str = "normal",
             max_time: Optional[float] = None, search: str = "both", model: Any = None,
             random_state: int = 0, threads: int = 0, verbose: Any = False,
             on_event: Optional[EventCallback] = None, **options: Any) -> Discovery:
    """Formulas for y as a function of the columns of X, the best first.

    >>> x = np.linspace(1, 9, 30)
    >>> found = discover(x, x**1.5 / 7, names=["a"], target="T")
    >>> print(found.formula, found.within_noise)
    a^(3/2)/7 True

    X: rows and columns, an array or a data frame, whose column names are used. Of more than 16
    columns those that explain most of y are used (`Discovery.inputs`).
    sample_weight: 1/variance of each y up to a factor; rows of weight 0 are left out.
    sigma: standard deviation of y: a number, or one for each row; by default it is estimated.
    effort: "low", "normal" or "high": the amount of work, so the result does not depend on time.
    max_time: seconds after which the best so far is returned.
    search: "both", "exhaustive" (no model) or "model".
    model: a folder of a run or a file of weights; None: the usual one.
    options: any other of `symlaw discover`: ops (a text or a list), max_size, max_memory, units (a
    text or a mapping of names), holdout, samples, ...

    On Ctrl-C the work stops, and what was found by then is the attribute `discovery` of the
    KeyboardInterrupt."""
    columns = as_columns(X)
    if names is None:
        names = column_names(X)
    if target is None:
        target = (column_names(y) or ["y"])[0]
    if names is not None and len(names) != len(columns):
        raise ValueError(f"{len(names)} names for {len(columns)} columns")
    if not columns:
        raise ValueError("X has no columns")
    target_values = as_column(y)
    if any(len(c) != len(target_values) for c in columns):
        raise ValueError(f"X has {len(columns[0])} rows, y has {len(target_values)}")
    columns, target_values, errors, relative, sigma_value = _errors(columns, target_values,
                                                                     sample_weight, sigma)
    data = _Data(columns, target_values, names, target, errors, relative)
    inputs = tuple(range(len(columns)))
    if len(columns) > MAX_INPUTS:
        chosen = (c_int * MAX_INPUTS)()
        lib.rows_choose_inputs(chosen, byref(data.rows), MAX_INPUTS, random_state)
        inputs = tuple(chosen)
        every = names or [f"x{i + 1}" for i in range(len(columns))]
        data = _Data([columns[i] for i in inputs], target_values, [every[i] for i in inputs],
                     target, errors, relative)
    if "ops" in options:
        options["ops"] = joined(options["ops"])
    if isinstance(options.get("units"), Mapping):
        options["units"] = ",".join(f'"{name}"={unit}' for name, unit in options["units"].items())
    text = options_json({"effort": effort, "search": search, "timeout": max_time or 0.0,
                         "seed": random_state, "threads": threads, "sigma": sigma_value, **options})
    taken = None if search == "exhaustive" else _model(None if model is None else os.fspath(model))

    def call(callback: Any) -> Discovery:
        handle = made("discovery_free", lib.discover_rows, taken.pointer if taken else None,
                      byref(data.rows), text, callback, None)
        return _collected(handle, data, inputs)

    kept: list[Discovery] = []
    try:
        return run(call, on_event, kept.append, verbose)
    except SymlawError as error:
        error.args = (re.sub(r"^(timeout|seed)\b", lambda m: _RENAMED[m[0]], str(error)),)
        raise
    except BaseException as error:
        if kept:
            error.discovery = kept[0]  # type: ignore[attr-defined]
        raise


def _errors(columns: list[np.ndarray], y: np.ndarray, weight: Any, sigma: Any) -> Any:
    """Columns and y without rows of weight 0; errors by row, or None; are those relative? And the
    one sigma of all rows, or None."""
    if weight is not None and sigma is not None:
        raise ValueError("sample_weight and sigma both say how good rows are; give one")
    if weight is not None:
        weight = np.broadcast_to(np.asarray(weight, dtype=np.float64), y.shape)
        if not np.all(np.isfinite(weight)) or np.any(weight < 0):
            raise ValueError("sample_weight must be finite numbers, none below 0")
        use = weight > 0
        if not np.all(use):
            columns = [np.ascontiguousarray(c[use]) for c in columns]
            y, weight = y[use], weight[use]
        if len(weight) == 0 or np.all(weight == weight[0]):
            return columns, y, None, False, None
        return columns, y, np.ascontiguousarray(1 / np.sqrt(weight)), True, None
    if sigma is None or np.ndim(sigma) == 0:
        return columns, y, None, False, None if sigma is None else float(sigma)
    return columns, y, as_column(np.broadcast_to(sigma, y.shape)), False, None


def _collected(handle: Handle, data: _Data, inputs: tuple[int, ...]) -> Discovery:
    f = handle.pointer
    names = None if data.names is None else list(data.names)
    found = []
    for i in range(lib.discovery_count(f)):
        errors = []
        for k in range(lib.discovery_constants(f, i)):
            error = c_double(math.nan)
            lib.discovery_constant(f, i, k, byref(error))
            errors.append(error.value)
        formula = Formula._of(made("formula_free", lib.discovery_formula, f, i), names)
        found.append(Candidate(
            formula, lib.discovery_size(f, i), lib.discovery_r2(f, i), lib.discovery_rmse(f, i),
            lib.discovery_bits(f, i), lib.discovery_evidence(f, i),
            bool(lib.discovery_on_front(f, i)), lib.discovery_source(f, i).decode(),
            lib.discovery_status(f, i).decode(), lib.discovery_holdout_r2(f, i),
            lib.discovery_log_prob(f, i), tuple(errors)))
    details: Mapping[str, Any] = json.loads(printed(lib.discovery_json, f))
    plain = tuple(names) if names else tuple(f"x{i + 1}" for i in range(len(data.columns)))
    return Discovery(found, lib.discovery_cut(f).decode(),
                     bool(lib.discovery_within_noise(f)), dict(details), plain,
                     data.target or "y", inputs, handle, data.sample(_PICTURE_ROWS))
