"""The shared library: where it is, its functions, and how calls are made.

Only what include/symlaw/symlaw.h declares is used, through ctypes: nothing is compiled for one
version of Python. ctypes releases the global interpreter lock for the time of a call.

Calls that may take long go through `run`. Python handles signals between two instructions of its
main thread, so a handler that raises (Ctrl-C, an alarm) may raise anywhere in a callback, where
ctypes would drop the exception. Therefore a call of the main thread is made by a second thread,
and the main thread waits: an exception that a handler raises there cancels the call, and is raised
again when the call has returned."""
from __future__ import annotations

import ctypes
import os
import queue
import re
import shutil
import sys
import threading
from ctypes import (CFUNCTYPE, POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t,
                    c_uint8, c_uint64, c_void_p)
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable, Optional, Sequence, TypeVar

import numpy as np

__all__ = ["SymlawError", "ArgumentError", "OutOfMemoryError", "FileError", "Cancelled", "Event",
           "EventCallback"]

HERE = Path(__file__).resolve().parent
T = TypeVar("T")

# ---------------------------------------------------------------- errors ------------------------


class SymlawError(Exception):
    """A call of the library failed.

    `status` is the number of `symlaw_status` in the C header, `status_text` its name. What is
    raised is a subclass, which is a built-in exception as well."""

    status: int = 0
    status_text: str = ""


class ArgumentError(SymlawError, ValueError):
    """An argument or a text that cannot be used."""


class OutOfMemoryError(SymlawError, MemoryError):
    """There is too little memory."""


class FileError(SymlawError, OSError):
    """A file cannot be read or written."""


class Cancelled(SymlawError):
    """The work was stopped by a callback that returned true."""


_ERRORS = {-1: ArgumentError, -2: ArgumentError, -3: ArgumentError, -4: ArgumentError,
           -5: OutOfMemoryError, -6: FileError, -7: Cancelled}
for _error in (SymlawError, *_ERRORS.values()):
    _error.__module__ = "symlaw"  # as tracebacks show it

# ---------------------------------------------------------------- structs -----------------------


class _Event(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("text", c_void_p), ("length", c_size_t),
                ("done", c_double), ("total", c_double), ("seconds", c_double)]


class SetOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("depth", c_int), ("variables", c_int), ("ops", c_char_p),
                ("count", c_int64), ("seed", c_uint64), ("withheld", c_double), ("threads", c_int),
                ("max_memory", c_int64), ("cache", c_char_p)]


class Rows(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("x", POINTER(c_void_p)), ("n_inputs", c_int), ("y", c_void_p),
                ("rows", c_int64), ("names", POINTER(c_char_p)), ("target", c_char_p),
                ("sigma", c_void_p), ("sigma_relative", c_int)]


class Truth(ctypes.Structure):
    _fields_ = [("answer", c_int)]


class OptionInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("alias", c_char_p), ("type", c_int),
                ("arity", c_int), ("value_name", c_char_p), ("default_value", c_char_p),
                ("choices", c_char_p), ("min", c_double), ("max", c_double), ("help", c_char_p),
                ("group", c_char_p), ("use", c_int)]


class CommandInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("summary", c_char_p), ("help", c_char_p),
                ("n_options", c_int), ("positional", c_char_p), ("ranks", c_int),
                ("positional_next", c_char_p), ("repeats", c_int)]


EVENT_FN = CFUNCTYPE(c_int, POINTER(_Event), c_void_p)

# ---------------------------------------------------------------- functions ---------------------

_OUT = POINTER(c_void_p)
_COLUMNS = POINTER(c_void_p)
_NAMES = POINTER(c_char_p)

