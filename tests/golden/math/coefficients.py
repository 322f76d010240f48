#!/usr/bin/env python3
"""Prints src/base/math_constants.h: the polynomials, the pieces of ln 2 and pi/2, the bits of 2/pi.

    python3 tests/golden/math/coefficients.py > src/base/math_constants.h

Needs mpmath. The polynomials are minimax for the error in units of the function's own ulp (Remez
exchange with a weight); stderr says how large that error is before coefficients are rounded.
"""
import sys
from mpmath import mp, mpf, matrix, lu_solve, exp, sin, cos, log, pi, floor, nstr, sinh, cosh, atan, asin

mp.prec = 400


def chebyshev(lo, hi, n):
    return [(lo + hi) / 2 - (hi - lo) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]


def remez(f, weight, lo, hi, degree, rounds=12, grid=2000):
    """Coefficients (lowest first) of the p of this degree that minimises max |weight (p - f)|."""
    n = degree + 2
    xs = chebyshev(lo, hi, n)
    wanted = [(x, f(x), weight(x)) for x in chebyshev(lo, hi, grid)]
    for _ in range(rounds):
        a, b = matrix(n, n), matrix(n, 1)
        for i, x in enumerate(xs):
            for j in range(degree + 1):
                a[i, j] = x**j
            a[i, degree + 1] = (-1) ** i / weight(x)
            b[i] = f(x)
        solution = lu_solve(a, b)
        c = [solution[j] for j in range(degree + 1)]
        # one extremum of the error per run of equal sign
        runs = []
        for x, fx, wx in wanted:
            e = wx * (sum(c[j] * x**j for j in range(degree + 1)) - fx)
            if not runs or (e > 0) != (runs[-1][1] > 0):
                runs.append((x, e))
            elif abs(e) > abs(runs[-1][1]):
                runs[-1] = (x, e)
        if len(runs) < n:
            break
        while len(runs) > n:
            runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
        worst = max(abs(e) for _, e in runs)
        if worst < abs(solution[degree + 1]) * mpf("1.001"):
            break
        xs = [x for x, _ in runs]
    return c, worst


def polynomial(name, says, c, worst):
    print(f"{name}: error {nstr(worst * mpf(2) ** 53, 3)} of 2^-53", file=sys.stderr)
    print(f"\n/* {says} */")
    print(f"static const double {name}[{len(c)}] = {{")
    for x in c:
        print(f"    {float(x).hex()},")
    print("};")


def pieces(x, widths):
    """x as a sum of numbers of so many bits, each cut off towards zero, the last one rounded."""
    out, at = [], None
    for w in widths:
        e = int(floor(log(x, 2))) if at is None else at
        unit = mpf(2) ** (e - w + 1)
        piece = floor(x / unit) * unit
        out.append(float(piece))
        assert out[-1] == piece
        x -= piece
        at = e - w
    return out + [float(x)]


def constant(name, value, says):
    print(f"static const double {name} = {value.hex()};" + (f" // {says}" if says else ""))


ln2 = log(mpf(2))
print("""/* Constants of the elementary functions, for math_body.h and math_reduce.c only.
 *
 * Printed by tests/golden/math/coefficients.py; change that and not this. */
#ifndef SL_MATH_CONSTANTS_H
#define SL_MATH_CONSTANTS_H

#include <stdint.h>
""")
constant("LN2_INVERSE", float(1 / ln2), "1 / ln 2")
hi, lo = pieces(ln2, [32])
constant("LN2_HI", hi, "32 bits: k * LN2_HI is exact for |k| < 2^21")
constant("LN2_LO", lo, "ln 2 - LN2_HI")
constant("HALF_PI_INVERSE", float(2 / pi), "2 / pi")
p1, p2, p3, p4 = pieces(pi / 2, [33, 33, 33])
constant("HALF_PI_1", p1, "33 bits: exact times |n| <= 2^20")
constant("HALF_PI_2", p2, "")
constant("HALF_PI_3", p3, "")
constant("HALF_PI_4", p4, "the rest of pi/2")
h = float(pi / 2)
constant("HALF_PI_HI", h, "pi/2 as the sum of two doubles")
constant("HALF_PI_LO", float(pi / 2 - mpf(h)), "")

