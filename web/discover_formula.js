// discover_formula - one formula as a card: verdict, typeset, to copy, its figures, its constants.
import * as api from "./api.js";
import { copyText, download, errorBox, h, scroller, table } from "./dom.js";
import { number, share, unitText, whole, withError } from "./format.js";
import { typeset } from "./mathml.js";

const FORMATS = {
    latex: "LaTeX",
    python: "Python",
    numpy: "NumPy",
    sympy: "SymPy",
    c: "C",
    julia: "Julia",
    excel: "Spreadsheet",
    infix: "Text",
    mathml: "MathML",
    json: "JSON",
};

const LONG = 48; // letters above which a formula is set smaller

// Bits of the formula and of the data by it; infinite where the ranking is not by bits.
export const bitsOf = (c) => (typeof c.bits === "number" ? c.bits : c.bits?.total ?? Infinity);

// The text that people read. What a search has found so far comes with all digits; these are cut.
export const textOf = (c) => c.short ?? roughly(c.formula);

export const mathOf = (c) => (c.short || !c.mathml ? c.mathml : roughly(c.mathml));

const roughly = (text) =>
    text.replace(/\d+\.\d{4,}/g, (number) => String(Number(Number(number).toPrecision(5))));

// "target = formula", large; what is wider than the card scrolls.
export function bigFormula(c, target) {
    const text = textOf(c);
    return h("div", {
        class: "formula" + (text.length > LONG ? " long" : ""),
        tabindex: "0",
        role: "group",
        "aria-label": "Formula, typeset",
    }, typeset(mathOf(c), text, { target, display: true }));
}

// The whole card of a search that has ended. run: { job, data, options, result, best }
export function formulaParts(c, details, run) {
    const target = run.options.target, shown = { ...details, ...c };
    return [
        verdictOf(c === run.best, run.result),
        bigFormula(shown, target),
        h("p", { class: "formula-text" }, h("code", {}, `${target} = ${textOf(shown)}`)),
        ...copyBar(details.formats ?? {}),
        factsOf(c, run.result),
        constantsOf(c.constants ?? []),
        downloads(shown, run),
    ].filter(Boolean);
}

// The words of the command line.
function verdictOf(best, result) {
    if (!best) return h("p", { class: "verdict" }, "Another formula of the front");
    if (result.within_noise) return h("p", { class: "verdict good" }, "Within the noise");
    return h("p", { class: "verdict weak" }, "No formula within the noise; best approximation");
}

function factsOf(c, result) {
    const fact = (name, value, small) =>
        h("div", {}, h("dt", {}, name), h("dd", {}, value, small ? h("small", {}, small) : null));
    const how = [
        c.source === "search" && c.method,
        c.status === "snapped" && "constants made exact",
    ].filter(Boolean).join("; ");
    const bits = bitsOf(c);
    return h(
        "dl",
        { class: "facts" },
        fact("error", number(c.rms, 3), "root mean square"),
        fact("R²", share(c.r2), "of the fitted rows"),
        typeof c.r2_holdout === "number" &&
            fact("held-out R²", share(c.r2_holdout), `${whole(result.counts.rows_held)} rows`),
        fact("size", whole(c.size), Number.isFinite(bits) ? `nodes; ${whole(bits)} bits` : "nodes"),
        c.evidence >= 0 && fact(
            "by chance",
            ["1 in 2", h("sup", {}, whole(Math.floor(c.evidence)))],
            "for data without a law",
        ),
        c.source && fact("found by", c.source, how),
    );
}

function constantsOf(constants) {
    if (!constants.length) return null;
    const units = constants.some((k) => k.unit);
    const row = (k) =>
        h(
            "tr",
            {},
            h("td", {}, withError(k.value, k.error)),
            units && h("td", {}, unitText(k.unit ?? "")),
        );
    const heads = ["value ± standard error", ...(units ? ["unit"] : [])];
    return h(
        "details",
        { class: "constants", open: constants.length <= 6 },
        h("summary", {}, "Fitted constants"),
        scroller("Fitted constants", table(heads, constants.map(row))),
    );
}

function copyBar(formats) {
    const shown = h("pre", {
        class: "copied",
        tabindex: "0",
        role: "region",
        hidden: true,
        "aria-label": "What was copied",
    });
    const said = h("span", { class: "dim", role: "status" });
    async function copy(name, value) {
        const text = typeof value === "string" ? value : JSON.stringify(value);
        const done = await copyText(text);
        shown.textContent = text;
        shown.hidden = false;
        said.textContent = done ? `${name} copied` : `Select the ${name} text below to copy it`;
    }
    const buttons = Object.entries(FORMATS).filter(([key]) => formats[key]).map(([key, name]) =>
        h("button", {
            type: "button",
            class: "small",
            "data-copy": key,
            onclick: () => copy(name, formats[key]),
        }, name)
    );
    const label = h("span", { class: "label" }, "Copy as");
    return [
        h(
            "div",
            { class: "copy", role: "group", "aria-label": "Copy the formula" },
            label,
            buttons,
            said,
        ),
        shown,
    ];
}

// The server evaluates the formula for every row of the table, as symlaw discover --fitted does.
function downloads(c, { data, options, result }) {
    const stem = data.name.replace(/\.\w+$/, "").replace(/\W+/g, "_").toLowerCase();
    const button = (id, text, onclick) =>
        h("button", { type: "button", class: "link", id, onclick }, text);
    const save = () =>
        download(`${stem}.json`, JSON.stringify(result, null, 1), "application/json");
    const rows = button("save-rows", "the table with predictions and residuals", async () => {
        rows.disabled = true;
        try {
            const reading = { ...data.reading, target: options.target };
            const csv = await api.fitted(data.text, withColumn(c.formula, c.rows.names), reading);
            download(`${stem}_fitted.csv`, csv, "text/csv");
        } catch (error) {
            line.after(errorBox(error));
        }
        rows.disabled = false;
    });
    const line = h(
        "p",
        { class: "downloads" },
        "Download: ",
        rows,
        " · ",
        button("save-result", "the result as JSON", save),
    );
    return line;
}

// A formula that the server takes has a column in it; a number alone has none.
function withColumn(formula, names) {
    return Number.isNaN(Number(formula)) || names.length === 0
        ? formula
        : `${formula} + 0*\`${names[0].replaceAll("`", "``")}\``;
}
