#!/usr/bin/env python3
"""Makes the tables in examples/. The same numbers every time: the noise is seeded.

    python3 tools/make_examples.py [FOLDER]        FOLDER: examples/ beside this folder
"""
import sys
from pathlib import Path

import numpy as np

# Semi-major axis in AU and degrees of mean longitude per Julian century, at J2000: E. M. Standish, "Keplerian
# Elements for Approximate Positions of the Major Planets", Jet Propulsion Laboratory, table 1.
PLANETS = [("Mercury", 0.38709927, 149472.67411175), ("Venus", 0.72333566, 58517.81538729),
           ("Earth", 1.00000261, 35999.37244981), ("Mars", 1.52371034, 19140.30268499),
           ("Jupiter", 5.20288700, 3034.74612775), ("Saturn", 9.53667594, 1222.49362201),
           ("Uranus", 19.18916464, 428.48202785), ("Neptune", 30.06992276, 218.45945325)]
DEGREES_PER_TURN, YEARS_PER_CENTURY = 360, 100


def kepler():
    """Real orbits: their periods follow from how far the planets go in a century."""
    rows = [(name, f"{a:.6f}", f"{DEGREES_PER_TURN * YEARS_PER_CENTURY / rate:.6f}") for name, a, rate in PLANETS]
    return ["planet", "a", "T"], rows


def resistors(rng):
    """Two resistors in parallel, in kilo-ohm, and what a meter of five digits says of them together."""
    r = rng.uniform(1, 10, (40, 2)).round(2)
    total = r[:, 0] * r[:, 1] / r.sum(axis=1) * (1 + 2e-5 * rng.standard_normal(40))
    return ["R1", "R2", "R"], [(f"{a:.2f}", f"{b:.2f}", f"{t:.5g}") for (a, b), t in zip(r, total)]


def pendulum(rng):
    """Length in metres and period in seconds, by a stopwatch over ten swings: two milliseconds each."""
    length = np.linspace(0.1, 3, 30).round(2)
    period = 2 * np.pi * np.sqrt(length / 9.81) + 0.002 * rng.standard_normal(len(length))
    return ["length", "period"], [(f"{l:.2f}", f"{t:.4f}") for l, t in zip(length, period)]


def heat(rng):
    """Heat through a wall, in watts, as a program computes it: conductivity, area, two temperatures, thickness."""
    k, area, d = rng.uniform(0.02, 2, 50).round(3), rng.uniform(1, 30, 50).round(1), rng.uniform(0.05, 0.6, 50).round(2)
    warm, cold = rng.uniform(15, 30, 50).round(1), rng.uniform(-20, 12, 50).round(1)
    flow = k * area * (warm - cold) / d
    return ["k", "area", "warm", "cold", "d", "flow"], [tuple(map(repr, map(float, row)))
                                                        for row in zip(k, area, warm, cold, d, flow)]


def wind(rng):
    """Power of wind turbines in kilowatts by rotor diameter and wind speed in metres and metres a second, to about 5 kW."""
    d, v = rng.uniform(10, 80, 60).round(0), rng.uniform(4, 12, 60).round(1)
    power = 0.4 * 1.225 / 2 * np.pi / 4 * d ** 2 * v ** 3 / 1000 + 5 * rng.standard_normal(60)
    return ["d", "v", "P"], [(f"{a:.0f}", f"{b:.1f}", f"{p:.1f}") for a, b, p in zip(d, v, power)]


def energy(rng):
    """A ball thrown upwards: mass, speed, height, and its energy, with units in the names."""
    m, v, h = rng.uniform(0.1, 2, 40).round(2), rng.uniform(0, 15, 40).round(1), rng.uniform(0, 10, 40).round(1)
    return ["m (kg)", "v (m/s)", "h (m)", "E (J)"], [tuple(map(repr, map(float, row)))
                                                     for row in zip(m, v, h, m * v ** 2 / 2 + m * 9.81 * h)]


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "examples"
    rng = np.random.default_rng(1)
    for name, (header, rows) in (("kepler", kepler()), ("resistors", resistors(rng)), ("pendulum", pendulum(rng)),
                                 ("heat", heat(rng)), ("wind", wind(rng)), ("energy", energy(rng))):
        text = "\n".join(",".join(row) for row in (header, *rows)) + "\n"
        (folder / f"{name}.csv").write_text(text)


if __name__ == "__main__":
    main()
