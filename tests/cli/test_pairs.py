"""The command `pairs`: ranges, splits, formats, statistics, files of pairs, signals and full disks."""
import collections
import io
import json
import math
import os
import re
import resource
import signal
import subprocess
import time

import numpy as np
import pytest

from tool import CLOSED, PROGRAM, expressions, run, wait_for_handler, wait_for_work

SMALL = ["--depth", "2"]  # 929 expressions, built at once
TINY = ["--depth", "1"]   # 20 expressions


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """The default set takes seconds to build: once is enough."""
    before = os.environ.get("SYMLAW_CACHE")
    os.environ["SYMLAW_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["SYMLAW_CACHE"]
    else:
        os.environ["SYMLAW_CACHE"] = before


def pairs(*args, **more):
    return run("pairs", *args, **more)


def lines(*args):
    r = pairs(*args, "--quiet")
    assert r.code == 0 and r.err == "", r
    return r.lines


def rows(*args):
    return [json.loads(line) for line in lines(*args)]


def binary(*args):
    done = subprocess.run([PROGRAM, "pairs", *args, "--quiet"], capture_output=True, timeout=120)
    assert done.returncode == 0 and done.stderr == b"", done
    return done.stdout


# ---------------------------------------------------------------- a function of its number

@pytest.fixture(scope="module")
def thousand():
    got = lines(*SMALL, "--count", "1000", "--threads", "1")
    assert len(got) == 1000 and len(set(got)) == 1000
    return got


@pytest.mark.parametrize("threads", ["2", "3", "0"])
def test_threads_change_no_byte(thousand, threads):
    assert lines(*SMALL, "--count", "1000", "--threads", threads) == thousand


@pytest.mark.parametrize("ends", [range(0, 1001, 100), [0, 1, 9, 10, 73, 74, 510, 513, 999, 1000]],
                         ids=["tens", "odd"])
def test_a_range_in_parts_is_the_range(thousand, ends):
    got = []
    for start, end in zip(ends, ends[1:]):
        got += lines(*SMALL, "--start", str(start), "--count", str(end - start), "--threads", "2")
    assert got == thousand


def test_a_pair_alone_is_the_line_of_the_range(thousand):
    for i in (0, 1, 511, 512, 999):
        assert lines(*SMALL, "--index", str(i)) == [thousand[i]]


@pytest.mark.parametrize("fmt", ["csv", "npy", "pretty"])
def test_threads_change_no_byte_of_other_formats(fmt):
    args = [*SMALL, "--split", "test", "--count", "300", "--format", fmt, "--threads"]
    assert binary(*args, "1") == binary(*args, "3")


def test_the_default_set_too():
    """Ten of training if nothing is said, and the same for every caller."""
    ten = lines()
    assert len(ten) == 10
    assert lines("--start", "3", "--count", "4", "--threads", "1") == ten[3:7]
    assert lines("--index", "9", "--threads", "2") == ten[9:]
    assert [json.loads(line)["id"] for line in ten] == [f"train/{i}" for i in range(10)]
    assert max(json.loads(line)["base"] for line in ten) > 10_000


def test_fields_of_a_line(thousand):
    for i, line in enumerate(thousand):
        row = json.loads(line)
        assert list(row) == ["id", "base", "expr", "latex", "tokens", "x", "y"]
        assert row["id"] == f"train/{i}" and 0 <= row["base"] < 929
        assert len(row["x"]) == 2 and {len(v) for v in (*row["x"], row["y"])} == {64}
        assert row["tokens"][-1] == 2 and not {0, 1, 2} & set(row["tokens"][:-1])
        assert all(abs(v) < 1e100 for v in (*row["x"][0], *row["x"][1], *row["y"]))


def test_the_base_is_what_constants_were_put_into():
    """Without constants a pair is its base, as the set lists it."""
    listing = expressions(*SMALL, "--format", "python").lines
    got = rows(*SMALL, "--split", "test", "--constant-chance", "0")
    assert [row["expr"] for row in got] == [listing[row["base"]] for row in got]
    with_constants = rows(*SMALL, "--split", "test")
    differ = sum(row["expr"] != listing[row["base"]] for row in with_constants)
    assert 0.6 < differ / len(with_constants) < 0.95


def numbers(text):
    return {int(n) for n in re.findall(r"(?<![\w/])\d+(?!\w)", text)}


def test_constants_keep_to_their_bounds():
    """Over x1 and x2 alone nothing merges: a*x + b with a, b up to 9, or up to what is said."""
    seen = set().union(*(numbers(row["expr"]) for row in rows("--depth", "0", "--count", "3000")))
    assert seen == set(range(2, 10)) | {1}
    seen = set().union(*(numbers(row["expr"]) for row in
                         rows("--depth", "0", "--count", "300", "--constant-max", "2")))
    assert seen == {1, 2}


# ---------------------------------------------------------------- splits

def test_splits_differ_and_have_their_size():
    got = {split: lines(*SMALL, "--split", split, "--withheld", "0.1", "--test-size", "60",
                        *(["--count", "60"] if split == "train" else []))
           for split in ("train", "valid", "test", "withheld")}
    data = collections.Counter()
    for split, texts in got.items():
        assert len(texts) == 60, split
        assert [json.loads(t)["id"] for t in texts] == [f"{split}/{i}" for i in range(60)]
        data.update(json.dumps([json.loads(t)["x"], json.loads(t)["y"]]) for t in texts)
    assert len(data) == 240
    # the bases of a split are distinct as long as there are enough of them
    for split in ("valid", "test", "withheld"):
        bases = [json.loads(t)["base"] for t in got[split]]
        assert len(set(bases)) == 60, split


def test_the_rest_of_a_split_is_the_default():
    assert len(lines(*SMALL, "--split", "test")) == 1000
    assert len(lines(*SMALL, "--split", "valid", "--start", "990")) == 10
    assert len(lines(*SMALL, "--split", "test", "--test-size", "7")) == 7
    assert lines(*SMALL, "--count", "0") == []


@pytest.mark.parametrize("seed", ["0", "1"])
def test_one_pass_sees_what_is_not_withheld_and_nothing_else(seed):
    """A whole pass: every base not withheld as often as it should, no base that is."""
    options = [*SMALL, "--withheld", "0.2", "--seed", seed]
    listing = [json.loads(line) for line in expressions(*options, "--json").lines]
    withheld = {row["index"] for row in listing if row["withheld"]}
    seen = {row["index"] for row in listing} - withheld
    assert 100 < len(withheld) < 300
    more = ["--draws", "4", "--points", "2"]
    got = rows(*options, *more, "--count", str(4 * len(seen)))
    counts = collections.Counter(row["base"] for row in got)
    assert set(counts) <= seen
    # a base whose 64 attempts all failed gave its place to the next one
    assert sum(counts[base] == 4 for base in seen) > 0.99 * len(seen)
    of_withheld = rows(*options, *more, "--split", "withheld")
    assert {row["base"] for row in of_withheld} <= withheld
    for split in ("valid", "test"):
        assert {row["base"] for row in rows(*options, *more, "--split", split)} <= seen


def test_further_passes_have_another_order_and_other_draws():
    more = [*TINY, "--draws", "3"]
    size = 60
    r = pairs(*more, "--count", str(2 * size))
    assert r.code == 0
    assert r.err == ("symlaw: one pass of training has 60 pairs; these continue into pass 2, "
                     "with fresh draws\n")
    got = [json.loads(line) for line in r.lines]
    first, second = got[:size], got[size:]
    for part in (first, second):
        assert collections.Counter(row["base"] for row in part) == {i: 3 for i in range(20)}
    assert [row["base"] for row in first] != [row["base"] for row in second]
    assert [row["base"] for row in first] != sorted(row["base"] for row in first)
    assert not {str(row["x"]) for row in first} & {str(row["x"]) for row in second}
    r = pairs(*more, "--index", "130")
    assert "these are of pass 3" in r.err and json.loads(r.out)["id"] == "train/130"


def test_seeds_differ():
    a, b = (lines(*SMALL, "--count", "20", "--seed", seed) for seed in ("0", "1"))
    assert not set(a) & set(b)


# ---------------------------------------------------------------- formats

@pytest.fixture(scope="module")
def as_rows():
    """(pairs, points, x1 x2 y), from JSON lines."""
    got = rows(*SMALL, "--split", "test", "--count", "50")
    return np.array([[*row["x"], row["y"]] for row in got]).transpose(0, 2, 1)


def test_npy_has_the_numbers_of_jsonl(as_rows, tmp_path):
    out = tmp_path / "a.npy"
    r = pairs(*SMALL, "--split", "test", "--count", "50", "--format", "npy", "--out", str(out))
    assert r.code == 0 and r.out == ""
    array = np.load(out)
    assert array.dtype == np.float64 and array.shape == (50, 64, 3)
    assert array.tobytes() == as_rows.tobytes()
    one = np.load(io.BytesIO(binary(*SMALL, "--split", "test", "--index", "7", "--format", "npy")))
    assert one.shape == (1, 64, 3) and (one[0] == as_rows[7]).all()
    none = np.load(io.BytesIO(binary(*SMALL, "--count", "0", "--format", "npy")))
    assert none.shape == (0, 64, 3)


def test_csv_has_the_numbers_of_jsonl(as_rows):
    text = pairs(*SMALL, "--split", "test", "--count", "50", "--format", "csv").out
    assert text.startswith("pair,x1,x2,y\n")
    table = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1)
    assert (table[:, 0] == np.repeat(np.arange(50), 64)).all()
    assert (table[:, 1:].reshape(50, 64, 3) == as_rows).all()
    text = pairs(*SMALL, "--split", "test", "--index", "7", "--format", "csv").out
    assert text.startswith("x1,x2,y\n")
    assert (np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1) == as_rows[7]).all()


