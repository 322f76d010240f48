// plot - one panel of axes as SVG, drawn at the width that it has, and again when that changes.
//
// A figure can be read in four ways: by eye, with the pointer (the nearest point is named), with
// the arrow keys (point by point), and as a table below it.
//
//     const p = plot({ title, x: { label, log }, y: { label, log }, layers: [...] });
//     page.append(p.element);  p.update(spec);
//
// A layer is { kind, x, y, name, tone }. Kinds: points, line, rule (a horizontal line at y), grid
// (a heat map: x, y and the rows z), steps. Tones are classes of the style sheet: data, fit, dim,
// front.
import { announce, h, s, scroller, table } from "./dom.js";
import { linearTicks, logTicks, number, whole } from "./format.js";
import { ramp } from "./colour.js";

const TABLE_ROWS = 500; // longer tables are cut; the file to download has all rows

export function plot(spec) {
    const readout = h("output", { class: "readout", "aria-live": "polite" });
    const holder = h("div", {
        class: "plot",
        tabindex: "0",
        role: "application",
        "aria-roledescription": "figure",
    });
    const legend = h("div", { class: "legend" });
    const details = dataTable(() => current);
    const caption = h("figcaption", {});
    const element = h(
        "figure",
        { class: "figure" },
        h("div", { class: "figure-head" }, h("h3", { class: "figure-title" }), legend),
        holder,
        h("div", { class: "figure-foot" }, readout),
        caption,
        details,
    );
    let current = spec, drawn = null, at = -1, width = 0;

    function redraw() {
        if (width < 60) return;
        drawn = draw(current, width);
        holder.replaceChildren(...drawn.nodes);
        if (at >= drawn.marks.length) at = -1;
        if (at >= 0) drawn.mark(at);
    }

    function show(i) {
        at = i;
        drawn?.mark(i);
        readout.textContent = i < 0 ? "" : drawn.marks[i].text;
    }

    function update(next) {
        current = next;
        element.querySelector(".figure-title").textContent = next.title;
        holder.setAttribute("aria-label", describe(next));
        caption.textContent = next.caption ?? "";
        caption.hidden = !next.caption;
        legend.replaceChildren(
            ...next.layers.filter((l) => l.name && l.legend !== false).map((l) =>
                h("span", { class: `key key-${l.kind} tone-${l.tone ?? "data"}` }, l.name)
            ),
        );
        legend.hidden = legend.childElementCount < 2;
        details.stale();
        redraw();
    }

    holder.addEventListener("pointermove", (event) => {
        const box = holder.getBoundingClientRect();
        show(drawn ? drawn.nearest(event.clientX - box.left, event.clientY - box.top) : -1);
    });
    holder.addEventListener("pointerleave", () => show(-1));
    holder.addEventListener("click", () => {
        if (at >= 0 && current.onPick) current.onPick(drawn.marks[at].index, drawn.marks[at].layer);
    });
    holder.addEventListener("keydown", (event) => {
        const n = drawn?.marks.length ?? 0,
            step = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (n && step) {
            show(at < 0 ? (step > 0 ? 0 : n - 1) : Math.min(n - 1, Math.max(0, at + step)));
        } else if (n && event.key === "Home") show(0);
        else if (n && event.key === "End") show(n - 1);
        else if (event.key === "Escape") show(-1);
        else if ((event.key === "Enter" || event.key === " ") && at >= 0 && current.onPick) {
            current.onPick(drawn.marks[at].index, drawn.marks[at].layer);
            announce("shown: " + drawn.marks[at].text);
        } else return;
        event.preventDefault();
    });
    new ResizeObserver(([entry]) => {
        const now = Math.floor(entry.contentRect.width);
        if (now === width) return;
        width = now;
        redraw();
    }).observe(holder);
    update(spec);
    return { element, update };
}

// What the figure shows, for screen readers.
function describe(spec) {
    const parts = spec.layers.filter((l) => l.kind !== "rule" && l.y.length > 0).map((l) =>
        `${l.name ?? l.kind}: ${whole(l.y.length)} ${l.kind === "grid" ? "rows" : "points"}`
    );
    return `${spec.title}. ${spec.y.label} against ${spec.x.label}${
        spec.x.log ? ", logarithmic" : ""
    }. ` +
        `${parts.join("; ")}. Arrow keys read the points; the table below has them all.`;
}

// ---------------------------------------------------------------- scales

const real = (v) => typeof v === "number" && Number.isFinite(v);

