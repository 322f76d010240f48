#!/usr/bin/env python3
"""Do the library's symbols have the names of their folders?

    names.py [--self-test] OBJECT...     objects of the library, as paths .../src/<folder>/.../file.c.o

A function or object that other files see begins with sl_<folder>_ ; base's begin with sl_ ; src/api alone
has public ones, symlaw_ . A name that begins with the name of another folder belongs there, so base may
not have those either."""
import os
import re
import subprocess
import sys
from pathlib import Path

PUBLIC = {"api"}
BASE = "base"


def folder_of(path):
    parts = Path(path).parts
    at = [i for i, p in enumerate(parts) if p == "src"]
    return parts[at[-1] + 1] if at else None


def wrong(symbol, folder, folders):
    """Why a symbol may not be called so, or None."""
    if symbol.startswith("symlaw_"):
        return None if folder in PUBLIC else "public names belong to src/api"
    name = symbol.lower()
    if folder == BASE:
        of = re.match(r"sl_([a-z]+)_", name)
        if of and of.group(1) in folders - {BASE}:
            return f"has the prefix of src/{of.group(1)}"
        return None if name.startswith("sl_") else "does not begin with sl_"
    return None if name.startswith(f"sl_{folder}_") else f"does not begin with sl_{folder}_"


def symbols(objects):
    nm = os.environ.get("NM", "nm")
    text = subprocess.run([nm, "--defined-only", "--extern-only", "--print-file-name", *objects],
                          check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        path, rest = line.split(":", 1)
        fields = rest.split()
        if len(fields) >= 2:
            yield path, fields[-1]


CASES = [  # symbol, folder, may it be
    ("sl_expr_parse", "expr", True), ("sl_expr__put", "expr", True), ("sl_parse", "expr", False),
    ("sl_fail", "base", True), ("fail", "base", False), ("sl_num_mean", "base", False),
    ("symlaw_command", "api", True), ("symlaw_command", "commands", False),
    ("sl_api__enter", "api", True), ("sl_exprs", "expr", False), ("SL_LAWS_NONE", "laws", True),
]


def main():
    objects = [a for a in sys.argv[1:] if not a.startswith("--")]
    objects = [o for o in objects if folder_of(o)]
    folders = {folder_of(o) for o in objects}
    bad = seen = 0
    if "--self-test" in sys.argv:
        for symbol, folder, fine in CASES:
            if (wrong(symbol, folder, {"expr", "num", "api", "laws", "base"}) is None) != fine:
                print(f"self-test: {symbol} in {folder}")
                bad += 1
    for path, symbol in symbols(objects):
        seen += 1
        why = wrong(symbol, folder_of(path), folders)
        if why:
            print(f"src/{folder_of(path)}/{Path(path).name[:-2]}: {symbol} {why}")
            bad += 1
    print(f"{seen} symbols, {bad} wrong")
    return 1 if bad or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