def test_other_shapes():
    a = np.load(io.BytesIO(binary(*TINY, "--variables", "3", "--points", "5", "--count", "4",
                                  "--format", "npy")))
    assert a.shape == (4, 5, 4)
    a = np.load(io.BytesIO(binary(*TINY, "--variables", "1", "--count", "4", "--format", "npy")))
    assert a.shape == (4, 64, 2)
    assert all(len(row["x"]) == 1 for row in rows(*TINY, "--variables", "1", "--count", "20"))


def test_columns_that_are_not_used_may_be_left_out():
    options = [*TINY, "--count", "40", "--drop-column", "1"]
    got = rows(*options)
    array = np.load(io.BytesIO(binary(*options, "--format", "npy")))
    text = pairs(*options, "--format", "csv").out
    table = np.loadtxt(io.StringIO(text), delimiter=",", skiprows=1)
    assert {len(row["x"]) for row in got} == {1, 2}
    for row, block in zip(got, array):
        assert ("x2" in row["expr"]) == (len(row["x"]) == 2) and "x1" in row["expr"]
        assert (block[:, 0] == row["x"][0]).all() and (block[:, 2] == row["y"]).all()
        assert np.isnan(block[:, 1]).all() == (len(row["x"]) == 1)
    assert np.array_equal(table[:, 1:].reshape(array.shape), array, equal_nan=True)
    assert {len(row["x"]) for row in rows(*TINY, "--count", "40")} == {2}


