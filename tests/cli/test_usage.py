"""Help, versions, wrong options, completion."""
import re
import shutil
import subprocess

import pytest

from tool import PROGRAM, expressions, run

COMMANDS = ("expressions", "pairs", "train", "discover", "fit", "eval", "laws", "study", "info", "bench", "doctor",
            "serve")


def option_names():
    """The options of `expressions`, from the configuration that every result records."""
    config = expressions("--canon", "x1", "--json").json["config"]
    assert len(config) > 15
    return list(config)


# ---------------------------------------------------------------- help

@pytest.mark.parametrize("args", [[], ["help"], ["--help"], ["-h"]])
def test_overview_lists_commands_and_examples(args):
    r = run(*args)
    assert r.code == 0 and r.err == ""
    for word in (*COMMANDS, "help", "completion", "usage:"):
        assert word in r.out
    for command in COMMANDS:
        assert re.search(rf"^  symlaw {command}\b", r.out, re.M)  # examples
    assert max(map(len, r.lines)) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_terminal(command):
    assert max(map(len, run(command, "--help").lines)) <= 80


@pytest.mark.parametrize("args", [["help", "expressions"], ["expressions", "--help"],
                                  ["expressions", "--depth", "2", "-h"]])
def test_help_of_a_command_names_every_option_with_its_default(args):
    r = run(*args)
    assert r.code == 0 and r.err == ""
    for name in option_names() + ["help"]:
        assert re.search(rf"^  --{name}\b", r.out, re.M), name
    assert "0 .. 4, default 3" in r.out
    assert "default exp,sin,neg,sqrt,+,-,*,/" in r.out
    assert max(map(len, r.lines)) <= 80
    # a value that the table needs is shown
    assert re.search(r"^  --same A B ", r.out, re.M) and re.search(r"^  --out FILE ", r.out, re.M)


