#!/usr/bin/env python3
"""Canonical forms beside SymEngine's and SymPy's `expand`: the same candidates, one core, one run.

    tools/bench_canon.py [build/bench/expr.canon]

A candidate is an operator on one or two expanded expressions. All three start from the operands as
their own objects, so no text is read while the clock runs: timed are building the candidate and
bringing it to its form. The three are timed in turn, ROUNDS times, so that a machine that slows
down slows all; medians are compared. SymEngine and SymPy get the first candidates of our sample, and are
called as Python calls them. Tab separated; ratio is their time per candidate over ours, for the
call that the enumeration makes (apply) and for a tree that nothing is known of (whole).

    pip install symengine sympy"""
import operator
import re
import statistics
import subprocess
import sys
import time

ROUNDS = 3
CLAIMS = {"symengine": 3, "sympy": 300}
SAMPLES = {"symengine": 20000, "sympy": 500}


def ours(program):
    """Nanoseconds per candidate of (apply, whole)."""
    out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    head, *rows = [line.split("\t") for line in out.splitlines()]
    cells = {row[0]: dict(zip(head, row)) for row in rows}
    return tuple(float(cells[name]["median_ns_per_candidate"]) for name in ("apply", "whole"))


def candidates(program, module, n):
    """The first n candidates: a function and its operands, in the module's own objects."""
    functions = {"exp": module.exp, "sin": module.sin, "sqrt": module.sqrt, "neg": operator.neg,
                 "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
    names = {"__builtins__": {}, "exp": module.exp, "sin": module.sin, "sqrt": module.sqrt,
             "x1": module.Symbol("x1"), "x2": module.Symbol("x2")}
    read = {}
    out = subprocess.run([program, "--print", str(n)], check=True, capture_output=True, text=True)
    for line in out.stdout.splitlines():
        op, *texts = line.split("\t")
        texts = [text for text in texts if text]
        for text in texts:
            if text not in read:
                read[text] = module.expand(eval(exact(text), names, {"N": module.Integer}))
        yield functions[op], [read[text] for text in texts]


def exact(text):
    """Whole numbers as the module's own, so that 1/2 is not a float."""
    return re.sub(r"\b\d+\b", r"N(\g<0>)", text)


def peer(work, module):
    """Nanoseconds per candidate."""
    expand = module.expand
    start = time.perf_counter()
    for f, operands in work:
        expand(f(*operands))
    return (time.perf_counter() - start) * 1e9 / len(work)


def right(work, module):
    """The peers expand the same functions as we do only if they were given the right ones: at a point
    where it is real, a candidate expanded has the value of its operands combined."""
    at = {"x1": 0.71828, "x2": 1.37035}
    point = {module.Symbol(k): v for k, v in at.items()}
    value = lambda e: complex(e.subs(point).evalf() if module.__name__ == "sympy" else
                              e.subs(point).n(53, real=False))
    for f, operands in work[:200]:
        plain = value(f(*operands))
        if not abs(value(module.expand(f(*operands))) - plain) <= 1e-8 * (1 + abs(plain)):
            raise SystemExit(f"{module.__name__} expands {f(*operands)} to something else")


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/bench/expr.canon"
    try:
        import symengine
        import sympy
    except ImportError as e:
        raise SystemExit(f"bench_canon: {e}; pip install symengine sympy") from None
    from sympy.core.cache import clear_cache
    modules = {"symengine": symengine, "sympy": sympy}
    work = {name: list(candidates(program, m, SAMPLES[name])) for name, m in modules.items()}
    for name, module in modules.items():
        right(work[name], module)

    rounds = []
    for _ in range(ROUNDS):
        clear_cache()  # SymPy remembers what it expanded
        rounds.append((*ours(program), *(peer(work[name], m) for name, m in modules.items())))
    apply, whole, *peers = (statistics.median(column) for column in zip(*rounds))
    print("name", "version", "candidates", "ns_per_candidate", "ratio_apply", "ratio_whole",
          "claim", sep="\t")
    print("apply", "", "", f"{apply:.0f}", "1.0", "", "", sep="\t")
    print("whole", "", "", f"{whole:.0f}", "", "1.0", "", sep="\t")
    for (name, module), ns in zip(modules.items(), peers):
        print(name, module.__version__, len(work[name]), f"{ns:.0f}", f"{ns / apply:.1f}",
              f"{ns / whole:.1f}", CLAIMS[name], sep="\t")
    return 0 if all(ns / apply >= CLAIMS[name] for name, ns in zip(modules, peers)) else 1


if __name__ == "__main__":
    sys.exit(main())
