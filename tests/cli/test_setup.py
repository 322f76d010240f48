"""tools/setup with imitations of dpkg-query, apt-get, sudo and tools/axe_core: nothing is installed or fetched here."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[2] / "tools" / "setup"


@pytest.fixture
def machine(tmp_path):
    """Runs tools/setup where all packages but the missing ones are installed; returns its output and
    what apt-get was called with."""
    calls = tmp_path / "calls"

    def script(name, text):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)

    copy = tmp_path / "setup"
    shutil.copy(SETUP, copy)
    script("axe_core", "[ -z $NO_PYPI ] || echo axe-core could not be fetched")
    script("sudo", 'exec "$@"')
    script("apt-get", f'echo "$@" >> {calls}')

    def run(*words, missing=(), **environment):
        tests = "".join(f'[ "$4" = {name} ] && exit 1\n' for name in missing)
        script("dpkg-query", f"{tests}echo installed")
        calls.unlink(missing_ok=True)
        done = subprocess.run([copy, *words], capture_output=True, text=True, check=False,
                              env={**os.environ, "SYMLAW_SETUP": "",
                                   "PATH": f"{tmp_path}:{os.environ['PATH']}", **environment})
        return done, calls.read_text().splitlines() if calls.exists() else []

    return run


def test_silent_when_all_is_installed(machine):
    done, calls = machine("check", "lint", "fuzz", "torch")
    assert (done.returncode, done.stdout, done.stderr, calls) == (0, "", "", [])


def test_without_the_package_index_all_else_is_installed(machine):
    done, calls = machine("check", missing=["libjansson-dev"], NO_PYPI="1")
    assert done.returncode == 0 and len(calls) == 2 and "could not be fetched" in done.stdout
    done, calls = machine("check", NO_PYPI="1", SYMLAW_SETUP="no")
    assert (done.returncode, done.stdout, calls) == (0, "", [])


def test_prints_the_command_then_runs_it(machine):
    done, calls = machine("check", missing=["libjansson-dev", "locales-all", "cppcheck"])
    assert done.returncode == 0, done.stderr
    assert calls == ["update -q",
                     "install -y -q --no-install-recommends libjansson-dev locales-all"]
    assert f"apt-get {calls[1]}\n" in done.stdout
    assert "SYMLAW_SETUP=no" in done.stdout


def test_no_installs_nothing(machine):
    done, calls = machine("lint", missing=["cppcheck"], SYMLAW_SETUP="no")
    assert (done.returncode, calls) == (0, [])
    assert "cppcheck" in done.stdout


def test_unknown_word(machine):
    done, calls = machine("everything")
    assert (done.returncode, calls) == (2, [])
