"""symlaw laws: scaling laws of tables of runs. src/laws/test compares the fits with SciPy's."""
import csv
import io
import json
import math
import re
from pathlib import Path

import pytest

from tool import run

TREE = Path(__file__).parents[2]
PAPER = str(TREE / "studies" / "paper_runs.csv")
CHINCHILLA = str(TREE / "tests" / "golden" / "laws" / "chinchilla_runs.csv")


def laws(*args, **more):
    return run("laws", *args, **more)


def result(*args, draws=100):
    r = laws(*args, "--draws", str(draws), "--json")
    assert r.code == 0 and r.err == "", r
    return r.json


def write(folder, text, name="runs.csv"):
    path = folder / name
    path.write_text(text)
    return str(path)


def holds(e):
    """An estimate with its interval around it."""
    return e["low"] <= e["value"] <= e["high"]


# ---------------------------------------------------------------- the paper

@pytest.mark.parametrize("bins, points, exponents", [("linear", 15, (0.125, 0.253, 0.225)),
                                                     ("log", 16, (0.118, 0.247, 0.217))])
def test_the_papers_table_gives_its_exponents(bins, points, exponents):
    j = result(PAPER, "--bins", bins)
    for name, want in zip(("solved", "r2", "loss"), exponents):
        assert abs(j[name]["exponent"]["value"] - want) < 0.002
        assert holds(j[name]["exponent"]) and j[name]["points"] == points
        assert 0.95 < j[name]["fit_r2"] < 1
    assert len(j["frontier"]) == points


def test_the_papers_claim_with_linear_bins():
    j = result(PAPER, "--bins", "linear")
    c = j["solved"]["compute_for_target"]
    assert 3.6e21 < c["value"] < 4.2e21 and holds(c) and c["target"] == 0.8
    assert 200 < c["extrapolation"] < 300
    ratio = {round(math.log10(p["flops"])): p["ratio"] for p in j["optimal"]["at"]}
    assert abs(ratio[17]["value"] - 12) < 1 and abs(ratio[18]["value"] - 20) < 1
    assert holds(ratio[17]) and holds(ratio[18])


def test_the_answer_comes_first_and_is_marked_as_an_extrapolation():
    r = laws(PAPER, "--bins", "linear", "--draws", "50")
    assert r.code == 0 and r.err == ""
    assert re.match(r"0\.8 solved needs 4\.15e\+21 \(\S+ to \S+\) FLOPs  EXTRAPOLATION x282\n", r.out)
    near = laws(PAPER, "--target-solved", "0.6", "--draws", "50")
    assert near.lines[0].startswith("0.6 solved needs ") and "EXTRAPOLATION" not in near.lines[0]


def test_the_leave_out_test_of_the_paper():
    j = result(PAPER, "--bins", "linear")["leave_out"]
    assert [s["left_out"] for s in j["splits"]] == ["largest decade", "largest size", "2 largest sizes",
                                                    "3 largest sizes"]
    far = {(p["metric"], p["form"]): p for p in j["splits"][0]["predictions"] if p["flops"] == 1.47e19}
    assert set(f for m, f in far if m == "loss") == {"power", "floor", "surface"}
    p = far["loss", "power"]
    assert p["measured"] == 0.1047 and abs(p["error"] - (p["predicted"]["value"] / 0.1047 - 1)) < 1e-12
    assert abs(p["predicted"]["value"] - 0.13491) < 1e-4 and holds(p["predicted"])
    for left in ("all", "largest decade"):
        for metric in ("loss", "solved", "r2"):
            scores = [s for s in j["scores"] if s["left_out"] == left and s["metric"] == metric]
            best = [s for s in scores if s["best"]]
            assert len(best) == 1 and best[0]["rms_error"] == min(s["rms_error"] for s in scores)


def test_trials_switch_on_the_binomial_law():
    off = result(PAPER, draws=0)
    on = result(PAPER, "--trials", "1000", draws=50)
    assert not off["solved"]["binomial"]["known"] and on["solved"]["binomial"]["known"]
    assert holds(on["solved"]["binomial"]["exponent"]) and on["solved"]["binomial"]["dispersion"] > 1
    assert any("--trials" in n["text"] for n in off["notes"] if n["kind"] == "off")
    assert not any("--trials" in n["text"] for n in on["notes"])


# ---------------------------------------------------------------- the surface

def test_chinchilla_gives_its_constants_and_names_its_units():
    s = result(CHINCHILLA, draws=30)["surface"]
    assert (s["unit_params"], s["unit_tokens"]) == (1e6, 1e9)
    for name, want in (("E", 2.0618), ("A", 5.5534), ("B", 1.1747), ("alpha", 0.4336), ("beta", 0.6507)):
        assert f"{s[name]['value']:.4f}" == str(want) and holds(s[name])
        assert s["huber"][name]["value"] != s[name]["value"]


