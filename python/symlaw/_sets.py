"""Sets of expressions, and pairs of an expression and a data set."""
from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_int, c_int64
from dataclasses import dataclass
from typing import Any, Iterator, Optional, Sequence, Union, overload

import numpy as np

from ._command import joined, options_json
from ._formula import Formula
from ._library import EventCallback, Handle, SetOptions, encoded, lib, made, run

__all__ = ["universe", "pairs", "Universe", "Pairs", "Pair"]


def _place(index: int, n: int) -> int:
    """The number from 0 of an index, which below 0 counts from the end."""
    if not -n <= index < n:
        raise IndexError(f"number {index} of {n}")
    return int(index) % n


class Universe:
    """Every distinct expression up to a depth; see `universe`."""

    def __init__(self, handle: Handle, settings: dict[str, Any]) -> None:
        self._handle = handle
        self._settings = settings

    def __len__(self) -> int:
        return lib.set_count(self._handle.pointer)

    @overload
    def __getitem__(self, index: int) -> Formula: ...

    @overload
    def __getitem__(self, index: slice) -> list[Formula]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Formula, list[Formula]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        handle = made("formula_free", lib.set_get, self._handle.pointer, _place(index, len(self)))
        return Formula._of(handle, None)

    def __iter__(self) -> Iterator[Formula]:
        for i in range(len(self)):
            yield self[i]

    def __contains__(self, formula: Union[Formula, str]) -> bool:
        return self.find(formula) is not None

    @property
    def hash(self) -> str:
        """32 hexadecimal digits; equal sets have equal ones."""
        return lib.set_hash(self._handle.pointer).decode()

    def find(self, formula: Union[Formula, str]) -> Optional[int]:
        """Which member is the same function; None: none is."""
        f = Formula(formula) if isinstance(formula, str) else formula
        index = c_int64()
        run(lambda callback: lib.set_find(byref(index), self._handle.pointer, f._handle.pointer))
        return None if index.value < 0 else index.value

    def is_withheld(self, index: int) -> bool:
        """Must training not see this member?"""
        return bool(lib.set_is_withheld(self._handle.pointer, _place(index, len(self))))

    def __reduce__(self) -> Any:
        return _universe_of, (self._settings,)

    def __repr__(self) -> str:
        settings = ", ".join(f"{k}={v!r}" for k, v in self._settings.items() if v is not None)
        return f"<symlaw.universe({settings}): {len(self)} expressions>"


def universe(depth: int = 3, variables: int = 2, ops: Union[str, Sequence[str], None] = None,
             count: int = 100000, *, seed: int = 0, withheld: float = 0.0, threads: int = 0,
             max_memory: int = 0, cache: Union[str, "os.PathLike[str]", None] = None,
             verbose: Any = False, on_event: Optional[EventCallback] = None) -> Universe:
    """The set of every distinct expression up to a depth, as a sequence of formulas.

    >>> e = universe(depth=2)
    >>> len(e), str(e[5]), e.find("x1*x2/x1")
    (929, 'sqrt(x1)', 1)

    Below the last depth it is complete; of the last one it has a sample, up to `count` in all (0:
    all of it). ops: operators, as "exp,sin,+,*" or a list. cache: folder where a large set is kept
    for the next call, or "off"."""
    settings = {"depth": depth, "variables": variables,
                "ops": joined(ops), "count": count,
                "seed": seed, "withheld": withheld, "threads": threads, "max_memory": max_memory,
                "cache": None if cache is None else os.fspath(cache)}
    return _universe_of(settings, on_event, verbose)


def _universe_of(settings: dict[str, Any], on_event: Optional[EventCallback] = None,
                 verbose: Any = False) -> Universe:
    s = settings
    o = SetOptions(ctypes.sizeof(SetOptions), s["depth"], s["variables"], encoded(s["ops"]),
                   s["count"], s["seed"], s["withheld"], s["threads"], s["max_memory"],
                   encoded(s["cache"]))
    handle = run(lambda callback: made("set_close", lib.set_open, byref(o), callback, None),
                 on_event, verbose=verbose)
    return Universe(handle, settings)


@dataclass(frozen=True)
class Pair:
    """An expression with a data set of its values."""

    x: np.ndarray         #: (points, columns)
    y: np.ndarray         #: (points,)
    formula: Formula
    tokens: np.ndarray    #: ids of the formula as a model writes it, with the end token
    member: int           #: of the set that it was made of
    index: int            #: in its split


class Pairs(Sequence[Pair]):
    """Pairs of a split; see `pairs`. A sequence, so PyTorch takes it as a data set."""

    def __init__(self, of: Universe, split: str, count: Optional[int], start: int,
                 options: dict[str, Any]) -> None:
        self.universe, self.split, self._start, self._options = of, split, start, options
        self._handle = made("pairs_close", lib.pairs_open, of._handle.pointer,
                            options_json(options))
        whole = lib.pairs_count(self._handle.pointer, encoded(split))
        if whole < 0:
            raise ValueError(f"no split {split!r}; there are train, valid, test and withheld")
        if start < 0 or (count is not None and count < 0):
            raise ValueError(f"start {start}, count {count}; neither can be below 0")
        self._requested = count
        self._count = max(0, whole - start) if count is None else count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Pair: ...

    @overload
    def __getitem__(self, index: slice) -> list[Pair]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Pair, list[Pair]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = self._start + _place(index, len(self))
        handle = made("pair_free", lib.pairs_get, self._handle.pointer, encoded(self.split), i)
        p = handle.pointer
        rows, columns, n = lib.pair_rows(p), lib.pair_columns(p), c_int()
        x = np.empty((rows, columns))
        for c in range(columns):
            x[:, c] = np.ctypeslib.as_array(lib.pair_x(p, c), (rows,))
        tokens = lib.pair_tokens(p, byref(n))
        return Pair(x, np.ctypeslib.as_array(lib.pair_y(p), (rows,)).copy(),
                    Formula._of(made("formula_free", lib.pair_formula, p), None),
                    np.ctypeslib.as_array(tokens, (n.value,)).astype(np.int64),
                    lib.pair_member(p), i)

    def __repr__(self) -> str:
        return f"<symlaw.pairs({self.split!r}): {len(self)} pairs of {self.universe!r}>"

    def __reduce__(self) -> Any:
        return Pairs, (self.universe, self.split, self._requested, self._start, self._options)


def pairs(split: str = "train", count: Optional[int] = None, start: int = 0, *,
          of: Optional[Universe] = None, depth: int = 3, variables: int = 2,
          ops: Union[str, Sequence[str], None] = None, set_size: int = 100000, seed: int = 0,
          withheld: float = 0.0, **options: Any) -> Pairs:
    """Expression-dataset pairs: a sequence, and so an iterator of NumPy arrays.

    >>> data = pairs("test", depth=2, points=16)
    >>> p = data[11]
    >>> p.x.shape, p.y.shape, bool(np.allclose(p.formula(p.x), p.y))
    ((16, 2), (16,), True)

    Nothing is stored: pair i of a split is the same on every machine. split: "train", "valid",
    "test" or "withheld". of: a `universe`; else it is made with depth, variables, ops, set_size,
    seed and withheld. options: those of `symlaw pairs` for the data (points, noise,
    constant_max, ...). count may exceed one pass, which is the default."""
    if of is None:
        of = universe(depth, variables, ops, set_size, seed=seed, withheld=withheld)
    return Pairs(of, split, count, start, options)
