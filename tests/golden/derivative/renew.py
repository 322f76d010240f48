#!/usr/bin/env python3
"""Renews answers.txt: derivatives by SymPy and their values.        needs python3-sympy

A line has an expression, the variable, and the derivative's value at x1 = 7/10, x2 = 11/10 with 20 digits; tabs between.
"""
from pathlib import Path

import sympy

EXPRESSIONS = """x1^3 - 2*x1*x2
x1/(3 + x2)
exp(-x1^2)*sin(3*x2)
x1^x2
2^(x1*x2)
sqrt(x1 + x2^2)/x1
log(x1*x2 + 1)^2
tan(x1) + tanh(x1*x2)
sinh(x1)*cosh(x2)/cos(x1)
asin(x1/2) + acos(x2/3)
atan(x1/x2)
abs(x1 - x2)^3
(x1*x2)^(-2/3)
exp(sin(exp(x1/x2)))
x1^2*x2^3/(x1^2 + x2^2)
1/(1 + exp(-2*(x1 - x2)))
x1^(1/3)*log(x2)/pi
sin(x1)^2 + cos(x1)^2
(x1 + 1/x2)^5
5.5*exp(-0.25*x1)*cos(1.5*x2)""".split("\n")


def main():
    x = sympy.symbols("x1 x2", real=True)
    lines = []
    for text in EXPRESSIONS:
        e = sympy.sympify(text.replace("^", "**").replace("abs", "Abs"), locals={"x1": x[0], "x2": x[1]}, rational=True)
        for v in x:
            value = sympy.diff(e, v).subs({x[0]: sympy.Rational(7, 10), x[1]: sympy.Rational(11, 10)}).evalf(20)
            lines.append(f"{text}\t{v}\t{value}\n")
    (Path(__file__).parent / "answers.txt").write_text("".join(lines), encoding="utf-8")


main()
