"""examples/read_model.py: the model in PyTorch, read from a checkpoint, has the losses that symlaw reports.

It needs a Python with torch: SYMLAW_TORCH_PYTHON names one, else those at hand are tried. Without one this is
skipped; "tools/setup torch" installs Debian's.
"""
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tool import run

READER = Path(__file__).parents[2] / "examples" / "read_model.py"
PYTHONS = ([os.environ["SYMLAW_TORCH_PYTHON"]] if os.environ.get("SYMLAW_TORCH_PYTHON") else
           [sys.executable, "/usr/bin/python3", "python3"])
# large initial weights and rates: every tensor matters for the loss
RUN = ["--batch", "8", "--steps", "40", "--lr", "0.02", "--init-scale", "0.3", "--valid-pairs", "60"]
MODELS = {
    # named sizes' rule of heads; columns of all sizes, so that exponents differ
    "usual": (["--width", "128", "--layers", "2"],
              ["--depth", "2", "--points", "8", "--whiten", "off", "--shift", "50", "--stretch", "1000"]),
    # narrow: another rule of heads; unequal halves; columns that are missing
    "odd": (["--width", "24", "--layers", "1", "--decoder-layers", "2", "--norm-eps", "1e-2"],
            ["--depth", "2", "--points", "9", "--variables", "3", "--drop-column", "0.7"]),
    "heads": (["--width", "32", "--layers", "3", "--decoder-layers", "1", "--heads", "2"],
              ["--depth", "1", "--points", "5", "--variables", "1"]),
}


def call(python, *args):
    try:
        return subprocess.run([python, "-B", *map(str, args)], capture_output=True, text=True, timeout=300)
    except FileNotFoundError as e:
        return subprocess.CompletedProcess(python, 127, "", str(e))


@pytest.fixture(scope="module")
def torch_python():
    for python in PYTHONS:
        if call(python, "-c", "import torch").returncode == 0:
            return python
    pytest.skip(f"no Python with torch among {', '.join(PYTHONS)}; tools/setup torch installs one")


@pytest.fixture(scope="module", params=MODELS)
def trained(request, tmp_path_factory):
    """Folder of a run, what it reported, its data options."""
    shape, data = MODELS[request.param]
    folder = tmp_path_factory.mktemp(request.param) / "run"
    r = run("train", *shape, *RUN, *data, "--out", str(folder), "--json", "--quiet")
    assert r.code == 0, r
    return folder, r.json, data


def read(python, checkpoint, pairs):
    """Losses by id, and the means per token and per expression."""
    done = call(python, READER, checkpoint, pairs)
    assert done.returncode == 0, done.stderr
    *lines, mean = [line.split("\t") for line in done.stdout.splitlines()]
    return {name: float(loss) for name, loss, _ in lines}, *(float(m.split()[0]) for m in mean[1:])


def test_its_validation_loss_is_the_one_of_training(torch_python, trained, tmp_path):
    folder, ended, data = trained
    pairs = tmp_path / "valid.jsonl"
    assert run("pairs", "--split", "valid", "--count", "60", *data, "--out", str(pairs)).code == 0
    each, token, expression = read(torch_python, ended["checkpoint"], pairs)
    assert len(each) == 60
    assert abs(token - ended["loss_valid"]) < 1e-5, (token, ended["loss_valid"])
    assert math.isclose(expression, ended["loss_valid_expression"], rel_tol=1e-6), (
        expression, ended["loss_valid_expression"])


def test_its_losses_are_those_of_eval_one_by_one(torch_python, trained, tmp_path):
    folder, ended, data = trained
    pairs, journal = tmp_path / "test.jsonl", tmp_path / "journal.jsonl"
    assert run("pairs", "--split", "test", "--count", "20", *data, "--out", str(pairs)).code == 0
    r = run("eval", "--model", str(folder), "--split", "test", "--limit", "20", "--seeds", "1", "--samples", "1",
            "--journal", str(journal))
    assert r.code == 0, r
    judged = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    each = read(torch_python, ended["checkpoint"], pairs)[0]
    assert len(judged) == len(each) == 20
    for j in judged:
        ours, theirs = j["loss"], each[f"test/{j['problem']}"]
        assert math.isclose(ours, theirs, rel_tol=1e-5), (j["problem"], ours, theirs)
