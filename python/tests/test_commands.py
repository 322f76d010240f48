"""command, universe, pairs, train, laws, study, and the examples in the documentation."""
import doctest
import importlib
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import symlaw

ROOT = Path(__file__).resolve().parents[2]


def test_the_header_is_the_one_that_is_bound():
    """Kinds of events and fields of structs, in their order, as the C header has them."""
    import re
    from symlaw import _library as bound
    header = ROOT / "include" / "symlaw" / "symlaw.h"
    if not header.exists():
        pytest.skip("not in the source tree")
    text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.S)
    kinds = re.findall(r"SYMLAW_EVENT_(\w+)", text)
    assert [kind.lower() for kind in kinds] == list(bound._KINDS)
    structs = {"symlaw_event": bound._Event, "symlaw_set_options": bound.SetOptions,
               "symlaw_rows": bound.Rows, "symlaw_option_info": bound.OptionInfo,
               "symlaw_command_info": bound.CommandInfo}
    for name, struct in structs.items():
        body = re.search(r"typedef struct %s \{(.*?)\} %s;" % (name, name), text, re.S).group(1)
        fields = re.findall(r"(\w+)(?=\s*[;,])", body)
        assert fields == [field for field, _ in struct._fields_], name


def test_commands_are_listed_with_their_options():
    listed = symlaw.commands()
    assert {"discover", "train", "study", "laws", "expressions", "pairs"} <= set(listed)
    assert "timeout" in listed["discover"] and listed["discover"]["timeout"]


def test_a_command_returns_result_output_and_notes():
    result = symlaw.command("expressions", depth=1, set_size=0, format_="python")
    assert result["exit"] == 0 and result["config"]["set-size"] == 0
    assert result.output.splitlines()[0] == "x1" and len(result.output.splitlines()) == 20
    with pytest.raises(symlaw.SymlawError, match="did you mean"):
        symlaw.command("expresions")
    with pytest.raises(ValueError, match="depth"):
        symlaw.command("expressions", depth=99)


def test_a_callback_stops_a_command():
    with pytest.raises(symlaw.Cancelled):
        symlaw.command("expressions", depth=3, set_size=0, count_only=True, on_event=lambda event: True)


def test_universe_is_a_sequence():
    e = symlaw.universe(depth=2)
    assert len(e) == 929 and str(e[0]) == "x1" and str(e[-1]) == str(e[928])
    assert e.find("x2*x1/x2") == 0 and e.find("exp(exp(exp(exp(x1))))") is None
    assert [str(f) for f in e[:2]] == ["x1", "x2"]
    assert e.hash == symlaw.command("expressions", depth=2, count_only=True)["hash"]
    assert pickle.loads(pickle.dumps(e)).hash == e.hash
    assert "x2*x1/x2" in e and symlaw.Formula("exp(exp(exp(x1)))") not in e
    for call in (e.__getitem__, e.is_withheld):
        with pytest.raises(IndexError):
            call(929)
    small = symlaw.universe(1, 1, ["exp", "+"], withheld=0.5)
    assert any(small.is_withheld(i) for i in range(len(small)))


def test_pairs_are_arrays_and_the_same_as_the_command_has():
    import json
    data = symlaw.pairs("test", depth=2, points=16)
    lines = symlaw.command("pairs", split="test", depth=2, points=16, start=5, count=2).output.splitlines()
    for i, line in enumerate(lines):
        pair, expected = data[5 + i], json.loads(line)
        assert pair.x.T.tolist() == expected["x"] and pair.y.tolist() == expected["y"]
        assert pair.tokens.tolist() == expected["tokens"] and pair.member == expected["base"]
        assert np.allclose(pair.formula(pair.x), pair.y)
    assert len(list(symlaw.pairs(count=3, start=7, depth=1))) == 3
    again = pickle.loads(pickle.dumps(data))
    assert again[11].y.tobytes() == data[11].y.tobytes() and len(again) == len(data)
    assert repr(data).startswith(f"<symlaw.pairs('test'): {len(data)} pairs of <symlaw.universe(depth=2")
    with pytest.raises(ValueError, match="no split"):
        symlaw.pairs("exam", depth=1)
    with pytest.raises(ValueError, match="below 0"):
        symlaw.pairs(count=-1, depth=1)


def test_fit_gives_the_answers_of_scipy():
    optimize = pytest.importorskip("scipy.optimize")
    t = np.linspace(0, 5, 30)
    y = 3 * np.exp(-0.7 * t) + 0.4 + 0.01 * np.random.default_rng(0).normal(size=30)
    value, covariance = optimize.curve_fit(lambda t, a, k, c: a * np.exp(-k * t) + c, t, y, (1, 1, 0))
    found = symlaw.fit("load = a*exp(-k*`t [s]`) + c", {"t [s]": t, "load": y}, start={"a": 1, "k": 1},
                       bounds={"k": (0, None), "a": (0, 50)}, compare=["a*`t [s]` + c", "a/(`t [s]` + k)"])
    best = found["formulas"][0]
    assert len(found["formulas"]) == 3 and [c["name"] for c in best["constants"]] == ["a", "k", "c"]
    assert np.allclose([c["value"] for c in best["constants"]], value, rtol=1e-5)
    assert np.allclose([c["error"] for c in best["constants"]], np.sqrt(np.diag(covariance)), rtol=1e-3)
    with pytest.raises(ValueError, match="1 row of data"):
        symlaw.fit("a*t + b", {"t": [1.0], "y": [2.0]})
    with pytest.raises(ValueError, match="different numbers of rows: 't' 2, 'y' 1"):
        symlaw.fit("a*t + b", {"t": [1.0, 2.0], "y": [2.0]})
    with pytest.raises(ValueError, match='"a\\*q" has no column of the table in it'):
        symlaw.fit("a*q", {"t": [1.0, 2.0, 3.0], "y": [2.0, 3.0, 5.0]})


