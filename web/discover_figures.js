// discover_figures - data and formula drawn: a curve over one input, a map and a turnable surface
// over two, partial residuals over more; residuals and predictions for all.
import { h } from "./dom.js";
import { number, whole } from "./format.js";
import { plot } from "./plot.js";
import { plot3d } from "./plot3d.js";
import { ramp } from "./colour.js";

export function figuresOf(details, table) {
    const rows = details.rows, unit = new Map(table.columns.map((c) => [c.name, c.unit]));
    const label = (name) => (unit.get(name) ? `${name} (${unit.get(name)})` : name);
    const f = { rows, names: rows.names.map(label), target: label(rows.target), details };
    const main = rows.names.length === 1
        ? curve(f)
        : rows.names.length === 2
        ? surface(f)
        : partial(f);
    const note = rows.shown < rows.of
        ? h(
            "p",
            { class: "help" },
            `The figures show ${whole(rows.shown)} of ${whole(rows.of)} rows, evenly taken.`,
        )
        : null;
    return {
        main: h("section", { class: "card", "aria-label": "Data and formula" }, main, note),
        residuals: h(
            "section",
            { class: "card", "aria-label": "Residuals" },
            h("div", { class: "pair-grid" }, predicted(f), residuals(f)),
        ),
    };
}

function curve({ rows, names, target, details }) {
    return plot({
        title: "Data and formula",
        x: { label: names[0] },
        y: { label: target },
        layers: [
            {
                kind: "line",
                name: "formula",
                tone: "fit",
                x: details.curve?.x ?? [],
                y: details.curve?.y ?? [],
            },
            {
                kind: "points",
                name: "data",
                tone: "data",
                x: rows.x[0],
                y: rows.y,
                more: { formula: rows.fitted },
            },
        ],
    }).element;
}

function surface({ rows, names, target, details }) {
    const grid = details.grid, values = rows.y.filter(Number.isFinite);
    const low = values.reduce((a, b) => Math.min(a, b), Infinity),
        high = values.reduce((a, b) => Math.max(a, b), -Infinity);
    const colour = ramp(low, high);
    const map = plot({
        title: `${target}: formula (ground) and data (dots)`,
        x: { label: names[0] },
        y: { label: names[1] },
        caption: "A dot of the same colour as its ground lies on the formula.",
        layers: [
            {
                kind: "grid",
                x: grid?.x1 ?? rows.x[0],
                y: grid?.x2 ?? rows.x[1],
                z: grid?.y ?? [],
                low,
                high,
            },
            {
                kind: "points",
                tone: "value",
                radius: 4.5,
                x: rows.x[0],
                y: rows.x[1],
                fill: rows.y.map(colour),
                name: "data",
                more: { [target]: rows.y, formula: rows.fitted },
                text: (i) =>
                    `${names[0]} ${number(rows.x[0][i])}, ${names[1]} ${
                        number(rows.x[1][i])
                    }: ${target} ${number(rows.y[i])}, formula ${number(rows.fitted[i])}`,
            },
        ],
    });
    const space = plot3d({
        title: `${target} over ${names[0]} and ${names[1]}`,
        names: [names[0], names[1], target],
        points: { x1: rows.x[0], x2: rows.x[1], y: rows.y },
        grid,
    });
    return h("div", { class: "pair-grid" }, map.element, space.element);
}

// Each input in turn, the others at their median: the formula, and the rows with what the formula
// leaves of them (partial residuals).
function partial({ rows, names, target, details }) {
    const panels = (details.partial ?? []).map((p, k) => {
        const at = rows.names.indexOf(p.name), x = rows.x[at < 0 ? k : at];
        const value = between(p.x, p.y);
        return plot({
            title: `By ${names[at < 0 ? k : at]}`,
            height: 230,
            x: { label: names[at < 0 ? k : at] },
            y: { label: target },
            layers: [
                {
                    kind: "points",
                    name: "data, adjusted",
                    tone: "data",
                    x,
                    y: x.map((v, i) => value(v) + rows.residual[i]),
                },
                { kind: "line", name: "formula", tone: "fit", x: p.x, y: p.y },
            ],
        }).element;
    });
    return h(
        "div",
        {},
        h("h3", { class: "figure-set" }, "One input at a time"),
        h(
            "p",
            { class: "help" },
            "The other inputs are at their medians. A dot is the curve plus its row's residual.",
        ),
        h("div", { class: "pair-grid" }, panels),
    );
}

// Linear interpolation in an even, rising grid.
function between(x, y) {
    const n = x.length, low = x[0], step = (x[n - 1] - low) / (n - 1);
    return (v) => {
        const t = Math.min(n - 1, Math.max(0, (v - low) / step)),
            k = Math.min(n - 2, Math.floor(t));
        return y[k] === null || y[k + 1] === null ? NaN : y[k] + (y[k + 1] - y[k]) * (t - k);
    };
}

function predicted({ rows, target }) {
    const all = [...rows.y, ...rows.fitted].filter(Number.isFinite);
    const ends = all.length
        ? [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))]
        : [];
    return plot({
        title: "Predicted against measured",
        height: 250,
        x: { label: `measured ${target}` },
        y: { label: `predicted ${target}` },
        same: true,
        layers: [
            { kind: "line", tone: "dim", name: "equal", legend: false, x: ends, y: ends },
            {
                kind: "points",
                tone: "data",
                name: "rows",
                legend: false,
                x: rows.y,
                y: rows.fitted,
            },
        ],
    }).element;
}

function residuals({ rows, names, target }) {
    const one = names.length === 1;
    return plot({
        title: "Residuals: measured minus predicted",
        height: 250,
        x: { label: one ? names[0] : `predicted ${target}` },
        y: { label: "residual" },
        layers: [
            { kind: "rule", y: [0], x: [], tone: "dim" },
            {
                kind: "points",
                tone: "data",
                name: "rows",
                x: one ? rows.x[0] : rows.fitted,
                y: rows.residual,
            },
        ],
    }).element;
}
