// fields - controls for options of a command, made from the server's table of options.
import { h } from "./dom.js";

// { element, value() }: value is undefined while the option has its default, so that the server's
// table stays the one place that says what it is. With `words` the option is a list of these.
export function field(option, { label = option.name, help = option.help, words = null } = {}) {
    const text = help ? h("p", { class: "help", id: `help-${option.name}` }, sentence(help)) : null;
    const make = words ? chips(words) : MAKERS[option.type] ?? MAKERS.text;
    return make(option, label, text);
}

const sentence = (text) =>
    text.charAt(0).toUpperCase() + text.slice(1) + (/[.]$/.test(text) ? "" : ".");

const named = (label, box, help) =>
    h("div", { class: "field" }, h("label", { class: "label", for: box.id }, label), box, help);

const grouped = (label, inner, help) =>
    h(
        "fieldset",
        { class: "field", "aria-describedby": help?.id },
        h("legend", {}, label),
        inner,
        help,
    );

function input(option, label, help, attributes, read) {
    const box = h("input", {
        id: "option-" + option.name,
        name: option.name,
        autocomplete: "off",
        "aria-describedby": help?.id,
        placeholder: option.default,
        ...attributes,
    });
    const value = () => (box.value.trim() === "" ? undefined : read(box.value.trim()));
    return { element: named(label, box, help), value };
}

// Bounds far beyond any use are left out of a form.
const bound = (v) => (typeof v === "number" && Math.abs(v) < 1e12 ? v : null);
const range = (o) => ({ type: "number", min: bound(o.min), max: bound(o.max) });

const MAKERS = {
    text: (o, label, help) => input(o, label, help, { type: "text" }, (v) => v),
    integer: (o, label, help) => input(o, label, help, { ...range(o), step: 1 }, Number),
    number: (o, label, help) => input(o, label, help, { ...range(o), step: "any" }, Number),
    choice: (o, label, help) => (o.choices.length <= 3 ? segments : select)(o, label, help),
    flag,
};

function flag(option, label, help) {
    const box = h("input", {
        type: "checkbox",
        id: "option-" + option.name,
        name: option.name,
        "aria-describedby": help?.id,
    });
    const chip = h("label", { class: "chip" }, box, label);
    return {
        element: h("div", { class: "field" }, chip, help),
        value: () => (box.checked ? true : undefined),
    };
}

function select(option, label, help) {
    const box = h("select", {
        id: "option-" + option.name,
        name: option.name,
        "aria-describedby": help?.id,
    }, option.choices.map((c) => h("option", { value: c, selected: c === option.default }, c)));
    const value = () => (box.value === option.default ? undefined : box.value);
    return { element: named(label, box, help), value };
}

function segments(option, label, help) {
    const name = "option-" + option.name;
    const one = (c) => {
        const box = { type: "radio", name, value: c, checked: c === option.default };
        return h("label", {}, h("input", box), c);
    };
    const group = grouped(label, h("div", { class: "segments" }, option.choices.map(one)), help);
    const value = () => {
        const chosen = group.querySelector(":checked")?.value;
        return chosen === option.default ? undefined : chosen;
    };
    return { element: group, value };
}

// A list of words: all ticked is the default.
const chips = (words) => (option, label, help) => {
    const one = (word) => {
        const box = { type: "checkbox", name: "option-" + option.name, value: word, checked: true };
        return h("label", { class: "chip mono" }, h("input", box), word);
    };
    const group = grouped(label, h("div", { class: "chips" }, words.map(one)), help);
    const value = () => {
        const on = Array.from(group.querySelectorAll(":checked"), (b) => b.value);
        // an empty list is refused; sums are allowed anyway
        return on.length === words.length ? undefined : on.join(",") || "+";
    };
    return { element: group, value };
};