# name: (result, arguments). A result of None is a status, checked by `check`.
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "version": (c_char_p, []),
    "status_text": (c_char_p, [c_int]),
    "last_error": (c_char_p, []),
    "string_free": (c_void_p, [c_void_p]),
    "formula_parse": (None, [_OUT, c_char_p, c_char_p, _NAMES, c_int]),
    "formula_free": (c_void_p, [c_void_p]),
    "formula_print": (None, [_OUT, c_void_p, c_char_p]),
    "formula_canon": (None, [_OUT, c_void_p]),
    "formula_derivative": (None, [_OUT, c_void_p, c_int]),
    "formula_same": (None, [POINTER(Truth), c_void_p, c_void_p]),
    "formula_eval": (None, [c_void_p, c_void_p, _COLUMNS, c_int, c_int64]),
    "formula_nodes": (c_int, [c_void_p]),
    "formula_variables": (c_int, [c_void_p]),
    "formula_constants": (c_int, [c_void_p]),
    "formula_constant": (c_double, [c_void_p, c_int]),
    "formula_bind": (None, [_OUT, c_void_p, c_void_p, c_int, _NAMES, c_int]),
    "set_open": (None, [_OUT, POINTER(SetOptions), EVENT_FN, c_void_p]),
    "set_close": (c_void_p, [c_void_p]),
    "set_count": (c_int64, [c_void_p]),
    "set_hash": (c_char_p, [c_void_p]),
    "set_get": (None, [_OUT, c_void_p, c_int64]),
    "set_is_withheld": (c_int, [c_void_p, c_int64]),
    "set_find": (None, [POINTER(c_int64), c_void_p, c_void_p]),
    "pairs_open": (None, [_OUT, c_void_p, c_char_p]),
    "pairs_close": (c_void_p, [c_void_p]),
    "pairs_count": (c_int64, [c_void_p, c_char_p]),
    "pairs_get": (None, [_OUT, c_void_p, c_char_p, c_int64]),
    "pair_free": (c_void_p, [c_void_p]),
    "pair_formula": (None, [_OUT, c_void_p]),
    "pair_member": (c_int64, [c_void_p]),
    "pair_rows": (c_int, [c_void_p]),
    "pair_columns": (c_int, [c_void_p]),
    "pair_x": (POINTER(c_double), [c_void_p, c_int]),
    "pair_y": (POINTER(c_double), [c_void_p]),
    "pair_tokens": (POINTER(c_uint8), [c_void_p, POINTER(c_int)]),
    "model_open": (None, [_OUT, c_char_p]),
    "model_close": (c_void_p, [c_void_p]),
    "rows_choose_inputs": (None, [POINTER(c_int), POINTER(Rows), c_int, c_uint64]),
    "discover_rows": (None, [_OUT, c_void_p, POINTER(Rows), c_char_p, EVENT_FN, c_void_p]),
    "discovery_free": (c_void_p, [c_void_p]),
    "discovery_count": (c_int64, [c_void_p]),
    "discovery_within_noise": (c_int, [c_void_p]),
    "discovery_formula": (None, [_OUT, c_void_p, c_int64]),
    "discovery_r2": (c_double, [c_void_p, c_int64]),
    "discovery_rmse": (c_double, [c_void_p, c_int64]),
    "discovery_bits": (c_double, [c_void_p, c_int64]),
    "discovery_evidence": (c_double, [c_void_p, c_int64]),
    "discovery_size": (c_int, [c_void_p, c_int64]),
    "discovery_on_front": (c_int, [c_void_p, c_int64]),
    "discovery_source": (c_char_p, [c_void_p, c_int64]),
    "discovery_holdout_r2": (c_double, [c_void_p, c_int64]),
    "discovery_log_prob": (c_double, [c_void_p, c_int64]),
    "discovery_status": (c_char_p, [c_void_p, c_int64]),
    "discovery_constants": (c_int, [c_void_p, c_int64]),
    "discovery_constant": (c_double, [c_void_p, c_int64, c_int, POINTER(c_double)]),
    "discovery_cut": (c_char_p, [c_void_p]),
    "discovery_json": (None, [_OUT, c_void_p]),
    "discovery_picture": (None, [_OUT, c_void_p, POINTER(Rows)]),
    "command": (None, [c_char_p, c_char_p, EVENT_FN, c_void_p, _OUT]),
    "command_count": (c_int, []),
    "command_get": (POINTER(CommandInfo), [c_int]),
    "command_option": (POINTER(OptionInfo), [POINTER(CommandInfo), c_int]),
}


def _find() -> str:
    named = os.environ.get("SYMLAW_LIBRARY")
    if named:
        return named
    beside = HERE / "libsymlaw.so"
    if beside.exists():
        return str(beside)
    return "libsymlaw.so.0"  # installed with the C library


