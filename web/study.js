// study - a study folder as it grows: its runs, their loss curves, the laws as they form, the
// report.
import * as api from "./api.js";
import { announce, byId, errorBox, h, scroller, table } from "./dom.js";
import { number, plural, seconds, whole } from "./format.js";
import { plot } from "./plot.js";

const CURVES = 120; // runs whose curves are fetched
const BINS = 60; // points of a curve, evenly spaced in the logarithm of compute
const FETCH_MS = 3000; // a running curve is fetched again after this
const DRAW_MS = 500; // between drawings while curves are fetched

export function start(info) {
    const body = byId("study-body");
    if (!info.study) {
        body.replaceChildren(howTo());
        return;
    }
    byId("study-title").textContent = `Study: ${info.study.name}`;
    const view = viewOf();
    body.replaceChildren(view.element);
    api.study().then(view.update, (error) => body.prepend(errorBox(error)));
    api.studyEvents(
        { study: view.update },
        () => announce("The connection to the server was lost."),
    );
}

function howTo() {
    return h(
        "div",
        { class: "card" },
        h(
            "p",
            {},
            "This server was started without a study. A study trains models of several sizes " +
                "and fits laws to what they reach; this page shows it while it runs.",
        ),
        h("p", {}, "Start one, about a minute long, and a server that watches its folder:"),
        h(
            "pre",
            { class: "command", tabindex: "0", role: "region", "aria-label": "Commands" },
            "symlaw study run studies/quick.json &\nsymlaw serve --study runs/quick --open",
        ),
        h("p", { class: "dim" }, "The folder of any study will do, running or finished."),
    );
}

function viewOf() {
    const state = h("div", { class: "card", id: "study-state" }),
        laws = h("section", {
            class: "card",
            id: "laws",
            "aria-labelledby": "laws-title",
            hidden: true,
        });
    const curves = curvesOf(),
        runs = h("section", { class: "card runs", id: "runs", "aria-labelledby": "runs-title" }),
        report = reportOf();
    let said = -1;
    return {
        element: h("div", { class: "stack" }, state, laws, curves.element, runs, report.element),
        update(study) {
            const done = study.finished;
            state.replaceChildren(...stateOf(study, done));
            showLaws(laws, study);
            curves.update(study.runs);
            showRuns(runs, study.runs);
            report.update(study);
            if (done !== said && said >= 0) {
                announce(`${plural(done, "run")} of ${study.planned} finished`);
            }
            said = done;
        },
    };
}

function stateOf(study, done) {
    const bar = h("div", { class: "bar", "aria-hidden": "true" }, h("div"));
    bar.firstElementChild.style.width = 100 * study.flops_done / (study.flops || 1) + "%";
    const doing = study.complete
        ? "complete"
        : study.active
        ? `${whole(study.active)} running`
        : "no worker is running";
    const left = study.complete || !(study.seconds_left > 0)
        ? ""
        : ` · about ${seconds(study.seconds_left)} left`;
    const failed = study.failed ? ` · ${whole(study.failed)} failed` : "";
    return [
        h(
            "p",
            { class: "outcome" },
            h("strong", {}, `${whole(done)} of ${plural(study.planned, "run")} finished`),
            ` · ${doing}${left}${failed}`,
        ),
        bar,
    ];
}

// ---------------------------------------------------------------- runs

function showRuns(holder, runs) {
    const n = (v, digits) => h("td", { class: "n" }, number(v, digits));
    const under = (r) => r.state !== "done" && r.flops_done > 0;
    const row = (r) =>
        h(
            "tr",
            {},
            h("th", { scope: "row" }, r.id),
            h("td", {}, r.size),
            h("td", {}, r.phase),
            h("td", { title: r.error }, r.state, under(r) && meter(r.flops_done / r.flops)),
            n(r.batch, 6),
            n(r.lr, 4),
            h("td", { class: "n" }, steps(r)),
            n(r.flops, 3),
            n(r.loss_valid, 4),
            h("td", { class: "n" }, r.seconds > 0 ? seconds(r.seconds) : "–"),
        );
    const heads = ["run", "size", "phase", "state"];
    const numbers = ["batch size", "learning rate", "step", "FLOPs", "validation loss", "time"]
        .map((t) => [t, "n"]);
    const scroll = holder.querySelector(".scroll")?.scrollTop ?? 0;
    holder.replaceChildren(
        h("h2", { id: "runs-title" }, "Runs"),
        scroller("Runs of the study", table([...heads, ...numbers], runs.map(row))),
    );
    holder.querySelector(".scroll").scrollTop = scroll;
}

