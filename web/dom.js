// dom - elements, live messages, the clipboard.

// h("p", {class: "dim", onclick: f}, "text", child, ...): an element. Attributes that are null,
// undefined or false are left out; functions become listeners; children that are null are skipped.
export function h(tag, attributes = {}, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

const SVG = "http://www.w3.org/2000/svg";

export function s(tag, attributes = {}, ...children) {
    return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (typeof value === "function") element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat(2).filter((c) => c !== null && c !== undefined && c !== false));
    return element;
}

// A box that scrolls by itself, also by keyboard.
export const scroller = (label, ...children) =>
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, children);

// A table; a head is a text, or a text and the class of its column ("n": numbers).
export function table(heads, rows, caption) {
    const head = heads.map((t) => Array.isArray(t) ? t : [t, null]);
    return h(
        "table",
        {},
        caption ? h("caption", {}, caption) : null,
        h("thead", {}, h("tr", {}, head.map(([t, c]) => h("th", { scope: "col", class: c }, t)))),
        h("tbody", {}, rows),
    );
}

export const byId = (id) => document.getElementById(id);

// A screen reader reads this; the eye sees the same elsewhere on the page.
export function announce(text) {
    byId("announcer").textContent = text;
}

// An error of the server: what is wrong, and what helps.
export function errorBox(error) {
    return h(
        "div",
        { class: "alert", role: "alert" },
        h("p", { class: "alert-text" }, error.message),
        error.remedy ? h("p", { class: "alert-remedy" }, error.remedy) : null,
    );
}

// True if the text is in the clipboard. Without the permission, or on a page that is not secure,
// the older command is tried.
export async function copyText(text) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        const area = h("textarea", { class: "offscreen", readonly: true, "aria-hidden": "true" });
        const before = document.activeElement;
        area.value = text;
        document.body.append(area);
        area.select();
        const done = document.execCommand("copy");
        area.remove();
        before?.focus();
        return done;
    }
}

export function download(name, text, type) {
    const url = URL.createObjectURL(new Blob([text], { type }));
    const link = h("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// Calls f once, `wait` milliseconds after the last of several calls.
export function debounce(f, wait) {
    let timer = 0;
    return (...args) => {
        clearTimeout(timer);
        timer = setTimeout(() => f(...args), wait);
    };
}
