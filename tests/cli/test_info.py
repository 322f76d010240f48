"""symlaw info: sizes and costs before anything is trained, files of weights, folders of runs.

studies/paper_runs.csv has the runs of the paper's table of results: size, parameters, batch, learning
rate, target tokens per parameter, FLOPs. They were typed from the paper and have no script.
"""
import csv
import json
import re
import struct
from pathlib import Path

import pytest

from tool import run

RUNS = list(csv.DictReader(open(Path(__file__).parents[2] / "studies" / "paper_runs.csv")))
TINY = ["--width", "16", "--layers", "1", "--depth", "1", "--points", "8", "--batch", "16"]


def info(*args, **more):
    return run("info", *args, **more)


def result(*args):
    """A plan is for targets as long as the paper's unless the caller says more; so no set is built for it."""
    if not {"--model", "--run", "--tokens", "--depth"} & set(args):
        args = (*args, "--tokens", "31.5")
    r = info(*args, "--json")
    assert r.code == 0 and r.err == "", r
    return r.json


# ---------------------------------------------------------------- plans

@pytest.mark.parametrize("size, millions", [("6.5M", 6.48), ("13.5M", 13.40), ("24M", 24.01),
                                            ("45.5M", 45.53), ("93M", 93.08)])
def test_the_papers_sizes_have_its_parameters(size, millions):
    j = result("--size", size)
    assert round(j["parameters"] / 1e6, 2) == millions
    assert j["parameters"] == j["parameters_encoder"] + j["parameters_decoder"]


@pytest.mark.parametrize("row", RUNS, ids=lambda r: f"{r['model']} x {r['tokens_per_param']}")
def test_the_papers_runs_cost_as_in_the_paper(row):
    """The paper's figures have round numbers of parameters, 13.0 million for 13.5M (src/model/test/t_cost.c)."""
    plan = result("--size", row["model"], "--batch", row["batch_size"], "--lr", row["learning_rate"],
                  "--ratio", row["tokens_per_param"], "--tokens", "31.494")["plan"]
    off = plan["flops"] / float(row["flops"]) - 1
    assert 0.060 < off < 0.063 if row["model"] == "13.5M" else abs(off) < 0.0066
    assert abs(plan["ratio"] / float(row["tokens_per_param"]) - 1) < 1e-3
    assert plan["tokens_per_pair"] == 31.494


def test_the_three_lengths_of_a_run_agree():
    a = result("--size", "6.5M", "--ratio", "5")["plan"]
    b = result("--size", "6.5M", "--steps", str(a["steps"]))["plan"]
    c = result("--size", "6.5M", "--flops", repr(a["flops"]))["plan"]
    assert a["steps"] == b["steps"] and abs(c["steps"] - a["steps"]) <= 1
    assert a["flops"] == b["flops"]
    d = result("--size", "6.5M", "--ratio", "5", "--tokens", "63")["plan"]
    assert abs(d["steps"] / a["steps"] - 0.5) < 1e-3
    r = info("--size", "6.5M", "--ratio", "5", "--steps", "9")  # before a set is built
    assert r.code == 2 and "ratio" in r.err and "steps" in r.err


def test_memory_is_the_sum_of_its_parts():
    for threads in ("1", "2"):
        m = result("--size", "6.5M", "--threads", threads)["plan"]["memory"]
        parts = [m[k] for k in m if k != "total"]
        assert len(parts) == 5 and all(p > 0 for p in parts)
        assert abs(sum(parts) - m["total"]) <= 0.02 * m["total"]


@pytest.mark.parametrize("length", [["--ratio", "5"], ["--flops", "1e9"], ["--steps", "7"], []])
def test_a_plan_is_the_one_that_training_follows(length, tmp_path):
    """Also where targets are as short as those of depth 1. Lengths by tokens differed when info assumed 31.5."""
    args = [*TINY, *length, "--seed", "3", "--threads", "1", "--valid-pairs", "10", "--dropout", "0"]
    plan = result(*args)["plan"]
    assert plan["tokens_per_pair"] < 20
    r = run("train", *args, "--out", str(tmp_path / "run"), "--json")
    assert r.code == 0 and r.json["plan"] == plan and r.json["step"] == plan["steps"], r
    assert json.loads((tmp_path / "run" / "run.json").read_text())["run"]["steps"] == plan["steps"]


def test_no_set_is_built_and_nothing_large_allocated():
    """A set of this depth and a batch of this size fit no machine."""
    large = ["--size", "93M", "--depth", "4", "--variables", "3", "--set-size", "0", "--batch", "1000000",
             "--lanes", "1024", "--ratio", "80"]
    r = info(*large)
    assert r.code == 0 and "raw candidates" in r.err and "taken to have 31.5 tokens" in r.err, r
    again = info(*large, "--tokens", "31.5")
    assert again.err == "" and again.out.split("memory")[0] == r.out.split("memory")[0]
    assert re.search(r"parameters +93,\d\d\d,\d\d\d: ", r.out) and "memory, in MB" in r.out
    assert max(map(len, r.lines)) <= 100


def test_tensors_add_up():
    j = result("--size", "micro", "--tensors")
    count = 0
    for t in j["tensors"]:
        n = 1
        for d in t["shape"]:
            n *= d
        count += n
    assert count == j["parameters"]
    names = [t["name"] for t in j["tensors"]]
    assert len(set(names)) == len(names)
    text = info("--size", "micro", "--tensors", "--tokens", "31.5").out
    assert all(n in text for n in names)