def test_pretty_shows_all_there_is():
    out = pairs(*SMALL, "--split", "test", "--index", "17", "--format", "pretty").out
    row = rows(*SMALL, "--split", "test", "--index", "17")[0]
    assert out.startswith("test/17\n") and row["latex"] in out
    for word in ("infix", "base", "constants", "tokens", "data"):
        assert re.search(rf"^  {word} ", out, re.M), word
    assert f"{len(row['tokens'])}: " in out and "64 points" in out
    assert max(map(len, out.splitlines())) < 200
    fewer = pairs("--depth", "0", "--drop-column", "1", "--index", "0", "--format", "pretty").out
    assert "64 points, 1 of 2 columns, " in fewer
    several = pairs(*SMALL, "--split", "test", "--count", "3", "--format", "pretty").out
    assert re.findall(r"^test/\d+$", several, re.M) == ["test/0", "test/1", "test/2"]


def test_json_is_json_lines():
    five = [*SMALL, "--count", "5"]
    assert lines(*five, "--json", "--format", "pretty") == lines(*five, "--json") == lines(*five)


# ---------------------------------------------------------------- knobs

def columns(*args):
    got = rows(*TINY, "--ops", "+,-,*", "--count", "200", *args)  # nothing is ever dropped
    return np.array([row["x"] for row in got]), got


def test_columns_are_white_by_default():
    x, _ = columns()
    assert np.abs(x.mean(axis=2)).max() < 1e-12 and np.abs(x.std(axis=2) - 1).max() < 1e-12
    x, _ = columns("--whiten", "off")
    assert np.abs(x.mean(axis=2)).max() > 0.5 and np.abs(x.std(axis=2) - 1).max() > 0.2


