// plot3d - points and the formula's surface over two inputs, turned by dragging or by the arrow
// keys.
import { h } from "./dom.js";
import { number } from "./format.js";
import { ramp } from "./colour.js";

const TURN = Math.PI / 24; // per key

// spec: { title, names: [x1, x2, y], points: { x1, x2, y }, grid: { x1, x2, y } or null }
export function plot3d(spec) {
    const canvas = h("canvas", {
        class: "space",
        tabindex: "0",
        role: "application",
        "aria-roledescription": "figure",
        "aria-label":
            `${spec.title}. ${spec.names[2]} over ${spec.names[0]} and ${spec.names[1]}, ` +
            `${spec.points.y.length} points${
                spec.grid ? " and the surface of the formula" : ""
            }. Arrow keys turn it, plus and minus zoom.`,
    });
    const element = h(
        "figure",
        { class: "figure" },
        h("div", { class: "figure-head" }, h("h3", { class: "figure-title" }, spec.title)),
        h("div", { class: "plot" }, canvas),
        h("figcaption", {}, "Drag to turn it, or use the arrow keys; plus and minus zoom."),
    );
    const view = { yaw: -0.7, pitch: 0.42, zoom: 1 };
    const cube = unitCube(spec);
    let size = { width: 0, height: 0 }, frame = 0;

    const redraw = () => {
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(() => draw(canvas, size, view, cube, spec));
    };
    let held = null;
    canvas.addEventListener("pointerdown", (e) => {
        held = { x: e.clientX, y: e.clientY };
        canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
        if (!held) return;
        turn((e.clientX - held.x) * 0.01, (e.clientY - held.y) * 0.01);
        held = { x: e.clientX, y: e.clientY };
    });
    for (const end of ["pointerup", "pointercancel"]) {
        canvas.addEventListener(end, () => (held = null));
    }
    canvas.addEventListener("keydown", (e) => {
        const keys = {
            ArrowLeft: [-TURN, 0],
            ArrowRight: [TURN, 0],
            ArrowUp: [0, -TURN],
            ArrowDown: [0, TURN],
        };
        if (keys[e.key]) turn(...keys[e.key]);
        else if (e.key === "+" || e.key === "=") view.zoom = Math.min(2.5, view.zoom * 1.15);
        else if (e.key === "-") view.zoom = Math.max(0.5, view.zoom / 1.15);
        else return;
        redraw();
        e.preventDefault();
    });

    function turn(yaw, pitch) {
        view.yaw += yaw;
        view.pitch = Math.max(-1.5, Math.min(1.5, view.pitch + pitch));
        canvas.dataset.yaw = view.yaw.toFixed(3);
        redraw();
    }

    new ResizeObserver(([entry]) => {
        const width = Math.floor(entry.contentRect.width),
            height = Math.max(260, Math.min(420, width * 0.72));
        if (width < 60 || width === size.width) return;
        size = { width, height };
        canvas.width = width * devicePixelRatio;
        canvas.height = height * devicePixelRatio;
        canvas.style.height = height + "px";
        draw(canvas, size, view, cube, spec); // at once: setting the size has cleared it
    }).observe(element.querySelector(".plot"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    document.addEventListener("themechange", redraw);
    return { element };
}

const finite = (v) => typeof v === "number" && Number.isFinite(v);

// All coordinates in [-1, 1]. The window of y is that of the points, so a pole does not flatten
// them.
function unitCube({ points, grid }) {
    const bounds = (v) => {
        const f = v.filter(finite);
        let low = Infinity, high = -Infinity;
        for (const a of f) [low, high] = [Math.min(low, a), Math.max(high, a)];
        return low < high ? [low, high] : [(low || 0) - 1, (low || 0) + 1];
    };
    const [bx, by, bz] = [
        bounds([...points.x1, ...(grid?.x1 ?? [])]),
        bounds([...points.x2, ...(grid?.x2 ?? [])]),
        bounds(points.y),
    ];
    const to = ([low, high]) => (v) => 2 * (v - low) / (high - low) - 1;
    const [fx, fy, fz] = [to(bx), to(by), to(bz)];
    const dots = points.y.map((v, i) => ({ p: [fx(points.x1[i]), fy(points.x2[i]), fz(v)], v }))
        .filter((d) => d.p.every(finite));
    const faces = [];
    const skip = grid ? Math.max(1, Math.ceil(grid.x1.length / 30)) : 1;
    for (let j = 0; grid && j + skip < grid.x2.length; j += skip) {
        for (let i = 0; i + skip < grid.x1.length; i += skip) {
            const corners = [[i, j], [i + skip, j], [i + skip, j + skip], [i, j + skip]];
            const z = corners.map(([a, b]) => grid.y[b][a]);
            if (!z.every(finite) || z.some((v) => Math.abs(fz(v)) > 1.3)) continue;
            faces.push({
                p: corners.map(([a, b], k) => [fx(grid.x1[a]), fy(grid.x2[b]), fz(z[k])]),
                v: (z[0] + z[1] + z[2] + z[3]) / 4,
            });
        }
    }
    return { dots, faces, bounds: [bx, by, bz], colour: ramp(...bz) };
}

function draw(canvas, { width, height }, view, cube, spec) {
    if (!width) return;
    const style = getComputedStyle(document.documentElement), c = canvas.getContext("2d");
    const dim = style.getPropertyValue("--dim"),
        line = style.getPropertyValue("--line-strong"),
        back = style.getPropertyValue("--back");
    const accent = style.getPropertyValue("--data");
    c.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    c.clearRect(0, 0, width, height);
    const [cy, sy, cp, sp] = [
        Math.cos(view.yaw),
        Math.sin(view.yaw),
        Math.cos(view.pitch),
        Math.sin(view.pitch),
    ];
    const unit = Math.min(width * 0.27, height * 0.265) * view.zoom;
    // x right, y into the picture, z up; a mild perspective
    const project = ([x, y, z]) => {
        const a = x * cy - y * sy,
            b = x * sy + y * cy,
            depth = b * cp - z * sp,
            up = z * cp + b * sp;
        const near = 1 / (1 + depth * 0.12);
        return [width / 2 + a * unit * near, height * 0.47 - up * unit * near, depth];
    };
    const stroke = (a, b) => {
        const [p, q] = [project(a), project(b)];
        c.beginPath();
        c.moveTo(p[0], p[1]);
        c.lineTo(q[0], q[1]);
        c.stroke();
    };
    c.strokeStyle = line;
    c.lineWidth = 1;
    for (const u of [-1, 1]) {
        for (const v of [-1, 1]) {
            stroke([-1, u, v], [1, u, v]);
            stroke([u, -1, v], [u, 1, v]);
            stroke([u, v, -1], [u, v, 1]);
        }
    }
    // back to front
    const items = [
        ...cube.faces.map((f) => ({ f, q: f.p.map(project) })),
        ...cube.dots.map((d) => ({ d, q: [project(d.p)] })),
    ];
    for (const i of items) {
        i.depth = i.q.reduce((t, q) => t + q[2], 0) / i.q.length - (i.d ? 0.02 : 0);
    }
    items.sort((a, b) => b.depth - a.depth);
    for (const { f, q } of items) {
        c.beginPath();
        if (f) {
            q.forEach(([x, y], k) => (k ? c.lineTo(x, y) : c.moveTo(x, y)));
            c.closePath();
            c.globalAlpha = 0.72;
            c.fillStyle = cube.colour(f.v);
            c.fill();
            c.globalAlpha = 0.25;
            c.strokeStyle = back;
            c.stroke();
            c.globalAlpha = 1;
        } else {
            c.arc(q[0][0], q[0][1], 3.4, 0, 2 * Math.PI);
            c.fillStyle = accent;
            c.fill();
            c.strokeStyle = back;
            c.stroke();
        }
    }
    c.fillStyle = dim;
    c.font = "13px system-ui, sans-serif";
    c.textAlign = "center";
    const label = (p, text) => c.fillText(text, ...project(p).slice(0, 2));
    const [bx, by, bz] = cube.bounds;
    label([0, -1.35, -1.1], spec.names[0]);
    label([-1, -1.2, -1.15], number(bx[0], 3));
    label([1, -1.2, -1.15], number(bx[1], 3));
    label([1.4, 0, -1.1], spec.names[1]);
    label([1.25, -1, -1.05], number(by[0], 3));
    label([1.25, 1, -1.05], number(by[1], 3));
    label([-1.25, -1.1, 0], spec.names[2]);
    label([-1.2, -1.05, -0.95], number(bz[0], 3));
    label([-1.2, -1.05, 0.95], number(bz[1], 3));
}
