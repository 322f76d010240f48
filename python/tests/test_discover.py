"""discover: what is found, weights, ends, threads and signals."""
import os
import pickle
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import symlaw


def hard(seed=0, rows=400):
    """Data without a simple law, which the search works on for seconds."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (rows, 4))
    y = np.tanh(X[:, 0] * X[:, 1]) + np.sin(3 * X[:, 2]) * np.exp(X[:, 3]) + rng.normal(0, 0.5, rows)
    return X, y


def test_a_law_is_found_with_its_names():
    x = np.linspace(1, 9, 30)
    found = symlaw.discover(x, x**1.5 / 7, names=["a"], target="T")
    assert str(found.formula) == "a^(3/2)/7"
    assert found.within_noise and found.cut == "" and found.names == ("a",)
    assert str(found).startswith("T = a^(3/2)/7 ")
    assert found[0].r2 == pytest.approx(1) and found[0].size == 5 and found[0].source == "search"
    assert [c.size for c in found.front] == sorted(c.size for c in found.front)
    assert found.details["within_noise"] is True


def test_odd_names_come_back_and_sympy_agrees():
    pd = pytest.importorskip("pandas")
    sympy = pytest.importorskip("sympy")
    rng = np.random.default_rng(2)
    names = ["Länge [m]", "x 1", "lambda", "class"]
    frame = pd.DataFrame(rng.uniform(1, 3, (80, 4)), columns=names)
    y = pd.Series(2.5 * frame["Länge [m]"] * frame["x 1"] / (frame["lambda"] + frame["class"]), name="Wert %")
    found = symlaw.discover(frame, y, effort="low")
    f = found.formula
    assert found.target == "Wert %"
    assert all(name in str(f) for name in names)
    assert "Länge" in f.latex() and "class" in f.latex()
    assert {s.name for s in f.sympy().free_symbols} == set(names)
    function = sympy.lambdify([sympy.Symbol(n) for n in names], f.sympy(), "numpy")
    assert np.allclose(function(*frame.to_numpy().T), f(frame), rtol=1e-12)
    assert np.allclose(f(frame), y, rtol=1e-9)


def test_weights_count_and_weight_zero_leaves_out():
    rng = np.random.default_rng(3)
    X = rng.uniform(-4, 4, (60, 2))
    y = 3 * X[:, 0] - 2 * X[:, 1] + 1.2345 + 0.01 * rng.normal(size=60)
    bad = np.arange(60) % 3 == 0
    y[bad] += 40 + 20 * rng.normal(size=bad.sum())
    for low in (1e-9, 0.0):
        f = symlaw.discover(X, y, sample_weight=np.where(bad, low, 2.0), effort="low",
                            search="exhaustive").formula
        assert np.abs(f([[1, 2]])[0] - 0.2345) < 0.05, str(f)
    with pytest.raises(ValueError, match="below 0"):
        symlaw.discover(X, y, sample_weight=np.where(bad, -1, 1))
    with pytest.raises(ValueError, match="give one"):
        symlaw.discover(X, y, sample_weight=np.ones(60), sigma=1)


def test_sigma_by_row_gives_absolute_errors():
    rng = np.random.default_rng(4)
    x = np.linspace(0, 5, 50)
    sigma = np.full(50, 0.1)
    y = 2.5 * x + 0.7 + sigma * rng.normal(size=50)
    found = symlaw.discover(x, y, sigma=sigma, effort="low", search="exhaustive")
    assert found.formula(x[:1])[0] == pytest.approx(0.7, abs=0.1)
    assert all(0 < e < 0.2 for e in found[0].errors)


def test_wrong_arguments_are_named():
    x = np.ones((4, 2))
    with pytest.raises(ValueError, match="X has 4 rows, y has 3"):
        symlaw.discover(x, [1, 2, 3])
    with pytest.raises(ValueError, match="no finite number in row 2"):
        symlaw.discover(x, [1, np.nan, 3, 4])
    with pytest.raises(ValueError, match="1 names for 2 columns"):
        symlaw.discover(x, [1, 2, 3, 4], names=["a"])
    with pytest.raises(ValueError, match="X has no columns"):
        symlaw.discover(np.ones((4, 0)), [1, 2, 3, 4])
    with pytest.raises(ValueError, match=r"y has the shape \(4, 2\)"):
        symlaw.discover(x, np.ones((4, 2)))
    with pytest.raises(ValueError, match=r"input 1 \(mass\) has no finite number in row 3"):
        symlaw.discover([1, 2, np.inf], [1, 2, 3], names=["mass"])
    with pytest.raises(ValueError, match="complex128"):
        symlaw.discover(x + 1j, [1, 2, 3, 4])
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="X is sparse"):
        symlaw.discover(sparse.csr_matrix(x), [1, 2, 3, 4])


def test_options_in_errors_are_those_of_python():
    x = np.ones((4, 2))
    for options, text in (({"effort": "huge"}, "effort must be"), ({"max_time": -1}, "max_time must be"),
                          ({"random_state": -3}, "random_state must be"), ({"max_size": "a"}, "max_size must be"),
                          ({"colour": "red"}, "unknown option colour"), ({"ops": ["exp", "foo"]}, "foo"),
                          ({"units": {"q": "kg"}}, 'no column is called "q"')):
        with pytest.raises(symlaw.ArgumentError, match="^[^-]*" + text):
            symlaw.discover(x, [1, 2, 3, 4], **options)
    with pytest.raises(symlaw.FileError) as info:
        symlaw.discover(x, [1, 2, 3, 4], model="/no/such/model")
    again = pickle.loads(pickle.dumps(info.value))
    assert isinstance(again, OSError) and again.status == info.value.status and str(again) == str(info.value)


def test_columns_of_a_frame_are_named_in_errors():
    pd = pytest.importorskip("pandas")
    for column in (["a", "b", "c"], pd.date_range("2020", periods=3)):
        with pytest.raises(ValueError, match="column 'when'"):
            symlaw.discover(pd.DataFrame({"v": [1.0, 2, 3], "when": column}), [1, 2, 3])


def test_names_of_series_and_of_equal_columns():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("sympy")
    x = np.random.default_rng(1).uniform(1, 3, (40, 2))
    found = symlaw.discover(pd.Series(x[:, 0], name="mass"), pd.DataFrame({"F": 3 * x[:, 0] ** 2}), effort="low")
    assert str(found).startswith("F = 3*mass^2 ")
    frame = pd.DataFrame(x, columns=["a", "b"])
    assert symlaw.discover(frame, frame.a**2, effort="low").target == "y"
    for names, text in ((["a", "a"], "a*x2^2/2"), (["", "x1"], "_x1*x1^2/2")):
        frame = pd.DataFrame(x, columns=names)
        f = symlaw.discover(frame, x[:, 0] * x[:, 1] ** 2 / 2, effort="low").formula
        assert str(f) == text and str(f.sympy()) in (text.replace("^", "**"), "_x1*x1**2/2")
        assert np.allclose(f(frame), x[:, 0] * x[:, 1] ** 2 / 2)


def test_of_many_columns_those_are_used_that_the_program_uses(tmp_path):
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (200, 40))  # y is correlated with neither factor alone
    y = X[:, 21] * X[:, 4]
    found = symlaw.discover(X, y, effort="low", search="exhaustive")
    assert len(found.inputs) == 16 and found.names == tuple(f"x{i + 1}" for i in found.inputs)
    assert str(found.formula) == "x5*x22"
    assert np.allclose(found.formula(X[:, found.inputs]), y)
    with pytest.raises(ValueError, match="X has 40 columns; the formula is of 16"):
        found.formula(X)
    table = tmp_path / "table.csv"
    np.savetxt(table, np.c_[X, y], "%.17g", ",", header=",".join([f"x{i + 1}" for i in range(40)] + ["y"]),
               comments="")
    result = symlaw.command("discover", file=table, target="y", effort="low", search="exhaustive", seed=0)
    assert result["data"]["inputs"] == list(found.names)


def test_time_is_a_cap():
    X, y = hard()
    start = time.monotonic()
    found = symlaw.discover(X, y, max_time=0.5, effort="high")
    assert found.cut == "time" and len(found) > 0
    assert time.monotonic() - start < 20  # on a busy machine; without the cap it is minutes


def test_a_callback_sees_progress_and_ends_it():
    X, y = hard()
    events = []

    def see(event):
        events.append((event, threading.current_thread()))
        return event.kind == "front"

    found = symlaw.discover(X, y, effort="high", on_event=see)
    assert found.cut == "cancel"
    assert all(thread is threading.main_thread() for _, thread in events)
    assert all(event.kind in ("progress", "front", "note") and event.text for event, _ in events)


def test_progress_is_one_line_that_goes_away(monkeypatch, capsys):
    X, y = hard()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    symlaw.discover(X, y, effort="high", verbose=1, on_event=lambda event: event.seconds > 0.3)
    shown = capsys.readouterr().err
    lines = shown.split("\r\x1b[K")
    assert lines[-1] == "" and len(lines) > 1 and all(len(line) < 40 and "\n" not in line for line in lines)


def test_the_front_so_far_is_reported():
    import json
    X, y = hard()
    fronts = []
    symlaw.discover(X, y, max_time=2, on_event=lambda e: e.kind == "front" and fronts.append(json.loads(e.text)))
    assert fronts and {"formula", "r2", "size"} <= set(fronts[-1][0])


def test_an_exception_of_a_callback_is_raised_with_what_was_found():
    X, y = hard()

    def fail(event):
        if event.kind == "front":
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough") as info:
        symlaw.discover(X, y, effort="high", on_event=fail)
    assert info.value.discovery.cut == "cancel"


def test_what_is_found_pickles_and_is_shown():
    pytest.importorskip("pandas")
    x = np.linspace(1, 9, 30)
    found = symlaw.discover(x, x**2 + 0.1 * np.cos(9 * x), names=["a<b"], target="T & t", effort="low")
    assert repr(found) == f"<symlaw.Discovery of {len(found)} formulas: {found}>"
    page = found._repr_html_()
    from symlaw._discovery import _short
    assert [_short(r2) for r2 in (-2e-16, 0.1234567, 1 - 1e-16)] == ["0", "0.123457", "1"]
    assert "<svg" in page and "<math" in page and "T &amp; t" in page and "a<b" not in page
    assert not re.search(r"<mn>[0-9.]{9,}</mn>", page)  # six digits are shown
    again = pickle.loads(pickle.dumps(found))
    assert str(again.formula) == str(found.formula) and again.svg() is None
    assert again.table().equals(found.table())
    front = found.table(front=True)
    assert front.front.all() and front["size"].is_monotonic_increasing


def test_pickled_candidates_have_the_same_bits():
    X, y = hard()
    found = symlaw.discover(X, y, max_time=2)
    for c in found.candidates:
        assert pickle.loads(pickle.dumps(c)).formula(X).tobytes() == c.formula(X).tobytes(), str(c.formula)


def test_two_threads_at_once_get_their_own_answers():
    x = np.linspace(1, 9, 40)
    laws = {"x1^(3/2)/7": x**1.5 / 7, "2*x1^2 + 1": 2 * x**2 + 1, "exp(-x1)": np.exp(-x), "sin(x1)": np.sin(x)}
    answers, failures = {}, []

    def work(text, y):
        try:
            answers[text] = symlaw.discover(x, y, effort="low").formula
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=item) for item in laws.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for text, formula in answers.items():
        assert formula.same(text) is True, (text, str(formula))


def test_python_runs_while_c_works():
    X, y = hard()
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.01):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    symlaw.discover(X, y, max_time=1, effort="high", threads=1)
    stop.set()
    thread.join()
    assert len(ticks) > 10


# ---------------------------------------------------------------- signals -----------------------

SCRIPT = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
import numpy as np, symlaw
sys.path.insert(0, {here!r})
from test_discover import hard
X, y = hard()
def at_front(action):  # when there is something to keep, however slow the machine is
    armed = []
    def see(event):
        if event.kind == "front" and not armed:
            armed.append(action())
    return see
def after(seconds, number):
    threading.Thread(target=lambda: (time.sleep(seconds), os.kill(os.getpid(), number)), daemon=True).start()
"""


