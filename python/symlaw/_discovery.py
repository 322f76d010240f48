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
from ._formula import Formula, as_column, as_columns, as_names, column_names, needs, plain_names
from ._library import (EventCallback, Handle, Rows, SymlawError, column_array, encoded, lib, made,
                       name_array, printed, run)

if TYPE_CHECKING:
    import pandas

__all__ = ["discover", "Discovery", "Candidate"]

MAX_INPUTS = 16
_PICTURE_ROWS = 2000  # more cannot be distinguished in a figure
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

    def __init__(self, columns: list[np.ndarray], y: np.ndarray, names: tuple[str, ...],
                 target: str, sigma: Optional[np.ndarray], relative: bool) -> None:
        self.columns, self.y, self.sigma = columns, y, sigma
        self.names, self.target, self.relative = names, target, relative
        pointers, texts = column_array(self.columns), name_array(names)
        self._kept = (pointers, texts)
        self.rows = Rows(ctypes.sizeof(Rows), pointers, len(self.columns), y.ctypes.data, len(y),
                         texts, encoded(target), None if sigma is None else sigma.ctypes.data,
                         int(relative))

    def sample(self, n: int) -> "_Data":
        """At most n rows, spread evenly."""
        n = min(n, len(self.y))
        rows = np.arange(n) * len(self.y) // n
        return _Data([column[rows] for column in self.columns], self.y[rows], self.names, self.target,
                     None if self.sigma is None else self.sigma[rows], self.relative)


@dataclass(repr=False)
class Discovery:
    """What `discover` has found: candidates, the best first.

    Indexing and iteration give candidates; `formula` is the best. cut: "time" or "cancel" if the
    work ended early, else "". within_noise: the best formula leaves no more than the noise of y, as
    far as the search can tell. details: the JSON object with all candidates. inputs: which
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
        return (f"{self.target} = {best.formula}   R2 {_short(best.r2)}, size {best.size}"
                f"{self._doubt()}")

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
            f"<tr><td>{c.size}</td><td>{_short(c.r2)}</td><td>{c.rmse:.3g}</td><td>{c.bits:.4g}</td>"
            f"<td style='text-align:left'>{_shown(c.formula).mathml()}</td></tr>"
            for c in self.front)
        return f"""<div class='symlaw'>
<p style='font-size:140%'><math><mi>{html.escape(self.target)}</mi><mo>=</mo></math>
{_shown(best.formula).mathml()}</p>
<p>R<sup>2</sup> {_short(best.r2)}, rms error {best.rmse:.3g}, size {best.size}{self._doubt()}</p>
{self.svg() or ''}
<div style='overflow-x:auto'><table>
<thead><tr><th>size</th><th>R<sup>2</sup></th><th>rms error</th><th>bits</th>
<th style='text-align:left'>front</th></tr></thead>
<tbody>{rows}</tbody></table></div></div>"""


def _short(r2: float) -> str:
    """R2 to six digits; 0 where it is that but for rounding."""
    return f"{round(r2, 12) + 0.0:.6g}"


def target_name(y: Any, inputs: Sequence[str], default: str = "y") -> str:
    """The name of a series, unless an input has it, as in discover(df, df.a**2)."""
    name = (column_names(y) or [default])[0]
    return default if name in inputs else name


def _shown(f: Formula) -> Formula:
    """The formula with its constants to six digits, for a page."""
    return f.bind([float(f"{value:.6g}") for value in f.constants])


# ---------------------------------------------------------------- the model ---------------------

_defaults: dict[tuple[str, str], Handle] = {}
_defaults_lock = threading.Lock()


def _model(path: Any) -> Optional[Handle]:
    """The model of a path. None: the default one, which is opened once and may be missing."""
    if path is not None:
        return made("model_close", lib.model_open, encoded(os.fspath(path)))
    key = os.environ.get("SYMLAW_MODEL", ""), os.getcwd()
    with _defaults_lock:
        if key not in _defaults:
            try:
                _defaults[key] = made("model_close", lib.model_open, None)
            except SymlawError as error:
                if error.status == -1:
                    return None  # there is none: the search works alone
                raise
        return _defaults[key]


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
    columns, values = as_columns(X), as_column(y)
    if names is None:
        names = column_names(X) or plain_names(len(columns))
    if not columns:
        raise ValueError("X has no columns")
    if len(names) != len(columns):
        raise ValueError(f"{len(names)} names for {len(columns)} columns")
    if any(len(column) != len(values) for column in columns):
        raise ValueError(f"X has {len(columns[0])} rows, y has {len(values)}")
    errors, relative = None, sample_weight is not None
    if relative:
        if sigma is not None:
            raise ValueError("sample_weight and sigma both say how precise rows are; give one")
        weight = as_column(np.broadcast_to(sample_weight, values.shape), "sample_weight")
        if not np.all(np.isfinite(weight)) or np.any(weight < 0):
            raise ValueError("sample_weight must be finite numbers, none below 0")
        used = weight > 0
        columns, values, weight = [column[used] for column in columns], values[used], weight[used]
        if np.any(weight != weight[:1]):
            errors = 1 / np.sqrt(weight)
    elif np.ndim(sigma) > 0:
        errors, sigma = as_column(np.broadcast_to(sigma, values.shape), "sigma"), None
    names = as_names(names)
    data = _Data(columns, values, names, target or target_name(y, names), errors, relative)
    inputs = tuple(range(len(columns)))
    if len(columns) > MAX_INPUTS:
        chosen = (c_int * MAX_INPUTS)()
        lib.rows_choose_inputs(chosen, byref(data.rows), MAX_INPUTS, random_state)
        inputs = tuple(chosen)
        data = _Data([columns[i] for i in inputs], values, tuple(names[i] for i in inputs),
                     data.target, errors, relative)
    if "ops" in options:
        options["ops"] = joined(options["ops"])
    if isinstance(options.get("units"), Mapping):
        options["units"] = ",".join(f'"{name}"={unit}' for name, unit in options["units"].items())
    text = options_json({"effort": effort, "search": search, "timeout": max_time or 0.0,
                         "seed": random_state, "threads": threads, "sigma": sigma, **options})
    opened = None if search == "exhaustive" else _model(model)

    def call(callback: Any) -> Discovery:
        handle = made("discovery_free", lib.discover_rows, opened.pointer if opened else None,
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


def _collected(handle: Handle, data: _Data, inputs: tuple[int, ...]) -> Discovery:
    f = handle.pointer
    found = []
    for i in range(lib.discovery_count(f)):
        errors = []
        for k in range(lib.discovery_constants(f, i)):
            error = c_double(math.nan)
            lib.discovery_constant(f, i, k, byref(error))
            errors.append(error.value)
        formula = Formula._of(made("formula_free", lib.discovery_formula, f, i), data.names)
        found.append(Candidate(
            formula, lib.discovery_size(f, i), lib.discovery_r2(f, i), lib.discovery_rmse(f, i),
            lib.discovery_bits(f, i), lib.discovery_evidence(f, i),
            bool(lib.discovery_on_front(f, i)), lib.discovery_source(f, i).decode(),
            lib.discovery_status(f, i).decode(), lib.discovery_holdout_r2(f, i),
            lib.discovery_log_prob(f, i), tuple(errors)))
    return Discovery(found, lib.discovery_cut(f).decode(), bool(lib.discovery_within_noise(f)),
                     json.loads(printed(lib.discovery_json, f)), data.names, data.target, inputs,
                     handle, data.sample(_PICTURE_ROWS))