class _Library:
    """symlaw_xxx is the attribute xxx. Functions that return a status raise SymlawError."""

    def __init__(self) -> None:
        path = _find()
        try:
            self._dll = ctypes.CDLL(path)
        except OSError as error:
            raise ImportError(
                f"symlaw: cannot load the library {path}: {error}; install the package "
                "(pip install symlaw), or name the file by the variable SYMLAW_LIBRARY") from None
        for name, (result, arguments) in _FUNCTIONS.items():
            try:
                function = getattr(self._dll, "symlaw_" + name)
            except AttributeError:
                raise ImportError(f"symlaw: {path} has no function symlaw_{name}; it is of another "
                                  "version than this package") from None
            function.argtypes = arguments
            function.restype = c_int if result is None else result
            if result is None:
                function.errcheck = self._check
            setattr(self, name, function)

    def _check(self, status: int, function: Any, arguments: Any) -> int:
        if status != 0:
            raise self.error(status)
        return status

    def error(self, status: int) -> SymlawError:
        """The exception of a status. Its text is that of the last failure of this thread, with
        options as Python has them: max_size instead of --max-size."""
        text = self.last_error().decode("utf-8", "replace")
        text = re.sub(r"^symlaw_\w+: ", "", text)
        text = re.sub(r"(?<!\S)--([a-z][-a-z0-9]*)", lambda m: m[1].replace("-", "_"), text)
        kind = self.status_text(status).decode()
        error = _ERRORS.get(status, SymlawError)(text or kind)
        error.status, error.status_text = status, kind
        return error

    def text(self, pointer: c_void_p) -> str:
        """The string that a call has returned, which is freed."""
        try:
            return ctypes.string_at(pointer.value or 0).decode("utf-8", "replace")
        finally:
            self.string_free(pointer)

    def __getattr__(self, name: str) -> Any:  # for type checkers: attributes are set above
        raise AttributeError(name)


lib = _Library()

# ---------------------------------------------------------------- arguments ---------------------


def encoded(text: Optional[str]) -> Optional[bytes]:
    if text is None:
        return None
    if not isinstance(text, str):
        raise TypeError(f"a text is needed, not {text!r}")
    data = text.encode("utf-8")
    if b"\0" in data:
        raise ValueError("a text has a NUL character")
    return data


def name_array(names: Optional[Sequence[str]]) -> Any:
    """const char *const *, or None."""
    if names is None:
        return None
    return (c_char_p * len(names))(*[encoded(name) for name in names])


def column_array(columns: Iterable[np.ndarray]) -> Any:
    """const double *const *: pointers to contiguous columns that the caller keeps."""
    pointers = [column.ctypes.data for column in columns]
    return (c_void_p * len(pointers))(*pointers)


class Handle:
    """Owns an object of the library; `pointer` is its address."""

    __slots__ = ("pointer", "_as_parameter_", "__weakref__")

    def __init__(self, pointer: c_void_p) -> None:
        self.pointer = self._as_parameter_ = pointer


_bound_method = ctypes.pythonapi.PyInstanceMethod_New
_bound_method.restype = ctypes.py_object
_bound_method.argtypes = [ctypes.py_object]
_handles: dict[str, type[Handle]] = {}


def _handle_class(free: str) -> type[Handle]:
    """Handles that the function `free` frees. It is itself their __del__: one written in Python
    may be where a signal is handled, and drops the exception that the handler raises."""
    if free not in _handles:
        _handles[free] = type("Handle", (Handle,),
                              {"__slots__": (), "__del__": _bound_method(getattr(lib, free))})
    return _handles[free]


def made(free: str, function: Any, *arguments: Any) -> Handle:
    """The handle that function(&out, arguments...) makes."""
    out = c_void_p()
    function(byref(out), *arguments)
    return _handle_class(free)(out)


def printed(function: Any, *arguments: Any) -> str:
    """The text that function(&out, arguments...) makes."""
    out = c_void_p()
    function(byref(out), *arguments)
    return lib.text(out)


# ---------------------------------------------------------------- long calls --------------------

_KINDS = ("progress", "note", "output", "excerpt", "poll", "front")
_POLL = 4


@dataclass(frozen=True)
class Event:
    """A report of a running call.

    kind: "progress" (`done` of `total`; text: the stage), "note" (a message), "output" (the next
    part of the output of a command), "excerpt" (before a failure: the part of the input that cannot
    be read) or "front" (of a discovery: the best formulas so far, as JSON)."""

    kind: str
    text: str
    done: float = 0.0
    total: float = 0.0
    seconds: float = 0.0


EventCallback = Callable[[Event], Any]


