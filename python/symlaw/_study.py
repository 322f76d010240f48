"""Training, scaling laws and studies: the commands of the same names."""
from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Mapping, Union

from ._command import Result, command, program

__all__ = ["train", "laws", "study"]

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
    if isinstance(runs, (str, os.PathLike)):
        return command("laws", file=runs, **options)
    columns = {str(name): list(runs[name]) for name in runs}
    with tempfile.TemporaryDirectory(prefix="symlaw") as folder:
        path = Path(folder, "runs.csv")
        path.write_text(_csv(columns), encoding="utf-8")
        return command("laws", file=path, **options)


def _csv(columns: Mapping[str, list[Any]]) -> str:
    def cell(value: Any) -> str:
        if value is None or value != value:
            return ""
        text = repr(value.item() if hasattr(value, "item") else value) \
            if not isinstance(value, str) else value
        return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n\r') else text

    rows = zip(*columns.values())
    lines = [",".join(map(cell, columns))] + [",".join(map(cell, row)) for row in rows]
    return "\n".join(lines) + "\n"


def study(action: str, path: _Path, **options: Any) -> Result:
    """A scaling study: action "run", "status", "init", "worker" or "report" of a plan or folder.

    >>> study("status", "studies/quick.json")["exit"]  # doctest: +SKIP
    0

    options: those of `symlaw study`. Workers are processes of the program `symlaw`, which is part
    of the package; `program` names another. After Ctrl-C the same call goes on."""
    if "program" not in options and program() is not None:
        options["program"] = program()
    return command("study", action=action, path=path, **options)
