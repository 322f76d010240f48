"""Which shared libraries a command maps: MPI only when a launcher started the program."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tool import PROGRAM, run

TINY = ["--width", "8", "--layers", "1", "--depth", "1", "--points", "4", "--batch", "4", "--steps", "2",
        "--valid-pairs", "0"]
ALONE = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "PMI_", "MV2_"))}


def mapped(folder, *args, before=(), env=ALONE):
    """(exit code, names of the shared libraries that were mapped for the program, at its start or later)."""
    done = subprocess.run([*before, PROGRAM, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, text=True, timeout=120,
                          env={**env, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(folder / "linker")})
    names = set()
    for report in folder.glob("linker.*"):
        text = report.read_text(errors="replace")
        report.unlink()
        if PROGRAM in text:  # not a report of the launcher
            names |= {x.split("file=")[1].split(" ")[0] for x in text.splitlines() if "generating link map" in x}
    assert any("libc.so" in x for x in names), done
    return done.returncode, names


def has_mpi(names):
    return [x for x in names if "libmpi" in x or "libopen-rte" in x or "libmpich" in x]


@pytest.mark.parametrize("args", [
    ["--version"],
    ["pairs", "--depth", "1", "--count", "1"],
    ["expressions", "--depth", "1", "--count-only"],
    ["train", *TINY, "--out", "run"],
], ids=lambda args: args[0])
def test_one_process_maps_no_mpi(args, tmp_path):
    code, names = mapped(tmp_path, *[tmp_path / x if x == "run" else x for x in args])
    assert code == 0 and has_mpi(names) == []


def library():
    """The file that is loaded for MPI, such as libmpi.so.40; None in a build without."""
    names = [x for x in Path(PROGRAM).read_bytes().split(b"\0") if x.startswith(b"libmp")]
    return names[0].decode() if names else None


several = pytest.mark.skipif(not library() or not shutil.which("mpirun"), reason="no mpirun, or a build without MPI")
MPI = {**ALONE, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@several
def test_a_launcher_has_it_mapped(tmp_path):
    code, names = mapped(tmp_path, "expressions", "--canon", "x1", before=["mpirun", "-n", "1"], env=MPI)
    assert code == 0 and has_mpi(names)


@several
def test_an_mpi_that_cannot_be_loaded_is_reported(tmp_path):
    name = library()
    (tmp_path / name).write_bytes(b"")
    broken = {**ALONE, "LD_LIBRARY_PATH": str(tmp_path)}
    assert run("--version", env=broken).code == 0
    done = run("--version", env={**broken, "OMPI_COMM_WORLD_SIZE": "2"})
    assert done.code == 3 and "OMPI_COMM_WORLD_SIZE is set" in done.err and name in done.err
    assert "start without mpirun" in done.err and len(done.err.splitlines()) == 1


HOST = """
import ctypes, sys
how = getattr(ctypes, sys.argv[1])
mpi = ctypes.CDLL(sys.argv[2], mode=how)
if sys.argv[4] == "started":
    mpi.MPI_Init(None, None)
us = ctypes.CDLL(sys.argv[3])
assert us.symlaw_begin() == 0
ranks = us.symlaw_ranks()
us.symlaw_end()
over = ctypes.c_int()
mpi.MPI_Finalized(ctypes.byref(over))
sys.stdout.write(f"{ranks} ranks, over {over.value}\\n")
if sys.argv[4] == "started":
    mpi.MPI_Finalize()
"""


@several
@pytest.mark.parametrize("how", ["RTLD_GLOBAL", "RTLD_LOCAL"])
def test_a_host_keeps_its_own_mpi(how):
    """Ours are the ranks of a host that has started MPI, however it was loaded, and we do not end it."""
    shared = Path(PROGRAM).parent / "libsymlaw.so"
    if not shared.exists():
        pytest.skip("no shared library")
    args = [sys.executable, "-c", HOST, how, library(), str(shared)]
    done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", *args, "started"], env=MPI, text=True, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0 and done.stdout.splitlines() == ["2 ranks, over 0"] * 2, done
    # loaded but not started, and no launcher: we are alone
    done = subprocess.run([*args, "idle"], env=ALONE, text=True, timeout=120, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    assert done.returncode == 0 and done.stdout == "1 ranks, over 0\n", done
