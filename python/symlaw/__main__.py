"""python -m symlaw: the program of the package."""
import os
import sys

from ._command import program


def main() -> None:
    path = program()
    if path is None:
        sys.exit("symlaw: the program is not in this package; build it from the source (make), or "
                 "name it by the variable SYMLAW")
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
