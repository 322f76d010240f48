"""Fits of a formula, training, scaling laws and studies: the commands of the same names."""
from __future__ import annotations

import csv
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

from ._command import Result, command, program
from ._library import SymlawError

__all__ = ["fit", "train", "laws", "study"]

_Path = Union[str, "os.PathLike[str]"]


def train(out: _Path, **options: Any) -> Result:
    """Trains a model in the folder `out`, or with resume=True continues it.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> run = train(folder, width=8, layers=1, depth=1, points=8, batch=4, valid_pairs=4, steps=5)
    >>> run["exit"], run["command"]
    (0, 'train')

    options: those of `symlaw train`; on_event and verbose as in `command`. After Ctrl-C the run's
    last checkpoint is saved, and train(out, resume=True) goes on to the bit."""
    return command("train", out=out, **options)


def laws(runs: Any, **options: Any) -> Result:
    """Scaling laws out of a table of runs: a data frame, a mapping of columns, or a file.

    options: those of `symlaw laws`, such as budget=1e20, report="laws.html"."""
    with _file(runs) as path:
        return command("laws", file=path, **options)


def _cell(value: Any) -> Any:
    """A value for a file; an empty cell for one that is missing."""
    try:
        missing = value is None or bool(value != value)
    except TypeError:  # pandas.NA is equal to nothing
        missing = True
    return "" if missing else value.item() if hasattr(value, "item") else value


@contextmanager
def _file(table: Any) -> Iterator[_Path]:
    """A file with the table: its own, or a temporary one with the columns of a frame or mapping."""
    if isinstance(table, (str, os.PathLike)):
        yield table
        return
    names = [str(name) for name in table]
    if len(set(names)) < len(names):
        raise ValueError("two columns have the same name")
    columns = {str(name): list(table[name]) for name in table}
    if len({len(column) for column in columns.values()}) > 1:
        sizes = ", ".join(f"{name!r} {len(column)}" for name, column in columns.items())
        raise ValueError(f"columns have different numbers of rows: {sizes}")
    with tempfile.TemporaryDirectory(prefix="symlaw") as folder:
        path = Path(folder, "table.csv")
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(map(_cell, row) for row in zip(*columns.values()))
        try:
            yield path
        except SymlawError as error:
            error.args = (str(error).replace(str(path), "the table"),)
            raise


def fit(formula: str, data: Any, *, start: Optional[Mapping[str, float]] = None,
        bounds: Optional[Mapping[str, tuple[Optional[float], Optional[float]]]] = None,
        compare: Optional[Sequence[str]] = None, **options: Any) -> Result:
    """The constants of a formula of your own: names in it that are no columns of the data.

    >>> t = [0.0, 1, 2, 3, 4]
    >>> found = fit("y = a*exp(-k*t)", {"t": t, "y": [3.0, 1.1, 0.41, 0.15, 0.055]})
    >>> [(c["name"], round(c["value"], 2)) for c in found["formulas"][0]["constants"]]
    [('a', 3.0), ('k', 1.0)]

    data: a data frame, a mapping of columns, or a file. start: values that the fit begins with;
    bounds: (low, high) of constants, None for an open side; compare: further formulas, ranked in
    one table. options: the others of `symlaw fit`, such as target, sigma, weights, group, plot."""
    def number(value: Optional[float]) -> str:
        return "" if value is None else repr(float(value))

    if start is not None:
        options["start"] = ",".join(f"{name}={number(value)}" for name, value in start.items())
    if bounds is not None:
        options["bounds"] = ",".join(f"{name}={number(low)}:{number(high)}"
                                     for name, (low, high) in bounds.items())
    if compare is not None:
        options["compare"] = compare if isinstance(compare, str) else ";".join(compare)
    with _file(data) as path:
        return command("fit", formula=formula, file=path, **options)


def study(action: str, path: _Path, **options: Any) -> Result:
    """A scaling study: action "run", "status", "init", "worker" or "report" of a plan or folder.

    >>> study("status", "studies/quick.json")["exit"]  # doctest: +SKIP
    0

    options: those of `symlaw study`. Workers are processes of the program `symlaw`, which is part
    of the package; `program` names another. After Ctrl-C the same call goes on."""
    if "program" not in options and program() is not None:
        options["program"] = program()
    return command("study", action=action, path=path, **options)