def test_shift_and_stretch_move_columns():
    x, _ = columns("--shift", "10")
    mean = x.mean(axis=2)
    assert np.abs(mean).max() <= 10 + 1e-9 and np.abs(mean).max() > 8 and abs(mean.mean()) < 1
    assert np.abs(x.std(axis=2) - 1).max() < 1e-9
    x, _ = columns("--stretch", "8")
    scale = x.std(axis=2)
    assert 1 / 8 - 1e-9 <= scale.min() < 0.2 and 6 < scale.max() <= 8 + 1e-9


def test_noise_has_the_given_size():
    _, clean = columns()
    _, noisy = columns("--noise", "0.1")
    part = []
    for a, b in zip(clean, noisy):
        assert a["expr"] == b["expr"] and a["x"] == b["x"]
        ya, yb = np.array(a["y"]), np.array(b["y"])
        part.append(math.sqrt(((ya - yb) ** 2).mean() / (ya ** 2).mean()))
    assert 0.03 < np.mean(part) < 0.07 and max(part) < 0.15


def test_bounds_are_kept():
    for row in rows(*SMALL, "--count", "300", "--max-y", "5", "--max-tokens", "12"):
        assert max(map(abs, row["y"])) < 5 and len(row["tokens"]) <= 12


def test_whole_retries_leave_white_columns():
    """With --retry whole no point is dropped, so every data set has mean 0."""
    x = np.array([row["x"] for row in rows(*SMALL, "--count", "200", "--retry", "whole")])
    assert np.abs(x.mean(axis=2)).max() < 1e-12
    x = np.array([row["x"] for row in rows(*SMALL, "--count", "200")])
    assert np.abs(x.mean(axis=2)).max() > 0.1


# ---------------------------------------------------------------- figures

def test_stats_of_the_default_configuration():
    r = pairs("--stats", "20000", "--disjoint", "20000", "--json", "--quiet")
    assert r.code == 0, r
    stats = r.json["stats"]
    assert stats["good"] and stats["pairs"] == 20000 and stats["shared"] == 0
    assert stats["trained"] == 20000
    assert sum(stats["first_attempts"].values()) == 20000
    assert stats["success"] == stats["first_attempts"]["good"] / 20000
    assert 0.90 < stats["success"] < 0.95           # 0.924 by tools/peer_pairs.py
    assert 31 < stats["tokens_mean"] < 35           # 32.0, with SymPy's LaTeX
    assert 25 < stats["base_tokens_mean"] < 28
    assert stats["tokens_min"] >= 2 and stats["tokens_max"] <= 256
    assert 1 < stats["attempts_mean"] < 1.3 and stats["next_base"] == 0
    assert 0.1 < stats["dropped"] < 0.4 and 0 <= stats["exact_repeats"] < 0.5
    entropy = r.json["entropy"]
    assert entropy["bases"] == pytest.approx(np.log(100_000)) and entropy["pairs"] == 20000
    assert 25.5 < entropy["expressions"] < 26.4 < entropy["draws"] and entropy["error"] < 0.1
    checks = {check["what"]: check for check in stats["checks"]}
    assert len(checks) >= 10 and all(check["good"] for check in checks.values())
    tested = [check["p"] for check in checks.values() if check["test"] != "exact"]
    assert len(tested) >= 8 and all(1e-4 < p <= 1 for p in tested) and len(set(tested)) > 5
    assert r.json["set"]["size"] == 100_000 and r.json["pairs_per_pass"] == 360_000_000
    assert set(r.json["hash"]) == {"train", "valid", "test"}
    assert r.json["config"]["stats"] == 20000 and r.json["config"]["points"] == 64


def test_stats_are_those_of_the_pairs():
    """The figures, computed here from the pairs themselves."""
    stats = pairs(*SMALL, "--stats", "500", "--disjoint", "0", "--json").json["stats"]
    got = rows(*SMALL, "--count", "500")
    lengths = [len(row["tokens"]) for row in got]
    assert stats["tokens_mean"] == pytest.approx(np.mean(lengths))
    assert stats["tokens_median"] == pytest.approx(np.median(lengths), abs=0.5)
    assert (stats["tokens_min"], stats["tokens_max"]) == (min(lengths), max(lengths))


def test_stats_are_the_same_for_any_number_of_threads():
    """Apart from how long it took, and what was asked."""
    def figures(threads):
        result = pairs(*SMALL, "--stats", "3000", "--disjoint", "3000", "--json",
                       "--threads", threads).json
        del result["seconds"], result["config"]
        return result
    assert figures("1") == figures("2") == figures("3")


