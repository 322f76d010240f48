#!/usr/bin/env python3
"""Holds every #include in src/ against the table in layers.txt.

    includes.py [--self-test] ROOT

A folder may include its own headers, the face <folder>/<folder>.h of the folders its row allows (and of
what those allow), the C and POSIX headers, and the third-party headers its row names. A header other
than the face stays inside its folder, except <folder>_test.h, which tests and benches may include, and
base/vector.h, which kernels are written in.

Headers and instructions of one kind of CPU are for base/vector.h, base/cpu.c and X.avx2.c, X.avx512.c.

A file that includes the face of another folder uses a name that this header itself declares; what it
only needs of headers behind the face, it includes from there.
"""
import re
import sys
import tempfile
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
PUBLIC = "symlaw/symlaw.h"
PUBLIC_ONLY = {"cli", "serve"}
# What comes with C17, POSIX and Linux. A header that is in none of these and in no row is refused.
SYSTEM = set("""
assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h limits.h locale.h math.h setjmp.h signal.h
stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h
tgmath.h threads.h time.h uchar.h wchar.h wctype.h
dirent.h dlfcn.h fcntl.h malloc.h ftw.h fnmatch.h getopt.h glob.h libgen.h libintl.h link.h netdb.h poll.h pthread.h
pwd.h regex.h sched.h semaphore.h spawn.h strings.h syslog.h termios.h ucontext.h unistd.h
arpa/inet.h netinet/in.h netinet/tcp.h sys/auxv.h sys/file.h sys/ioctl.h sys/mman.h sys/random.h sys/resource.h
sys/select.h sys/socket.h sys/stat.h sys/statvfs.h sys/syscall.h sys/sysinfo.h sys/time.h sys/types.h sys/uio.h
sys/un.h sys/utsname.h sys/wait.h sys/prctl.h linux/limits.h
""".split())
VECTORS = "base/vector.h"
CPU_HEADER = re.compile(r"(\w*mmintrin|x86\w*intrin|avx\w*intrin|cpuid|arm_neon|arm_sve|arm_acle)\.h$")
CPU_WORD = re.compile(r"\b(_mm(256|512)?_\w+|__m(64|128|256|512)[di]?|__builtin_ia32_\w+|v\w+q_[fsu](32|64))\b")
CPU_FILE = re.compile(r"base/vector\.h$|base/cpu\.c$|[^/]\.avx(2|512)\.c$")