function steps(run) {
    if (run.steps === null) return "–";
    return run.step < run.steps ? `${whole(run.step)} of ${whole(run.steps)}` : whole(run.steps);
}

function meter(part) {
    const bar = h("span", {
        class: "meter",
        role: "img",
        "aria-label": `${Math.round(100 * part) || 0} percent`,
    }, h("span"));
    bar.firstElementChild.style.width = Math.min(100, 100 * part || 0) + "%";
    return h("span", {}, " ", bar);
}

// ---------------------------------------------------------------- loss curves

function curvesOf() {
    const figure = plot(spec([]));
    const element = h(
        "section",
        { class: "card", id: "curves", "aria-label": "Loss curves" },
        figure.element,
    );
    const known = new Map(); // by run: { done, at, curve }
    let busy = false;

    const draw = () => figure.update(spec(Array.from(known, ([name, k]) => ({ name, ...k }))));

    async function fetchAll(runs) {
        if (busy) return;
        busy = true;
        let drawn = 0;
        for (const run of runs.slice(0, CURVES)) {
            const name = run.id, old = known.get(name), now = performance.now();
            if (!(run.flops_done > 0)) continue;
            if (old && (old.final || now - old.at < FETCH_MS || old.done === run.flops_done)) {
                continue;
            }
            try {
                const { curve } = await api.studyRun(name);
                known.set(name, {
                    at: now,
                    done: run.flops_done,
                    final: run.state === "done",
                    size: run.size,
                    curve: binned(curve),
                });
            } catch {
                known.set(name, {
                    at: now,
                    done: run.flops_done,
                    final: false,
                    size: run.size,
                    curve: { x: [], y: [] },
                }); // has no log yet
            }
            if (performance.now() - drawn > DRAW_MS) {
                drawn = performance.now();
                draw();
            }
        }
        busy = false;
        draw();
    }
    return { element, update: fetchAll };
}

function spec(curves) {
    const sizes = [...new Set(curves.map((c) => c.size))], seen = new Set();
    return {
        title: "Training loss against compute",
        height: 360,
        onlyLines: true,
        x: { label: "training compute (FLOPs)", log: true },
        y: { label: "loss", log: true },
        caption: curves.length
            ? "One line a run, coloured by size; means over even pieces of log compute."
            : "No run has begun.",
        layers: curves.filter((c) => c.curve.x.length).map((c) => {
            const first = !seen.has(c.size);
            seen.add(c.size);
            return {
                kind: "line",
                read: true,
                tone: "s" + sizes.indexOf(c.size) % 6,
                name: c.size,
                legend: first,
                faint: c.final,
                ...c.curve,
                text: (i) =>
                    `${c.name}: ${number(c.curve.x[i], 3)} FLOPs, loss ${number(c.curve.y[i], 4)}`,
            };
        }),
    };
}

// Means of the loss in pieces of log(FLOPs): a curve of thousands of noisy steps becomes readable.
function binned(curve) {
    const rows = curve.filter((c) => c.flops > 0 && c.loss > 0);
    if (rows.length <= 2) return { x: rows.map((c) => c.flops), y: rows.map((c) => c.loss) };
    const low = Math.log(rows[0].flops),
        width = (Math.log(rows[rows.length - 1].flops) - low) / BINS || 1,
        sums = new Map();
    for (const { flops, loss } of rows) {
        const k = Math.min(BINS - 1, Math.floor((Math.log(flops) - low) / width)),
            s = sums.get(k) ?? { x: 0, y: 0, n: 0 };
        sums.set(k, { x: s.x + flops, y: s.y + loss, n: s.n + 1 });
    }
    const kept = [...sums].sort((a, b) => a[0] - b[0]).map(([, s]) => s);
    return { x: kept.map((s) => s.x / s.n), y: kept.map((s) => s.y / s.n) };
}

// ---------------------------------------------------------------- laws

const METRICS = [["loss", "exponent of the loss", "loss"], [
    "solved",
    "exponent of 1 − solved",
    "1 − solved",
], ["r2", "exponent of 1 − R² rate", "1 − R² rate"]];

