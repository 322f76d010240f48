// discover_answer - a search under way and what it found: progress, notes, formula, front, figures.
import * as api from "./api.js";
import { announce, errorBox, h, s } from "./dom.js";
import { seconds, whole } from "./format.js";
import { notesOf } from "./discover_data.js";
import { figuresOf } from "./discover_figures.js";
import { bigFormula, bitsOf, formulaParts, textOf } from "./discover_formula.js";
import { frontCard } from "./discover_front.js";
import { notesFrom } from "./discover_notes.js";

export function startAnswer(root) {
    const title = root.firstElementChild;
    let busyChanged = () => {}, run = null;

    const clear = () => {
        run?.leave();
        run = null;
        busyChanged(false);
    };

    return {
        onBusy(f) {
            busyChanged = f;
        },
        // Nothing is searched yet; `data` is the table, or null.
        reset(data) {
            clear();
            root.replaceChildren(title, emptyCard(data));
        },
        run(data, options) {
            clear();
            run = new Run(data, options, busyChanged);
            root.replaceChildren(title, run.element);
            run.begin();
        },
    };
}

const SKETCH = [[18, 100], [38, 92], [60, 88], [84, 70], [104, 64], [128, 44], [150, 38], [
    176,
    20,
]];

function emptyCard(data) {
    const dot = ([x, y]) => s("circle", { class: "dot tone-data", cx: x, cy: y, r: 4 });
    const text = data
        ? "Choose the target and its inputs, then find the formula."
        : "Paste a table or take an example to begin.";
    return h(
        "div",
        { class: "card empty" },
        s(
            "svg",
            { class: "sketch", viewBox: "0 0 200 120", "aria-hidden": "true" },
            s("path", { class: "curve", d: "M12 104C70 94 120 60 186 12" }),
            SKETCH.map(dot),
        ),
        h("p", {}, text),
    );
}

const bySize = (front) => [...front].sort((a, b) => a.size - b.size);

// One search, from its start to the figures of what it found.
class Run {
    constructor(data, options, busyChanged) {
        this.data = data;
        this.options = options;
        this.busyChanged = busyChanged;
        this.front = [];
        this.notes = [...(data.table.notes ?? [])];
        this.status = h("p", {}, "Starting");
        this.bar = h("div", { class: "bar unknown", "aria-hidden": "true" }, h("div"));
        this.stop = h(
            "button",
            { type: "button", id: "stop", onclick: () => this.cancel() },
            "Stop",
        );
        this.statusCard = h(
            "div",
            { class: "card", id: "status", tabindex: "-1" },
            h("div", { class: "status" }, this.status, this.stop),
            this.bar,
        );
        this.noteBox = h("div", {});
        const hero = { class: "card", id: "formula-card", tabindex: "-1", "aria-label": "Formula" };
        this.hero = h("section", { ...hero, hidden: true });
        this.frontCard = frontCard((c) => this.pick(c));
        this.figures = h("div", { class: "stack", id: "figures" });
        this.residuals = h("div", { class: "stack", id: "residuals" });
        // notes stand before the formula: a dropped column changes what it means
        const parts = [
            this.statusCard,
            this.noteBox,
            this.hero,
            this.figures,
            this.frontCard.element, // what is picked here is drawn just above
            this.residuals,
        ];
        this.element = h("div", { class: "stack" }, parts);
        this.showNotes();
    }

    async begin() {
        this.busyChanged(true);
        this.began = performance.now();
        // the button that was pressed is disabled now; the keyboard goes on from here
        this.statusCard.focus({ preventScroll: true });
        const { top } = this.statusCard.getBoundingClientRect();
        if (top < 0 || top > innerHeight * 0.7) this.statusCard.scrollIntoView({ block: "start" });
        announce("The search has begun.");
        try {
            this.job = await api.discover(this.data.text, {
                ...this.data.reading,
                ...this.options,
            });
        } catch (error) {
            if (!this.left) this.fail(error);
            return;
        }
        if (this.left) {
            api.cancel(this.job).catch(() => {});
            return;
        }
        this.timer = setInterval(() => this.tick(), 200);
        this.source = api.jobEvents(this.job, {
            progress: (p) => this.takeProgress(p),
            note: (n) => this.takeNote(n.text),
            front: (f) => this.takeFront(f.front),
            result: (r) => (this.result = r),
            error: (e) => (this.error = e),
            end: (e) => this.end(e.state),
        }, () => this.fail(api.lost()));
    }

    // Another search or table takes its place: nothing of this one is shown any more.
    leave() {
        this.left = true;
        this.source?.close();
        clearInterval(this.timer);
        if (this.job && !this.ended) api.cancel(this.job).catch(() => {});
    }

