"""Commands of the guides do what the guides show. In docs/guides/*.md and README.md:

    $ symlaw discover examples/kepler.csv      a line with $ is run by bash, in a folder of the document's own,
    T = a^(3/2)                                where examples/ and studies/ are those of the repository;
    ...                                        what stands below it must be printed: "..." is any text or lines

A block whose first line is `/* FILE */` or `# FILE` is written to that file first. "# exit 1" at the end of a command is
the exit code it has. "# not run" leaves a command out, where it takes hours or a cluster."""
import os
import re
import subprocess
from pathlib import Path

import pytest

from tool import PROGRAM

ROOT = Path(__file__).parents[2]
BUILD = Path(PROGRAM).parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]


def blocks(text):
    """Code blocks as lists of lines, fenced or indented."""
    out, block, fence = [], [], False
    for line in [*text.splitlines(), ""]:
        if line.startswith("```"):
            out.append(block)
            block, fence = [], not fence
        elif fence:
            block.append(line)
        elif line.startswith("    ") or (block and not line.strip()):
            block.append(line[4:])
        elif block:
            out.append(block)
            block = []
    for b in out:
        while b and not b[-1].strip():
            b.pop()
    return [b for b in out if b]


def steps(text):
    """('file', name, content) and ('run', command, expected lines) in the order of the document."""
    for block in blocks(text):
        name = re.fullmatch(r"(?:/\*|#) ([\w.-]+\.(?:c|py|csv|json|txt))(?: \*/)?", block[0])
        if name:
            yield "file", name[1], "\n".join(block[1:]) + "\n"
            continue
        command = None
        expected = []
        for line in [*block, "$ "]:
            if line.startswith("$ "):
                if command:
                    while expected and not expected[-1].strip():
                        expected.pop()
                    yield "run", command, expected
                command, expected = line[2:], []
            elif command and command.endswith("\\") and not expected:
                command = command[:-1] + line.strip()
            elif command:
                expected.append(line)


def pattern(expected):
    """A regular expression of the lines."""
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r".*?".join(re.escape(x) for x in line.rstrip().split("...")) + r"[ \t]*\n")
    return "".join(parts)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """symlaw is the program that was built, pkg-config finds its library, Python its package."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SYMLAW", "OMPI_"))}
    env.update(SYMLAW_CACHE="off", PATH=f"{BUILD}:{env['PATH']}", OMPI_ALLOW_RUN_AS_ROOT="1",
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    prefix = tmp_path_factory.mktemp("prefix")
    if (BUILD / "CMakeCache.txt").exists():
        subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], capture_output=True, check=True)
        library = next(prefix.rglob("libsymlaw.so")).parent
        env.update(PKG_CONFIG_PATH=str(library / "pkgconfig"), LD_LIBRARY_PATH=str(library), PREFIX=str(prefix))
        env["PATH"] = f"{prefix}/bin:{env['PATH']}"
    return env


def test_the_reader_of_documents():
    text = "a\n\n    # f.txt\n    one\n    two\n\nb\n\n    $ cat f.txt\n    one\n    ...\n\n    $ false   # exit 1\n\n```\n$ x \\\n  y\n```\n"
    assert list(steps(text)) == [("file", "f.txt", "one\ntwo\n"), ("run", "cat f.txt", ["one", "..."]),
                                 ("run", "false   # exit 1", []), ("run", "x y", [])]
    assert re.fullmatch(pattern(["a...c", "...", "z"]), "abc\n1\n2\nz\n")
    assert not re.fullmatch(pattern(["a"]), "b\n")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.stem)
def test_commands_print_what_is_shown(document, environment, tmp_path):
    if b"__asan_init" in Path(PROGRAM).read_bytes():
        pytest.skip("a build with sanitizers is too slow for whole guides")
    for name in ("examples", "studies"):
        (tmp_path / name).symlink_to(ROOT / name)
    count = 0
    for kind, what, more in steps(document.read_text()):
        if kind == "file":
            (tmp_path / what).write_text(more)
            continue
        if "# not run" in what:
            continue
        code = re.search(r"# exit (\d+)$", what)
        done = subprocess.run(["bash", "-c", what], cwd=tmp_path, env=environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=300)
        shown = f"{document.name}: {what}\n--- out\n{done.stdout[-3000:]}\n--- err\n{done.stderr[-2000:]}"
        assert done.returncode == (int(code[1]) if code else 0), shown
        if more:
            assert re.fullmatch(pattern(more), done.stdout) or re.fullmatch(pattern(more), done.stderr), shown
        count += 1
    assert count > 0, "a guide without commands"
