#!/usr/bin/env python3
"""Judges pairs by their own members: does `expr` have the values `y` at the points `x`?

    symlaw pairs --split test --format jsonl | tools/judge_pairs.py
    tools/judge_pairs.py --whitened pairs.jsonl

One JSON object a line: id, base, expr (Python, over x1, x2, x3), latex, tokens, x (a list per
variable), y. NumPy evaluates expr in double. A relative difference up to 1e-9 counts as equal; any
other must be explained by rounding: in long double, with a condition number carried through the
expression, y must lie within 1e-13 times the condition number times |y|. Also judged: that x and y
are finite and of one length, that the tokens spell the LaTeX (in the vocabulary of
docs/formats.md, if that has one), that the LaTeX read by a reader of its own has the values of
expr, and that no id comes twice. Nothing of the program that made the pairs is used.

Exit code 0: all is well. 1: it is not. 2: the input cannot be read."""
import argparse
import ast
import collections
import json
import re
import sys
from pathlib import Path

import numpy as np

LD = np.longdouble
EQUAL = 1e-9        # relative difference that needs no explanation
SHARE = 0.998       # of the pairs that must be equal at every point
UNIT = 1e-13        # difference per unit of the condition number that rounding explains
SMALLEST, LARGEST = np.finfo(float).tiny, np.finfo(float).max
LIMIT = 1e100       # of |y|
END = 2
FORMATS = Path(__file__).parent.parent / "docs" / "formats.md"


class Fault(Exception):
    """What is wrong with a pair."""


# ---------------------------------------------------------------- reading expr

OPERATORS = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
             ast.Div: lambda a, b: a / b, ast.Pow: lambda a, b: a ** b}
FUNCTIONS = ("sqrt", "sin", "exp")


