"""Formulas as spreadsheets evaluate them, of the part of their grammar that symlaw writes.

The precedence is Excel's and LibreOffice's: a sign binds closer than ^, which goes from left to right. Excel: "Calculation
operators and precedence in Excel"; tests/golden/excel/answers.txt has what LibreOffice Calc made of such formulas.
"""
import math
import re

TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?(?:E[+-]?\d+)?)|([A-Z]+2)(?![\w(])|([A-Z]+)\(|(.))")
FUNCTIONS = {"SIN": math.sin, "COS": math.cos, "TAN": math.tan, "EXP": math.exp, "LN": math.log, "SQRT": math.sqrt,
             "ABS": abs, "SINH": math.sinh, "COSH": math.cosh, "TANH": math.tanh, "ASIN": math.asin, "ACOS": math.acos,
             "ATAN": math.atan}


def column(letters):
    n = 0
    for c in letters:
        n = 26 * n + ord(c) - ord("A") + 1
    return n - 1


def evaluate(text, cells):
    """The value of a formula where cells[i] is in row 2 of column i; NaN where a spreadsheet has an error."""
    assert text.startswith("=")
    tokens = TOKEN.findall(text[1:]) + [("", "", "", "")]
    at = 0

    def take():
        nonlocal at
        at += 1
        return tokens[at - 1]

    def sign():
        return tokens[at][3]

    def binary(part, operators):
        value = part()
        while sign() and sign() in operators:
            o = take()[3]
            right = part()
            value = {"+": lambda: value + right, "-": lambda: value - right, "*": lambda: value * right,
                     "/": lambda: value / right, "^": lambda: value ** right}[o]()
            if isinstance(value, complex):
                raise ValueError
        return value

    def atom():
        if sign() == "-":
            take()
            return -atom()
        number, cell, function, other = take()
        if number:
            return float(number)
        if cell:
            return float(cells[column(cell[:-1])])
        if function == "PI":
            assert take()[3] == ")"
            return math.pi
        value = total()
        assert take()[3] == ")" and (function or other == "(")
        return FUNCTIONS[function](value) if function else value

    def total():
        return binary(lambda: binary(lambda: binary(atom, "^"), "*/"), "+-")

    try:
        value = float(total())
    except (ValueError, ZeroDivisionError, OverflowError):
        return math.nan
    assert at == len(tokens) - 1, text
    return value