@pytest.mark.parametrize("args, says", [
    (["--size", "6.5M", "--width", "320"], "--size 6.5M has --width 256, not 320"),
    (["--size", "6.5M", "--layers", "4"], "--size 6.5M has --layers 3, not 4"),
    (["--size", "6M"], "--size must be one of 6.5M, 13.5M"),
    (["--width", "20"], "width"),
    (["--width", "64", "--heads", "7"], "heads"),
    (["--lanes", "3"], "power of two"),
    (["--variables", "4"], "a set over 4 variables"),
    (["--model", "a", "--run", "b"], "--model and --run"),
])
def test_wrong_options_are_named(args, says):
    r = info(*args)
    assert r.code == 2 and says in r.err, r


def test_a_size_and_the_same_width_and_layers_agree():
    a = result("--size", "6.5M")
    b = result("--size", "6.5M", "--width", "256", "--layers", "3")
    c = result("--width", "256", "--layers", "3")
    assert a["parameters"] == b["parameters"] == c["parameters"]
    assert a["config"]["width"] == 256 and a["config"]["size"] == "6.5M" and c["config"]["size"] is None
    assert result("--size", "93M")["config"]["layers"] == 11


# ---------------------------------------------------------------- files and folders

@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("info") / "run"
    r = run("train", *TINY, "--steps", "12", "--checkpoint-steps", "5", "--valid-pairs", "20",
            "--out", str(folder), "--json")
    assert r.code == 0, r
    return folder, r.json


def test_info_of_a_checkpoint(trained):
    folder, ended = trained
    j = result("--model", ended["checkpoint"])
    assert j["step"] == "12" and j["kind"] == "model" and j["hashed"] is True
    assert j["parameters"] == ended["parameters"] == result(*TINY)["parameters"]
    assert j["configuration"]["width"] == 16 and j["configuration"]["batch"] == 16
    assert j["level"] and "OpenBLAS" in j["libraries"] and len(j["universe"]) == 32
    r = info("--model", ended["checkpoint"], "--tensors")
    assert r.code == 0 and "width 16, 1 layer\n" in r.out and "checksum verified" in r.out
    assert "encoder.0." in r.out


def test_a_damaged_checkpoint_is_named(trained, tmp_path):
    data = bytearray(Path(trained[1]["checkpoint"]).read_bytes())
    for where, says in ((len(data) - 5, "damaged"), (3, ""), (100, "")):
        bad = bytearray(data)
        bad[where] ^= 1
        (tmp_path / "bad").write_bytes(bad)
        r = info("--model", str(tmp_path / "bad"))
        assert r.code == 2 and str(tmp_path / "bad") in r.err and says in r.err, (where, r)
    (tmp_path / "bad").write_bytes(data[:-1])
    assert info("--model", str(tmp_path / "bad")).code == 2
    assert info("--model", str(tmp_path / "none")).code == 3


@pytest.mark.parametrize("config", [None, "5", "[1]", '"x"', "null", "their own words", "{}"])
def test_info_of_a_file_of_another_program(config, tmp_path):
    """Its metadata may call anything a configuration."""
    header = {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
    if config is not None:
        header["__metadata__"] = {"config": config}
    text = json.dumps(header).encode()
    path = tmp_path / "theirs.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(4))
    j = result("--model", str(path))
    assert j["parameters"] == 1 and j["hashed"] is False and j.get("configuration") == ({} if config == "{}" else None)
    r = info("--model", str(path))
    assert r.code == 0 and "1 in 1 tensors" in r.out and "no checksum" in r.out, r


def test_a_run_reports_its_progress(trained, tmp_path):
    folder, ended = trained
    j = result("--run", str(folder))
    assert j["step"] == j["steps"] == j["saved"] == 12 and j["finished"] is True
    assert j["loss"] == ended["loss"] and j["loss_valid"] == ended["loss_valid"]
    assert ": finished" in info("--run", str(folder)).out
    assert j["configuration"] == json.loads((folder / "run.json").read_text())

    # a run that is being written: half a line at the end, the last checkpoint not there yet
    half = tmp_path / "half"
    half.mkdir()
    for name in ("run.json", "log.jsonl", "model-00000010.safetensors", "state-00000010.safetensors"):
        (half / name).write_bytes((folder / name).read_bytes())
    with open(half / "log.jsonl", "a") as f:
        f.write('{"event":"st')
    j = result("--run", str(half))
    assert j["saved"] == 10 and j["finished"] is False
    assert f"symlaw train --resume --out {half}" in info("--run", str(half)).out

    (half / "log.jsonl").unlink()
    assert result("--run", str(half))["step"] == 10
    assert "10 of 12; the log is missing" in info("--run", str(half)).out
    half = half.rename(tmp_path / "it is half")  # what is to be typed can be
    assert f"symlaw train --resume --out '{half}'" in info("--run", str(half)).out

    r = info("--run", str(tmp_path))
    assert r.code == 2 and "holds no run" in r.err
    (half / "run.json").write_text("[1]")
    r = info("--run", str(half))
    assert r.code == 2 and "run.json is damaged" in r.err
