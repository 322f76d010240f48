#!/usr/bin/env python3
"""Draws docs/pictures/pairs.svg: six data sets with their formulas, from real pairs.

    tools/picture_pairs.py [build/symlaw] > docs/pictures/pairs.svg

Every point is one row of a data set, at (x1, x2), coloured by the rank of its y. Of the first test
pairs those are shown that need both variables and can be read at a glance, each with other
functions in it than the ones before."""
import json
import re
import subprocess
import sys

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "build/symlaw"
RUN = [PROGRAM, "pairs", "--split", "test", "--start", "0", "--count", "400", "--format", "jsonl",
       "--quiet"]
COLUMNS, ROWS, PANEL, GAP = 3, 2, 216, 24
WIDTH = COLUMNS * PANEL + (COLUMNS + 1) * GAP
CAPTION, LEGEND = 46, 40
HEIGHT = GAP + ROWS * (PANEL + CAPTION) + LEGEND
GREY = "#808890"  # readable on white and on black
RAMP = [(74, 95, 211), (31, 160, 160), (111, 184, 76), (232, 163, 43), (219, 74, 58)]
MINUS, DOT = "\u2212", "\u2009"


def colour(t):
    """Of t in 0 .. 1."""
    at = min(int(t * (len(RAMP) - 1)), len(RAMP) - 2)
    part = t * (len(RAMP) - 1) - at
    mixed = (round(a + part * (b - a)) for a, b in zip(RAMP[at], RAMP[at + 1]))
    return "#%02x%02x%02x" % tuple(mixed)


def pretty(expr):
    """Python text as one reads it: x₁², √(...), no stars."""
    text = re.sub(r"\*\*(\d)(?!\d)", lambda m: "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(m[1])], expr)
    text = re.sub(r"x(\d)", lambda m: "x" + "₀₁₂₃₄₅₆₇₈₉"[int(m[1])], text)
    text = re.sub(r"sqrt\((x.)\)", r"√\1", text).replace("sqrt", "√")
    return text.replace("*", DOT).replace("-", MINUS)


def readable(pair):
    """Short, over both variables, with a constant and without a power that is hard to set; and with
    a y that is not all one outlier."""
    y = sorted(pair["y"])
    middle = y[3 * len(y) // 4] - y[len(y) // 4]
    expr = pair["expr"]
    return (len(pretty(expr)) <= 31 and "**(" not in expr and "x1" in expr and "x2" in expr
            and re.search(r"(?<!\*\*)\b\d", expr) and max(abs(v) for v in y) < 100 * middle)


def chosen(pairs):
    kinds, result = set(), []
    for pair in pairs:
        kind = frozenset(re.findall(r"exp|sin|sqrt|/", pair["expr"]))
        if kind not in kinds and readable(pair):
            kinds.add(kind)
            result.append(pair)
    if len(result) < COLUMNS * ROWS:
        raise SystemExit("picture_pairs: too few pairs that are easy to read")
    return result[:COLUMNS * ROWS]


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def panel(pair, left, top):
    """A scatter plot with its formula below. Both axes have one scale: circles are round."""
    reach = max(2.2, max(abs(v) for column in pair["x"] for v in column)) * 1.06
    at = lambda v, sign: PANEL / 2 + sign * v / reach * PANEL / 2
    rank = {v: i / (len(pair["y"]) - 1) for i, v in enumerate(sorted(pair["y"]))}
    middle = PANEL / 2
    out = [f'<g transform="translate({left} {top})">',
           f'<rect width="{PANEL}" height="{PANEL}" rx="8" fill="{GREY}" fill-opacity="0.07" '
           f'stroke="{GREY}" stroke-opacity="0.45"/>',
           f'<path d="M{middle} 8V{PANEL - 8}M8 {middle}H{PANEL - 8}" stroke="{GREY}" '
           'stroke-opacity="0.3"/>',
           f'<text x="{PANEL - 8}" y="{middle - 6}" text-anchor="end" class="small">x₁</text>'
           f'<text x="{middle + 6}" y="18" class="small">x₂</text>']
    for x1, x2, y in sorted(zip(*pair["x"], pair["y"]), key=lambda point: point[2]):
        out.append(f'<circle cx="{at(x1, 1):.1f}" cy="{at(x2, -1):.1f}" r="4" '
                   f'fill="{colour(rank[y])}" fill-opacity="0.85"/>')
    out.append(f'<text x="{middle}" y="{PANEL + 22}" text-anchor="middle">'
               f'{escape("y = " + pretty(pair["expr"]))}</text></g>')
    return out


def legend():
    y, left, width = HEIGHT - 24, WIDTH / 2 - 80, 160
    stops = "".join(f'<stop offset="{i / 8}" stop-color="{colour(i / 8)}"/>' for i in range(9))
    return [f'<defs><linearGradient id="ramp">{stops}</linearGradient></defs>',
            f'<rect x="{left}" y="{y}" width="{width}" height="8" rx="4" fill="url(#ramp)"/>',
            f'<text x="{left - 10}" y="{y + 8}" text-anchor="end" class="small">lowest y</text>',
            f'<text x="{left + width + 10}" y="{y + 8}" class="small">highest y</text>']


def main():
    lines = subprocess.run(RUN, check=True, capture_output=True, text=True).stdout.splitlines()
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13" fill="{GREY}">',
           "<title>Six pairs: 64 points each, coloured by y, and their expressions</title>",
           "<style>.small { font-size: 11px }</style>"]
    for i, pair in enumerate(chosen(json.loads(line) for line in lines)):
        left, top = i % COLUMNS * (PANEL + GAP), i // COLUMNS * (PANEL + CAPTION)
        out += panel(pair, GAP + left, GAP + top)
    out += legend() + ["</svg>"]
    print("\n".join(out))


if __name__ == "__main__":
    main()
