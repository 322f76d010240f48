"""symlaw eval: the same figures however it is run, stopped, killed and resumed; problems from files; wrong use."""
import csv
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tool import PROGRAM, run, wait_for_work

ROOT = Path(__file__).parents[2]
os.environ.pop("SYMLAW_MODEL", None)
JUDGE = [sys.executable, "-B", str(ROOT / "tools" / "judge_eval.py")]
DATA = ["--depth", "1", "--points", "8", "--set-size", "0"]
TRAIN = [*DATA, "--width", "16", "--layers", "1", "--batch", "16", "--dropout", "0", "--attention-dropout", "0",
         "--init-scale", "0.15", "--lr", "8e-3", "--valid-pairs", "0"]
SHARES = ("exact", "solved", "equal", "same_tokens", "close", "fresh", "among")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The folder of a run that has learned a little."""
    folder = tmp_path_factory.mktemp("eval") / "run"
    r = run("train", *TRAIN, "--steps", "400", "--withheld", "0.2", "--out", str(folder))
    assert r.code == 0, r
    return folder


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Pairs of the model's test split, as `symlaw pairs` writes them."""
    path = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    r = run("pairs", *DATA, "--withheld", "0.2", "--split", "test", "--count", "24", "--out", str(path))
    assert r.code == 0, r
    return path


def evaluate(model, *args, **more):
    return run("eval", "--model", str(model), *map(str, args), **more)


def figures(model, *args):
    """The result without what depends on the clock and the call."""
    r = evaluate(model, *args, "--json", "--quiet")
    assert r.code == 0, r
    j = r.json
    for name in ("seconds", "time", "config", "resumed", "predictions", "journal"):
        j.pop(name)
    return j


def lines(path):
    return [json.loads(x) for x in Path(path).read_text().splitlines()]


def found(path):
    """Predictions without the time they took."""
    return [{k: v for k, v in x.items() if k != "seconds"} for x in lines(path)]


def wilson(hits, n):
    z = 1.959963984540054
    middle, half = hits + z * z / 2, z * math.sqrt(hits * (n - hits) / n + z * z / 4)
    return (middle - half) / (n + z * z), (middle + half) / (n + z * z)


# ---------------------------------------------------------------- figures

def test_figures_fit_together(model, tmp_path):
    out = tmp_path / "p.jsonl"
    r = evaluate(model, "--samples", 16, "--seeds", 2, "--limit", 40, "--json", "--predictions", out)
    assert r.code == 0, r
    j = r.json
    assert j["config"]["split"] == "test" and j["problems"]["count"] == 40 and j["problems"]["name"] == "test"
    assert j["seeds"] == 2 and j["judgements"] == 80 and j["cut"] == j["resumed"] == 0
    assert j["model"]["path"].endswith("model-00000400.safetensors") and j["model"]["step"] == 400
    every = j["all"]
    for name in SHARES:
        s = every[name]
        assert s["n"] == 80 and s["share"] == pytest.approx(s["hits"] / 80)
        assert s["share"] == pytest.approx(sum(s["seeds"]) / 2)  # the mean over seeds
        assert (s["seed_lo"], s["seed_hi"]) == (min(s["seeds"]), max(s["seeds"]))
        assert s["lo"] <= s["share"] <= s["hi"]
    assert every["exact"]["hits"] == every["solved"]["hits"] + every["equal"]["hits"] > 0
    assert every["same_tokens"]["hits"] <= every["exact"]["hits"] <= every["close"]["hits"] < 80
    assert every["exact"]["hits"] <= every["among"]["hits"]
    assert j["loss"] > j["loss_token"] > 0 and j["loss_error"] > 0
    assert 1 <= j["distinct"] <= 16 and 0 <= sum(j["invalid"].values()) < 1
    assert 0 < j["time"]["median"] <= j["time"]["most"]
    by = {}
    for row in j["groups"]:
        by.setdefault(row["group"], []).append(row)
    assert set(by) == {"depth", "constants", "top"}
    for rows in by.values():  # each problem is in one row of each group
        assert sum(x["problems"] for x in rows) == 40
        for name in SHARES:
            assert sum(x[name]["hits"] for x in rows) == every[name]["hits"]
    assert {x["value"] for x in by["depth"]} <= {"0", "1"}

    p = lines(out)
    assert len(p) == 40 and not Path(str(out) + ".part").exists()
    # the file has the first seed's
    exact = sum(x["status"] in ("solved", "equal") for x in p)
    assert exact / 40 == pytest.approx(every["exact"]["seeds"][0])
    for x in p:
        assert set(x) == {"id", "expr", "latex", "r2", "status", "seconds"} and x["seconds"] > 0


