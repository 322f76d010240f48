"""examples/ with the installed library, as other programs use it."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tool import PROGRAM, run

SOURCES = Path(__file__).parents[2] / "examples"
BUILD = Path(PROGRAM).parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A prefix with the library in it."""
    prefix = tmp_path_factory.mktemp("prefix")
    library = next(BUILD.glob("libsymlaw.so.*"), None)
    if library is None or not (BUILD / "CMakeCache.txt").exists():
        pytest.skip("the program does not lie in a build folder with its library")
    if b"__asan_init" in subprocess.run(["nm", "-D", library], capture_output=True).stdout:
        pytest.skip("a library with sanitizers asks its users to be built with them")
    if not shutil.which("pkg-config"):
        pytest.skip("pkg-config is not installed")
    done = subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return prefix


@pytest.fixture(scope="module")
def programs(installed, tmp_path_factory):
    """Both built by the Makefile beside them, in a copy of the whole folder, so that the tree stays clean."""
    folder = tmp_path_factory.mktemp("copy") / "examples"
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("algebra", "discover"))
    config = next(installed.rglob("symlaw.pc")).parent
    done = subprocess.run(["make", "-C", folder, f"PKG_CONFIG_PATH={config}",
                           "CFLAGS=-std=c99 -Wall -Wextra -pedantic -Werror"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    library = next(installed.rglob("libsymlaw.so")).parent
    env = {**os.environ, "LD_LIBRARY_PATH": str(library)}
    env.pop("SYMLAW_MODEL", None)

    def call(name, *args):
        return subprocess.run([folder / name, *args], capture_output=True, text=True, env=env, cwd=folder,
                              timeout=60)
    return call


def test_algebra(programs):
    done = programs("algebra")
    assert done.returncode == 0 and done.stderr == "", done
    lines = done.stdout.splitlines()
    assert "same       yes" in lines
    assert "values     1 2.5 nan" in [x.replace("-nan", "nan") for x in lines]
    count = int(next(x for x in lines if x.endswith("functions")).split()[0])
    assert count == len(lines) - lines.index(f"{count} functions") - 1 > 5
    assert {"sin(x1)", "x1", "2*x1", "x1^2"} <= {x.strip() for x in lines}


def test_the_installed_library_needs_no_model(programs, installed):
    done = programs("discover")
    assert done.returncode == 0 and done.stdout.startswith("=> metres = "), done
    assert "by the search" in done.stdout and "seconds" in done.stdout.splitlines()[0]


def test_discover(programs, tmp_path):
    model = str(tmp_path / "model")
    assert run("train", "--width", "16", "--layers", "1", "--depth", "1", "--points", "8", "--batch", "8", "--steps",
               "20", "--valid-pairs", "8", "--out", model).code == 0
    done = programs("discover", model)
    assert done.returncode == 0, done
    assert done.stdout.startswith("=> metres = "), done.stdout
    assert programs("discover", model, model).returncode == 2
    missing = programs("discover", str(tmp_path / "nowhere"))
    assert missing.returncode == 1 and "nowhere" in missing.stderr and missing.stdout == ""


def test_the_static_library_leaves_internal_names_to_the_program(installed, tmp_path):
    """A program may have a function that is called as one inside the library."""
    source = tmp_path / "own.c"
    source.write_text("""
        #include <stdio.h>
        #include <symlaw/symlaw.h>
        int sl_expr_canon(void);
        int sl_expr_canon(void) { return 7; }
        int main(void) {
            symlaw_formula *f = NULL, *c = NULL;
            char *text = NULL;
            if (symlaw_formula_parse(&f, "x1 + x1", NULL, NULL, 0) || symlaw_formula_canon(&c, f) ||
                symlaw_formula_print(&text, c, "infix"))
                return 1;
            printf("%s %d\\n", text, sl_expr_canon());
            symlaw_string_free(text);
            symlaw_formula_free(c);
            symlaw_formula_free(f);
            return 0;
        }""")
    config = next(installed.rglob("symlaw.pc"))
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "--static", config], capture_output=True,
                           text=True, check=True).stdout.replace("-lsymlaw", "-l:libsymlaw.a").split()
    done = subprocess.run(["cc", "-std=c99", source, "-o", tmp_path / "own", *flags], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([tmp_path / "own"], capture_output=True, text=True)
    assert done.stdout == "2*x1 7\n", done


# ---------------------------------------------------------------- as part of another CMake project

def test_find_package(installed, tmp_path):
    """symlaw::symlaw has the header's folder and the library; an older version that is asked for is satisfied, a
    later major one is not."""
    shutil.copy(SOURCES / "algebra.c", tmp_path)
    lists = """cmake_minimum_required(VERSION 3.13)
        project(host C)
        find_package(symlaw {} REQUIRED)
        add_executable(algebra algebra.c)
        target_link_libraries(algebra symlaw::symlaw)\n"""

    def configure(version):
        (tmp_path / "CMakeLists.txt").write_text(lists.format(version))
        return subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed}"],
                              capture_output=True, text=True)
    assert configure("0.1").returncode == 0
    done = subprocess.run(["cmake", "--build", tmp_path / "build"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([tmp_path / "build" / "algebra"], capture_output=True, text=True)  # finds it by its rpath
    assert done.returncode == 0 and "same       yes" in done.stdout, done
    done = configure("7.0")
    assert done.returncode != 0 and "7.0" in done.stderr
