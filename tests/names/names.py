#!/usr/bin/env python3
"""Do the library's symbols, types and macros have the names of their folders?

    names.py [--self-test] SRC OBJECT...     SRC: the folder src, whose headers are read
                                             objects of the library, .../src/<folder>/.../file.c.o

A function or object that other files see begins with sl_<folder>_ ; base's begin with sl_ ; src/api alone
has public ones, symlaw_ . A name that begins with the name of another folder belongs there, so base may
not have those either.

Types, enum values and macros of headers begin with sl_ or SL_. Exempt are headers that are not shared by
the files of the library: texts of kernels (X_body.h), headers of tests and benches, and base/vector.h,
whose short names only kernels use."""
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


COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
EXEMPT = re.compile(r"_body\.h$|_test\.h$|/(test|bench)/|base/vector\.h$")
DEFINED = re.compile(r"^#define (\w+)|\b(?:struct|union|enum) (\w+) \{|^\} (\w+);"
                     r"|^typedef\b[^;{]*?(\w+)(?:\[[^]]*\])*;|^typedef\b[^;{]*\(\*?(\w+)\)\(", re.M)
VALUES = re.compile(r"\benum\b[^{;]*\{([^}]*)\}")


def wrong_in_header(text, folder):
    """Types, enum values and macros of a header that lack the prefix."""
    prefixes = ("sl_", "SL_", "__") + (("symlaw_",) if folder in PUBLIC else ())
    text = COMMENT.sub("", text)
    names = [name for found in DEFINED.findall(text) for name in found if name]
    names = [n for n in names if n != "X"]  # a list's macro, undefined behind it
    plain = re.sub(r"^#.*", "", text, flags=re.M)  # values that a macro writes have its text's prefix
    names += [m for body in VALUES.findall(plain)
              for m in re.findall(r"(?:^|,)\s*([A-Za-z_]\w*)(?=\s*(?:[=,]|$))", body)]
    return sorted({n for n in names if not n.startswith(prefixes)})


CASES = [  # symbol, folder, may it be
    ("sl_expr_parse", "expr", True), ("sl_expr__put", "expr", True), ("sl_parse", "expr", False),
    ("sl_fail", "base", True), ("fail", "base", False), ("sl_num_mean", "base", False),
    ("symlaw_command", "api", True), ("symlaw_command", "commands", False),
    ("sl_api__enter", "api", True), ("sl_exprs", "expr", False), ("SL_LAWS_NONE", "laws", True),
]
HEADERS = [  # text, the names in it that are wrong
    ("typedef struct sl_a { int x; } sl_a;\n#define SL_B 1\n#define X(a) a\n", []),
    ("typedef struct table {\n    int slot;\n} table;\nstruct level { int x; };\n", ["level", "table"]),
    ("typedef int point[3];\ntypedef void (*visit)(int x);\nint sl_f(void);\n", ["point", "visit"]),
    ("enum { SL_A, B = 2, /* comma, C */ D };\n#define E(x) 1\n", ["B", "D", "E"]),
    ("enum {\n#define X(id) SL_##id,\n    SL_LIST(X)\n#undef X\n    SL_COUNT\n};\n", []),
]


def main():
    sources, *objects = [a for a in sys.argv[1:] if not a.startswith("--")]
    objects = [o for o in objects if folder_of(o)]
    folders = {folder_of(o) for o in objects}
    bad = seen = 0
    if "--self-test" in sys.argv:
        for symbol, folder, fine in CASES:
            if (wrong(symbol, folder, {"expr", "num", "api", "laws", "base"}) is None) != fine:
                print(f"self-test: {symbol} in {folder}")
                bad += 1
        for text, expected in HEADERS:
            if (got := wrong_in_header(text, "expr")) != expected:
                print(f"self-test: {got} instead of {expected}")
                bad += 1
    for path, symbol in symbols(objects):
        seen += 1
        why = wrong(symbol, folder_of(path), folders)
        if why:
            print(f"src/{folder_of(path)}/{Path(path).name[:-2]}: {symbol} {why}")
            bad += 1
    headers = [h for h in sorted(Path(sources).rglob("*.h")) if not EXEMPT.search(str(h))]
    for header in headers:
        inside = header.relative_to(sources)
        for name in wrong_in_header(header.read_text(encoding="utf-8"), inside.parts[0]):
            print(f"src/{inside}: {name} does not begin with sl_ or SL_")
            bad += 1
    print(f"{seen} symbols, {len(headers)} headers, {bad} wrong")
    return 1 if bad or seen == 0 or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