def test_intervals_are_wilsons(model):
    """As of one seed, with the mean of hits: other seeds judge the same problems."""
    for seeds in (1, 3):
        s = figures(model, "--samples", 8, "--limit", 30, "--seeds", seeds)["all"]["close"]
        lo, hi = wilson(s["hits"] / seeds, 30)
        assert (s["lo"], s["hi"]) == pytest.approx((lo, hi), abs=1e-6)


def test_threads_make_no_difference(model, tmp_path):
    one = figures(model, "--samples", 16, "--limit", 24, "--threads", 1, "--predictions", tmp_path / "a")
    two = figures(model, "--samples", 16, "--limit", 24, "--threads", 2, "--predictions", tmp_path / "b")
    assert one == two and found(tmp_path / "a") == found(tmp_path / "b")


def test_seeds_differ_and_are_those_of_single_runs(model, tmp_path):
    together = figures(model, "--samples", 8, "--limit", 40, "--seeds", 3, "--seed", 5)["all"]
    alone = [figures(model, "--samples", 8, "--limit", 40, "--seeds", 1, "--seed", 5 + k, "--predictions",
                     tmp_path / str(k))["all"] for k in range(3)]
    for name in SHARES:
        assert together[name]["seeds"] == [x[name]["share"] for x in alone], name
    texts = [[x["expr"] for x in lines(tmp_path / str(k))] for k in range(3)]
    assert texts[0] != texts[1] != texts[2] != texts[0]


def test_a_split_is_that_of_the_training(model, pairs, tmp_path):
    """The checkpoint says how data were drawn: the pairs are those that `pairs` prints for these options."""
    a, b = tmp_path / "a", tmp_path / "b"
    ours = figures(model, "--samples", 8, "--seeds", 1, "--limit", 24, "--predictions", a)
    theirs = figures(model, "--samples", 8, "--seeds", 1, "--pairs", pairs, "--predictions", b)
    assert [(x["expr"], x["r2"]) for x in lines(a)] == [(x["expr"], x["r2"]) for x in lines(b)]
    assert [x["id"] for x in lines(a)] == [x["id"] for x in lines(b)] == [x["id"] for x in lines(pairs)]
    assert ours["loss"] == pytest.approx(theirs["loss"])
    valid = figures(model, "--samples", 8, "--seeds", 1, "--limit", 24, "--split", "valid")
    withheld = figures(model, "--samples", 8, "--seeds", 1, "--limit", 24, "--split", "withheld")
    assert len({x["problems"]["hash"] for x in (ours, theirs, valid, withheld)}) >= 3


def test_people_get_tables(model, tmp_path):
    r = evaluate(model, "--samples", 8, "--limit", 12, "--predictions", tmp_path / "p")
    assert r.code == 0, r
    text = r.out
    for word in ("Acc_solved", "  solved", "  equal", "same tokens", "Acc_R2 > 0.99", "fresh points",
                 "among candidates", "nats per expression", "distinct", "invalid", "s per problem", "by depth",
                 "by constants", "by top", "95 %", str(tmp_path / "p")):
        assert word in text, word
    assert max(map(len, r.lines)) <= 110
    r = evaluate(model, "--samples", 8, "--limit", 12, "--out", tmp_path / "table")
    assert r.code == 0 and r.out == "" and "Acc_solved" in (tmp_path / "table").read_text()


