#!/usr/bin/env python3
"""Renews answers.txt: what LibreOffice Calc makes of formulas that symlaw prints.

    tests/golden/excel/renew.py build/symlaw        needs soffice, of the package libreoffice-calc-nogui

A line has an expression, its text for a spreadsheet and its value where A2 is 0.7 and B2 is 1.1; tabs between. Lines
without an expression are formulas that symlaw does not print, which show how spreadsheets read signs and powers.
"""
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

EXPRESSIONS = """-x1^2
-x1^2*x2
-2*x1^2
exp(-x1^2)
x2 - x1^2
-(x1^x2)
(x1^x2)^x1
x1^(x2^x1)
-x2/x1^2
(x1*x2)^(-1)
3/4 - 2/3*x1^(3/4)
(-3)^2*x1^(-3)
sqrt(x1)/x2 - log(x2)
sin(x1)*cos(x2) + tan(x1)
sinh(x1) - cosh(x2)*tanh(x1)
asin(x1) + acos(x1)*atan(x2)
pi*x1 - exp(1)
0.00000015*x1
-(x1 - x2)^2
-(-x1)^2*(-x2)
-sqrt(x1)^3
(x1 + x2)^2/(x1 - x2)
2^x1
-2^x1""".split("\n")

OTHERS = ["=-A2^2", "=2^3^2", "=B2-A2^2", "=-B2*-A2^2", "=2^-A2^2"]


def main():
    texts = [subprocess.run([sys.argv[1], "expressions", f"--canon={e}", "--format", "excel"], check=True, text=True,
                            capture_output=True).stdout.strip() for e in EXPRESSIONS] + OTHERS
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "in.csv"
        with open(table, "w", newline="", encoding="utf-8") as f:
            csv.writer(f).writerows([["a", "b", *(f"f{i}" for i in range(len(texts)))], ["0.7", "1.1", *texts]])
        # the last word: cells as they are and not as they are shown
        subprocess.run(["soffice", "--headless", f"-env:UserInstallation=file://{folder}/home", "--convert-to",
                        "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false", "--outdir", f"{folder}/out", table],
                       check=True)
        with open(Path(folder) / "out" / "in.csv", newline="", encoding="utf-8") as f:
            values = list(csv.reader(f))[1][2:]
    lines = ["\t".join(x) + "\n" for x in zip(EXPRESSIONS + [""] * len(OTHERS), texts, values)]
    (Path(__file__).parent / "answers.txt").write_text("".join(lines), encoding="utf-8")


main()
