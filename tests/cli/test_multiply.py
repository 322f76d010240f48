"""The GEMM libraries: they are loaded when they are first needed, use the instruction set of the program, get their
memory before work starts, and are protected from signals."""
import json
import os
import re
import resource
import signal
import subprocess

import pytest
from tool import PROGRAM, run, wait_for_work

TRAIN = "bench train --width 16 --layers 1 --points 4 --batch 4 --tokens 8 --steps 2 --threads 2".split()
LIBRARIES = ("libopenblas", "libdnnl", "libgomp", "libmpi", "libOpenCL")


def limited(args, megabytes, **environment):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    return subprocess.run([PROGRAM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **environment}, preexec_fn=limit, timeout=120)


def sanitized():
    names = subprocess.run(["ldd", PROGRAM], stdout=subprocess.PIPE, text=True).stdout
    return "libasan" in names


def loaded(args):
    """Files of the libraries that a command maps and initialises."""
    traced = run(*args, env={**os.environ, "LD_DEBUG": "files"})
    assert traced.code == 0
    return re.findall(r"calling init: (\S+)", traced.err)


def test_the_program_is_linked_with_none_of_them():
    names = subprocess.run(["ldd", PROGRAM], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert "libjansson" in names  # ldd has looked at all
    assert [n for n in LIBRARIES if n in names] == []


@pytest.mark.parametrize("args", [["--version"], ["expressions", "--depth", "1", "--count-only"],
                                  ["pairs", "--depth", "1", "--count", "2"]], ids=" ".join)
def test_what_multiplies_nothing_loads_none_of_them(args):
    assert any("libjansson" in name for name in loaded(args))
    assert [n for n in LIBRARIES if any(n in name for name in loaded(args))] == []


def test_what_multiplies_loads_them():
    assert any("libopenblas" in name for name in loaded(TRAIN))


@pytest.mark.skipif(sanitized(), reason="the sanitizer has terabytes of address space")
def test_little_memory_is_enough_for_what_multiplies_nothing():
    for args in (["--version"], ["expressions", "--depth", "1", "--count-only", "--threads", "1"]):
        done = limited(args, 60)
        assert done.returncode == 0, done


@pytest.mark.skipif(sanitized(), reason="the sanitizer has terabytes of address space")
@pytest.mark.parametrize("cpu", ["base", "avx2", ""])
def test_too_little_memory_is_refused_in_words(cpu):
    """It used to end by a signal inside oneDNN, by an assertion, or never."""
    environment = {"SYMLAW_CPU": cpu} if cpu else {}
    codes = []
    for megabytes in (60, 120, 200, 300, 400, 1000):
        done = limited(TRAIN, megabytes, **environment)
        if "this CPU has" in done.stderr:
            pytest.skip("this CPU does not have it")
        assert done.returncode in (0, 3), (megabytes, done)
        if done.returncode == 3:
            assert any(w in done.stderr for w in ("address space", "memory", "cannot load", "thread")), done
        codes.append(done.returncode)
    assert codes[0] == 3 and codes[-1] == 0


def test_a_wrong_word_for_the_cpu_is_refused():
    for word in ("avx1024", "AVX2"):
        done = run(*TRAIN, env={**os.environ, "SYMLAW_CPU": word})
        assert done.code == 2 and f"SYMLAW_CPU={word}: must be base, avx2 or avx512" in done.err


def test_the_cpu_can_be_lowered_and_the_libraries_follow():
    done = run("bench", "gemm", "--width", "16", "--layers", "1", "--steps", "1", "--json", "--quiet",
               env={**os.environ, "SYMLAW_CPU": "base"})
    result = json.loads(done.out)
    assert result["level"] == "base"
    assert "Nehalem" in result["libraries"] and "avx" not in result["libraries"]


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_during_products_ends_in_order(number, code):
    """It used to destroy the heap on CPUs with AVX-512, and with AVX2 for long sums."""
    for wait in (0.5, 0.9):
        p = subprocess.Popen([PROGRAM, "bench", "gemm", "--size", "mini", "--steps", "100000", "--quiet"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_work(p, wait)
        p.send_signal(number)
        _, err = p.communicate(timeout=60)
        assert p.returncode == code and "interrupted" in err, (p.returncode, err)
