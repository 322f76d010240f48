"""Runs and checkpoints of older versions: tests/golden/run_v1 is of the first format and must be read for ever.

A configuration from before an option existed lacks it, so each key is taken out in turn. No bits are compared with
the stored files: weights differ in their last bits between CPUs.
"""
import json
import math
import os
import re
import shutil
from pathlib import Path

import pytest

import checkpoint
from tool import run

GOLDEN = Path(__file__).parents[1] / "golden" / "run_v1"
ANSWERS = json.loads((GOLDEN / "answers.json").read_text())
CONFIG = json.loads((GOLDEN / "run" / "run.json").read_text())
MADE = CONFIG.pop("run")
STOPPED = ANSWERS["stopped"]
SHAPE = ("width", "layers", "decoder-layers", "heads", "variables")  # without them weights mean nothing
# what the golden run has besides defaults: without them it is another run
OWN = ("width", "layers", "depth", "set-size", "points", "batch", "lanes", "steps", "warmup", "valid-pairs",
       "valid-steps", "log-steps", "checkpoint-steps", "lr", "seed")
NEWER = '"weights-seed" (-1)'  # options that came after the golden run
RENAMED = {"decay": "lr-final", "limit": "max-y"}


def train(*args):
    return run("train", *map(str, args), "--threads", "1")


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(GOLDEN / "run", tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{i},{i * i % 7},{2 * i + i * i % 7}\n" for i in range(1, 12)))
    return path


def change_run(folder, change):
    config = json.loads((folder / "run.json").read_text())
    change(config)
    (folder / "run.json").write_text(json.dumps(config))


def discover(model, table, *args):
    return run("discover", str(table), "--model", str(model), "--search", "model", "--samples", "4", "--json", "--threads", "1", *args)


def ended_well(r, folder):
    """A resumed run ends where the whole one did, but for rounding."""
    assert r.code == 0 and f"resumed at step {STOPPED}" in r.err, r
    end = run("info", "--run", str(folder), "--json").json
    assert end["finished"] and end["saved"] == ANSWERS["step"]
    assert abs(end["loss"] / ANSWERS["loss"] - 1) < 0.02
    assert abs(end["loss_valid"] / ANSWERS["loss_valid"] - 1) < 0.02
    lines = [json.loads(x) for x in (folder / "log.jsonl").read_text().splitlines()]
    assert [x["step"] for x in lines if x["event"] == "step"] == list(range(20, 401, 20))
    assert lines[-1]["tokens"] == ANSWERS["tokens"]


# ---------------------------------------------------------------- as it is

def test_a_stored_run_is_resumed(folder):
    r = train("--resume", "--out", folder)
    ended_well(r, folder)
    assert re.findall("lacks (.*): it is from before", r.err) == [NEWER] and "not known" not in r.err, r


def test_info_of_a_stored_run(folder):
    j = run("info", "--run", str(folder), "--json").json
    assert j["saved"] == STOPPED and j["steps"] == 400 and not j["finished"] and j["configuration"]["width"] == 8
    assert f"step {STOPPED}; continue with" in run("info", "--run", str(folder)).out


def test_a_stored_model_is_used(table):
    j = run("info", "--model", str(GOLDEN / "model.safetensors"), "--json").json
    assert j["hashed"] and j["parameters"] == ANSWERS["parameters"] and j["step"] == "400"
    for model in (GOLDEN / "model.safetensors", GOLDEN / "run"):
        r = discover(model, table)
        assert r.code == 0 and r.json["formula"] and r.json["model"]["parameters"] == ANSWERS["parameters"], r
        assert r.json["model"]["inputs"] == 2 and r.json["model"]["points"] == 16
        r = run("eval", "--model", str(model), "--split", "test", "--limit", "3", "--samples", "4", "--json")
        assert r.code == 0, r
    assert not [x for x in (GOLDEN / "run").iterdir() if "model" not in x.name and "state" not in x.name
                and x.name not in ("run.json", "log.jsonl")]


# ---------------------------------------------------------------- from before an option existed

@pytest.mark.parametrize("key", CONFIG)
def test_what_the_configuration_of_a_run_lacks_is_in_its_checkpoint(key, folder):
    change_run(folder, lambda c: c.pop(key))
    ended_well(train("--resume", "--out", folder), folder)


@pytest.mark.parametrize("old, value", [("decay", 0.5), ("limit", 1e90)])
def test_former_names_of_options_are_read(old, value, folder):
    """Of a configuration that has a former name, the value counts and is written under the present one."""
    change_run(folder, lambda c: c.update({old: value}))
    for step in (300, STOPPED):
        checkpoint.change(folder, step, config=lambda c: c.update({old: value}))
    other = train("--resume", "--out", folder, f"--{RENAMED[old]}", CONFIG[old])
    assert other.code == 2 and f"--{RENAMED[old]} is " in other.err
    r = train("--resume", "--out", folder)
    assert r.code == 0 and "not known here" not in r.err, r
    config = json.loads(checkpoint.read(folder / "model-00000400.safetensors")[0]["config"])
    assert config[RENAMED[old]] == value and old not in config


@pytest.mark.parametrize("key", [k for k in CONFIG if k not in OWN + SHAPE])
def test_what_is_missing_everywhere_has_its_default(key, folder):
    """As in a run from before the option existed."""
    change_run(folder, lambda c: c.pop(key))
    for step in (300, STOPPED):
        checkpoint.change(folder, step, config=lambda c: c.pop(key))
    r = train("--resume", "--out", folder)
    ended_well(r, folder)
    lacks, = re.findall("lacks (.*): it is from before", r.err)
    assert NEWER in lacks and f'"{RENAMED.get(key, key)}"' in lacks.replace(NEWER, ""), r
    # what is saved now has it
    assert json.loads(checkpoint.read(folder / "model-00000400.safetensors")[0]["config"])[RENAMED.get(key, key)] == CONFIG[key]


def test_a_default_that_differs_is_refused(folder):
    change_run(folder, lambda c: c.pop("noise"))
    for step in (300, STOPPED):
        checkpoint.change(folder, step, config=lambda c: c.pop("noise"))
    r = train("--resume", "--out", folder, "--noise", "0.5")
    assert r.code == 2 and "--noise is 0.5, but the run in" in r.err and "has 0" in r.err, r
    assert train("--resume", "--out", folder, "--noise", "0").code == 0


@pytest.mark.parametrize("key", SHAPE)
def test_without_the_shape_of_the_model_nothing_goes_on(key, folder, table):
    change_run(folder, lambda c: c.pop(key))
    for step in (300, STOPPED):
        checkpoint.change(folder, step, config=lambda c: c.pop(key))
    for r in (train("--resume", "--out", folder), discover(folder, table)):
        assert r.code == 2 and f'lacks "{key}"' in r.err and "weights" in r.err, r


def test_other_data_by_what_is_missing_are_named(folder):
    change_run(folder, lambda c: c.pop("set-size"))
    for step in (300, STOPPED):
        checkpoint.change(folder, step, config=lambda c: c.pop("set-size"))
    for r in (train("--resume", "--out", folder), run("eval", "--model", str(folder), "--limit", "1")):
        assert r.code == 2 and re.search('lacks .*"set-size" .100000.', r.err.splitlines()[-1]), r


@pytest.mark.parametrize("key", [k for k in CONFIG if k not in SHAPE])
def test_a_model_that_lacks_an_option_is_used(key, folder, table):
    for step in (300, STOPPED):
        checkpoint.change(folder, step, config=lambda c: c.pop(key))
    r = discover(folder, table)
    assert r.code == 0 and r.json["model"]["step"] == STOPPED, r
    assert r.json["model"]["points"] == (64 if key == "points" else 16)
    assert (f'lacks "{key}"' in r.err) == (key in ("dropout", "attention-dropout", "norm-eps", "init-scale",
                                                   "points", "drop-column")), r
    r = run("info", "--model", str(folder / f"model-{STOPPED:08d}.safetensors"), "--json")
    assert r.code == 0 and key not in r.json["configuration"]


@pytest.mark.parametrize("key", ["version", "revision", "format", "vocabulary", "universe", "level", "libraries"])
def test_a_checkpoint_that_lacks_a_text(key, folder, table):
    """Those that say where it is from; what it was made with is then not compared."""
    for step in (300, STOPPED):
        checkpoint.change(folder, step, metadata=lambda m: m.pop(key))
    assert discover(folder, table).json["model"]["step"] == STOPPED
    ended_well(train("--resume", "--out", folder), folder)


@pytest.mark.parametrize("key", ["kind", "step", "config", "symlaw_format"])
def test_a_checkpoint_that_lacks_what_it_needs(key, folder, table):
    checkpoint.change(folder, STOPPED, metadata=lambda m: m.pop(key))
    r = train("--resume", "--out", folder)
    assert r.code == 0 and f"lack {key}" in r.err and "resumed at step 300" in r.err, r


@pytest.mark.parametrize("key", ["run", *MADE])
def test_provenance_in_run_json_may_be_missing(key, folder):
    change_run(folder, lambda c: c.pop(key) if key == "run" else c["run"].pop(key))
    assert run("info", "--run", str(folder), "--json").json["steps"] == 400
    ended_well(train("--resume", "--out", folder), folder)


@pytest.mark.parametrize("key", json.loads(checkpoint.read(GOLDEN / "run" / f"state-{STOPPED:08d}.safetensors")[0]
                                           ["progress"]))
def test_sums_that_are_missing_begin_anew(key, folder):
    def drop(texts):
        if "progress" in texts:
            progress = json.loads(texts["progress"])
            progress.pop(key)
            texts["progress"] = json.dumps(progress)
    checkpoint.change(folder, STOPPED, metadata=drop)
    r = train("--resume", "--out", folder)
    assert r.code == 0 and f"resumed at step {STOPPED}" in r.err and f'"{key}"' in r.err, r


# ---------------------------------------------------------------- from a later version

def test_what_is_not_known_is_kept_and_named(folder, table):
    more = {"rotary": {"base": 1e4, "on": [True, None, "\u00e4\"", 3]}, "comment": "mine"}
    change_run(folder, lambda c: c.update(more))
    checkpoint.change(folder, STOPPED, config=lambda c: c.update(comment="mine", other=-7))
    r = discover(folder, table)
    assert r.code == 0 and '"comment"' in r.err and '"other"' in r.err and "not known" in r.err, r
    r = train("--resume", "--out", folder)
    ended_well(r, folder)
    for name in ("rotary", "comment", "other"):
        assert f'"{name}"' in r.err, r
    for kind in ("model", "state"):
        config = json.loads(checkpoint.read(folder / f"{kind}-00000400.safetensors")[0]["config"])
        assert {k: config[k] for k in config if k in more} == more and config["other"] == -7
    assert json.loads((folder / "run.json").read_text())["rotary"] == more["rotary"]
    # and a run that was ended so is a run as any other
    assert train("--resume", "--out", folder).code == 0
    (folder / "run.json").unlink()
    (folder / "model-00000400.safetensors").unlink()
    r = train("--resume", "--out", folder)
    assert r.code == 0, r
    assert json.loads((folder / "run.json").read_text())["rotary"] == more["rotary"]


def test_what_differs_between_a_run_and_its_checkpoint_is_refused(folder):
    change_run(folder, lambda c: c.update(batch=16))
    r = train("--resume", "--out", folder)
    assert r.code == 2 and '"batch"' in r.err, r


@pytest.mark.parametrize("stored, says", [(2, "newer version"), (0, "format"), (1.5, "format"), ("1", "format")])
def test_a_newer_format_is_refused(stored, says, folder, table):
    change_run(folder, lambda c: c.update(format=stored))
    for r in (train("--resume", "--out", folder), run("info", "--run", str(folder))):
        assert r.code == 2 and says in r.err and "run.json" in r.err, r
    assert sorted(x.name for x in folder.iterdir()) == sorted(x.name for x in (GOLDEN / "run").iterdir())
    for step in (300, STOPPED):
        checkpoint.change(folder, step, config=lambda c: c.update(format=stored))
    model = folder / f"model-{STOPPED:08d}.safetensors"
    for r in (discover(folder, table), discover(model, table), run("eval", "--model", str(folder), "--limit", "1"),
              run("info", "--model", str(model))):
        assert r.code == 2 and says in r.err and model.name in r.err, r
    (folder / "run.json").unlink()
    r = train("--resume", "--out", folder)
    assert r.code == 2 and says in r.err and model.name in r.err, r


def test_a_newer_file_is_refused(folder, table):
    for step in (300, STOPPED):
        checkpoint.change(folder, step, metadata=lambda m: m.update(symlaw_format="2"))
    for r in (train("--resume", "--out", folder), discover(folder, table), run("info", "--run", str(folder)),
              run("info", "--model", str(folder / "model-00000300.safetensors"))):
        assert r.code == 2 and "written by a newer version: its format is 2" in r.err, r


def test_what_is_written_has_its_format(tmp_path):
    r = train("--width", "8", "--layers", "1", "--depth", "1", "--points", "4", "--batch", "2", "--steps", "2",
              "--valid-pairs", "0", "--out", tmp_path)
    assert r.code == 0, r
    assert json.loads((tmp_path / "run.json").read_text())["format"] == 1
    texts = checkpoint.read(tmp_path / "model-00000002.safetensors")[0]
    assert json.loads(texts["config"])["format"] == 1 and texts["symlaw_format"] == "1"


# ---------------------------------------------------------------- another machine

@pytest.mark.parametrize("key, stored", [("level", "a CPU to come"), ("libraries", "oneDNN 1.0 (SSE41)")])
def test_a_run_of_another_machine_goes_on_with_a_note(key, stored, folder):
    for step in (300, STOPPED):
        checkpoint.change(folder, step, metadata=lambda m: m.update({key: stored}))
    r = train("--resume", "--out", folder)
    ended_well(r, folder)
    assert stored in r.err and "bits may differ from those of an uninterrupted run" in r.err, r
    # what is saved now is of this machine
    now = checkpoint.read(folder / "model-00000400.safetensors")[0]
    made = json.loads((folder / "run.json").read_text())["run"]
    assert now[key] != stored and set(made) >= {"level", "libraries"}
    shutil.rmtree(folder)
    r = train("--resume", "--width", "8", "--layers", "1", "--depth", "1", "--points", "4", "--batch", "2", "--steps",
              "2", "--valid-pairs", "0", "--out", folder)
    assert r.code == 0 and "bits may differ" not in r.err, r
    made = json.loads((folder / "run.json").read_text())["run"]
    assert made[key] == checkpoint.read(folder / "state-00000002.safetensors")[0][key] == now[key]


def test_a_run_goes_on_with_other_products_with_a_note(tmp_path):
    """The same program on the same CPU, whose libraries must use other instructions."""
    args = ["--width", "8", "--layers", "1", "--depth", "1", "--points", "4", "--batch", "2", "--valid-pairs", "0",
            "--checkpoint-steps", "1", "--steps", "3", "--out", tmp_path]
    assert train(*args).code == 0
    def again(**env):
        for path in tmp_path.glob("*-00000003.safetensors"):
            path.unlink()
        r = run("train", "--resume", "--out", str(tmp_path), env={**os.environ, **env})
        assert r.code == 0 and "resumed at step 2 of 3" in r.err, r
        return r.err
    assert "bits may differ" not in again()
    err = again(DNNL_MAX_CPU_ISA="SSE41", OPENBLAS_CORETYPE="Nehalem")
    assert "bits may differ from those of an uninterrupted run" in err and "Nehalem" in err
    assert "Nehalem" in checkpoint.read(tmp_path / "model-00000003.safetensors")[0]["libraries"]


def test_a_journal_goes_on_with_other_products(tmp_path):
    """Which library multiplies is no part of what a journal must agree with."""
    ask = ["eval", "--model", str(GOLDEN / "model.safetensors"), "--split", "test", "--limit", "2", "--samples", "2",
           "--journal", str(tmp_path / "j"), "--json"]
    assert run(*ask).code == 0
    lines = (tmp_path / "j").read_text()
    r = run(*ask, env={**os.environ, "DNNL_MAX_CPU_ISA": "SSE41", "OPENBLAS_CORETYPE": "Nehalem"})
    assert r.code == 0 and (tmp_path / "j").read_text() == lines, r


# ---------------------------------------------------------------- numbers that are none

TENSORS = [("model", "tokens.weight"), ("model", "decoder.0.norm1.weight"), ("state", "m.tokens.weight"),
           ("state", "v.tokens.weight"), ("state", "cpr")]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("kind, tensor", TENSORS)
def test_numbers_that_are_not_finite_are_damage(kind, tensor, number, folder, table):
    checkpoint.put(folder, STOPPED, kind, tensor, number, at=5)
    name = f"{kind}-{STOPPED:08d}.safetensors"
    r = run("info", "--run", str(folder), "--json")
    assert r.code == 0 and r.json["saved"] == 300 and tensor in r.json["warning"] and name in r.json["warning"], r
    r = discover(folder, table)
    passed_over = kind == "model"  # a reader of weights alone does not read the state
    assert r.code == 0 and r.json["model"]["step"] == (300 if passed_over else STOPPED), r
    assert (tensor in r.err) == passed_over
    if passed_over:
        r = discover(folder / name, table)
        assert r.code == 2 and f'tensor "{tensor}"' in r.err and "not finite" in r.err and name in r.err, r
        assert run("info", "--model", str(folder / name)).code == 2
    r = train("--resume", "--out", folder)
    assert r.code == 0 and "resumed at step 300" in r.err and f'"{tensor}"' in r.err and "not finite" in r.err, r


def test_a_damaged_newest_checkpoint_is_reported_by_all(folder, table):
    path = folder / f"model-{STOPPED:08d}.safetensors"
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    for r in (discover(folder, table),
              run("eval", "--model", str(folder), "--limit", "2", "--samples", "2", "--json")):
        assert r.code == 0 and path.name in r.err and "damaged" in r.err and "step 300" in r.err, r
        assert path.name in r.json["model"]["warning"] and r.json["model"]["step"] == 300
    r = run("info", "--run", str(folder))
    assert r.code == 0 and path.name in r.out and "damaged" in r.out and "step 300; continue" in r.out, r
    j = run("info", "--run", str(folder), "--json").json
    assert path.name in j["warning"] and j["saved"] == 300
    # without the older one there is nothing
    for x in folder.glob("*-00000300.safetensors"):
        x.unlink()
    for r in (discover(folder, table), run("info", "--run", str(folder))):
        assert r.code == 2 and path.name in r.err and "damaged" in r.err, r


def test_a_whole_checkpoint_has_no_warning(table):
    assert discover(GOLDEN / "run", table).json["model"]["warning"] is None
    assert run("info", "--run", str(GOLDEN / "run"), "--json").json["warning"] is None
