"""Pairs checked by tools/judge_pairs.py, which uses NumPy and nothing of the library: y is the value
of expr at x, the LaTeX is the same expression, the tokens are those of the LaTeX. The script itself
must detect errors."""
import copy
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from tool import run

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import judge_pairs

SCALE = max(1, int(os.environ.get("SL_TEST_SCALE") or 1))


def judged(lines, **how):
    judge = judge_pairs.Judge(**how)
    for number, line in enumerate(lines, 1):
        judge.take(line, f"line {number}")
    return judge


# ---------------------------------------------------------------- the program's

@pytest.mark.parametrize("split, count, options", [
    ("train", min(2000 * SCALE, 20000), []),
    ("withheld", 300, ["--depth", "2", "--withheld", "0.1", "--seed", "3"]),
    ("test", 300, ["--depth", "2", "--points", "7", "--seed", "5"]),
    ("valid", 200, ["--depth", "2", "--variables", "1", "--ops", "exp,sin,+,*"]),
    ("train", 200, ["--depth", "1", "--variables", "3", "--retry", "whole", "--shape", "dataset"]),
])
def test_values_are_numpys(split, count, options):
    r = run("pairs", "--split", split, "--count", str(count), "--format", "jsonl", *options)
    assert r.code == 0 and len(r.lines) == count, r
    judge = judged(r.lines, whitened=True)
    assert not judge.faults, judge.faults[:3]
    assert judge.pairs == count and judge.unexplained == 0
    assert judge.share() >= judge_pairs.SHARE, judge.share()
    assert judge.good() and judge.white > 0.3 * count
    if judge_pairs.vocabulary():
        assert judge.has_table


def test_the_vocabulary_is_written_down():
    """Where docs/formats.md has its table, it is the whole one: 104 rows, no text twice."""
    table = judge_pairs.vocabulary()
    assert sorted(table) == list(range(104))
    assert len(set(table.values())) == 104
    assert [table[i] for i in range(3)] == ["<pad>", "<start>", "<end>"]


# ---------------------------------------------------------------- the judge

def pair_of(expr, latex, x):
    """A pair as it should be, with ids of tokens by their order."""
    x = [np.asarray(column, float) for column in x]
    y = judge_pairs.numpy_values(judge_pairs.read(expr), x)
    ids = {}
    tokens = [ids.setdefault(piece, len(ids) + 3) for piece in judge_pairs.pieces(latex)] + [2]
    return {"id": "train/0", "base": 5, "expr": expr, "latex": latex, "tokens": tokens,
            "x": [column.tolist() for column in x], "y": y.tolist()}


X = [[0.5, 1.25, -0.75, 2.0], [1.5, -0.25, 0.125, 3.0]]
GOOD = pair_of("-7*x1**2/(2*x2) + sin(x1 - 3)**2*exp(x1/2) - 12",
               r"-\frac{7 x_1^{2}}{2 x_2} + \sin(x_1 - 3)^{2} e^{\frac{x_1}{2}} - 12", X)


def faults(*pairs, **how):
    how.setdefault("table", {})
    judge = judged([json.dumps(pair) for pair in pairs], **how)
    assert judge.good() == (not judge.faults)
    return [what for _, what in judge.faults]


def test_the_judge_takes_a_good_pair():
    assert faults(GOOD) == []
    assert faults(GOOD, {**GOOD, "id": "test/0"}) == []


def change(path, value):
    """The good pair with one thing changed; value may be a function of the old one."""
    pair = copy.deepcopy(GOOD)
    *way, last = path
    place = pair
    for step in way:
        place = place[step]
    place[last] = value(place[last]) if callable(value) else value
    return pair


BAD = [
    (change(["y", 2], lambda v: v * (1 + 3e-9)), "unexplained"),
    (change(["y", 0], lambda v: -v), "unexplained"),
    (change(["y", 0], float("nan")), "no JSON"),
    (change(["y", 1], None), "not finite"),
    (change(["y", 1], "1"), "unexplained"),
    (change(["y"], lambda y: y[:-1]), "one length"),
    (change(["x"], lambda x: x[:1]), "x2 in the expression"),
    (change(["x", 1], lambda x: x + [1.0]), "one length"),
    (change(["x", 0, 3], lambda v: v + 1e-6), "unexplained"),
    (change(["expr"], lambda t: t.replace("12", "13")), "unexplained"),
    (change(["expr"], lambda t: t + " + cos(x1)"), "cannot read cos"),
    (change(["expr"], "x1 +"), "not Python"),
    (change(["expr"], "__import__('os')"), "cannot read"),
    (change(["latex"], lambda t: t.replace("- 3", "- 4")), "LaTeX means"),
    (change(["latex"], lambda t: t.replace(" - 12", " - 1 2 x_1")), "tokens, but"),
    (change(["latex"], lambda t: t.replace("x_1 - 3", "3 - x_1")), "token"),
    (change(["latex"], lambda t: t.replace("}", "]")), "no token"),
    (change(["tokens", 3], lambda i: i + 1), "token"),
    (change(["tokens", -1], 1), "end token"),
    (change(["tokens", 0], 2), "end token"),
    (change(["tokens"], lambda t: t[1:]), "tokens, but"),
    (change(["id"], "train17"), "no split and number"),
    (change(["base"], "5"), "base is missing"),
    (change(["y"], [1.0, 1.0, 1.0, 1.0]), "no spread"),
    (change(["y", 0], 1e100), "|y|"),
]