def test_stats_as_a_table():
    r = pairs(*SMALL, "--stats", "2000", "--disjoint", "2000", "--quiet")
    assert r.code == 0
    for word in ("measured", "expected", " p ", "chi-square", "Kolmogorov-Smirnov", "per pair",
                 "too few valid points", "good: "):
        assert word in r.out, word
    assert "NOT GOOD" not in r.out and "<- fails" not in r.out
    assert max(map(len, r.lines)) <= 100


def test_hashes_name_a_configuration():
    def hashes(*args):
        r = pairs(*TINY, "--hash", *args)
        assert r.code == 0
        return dict(re.findall(r"^  (train|valid|test|withheld) +([0-9a-f]{32})", r.out, re.M))
    plain = hashes()
    assert set(plain) == {"train", "valid", "test"} and len(set(plain.values())) == 3
    assert hashes("--threads", "1") == hashes("--threads", "3") == plain
    assert pairs(*TINY, "--hash", "--json").json["hash"] == plain
    assert set(hashes("--withheld", "0.3")) == {"train", "valid", "test", "withheld"}
    for change in (["--seed", "1"], ["--points", "63"], ["--clusters", "4"], ["--max-y", "2"],
                   ["--constant-chance", "0.3"], ["--shape", "dataset"], ["--whiten", "off"],
                   ["--counts", "proportional"], ["--noise", "0.1"], ["--shift", "1"],
                   ["--stretch", "2"], ["--constant-max", "8"], ["--drop-column", "0.5"]):
        other = hashes(*change)
        assert all(other[split] != plain[split] for split in plain), change


# ---------------------------------------------------------------- wrong use

WRONG = [
    (["--split", "withheld"], "no expressions are withheld; give --withheld"),
    (["--split", "tset"], "did you mean test?"),
    (["--index", "3", "--count", "2"], "--index is one pair and --count"),
    (["--index", "3", "--start", "2"], "--index is one pair and --start"),
    (["--index", "-1"], "--index must be a whole number from 0"),
    (["--start", "-1"], "--start must be a whole number from 0"),
    (["--split", "test", "--start", "1000"], "no pair 1,000: test has 1,000 pairs, 0 to 999"),
    (["--split", "test", "--start", "995", "--count", "6"], "there is no pair 1,000"),
    (["--split", "valid", "--index", "1000"], "--test-size makes more"),
    (["--split", "test", "--test-size", "5", "--index", "5"], "no pair 5: test has 5 pairs"),
    (["--split", "test", "--test-size", "1", "--index", "5"], "test has 1 pair, 0 to 0"),
    (["--format", "parquet"], "--format must be one of jsonl, csv, npy, pretty"),
    (["--format", "csv", "--json"], "give one of them"),
    (["--stats", "10", "--hash"], "--stats and --hash ask for different things"),
    (["--stats", "0"], "--stats must be a whole number from 1"),
    (["--points", "1"], "--points must be a whole number from 2 to 4096, not 1"),
    (["--points", "1e9"], "--points must be"),
    (["--clusters", "0"], "--clusters must be"),
    (["--constant-chance", "1.1"], "--constant-chance must be a number from 0 to 1"),
    (["--constant-max", "0"], "--constant-max must be"),
    (["--max-y", "0"], "--max-y must be"),
    (["--max-y", "inf"], "--max-y must be"),
    (["--max-y", "1e200"], "--max-y must be a number from 1e-100 to 1e+150, not 1e+200\n"),
    (["--shape", "square"], "--shape must be one of cluster, dataset"),
    (["--whiten", "yes"], "--whiten must be one of off, on"),
    (["--noise", "nan"], "--noise must be"),
    (["--stretch", "0.5"], "--stretch must be"),
    (["--max-tokens", "1"], "--max-tokens must be"),
    (["--max-tokens", "257"], "--max-tokens must be"),
    (["--withheld", "1"], "all expressions are withheld"),
    (["--variables", "4"], "it can have 1 to 3"),
    (["--point", "3"], "did you mean --points?"),
]


@pytest.mark.parametrize("args, says", WRONG, ids=[" ".join(args) for args, _ in WRONG])
def test_wrong_use_is_named_and_exits_2(args, says):
    r = pairs(*SMALL, *args)
    assert r.code == 2 and r.out == "" and says in r.err, r
    assert r.err.startswith("symlaw: ")


def test_wrong_use_costs_no_waiting():
    for args in (["--split", "withheld"], ["--index", "1", "--count", "1"], ["--points", "1"]):
        # a set this large is refused as soon as it is begun, by another message
        r = pairs(*args, "--depth", "4", "--variables", "3")
        assert r.code == 2 and "raw candidates" not in r.err, r