def test_examples_in_the_help_work(tmp_path):
    lines = [x.strip() for x in run("expressions", "--help").lines if x.startswith("  symlaw ")]
    assert len(lines) >= 5
    for line in lines:
        command = re.split(r" {3,}", line)[0]  # behind three blanks comes a remark
        if "--depth 2" not in command and "--canon" not in command and "--same" not in command:
            command += " --depth 2"  # the last one counts: the deep ones are tried elsewhere
        done = subprocess.run(["bash", "-c", command.replace("symlaw", PROGRAM, 1)],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stdout, command


def test_version():
    r = run("--version")
    assert r.code == 0 and re.fullmatch(r"symlaw \d+\.\d+\.\d+ \(revision \S+, (gcc|clang) .+\)\n", r.out)


# ---------------------------------------------------------------- wrong use

WRONG = [
    (["expresions"], "unknown command expresions; did you mean expressions?"),
    (["frobnicate"], "unknown command frobnicate"),
    (["--depth", "2"], "unknown command --depth"),
    (["help", "expresions"], "did you mean expressions?"),
    (["completion"], "bash, zsh or fish"),
    (["completion", "csh"], "bash, zsh or fish"),
    (["expressions", "--dept", "2"], "unknown option --dept; did you mean --depth?"),
    (["expressions", "--vari=2"], "unknown option --vari; did you mean --variables?"),
    (["expressions", "--zzz"], "unknown option --zzz"),
    (["expressions", "-depth", "2"], "options begin with two dashes: --depth"),
    (["expressions", "-q"], "unknown option -q"),
    (["expressions", "x1", "+", "x2"], 'unexpected argument "x1"'),
    (["expressions", "--", "x1"], 'unexpected argument "x1"'),
    (["expressions", "--depth"], "--depth needs a value: --depth N"),
    (["expressions", "--depth", "--count-only"], "--depth needs a value: --depth N"),
    (["expressions", "--same", "x1"], "--same needs more values: --same A B"),
    (["expressions", "--count-only=yes"], "--count-only takes no value"),
    (["expressions", "--depth", "5"], "--depth must be a whole number from 0 to 4, not 5"),
    (["expressions", "--depth=-1"], "--depth must be a whole number from 0 to 4, not -1"),
    (["expressions", "--depth", "two"], '--depth must be a whole number from 0 to 4, not "two"'),
    (["expressions", "--depth", "0x2"], '--depth must be a whole number from 0 to 4, not "0x2"'),
    (["expressions", "--depth", "2.5"], "not 2.5"),
    (["expressions", "--depth", ""], 'not ""'),
    (["expressions", "--depth", "1e999"], 'not "1e999"'),
    (["expressions", "--depth", "99999999999999999999"], "not 1e+20"),
    (["expressions", "--set-size", "-1"], "--set-size must be a whole number from 0 to 1000000000000, not -1"),
    (["expressions", "--variables", "4"], "a set over 4 variables; it can have 1 to 3"),
    (["expressions", "--withheld", "nan"], '--withheld must be a number from 0 to 1, not "nan"'),
    (["expressions", "--withheld", "1.5"], "--withheld must be a number from 0 to 1, not 1.5"),
    (["expressions", "--format", "latx"], "did you mean latex?"),
    (["expressions", "--input-format", "mathml"], "--input-format must be one of infix, latex, prefix"),
    (["expressions", "--ops", "+,foo"], "foo"),
    (["expressions", "--ops", ""], "operator"),
    (["expressions", "--count-only", "--find", "x1"], "--count-only and --find"),
    (["bench"], "symlaw bench gemm, train or sample"),
    (["bench", "gem"], '--what must be one of gemm, train, sample, not "gem"; did you mean gemm?'),
    (["bench", "gemm", "train"], 'unexpected argument "train"'),
    (["bench", "gemm", "--", "--size"], 'unexpected argument "--size"'),
    (["bench", "-x"], "unknown option -x"),
    (["expressions", "--names", "a,b,c"], "--names has 3 names, but --variables is 2"),
    (["expressions", "--names", "a,,b", "--variables", "3"], "name 2 is empty"),
]


@pytest.mark.parametrize("args, says", WRONG, ids=lambda x: " ".join(x) if isinstance(x, list) else "")
def test_wrong_use_is_named_and_exits_2(args, says):
    r = run(*args)
    assert r.code == 2 and r.out == ""
    assert says in r.err, r
    assert r.err.startswith("symlaw: ")


def test_a_bare_word_is_for_the_positional_option_wherever_it_stands():
    for args in (["zz", "--size", "6.5M"], ["--size", "6.5M", "zz"], ["--", "zz"], ["--what", "zz"],
                 ["--what", "gemm", "zz"]):
        assert '--what must be one of gemm, train, sample, not "zz"' in run("bench", *args).err
    assert run("bench", "--help").lines[2] == "usage: symlaw bench [WHAT] [options]"
    assert re.search("^  WHAT, --what WHAT ", run("bench", "--help").out, re.M)


def test_a_second_bare_word_is_for_the_next_positional_option():
    for args in (["run", "nothing.json"], ["--workers", "1", "run", "nothing.json"], ["--path", "nothing.json", "run"],
                 ["run", "--path", "nothing.json"], ["--action", "run", "run", "--", "nothing.json"]):
        assert "nothing.json" in run("study", *args).err, args
    assert 'unexpected argument "c"' in run("study", "run", "b", "c").err
    assert run("study", "--help").lines[2] == "usage: symlaw study [ACTION] [PLAN|DIR] [options]"
    assert re.search("^  ACTION, --action ACTION", run("study", "--help").out, re.M)
    assert re.search(r"^  PLAN\|DIR, --path PLAN\|DIR", run("study", "--help").out, re.M)


def test_long_lists_of_options_have_headings():
    r = run("train", "--help")
    for heading in ("options:", "the model:", "the run:", "the optimizer:", "the set of expressions:",
                    "data:", "all commands:"):
        assert r.lines.count(heading) == 1


def test_values_may_stand_behind_an_equals_sign_and_the_last_one_counts():
    a = expressions("--depth=1", "--format=python", "--depth", "0")
    assert a.code == 0 and a.lines == ["x1", "x2"]
    assert expressions("--depth", "0", "--").lines == ["x1", "x2"]
    assert expressions("--depth", "1e0", "--set-size=2e1").code == 0


def test_a_value_may_begin_with_a_dash():
    assert expressions("--canon", "-x1").out == "-x1\n"
    assert expressions("--same=-x1", "0 - x1").out == "yes\n"
    assert expressions("--canon=--x1").out == "x1\n"


@pytest.mark.parametrize("name", ["--canon", "--out", "--names"])
def test_bytes_that_are_no_text_are_refused(name):
    done = subprocess.run([PROGRAM.encode(), b"expressions", name.encode(), b"ab\xff"],
                          capture_output=True, timeout=60)
    assert done.returncode == 2
    assert f"{name}: its value is not UTF-8 text at byte 3".encode() in done.stderr


# ---------------------------------------------------------------- former names

ALIASES = [("expressions", "--depth 1", "--count", "--count-only", []),
           ("expressions", "--canon x1", "--size", "--set-size", ["7"]),
           ("pairs", "--depth 1 --hash", "--size", "--set-size", ["7"]),
           ("pairs", "--depth 1 --hash", "--limit", "--max-y", ["5"]),
           ("info", "--tokens 9", "--decay", "--lr-final", ["0.5"]),
           ("info", "--tokens 9", "--limit", "--max-y", ["5"])]


@pytest.mark.parametrize("command, args, old, new, values", ALIASES)
def test_former_names_are_read_and_shown_nowhere(command, args, old, new, values):
    a, b = (run(command, *args.split(), name, *values, "--json", "--quiet") for name in (old, new))
    assert a.code == b.code == 0, (a, b)
    assert a.json["config"] == b.json["config"] and a.json["config"][new[2:]] in (True, *map(float, values))
    assert old[2:] not in a.json["config"]
    assert not re.search(rf"{old}\b(?!-)", run(command, "--help").out)
    assert f"\\fB\\-\\-{old[2:]}\\fR" not in page(command)
    assert "--decay" not in completion("bash")


def test_a_former_name_that_is_a_name_now_is_the_new_one():
    assert run("info", "--size", "7").code == 2  # the model's, though the set's was called so
    assert run("eval", "--max-y", "7").code == 2


# ---------------------------------------------------------------- manual

def page(*command):
    r = run("--man", *command)
    assert r.code == 0 and r.err == ""
    return r.out


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_pages_of_the_manual_are_roff_with_every_option(command, tmp_path):
    text = page(*command.split())
    file = tmp_path / "page.1"
    file.write_text(text)
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-P-c", str(file)], capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == "", done.stderr
        shown = re.sub(".\b", "", done.stdout).replace("\u2010", "-").replace("\u2212", "-")
        assert "NAME" in shown and "SYNOPSIS" in shown and "EXIT STATUS" in shown
    if shutil.which("man"):
        done = subprocess.run(["man", "--warnings", "-l", str(file)], capture_output=True, text=True,
                              env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
        assert done.returncode == 0 and done.stderr == "", done.stderr
    if not command:
        for name in COMMANDS:
            assert f".BR symlaw\\-{name} (1)" in text
        return
    for name in re.findall(r"^  (?:\S+, )?--([a-z0-9-]+)", run(command, "--help").out, re.M):
        assert name == "help" or f"\\fB\\-\\-{name.replace('-', chr(92) + '-')}\\fR" in text, name


def test_a_page_of_no_command_is_refused():
    assert run("--man", "zz").code == 2


# ---------------------------------------------------------------- completion

def completion(shell):
    r = run("completion", shell)
    assert r.code == 0 and r.err == ""
    return r.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_have_every_option_and_parse(shell, tmp_path):
    script = completion(shell)
    for name in option_names():
        assert re.search(rf"(--|-l ){name}\b", script), name
    assert "infix python sympy latex mathml c prefix" in script
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed, so nobody has parsed its script")
    (tmp_path / "script").write_text(script)
    done = subprocess.run([shell, "-n", str(tmp_path / "script")], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr


@pytest.mark.parametrize("line, expected", [
    ("symlaw ex", ["expressions"]),
    ("symlaw completion ", ["bash", "zsh", "fish"]),
    ("symlaw help ", list(COMMANDS)),
    ("symlaw expressions --dep", ["--depth"]),
    ("symlaw expressions --format py", ["python"]),
    ("symlaw expressions --depth ", []),
    ("symlaw expressions --out some", ["some file"]),
    ("symlaw fit ", []),
    ("symlaw fit a*x some", ["some file"]),
    ("symlaw bench ", ["gemm", "train", "sample"]),
    ("symlaw bench tr", ["train"]),
    ("symlaw bench gemm --tok", ["--tokens"]),
    ("symlaw train --out some", ["some folder"]),  # no files
    ("symlaw train --size mi", ["mini", "micro"]),
    ("symlaw study ", ["init", "run", "worker", "status", "report"]),
    ("symlaw study st", ["status"]),
    ("symlaw study run some", ["some file"]),
    ("symlaw study run --eng", ["--engine"]),
])
def test_bash_completes(line, expected, tmp_path):
    (tmp_path / "some folder").mkdir()
    if "train" not in line:
        (tmp_path / "some folder").rmdir()
    (tmp_path / "some file").touch()
    words = line.split(" ")
    script = completion("bash") + "\ncompopt() { :; }\n"
    script += "COMP_WORDS=(%s)\n" % " ".join(f"'{w}'" for w in words)
    script += f"COMP_CWORD={len(words) - 1}\n_symlaw\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.stderr == ""
    assert [x for x in done.stdout.splitlines() if x] == expected


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_completes():
    script = completion("fish") + "\ncomplete -C 'symlaw expressions --format py'\n"
    done = subprocess.run(["fish", "-c", script], capture_output=True, text=True)
    assert "python" in done.stdout, done
