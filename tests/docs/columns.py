#!/usr/bin/env python3
"""Lines of documents and C files have at most 100 columns. Exempt in documents is what cannot be
broken: rows of tables, code blocks, headings, and a word (a link, a code span) that is longer than a
line by itself. In C files nothing is exempt.

    columns.py ROOT          lists the lines that are too long
    columns.py --wrap ROOT   fills the paragraphs that have such lines anew
    columns.py --self-test   wraps and checks texts whose outcome is known
"""
import re
import subprocess
import sys
from pathlib import Path

WIDTH = 100
ITEM = re.compile(r"(\s*)((?:[-*+]|\d+[.)])\s+)")
# would be a list, a heading, a quotation or a table at the beginning of a line
BLOCK = re.compile(r"([-*+]|\d+[.)]|#+|>|\||=+|-+)$|[|>]")


def words(text):
    """Split at blanks, but not inside `code spans` and link targets of a moderate length, nor before
    what would begin another block at the start of a line."""
    joined = re.sub(r"(`+)[^`]{1,60}?\1|\]\([^)]*\)", lambda m: m[0].replace(" ", "\0"), text)
    out = []
    for word in joined.split():
        word = word.replace("\0", " ")
        if out and BLOCK.match(word):
            out[-1] += " " + word
        else:
            out.append(word)
    return out


def fill(indent, hang, text):
    lines, line = [], indent
    for word in words(text):
        if line not in (indent, hang):
            if len(line) + 1 + len(word) > WIDTH:
                lines.append(line)
                line = hang
            else:
                line += " "
        line += word
    return [*lines, line]


def paragraphs(lines):
    """(first, end, indent, hang) of what may be wrapped: paragraphs and items of lists."""
    fenced = False
    i = 0
    while i < len(lines):
        line = lines[i]
        item = ITEM.match(line)
        if line.lstrip().startswith("```"):
            fenced = not fenced
        blank = i == 0 or not lines[i - 1].strip()
        code = line.startswith("    ") and not item and blank
        if code and not fenced:  # an indented block goes on to the next line that is not
            while i < len(lines) and (lines[i].startswith("    ") or not lines[i].strip()):
                i += 1
            continue
        if fenced or not line.strip() or re.match(r"\s*(#|\||```|<|>)", line):
            i += 1
            continue
        indent = item[0] if item else re.match(r"\s*", line)[0]
        hang = " " * len(indent)
        end = i + 1
        while (end < len(lines) and lines[end].strip() and not ITEM.match(lines[end]) and
               not re.match(r"\s*(#|\||```|<|>)", lines[end])):
            end += 1
        yield i, end, indent, hang
        i = end


def wrap(text):
    lines = text.split("\n")
    out, last = [], 0
    for first, end, indent, hang in paragraphs(lines):
        if any(len(line) > WIDTH for line in lines[first:end]):
            body = " ".join([lines[first][len(indent):], *lines[first + 1:end]])
            out += lines[last:first] + fill(indent, hang, body)
            last = end
    return "\n".join(out + lines[last:])


def too_long(text):
    """Numbers of the lines that wrapping would shorten."""
    lines = text.split("\n")
    return [i + 1 for first, end, indent, _ in paragraphs(lines) for i in range(first, end)
            if len(lines[i]) > WIDTH and len(words(lines[i][len(indent) if i == first else 0:])) > 1]


def too_long_code(text):
    return [i for i, line in enumerate(text.split("\n"), 1) if len(line) > WIDTH]


def files(root, *patterns):
    """(name, text) of the files under version control that match."""
    names = subprocess.run(["git", "-C", root, "ls-files", *patterns], capture_output=True,
                           text=True, check=False).stdout.split()
    return [(name, (root / name).read_text(encoding="utf-8")) for name in names
            if (root / name).is_file()]


def self_test():
    long = " ".join(["word"] * 40)
    got = wrap(f"{long}\n\n- {long}\n\n    {long}\n\n| {long} |\n\n```\n{long}\n```\n# {long}\n").split("\n")
    assert max(map(len, got[:2])) <= WIDTH and " ".join(got[:2]) == long, got
    assert got[3].startswith("- word") and got[4].startswith("  word"), got
    assert f"    {long}" in got and f"| {long} |" in got and long in got and f"# {long}" in got
    assert too_long(long) == [1] and too_long("x" * 200) == [] and too_long("word " * 19) == []
    span = "`a b`"
    assert span in wrap("x" * 97 + " " + span + " y").split("\n")[1]
    assert not any(l.startswith("- ") for l in wrap("x" * 98 + " - y").split("\n"))
    assert too_long_code(f"ok\n{'é' * 100}\n{'x' * 101}") == [3]
    again = wrap(long)
    assert wrap(again) == again


def main(args):
    if args[:1] == ["--self-test"]:
        self_test()
        args = args[1:]
        if not args:
            return 0
    change = args[:1] == ["--wrap"]
    root = Path(args[-1])
    documents = files(root, "*.md")
    if change:
        for name, text in documents:
            (root / name).write_text(wrap(text), encoding="utf-8")
        return 0
    code = files(root, "*.c", "*.h")
    bad = [f"{name}:{i}: longer than {WIDTH} columns; tests/docs/columns.py --wrap ."
           for name, text in documents for i in too_long(text)]
    bad += [f"{name}:{i}: longer than {WIDTH} columns" for name, text in code
            for i in too_long_code(text)]
    print("\n".join([*bad, f"{len(documents)} documents, {len(code)} C files, {len(bad)} wrong"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
