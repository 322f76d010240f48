"""The program on the oldest CPU that it is for, x86-64-v2: a Nehalem, by emulation. An instruction that it lacks ends
the emulator by a signal."""
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from tool import PROGRAM, run

EXAMPLES = Path(__file__).parents[2] / "examples"
EMULATOR = shutil.which("qemu-x86_64")
pytestmark = pytest.mark.skipif(
    not EMULATOR or platform.machine() != "x86_64" or b"__asan_init" in Path(PROGRAM).read_bytes(),
    reason="qemu-x86_64 is not installed, another CPU, or a build with sanitizers")


def emulated(*args):
    return subprocess.run([EMULATOR, "-cpu", "Nehalem", PROGRAM, *map(str, args)], capture_output=True, text=True,
                          timeout=300)


def test_the_emulator_has_no_wider_instructions():
    assert "instructions base" in emulated("doctor").stdout


@pytest.mark.parametrize("table", ["energy", "resistors"])
def test_formulas_are_the_same(table):
    args = ["discover", EXAMPLES / f"{table}.csv", "--quiet"]
    done = emulated(*args)
    assert done.returncode == 0, done
    assert done.stdout.splitlines()[0] == run(*map(str, args)).lines[0]


def test_training_runs(tmp_path):
    done = emulated("train", "--width", 8, "--layers", 1, "--depth", 1, "--points", 4, "--batch", 4, "--steps", 2,
                    "--valid-pairs", 0, "--out", tmp_path / "run")
    assert done.returncode == 0 and list((tmp_path / "run").glob("model-*.safetensors")), done