# ---------------------------------------------------------------- pairs of others

def from_file(tmp_path, content, *args):
    path = tmp_path / "given.jsonl"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content)
    return path, pairs("--from", str(path), *args)


def test_our_own_file_is_good(tmp_path):
    path = tmp_path / "test.jsonl"
    assert pairs(*SMALL, "--split", "test", "--out", str(path)).code == 0
    r = pairs("--from", str(path))
    assert r.code == 0 and r.err == ""
    assert r.out == (f"{path}: 1,000 lines, 1,000 good, 0 bad; 64 points, 2 columns; "
                     "1,000 with expr\n")
    r = pairs("--from", str(path), "--json")
    assert (r.json["good"], r.json["bad"], r.json["noted"]) == (1000, 0, 0)
    with open(path) as f:
        r = pairs("--from", "-", stdin=f)
    assert r.code == 0 and "1,000 good" in r.out


def line(**change):
    return json.dumps({"x": [[1, 2, 3], [4, 5, 6]], "y": [1.5, 2, 7], **change})


BAD = [
    ('{"x": [[1, NaN], [1, 2]], "y": [1, 2]}', "NaN"),
    ('{"x": [[1, 2], [1, 2]], "y": [1, Infinity]}', "Infinity"),
    (line(y=[1, 2, None]), "y[2]"),
    (line(y=[1, 2, "3"]), "y[2]"),
    (line(y=[1, 2, True]), "y[2]"),
    (line(y=[1, 2, [3]]), "y[2]"),
    (line(x=[[1, 2, 3], [4, None, 6]]), "x[1][1]"),
    (line(y=[1, 2]), "x[0] has 3 values but y has 2"),
    (line(x=[[1, 2, 3], [4, 5]]), "x[1] has 2 values but y has 3"),
    (line(x=[[1, 2, 3]] * 3), "3 columns"),
    (line(x=[]), "x has no columns"),
    (line(x=[[], []], y=[]), "at least 2"),
    (line(x=[[1]], y=[1]), "y has 1 value, but at least 2"),
    (line(x=[1, 2, 3]), "x[0]"),
    (line(x="text"), "x must be a list of columns"),
    (line(expr="x1 +"), "expr, column"),
    (line(expr="foo(x1)"), "foo"),
    (line(expr=7), "expr is"),
    (line(expr="x2", x=[[1, 2, 3]]), "there is no x2"),
    (line(expr="c1*x1"), "c1"),
    (line(id=[7]), "id is an array"),
    ('{"y": [1, 2]}', "there is no x"),
    ('{"x": [[1, 2], [1, 2]]}', "there is no y"),
    ('{"x": [[1, 2], [1, 2]], "y": [1, 2]', "JSON, column 35: '}' expected near end of line"),
    ('{"x": [[1, 2]], "y": [1, 2], "y": [3, 4]}', "duplicate"),
    ('{"x": [[1, 2]], "y": [1, 2]} and more', "and"),
    ('{"x": [[1, 1e999], [1, 2]], "y": [1, 2]}', "1e999"),
    ("x1,x2,y", "JSON, column 1"),
    ("[1, 2]", "object"),
    ("17", "object"),
    ("null", "object"),
]


@pytest.mark.parametrize("bad, says", BAD, ids=[bad[:60] for bad, _ in BAD])
def test_a_bad_line_is_named_with_its_reason(bad, says, tmp_path):
    path, r = from_file(tmp_path, f"{line()}\n{bad}\n{line(expr='x1*x2')}\n")
    assert r.code == 1, r
    named = [text for text in r.lines if text.startswith(f"{path}:2: ")]
    assert len(named) == 1 and says in named[0].removeprefix(f"{path}:2: "), r
    assert f"{path}: 3 lines, 2 good, 1 bad" in r.out
    r = pairs("--from", str(path), "--json")
    assert r.code == 1 and (r.json["good"], r.json["bad"]) == (2, 1)
    assert [p["line"] for p in r.json["problems"]] == [2]
    assert f"{path}:2: {r.json['problems'][0]['reason']}" == named[0]


def test_bytes_that_are_no_text_are_a_bad_line(tmp_path):
    good = line().encode()
    for bad in (b'{"id": "\xff", "x": [[1, 2]], "y": [1, 2]}', b"\x00\x01\x02", b"\xff\xfe"):
        path, r = from_file(tmp_path, good + b"\n" + bad + b"\n" + good)
        assert r.code == 1 and f"{path}:2: " in r.out and "2 good, 1 bad" in r.out, (bad, r)