def test_other_ways_to_decode(model):
    """Greedy gives one sample; the grammar leaves none that is no expression."""
    greedy = figures(model, "--decode", "greedy", "--limit", 12, "--seeds", 2)
    assert greedy["distinct"] <= 1
    for name in SHARES:  # nothing is drawn, so seeds are alike
        assert len(set(greedy["all"][name]["seeds"])) == 1
    raw = figures(model, "--samples", 32, "--temperature", 3, "--limit", 12, "--seeds", 1)
    held = figures(model, "--samples", 32, "--temperature", 3, "--limit", 12, "--seeds", 1, "--grammar", "on")
    syntax = ("syntax", "early-end", "no-end", "special", "reserved")
    assert sum(raw["invalid"][x] for x in syntax) > 0 == sum(held["invalid"][x] for x in syntax)
    refined = figures(model, "--samples", 32, "--limit", 12, "--seeds", 1, "--refine", "-1")
    plain = figures(model, "--samples", 32, "--limit", 12, "--seeds", 1)
    assert refined["all"]["close"]["hits"] >= plain["all"]["close"]["hits"]


# ---------------------------------------------------------------- baselines

def test_baselines_are_judged_on_the_same_problems(model, tmp_path):
    args = ("--samples", 32, "--seeds", 2, "--limit", 60)
    by = {source: figures(model, *args, "--source", source) for source in ("model", "blind", "linear")}
    assert figures(model, *args) == by["model"]  # the default
    for source, j in by.items():
        assert j["source"] == source and j["problems"] == by["model"]["problems"] and j["judgements"] == 120
        assert j["model"] == by["model"]["model"]
    assert by["model"]["loss"] > 0 and by["blind"]["loss"] is by["linear"]["loss"] is None
    assert by["blind"]["loss_error"] is by["blind"]["loss_token"] is None
    assert sum(by["blind"]["invalid"].values()) == 0 and 1 < by["blind"]["distinct"] <= 32
    assert by["linear"]["distinct"] == 0 and set(by["linear"]["invalid"].values()) == {None}
    assert by["linear"]["all"]["exact"]["hits"] > 0  # depth 1 has sums
    assert len(set(by["linear"]["all"]["close"]["seeds"])) == 1
    assert by["blind"]["all"]["solved"]["hits"] > 0  # a small set: some truth is among 32 draws


@pytest.mark.parametrize("source", ["blind", "linear"])
def test_baselines_do_not_depend_on_threads(model, source, tmp_path):
    kept = []
    for threads in (1, 3):
        out = tmp_path / f"{threads}.jsonl"
        kept.append((figures(model, "--source", source, "--samples", 24, "--seeds", 2, "--limit", 30, "--threads", threads,
                             "--predictions", out), found(out)))
    assert kept[0] == kept[1] and len(kept[0][1]) == 30
    assert all(x["expr"] for x in kept[0][1])


def test_samples_and_seed_are_of_blind_draws_too(model):
    def closest(*args):
        j = figures(model, "--source", "blind", "--limit", 40, "--seeds", 1, *args)
        return j["all"]["among"]["hits"], j["distinct"]
    few, many = closest("--samples", 4), closest("--samples", 400)
    assert few[0] < many[0] and few[1] <= 4 < many[1]
    assert closest("--samples", 64) != closest("--samples", 64, "--seed", 1)


@pytest.mark.parametrize("source", ["blind", "linear"])
def test_baselines_on_problems_of_others(model, pairs, source, tmp_path):
    table = tmp_path / "formulas.csv"
    table.write_text("name,formula,lo,hi,npoints\nline,3*x1 - 2,0,2,20\none,x1,0,1,20\n")
    j = figures(model, "--source", source, "--pairs", pairs, "--samples", 16)
    assert j["problems"]["count"] == 24 and j["source"] == source and j["all"]["exact"]["n"] == 72
    out = tmp_path / "p.jsonl"
    j = figures(model, "--source", source, "--formulas", table, "--samples", 64, "--predictions", out)
    assert sum(j["invalid"].values()) == 0 if source == "blind" else j["distinct"] == 0  # x1 alone, and no draw has x2
    if source == "linear":
        assert [x["status"] for x in found(out)] == ["equal", "solved"]


