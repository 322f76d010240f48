"""symlaw doctor: where all parts work, and where parts are missing or broken."""
import os
from pathlib import Path

import pytest

from test_loaded import ALONE, library
from tool import run

HERE = Path(__file__).parent  # without runs/best.safetensors, which a study leaves where it was started
PARTS = ["version", "CPU", "memory", "products", "MPI", "model", "cache"]


def doctor(**environment):
    """(exit code, state and text of each part)."""
    done = run("doctor", "--json", env={**ALONE, **environment}, cwd=HERE)
    parts = done.json["parts"]
    assert [p["part"] for p in parts] == PARTS and done.code == done.json["exit"]
    for p in parts:
        assert p["state"] in ("works", "absent", "failed") and p["text"]
        assert (p["state"] == "works") == (p["remedy"] is None), p
    return done.code, {p["part"]: p for p in parts}


def test_every_part_works_here():
    code, parts = doctor()
    assert code == 0, parts
    assert "oneDNN" in parts["products"]["text"] or "OpenBLAS" in parts["products"]["text"]
    assert "small.safetensors" in parts["model"]["text"]
    assert parts["version"]["text"] in run("--version").out.replace(" (", ", ")
    done = run("doctor", env=ALONE, cwd=HERE)
    assert done.code == 0 and done.lines[0].endswith("every part works") and len(done.lines) == 2 + len(PARTS)


def test_the_cpu_is_the_one_in_use():
    code, parts = doctor(SYMLAW_CPU="base")
    assert code == 0 and "instructions base by SYMLAW_CPU" in parts["CPU"]["text"]
    assert run("doctor", env={**ALONE, "SYMLAW_CPU": "mmx"}).code == 2


def test_a_model_that_is_not_there_is_named(tmp_path):
    code, parts = doctor(SYMLAW_MODEL=str(tmp_path / "none.safetensors"))
    assert code == 1 and parts["model"]["state"] == "failed" and "none.safetensors" in parts["model"]["text"]
    assert all(p["state"] == "works" for name, p in parts.items() if name != "model")


def test_libraries_that_cannot_be_loaded_are_named(tmp_path):
    broken = {}
    for name in ("libdnnl.so.2", "libopenblas.so.0", library()):
        if name:
            (tmp_path / name).write_bytes(b"")
    broken["LD_LIBRARY_PATH"] = str(tmp_path)
    code, parts = doctor(**broken)
    assert code == 1 and parts["products"]["state"] == "failed"
    assert "cannot load oneDNN" in parts["products"]["text"] and "search does not" in parts["products"]["remedy"]
    if library():
        assert parts["MPI"]["state"] == "absent" and library() in parts["MPI"]["text"]
    text = run("doctor", env={**ALONE, **broken})
    assert text.code == 1 and "does not work: products" in text.lines[0]
    if library():
        assert "; absent: MPI" in text.lines[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_cache_without_permission_is_named(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0)
    code, parts = doctor(SYMLAW_CACHE=str(folder))
    assert code == 0 and parts["cache"]["state"] == "absent"


def test_the_cache_is_counted(tmp_path):
    assert "off" in doctor(SYMLAW_CACHE="off")[1]["cache"]["text"]
    assert "made when it is needed" in doctor(SYMLAW_CACHE=str(tmp_path / "new"))[1]["cache"]["text"]
    (tmp_path / "a").write_bytes(bytes(2_000_000))
    assert f"{tmp_path}, 1 file, 2.0 MB" in doctor(SYMLAW_CACHE=str(tmp_path))[1]["cache"]["text"]