def test_every_bad_line_is_counted_and_the_first_are_shown(tmp_path):
    path, r = from_file(tmp_path, "\n".join(line() if i % 3 else "{" for i in range(1, 91)) + "\n")
    assert r.code == 1 and "90 lines, 60 good, 30 bad" in r.out
    shown = [int(n) for n in re.findall(rf"^{re.escape(str(path))}:(\d+): ", r.out, re.M)]
    assert shown == list(range(3, 61, 3)) and "and 10 more bad lines" in r.out
    r = pairs("--from", str(path), "--errors", "2")
    assert len(r.lines) == 4 and "and 28 more bad lines" in r.out
    assert "and 1 more bad line\n" in pairs("--from", str(path), "--errors", "29").out


def test_every_note_is_counted_and_the_first_are_shown(tmp_path):
    path, _ = from_file(tmp_path, f"{line(expr='x1')}\n" * 3)
    for shown, says in ((1, "and 2 more notes\n"), (2, "and 1 more note\n"), (3, "")):
        r = pairs("--from", str(path), "--errors", str(shown))
        assert r.code == 0 and r.out.count(": note: ") == shown, r
        assert says in r.out and ("more" in r.out) == bool(says), r


def test_good_lines_of_others(tmp_path):
    texts = [line(id=17), line(id="mine", more={"a": [1]}), line(x=[[1, 2, 3]]), line(expr="x1**2"),
             line(x=[[1.5, -2e-3, 0]], y=[2.5, 3, -4]), "", "   "]
    path, r = from_file(tmp_path, "\r\n".join(texts))
    assert "5 lines, 5 good, 0 bad" in r.out and r.code == 0, r
    path, r = from_file(tmp_path, line(x=[[1, 2, 3]] * 3) + "\n", "--variables", "3")
    assert r.code == 0


def test_a_formula_that_does_not_fit_is_noted(tmp_path):
    path, r = from_file(tmp_path, f"{line(expr='x1*x2')}\n{line(expr='x1*x2', y=[4, 10, 18])}\n"
                                  f"{line(expr='sqrt(-x1)')}\n{line(expr='cos(x1)')}\n")
    assert r.code == 0
    notes = re.findall(rf"^{re.escape(str(path))}:(\d+): note: (.*)$", r.out, re.M)
    assert [int(n) for n, _ in notes] == [1, 3, 4, 4], r
    for (_, said), says in zip(notes, ("expr gives 18 where y is 7", "no real value",
                                       "cannot be written as tokens", "expr gives")):
        assert says in said


def test_files_without_pairs(tmp_path):
    for content in ("", "\n", "  \n\n"):
        _, r = from_file(tmp_path, content)
        assert r.code == 1 and "0 lines, 0 good" in r.out, r


@pytest.mark.parametrize("path, says", [("/nonexistent/pairs.jsonl", "No such file"), ("/", "")])
def test_files_that_cannot_be_read(path, says):
    r = pairs("--from", path)
    assert r.code == 3 and r.out == "" and path in r.err and says in r.err, r


def test_a_very_long_line_ends_well(tmp_path):
    path, r = from_file(tmp_path, '{"x": [[' + "1," * 2_000_000 + "\n" + line() + "\n")
    assert r.code == 1 and f"{path}:1: " in r.out and "1 good, 1 bad" in r.out
    assert max(map(len, r.lines)) < 1000
    path, r = from_file(tmp_path, "[" * 1_000_000 + "\n")
    assert r.code == 1 and "0 good, 1 bad" in r.out, r


# ---------------------------------------------------------------- the world