    async cancel() {
        this.stop.disabled = true;
        this.status.textContent = "Stopping";
        try {
            if (this.job) await api.cancel(this.job);
        } catch (error) {
            this.fail(error);
        }
    }

    fail(error) {
        this.finish();
        this.statusCard.replaceChildren(errorBox(error));
    }

    finish() {
        this.ended = true;
        this.source?.close();
        clearInterval(this.timer);
        this.busyChanged(false);
    }

    // ---------------------------------------------------------------- while it runs

    tick() {
        if (this.stop.disabled) return;
        const time = seconds((performance.now() - this.began) / 1000);
        this.status.textContent = `${this.doing ?? "Searching"} · ${time}`;
    }

    takeProgress({ text, done, total }) {
        this.doing = text ? text.charAt(0).toUpperCase() + text.slice(1) : "Searching";
        const known = total > 0 && done <= total;
        this.bar.classList.toggle("unknown", !known);
        this.bar.firstElementChild.style.width = known ? 100 * done / total + "%" : "";
        this.tick();
    }

    takeNote(text) {
        if (this.notes.includes(text)) return;
        this.notes.push(text);
        this.showNotes();
    }

    showNotes() {
        const list = notesOf(this.notes);
        this.noteBox.replaceChildren(...(list ? [list] : []));
        this.noteBox.hidden = !list;
    }

    takeFront(front) {
        this.front = bySize(front);
        const least = (a, b) => (bitsOf(b) < bitsOf(a) ? b : a);
        const best = this.front.reduce(least, this.front[0]);
        if (best && best.formula !== this.best?.formula) announce(`Best so far: ${textOf(best)}`);
        this.best = best;
        // what was picked stays, as long as it is on the front
        this.showInterim(this.front.find((c) => c.formula === this.picked) ?? best);
    }

    showInterim(c) {
        this.shown = c;
        this.frontCard.show(this.front, this.shown, this.best);
        if (!c) return;
        const verdict = c === this.best ? "Best so far" : "Of the front so far";
        this.hero.hidden = false;
        this.hero.replaceChildren(
            h("p", { class: "verdict" }, verdict),
            bigFormula(c, this.options.target),
        );
    }

    // ---------------------------------------------------------------- what was found

    end(state) {
        this.finish();
        if (state === "failed" || !this.result?.formula) {
            this.fail(failure(state, this.error));
            return;
        }
        const r = this.result;
        for (const text of notesFrom(r)) this.takeNote(text);
        this.front = bySize(r.front);
        this.best = this.front.find((c) => c.place === 1) ?? this.front[0];
        const cuts = { time: "Stopped by the time limit", cancel: "Stopped on request" };
        const end = r.cut ? `${cuts[r.cut] ?? "Stopped"}: the best so far` : "Done";
        if (this.statusCard.contains(document.activeElement)) {
            this.hero.hidden = false;
            this.hero.focus({ preventScroll: true }); // "Stop" goes
        }
        this.statusCard.replaceChildren(
            h("p", { class: "outcome" }, [end, seconds(r.seconds), ...workOf(r)].join(" · ")),
        );
        this.pick(this.best);
    }

    async pick(c) {
        this.picked = c.formula;
        if (!this.ended) {
            this.showInterim(c);
            return;
        }
        this.shown = c;
        this.frontCard.show(this.front, c, this.best);
        let details;
        try {
            details = await api.candidate(this.job, c.place);
        } catch (error) {
            this.figures.replaceChildren(errorBox(error));
            return;
        }
        if (this.shown !== c || this.left) return; // another one was picked meanwhile
        this.hero.hidden = false;
        this.hero.replaceChildren(...formulaParts(c, details, this));
        const { main, residuals } = figuresOf(details, this.data.table);
        this.figures.replaceChildren(main);
        this.residuals.replaceChildren(residuals);
        announce(`Shown: ${this.options.target} = ${textOf(c)}`);
    }
}

function failure(state, error) {
    if (error) return new api.ApiError(error.status, error.text, error.remedy);
    return state === "cancelled"
        ? new api.ApiError(0, "Stopped before a formula was found.", "Give it more time.")
        : new api.ApiError(0, "No formula was found.", "Choose other inputs.");
}

// What was done, in a few words.
function workOf(r) {
    return [
        r.data?.rows && `${whole(r.data.rows)} rows`,
        r.search?.tried && `${whole(r.search.tried)} terms and pairs tried`,
        r.model_asked && "model sampled",
    ].filter(Boolean);
}