class Table:
    """The rows of layers.txt, with the allowed folders closed under inclusion."""

    def __init__(self, path):
        self.folders = {}  # folder -> folders whose face it may include
        self.headers = {}  # folder -> third-party headers
        self.wrong = []
        for n, line in enumerate(path.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            cells = [c.split() for c in line.split("|")]
            if len(cells) != 3 or len(cells[0]) != 1:
                self.wrong.append(f"{path}:{n}: want 'folder | folders | headers': {line}")
                continue
            folder, allowed = cells[0][0], set()
            for name in cells[1]:
                if name == "public":
                    continue
                if name == "all":
                    allowed |= set(self.folders)
                elif name in self.folders:
                    allowed |= {name} | self.folders[name]
                else:
                    self.wrong.append(f"{path}:{n}: {name} is not a row above {folder}")
            self.folders[folder] = allowed
            self.headers[folder] = set(cells[2])


def judge(table, folder, inside, quote, name):
    """What is wrong with this include, or None. `inside` is the including file within its folder."""
    testing = inside.parts[0] in ("test", "bench") and len(inside.parts) > 1
    test_header = inside.name == f"{folder}_test.h"
    if name == PUBLIC or name == VECTORS:
        return None
    if CPU_HEADER.match(name):
        return None if CPU_FILE.search(f"{folder}/{inside}") else f"<{name}> is for one kind of CPU"
    if quote == "<":
        if name in SYSTEM or name in table.headers[folder]:
            return None
        if (testing or test_header) and name == "cmocka.h":
            return None
        return f"<{name}> is not among the third-party headers of {folder}"
    if (testing or test_header) and name.startswith(("fixture/", "golden/", "bench/")):
        return None

    # "x.h" is a neighbour; "folder/x.h" is found from src/
    parts = name.split("/")
    other, header = (folder, parts[-1]) if len(parts) == 1 else (parts[0], "/".join(parts[1:]))
    if other == folder:
        if header == f"{folder}_test.h" and not (testing or test_header or inside.suffix == ".c"):
            return f'"{name}" is for tests'
        return None
    if folder in PUBLIC_ONLY and other not in table.folders[folder]:
        return f"{folder} may include only {PUBLIC} of the library, not {name}"
    if other not in table.folders:
        return f'"{name}": {other} is not a folder of the table'
    if other not in table.folders[folder]:
        return f"{folder} may not include {other}"
    if header == f"{other}_test.h":
        return None if testing or test_header else f'"{name}" is for tests'
    if header != f"{other}.h":
        return f'"{name}" is not the face of {other}'
    return None


COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
WORD = re.compile(r"\b(?:sl|SL|symlaw|SYMLAW)_\w+")
PASTE = re.compile(r"\b(SL_\w+_|sl_\w+_) *##")  # SL_OP_##id makes names that begin so


class Names:
    """What headers of src/ declare: words and beginnings of words that none of those behind them has."""

    def __init__(self, root):
        self.root, self.of = root, {}

    def declared(self, name):
        """(words, prefixes, words of it and all behind it) of the header "folder/x.h", or None."""
        if name not in self.of:
            self.of[name] = None  # a circle ends here
            file = self.root / "src" / name
            if not file.is_file():
                return None
            text = file.read_text(errors="replace")
            behind = set()
            for quote, other in INCLUDE.findall(text):
                below = self.declared(other) if quote == '"' else None
                behind |= below[2] if below else set()
            text = COMMENT.sub(" ", text)
            words = set(WORD.findall(text))
            self.of[name] = words - behind, tuple(PASTE.findall(text)), words | behind
        return self.of[name]

    def unused(self, name, text):
        """Does a file of this text, which includes the header, use nothing of it?"""
        found = self.declared(name)
        if not found:
            return False
        used = set(WORD.findall(COMMENT.sub(" ", text)))
        return not used & found[0] and not any(w.startswith(found[1]) for w in used)


def foreign_face(name, folder):
    """Is "other/x.h" the face of another folder?"""
    other, _, header = name.partition("/")
    return other != folder and header == f"{other}.h"


def check(root):
    """All violations below root, as lines of text, and the number of includes looked at."""
    table = Table(root / "tests/includes/layers.txt")
    names = Names(root)
    wrong, seen = list(table.wrong), 0
    for file in sorted((root / "src").rglob("*")):
        if file.suffix not in (".c", ".h", ".inc"):
            continue
        relative = file.relative_to(root / "src")
        if len(relative.parts) < 2:
            wrong.append(f"src/{relative}: belongs into a folder")
            continue
        folder = relative.parts[0]
        if folder not in table.folders:
            wrong.append(f"src/{relative}: {folder} is not in layers.txt")
            continue
        text = file.read_text(errors="replace")
        for found in INCLUDE.finditer(text):
            seen += 1
            said = judge(table, folder, Path(*relative.parts[1:]), *found.groups())
            if not said and found[1] == '"' and foreign_face(found[2], folder) \
                    and names.unused(found[2], text):
                said = f'nothing of "{found[2]}" is used'
            if said:
                line = text.count("\n", 0, found.start(1)) + 1
                wrong.append(f"src/{relative}:{line}: {said}")
        word = None if CPU_FILE.search(str(relative)) else CPU_WORD.search(text)
        if word:
            line = text.count("\n", 0, word.start()) + 1
            wrong.append(f"src/{relative}:{line}: {word.group()} is an instruction of one kind of CPU")
    return wrong, seen


GOOD = [
    ("base/a.c", '"base/base.h"'),
    ("base/base.h", '"symlaw/symlaw.h"'),
    ("base/a.c", "<xxhash.h>"),
    ("expr/a.c", '"num/num.h"'),
    ("expr/a.c", '"base/base.h"'),  # through num
    ("expr/a.c", '"expr/expr_impl.h"'),
    ("expr/a.c", '"expr_impl.h"'),
    ("expr/test/lib/random.c", '"expr/expr_test.h"'),
    ("expr/expr_test.h", '"base/base.h"'),
    ("expr/test/t_a.c", '"fixture/fixture.h"'),
    ("expr/test/t_a.c", '"expr/expr_impl.h"'),
    ("expr/test/t_a.c", '"golden/expr/a.inc"'),
    ("universe/test/t_a.c", '"expr/expr_test.h"'),
    ("universe/bench/b_a.c", '"expr/expr_test.h"'),
    ("api/a.c", '"study/study.h"'),
    ("api/a.c", '"base/base.h"'),
    ("cli/a.c", '"cli/cli.h"'),
    ("cli/a.c", '"symlaw/symlaw.h"'),
    ("cli/a.c", '"serve/serve.h"'),
    ("serve/a.c", "<jansson.h>"),
    ("par/a.c", "<mpi.h>"),
    ("nn/a_body.h", '"base/vector.h"'),
    ("base/vector.h", "<immintrin.h>\n__m256 x;"),
    ("base/cpu.c", "<cpuid.h>"),
    ("nn/a.avx2.c", "<immintrin.h>"),
]
BAD = [
    ("base/a.c", '"expr/expr.h"'),
    ("num/a.c", '"expr/expr.h"'),
    ("expr/a.c", '"par/par.h"'),
    ("universe/a.c", '"expr/expr_impl.h"'),
    ("universe/test/t_a.c", '"expr/expr_impl.h"'),
    ("universe/a.c", '"expr/expr_test.h"'),
    ("expr/expr.h", '"expr/expr_test.h"'),
    ("expr/a.c", "<mpi.h>"),
    ("expr/a.c", "<jansson.h>"),
    ("expr/a.c", "<cmocka.h>"),
    ("expr/a.c", '"fixture/fixture.h"'),
    ("nn/a.c", '"expr/expr.h"'),
    ("model/a.c", '"token/token.h"'),
    ("laws/a.c", '"train/train.h"'),
    ("cli/a.c", '"base/base.h"'),
    ("cli/a.c", '"api/api.h"'),
    ("cli/a.c", '"serve/serve_impl.h"'),
    ("cli/a.c", "<jansson.h>"),
    ("serve/a.c", '"io/io.h"'),
    ("serve/a.c", "<zlib.h>"),
    ("stray/a.c", "<stdio.h>"),
    ("expr/a.c", '"stray/stray.h"'),
    ("nn/a_body.h", "<immintrin.h>"),
    ("par/a.c", "<x86intrin.h>"),
    ("base/a.c", "<emmintrin.h>"),
    ("expr/a.c", "<cpuid.h>"),
    ("nn/a.c", "<arm_neon.h>"),
    ("nn/a_body.h", '"base/vector.h"\n__m128 x;'),
    ("nn/a_body.h", '"base/vector.h"\nx = _mm_max_ps(x, y);'),
    ("nn/vector.h", "<immintrin.h>"),
]


# file and its text, with "io/io.h" declaring sl_io_read, SL_IO_KIND_## and nothing else of its own
USED = [
    ("data/a.c", '#include "io/io.h"\nint f(void) { return sl_io_read(); }\n', True),
    ("data/a.c", '#include "io/io.h"\nint f = SL_IO_KIND_CSV;\n', True),
    ("data/data.h", '#include "io/io.h"\nsl_io_kind k;\n', True),
    ("io/a.c", '#include "io/io.h"\nint f;\n', True),  # its own folder's face
    ("data/a.c", '#include "io/io.h"\nint f;\n', False),
    ("data/a.c", '#include "io/io.h"\n// sl_io_read\n/* sl_io_kind\n*/ char *s = "sl_io_read";\n', False),
    ("data/a.c", '#include "io/io.h"\nsl_status s;\n', False),  # of base alone
]
IO_H = '''#include "base/base.h"
#define KINDS(X) X(CSV)
#define X(id) SL_IO_KIND_##id,
typedef enum sl_io_kind { KINDS(X) } sl_io_kind;
sl_status sl_io_read(void);
'''


def self_test_used(layers):
    wrong = []
    for name, text, good in USED:
        with tempfile.TemporaryDirectory() as temp:
            tree = Path(temp)
            files = {"tests/includes/layers.txt": layers, "src/base/base.h": "typedef int sl_status;\n",
                     "src/io/io.h": IO_H, f"src/{name}": text}
            for path, content in files.items():
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                (tree / path).write_text(content)
            found, _ = check(tree)
            if good == bool(found):
                wrong.append(f"self-test: {name}, {text!r}: {found or 'let through'}")
    return wrong


def self_test(root):
    """A check that cannot fail is none: each of GOOD alone must pass and each of BAD be caught."""
    layers = (root / "tests/includes/layers.txt").read_text()
    wrong = []
    for cases, good in ((GOOD, True), (BAD, False)):
        for name, include in cases:
            with tempfile.TemporaryDirectory() as temp:
                tree = Path(temp)
                (tree / "tests/includes").mkdir(parents=True)
                (tree / "tests/includes/layers.txt").write_text(layers)
                file = tree / "src" / name
                file.parent.mkdir(parents=True)
                file.write_text(f"/* x */\n#include {include}\n")
                found, _ = check(tree)
                if good == bool(found):
                    wrong.append(f"self-test: {name} with {include}: {found or 'let through'}")
    return wrong + self_test_used(layers)


def main():
    args = sys.argv[1:]
    root = Path(args[-1] if args and not args[-1].startswith("-") else ".")
    wrong, seen = check(root)
    if "--self-test" in args:
        wrong += self_test(root)
    for line in wrong:
        print(line)
    print(f"{seen} includes, {len(wrong)} wrong")
    return 1 if wrong or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