def script(body, **how):
    text = SCRIPT.format(here=os.path.dirname(__file__)) + body
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, **how)


def test_ctrl_c_ends_a_call_and_keeps_what_was_found():
    done = script("""
try:
    symlaw.discover(X, y, effort="high", on_event=at_front(lambda: after(0.3, signal.SIGINT)))
    print("not interrupted")
except KeyboardInterrupt as error:
    print("interrupted", error.discovery.cut, len(error.discovery) > 0)
x = np.linspace(1, 9, 30)
print(symlaw.discover(x, x**1.5/7).formula)
""")
    assert done.stdout.splitlines() == ["interrupted cancel True", "x1^(3/2)/7"], done.stdout + done.stderr
    assert done.stderr == ""


def test_an_alarm_that_raises_ends_a_call():
    done = script("""
class TimeOut(Exception): pass
def alarm(number, frame): raise TimeOut("late")
signal.signal(signal.SIGALRM, alarm)
try:
    symlaw.discover(X, y, effort="high",
                    on_event=at_front(lambda: signal.setitimer(signal.ITIMER_REAL, 0.3)))
except TimeOut as error:
    print(error, error.discovery.cut)
""")
    assert done.stdout == "late cancel\n" and done.stderr == "", done.stdout + done.stderr


def test_a_handler_of_the_host_does_no_harm():
    done = script("""
calls = []
signal.signal(signal.SIGALRM, lambda number, frame: calls.append(number))
plain = symlaw.discover(X, y, effort="low", search="exhaustive", max_memory=0.05)
signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
under = symlaw.discover(X, y, effort="low", search="exhaustive", max_memory=0.05)
signal.setitimer(signal.ITIMER_REAL, 0)
print(len(calls) > 5, str(plain.formula) == str(under.formula), len(plain) == len(under), under.cut == "")
""")
    assert done.stdout == "True True True True\n" and done.stderr == "", done.stdout + done.stderr


