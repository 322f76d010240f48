#!/usr/bin/env python3
"""Links and pictures of the documents lead somewhere: to a file of the repository, and to a heading of it where they
have an anchor. Addresses on the network are not tried.

    links.py ROOT          names the links that lead nowhere
    links.py --self-test   checks texts whose outcome is known
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(r"\]\(\s*<?([^)\s>]+)")  # also that of a picture inside of a link
ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:", re.I)


def prose(text):
    """The text without code: fenced and indented blocks, and spans."""
    kept, fence, before = [], None, ""
    for line in text.splitlines():
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and (fence is None or line.strip().startswith(fence)):
            fence = None if fence else mark[1]
            kept.append("")
        elif fence or (line.startswith("    ") and not before.strip()):
            kept.append("")
            continue  # an indented block goes on: `before` stays blank
        else:
            kept.append(line)
        before = line
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", "\n".join(kept), flags=re.S)


def anchors(text):
    """Names of headings, as hosts of repositories make them."""
    names, seen = set(), {}
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if fenced or not heading:
            continue
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        n = seen.get(name, 0)
        seen[name] = n + 1
        names.add(name if n == 0 else f"{name}-{n}")
    return names


def broken(root, documents):
    """'document: link: reason' of each link that leads nowhere."""
    out = []
    for document in documents:
        for link in LINK.findall(prose(document.read_text())):
            if ELSEWHERE.match(link):
                continue
            path, _, anchor = unquote(link).partition("#")
            target = (document.parent / path).resolve() if path else document
            where = f"{document.relative_to(root)}: {link}: "
            if not target.exists():
                out.append(where + "there is no such file")
            elif not target.is_relative_to(root):
                out.append(where + "it is outside of the repository")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
                out.append(where + "no heading has that name")
    return out


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / "b.md").write_text("# A `name`, twice\n## A name twice\n```\n# none\n```\n")
        cases = {
            "[x](b.md) ![p](b.md) [y](b.md#a-name-twice) [z](b.md#a-name-twice-1) [w](#here)\n# Here": 0,
            "[x](https://nowhere.invalid/)  `[x](none.md)`\n\n    [x](none.md)\n\n    [x](none.md)\n": 0,
            "```\n[x](none.md)\n```\n[x](none.md)": 1,
            "[x](b.md#none) [y](../b.md) [two\nlines](none.md)": 3,
            "[![p](none.svg)](b.md)": 1,
        }
        for text, count in cases.items():
            (root / "a.md").write_text(text)
            found = broken(root, [root / "a.md"])
            assert len(found) == count, (text, found)


def main():
    if "--self-test" in sys.argv:
        self_test()
    roots = [x for x in sys.argv[1:] if not x.startswith("--")]
    if not roots:
        return 0
    root = Path(roots[0]).resolve()
    listed = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
                            capture_output=True, text=True)
    documents = [root / x for x in listed.stdout.split("\n") if x] or sorted(root.rglob("*.md"))
    out = broken(root, [d for d in documents if d.exists()])
    print("\n".join(out) or f"links of {len(documents)} documents lead somewhere")
    return 1 if out else 0


if __name__ == "__main__":
    sys.exit(main())
