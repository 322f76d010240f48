// discover_search - what is searched for: target, inputs, options.
import { h } from "./dom.js";
import { READING } from "./discover_data.js";
import { field } from "./fields.js";

// Shown at once; every other option is under "More options". Target and inputs have controls of
// their own.
const FIRST = {
    effort: { label: "Effort", help: null },
    ops: {
        label: "Functions",
        help: "Sums, products and powers are always allowed.",
        words: [
            "exp",
            "log",
            "sqrt",
            "sin",
            "cos",
            "tan",
            "tanh",
            "sinh",
            "cosh",
            "asin",
            "acos",
            "atan",
            "abs",
        ],
    },
    "max-size": { label: "Largest size", help: "Nodes; 0 is any." },
    timeout: { label: "Time limit (s)", help: "0 is none." },
    holdout: { label: "Rows held out", help: "A share, 0 to 0.9." },
    sigma: { label: "Error of the target", help: "A value or a column." },
};
const OWN = new Set(["target", "inputs", "file", "json", "quiet"]);

export function startSearch(form, info, on) {
    const columns = form.querySelector("#columns"), button = form.querySelector("#start");
    const fields = optionFields(form.querySelector("#options"), info.options ?? []);
    let watch = () => {}, table = null, busy = false;

    function chosen() {
        const target = columns.querySelector("select").value;
        const inputs = Array.from(columns.querySelectorAll("input:checked"), (b) => b.value).filter(
            (n) => n !== target,
        );
        return { target, inputs };
    }

    function changed() {
        const { target, inputs } = chosen();
        for (const box of columns.querySelectorAll("input")) box.disabled = box.value === target;
        button.disabled = busy || inputs.length === 0;
        columns.querySelector(".help").hidden = inputs.length > 0;
        watch({ target, inputs });
    }

    form.addEventListener("submit", (event) => {
        event.preventDefault();
        if (button.disabled) return;
        const { target, inputs } = chosen(),
            options = { target, inputs: inputs.map(quoted).join(",") };
        for (const [name, f] of fields) {
            const value = f.value();
            if (value !== undefined) options[name] = value;
        }
        on.begin(options);
    });

    return {
        show(data) {
            table = data.table;
            columns.replaceChildren(columnFields(table));
            columns.addEventListener("change", changed);
            form.hidden = false;
            changed();
        },
        hide() {
            form.hidden = true;
        },
        setBusy(now) {
            busy = now;
            if (table) changed();
        },
        onColumns(f) {
            watch = f;
        },
    };
}

// A name with a comma or a quote goes in quotes, as in a table.
const quoted = (name) => (/[",]/.test(name) ? `"${name.replace(/"/g, '""')}"` : name);

function columnFields(table) {
    const usable = table.columns.filter((c) => c.kind === "number" || c.kind === "constant");
    return h(
        "div",
        { class: "fields" },
        h(
            "div",
            { class: "field" },
            h("label", { class: "label", for: "target" }, "Target"),
            h(
                "select",
                { id: "target" },
                usable.map((c) =>
                    h("option", { value: c.name, selected: c.name === table.target }, named(c))
                ),
            ),
        ),
        h(
            "fieldset",
            { class: "field" },
            h("legend", {}, "Inputs"),
            h(
                "div",
                { class: "chips" },
                usable.map((c) =>
                    h(
                        "label",
                        { class: "chip" },
                        h("input", {
                            type: "checkbox",
                            name: "input",
                            value: c.name,
                            checked: table.inputs.includes(c.name),
                        }),
                        named(c),
                    )
                ),
            ),
            h("p", { class: "help", role: "status" }, "Tick at least one input."),
        ),
    );
}

const named = (c) => (c.unit ? `${c.name} (${c.unit})` : c.name);

function optionFields(holder, options) {
    const fields = new Map(), first = h("div", { class: "fields" }), pairs = [];
    const byName = new Map(options.map((o) => [o.name, o]));
    for (const [name, words] of Object.entries(FIRST)) {
        const option = byName.get(name);
        if (!option) continue;
        const f = field(option, words);
        fields.set(name, f);
        if (option.type === "choice" || words.words) first.append(f.element);
        else pairs.push(f.element);
    }
    first.append(h("div", { class: "columns-2" }, pairs));
    const rest = options.filter((o) =>
        !fields.has(o.name) && !OWN.has(o.name) && o.group !== READING
    );
    const groups = new Map();
    for (const option of rest) {
        const f = field(option, { label: option.name });
        fields.set(option.name, f);
        const key = option.group ?? "options";
        if (!groups.has(key)) groups.set(key, []);
        groups.get(key).push(f.element);
    }
    if (rest.length) {
        first.append(
            h(
                "details",
                { class: "more" },
                h("summary", {}, "More options"),
                Array.from(groups, ([name, elements]) =>
                    h(
                        "div",
                        { class: "fields" },
                        h("h3", { class: "small-title" }, capital(name)),
                        elements,
                    )),
            ),
        );
    }
    holder.replaceChildren(first);
    return fields;
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