@pytest.mark.parametrize("pair, says", BAD, ids=[says for _, says in BAD])
def test_the_judge_sees(pair, says):
    (what,) = faults(pair)
    assert says in what


def test_the_judge_sees_ids_that_come_twice():
    (what,) = faults(GOOD, GOOD)
    assert "came at line 1 already" in what


def test_the_judge_reads_the_meaning_of_latex():
    """Same tokens, in number and kind, and another function."""
    other = {**GOOD, "latex": GOOD["latex"].replace("x_1 - 3", "3 - x_1")}
    other["tokens"] = pair_of(GOOD["expr"], other["latex"], X)["tokens"]
    assert faults(other) == []  # it is squared
    wrong = GOOD["latex"].replace(r"\frac{x_1}{2}", r"\frac{2}{x_1}")
    (what,) = faults({**GOOD, "latex": wrong,
                      "tokens": pair_of(GOOD["expr"], wrong, X)["tokens"]})
    assert "LaTeX means" in what


def test_the_judge_keeps_to_the_vocabulary():
    table = {2: "<end>", **dict(zip(GOOD["tokens"], judge_pairs.pieces(GOOD["latex"])))}
    assert faults(GOOD, table=table) == []
    swapped = {**table, GOOD["tokens"][0]: table[GOOD["tokens"][1]],
               GOOD["tokens"][1]: table[GOOD["tokens"][0]]}
    (what,) = faults(GOOD, table=swapped)
    assert "but the LaTeX has" in what


def test_the_judge_wants_white_columns_where_nothing_was_dropped():
    line = pair_of("3*x1 + x2", "3 x_1 + x_2", X)
    assert faults(line) == [] and "mean 0" in faults(line, whitened=True)[0]
    white = [(np.array(x) - np.mean(x)) / np.std(x) for x in X]
    assert faults(pair_of("3*x1 + x2", "3 x_1 + x_2", white), whitened=True) == []
    assert faults(GOOD, whitened=True) == []  # it has a division: points may have been dropped


def test_rounding_is_an_excuse_and_no_more():
    """sin of 1e6 has lost six digits in double: y computed in another order is explained, but not a
    wrong one. A plain sum has lost none, and 1e-8 is wrong."""
    x = [np.array([1.15, 1.2, 1.3])]
    tree = judge_pairs.read("sin(exp(12*x1))")
    y = np.array([float(v) for v in np.sin(np.exp(12 * x[0].astype(np.longdouble)))])
    shifted = y + 1e-8 * np.abs(y)
    for given in (y, shifted):
        equal, explained = judge_pairs.compare(tree, x, given)
        assert (equal | explained).all()
    assert not judge_pairs.compare(tree, x, shifted)[0].any()
    equal, explained = judge_pairs.compare(tree, x, y + 0.1)
    assert not (equal | explained).any()
    plain = judge_pairs.read("x1 + 3")
    equal, explained = judge_pairs.compare(plain, x, (x[0] + 3) * (1 + 1e-8))
    assert not (equal | explained).any()
    value, moves = judge_pairs.bounded(plain, x)
    assert (moves <= 2 * value).all() and (value == x[0].astype(np.longdouble) + 3).all()


def test_a_few_ill_conditioned_pairs_are_forgiven_but_not_many():
    x = [[1.1, 1.2, 1.3]]
    good = pair_of("x1 + 3", "x_1 + 3", x)
    shaky = pair_of("sin(exp(20*x1))", r"\sin(e^{2 0 x_1})", x)
    shaky["y"] = [v * (1 + 1e-7) for v in shaky["y"]]

    def among_1000(every):
        pairs = [{**(shaky if i % every == 7 else good), "id": f"train/{i}"} for i in range(1000)]
        for pair in pairs:  # one vocabulary for both
            pair["tokens"] = [ord(piece[-1]) for piece in judge_pairs.pieces(pair["latex"])] + [2]
        return judged(map(json.dumps, pairs), table={})

    few, many = among_1000(1000), among_1000(100)
    assert few.explained == 3 and few.share() == 0.999 and few.good()
    assert many.explained == 30 and many.share() == 0.99 and not many.good()
    assert few.faults == many.faults == []