def test_the_journal_of_another_source_is_refused(model, tmp_path):
    journal = tmp_path / "j.jsonl"
    args = ("--samples", 8, "--seeds", 1, "--limit", 10, "--journal", journal)
    first = figures(model, *args, "--source", "blind")
    assert json.loads(journal.read_text().splitlines()[0])["identity"]["source"] == "blind"
    for other in ("linear", "model"):
        r = evaluate(model, *args, "--source", other)
        assert r.code == 2 and 'its "source" is "blind", not "%s"' % other in r.err, r
    r = evaluate(model, *args, "--source", "blind", "--json", "--quiet")
    assert r.json["resumed"] == 10 and r.json["all"] == first["all"]


def test_the_table_names_the_source(model):
    r = evaluate(model, "--source", "blind", "--samples", 8, "--seeds", 1, "--limit", 10)
    assert r.code == 0 and "source        blind: " in r.out and "nats per" not in r.out, r
    r = evaluate(model, "--source", "linear", "--seeds", 1, "--limit", 10)
    assert "source        linear: " in r.out and "invalid" not in r.out and "nan" not in r.out, r
    r = evaluate(model, "--source", "oracle")
    assert r.code == 2 and "model, blind, linear" in r.err, r


# ---------------------------------------------------------------- problems of others

def test_pairs_with_and_without_a_truth(model, pairs, tmp_path):
    mixed = [dict(x) for x in lines(pairs)[:8]]
    for i, x in enumerate(mixed):
        del x["base"], x["tokens"], x["latex"]
        if i % 2:
            del x["expr"]
    mixed[2]["id"], mixed[3]["id"] = 17, "seventeen"
    del mixed[4]["id"]
    path, out = tmp_path / "mixed.jsonl", tmp_path / "out.jsonl"
    path.write_text("\n".join(map(json.dumps, mixed[:4])) + "\n\n" + "\n".join(map(json.dumps, mixed[4:])))
    r = evaluate(model, "--pairs", path, "--predictions", out, "--samples", 16, "--json")
    assert r.code == 0, r
    got = lines(out)
    # as they were given; the sixth line, behind a blank one, has none
    assert [x["id"] for x in got] == ["test/0", "test/1", 17, "seventeen", 6, "test/5", "test/6", "test/7"]
    for i, x in enumerate(got):
        assert (x["status"] == "found") == bool(i % 2) or x["expr"] is None
    all_ = r.json["all"]
    assert all_["exact"]["n"] == 4 * 3 and all_["close"]["n"] == 8 * 3
    assert r.json["loss"] > 0

    for x in mixed:
        x.pop("expr", None)
    path.write_text("\n".join(map(json.dumps, mixed)))
    r = evaluate(model, "--pairs", path, "--samples", 16, "--json")
    assert r.code == 0 and r.json["all"]["exact"]["share"] is None and r.json["loss"] is None
    r = evaluate(model, "--pairs", path, "--samples", 16)
    assert r.code == 0 and "Acc_solved" not in r.out.split("by ")[0] and "Acc_R2" in r.out


@pytest.mark.parametrize("line, says", [
    ('{"x": [[1, 2]], "y": [1, null]}', "y[1] is null"),
    ('{"x": [[1, 2]], "y": [1, 2', "bad.jsonl:2:"),
    ('{"x": [[1, 2], [1, 2], [3, 4]], "y": [1, 2]}', "3"),
    ('{"id": "a", "x": [[1, 2]], "y": [1, 2]}', "id"),
])
def test_bad_lines_are_named(model, tmp_path, line, says):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"id": "a", "x": [[1, 2]], "y": [1, 2]}\n' + line + "\n")
    r = evaluate(model, "--pairs", path, "--predictions", tmp_path / "out")
    assert r.code == 2 and "bad.jsonl:2:" in r.err and says in r.err
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.part").exists()


