#!/usr/bin/env python3
"""Judges a list of expressions by their values alone: is a function listed twice, is one missing?

    symlaw expressions --depth 2 --format python | tools/judge_expressions.py --complete 2
    tools/judge_expressions.py --seed 7 list.txt

One expression a line, as Python writes it: x1 x2 x3, whole numbers, + - * / **, pi, sqrt, sin, exp and
the other functions of the language.
Every line is evaluated in long double at random probes, the same number in each orthant. Two
functions are the same if they agree at every probe where both are real and share at least
MIN_SHARED such probes. No algebra is used, and nothing of the program that made the list.

--complete D makes the raw trees up to depth D itself and looks for each in the list:

    at each level, for p of the level below:            exp p, sin p, -p, sqrt p
    then for p of the level below, q of all below:      p+q, p-q, q-p, p*q, p/q, q/p

Constants and functions with an empty domain are left out, also as operands. Up to depth 2 every tree is made;
for depth 3 operands that repeat an earlier function are dropped, or there would be 80 million.

Exit code 0: all is well. 1: it is not. 2: the input cannot be read."""
import argparse
import re
import sys

import numpy as np

LD = np.longdouble
TOLERANCE = 1e-11  # relative to 1 + |value|
MIN_SHARED = 6
MORE = 40          # times as many probes for functions that are real on no whole orthant
BATCH = 2000       # lines or pairs worked on at once

FUNCTIONS = {"sqrt": np.sqrt, "sin": np.sin, "exp": np.exp, "log": np.log, "cos": np.cos,
             "tan": np.tan, "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh, "asin": np.arcsin,
             "acos": np.arccos, "atan": np.arctan, "abs": np.abs}
TOKEN = re.compile(r"x[123]\b|(?:pi|" + "|".join(FUNCTIONS) + r")\b|\d+(?![\w.])|[-+*/()\s]")
NUMERAL = re.compile(r"(?<![\w.])\d+(?![\w.])")


class BadInput(Exception):
    pass


# ---------------------------------------------------------------- values

def make_probes(variables, per_orthant, seed):
    """(variables, probes) in long double. Neither too near 0 nor too far out: exp(exp(exp(x1))) and
    exp(exp(x1/x2)) are to be finite."""
    rng = np.random.default_rng(seed)
    size = rng.uniform(0.45, 1.75, (variables, per_orthant << variables)).astype(LD)
    size += rng.uniform(0, 2.0 ** -50, size.shape).astype(LD)  # bits that a double does not have
    orthant = np.arange(size.shape[1]) // per_orthant
    for v in range(variables):
        size[v, orthant >> v & 1 == 1] *= -1
    return size


def real_only(values):
    """In double, which is finer than the tolerance; NaN where not real or too large."""
    with np.errstate(all="ignore"):
        out = values.astype(float)
    out[~np.isfinite(out)] = np.nan
    return out


def evaluate(lines, probes):
    """(lines, probes). Numbers become long doubles first: 1/3 is not to be rounded to a double."""
    names = {"__builtins__": {}, "pi": 4 * np.arctan(LD(1)), **FUNCTIONS}
    names.update((f"x{v + 1}", column) for v, column in enumerate(probes))
    out = np.empty((len(lines), probes.shape[1]))
    for at in range(0, len(lines), BATCH):
        batch = lines[at:at + BATCH]
        text = ",\n".join(batch)
        for numeral in set(NUMERAL.findall(text)):
            names["n" + numeral] = LD(numeral)
        try:
            if TOKEN.sub("", text).replace(",", "") or text.count(",") != len(batch) - 1:
                raise SyntaxError
            code = compile(f"(\n{NUMERAL.sub(lambda m: 'n' + m[0], text)}\n,)", "list", "eval")
        except (SyntaxError, RecursionError, MemoryError):
            raise BadInput(f"line {at + 1 + first_bad(batch)} is no expression") from None
        with np.errstate(all="ignore"):
            try:
                rows = eval(code, names)
            except (NameError, TypeError):
                raise BadInput(f"a variable or a call in lines {at + 1} to {at + len(batch)} "
                               "has no meaning") from None
        wide = np.empty((len(batch), probes.shape[1]), LD)
        for row, value in zip(wide, rows):
            row[:] = value
        out[at:at + len(batch)] = real_only(wide)
    return out