def test_fit_takes_groups_of_a_frame():
    pd = pytest.importorskip("pandas")
    t = np.tile(np.linspace(1, 5, 20), 2)
    frame = pd.DataFrame({"t": t, "who": ["one, first"] * 20 + ['"two"'] * 20, "y": 2.0 * t})
    frame.loc[frame.who == '"two"', "y"] *= 3
    frame["y"] += 0.001 * np.random.default_rng(1).normal(size=40)
    found = symlaw.fit("y = a*t", frame, group="who")
    assert "one, first" in found.output and found["exit"] == 0
    frame["t"] = frame["t"].astype("Float64")
    frame.loc[3, "t"] = pd.NA
    assert symlaw.fit("y = a*t", frame, group="who")["data"]["missing"] == 1
    with pytest.raises(ValueError, match="two columns have the same name"):
        symlaw.fit("y = a*t", pd.concat([frame, frame], axis=1))


TINY = dict(width=8, layers=1, depth=1, points=8, batch=4, valid_pairs=4, threads=1)


def test_train_makes_a_model_that_discover_takes(tmp_path):
    events = []
    run = symlaw.train(tmp_path / "run", steps=5, on_event=events.append, **TINY)
    assert run["exit"] == 0 and any(event.kind == "progress" for event in events)
    x = np.random.default_rng(0).uniform(1, 2, (20, 2))
    found = symlaw.discover(x, x[:, 0] + x[:, 1], search="model", model=tmp_path / "run", samples=4)
    assert len(found) > 0
    (tmp_path / "run").rename(tmp_path / "moved")  # nothing is remembered of a path
    with pytest.raises(symlaw.FileError):
        symlaw.discover(x, x[:, 0], search="model", model=tmp_path / "run")


def test_the_model_of_the_package_is_there():
    x = np.linspace(1, 2, 20)
    found = symlaw.discover(x, np.random.default_rng(0).normal(size=20), effort="low", search="model")
    assert any(c.source == "model" for c in found.candidates)


def test_ctrl_c_saves_a_run_that_goes_on(tmp_path):
    code = f"""
import os, signal, threading, symlaw
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
begun = threading.Event()
threading.Thread(target=lambda: (begun.wait(), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()
def see(event):
    if event.done > 10: begun.set()
try: symlaw.train({str(tmp_path / "run")!r}, steps=2000000, on_event=see, **{TINY!r})
except KeyboardInterrupt: print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "interrupted\n", done.stdout + done.stderr
    state = symlaw.command("info", run=tmp_path / "run")
    assert state["exit"] == 0
    with pytest.raises(symlaw.Cancelled):
        symlaw.train(tmp_path / "run", resume=True, on_event=lambda event: event.seconds > 0.2)


def test_laws_take_a_frame_a_mapping_or_a_file():
    path = ROOT / "studies" / "paper_runs.csv"
    if not path.exists():
        pytest.skip("not in the source tree")
    pd = pytest.importorskip("pandas")
    by_file = symlaw.laws(path, draws=50)
    by_frame = symlaw.laws(pd.read_csv(path, comment="#"), draws=50)
    assert by_file["loss"]["exponent"]["value"] == pytest.approx(0.2167, abs=1e-3)
    assert by_frame["loss"]["exponent"] == by_file["loss"]["exponent"]


def test_study_status_of_a_plan(tmp_path):
    plan = ROOT / "studies" / "quick.json"
    if not plan.exists():
        pytest.skip("not in the source tree")
    symlaw.study("init", plan, out=tmp_path / "study")
    assert symlaw.study("status", tmp_path / "study")["exit"] == 0


def test_python_dash_m_is_the_program():
    from symlaw._command import program
    if program() is None:
        pytest.skip("there is no program beside the library")
    done = subprocess.run([sys.executable, "-m", "symlaw", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("symlaw ")


@pytest.mark.parametrize("name", ["_formula", "_discovery", "_command", "_sets", "_study", "_regressor"])
def test_examples_of_the_documentation(name):
    if name == "_regressor":
        pytest.importorskip("sklearn")
        pytest.importorskip("pandas")
    pytest.importorskip("sympy")
    module = importlib.import_module("symlaw." + name)
    result = doctest.testmod(module, extraglobs={"np": np})
    assert result.failed == 0 and result.attempted > 0
