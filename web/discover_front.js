// discover_front - the trade-off front: error against size, as a figure and as a table. A formula
// is picked in either.
import { h, scroller, table } from "./dom.js";
import { number, share, whole } from "./format.js";
import { typeset } from "./mathml.js";
import { plot } from "./plot.js";
import { bitsOf, mathOf, textOf } from "./discover_formula.js";

const LONG = 90; // letters above which a formula in the table is cut

export function frontCard(pick) {
    const figure = plot(specOf([], null, pick)), holder = h("div", { class: "front-table" });
    const element = h(
        "section",
        { class: "card", id: "front-card", "aria-labelledby": "front-title", hidden: true },
        h("h2", { id: "front-title" }, "The front: the best formula of each size"),
        h("div", { class: "front" }, figure.element, holder),
    );
    return {
        element,
        // front: rising sizes; shown: the one whose figures are on the page; best: the answer
        show(front, shown, best) {
            element.hidden = front.length === 0;
            figure.update(specOf(front, shown, pick));
            const focused = holder.contains(document.activeElement);
            holder.replaceChildren(tableOf(front, shown, best, pick));
            if (focused) holder.querySelector("[aria-pressed=true]")?.focus();
        },
    };
}

function specOf(front, shown, pick) {
    const least = Math.min(...front.map((c) => c.rms).filter((v) => v > 0));
    // a formula without any error has a place too
    const floor = Number.isFinite(least) ? least / 10 : 1e-16;
    const x = front.map((c) => c.size), y = front.map((c) => Math.max(c.rms, floor));
    const text = (i) => `size ${x[i]}, error ${number(front[i].rms, 3)}: ${textOf(front[i])}`;
    const chosen = front.indexOf(shown), more = { formula: front.map(textOf) };
    return {
        title: "Error against size",
        height: 250,
        x: { label: "size (nodes)" },
        y: { label: "error (rms)", log: true },
        layers: [
            { kind: "steps", tone: "dim", x, y },
            { kind: "points", tone: "front", radius: 5, x, y, chosen, more, text },
        ],
        onPick: (i) => pick(front[i]),
    };
}

function tableOf(front, shown, best, pick) {
    const held = front.some((c) => typeof c.r2_holdout === "number");
    const n = (text) => h("td", { class: "n" }, text);
    const button = (c) =>
        h(
            "button",
            { type: "button", class: "pick", "aria-pressed": String(c === shown) },
            small(c),
        );
    const row = (c) =>
        h(
            "tr",
            { "aria-current": c === shown ? "true" : null, onclick: () => pick(c) },
            n(c.size),
            n(number(c.rms, 3)),
            n(share(c.r2)),
            held && n(share(c.r2_holdout)),
            n(Number.isFinite(bitsOf(c)) ? whole(bitsOf(c)) : "–"),
            h("td", {}, button(c), c === best && h("span", { class: "badge accent" }, "answer")),
        );
    const numbers = ["size", "error", "R²", held && "held-out R²", "bits"].filter(Boolean);
    const heads = [...numbers.map((t) => [t, "n"]), "formula"];
    return scroller("Formulas of the front", table(heads, front.map(row)));
}

function small(c) {
    const text = textOf(c);
    return text.length > LONG ? h("code", {}, text.slice(0, LONG) + "…") : typeset(mathOf(c), text);
}
