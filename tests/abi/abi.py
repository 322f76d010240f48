#!/usr/bin/env python3
"""The binary interface: the libraries export the functions that symlaw.h declares and nothing else,
and functions, structs and enumerators are those of tests/abi/abi.txt. A line that is missing there or
reads differently breaks programs that are linked already. After a change that does not, or one that
goes with a new soname:

    abi.py --write ROOT CC                        writes abi.txt anew
    abi.py ROOT CC SHARED_LIBRARY STATIC_LIBRARY  checks
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def functions(root, cc):
    """{name: prototype without the names of parameters}"""
    text = output(cc, "-E", "-P", f"-I{root}/include", f"{root}/include/symlaw/symlaw.h")
    found = {}
    for part in " ".join(text.split()).split(";"):
        if "visibility(" not in part:
            continue
        part = re.sub(r"__attribute__\(\(.*?\)\)(\)| )", " ", part[part.index("__attribute__"):])
        result, name, parameters = re.fullmatch(r"\s*(.*?)\s*\b(\w+)\s*\((.*)\)\s*", part).groups()
        types = [re.sub(r"(?<=[ *])\w+$", "", p.strip()).strip() for p in parameters.split(",")]
        found[name] = f"{' '.join(result.split())} {name}({', '.join(types)})"
    return found


def entries(root, cc):
    """The debug information of the header as {offset: (tag, attributes, depth)}."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "all.c"
        source.write_text("#include <symlaw/symlaw.h>\n")
        output(cc, "-g", "-gdwarf-4", "-fno-eliminate-unused-debug-types", f"-I{root}/include", "-c",
               source, "-o", f"{folder}/all.o")
        text = output("readelf", "--debug-dump=info", f"{folder}/all.o")
    found, attributes = {}, {}
    for line in text.splitlines():
        if m := re.match(r" *<(\d+)><([0-9a-f]+)>: .*\((DW_TAG_\w+)\)", line):
            attributes = {}
            found[int(m[2], 16)] = (m[3][7:], attributes, int(m[1]))
        elif m := re.match(r" *<[0-9a-f]+> +DW_AT_(\w+) *: (?:\(.*?\): )?(.*)", line):
            attributes[m[1]] = m[2].strip()
    return found


def type_name(all_entries, attributes):
    if "type" not in attributes:
        return "void"
    tag, inner, _ = all_entries[int(attributes["type"].strip("<>"), 16)]
    if tag == "pointer_type":
        return type_name(all_entries, inner) + " *"
    if tag == "const_type":
        return type_name(all_entries, inner) + " const"
    if tag in ("structure_type", "enumeration_type"):
        return f"{tag.split('_')[0]} {inner.get('name', '')}"
    return inner.get("name", tag)


def types(root, cc):
    """A line for every struct, member and enumerator of ours; compilers list them in any order."""
    all_entries, blocks, block = entries(root, cc), {}, []
    for tag, a, depth in all_entries.values():
        name = a.get("name", "")
        if depth == 1:
            block = []
            if tag == "structure_type" and name.startswith("symlaw_") and "byte_size" in a:
                block = blocks[name] = [f"struct {name}: {a['byte_size']} bytes"]
        elif block and tag == "member":
            block.append(f"    {a['data_member_location']}: {type_name(all_entries, a)} {name}")
        if tag == "enumerator" and name.startswith("SYMLAW_"):
            blocks[name] = [f"enumerator {name} = {a['const_value']}"]
    return [line for name in sorted(blocks) for line in blocks[name]]


def exported(library, *options):
    """Names that a program sees; what compilers add begins with an underscore."""
    text = output(os.environ.get("NM", "nm"), "--defined-only", *options, library)
    names = {fields[2] for fields in map(str.split, text.splitlines())
             if len(fields) == 3 and fields[1].isupper()}
    return {name for name in names if not name.startswith("_")}


def main(args):
    write = args[0] == "--write"
    root, cc, *libraries = args[1:] if write else args
    declared = functions(root, cc)
    now = types(root, cc) + sorted(declared.values())
    stored = Path(root) / "tests/abi/abi.txt"
    if write:
        stored.write_text("\n".join(now) + "\n")
        return 0
    bad = 0
    if len(declared) < 50 or len(now) < len(declared) + 50:
        print(f"only {len(declared)} functions and {len(now)} lines found: the header is not understood")
        bad = 1
    for line in difflib.unified_diff(stored.read_text().splitlines(), now, "abi.txt", "symlaw.h", "", "",
                                     2, ""):
        print(line)
        bad = 1
    for library, option in zip(libraries, ("-D", "-g")):
        names = exported(library, option)
        for name in sorted(names ^ set(declared)):
            print(f"{name} is {'exported by' if name in names else 'missing in'} {library}")
            bad = 1
    if not bad:
        print(f"{len(declared)} functions, {len(now)} lines")
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