def test_predictions_agree_with_the_surface():
    j = result(CHINCHILLA, "--predict", "N=1e9,D=2e10", "--budget", "1e23", draws=30)
    s, p, b = j["surface"], j["predict"], j["budget"]
    c = {k: s[k]["value"] for k in ("E", "A", "B", "alpha", "beta")}
    want = c["E"] + c["A"] / 1e3 ** c["alpha"] + c["B"] / 20 ** c["beta"]
    assert abs(p["loss"]["value"] - want) < 1e-9 and holds(p["loss"])
    assert p["solved"]["value"] is None
    assert b["flops"] == 1e23 and b["extrapolation"] > 10 and holds(b["params"])
    n, d = b["surface"]["params"]["value"], b["surface"]["tokens"]["value"]
    assert abs(n * d * s["flops_per_param_and_token"] / 1e23 - 1) < 1e-9
    human = laws(CHINCHILLA, "--budget", "1e23", "--draws", "20")
    assert human.lines[0].startswith("with FLOPs 1e+23  EXTRAPOLATION x")
    assert laws(CHINCHILLA, "--predict", "N=1e9,D=2e10", "--draws", "20").lines[0].startswith("at N and D")


# ---------------------------------------------------------------- tables of others

def test_a_loss_with_a_floor_is_reported(tmp_path):
    """As of a language model: the power law alone would promise too much."""
    rows = [(n, d, 6 * n * d, 1.7 + 400 / n ** 0.34 + 410 / d ** 0.28)
            for n in (1e7, 3e7, 1e8, 3e8, 1e9) for d in (5 * n, 10 * n, 20 * n, 40 * n, 80 * n)]
    text = "N,D,C,loss\n" + "".join("%r,%r,%r,%r\n" % r for r in rows)
    lines = laws(write(tmp_path, text), "--draws", "50", "--budget", "1e21").lines
    assert "by the power law, though the points are curved, and 2.3" in lines[0]
    head = next(i for i, line in enumerate(lines) if line.startswith("loss falls as"))
    assert lines[head].endswith(", though the points are curved")
    assert lines[head + 1].startswith("above a floor of 1.")


def test_runs_are_counted_that_the_laws_are_of(tmp_path):
    rows = "".join(f"{c},{9 - i},{'done' if i % 3 else 'failed'}\n" for i, c in enumerate((1, 2, 4, 8, 16, 32, 64)))
    path = write(tmp_path, "C,loss,status\n" + rows)
    assert "laws of 4 points on the frontier of 4 configurations (4 runs)" in laws(path, "--draws", "20").out
    assert "laws of 4 points, all of 4 configurations (4 runs)" in laws(path, "--draws", "20", "--bins", "none").out


def test_columns_by_name_and_by_option(tmp_path):
    rows = [(1e6 * 2 ** i, 1e8 * 2 ** k, 2 + (1e6 * 2 ** i) ** -0.3 + (1e8 * 2 ** k) ** -0.3)
            for i in range(4) for k in range(4)]
    usual = write(tmp_path, "N,D,L\n" + "".join("%r,%r,%r\n" % r for r in rows))
    odd = write(tmp_path, "weights,words,score\n" + "".join("%r,%r,%r\n" % r for r in rows), "odd.csv")
    lines = write(tmp_path, "".join(json.dumps(dict(zip(("N", "D", "loss"), r))) + "\n" for r in rows),
                  "runs.jsonl")
    a, b = result(usual), result(odd, "--columns", "params=weights,tokens=words,loss=score")
    c = result(lines)
    assert a["loss"] == b["loss"] == c["loss"] and a["surface"] == b["surface"]
    assert any("6 x parameters x tokens" in n["text"] for n in a["notes"])
    r = laws("-", "--draws", "20", "--json", input=open(usual).read(), stdin=None)
    assert r.code == 0 and r.json["loss"]["exponent"]["value"] == a["loss"]["exponent"]["value"]


def test_what_is_missing_is_reported(tmp_path):
    j = result(write(tmp_path, "C,loss\n1e9,3\n1e10,2\n1e11,1.5\n"))
    off = " ".join(n["text"] for n in j["notes"] if n["kind"] == "off")
    for what in ("solved rate", "R2 rate", "parameters", "batch size"):
        assert what in off
    assert j["loss"]["known"] and not j["solved"]["known"] and j["solved"]["exponent"]["value"] is None
    assert not j["isoflop"]["params"]["known"] and j["isoflop"]["params"]["exponent"]["value"] is None
    assert laws(write(tmp_path, "C,loss\n1e9,3\n1e10,2\n1e11,1.5\n")).lines[0].startswith("loss falls as C^-b")