function showLaws(holder, { laws, preliminary }) {
    const known = METRICS.filter(([key]) => laws?.[key]?.known);
    const of = preliminary && `preliminary, ${preliminary.runs} of ${preliminary.of} runs`;
    holder.hidden = known.length === 0 && !preliminary;
    if (holder.hidden) return;
    const title = h("h2", { id: "laws-title" }, preliminary ? `Laws: ${of}` : "Laws");
    if (!known.length) {
        holder.replaceChildren(
            title,
            h("p", {}, "None yet: laws need finished runs of several sizes and lengths."),
        );
        return;
    }
    const facts = known.map(([key, name]) => fact(name, estimate(laws[key].exponent, -1)));
    const target = laws.solved?.compute_for_target;
    if (target?.value) {
        facts.push(
            fact(`FLOPs for ${100 * target.target} % solved`, [
                number(target.value, 2),
                h("small", {}, interval(target)),
                target.extrapolation > 1
                    ? h(
                        "small",
                        { class: "bad" },
                        `extrapolated to ${
                            number(target.extrapolation, 2)
                        } times the largest compute`,
                    )
                    : null,
            ]),
        );
    }
    if (laws.optimal?.params?.known) {
        facts.push(fact("best N grows as C to the", estimate(laws.optimal.params.exponent, 1)));
    }
    if (laws.optimal?.tokens?.known) {
        facts.push(fact("best D grows as C to the", estimate(laws.optimal.tokens.exponent, 1)));
    }
    holder.replaceChildren(
        title,
        h(
            "p",
            { class: "dim", hidden: !preliminary },
            "Fitted to the runs that have finished; further runs will change them.",
        ),
        h("dl", { class: "facts" }, facts),
        h("div", { class: "laws-figure" }, lawFigure(laws, of)),
    );
}

const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
const interval = (
    e,
) => (e.low !== null && e.high !== null ? `${number(e.low, 2)} to ${number(e.high, 2)}` : "");

// Exponents of laws are stored as those of C^-exponent; `sign` is that of the power that is shown.
function estimate(e, sign) {
    const [low, high] = sign < 0 ? [-e.high, -e.low] : [e.low, e.high];
    return [
        number(sign * e.value, 3),
        h(
            "small",
            {},
            e.low !== null && e.high !== null ? `${number(low, 3)} to ${number(high, 3)}` : "",
        ),
    ];
}

function lawFigure(laws, of) {
    const points = laws.frontier ?? [],
        x = points.map((p) => p.flops),
        { coefficient, exponent } = laws.loss;
    const at = x.length
        ? Array.from(
            { length: 40 },
            (_, i) => Math.min(...x) * (Math.max(...x) / Math.min(...x)) ** (i / 39),
        )
        : [];
    return plot({
        title: "Validation loss of the frontier" + (of ? ` (${of})` : ""),
        height: 280,
        x: { label: "training compute (FLOPs)", log: true },
        y: { label: "validation loss", log: true },
        layers: [
            {
                kind: "line",
                name: "power law",
                tone: "fit",
                x: at,
                y: at.map((c) => coefficient.value * c ** -exponent.value),
            },
            {
                kind: "points",
                name: "best runs",
                tone: "data",
                radius: 5,
                x,
                y: points.map((p) => p.loss),
                more: { size: points.map((p) => p.size) },
                text: (i) =>
                    `${points[i].size}: ${number(x[i], 3)} FLOPs, loss ${
                        number(points[i].loss, 4)
                    }`,
            },
        ],
    }).element;
}

// ---------------------------------------------------------------- the report

function reportOf() {
    const element = h("section", { id: "report", "aria-labelledby": "report-title", hidden: true });
    let shown = null;
    return {
        element,
        update(study) {
            // loaded when there is one, and once more at the end: a reload would scroll it to its top
            const key = study.report ? String(study.complete) : null;
            if (key === shown) return;
            shown = key;
            element.hidden = !key;
            if (!key) return;
            element.replaceChildren(
                h("h2", { id: "report-title" }, "Report"),
                h(
                    "p",
                    {},
                    h(
                        "a",
                        { href: api.reportUrl, target: "_blank", rel: "noopener" },
                        "Open it in a tab of its own",
                    ),
                ),
                h("iframe", {
                    class: "report-frame",
                    src: api.reportUrl,
                    title: "Report of the study",
                    loading: "lazy",
                    sandbox: "allow-scripts allow-popups",
                }),
            );
        },
    };
}