def test_a_closed_pipe_ends_by_its_signal():
    """As in `symlaw pairs ... | head -1`."""
    p = subprocess.Popen([PROGRAM, "pairs", *SMALL, "--count", "1000000", "--quiet"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert p.stdout.readline()
    p.stdout.close()
    assert p.wait(timeout=30) == -signal.SIGPIPE
    assert p.stderr.read() == CLOSED
    p.stderr.close()


@pytest.mark.parametrize("fmt", ["jsonl", "csv", "npy", "pretty"])
def test_a_full_disk_is_reported(fmt):
    r = pairs(*SMALL, "--count", "500", "--format", fmt, "--out", "/dev/full")
    assert r.code == 3 and "/dev/full" in r.err and "No space left" in r.err
    with open("/dev/full", "w") as full:
        r = pairs(*SMALL, "--count", "500", "--format", fmt, stdout=full)
    assert r.code == 3
    assert r.err == "symlaw: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize("args", [["--stats", "100", "--disjoint", "0"], ["--hash"]])
def test_a_full_disk_under_figures_is_reported(args):
    with open("/dev/full", "w") as full:
        assert pairs(*TINY, *args, stdout=full).code == 3


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    out = tmp_path / "pairs.npy"
    out.write_text("old\n")
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    r = pairs(*SMALL, "--count", "2000", "--format", "npy", "--out", str(out), preexec_fn=limit)
    assert r.code == 3 and "File too large" in r.err and str(out) in r.err, r
    assert out.read_text() == "old\n" and os.listdir(tmp_path) == ["pairs.npy"]


@pytest.mark.parametrize("path, says", [("/nonexistent/a", "does not exist"), ("/", "folder")])
def test_a_wrong_path_costs_no_waiting(path, says):
    # the options are wrong too, which is only seen when work begins
    r = pairs("--depth", "3", "--ops", "nonsense", "--out", path)
    assert r.code == 3 and says in r.err


def interrupted(number, *args):
    p = subprocess.Popen([PROGRAM, "pairs", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True)
    wait_for_work(p, 0.7)
    assert p.poll() is None, "it was over before the signal"
    p.send_signal(number)
    out, err = p.communicate(timeout=30)
    return p.returncode, out, err


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("fmt", ["jsonl", "npy"])
def test_a_signal_leaves_no_file(number, code, fmt, tmp_path):
    got, out, err = interrupted(number, *SMALL, "--count", "50000000", "--format", fmt, "--out",
                                str(tmp_path / "file"))
    assert got == code and out == "" and "interrupted" in err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("args", [["--stats", "100000000"],
                                  ["--stats", "1000", "--disjoint", "100000000000"]])
def test_a_signal_stops_figures(args):
    got, out, err = interrupted(signal.SIGINT, *SMALL, *args)
    assert got == 130 and out == "" and "interrupted" in err


def test_results_go_to_a_file_whole(tmp_path):
    out = tmp_path / "out"
    for args in (["--count", "20"], ["--count", "20", "--format", "csv"], ["--hash"],
                 ["--stats", "50", "--disjoint", "50"]):
        r = pairs(*TINY, *args, "--out", str(out))
        assert r.code == 0 and r.out == "" and out.read_text() == pairs(*TINY, *args).out
    assert os.listdir(tmp_path) == ["out"]


def test_a_constant_y_is_noted(tmp_path):
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"x": [[1, 2]], "y": [3, 3]}\n{"x": [[1, 2]], "y": [3, 4]}\n')
    r = run("pairs", "--from", str(file))
    assert r.code == 0 and f"{file}:1: note: y is the same at all points" in r.out
    assert f"{file}:2:" not in r.out


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_waiting_for_lines_can_be_stopped(number, code):
    p = subprocess.Popen([PROGRAM, "pairs", "--from", "-"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    p.stdin.write('{"x": [[1, 2]], "y": [1, 2]}\n')
    p.stdin.flush()
    wait_for_handler(p, number)
    time.sleep(0.2)
    p.send_signal(number)
    assert p.wait(timeout=60) == code
    p.stdin.close()


# ---------------------------------------------------------------- constants

@pytest.mark.parametrize("command", ["pairs", "train", "info"])
def test_help_describes_the_constants(command):
    text = " ".join(run(command, "--help").out.split())
    assert "whole numbers from -N to N: factors without 0 and 1, summands without 0" in text


@pytest.mark.parametrize("largest, factors, summands", [("1", {-1}, {-1, 1}), ("2", {-2, -1, 2}, {-2, -1, 1, 2})])
def test_constants_are_as_in_the_help(largest, factors, summands):
    """x becomes a x + b, so the value at 0 is b, and a is what a step adds."""
    r = run("pairs", "--depth", "0", "--variables", "1", "--constant-chance", "1", "--constant-max", largest,
            "--count", "300")
    assert r.code == 0, r
    seen = {(eval(e, {"x1": 1}) - eval(e, {"x1": 0}), eval(e, {"x1": 0}))
            for e in (json.loads(line)["expr"] for line in r.lines)}
    assert seen == {(a, b) for a in factors for b in summands}
