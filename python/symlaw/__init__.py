"""symlaw - the formula behind a table of numbers.

    import symlaw

    found = symlaw.discover(X, y)            formulas, the best first
    reg = symlaw.SymbolicRegressor()         the same for scikit-learn
    symlaw.fit("a*x/(b + x)", data)          the constants of your own formula
    symlaw.Formula("x1*sin(x2)")             parse, print, compare, evaluate
    symlaw.universe(depth=2)                 every distinct expression up to a depth
    symlaw.pairs("train", points=64)         training data as NumPy arrays
    symlaw.train, symlaw.study, symlaw.laws  models and how they scale
    symlaw.command("expressions", ...)       any command of the program

NumPy is needed. scikit-learn, pandas and SymPy are imported where they are used. Any number of
threads may call at once; Ctrl-C ends a call with all that it had."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._command import Result, command, commands
from ._discovery import Candidate, Discovery, discover
from ._formula import Formula
from ._library import (ArgumentError, Cancelled, Event, FileError, OutOfMemoryError, SymlawError,
                       lib as _lib)
from ._sets import Pair, Pairs, Universe, pairs, universe
from ._study import fit, laws, study, train

if TYPE_CHECKING:
    from ._regressor import SymbolicRegressor

__version__: str = _lib.version().decode()

__all__ = ["ArgumentError", "Cancelled", "Candidate", "Discovery", "Event", "FileError", "Formula",
           "OutOfMemoryError", "Pair", "Pairs", "Result", "SymbolicRegressor", "SymlawError",
           "Universe", "command", "commands", "discover", "fit", "laws", "pairs", "study", "train",
           "universe"]


def __getattr__(name: str) -> Any:
    if name == "SymbolicRegressor":  # needs scikit-learn
        from ._regressor import SymbolicRegressor
        return SymbolicRegressor
    raise AttributeError(f"module 'symlaw' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | {"SymbolicRegressor"})