r = ln2 / 2 * mpf("1.0001")  # the intervals are a little wider; this one is lopsided too, as 0
# must not be among its nodes
polynomial("EXP_POLY", "exp(r) = 1 + r + r^2 (1/2 + r p(r)), |r| <= ln(2)/2.",
           *remez(lambda x: (exp(x) - 1 - x - x * x / 2) / x**3,
                  lambda x: abs(x) ** 3 * exp(-x), -r, r * mpf("1.0001"), 9))

# z = s^2, s = f / (2 + f), from m = 1 + f in [sqrt(1/2), sqrt(2)]
s = (mpf(2).sqrt() - 1) / (mpf(2).sqrt() + 1) * mpf("1.0001")
at = lambda z: z.sqrt()
polynomial("LOG_POLY", "log((1 + s) / (1 - s)) = 2 s + s z p(z), z = s^2, |s| <= 0.1716.",
           *remez(lambda z: ((log((1 + at(z)) / (1 - at(z))) - 2 * at(z)) / (at(z) * z)),
                  lambda z: z / 2, mpf(10) ** -8, s * s, 6))

z = (pi / 4 * mpf("1.0001")) ** 2
polynomial("SIN_POLY", "sin(r) = r + r z p(z), z = r^2, |r| <= pi/4.",
           *remez(lambda t: (sin(at(t)) / at(t) - 1) / t, lambda t: t * at(t) / sin(at(t)),
                  mpf(10) ** -8, z, 6))
polynomial("COS_POLY", "cos(r) = 1 - z/2 + z^2 p(z), z = r^2, |r| <= pi/4.",
           *remez(lambda t: (cos(at(t)) - 1 + t / 2) / (t * t),
                  lambda t: t * t / cos(at(t)), mpf(10) ** -6, z, 5))

polynomial("SINH_POLY", "sinh(x) = x + x z p(z), z = x^2, |x| <= 1.",
           *remez(lambda t: (sinh(at(t)) / at(t) - 1) / t, lambda t: t * at(t) / sinh(at(t)),
                  mpf(10) ** -8, mpf("1.0001"), 6))
polynomial("COSH_POLY", "cosh(x) = 1 + z/2 + z^2 p(z), z = x^2, |x| <= 1.",
           *remez(lambda t: (cosh(at(t)) - 1 - t / 2) / (t * t),
                  lambda t: t * t / cosh(at(t)), mpf(10) ** -6, mpf("1.0001"), 6))
z = (mpf(2).sqrt() - 1) ** 2 * mpf("1.0001")
polynomial("ATAN_POLY", "atan(t) = t + t z p(z), z = t^2, |t| <= tan(pi/8).",
           *remez(lambda t: (atan(at(t)) / at(t) - 1) / t, lambda t: t * at(t) / atan(at(t)),
                  mpf(10) ** -8, z, 11))
polynomial("ASIN_POLY", "asin(t) = t + t z p(z), z = t^2, |t| <= 1/2.",
           *remez(lambda t: (asin(at(t)) / at(t) - 1) / t, lambda t: t * at(t) / asin(at(t)),
                  mpf(10) ** -8, mpf("0.25001"), 12))

# 64 zero bits stand in front so that a window may begin before the binary point
WORDS = 20
mp.prec = 64 * WORDS + 64
bits = int(floor(2 / pi * mpf(2) ** (64 * WORDS)))
print("\n/* 64 zero bits, then the first 1280 bits of 2/pi behind the binary point. */")
print(f"static const uint64_t TWO_OVER_PI[{WORDS + 1}] = {{")
words = [0] + [bits >> (64 * (WORDS - 1 - i)) & (2**64 - 1) for i in range(WORDS)]
for i in range(0, len(words), 4):
    print("    " + ", ".join(f"0x{w:016x}" for w in words[i:i + 4]) + ",")
print("};\n\n#endif")
