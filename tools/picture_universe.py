#!/usr/bin/env python3
"""Draws docs/pictures/universe.svg: raw candidates and distinct functions per depth, from a real run.

    tools/picture_universe.py [build/symlaw] > docs/pictures/universe.svg
"""
import json
import math
import subprocess
import sys

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "build/symlaw"
RUN = [PROGRAM, "expressions", "--depth", "3", "--set-size", "0", "--count-only", "--json", "--quiet"]
LEFT, WIDTH, ROW = 92, 520, 58

# (key in the result, label, colour)
BARS = [("raw", "raw candidates", "#b8c4d6"), ("distinct", "distinct functions", "#2f6db5")]


def scale(count):
    """Pixels of a bar: logarithmic, one decade is a seventh of the width."""
    return WIDTH * math.log10(max(count, 1)) / 7


def main():
    result = json.loads(subprocess.run(RUN, check=True, capture_output=True, text=True).stdout)
    levels = result["levels"]
    height = 40 + ROW * len(levels) + 34
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{height}" '
           f'viewBox="0 0 720 {height}" font-family="sans-serif" font-size="13">',
           f'<rect width="720" height="{height}" fill="#ffffff"/>']
    for i, (_, label, colour) in enumerate(BARS):
        x = LEFT + 170 * i
        out.append(f'<rect x="{x}" y="10" width="14" height="14" fill="{colour}"/>'
                   f'<text x="{x + 20}" y="22">{label}</text>')
    bottom = 40 + ROW * len(levels)
    for decade in range(8):
        x = LEFT + WIDTH * decade / 7
        label = f"10<tspan dy='-5' font-size='9'>{decade}</tspan>" if decade else "1"
        out.append(f'<line x1="{x:.1f}" y1="36" x2="{x:.1f}" y2="{bottom}" stroke="#e3e6ea"/>'
                   f'<text x="{x:.1f}" y="{bottom + 20}" text-anchor="middle" fill="#555">{label}</text>')
    for i, level in enumerate(levels):
        y = 40 + ROW * i
        out.append(f'<text x="{LEFT - 12}" y="{y + 27}" text-anchor="end">depth {level["level"]}</text>')
        for k, (key, _, colour) in enumerate(BARS):
            w, top = scale(level[key]), y + 6 + 21 * k
            out.append(f'<rect x="{LEFT}" y="{top}" width="{max(w, 2):.1f}" height="18" fill="{colour}"/>'
                       f'<text x="{LEFT + w + 6:.1f}" y="{top + 14}">{level[key]:,}</text>')
    out.append("</svg>")
    print("\n".join(out))


if __name__ == "__main__":
    main()