// [low, high] of the values that the axis can show, with a margin.
function range(values, log, margin) {
    let low = Infinity, high = -Infinity;
    for (const v of values) {
        if (!real(v) || (log && v <= 0)) continue;
        if (v < low) low = v;
        if (v > high) high = v;
    }
    if (low > high) return log ? [0.1, 10] : [0, 1];
    if (log) {
        const pad = low === high ? 0.3 : Math.log10(high / low) * margin;
        return [low / 10 ** pad, high * 10 ** pad];
    }
    const pad = low === high ? Math.abs(low) * 0.1 || 1 : (high - low) * margin;
    return [low - pad, high + pad];
}

// Value to pixel.
function scale([low, high], log, from, to) {
    const f = log ? Math.log10 : (v) => v, a = f(low), b = f(high);
    return (v) => (real(v) && (!log || v > 0) ? from + (to - from) * (f(v) - a) / (b - a) : NaN);
}

const each = (layers, key) =>
    layers.filter((l) => l.kind !== "rule" && l.fit !== false).flatMap((l) => l[key]);

// A curve that leaves the window of the points by far (a pole) must not decide the scale: the
// window of the points is widened to it by at most half of its height on either side.
function rangeY(spec) {
    const solid = spec.layers.filter((l) =>
        l.kind === "points" || l.kind === "grid" || spec.onlyLines
    );
    const window = range(each(solid.length ? solid : spec.layers, "y"), spec.y.log, 0.06);
    const rules = spec.layers.filter((l) => l.kind === "rule").map((l) => l.y[0]);
    const all = range([...each(spec.layers, "y"), ...rules], spec.y.log, 0.06);
    if (spec.y.log) return all;
    const room = (window[1] - window[0]) / 2;
    return [Math.max(all[0], window[0] - room), Math.min(all[1], window[1] + room)];
}

// ---------------------------------------------------------------- drawing

let clips = 0; // every panel clips its layers by an element of its own name

function draw(spec, width) {
    const grid = spec.layers.find((l) => l.kind === "grid");
    const height = Math.round(
        spec.height ?? Math.max(220, Math.min(380, width * (spec.square ? 0.9 : 0.62))),
    );
    const margin = { top: 12, right: grid ? 74 : 14, bottom: 46, left: 0 };
    const rx = grid ? edges(grid.x) : range(each(spec.layers, "x"), spec.x.log, 0.04);
    const ry = grid ? edges(grid.y) : spec.same ? rx : rangeY(spec);
    const ticksY = (spec.y.log ? logTicks : linearTicks)(
        ...ry,
        Math.max(3, Math.floor((height - 60) / 46)),
    );
    margin.left = 30 + Math.max(14, ...ticksY.map((t) => t.text.length * 6.6));
    const right = width - margin.right, bottom = height - margin.bottom;
    const ticksX = (spec.x.log ? logTicks : linearTicks)(
        ...rx,
        Math.max(3, Math.floor((right - margin.left) / 70)),
    );
    const px = scale(rx, spec.x.log, margin.left, right),
        py = scale(ry, spec.y.log, bottom, margin.top);

    const clip = `clip-${++clips}`;
    const marks = [], inside = s("g", { "clip-path": `url(#${clip})` });
    const front = s("g", {}), nodes = [];
    if (grid) {
        nodes.push(
            heatCanvas(grid, { left: margin.left, top: margin.top, right, bottom, width }),
        );
    }
    for (const layer of spec.layers) {
        DRAW[layer.kind]({ layer, spec, px, py, marks, inside, left: margin.left, right });
    }
    const ring = s("circle", { class: "ring", r: 7, visibility: "hidden" });
    front.append(ring);
    nodes.push(
        s(
            "svg",
            {
                width,
                height,
                viewBox: `0 0 ${width} ${height}`,
                "aria-hidden": "true",
                focusable: "false",
            },
            s(
                "clipPath",
                { id: clip },
                s("rect", {
                    x: margin.left,
                    y: margin.top - 6,
                    width: right - margin.left,
                    height: bottom - margin.top + 12,
                }),
            ),
            axes({
                ticksX,
                ticksY,
                px,
                py,
                left: margin.left,
                right,
                top: margin.top,
                bottom,
                width,
                height,
                spec,
                grid,
            }),
            inside,
            grid ? colourBar(grid, right, margin.top, bottom) : null,
            front,
        ),
    );

    return {
        nodes,
        marks,
        nearest(x, y) {
            let best = -1, least = 40 * 40;
            marks.forEach((m, i) => {
                const d = (m.x - x) ** 2 + (m.y - y) ** 2;
                if (d < least) [best, least] = [i, d];
            });
            return best;
        },
        mark(i) {
            ring.setAttribute("visibility", i < 0 ? "hidden" : "visible");
            if (i < 0) return;
            ring.setAttribute("cx", marks[i].x);
            ring.setAttribute("cy", marks[i].y);
        },
    };
}

