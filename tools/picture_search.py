#!/usr/bin/env python3
"""Draws docs/pictures/search.svg: the share of problems that the search has recovered after so many seconds.

    tools/bench_search.py feynman public textbook handbook pairs rounded real --times times.csv
    tools/picture_search.py times.csv > docs/pictures/search.svg
"""
import csv
import math
import sys

LEFT, TOP, WIDTH, HEIGHT = 56, 20, 430, 300
WHOLE = LEFT + WIDTH + 294  # with the legend
FIRST, LAST = 1e-3, 10  # seconds
COLOURS = ["#2f6db5", "#c2571a", "#3a8f5c", "#8a4fa8", "#b8860b", "#5d6b7a", "#c03f6b"]

# the sets that are drawn, as bench_search.py names them, with their labels
SETS = {"feynman seed 1": "Feynman lectures", "public": "public formulas", "textbook rows 200": "textbooks",
        "handbook rows 200": "handbooks", "pairs": "pairs, depth 3", "pairs digits 6": "pairs, y of 6 digits",
        "real": "pairs, real constants"}


def read(path):
    """Seconds of each set's problems, infinite where the answer was not right."""
    sets = {}
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            sets.setdefault(row["set"], []).append(float(row["seconds"] or "inf"))
    return {label: sorted(sets[name]) for name, label in SETS.items() if name in sets}


def across(seconds):
    return LEFT + WIDTH * math.log(min(max(seconds, FIRST), LAST) / FIRST) / math.log(LAST / FIRST)


def down(share):
    return TOP + HEIGHT * (1 - share)


def grid():
    for decade in range(-3, 2):
        x = across(10.0**decade)
        yield (f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{TOP + HEIGHT}" stroke="#e3e6ea"/>'
               f'<text x="{x:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle" fill="#555">{10.0**decade:g}</text>')
    for k in range(6):
        y = down(k / 5)
        yield (f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + WIDTH}" y2="{y:.1f}" stroke="#e3e6ea"/>'
               f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#555">{20 * k} %</text>')
    yield (f'<text x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle">'
           'seconds a problem, two threads</text>')


def steps(seconds):
    """The path of a share that rises by one problem at a time."""
    points, right = [(FIRST, 0)], 0
    for at in seconds:
        if at > LAST:
            break
        points += [(at, right / len(seconds)), (at, (right + 1) / len(seconds))]
        right += 1
    return points + [(LAST, right / len(seconds))]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sets = read(sys.argv[1])
    if not sets:
        sys.exit(f"{sys.argv[1]} has none of the sets {', '.join(SETS)}")
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WHOLE}" height="{TOP + HEIGHT + 50}" '
           f'viewBox="0 0 {WHOLE} {TOP + HEIGHT + 50}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WHOLE}" height="{TOP + HEIGHT + 50}" fill="#ffffff"/>', *grid()]
    ends = sorted(sets.items(), key=lambda item: -steps(item[1])[-1][1])
    for i, (label, seconds) in enumerate(ends):
        path = steps(seconds)
        line = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in path)
        y = TOP + 10 + 22 * i
        out.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[i % len(COLOURS)]}" stroke-width="2"/>'
                   f'<line x1="{LEFT + WIDTH + 16}" y1="{y - 4}" x2="{LEFT + WIDTH + 34}" y2="{y - 4}" '
                   f'stroke="{COLOURS[i % len(COLOURS)]}" stroke-width="2"/>'
                   f'<text x="{LEFT + WIDTH + 40}" y="{y}">{label}, {path[-1][1]:.0%} of {len(seconds)}</text>')
    print("\n".join([*out, "</svg>"]))


if __name__ == "__main__":
    main()