class _Listener:
    """The C callback of one call: passes events on and returns whether to stop."""

    def __init__(self, deliver: Optional[EventCallback]) -> None:
        self.stop = False
        self.error: Optional[BaseException] = None
        self._deliver = deliver

    def __call__(self, event: Any, payload: Any) -> int:
        try:
            e = event.contents
            known = e.kind < len(_KINDS) and e.kind != _POLL  # later versions may add kinds
            if known and self._deliver is not None:
                text = ctypes.string_at(e.text, e.length) if e.text else b""
                self.deliver(Event(_KINDS[e.kind], text.decode("utf-8", "replace"), e.done, e.total,
                                   e.seconds))
        except BaseException as error:  # none may leave a C callback
            self.fail(error)
        return int(self.stop)

    def deliver(self, event: Event) -> None:
        if self._deliver is not None and self._deliver(event):
            self.stop = True

    def fail(self, error: BaseException) -> None:
        self.stop = True
        if self.error is None:
            self.error = error


def _finish(listener: _Listener, value: Optional[T], failure: Optional[BaseException],
            keep: Optional[Callable[[T], None]]) -> T:
    if listener.error is not None:
        if failure is None and keep is not None:
            keep(value)  # type: ignore[arg-type]
        raise listener.error
    if failure is not None:
        raise failure
    return value  # type: ignore[return-value]


def run(call: Callable[[Any], T], on_event: Optional[EventCallback] = None,
        keep: Optional[Callable[[T], None]] = None, verbose: Any = False) -> T:
    """call(callback), which makes a long call of the library with that callback.

    on_event gets its events, in the calling thread; a true value cancels the work. An
    exception of on_event or of a signal handler stops the work and is raised when it has ended;
    if the call has a value all the same, keep(value) gets it before. verbose: progress and notes
    are written to standard error."""
    if verbose:
        progress = _Progress(on_event)
        try:
            return run(call, progress, keep)
        finally:
            progress.erase()
    if threading.current_thread() is threading.main_thread():
        return _run_beside(call, on_event, keep)
    listener = _Listener(on_event)
    value, failure = None, None
    try:
        value = call(EVENT_FN(listener))
    except SymlawError as error:
        failure = error
    return _finish(listener, value, failure, keep)


def _run_beside(call: Callable[[Any], T], on_event: Optional[EventCallback],
                keep: Optional[Callable[[T], None]]) -> T:
    events: "queue.SimpleQueue[Optional[Event]]" = queue.SimpleQueue()
    # put() returns None, so events of this listener never stop the work; those of `listener` do
    inner = _Listener(events.put if on_event is not None else None)
    listener = _Listener(on_event)
    outcome: list[Any] = [None, None, False]  # value, failure, is it there?

    def work() -> None:
        try:
            outcome[0] = call(EVENT_FN(inner))
        except BaseException as error:
            outcome[1] = error
        outcome[2] = True
        events.put(None)

    thread = threading.Thread(target=work, name="symlaw")
    started = False
    ended = False
    while not ended:
        try:
            if not started:
                thread.start()
                started = True
            event = events.get()
            if event is None:
                ended = True
            elif not inner.stop:
                listener.deliver(event)
        except BaseException as error:
            inner.stop = True  # first: a second exception may come at any moment
            if not started and thread.ident is None:
                raise
            started = True
            if outcome[2]:
                events.put(None)  # an exception right after get() has lost the one that was there
            listener.fail(error)
        inner.stop = inner.stop or listener.stop
    thread.join()
    if listener.error is None:
        listener.error = inner.error
    return _finish(listener, outcome[0], outcome[1], keep)


class _Progress:
    """Writes progress and notes to standard error, and passes events on. On a terminal progress is
    one line, which `erase` removes."""

    def __init__(self, on_event: Optional[EventCallback]) -> None:
        self._on_event = on_event
        self._terminal = sys.stderr.isatty()
        self._interval = 0.2 if self._terminal else 5
        self._last = 0.0
        self._shown = False

    def __call__(self, event: Event) -> Any:
        if event.kind == "note":
            self.erase()
            print(event.text, file=sys.stderr)
        elif event.kind == "progress" and event.seconds - self._last >= self._interval:
            self._last = event.seconds
            part = f"{100 * event.done / event.total:3.0f} %  " if event.total > 0 else ""
            line = f"{event.seconds:7.1f} s  {part}{event.text}"
            self.erase()
            if self._terminal:
                line = line[:shutil.get_terminal_size().columns - 1]
            print(line, end="" if self._terminal else "\n", file=sys.stderr, flush=True)
            self._shown = self._terminal
        return self._on_event(event) if self._on_event is not None else None

    def erase(self) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._shown = False
