// universe_pair - the data of one pair drawn: over one variable, over two (a map and in space), or
// against each of three.
import { number } from "./format.js";
import { plot } from "./plot.js";
import { plot3d } from "./plot3d.js";
import { ramp } from "./colour.js";

const least = (v) => v.reduce((a, b) => Math.min(a, b), Infinity);
const largest = (v) => v.reduce((a, b) => Math.max(a, b), -Infinity);

export function pairFigures(pair) {
    const names = pair.x.map((_, i) => `x${i + 1}`);
    if (pair.x.length === 2) return map(pair);
    return pair.x.map((x, i) =>
        plot({
            title: `${pair.y.length} points`,
            height: 260,
            x: { label: names[i] },
            y: { label: "y" },
            layers: [{ kind: "points", tone: "front", name: "points", x, y: pair.y }],
        }).element
    );
}

function map({ x: [x1, x2], y }) {
    const low = least(y), high = largest(y);
    const padded = (v) => [
        least(v) - 0.05 * (largest(v) - least(v)),
        largest(v) + 0.05 * (largest(v) - least(v)),
    ];
    return [
        plot({
            title: `${y.length} points, y as colour`,
            x: { label: "x1" },
            y: { label: "x2" },
            layers: [
                { kind: "grid", x: padded(x1), y: padded(x2), z: [], low, high },
                {
                    kind: "points",
                    tone: "value",
                    radius: 5,
                    name: "points",
                    x: x1,
                    y: x2,
                    fill: y.map(ramp(low, high)),
                    more: { y },
                    text: (i) => `x1 ${number(x1[i])}, x2 ${number(x2[i])}: y ${number(y[i])}`,
                },
            ],
        }).element,
        plot3d({
            title: "y over x1 and x2",
            names: ["x1", "x2", "y"],
            points: { x1, x2, y },
            grid: null,
        }).element,
    ];
}