def test_an_interrupt_with_the_last_event_does_not_hang():
    """Python may raise between the return of get() and the assignment of its value."""
    done = script("""
import queue
class Lossy(queue.SimpleQueue):
    lost = 0
    def get(self):
        item = super().get()
        if item is None and not Lossy.lost:
            Lossy.lost = 1
            raise KeyboardInterrupt
        return item
symlaw._library.queue.SimpleQueue = Lossy
x = np.linspace(1, 9, 30)
try:
    symlaw.discover(x, x**1.5/7, effort="low", search="exhaustive")
except KeyboardInterrupt as error:
    print(error.discovery.formula)
""")
    assert done.stdout == "x1^(3/2)/7\n" and done.stderr == "", done.stdout + done.stderr


def test_an_interrupt_at_any_moment_is_raised_once():
    """At 40 moments of a short call: it is interrupted, or it has its answer; nothing is printed."""
    done = script("""
x = np.linspace(1, 9, 30); y = x**1.5/7
symlaw.discover(x, y, effort="low", search="exhaustive")
seen = 0
for i in range(40):
    try:
        after(i * 0.002, signal.SIGINT)
        try:
            answer = symlaw.discover(x, y, effort="low", search="exhaustive").formula
        finally:
            time.sleep(0)
        for _ in range(1000): time.sleep(0.001)  # until the signal has come
        print("lost")
    except KeyboardInterrupt:
        seen += 1
print(seen)
""")
    assert done.stdout == "40\n" and done.stderr == "", done.stdout + done.stderr