def first_bad(batch):
    for i, line in enumerate(batch):
        try:
            if TOKEN.sub("", line):
                return i
            compile(line, "line", "eval")
        except (SyntaxError, RecursionError, MemoryError):
            return i
    return 0


def is_constant(values):
    """Rows that have one value wherever they are real, and are real often enough to decide."""
    often = (~np.isnan(values)).sum(axis=1) >= MIN_SHARED
    low, high = np.fmin.reduce(values, axis=1), np.fmax.reduce(values, axis=1)
    return often & (high - low <= TOLERANCE * (1 + np.abs(high)))


# ---------------------------------------------------------------- the same function

def agree(a, i, b, j):
    """Rows a[i] and b[j], one by one: equal at every probe where both are real, and there are
    enough of those. In pieces, to bound the memory."""
    same = np.empty(len(i), bool)
    for at in range(0, len(i), BATCH):
        part = slice(at, at + BATCH)
        u, v = a[i[part]], b[j[part]]
        with np.errstate(all="ignore"):
            gap = np.abs(u - v)  # NaN, which exceeds nothing, where one is not real
            differ = gap > TOLERANCE * (1 + np.maximum(np.abs(u), np.abs(v)))
        shared = (~np.isnan(gap)).sum(axis=1)
        same[part] = ~differ.any(axis=1) & (shared >= MIN_SHARED)
    return same


def slack(v):
    """Where to look on each side of a value: twice what `agree` forgives."""
    return 2 * TOLERANCE * (1 + np.abs(v))


def agreeing_pairs(values):
    """All (i, j), i < j, whose rows agree. Two rows that agree are neighbours in the order of their
    values at the first probe where both are real: that is searched, probe by probe."""
    n, probes = values.shape
    real = ~np.isnan(values)
    found = []
    for k in range(probes):
        rows = np.flatnonzero(real[:, k])
        rows = rows[np.argsort(values[rows, k], kind="stable")]
        v = values[rows, k]
        end = np.searchsorted(v, v + slack(v), "right")
        left = np.arange(len(rows))
        step = 1
        while True:
            left = left[left + step < end[left]]
            if not len(left):
                break
            i, j = rows[left], rows[left + step]
            if k:  # pairs with an earlier probe in common were judged there
                new = ~(real[i, :k] & real[j, :k]).any(axis=1)
                i, j = i[new], j[new]
            same = agree(values, i, values, j)
            found.append(np.sort(np.stack([i[same], j[same]], axis=1), axis=1))
            step += 1
    pairs = np.concatenate(found) if found else np.empty((0, 2), int)
    return pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))]


class Finder:
    """Which rows agree with some row of the list?"""

    def __init__(self, values, per_orthant):
        self.values = values
        self.quick = [self.ordered(k) for k in range(0, values.shape[1], per_orthant)]

    def ordered(self, k):
        rows = np.flatnonzero(~np.isnan(self.values[:, k]))
        rows = rows[np.argsort(self.values[rows, k])]
        return k, rows, self.values[rows, k]

    def search(self, found, wanted, probe):
        k, rows, v = probe
        todo = np.flatnonzero(~found & ~np.isnan(wanted[:, k]))
        w = wanted[todo, k]
        at, end = np.searchsorted(v, w - slack(w)), np.searchsorted(v, w + slack(w), "right")
        while True:
            more = at < end
            todo, at, end = todo[more], at[more], end[more]
            if not len(todo):
                return
            hit = agree(self.values, rows[at], wanted, todo)
            found[todo[hit]] = True
            todo, at, end = todo[~hit], at[~hit] + 1, end[~hit]

    def find(self, wanted):
        """One probe of each orthant finds nearly all; the rest are looked for at every probe."""
        found = np.zeros(len(wanted), bool)
        for probe in self.quick:
            self.search(found, wanted, probe)
        return found

    def find_anywhere(self, wanted):
        found = np.zeros(len(wanted), bool)
        for k in range(wanted.shape[1]):
            self.search(found, wanted, self.ordered(k))
        return found


