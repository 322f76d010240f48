"""symlaw bench: the rows are there and fit together. No test asserts a speed."""
import signal
import subprocess

import pytest

from tool import PROGRAM, run, wait_for_work

SMALL = ["--width", "16", "--layers", "1", "--points", "8", "--batch", "16", "--steps", "3"]


def test_steps_of_training_are_timed():
    r = run("bench", "train", *SMALL, "--tokens", "12", "--json", "--threads", "2")
    assert r.code == 0, r
    j = r.json
    for name in ("ms", "best_ms", "gflops_6nd", "gflops_executed", "sgemm_gflops", "peak_bytes", "planned_bytes",
                 "rss_bytes", "loss"):
        assert j[name] > 0, name
    assert j["best_ms"] <= j["ms"] and j["threads"] == 2
    share = j["gflops_executed"] / j["sgemm_gflops"]  # more than all there is cannot be: then it is left out
    assert j["share"] == (pytest.approx(share) if share <= 1 else None)
    # 3 N (cells + tokens) a pair
    flops = 3 * j["parameters"] * (8 * 3 + 12) * 16
    assert j["gflops_6nd"] == pytest.approx(flops / j["ms"] * 1e-6)
    # what was planned is what is taken, and both are less than the process has
    assert j["planned_bytes"] == pytest.approx(j["peak_bytes"], rel=0.1)
    assert j["config"]["what"] == "train"


def test_samples_are_timed():
    args = ["--width", "16", "--layers", "1", "--points", "8", "--steps", "3", "--json"]
    r = run("bench", "sample", *args, "--samples", "20", "--tokens", "12", "--threads", "2")
    assert r.code == 0, r
    j = r.json
    assert j["tokens"] == 20 * 12 and j["ended"] == 0 and j["samples"] == 20 and j["threads"] == 2
    assert 0 < j["rows"] <= j["tokens"] and j["gain_shared"] == pytest.approx(j["tokens"] / j["rows"])
    assert j["gain_leaving"] == 1  # all are as long
    assert 0 < j["best_ms"] <= j["ms"] and j["encode_ms"] > 0 and j["decode_ms"] > 0
    assert j["samples_per_second"] > 0 and j["tokens_per_second"] > 0 and j["parameters"] > 0
    one = run("bench", "sample", *args, "--samples", "20", "--tokens", "12", "--threads", "1").json
    assert one["rows"] == j["rows"]  # the same samples
    r = run("bench", "sample", *args[:-1], "--natural-end")
    assert r.code == 0
    for word in ("model", "samples", "parts", "rate", "rows", "ended"):
        assert any(x.split()[0] == word for x in r.lines), word


def test_samples_of_a_given_model(tmp_path):
    r = run("train", "--width", "16", "--layers", "1", "--depth", "1", "--points", "8", "--batch", "16", "--steps",
            "60", "--valid-pairs", "0", "--lr", "8e-3", "--init-scale", "0.15", "--out", str(tmp_path / "run"))
    assert r.code == 0, r
    r = run("bench", "sample", "--model", str(tmp_path / "run"), "--natural-end", "--points", "8", "--steps", "4",
            "--samples", "200", "--json")
    assert r.code == 0, r
    j = r.json
    assert j["ended"] > 0 and j["tokens"] < 200 * 256
    assert j["gain_shared"] > 1 and j["gain_leaving"] > 1  # it has learned how targets begin
    r = run("bench", "sample", "--model", str(tmp_path / "run"), "--size", "micro")
    assert r.code == 2 and "--size" in r.err
    assert run("bench", "sample", "--model", str(tmp_path / "none")).code != 0


def test_for_people():
    r = run("bench", "train", *SMALL)
    assert r.code == 0
    for word in ("step", "GFLOP/s", "machine", "memory", "loss"):
        assert any(x.split()[0] == word for x in r.lines), word


def test_products_are_timed_by_both_libraries():
    r = run("bench", "gemm", *SMALL, "--threads", "2", "--json")
    assert r.code == 0, r
    rows = r.json["products"]
    squares = [x for x in rows if x["name"] == "square"]
    assert [x["threads"] for x in squares] == [1, 2]
    others = [x for x in rows if x["name"] != "square"]
    assert {x["transposed"] for x in others} == {"NT", "NN", "TN"}
    by_product = {}
    for x in others:
        assert x["ms"] > 0 and x["gflops"] > 0
        m, n, k = x["shape"]
        assert x["gflops"] == pytest.approx(2e-6 * m * n * k / x["ms"])
        by_product.setdefault((x["name"], x["pass"]), []).append(x)
    for pair in by_product.values():  # of each product one is the rule's
        assert sorted(x["library"] for x in pair) == ["OpenBLAS", "oneDNN"]
        assert sum(x["chosen"] for x in pair) == 1

    text = run("bench", "gemm", *SMALL, "--threads", "1").lines
    assert text[0].startswith("# ") and all(x.count("\t") == 7 for x in text)
    assert any("*\t" in x for x in text)


@pytest.mark.parametrize("args, says", [
    (["train", "--lanes", "3"], "power of two"),
    (["train", "--size", "24M", "--width", "256"], "--size 24M has --width 384, not 256"),
    (["train", "--tokens", "1"], "--tokens must be"),
    (["sample", "--samples", "0"], "--samples must be"),
    ([], "gemm, train or sample"),
])
def test_wrong_use(args, says):
    r = run("bench", *args)
    assert r.code == 2 and says in r.err


@pytest.mark.parametrize("what", ["gemm", "train", "sample"])
def test_ctrl_c_ends_it_at_once(what):
    p = subprocess.Popen([PROGRAM, "bench", what, "--size", "mini", "--steps", "1000000"], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_work(p, 2)
    p.send_signal(signal.SIGINT)
    try:
        _, err = p.communicate(timeout=60)
    finally:
        p.kill()
    assert p.returncode == 130 and "interrupted" in err