def test_formulas(model, tmp_path):
    table = ROOT / "examples" / "formulas" / "public.csv"
    r = evaluate(model, "--formulas", table, "--samples", 4, "--seeds", 1, "--max-points", 50, "--json",
                 "--predictions", tmp_path / "out")
    assert r.code == 0, r
    with open(table) as f:
        names = [x["name"] for x in csv.DictReader(f)]
    assert len(names) == 40
    assert [x["id"] for x in lines(tmp_path / "out")] == names
    assert r.json["problems"]["count"] == 40 and r.json["problems"]["skipped"] == 0
    again = figures(model, "--formulas", table, "--samples", 4, "--seeds", 1, "--max-points", 50)
    other = figures(model, "--formulas", table, "--samples", 4, "--seeds", 1, "--max-points", 50, "--seed", 1)
    assert again["problems"]["hash"] == r.json["problems"]["hash"] != other["problems"]["hash"]
    wide = tmp_path / "wide.csv"
    wide.write_text("name,formula,lo,hi,npoints\na,x1 + x3,1,2,20\nb,sqrt(-x1^2 - 1),1,2,20\nc,x1 + x2,1,2,20\n")
    r = evaluate(model, "--formulas", wide, "--samples", 4, "--json")
    assert r.code == 0 and r.json["problems"]["skipped"] == 2 and "2 formulas are skipped" in r.err
    wide.write_text("name,formula,lo,hi,npoints\na,x1 + ,1,2,20\n")
    r = evaluate(model, "--formulas", wide)
    assert r.code == 2 and "wide.csv:2:" in r.err


# ---------------------------------------------------------------- stopped and killed

LONG = ["--samples", "1024", "--seeds", "2", "--threads", "1"]  # a second or more, unless stopped