@pytest.mark.parametrize("text, args, says", [
    ("a,b\n1,2\n", [], "has no finished run"),
    ("C,loss\n1,x\n", [], 'line 2: loss is "x", not a number'),
    ("C,solved\n1,80\n", [], "a share from 0 to 1"),
    ("C,loss\n", [], "has no runs"),
    ("C,loss\n1,2\n", ["--columns", "loss=z"], 'no column "z"'),
    ("C,loss\n1,2\n", ["--predict", "N=1e9"], "N=1e9,D=2e10"),
    ("C,loss\n1,2\n", ["--predict", "N=1e9,D=1e10"], "needs the surface"),
    ("C,loss\n1,2\n", ["--compare", PAPER], "has no law of the loss"),
    ("C,loss\n1,2\n", ["--bins", "cubic"], "--bins must be one of log, linear, none"),
    ("C,loss\n1,2\n", ["--target-solved", "1.5"], "--target-solved must be a number"),
    ("C,loss\n1,2\n", ["--law", "E=1"], "--law is for --simulate"),
    ("C,loss\n1,2\n", ["--simulate"], "takes none"),
])
def test_mistakes_are_named(tmp_path, text, args, says):
    r = laws(write(tmp_path, text), *args)
    assert r.code == 2 and says in r.err and r.out == "", r


def test_a_table_must_be_named():
    r = laws()
    assert r.code == 2 and "symlaw laws FILE" in r.err


# ---------------------------------------------------------------- two recipes, simulated runs

def simulated(folder, name, *law, seed=0):
    r = laws("--simulate", "--seed", str(seed), *(("--law", law[0]) if law else ()))
    assert r.code == 0 and r.err == ""
    return write(folder, r.out, name)


def test_a_simulated_law_comes_back(tmp_path):
    law = "noise=0.003,seeds=2,sizes=10,ratios=8,trials=20000"
    truth = laws("--simulate", "--law", law, "--json").json["truth"]
    j = result(simulated(tmp_path, "s.csv", law))
    for name in ("loss", "solved", "r2"):
        assert abs(j[name]["exponent"]["value"] / truth[name + "_exponent"] - 1) < 0.04
    assert j["configurations"] == 80 and j["runs"] == 160
    assert abs(j["seed_noise"] / 0.003 - 1) < 0.3
    s = j["surface"]
    for name in ("alpha", "beta", "A", "B"):
        assert abs(s[name]["value"] / truth[name] - 1) < 0.1


def test_simulated_tables_depend_on_the_seed_alone(tmp_path):
    a, b, c = (open(simulated(tmp_path, n, seed=s)).read() for n, s in (("a", 1), ("b", 1), ("c", 2)))
    assert a == b != c
    rows = list(csv.DictReader(io.StringIO(a)))
    assert len(rows) == 25 and {"id", "params", "tokens", "flops", "loss", "solved", "trials"} <= set(rows[0])
    assert laws("--simulate", "--law", "size=3").code == 2


def test_compare_finds_the_compute_multiplier(tmp_path):
    base = simulated(tmp_path, "base.csv", "noise=0.003", seed=1)
    other = simulated(tmp_path, "other.csv", "noise=0.003,flops_per=18", seed=2)
    m = result(base, "--compare", other)["compare"]
    assert len(m) == 3 and all(x["inside"] for x in m)
    assert abs(m[1]["multiplier"]["value"] / 3 - 1) < 0.1 and holds(m[1]["multiplier"])
    r = laws(base, "--compare", other, "--draws", "20")
    assert re.match(r"for loss \S+ .*other\.csv needs \S+ \(\S+ to \S+\) times the compute", r.out)


# ---------------------------------------------------------------- figures and files

def test_the_same_seed_gives_the_same_figures():
    drop = lambda j: {k: v for k, v in j.items() if k not in ("seconds", "config")}
    assert drop(result(PAPER, draws=30)) == drop(result(PAPER, "--threads", "1", draws=30))
    assert result(PAPER, draws=30)["loss"] != result(PAPER, "--seed", "1", draws=30)["loss"]


def test_no_draws_no_intervals():
    j = result(PAPER, draws=0)
    assert j["loss"]["exponent"]["low"] is None and j["loss"]["exponent"]["value"] > 0
    assert any("No intervals" in n["text"] for n in j["notes"])
    assert "(no interval)" in laws(PAPER, "--draws", "0").lines[0]


def test_output_goes_to_a_file(tmp_path):
    out = tmp_path / "laws.txt"
    assert laws(PAPER, "--draws", "20", "--out", str(out)).out == ""
    assert out.read_text().startswith("0.8 solved needs ")
    r = laws(PAPER, "--out", PAPER)
    assert r.code == 2 and "--out" in r.err