def read(text):
    """The tree of a Python expression."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Fault(f"not Python: {text[:200]}") from None


def walk(tree, x, number):
    """The value of a tree. x: a value for each variable; number: makes one of a whole number. The
    values bring + - * / ** and the methods sqrt, sin, exp, or are arrays."""
    if isinstance(tree, ast.BinOp) and type(tree.op) in OPERATORS:
        return OPERATORS[type(tree.op)](walk(tree.left, x, number), walk(tree.right, x, number))
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, (ast.USub, ast.UAdd)):
        value = walk(tree.operand, x, number)
        return -value if isinstance(tree.op, ast.USub) else value
    if (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and len(tree.args) == 1
            and not tree.keywords and tree.func.id in FUNCTIONS):
        value = walk(tree.args[0], x, number)
        if isinstance(value, Bounded):
            return getattr(value, tree.func.id)()
        return getattr(np, tree.func.id)(value)
    if isinstance(tree, ast.Constant) and type(tree.value) is int:
        return number(tree.value)
    if isinstance(tree, ast.Name) and re.fullmatch(r"x[1-9]", tree.id):
        if int(tree.id[1]) > len(x):
            raise Fault(f"{tree.id} in the expression, but x has {len(x)} columns")
        return x[int(tree.id[1]) - 1]
    raise Fault(f"cannot read {ast.unparse(tree)[:200]}")


def numpy_values(tree, x):
    """In double, as NumPy computes them; NaN where not real."""
    with np.errstate(all="ignore"):
        return walk(tree, x, np.float64) + np.zeros(len(x[0]))


# ---------------------------------------------------------------- what rounding can do

class Bounded:
    """Long doubles, and with each how much it moves, to first order and in units of h, when every
    input and every result on the way moves by a part h: the condition number times |value|. Slopes
    are taken where they are steepest within UNIT of that; infinite where nothing can be said."""

    def __init__(self, value, moves):
        self.value, self.moves = value, moves

    @staticmethod
    def exact(value):
        return Bounded(LD(value), LD(0))

    @staticmethod
    def given(values):
        return Bounded(values.astype(LD), np.abs(values).astype(LD))

    @staticmethod
    def rounded(value, moves):
        # doubles lose digits below the smallest normal one and know none above the largest
        moves = moves + np.abs(value) + SMALLEST / UNIT
        known = (np.abs(value) <= LARGEST) & ~np.isnan(moves)
        return Bounded(value, np.where(known, moves, np.inf))

    def nearest_0(self):
        """The least |value| that is within reach, 0 or less if 0 is."""
        return np.abs(self.value) - UNIT * self.moves

    def __neg__(self):
        return Bounded(-self.value, self.moves)

    def __add__(self, other):
        return Bounded.rounded(self.value + other.value, self.moves + other.moves)

    def __sub__(self, other):
        return self + -other

    def __mul__(self, other):
        return Bounded.rounded(self.value * other.value, np.abs(self.value) * other.moves +
                               (np.abs(other.value) + UNIT * other.moves) * self.moves)

    def __truediv__(self, other):
        v, nearest = self.value / other.value, other.nearest_0()
        moves = (self.moves + np.abs(v) * other.moves) / nearest
        return Bounded.rounded(v, np.where(nearest > 0, moves, np.inf))

    def __pow__(self, n):
        """n is a number. |u|**n is steepest at one end of the range of u."""
        n = n.value
        v, low = self.value ** n, self.nearest_0()
        high = np.abs(self.value) + UNIT * self.moves
        slope = np.abs(n) * np.maximum(low ** (n - 1), high ** (n - 1))
        moves = slope * self.moves + np.abs(n * v)  # repeated products round n times
        whole = n == np.floor(n) and n >= 0
        return Bounded.rounded(v, np.where(low > 0, moves, np.abs(n) * high ** (n - 1) * self.moves
                                           if whole else np.inf))

    def sqrt(self):
        return self ** Bounded.exact(LD(1) / 2)

    def exp(self):
        v = np.exp(self.value)
        return Bounded.rounded(v, v * np.exp(UNIT * self.moves) * self.moves)

    def sin(self):
        slope = np.minimum(np.abs(np.cos(self.value)) + UNIT * self.moves, 1)
        return Bounded.rounded(np.sin(self.value), slope * self.moves)


def bounded(tree, x):
    """Values in long double and how much they move; the moves over |value| are the condition
    number."""
    with np.errstate(all="ignore"):
        b = walk(tree, [Bounded.given(column) for column in x], Bounded.exact)
    return b.value, b.moves


def compare(tree, x, y):
    """(equal, explained) per point, of y beside the values of the tree."""
    with np.errstate(all="ignore"):
        gap = np.abs(numpy_values(tree, x) - y)
        equal = (gap <= EQUAL * np.abs(y)) | (gap < SMALLEST)
        explained = np.zeros(len(y), bool)
        if not equal.all():
            rest = np.flatnonzero(~equal)
            value, moves = bounded(tree, [column[rest] for column in x])
            explained[rest] = np.isinf(moves) | (np.abs(y[rest] - value) <= UNIT * moves)
    return equal, explained


# ---------------------------------------------------------------- LaTeX and tokens

PIECE = re.compile(r"\\[A-Za-z]+|x_\d|[0-9]|[-+^{}()e]")


def pieces(latex):
    """One piece per command, brace, sign, variable and digit; blanks say nothing."""
    rest = PIECE.sub("", latex).replace(" ", "")
    if rest:
        raise Fault(f"LaTeX has what is no token: {rest[:50]}")
    return PIECE.findall(latex)


class Latex:
    """Reads the LaTeX of pairs and writes it as Python, with a bracket around everything."""

    def __init__(self, latex):
        self.rest = collections.deque(pieces(latex))
        self.text = self.sum()
        if self.rest:
            raise Fault(f"LaTeX goes on with {' '.join(self.rest)[:50]}")

    def next(self):
        return self.rest[0] if self.rest else ""

    def take(self, *wanted):
        for piece in wanted:
            if self.next() != piece:
                raise Fault(f"LaTeX has {self.next() or 'an end'} where {piece} belongs")
            self.rest.popleft()

    def sum(self):
        text = self.rest.popleft() if self.next() == "-" else ""
        text += self.product()
        while self.next() in ("+", "-"):
            text += self.rest.popleft() + self.product()
        return f"({text})"

    def product(self):
        factors = [self.factor()]
        while self.next() and self.next() not in "+-})":
            if self.next() == r"\cdot":
                self.take(r"\cdot")
            elif self.next().isdigit():
                raise Fault("a number behind a factor in LaTeX")
            factors.append(self.factor())
        return "*".join(factors)

    def factor(self):
        text = self.atom()
        return f"{text}**{self.group()}" if self.next() == "^" and not self.take("^") else text

    def group(self):
        self.take("{")
        text = self.sum()
        self.take("}")
        return text

    def bracket(self):
        self.take("(")
        text = self.sum()
        self.take(")")
        return text

    def atom(self):
        piece = self.next()
        if piece == "(":
            return self.bracket()
        if piece.isdigit():
            digits = ""
            while self.next().isdigit():
                digits += self.rest.popleft()
            return digits
        if not piece or piece in "+-^{})":
            raise Fault(f"LaTeX has {piece or 'an end'} where a factor belongs")
        self.take(piece)
        if piece[:2] == "x_":
            return f"x{piece[2:]}"
        if piece == "e":
            self.take("^")
            return f"exp{self.group()}"
        if piece == r"\sin":
            return f"sin{self.bracket()}"
        if piece == r"\sqrt":
            return f"sqrt{self.group()}"
        if piece == r"\frac":
            top = self.group()
            return f"({top}/{self.group()})"
        raise Fault(f"an unknown {piece} in LaTeX")


def vocabulary(path=FORMATS):
    """{id: text} as the table under the heading Tokens has it; empty if there is no such table. A
    row begins with an id or a run of them, 3-12, and has as many texts between backticks."""
    texts = {}
    if not path.exists():
        return texts
    section = re.search(r"^#+ [^\n]*Tokens[^\n]*\n(.*?)(?=^## |\Z)", path.read_text(), re.M | re.S)
    for line in (section[1] if section else "").splitlines():
        row = re.match(r"\|\s*(\d+)(?:\s*(?:-|\.\.|to|–)\s*(\d+))?\s*\|(.*)", line)
        if row:
            ids = range(int(row[1]), int(row[2] or row[1]) + 1)
            texts.update(zip(ids, re.findall(r"`([^`]+)`", row[3])))
    return texts


class Spelling:
    """What each id stands for: by the table, and where that is silent by the first pair that uses
    it. One id must not stand for two texts, nor one text have two ids."""

    def __init__(self, table):
        self.text = dict(table)
        self.id = {text: i for i, text in table.items()}

    def check(self, latex, tokens):
        texts = pieces(latex)
        if not tokens or tokens[-1] != END or END in tokens[:-1]:
            raise Fault("tokens do not end with the end token, once")
        if len(texts) != len(tokens) - 1:
            raise Fault(f"{len(tokens) - 1} tokens, but {len(texts)} in the LaTeX")
        for at, (i, text) in enumerate(zip(tokens, texts)):
            if self.text.setdefault(i, text) != text or self.id.setdefault(text, i) != i:
                raise Fault(f"token {at} is {i}, {self.text[i]}, but the LaTeX has {text} there")


# ---------------------------------------------------------------- a pair

FIELDS = {"id": str, "base": int, "expr": str, "latex": str, "tokens": list, "x": list, "y": list}


def no_number(text):
    raise ValueError(f"{text} is no number")


def parse(line):
    """The pair of a line, with x and y as arrays."""
    try:
        pair = json.loads(line, parse_constant=no_number)
    except ValueError as e:
        raise Fault(f"no JSON: {e}") from None
    if not isinstance(pair, dict):
        raise Fault("no JSON object")
    for field, kind in FIELDS.items():
        if type(pair.get(field)) is not kind:
            raise Fault(f"{field} is missing or of another type")
    try:
        pair["x"] = [np.array(column, float) for column in pair["x"]]
        pair["y"] = np.array(pair["y"], float)
    except (TypeError, ValueError):
        raise Fault("x or y has something else than numbers") from None
    return pair


def check_data(x, y):
    if not x or any(column.shape != y.shape or y.ndim != 1 for column in x) or not len(y):
        raise Fault("x and y are not of one length")
    if not all(np.isfinite(column).all() for column in (*x, y)):
        raise Fault("a number of x or y is not finite")
    if np.abs(y).max() >= LIMIT:
        raise Fault(f"|y| of {np.abs(y).max():g}")
    if not np.ptp(y) >= 1e-9 * np.abs(y).max() > 0:
        raise Fault("no spread in y")


def is_white(x):
    return all(abs(column.mean()) <= 1e-9 and abs(column.var() - 1) <= 1e-9 for column in x)


def real_everywhere(tree):
    """Polynomials and their sines: no point can have been dropped."""
    if isinstance(tree, ast.BinOp):
        if isinstance(tree.op, ast.Pow):
            return isinstance(tree.right, ast.Constant) and real_everywhere(tree.left)
        if isinstance(tree.op, ast.Div):
            return isinstance(tree.right, ast.Constant) and real_everywhere(tree.left)
        return real_everywhere(tree.left) and real_everywhere(tree.right)
    if isinstance(tree, ast.UnaryOp):
        return real_everywhere(tree.operand)
    if isinstance(tree, ast.Call):
        return tree.func.id == "sin" and real_everywhere(tree.args[0])
    return True


class Judge:
    """Takes pairs one by one and counts what they are."""

    def __init__(self, whitened=False, table=None):
        self.spelling = Spelling(vocabulary() if table is None else table)
        self.has_table = bool(self.spelling.text)
        self.whitened = whitened
        self.pairs = self.all_equal = self.white = 0
        self.equal = self.explained = self.unexplained = 0
        self.tokens, self.ids, self.faults = [], {}, []

    def take(self, line, where):
        """Judges one line; what is wrong goes to faults."""
        self.pairs += 1
        try:
            self.judge(parse(line), where)
        except Fault as e:
            self.faults.append((where, str(e)))

    def judge(self, pair, where):
        x, y, tree = pair["x"], pair["y"], read(pair["expr"])
        check_data(x, y)
        equal, explained = compare(tree, x, y)
        self.equal += equal.sum()
        self.explained += explained.sum()
        self.all_equal += equal.all()
        wrong = np.flatnonzero(~equal & ~explained)
        self.unexplained += len(wrong)
        self.tokens.append(len(pair["tokens"]))
        self.white += is_white(x)

        before = self.ids.setdefault(pair["id"], where)
        if before != where:
            raise Fault(f"id {pair['id']} came at {before} already")
        if not re.fullmatch(r"(train|valid|test|withheld)/\d+", pair["id"]):
            raise Fault(f"id {pair['id']} is no split and number")
        if len(wrong):
            at = wrong[0]
            raise Fault(f"{len(wrong)} values unexplained, such as y[{at}] = {y[at]!r}, where "
                        f"{pair['expr']} is {numpy_values(tree, x)[at]!r}")
        self.spelling.check(pair["latex"], pair["tokens"])
        self.check_latex(pair, tree)
        if self.whitened and real_everywhere(tree) and not is_white(x):
            raise Fault("x has not mean 0 and variance 1")

    def check_latex(self, pair, tree):
        text = Latex(pair["latex"]).text
        equal, explained = compare(tree, pair["x"], numpy_values(read(text), pair["x"]))
        if not (equal | explained).all():
            raise Fault(f"LaTeX means {text}, not {pair['expr']}")

    def share(self):
        return self.all_equal / max(self.pairs, 1)

    def good(self):
        return not self.faults and self.pairs > 0 and self.share() >= SHARE

    def report(self, show, out=sys.stdout):
        lengths = np.array(self.tokens or [0])
        table = "docs/formats.md" if self.has_table else "the pairs themselves"
        print(f"pairs: {self.pairs}, of them equal at every point: {self.all_equal} "
              f"({100 * self.share():.3f} percent)\n"
              f"points: equal {self.equal}, explained by rounding {self.explained}, "
              f"unexplained {self.unexplained}\n"
              f"pairs whose columns have mean 0 and variance 1: {self.white}\n"
              f"tokens: mean {lengths.mean():.2f}, {lengths.min()} to {lengths.max()}; "
              f"vocabulary of {table}\n"
              f"pairs with a fault: {len(self.faults)}", file=out)
        for where, what in self.faults[:show]:
            print(f"    {where}: {what}", file=out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("file", nargs="?", default="-", help="the pairs (default: standard input)")
    parser.add_argument("--show", type=int, default=10, metavar="N",
                        help="examples of faults (default 10)")
    parser.add_argument("--whitened", action="store_true",
                        help="columns of expressions that are real everywhere must have mean 0 and "
                        "variance 1")
    options = parser.parse_args()
    judge = Judge(options.whitened)
    try:
        with (open(options.file) if options.file != "-" else sys.stdin) as f:
            for number, line in enumerate(f, 1):
                judge.take(line, f"line {number}")
    except (OSError, UnicodeDecodeError) as e:
        print(f"judge_pairs: {e}", file=sys.stderr)
        return 2
    if not judge.pairs:
        print("judge_pairs: there is no line", file=sys.stderr)
        return 2
    judge.report(options.show)
    return 0 if judge.good() else 1


if __name__ == "__main__":
    sys.exit(main())
