"""The program in a German environment prints the bytes that it prints in the C locale: also where a library
that it loads has called setlocale, which the program itself never does."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tool import run

GERMAN = "de_DE.UTF-8"
PRELOADED = """
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void begin(void) {
    char text[8];
    setlocale(LC_ALL, "");
    snprintf(text, sizeof text, "%.1f", 0.5);
    if (getenv("SAY_LOCALE")) fputs(text, stderr);
}
"""
TABLE = "a;b;y\n" + "".join(f"{i},5;{i * i % 7},25;{2 * i - 3 * (i * i % 7)},5\n" for i in range(12))
COMMANDS = [
    ["info", "--lr", "0.00125", "--tokens", "31.5", "--json"],
    ["info", "--dropout", "1.75", "--tokens", "31.5"],
    ["train", "--help"],
    ["fit", "y = a*exp(-k*t) + c", str(Path(__file__).parents[1] / "golden" / "fit" / "decay.csv"), "--bounds", "c=0.5:1.5",
     "--start", "k=0.25"],
    ["expressions", "--canon", "0.25*x1 + 1.5e-3*x2"],
    ["expressions", "--depth", "1", "--withheld", "0.25", "--json"],
    ["pairs", "--depth", "1", "--count", "2", "--noise", "0.125"],
    ["pairs", "--depth", "1", "--index", "3", "--format", "pretty"],
    ["discover", "table.csv", "--model", "MODEL", "--search", "model", "--holdout", "0.25", "--samples", "8", "--format", "python"],
    ["discover", "no/such/table.csv", "--model", "MODEL"],
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "run"
    options = "--width 8 --layers 1 --depth 1 --ops + --points 8 --batch 2 --steps 3 --valid-pairs 2 --quiet"
    done = run("train", *options.split(), "--out", str(folder))
    assert done.code == 0, done
    return str(folder)


@pytest.fixture(scope="module")
def german():
    names = subprocess.run(["locale", "-a"], stdout=subprocess.PIPE, text=True).stdout.splitlines()
    if "de_DE.utf8" not in [n.replace("UTF-8", "utf8") for n in names]:
        pytest.skip(f"no locale {GERMAN}: tools/setup check installs it")
    return {**os.environ, "LC_ALL": GERMAN, "LANGUAGE": "de"}


@pytest.fixture(scope="module")
def preloaded(german, tmp_path_factory):
    """The environment in which the process has the German locale before main."""
    folder, cc = tmp_path_factory.mktemp("preloaded"), shutil.which("cc")
    if not cc:
        pytest.skip("no C compiler")
    (folder / "set.c").write_text(PRELOADED)
    subprocess.run([cc, "-shared", "-fPIC", "-o", folder / "set.so", folder / "set.c"], check=True)
    environment = {**german, "LD_PRELOAD": str(folder / "set.so")}
    said = run("--version", env={**environment, "SAY_LOCALE": "1"})
    if "ASan runtime" in said.err:
        pytest.skip("AddressSanitizer must be the first library")
    assert said.code == 0 and said.err == "0,5", said
    return environment


def outcome(args, model, tmp_path, environment):
    (tmp_path / "table.csv").write_text(TABLE)
    done = run(*[model if a == "MODEL" else a for a in args], cwd=tmp_path, env=environment)
    seconds = done.out.find('"seconds":')  # of the result: how long it took
    if seconds >= 0:
        done.out = done.out[:seconds] + done.out[done.out.index(",", seconds):]
    # progress comes by the clock
    messages = [line for line in done.err.splitlines() if not re.search(r", \d+ %(, .* left)?$", line)]
    return done.code, done.out, messages


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_the_environment_makes_no_difference(args, model, tmp_path, german):
    in_c = outcome(args, model, tmp_path, {**os.environ, "LC_ALL": "C"})
    assert in_c[1] or in_c[2]
    assert outcome(args, model, tmp_path, german) == in_c


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_neither_does_a_library_that_sets_the_locale(args, model, tmp_path, preloaded):
    in_c = outcome(args, model, tmp_path, {**os.environ, "LC_ALL": "C"})
    assert outcome(args, model, tmp_path, preloaded) == in_c
