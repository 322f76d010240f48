#!/usr/bin/env python3
"""Renews the stored answers exp.inc, sin.inc, log.inc and cos.inc beside this file. Needs mpmath.

    python3 tests/golden/math/renew.py

A row is { x, nearest double to f(x), (f(x) - that double) in its ulps }, the doubles as bits. With
the remainder a test can say how many ulps a result is off, to a thousandth, in plain double.
The arguments are edges, hard cases and a seeded random sample; the output is always the same.
"""
import math
import pathlib
import random
import struct
from fractions import Fraction

import mpmath
from mpmath import mp, mpf

HERE = pathlib.Path(__file__).parent
mp.prec = 1400  # x mod pi for the largest x, and then some


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def double(b):
    return struct.unpack("<d", struct.pack("<Q", b))[0]


def around(x, steps=2):
    """x and its neighbours among the doubles."""
    return [double(bits(x) + i) for i in range(-steps, steps + 1)]


def nearest(v):
    """The double nearest to v, rounded once also where it is subnormal; None if it is infinite."""
    if v == 0:
        return 0.0
    e = max(int(mpmath.floor(mpmath.log(abs(v), 2))) - 52, -1074)
    m = int(mpmath.nint(mpmath.ldexp(v, -e)))
    try:
        return math.ldexp(m, e)
    except OverflowError:
        return None


def write(name, f, xs):
    rows = []
    for x in dict.fromkeys(xs):
        v = f(mpf(x))
        y = nearest(v)
        if y is None:
            continue
        rest = float((v - mpf(y)) / mpf(math.ulp(y)))
        assert abs(rest) <= 0.5
        rows.append(f"{{ 0x{bits(x):x}, 0x{bits(y):x}, {rest:.3f} }},\n")
    (HERE / f"{name}.inc").write_text("".join(rows))
    print(f"{name}: {len(rows)} answers")


def fraction(v):
    sign, man, exp, _ = v._mpf_
    return Fraction(-man if sign else man) * Fraction(2) ** exp


def closest_to_multiples():
    """For every exponent the double that comes closest to a multiple of pi/2: best approximations
    n/m of 2^e / (pi/2) are convergents of its continued fraction, so m is the largest denominator
    below 2^53, times what brings it to 53 bits (Muller, Elementary Functions, section 11.3.2)."""
    half_pi = fraction(mp.pi / 2)
    found = []
    for e in range(-60, 972):
        rest = Fraction(2) ** e / half_pi
        older, m = 1, 0
        while True:
            a = math.floor(rest)
            older, m = m, a * m + older
            if m >= 2**53 or rest == a:
                break
            rest = 1 / (rest - a)
        if older < 2**52:
            older *= (2**53 - 1) // older
        found.append(math.ldexp(older, e))
    return found


rng = random.Random(20240229)


def between(lo, hi, n):
    return [rng.uniform(lo, hi) for _ in range(n)]


def magnitudes(lo, hi, n, signs=(1, -1)):
    """Evenly in the logarithm, from 2^lo to 2^hi."""
    return [rng.choice(signs) * math.ldexp(rng.uniform(1, 2), rng.randrange(lo, hi))
            for _ in range(n)]


# where our own functions were found to be off most, by a search against long double
HARD = {
    "exp": """0x1.4f504a042e7ap+2 -0x1.6d5388eb90a3ep+3 0x1.860fcf4a7d6fp+3 -0x1.6c7794354a144p+3
        0x1.4de8bd77175ep+2 0x1.84a93d9cbf05cp+3 0x1.844b4a24768fcp+3 -0x1.6d57a3134c0e6p+3""",
    "sin": """0x1.3040ea89d8b43p+1 0x1.301266f872ecap+1 0x1.2ea9540d66ef4p+1 0x1.329ae4cf4b321p+1
        0x1.83f1b5df27fe8p-1 0x1.7e0427f61a148p-1 0x1.2dc6a29ee2bacp+1 0x1.337e1f5cf29ap+1""",
    "log": """0x1.65e7fceaad60bp+0 0x1.6923e866b78cfp-1 0x1.648d217c0229fp-1 0x1.64c68dbda2517p-1
        0x1.68e8df1783393p-1 0x1.67d0283a2d75bp-1 0x1.68939a7765613p-1 0x1.6a054b2f57507p-1""",
}


def hard(name):
    return [float.fromhex(x) for x in HARD[name].split()]


xs = hard("exp") + [0.0, 1.0, -1.0, 5e-324, -5e-324]
for edge in (709.782712893384, 708.3964185322641, 709.0, 2.0**-53, 2.0**-54):
    xs += around(edge, 4)
for edge in (-708.3964185322641, -745.1332191019411, -744.4400719213812, -2.0**-53, -2.0**-54):
    xs += around(edge, 4)
for k in range(-1075, 1024, 7):  # where k ln 2 changes over
    xs += around((k + 0.5) * math.log(2), 1)
xs += between(-0.35, 0.35, 500) + between(-708, 709, 400) + between(-745.2, -708, 300)
xs += magnitudes(-60, 9, 200)
write("exp", mpmath.exp, xs)

xs = hard("sin") + [0.0, 5e-324, -5e-324, 2.2250738585072014e-308]
for k in list(range(1, 60)) + [2**i + d for i in range(6, 20) for d in (-1, 0, 1)]:
    xs += around(float(k * mp.pi / 2), 1) + [float((k + 0.5) * mp.pi / 2)]  # and change of quadrant
for edge in (2.0**20, 2.0**-27, 2.0**-26):
    xs += around(edge, 3) + around(-edge, 3)
xs += closest_to_multiples()
xs += between(-2, 2, 400) + between(0.7, 0.87, 200) + between(-100, 100, 200)
xs += magnitudes(-40, 21, 200) + magnitudes(20, 1024, 300)
write("sin", mpmath.sin, xs)
write("cos", mpmath.cos, xs)

xs = hard("log") + [5e-324, 1e-323, 1.7976931348623157e308]
xs += around(2.2250738585072014e-308)
for k in range(-1074, 1024, 9):
    xs += [math.ldexp(1, k), math.ldexp(rng.uniform(1, 2), k)]
for edge in (1.0, 0.5, 2.0, math.sqrt(0.5), math.sqrt(2), 2 * math.sqrt(2), math.e):
    xs += around(edge, 6)
xs += [1 + s * math.ldexp(rng.uniform(1, 2), -k) for k in range(2, 53) for s in (1, -0.5)]
xs += between(0.4, 2.5, 900) + magnitudes(-1022, 1024, 300, (1,))
xs += [rng.randrange(1, 2**52) * 5e-324 for _ in range(100)]
write("log", mpmath.log, xs)
