"""The cache of sets: where and when files are written, and that only the time of a call changes."""
import os
import random
import signal
import subprocess
import time

import pytest

from tool import PROGRAM, expressions

# 0.3 s of work, enough to be kept: see "Cache of a set" in docs/formats.md
LARGE = ["--depth", "3", "--ops", "exp,+,-,*", "--set-size", "20000"]


def listing(*args, cache=None, unset=(), **environment):
    """symlaw expressions, with SYMLAW_CACHE as given; `unset` names what the environment must lack."""
    env = {k: v for k, v in os.environ.items() if k not in unset}
    env.update({k: str(v) for k, v in environment.items()})
    if cache is not None:
        env["SYMLAW_CACHE"] = str(cache)
    r = expressions(*args, env=env)
    assert r.code == 0, r
    return r


@pytest.fixture(scope="module")
def plain():
    """What is printed without any cache."""
    return listing(*LARGE, cache="off").out


def only_file(folder):
    names = os.listdir(folder)
    assert len(names) == 1 and names[0].startswith("set-") and names[0].endswith(".bin"), names
    return folder / names[0]


def test_the_second_listing_is_read_and_the_same(tmp_path, plain):
    first = listing(*LARGE, cache=tmp_path)
    file = only_file(tmp_path)
    os.utime(file, (1, 1))
    before = file.stat()
    second = listing(*LARGE, cache=tmp_path)
    assert first.out == second.out == plain and first.err == second.err
    after = file.stat()
    assert after.st_ino == before.st_ino, "it was written again"
    assert after.st_mtime > 1, "its use was not noted"


def test_another_build_of_the_same_rules_reads_it(tmp_path):
    """The file is known by the rules, not by the machine code."""
    folder, other = tmp_path / "cache", tmp_path / "symlaw"
    first = listing(*LARGE, cache=folder)
    file = only_file(folder)
    os.utime(file, (1, 1))
    subprocess.run(["objcopy", "--strip-all", "--remove-section=.note.gnu.build-id", PROGRAM, other],
                   check=True)
    env = {**os.environ, "SYMLAW_CACHE": str(folder)}
    again = subprocess.run([other, "expressions", *LARGE], env=env, capture_output=True, text=True)
    assert again.returncode == 0 and again.stdout == first.out
    assert only_file(folder).stat().st_mtime > 1, "its use was not noted"


def test_sampling_reads_it_too(tmp_path):
    args = [*LARGE, "--sample", "50", "--json"]
    want = listing(*args, cache="off").out
    assert listing(*args, cache=tmp_path).out == want
    inode = only_file(tmp_path).stat().st_ino
    assert listing(*args, cache=tmp_path).out == want
    assert only_file(tmp_path).stat().st_ino == inode


def test_a_damaged_file_is_written_again(tmp_path, plain):
    listing(*LARGE, cache=tmp_path)
    file = only_file(tmp_path)
    good = file.read_bytes()
    for bad in (b"", good[:-8], good[:300], b"x" * len(good), good[:5000] + b"\1" + good[5001:]):
        file.write_bytes(bad)
        r = listing(*LARGE, cache=tmp_path)
        assert r.out == plain and "kept" not in r.err
        assert only_file(tmp_path).read_bytes() == good


@pytest.mark.parametrize("args", [["--count-only"], ["--find", "x1*x2"]])
def test_counting_and_finding_enumerate(args, tmp_path):
    """The one shows what the enumeration took, the other needs its table."""
    listing(*LARGE, cache=tmp_path)
    file = only_file(tmp_path)
    os.utime(file, (1, 1))
    r = listing(*LARGE, *args, "--json", cache=tmp_path)
    assert r.json["total"]["seconds"] > 0.01
    assert file.stat().st_mtime == 1, "the file was used"


def test_a_small_set_is_not_kept(tmp_path):
    listing("--depth", "2", cache=tmp_path / "none")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("off", ["off", ""])
def test_it_can_be_switched_off(off, tmp_path, plain):
    r = listing(*LARGE, cache=off, HOME=tmp_path, XDG_CACHE_HOME=tmp_path)
    assert r.out == plain and os.listdir(tmp_path) == []


def test_where_it_is_by_default(tmp_path):
    unset = ["SYMLAW_CACHE", "XDG_CACHE_HOME"]
    home, xdg = tmp_path / "home", tmp_path / "xdg"
    home.mkdir()
    listing(*LARGE, unset=unset, HOME=home)
    only_file(home / ".cache" / "symlaw")
    listing(*LARGE, unset=unset, HOME=home / "other", XDG_CACHE_HOME=xdg)
    only_file(xdg / "symlaw")
    assert os.listdir(home) == [".cache"]
    listing(*LARGE, unset=unset, HOME=home / "third", XDG_CACHE_HOME="relative")
    only_file(home / "third" / ".cache" / "symlaw")
    assert not os.path.exists("relative")
    assert "kept" not in listing(*LARGE, unset=[*unset, "HOME"]).err


def test_a_folder_that_cannot_be_written_is_reported_and_no_failure(plain):
    r = listing(*LARGE, cache="/dev/null/sets")
    assert r.out == plain
    assert r.err.count("not kept") == 1 and "/dev/null/sets" in r.err
    assert listing(*LARGE, "--quiet", cache="/dev/null/sets").err == ""


def test_at_most_sixteen_stay(tmp_path):
    for seed in range(18):
        listing("--depth", "3", "--ops", "exp,+,-,*", "--set-size", "300", "--sample", "1", "--seed",
                str(seed), cache=tmp_path)
    assert len(os.listdir(tmp_path)) == 16


def test_killed_at_any_moment_it_leaves_a_good_file_or_none(tmp_path, plain):
    """Every second time as soon as there is a file, whole or not; else at random."""
    moments = random.Random(1)
    started = time.monotonic()
    listing(*LARGE, "--sample", "1", cache=tmp_path / "timed")
    took = time.monotonic() - started
    command = [PROGRAM, "expressions", *LARGE, "--sample", "1", "--quiet"]
    left = set()
    for i in range(30):
        if i >= 6 and "temporary" in left:
            break
        folder = tmp_path / f"killed{i}"
        p = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                             env={**os.environ, "SYMLAW_CACHE": str(folder)})
        if i % 2:
            time.sleep(took * moments.uniform(0.2, 1.1))
        else:
            while p.poll() is None and not (folder.exists() and os.listdir(folder)):
                pass
        p.send_signal(signal.SIGKILL)
        p.wait(timeout=30)
        names = os.listdir(folder) if folder.exists() else []
        assert len(names) <= 1
        left |= {"temporary" if ".tmp-" in n else "whole" for n in names}
        if names:
            assert listing(*LARGE, cache=folder).out == plain
            whole = [n for n in os.listdir(folder) if n.endswith(".bin")]
            assert len(whole) == 1
            assert (folder / whole[0]).read_bytes() == only_file(tmp_path / "timed").read_bytes()
    assert "temporary" in left, "no moment hit the writing"


def test_several_at_once(tmp_path, plain):
    env = {**os.environ, "SYMLAW_CACHE": str(tmp_path)}
    running = [subprocess.Popen([PROGRAM, "expressions", *LARGE, "--threads", "1"], env=env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
               for _ in range(4)]
    for p in running:
        out, err = p.communicate(timeout=60)
        assert p.returncode == 0 and out == plain and "kept" not in err
    only_file(tmp_path)