def start(model, *args):
    return subprocess.Popen([PROGRAM, "eval", "--model", str(model), *map(str, args)], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for_lines(path, least, process):
    for _ in range(6000):
        if path.exists() and path.read_bytes().count(b"\n") >= least:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.kill()
    raise AssertionError("it does not get on")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_same_command_goes_on(model, pairs, tmp_path, how):
    whole, out, part = tmp_path / "whole", tmp_path / "out", tmp_path / "out.part"
    assert evaluate(model, "--pairs", pairs, *LONG, "--predictions", whole).code == 0
    p = start(model, "--pairs", pairs, *LONG, "--predictions", out)
    try:
        wait_for_lines(part, 8, p)
        p.send_signal(how)
        _, err = p.communicate(timeout=60)
    finally:
        p.kill()
    assert not out.exists() and part.exists()
    if how != signal.SIGKILL:
        assert p.returncode == 128 + how
        assert "interrupted" in err and f"are kept in {part}; the same command continues" in err
    kept = part.read_bytes().count(b"\n") - 1
    r = evaluate(model, "--pairs", pairs, *LONG, "--threads", 2, "--predictions", out, "--json")
    assert r.code == 0, r
    assert 0 < r.json["resumed"] <= r.json["judgements"] and abs(r.json["resumed"] - kept) <= 1
    assert found(out) == found(whole) and not part.exists()
    assert [list(x) for x in lines(out)] == [list(x) for x in lines(whole)]  # and in the same order


def test_a_journal_cut_anywhere_goes_on(model, tmp_path):
    """As a crash of the machine may leave it."""
    args = ["--samples", "8", "--seeds", "2", "--limit", "10"]
    journal, copy = tmp_path / "j", tmp_path / "copy"
    want = figures(model, *args, "--journal", journal)
    data = journal.read_bytes()
    assert len(data.splitlines()) >= 20
    for n in random.Random(3).sample(range(len(data)), 8):
        copy.write_bytes(data[:n])
        assert figures(model, *args, "--journal", copy) == want, n
    # with all of them there is nothing left to do, and it stays
    r = evaluate(model, *args, "--journal", journal, "--json")
    assert r.json["resumed"] == r.json["judgements"] == 20 and journal.read_bytes() == data


def test_a_stop_without_a_journal_is_reported(model):
    p = start(model, *LONG)
    wait_for_work(p, 0.5)
    p.send_signal(signal.SIGINT)
    try:
        _, err = p.communicate(timeout=60)
    finally:
        p.kill()
    assert p.returncode == 130 and "--journal FILE" in err


@pytest.mark.parametrize("other", [["--samples", "9"], ["--seeds", "3"], ["--seed", "1"], ["--limit", "7"],
                                   ["--temperature", "0.9"], ["--grammar", "on"], ["--timeout", "100"],
                                   ["--split", "valid"]])
def test_a_journal_of_other_options_is_refused(model, tmp_path, other):
    journal = tmp_path / "j"
    args = ["--samples", "8", "--seeds", "2", "--limit", "6", "--journal", journal]
    assert evaluate(model, *args).code == 0
    data = journal.read_bytes()
    r = evaluate(model, *args, *other)
    assert r.code == 2 and str(journal) in r.err
    assert journal.read_bytes() == data
    # what makes no difference to judgements is no reason
    assert evaluate(model, *args, "--threads", 1, "--quiet").code == 0


def test_a_journal_of_another_model_is_refused(model, tmp_path):
    journal = tmp_path / "j"
    args = ["--samples", "8", "--limit", "4", "--journal", journal]
    assert evaluate(model, *args).code == 0
    other = tmp_path / "other"
    assert run("train", *TRAIN, "--steps", "2", "--withheld", "0.2", "--out", str(other)).code == 0
    assert evaluate(other, *args).code == 2
    same = tmp_path / "same"  # by its weights, not by where it is
    same.mkdir()
    shutil.copy(model / "model-00000400.safetensors", same / "weights.safetensors")
    assert evaluate(same / "weights.safetensors", *args).code == 0


def test_a_journal_of_other_problems_is_refused(model, pairs, tmp_path):
    journal, path = tmp_path / "j", tmp_path / "pairs.jsonl"
    args = ["--samples", "8", "--seeds", "1", "--pairs", path, "--journal", journal]
    original = lines(pairs)[:3]

    def write(*changed):
        path.write_text("\n".join(map(json.dumps, changed)))

    write(*original)
    assert evaluate(model, *args).code == 0
    first = original[0]
    for other in (first | {"y": [first["y"][0] + 1, *first["y"][1:]]}, first | {"x": [first["x"][1], first["x"][0]]},
                  first | {"expr": "x1*x2 + 8"}, first | {"id": "another"}, {k: first[k] for k in ("id", "x", "y")}):
        write(other, *original[1:])
        assert evaluate(model, *args).code == 2, other
    write(original[1], original[0], original[2])
    assert evaluate(model, *args).code == 2
    write(*original)
    moved = tmp_path / "moved.jsonl"  # what a file is called makes no difference
    shutil.move(path, moved)
    r = evaluate(model, *args, "--pairs", moved, "--json")
    assert r.code == 0 and r.json["resumed"] == 3


# ---------------------------------------------------------------- time limits

def test_what_is_cut_is_marked(model, tmp_path):
    args = ["--samples", "200000", "--limit", "3", "--seeds", "1"]
    r = evaluate(model, *args, "--timeout", "0.05", "--predictions", tmp_path / "p", "--json")
    assert r.code == 0, r
    assert r.json["cut"] == 3 and [x.get("cut") for x in lines(tmp_path / "p")] == [True] * 3
    assert "timed out" in evaluate(model, *args, "--timeout", "0.05").out
    r = evaluate(model, "--samples", 8, "--limit", 3, "--timeout", "100", "--predictions", tmp_path / "p", "--json")
    assert r.json["cut"] == 0 and all("cut" not in x for x in lines(tmp_path / "p"))
    assert found(tmp_path / "p") == list(found_without_limit(model, tmp_path))


def found_without_limit(model, tmp_path):
    assert evaluate(model, "--samples", 8, "--limit", 3, "--predictions", tmp_path / "q").code == 0
    return found(tmp_path / "q")


# ---------------------------------------------------------------- wrong use

def test_wrong_use(model, tmp_path, pairs):
    cases = [
        (["--model", ""], "--model is empty"),
        (["--model", model, "--pairs", pairs, "--out", pairs], "--out and --pairs are one file"),
        (["--model", tmp_path / "nothing"], str(tmp_path / "nothing")),
        (["--model", tmp_path], str(tmp_path)),
        (["--model", model, "--split", "test", "--pairs", pairs], "--split and --pairs"),
        (["--model", model, "--formulas", "a", "--pairs", pairs], "--pairs and --formulas"),
        (["--model", model, "--split", "train"], "test, valid, withheld"),
        (["--model", model, "--seeds", "0"], "--seeds must be"),
        (["--model", model, "--pairs", pairs, "--predictions", pairs], "one file"),
        (["--model", model, "--pairs", pairs, "--predictions", "-"], "standard output"),
        (["--model", model, "--journal", pairs], str(pairs)),
    ]
    before = pairs.read_bytes()
    for args, says in cases:
        r = run("eval", *map(str, args))
        assert r.code in (2, 3) and says in r.err, (args, r)
    assert pairs.read_bytes() == before
    r = evaluate(model, "--pairs", pairs, "--predictions", tmp_path / "no" / "where")
    assert r.code == 3 and "no/where" in r.err
    r = evaluate(model, "--pairs", tmp_path / "missing.jsonl")
    assert r.code == 3 and "missing.jsonl" in r.err


def test_the_environment_may_name_the_model(model):
    r = run("eval", "--limit", "2", "--seeds", "1", "--json", env={**os.environ, "SYMLAW_MODEL": str(model)})
    assert r.code == 0 and r.json["config"]["model"] == str(model) and r.json["model"]["path"].startswith(str(model))


def test_no_withheld_split_without_withheld_bases(tmp_path):
    folder = tmp_path / "run"
    assert run("train", *TRAIN, "--steps", "1", "--out", str(folder)).code == 0
    r = evaluate(folder, "--split", "withheld")
    assert r.code == 2 and "withheld no expressions" in r.err


# ---------------------------------------------------------------- judged by values alone

def judge(*args):
    done = subprocess.run([*JUDGE, *map(str, args)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def test_an_independent_judge_agrees(model, pairs, tmp_path):
    out = tmp_path / "p.jsonl"
    r = evaluate(model, "--pairs", pairs, "--predictions", out, "--samples", 64, "--seeds", 1)
    assert r.code == 0, r
    code, text = judge(pairs, out)
    assert code == 0 and "verdicts agree: 24 of 24" in text and "faults: 0" in text, text

    # and it would have noticed
    p = lines(out)
    assert any(x["status"] == "solved" for x in p) and any(x["status"] in ("close", "miss") for x in p)
    for x in p:
        x["status"] = "solved" if x["status"] in ("close", "miss") else "miss"
    bad = tmp_path / "bad.jsonl"
    bad.write_text("\n".join(map(json.dumps, p)))
    code, text = judge(pairs, bad)
    assert code == 1 and "verdicts agree: 0 of 24" in text and "disagreements: 24" in text
    assert text.count("at fresh points they") + text.count("nothing was found") == 24
    bad.write_text("\n".join(map(json.dumps, [x | {"r2": 0.5} for x in lines(out)])))
    assert judge(pairs, bad)[0] == 1
    bad.write_text("\n".join(map(json.dumps, lines(out)[1:])))
    code, text = judge(pairs, bad)
    assert code == 1 and "23 predictions of 24 pairs" in text
    bad.write_text("{")
    assert judge(pairs, bad)[0] == 2