function axes({ ticksX, ticksY, px, py, left, right, top, bottom, width, height, spec, grid }) {
    const g = s("g", { class: "axes" });
    for (const t of ticksX) {
        const x = px(t.at);
        if (t.text && !grid) {
            g.append(s("line", { class: "gridline", x1: x, x2: x, y1: top, y2: bottom }));
        }
        g.append(
            s("line", { class: "tick", x1: x, x2: x, y1: bottom, y2: bottom + (t.text ? 5 : 3) }),
        );
        // the last text must not leave the picture
        if (t.text) {
            g.append(
                s("text", {
                    class: "tick-text",
                    x: Math.min(x, width - t.text.length * 3.4),
                    y: bottom + 19,
                    "text-anchor": "middle",
                }, t.text),
            );
        }
    }
    for (const t of ticksY) {
        const y = py(t.at);
        if (t.text && !grid) {
            g.append(s("line", { class: "gridline", x1: left, x2: right, y1: y, y2: y }));
        }
        g.append(s("line", { class: "tick", x1: left - (t.text ? 5 : 3), x2: left, y1: y, y2: y }));
        if (t.text) {
            g.append(
                s(
                    "text",
                    { class: "tick-text", x: left - 8, y: y + 4, "text-anchor": "end" },
                    t.text,
                ),
            );
        }
    }
    g.append(
        s("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }),
        s("line", { class: "axis", x1: left, x2: left, y1: top, y2: bottom }),
        s("text", {
            class: "axis-text",
            x: (left + right) / 2,
            y: height - 7,
            "text-anchor": "middle",
        }, fitText(spec.x.label, right - left)),
        s("text", {
            class: "axis-text",
            transform: `translate(13 ${(top + bottom) / 2}) rotate(-90)`,
            "text-anchor": "middle",
        }, fitText(spec.y.label, bottom - top)),
    );
    return g;
}

const fitText = (
    text,
    room,
) => (text.length * 7 <= room ? text : text.slice(0, Math.max(3, Math.floor(room / 7) - 1)) + "…");

const DRAW = {
    points({ layer, spec, px, py, marks, inside }) {
        const r = layer.radius ?? (layer.x.length > 400 ? 2 : layer.x.length > 120 ? 2.8 : 3.6);
        layer.x.forEach((v, i) => {
            const x = px(v), y = py(layer.y[i]);
            if (Number.isNaN(x) || Number.isNaN(y)) return;
            const chosen = layer.chosen === i;
            const dot = s("circle", {
                class: `dot tone-${layer.tone ?? "data"}${chosen ? " chosen" : ""}`,
                cx: x.toFixed(1),
                cy: y.toFixed(1),
                r: chosen ? r + 2 : r,
            });
            // a measured value on a heat map: a light and a dark ring, for any ground
            if (layer.fill) {
                dot.setAttribute("fill", layer.fill[i]);
                inside.append(
                    s("circle", { class: "halo", cx: x.toFixed(1), cy: y.toFixed(1), r: r + 1.2 }),
                );
            }
            inside.append(dot);
            marks.push({ x, y, index: i, layer, text: readText(spec, layer, i) });
        });
    },
    line({ layer, px, py, inside }) {
        inside.append(
            s("path", {
                class: `curve tone-${layer.tone ?? "fit"}${layer.faint ? " faint" : ""}`,
                d: path(layer, px, py),
            }),
        );
        if (layer.read) DRAW.points.readOnly(...arguments);
    },
    steps({ layer, px, py, inside }) {
        let d = "", before = NaN;
        layer.x.forEach((v, i) => {
            const x = px(v), y = py(layer.y[i]);
            if (Number.isNaN(x) || Number.isNaN(y)) return;
            d += d ? `H${x.toFixed(1)}V${y.toFixed(1)}` : `M${x.toFixed(1)} ${y.toFixed(1)}`;
            before = y;
        });
        if (!Number.isNaN(before)) {
            inside.append(s("path", { class: `curve tone-${layer.tone ?? "dim"}`, d }));
        }
    },
    rule({ layer, py, inside, left, right }) {
        const y = py(layer.y[0]);
        inside.append(
            s("line", {
                class: `rule tone-${layer.tone ?? "dim"}`,
                x1: left,
                x2: right,
                y1: y,
                y2: y,
            }),
        );
    },
    grid() {}, // is the canvas behind the axes
};

// Marks of a line that can be read but are not drawn.
DRAW.points.readOnly = ({ layer, spec, px, py, marks }) =>
    layer.x.forEach((v, i) => {
        const x = px(v), y = py(layer.y[i]);
        if (!Number.isNaN(x) && !Number.isNaN(y)) {
            marks.push({ x, y, index: i, layer, text: readText(spec, layer, i) });
        }
    });

// A line is broken where the formula is undefined.
function path(layer, px, py) {
    let d = "", pen = false;
    layer.x.forEach((v, i) => {
        const x = px(v), y = py(layer.y[i]);
        if (Number.isNaN(x) || Number.isNaN(y)) {
            pen = false;
            return;
        }
        d += `${pen ? "L" : "M"}${x.toFixed(1)} ${Math.max(-1e4, Math.min(1e4, y)).toFixed(1)}`;
        pen = true;
    });
    return d;
}

function readText(spec, layer, i) {
    if (layer.text) return layer.text(i);
    const name = layer.name ? layer.name + ": " : "";
    return `${name}${spec.x.label} ${number(layer.x[i])}, ${spec.y.label} ${number(layer.y[i])}`;
}

// ---------------------------------------------------------------- heat maps

const edges = (
    v,
) => (v.length > 1 && v[v.length - 1] > v[0] ? [v[0], v[v.length - 1]] : range(v, false, 0.05));

function heatCanvas(grid, { left, top, right, bottom, width }) {
    const canvas = h("canvas", {
        class: "heat",
        width: right - left,
        height: bottom - top,
        "aria-hidden": "true",
    });
    // by the object model: style attributes are refused by the page's content policy
    canvas.style.left = left / width * 100 + "%";
    canvas.style.top = top + "px";
    const c = canvas.getContext("2d"), n = grid.x.length, m = grid.y.length;
    const w = canvas.width / Math.max(1, n - 1),
        v = canvas.height / Math.max(1, m - 1),
        colour = ramp(grid.low, grid.high);
    grid.z.forEach((row, j) =>
        row.forEach((z, i) => {
            if (!real(z)) return;
            c.fillStyle = colour(z);
            c.fillRect(
                Math.floor((i - 0.5) * w),
                Math.floor(canvas.height - (j + 0.5) * v),
                Math.ceil(w) + 1,
                Math.ceil(v) + 1,
            );
        })
    );
    return canvas;
}

function colourBar(grid, right, top, bottom) {
    const g = s("g", { class: "axes" }), colour = ramp(grid.low, grid.high), n = 40, x = right + 12;
    for (let k = 0; k < n; k++) {
        const y = bottom - (bottom - top) * (k + 1) / n;
        g.append(
            s("rect", {
                x,
                y,
                width: 10,
                height: (bottom - top) / n + 0.7,
                fill: colour(grid.low + (grid.high - grid.low) * (k + 0.5) / n),
            }),
        );
    }
    const py = scale([grid.low, grid.high], false, bottom, top);
    for (const t of linearTicks(grid.low, grid.high, 5)) {
        g.append(s("text", { class: "tick-text", x: x + 14, y: py(t.at) + 4 }, t.text));
    }
    return g;
}

// ---------------------------------------------------------------- the table below

function dataTable(spec) {
    const body = scroller("");
    const details = h(
        "details",
        { class: "figure-data" },
        h("summary", {}, "Data of the figure"),
        body,
    );
    let fresh = false;
    const build = () => {
        if (!details.open || fresh) return;
        fresh = true;
        body.setAttribute("aria-label", `Data of ${spec().title}`);
        const { x, y, layers } = spec();
        body.replaceChildren(
            ...layers.filter((l) => l.kind === "points" || l.kind === "line").map((l) =>
                tableOf(l.name ?? "", [x.label, y.label, ...Object.keys(l.more ?? {})], [
                    l.x,
                    l.y,
                    ...Object.values(l.more ?? {}),
                ])
            ),
        );
    };
    details.addEventListener("toggle", build);
    details.stale = () => {
        fresh = false;
        build();
    };
    return details;
}

function tableOf(name, heads, columns) {
    const n = columns[0].length, shown = Math.min(n, TABLE_ROWS);
    const rows = Array.from(
        { length: shown },
        (_, i) =>
            h(
                "tr",
                {},
                columns.map((c) =>
                    h(
                        "td",
                        { class: "n" },
                        typeof c[i] === "number" || c[i] === null ? number(c[i], 6) : String(c[i]),
                    )
                ),
            ),
    );
    const caption = n > shown ? `${name}: ${whole(shown)} of ${whole(n)}` : name;
    return table(heads.map((t) => [t, "n"]), rows, caption);
}