# ---------------------------------------------------------------- raw trees

UNARY = (("exp({p})", np.exp), ("sin({p})", np.sin), ("-({p})", np.negative),
         ("sqrt({p})", np.sqrt))
BINARY = (("({p}) + ({q})", lambda p, q: p + q), ("({p}) - ({q})", lambda p, q: p - q),
          ("({q}) - ({p})", lambda p, q: q - p), ("({p})*({q})", lambda p, q: p * q),
          ("({p})/({q})", lambda p, q: p / q), ("({q})/({p})", lambda p, q: q / p))


def raw_level(below, lower):
    """Blocks (values, text of row i) of one level, in raw order. Operands are (text, values) lists;
    `lower` is all levels so far, the one below included."""
    texts, values = below
    yield (np.stack([f(p) for p in values for _, f in UNARY]),
           lambda i: UNARY[i % 4][0].format(p=texts[i // 4]))
    q_texts, q = lower
    for p_text, p in zip(texts, values):
        yield (np.stack([f(p, q) for _, f in BINARY], axis=1).reshape(-1, q.shape[1]),
               lambda i, p_text=p_text: BINARY[i % 6][0].format(p=p_text, q=q_texts[i // 6]))


def without_repeats(values, earlier):
    """Rows of `values` that are a new function, each held against those kept before it."""
    both = np.concatenate([earlier, real_only(values)])
    kept = np.ones(len(both), bool)
    for i, j in agreeing_pairs(both):  # by rising j: all that concerns kept[i] was said before
        if kept[i] and j >= len(earlier):
            kept[j] = False
    return np.flatnonzero(kept[len(earlier):])


class Search:
    """Takes raw trees, counts what they are, and keeps those that a quick look does not find."""

    def __init__(self, finder):
        self.finder = finder
        self.raw = self.constant = self.nowhere = self.scarce = 0
        self.texts, self.values = [], []

    def take(self, block, text):
        """Returns the rows that are functions: not constant, and real often enough to be judged."""
        values = real_only(block)
        real = (~np.isnan(values)).sum(axis=1)
        constant = is_constant(values)
        self.raw += len(block)
        self.constant += constant.sum()
        self.nowhere += (real == 0).sum()
        self.scarce += ((real > 0) & (real < MIN_SHARED)).sum()
        rows = np.flatnonzero(~constant & (real >= MIN_SHARED))
        lost = rows[~self.finder.find(values[rows])]
        self.texts += [text(i) for i in lost]
        self.values.append(values[lost])
        return rows

    def missing(self):
        found = self.finder.find_anywhere(np.concatenate(self.values))
        return [text for text, ok in zip(self.texts, found) if not ok]


def search_all(search, probes, depth):
    """Gives `search` every raw tree up to this depth."""
    below = lower = [f"x{v + 1}" for v in range(len(probes))], probes
    search.take(probes, lambda i: lower[0][i])
    for level in range(1, depth + 1):
        texts, values = [], []
        for block, text in raw_level(below, lower):
            rows = search.take(block, text)
            if level < depth:
                texts += [text(i) for i in rows]
                values.append(block[rows])
        if level == depth:
            break
        values = np.concatenate(values)
        if depth > 2:
            new = without_repeats(values, real_only(lower[1]))
            texts, values = [texts[i] for i in new], values[new]
            print(f"functions of depth {level}: {len(new)}")
        below = texts, values
        lower = lower[0] + texts, np.concatenate([lower[1], values])


def complete(options, finder, probes):
    """Prints the counts of the raw trees and returns how many the list lacks."""
    search = Search(finder)
    with np.errstate(all="ignore"):
        search_all(search, probes, options.complete)
    missing = search.missing()
    print(f"raw trees up to depth {options.complete}: {search.raw}, of them "
          f"constant: {search.constant}, real nowhere: {search.nowhere}, "
          f"too seldom real to be judged: {search.scarce}")
    print(f"missing from the list: {len(missing)}")
    for text in missing[:options.show]:
        print(f"    {text}")
    return len(missing)


# ---------------------------------------------------------------- the list

def twice(options, lines, values, partial):
    """Prints functions listed twice and returns how many lines too many there are. Functions that
    are real on no whole orthant may share too few probes; they are few, so among themselves they
    are judged once more, at many."""
    many = make_probes(options.variables, MORE * options.per_orthant, options.seed + 1)
    closer = evaluate([lines[i] for i in partial], many)
    pairs = np.concatenate([agreeing_pairs(values), partial[agreeing_pairs(closer)]])
    later, first = np.unique(pairs[:, 1], return_index=True)
    scarce = ((~np.isnan(closer)).sum(axis=1) < MIN_SHARED).sum()
    print(f"real on no whole orthant: {len(partial)}; too seldom real to be judged: {scarce}")
    print(f"listed twice: {len(later)}")
    for i, j in pairs[first[:options.show]]:
        print(f"    line {i + 1}: {lines[i]}\n    line {j + 1}: {lines[j]}\n")
    return len(later)


def judge(options):
    with (open(options.file) if options.file != "-" else sys.stdin) as f:
        lines = f.read().splitlines()
    if not lines:
        raise BadInput("there is no line")
    used = max((int(v) for line in lines for v in re.findall(r"x([123])", line)), default=1)
    options.variables = max(used, options.variables)
    probes = make_probes(options.variables, options.per_orthant, options.seed)
    print(f"{len(lines)} lines, {options.variables} variables, {probes.shape[1]} probes, "
          f"seed {options.seed}")
    values = evaluate(lines, probes)
    whole = (~np.isnan(values)).reshape(len(lines), -1, options.per_orthant).all(axis=2).any(axis=1)
    constant = np.flatnonzero(is_constant(values))
    print(f"constant: {len(constant)}")
    for i in constant[:options.show]:
        print(f"    line {i + 1}: {lines[i]}")
    faults = len(constant) + twice(options, lines, values, np.flatnonzero(~whole))
    missing = 0
    if options.complete is not None:
        missing = complete(options, Finder(values, options.per_orthant), probes)
    return 0 if faults <= options.allow and missing <= options.allow_missing else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("file", nargs="?", default="-", help="the list (default: standard input)")
    parser.add_argument("--complete", type=int, metavar="D", choices=range(4),
                        help="make all raw trees up to this depth and look for them in the list")
    parser.add_argument("--allow", type=int, default=0, metavar="N",
                        help="functions listed twice, and constants, to forgive")
    parser.add_argument("--allow-missing", type=int, default=0, metavar="N",
                        help="raw trees that may match no line")
    parser.add_argument("--show", type=int, default=10, metavar="N",
                        help="examples of each kind of fault (default 10)")
    parser.add_argument("--seed", type=int, default=20240607, help="of the probes")
    parser.add_argument("--per-orthant", type=int, default=12, metavar="N",
                        help="probes (default 12)")
    parser.add_argument("--variables", type=int, default=1, choices=(1, 2, 3),
                        help="at least so many (default: as the list uses)")
    options = parser.parse_args()
    if options.per_orthant < 12:
        parser.error("--per-orthant: 12 or more")
    try:
        return judge(options)
    except (BadInput, OSError) as e:
        print(f"judge_expressions: {e}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
