"""Every command of the program as a call."""
from __future__ import annotations

import json
import os
from ctypes import byref, c_void_p
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Sequence, Union

import numpy as np

from ._library import HERE, Event, EventCallback, encoded, lib, run

__all__ = ["command", "commands", "Result"]


class Result(Dict[str, Any]):
    """The JSON object of a command's result.

    output: the standard output of the program. notes: its messages."""

    output: str = ""
    notes: tuple[str, ...] = ()


def _plain(value: Any) -> Any:
    """A value of a type that JSON has."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(item) for item in value]
    return str(value)


def options_json(options: Mapping[str, Any]) -> Optional[bytes]:
    """Options as the library reads them: set_size becomes set-size, None is left out."""
    return encoded(json.dumps({name.rstrip("_").replace("_", "-"): _plain(value)
                               for name, value in options.items() if value is not None},
                              ensure_ascii=False))


def joined(items: Union[str, Sequence[str], None]) -> Optional[str]:
    """A list as options have it: separated by commas."""
    return items if items is None or isinstance(items, str) else ",".join(items)


def command(name: str, *, on_event: Optional[EventCallback] = None, verbose: Any = False,
            **options: Any) -> Result:
    """Runs a command of the program `symlaw` and returns its result.

    Options are those of the command line, with underscores for dashes: `set_size=1000` is
    `--set-size 1000`. A name that Python reserves may end in an underscore.

    >>> command("expressions", same=["exp(x1)*exp(x2)", "exp(x1 + x2)"])["answer"]
    'yes'

    on_event: is called with every Event; a true value cancels the work. verbose: writes progress
    to standard error. `symlaw.commands()` lists commands and options."""
    output: list[str] = []
    notes: list[str] = []

    def collect(event: Event) -> Any:
        if event.kind == "output":
            output.append(event.text)
        elif event.kind == "note":
            notes.append(event.text)
        return on_event(event) if on_event is not None else None

    text = options_json(options)

    def call(callback: Any) -> str:
        out = c_void_p()
        lib.command(encoded(name), text, callback, None, byref(out))
        return lib.text(out)

    result = Result(json.loads(run(call, collect, verbose=verbose)))
    result.output = "".join(output)
    result.notes = tuple(notes)
    return result


def commands() -> dict[str, dict[str, str]]:
    """The commands, each with its options and what they are for.

    >>> "discover" in commands()
    True
    >>> commands()["discover"]["max-size"]
    'largest number of nodes of a formula; 0: any; a larger law leaves the best approximation'"""
    result: dict[str, dict[str, str]] = {}
    for i in range(lib.command_count()):
        info = lib.command_get(i)
        options = {}
        for k in range(info.contents.n_options):
            option = lib.command_option(info, k).contents
            options[option.name.decode()] = option.help.decode() if option.help else ""
        result[info.contents.name.decode()] = options
    return result


def program() -> Optional[str]:
    """The program `symlaw`: that of the package, or what the variable SYMLAW names."""
    named = os.environ.get("SYMLAW")
    if named:
        return named
    inside = Path(HERE, "bin", "symlaw")
    return str(inside) if inside.exists() else None
