// mathml - formulas of the server as elements of the page. Only elements of MathML Core come
// through, and of their attributes those that lay out; a text stands where the browser cannot read
// it.
import { h } from "./dom.js";

const ELEMENTS = new Set([
    "math",
    "mrow",
    "mi",
    "mn",
    "mo",
    "mfrac",
    "msup",
    "msub",
    "msubsup",
    "msqrt",
    "mroot",
    "mtext",
    "mspace",
    "mstyle",
    "mover",
    "munder",
    "mpadded",
]);
const ATTRIBUTES = new Set([
    "mathvariant",
    "stretchy",
    "fence",
    "form",
    "lspace",
    "rspace",
    "width",
    "display",
    "displaystyle",
    "linethickness",
]);
const NAMESPACE = "http://www.w3.org/1998/Math/MathML";

const element = (tag, ...children) => {
    const e = document.createElementNS(NAMESPACE, tag);
    e.append(...children);
    return e;
};

function imported(node) {
    if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE || !ELEMENTS.has(node.localName)) {
        return document.createTextNode("");
    }
    const out = element(node.localName);
    for (const a of node.attributes) {
        if (ATTRIBUTES.has(a.localName)) out.setAttribute(a.localName, a.value);
    }
    out.append(...Array.from(node.childNodes, imported));
    return out;
}

// The name of a column on the left side. One letter is slanted as a variable is, a word is upright;
// x1 has its number below.
function nameOf(name) {
    const indexed = /^([A-Za-z])_?(\d+)$/.exec(name);
    if (indexed) return element("msub", element("mi", indexed[1]), element("mn", indexed[2]));
    return element("mi", name);
}

// The formula as <math>, with "target =" before it if a target is given; `text` if there is no
// MathML.
export function typeset(mathml, text, { target = null, display = false } = {}) {
    const plain = target ? `${target} = ${text}` : text;
    if (!mathml) return h("code", {}, plain);
    const parsed = new DOMParser().parseFromString(
        mathml.replace(/&nbsp;/g, "&#160;"),
        "application/xml",
    );
    if (parsed.documentElement.localName !== "math" || parsed.querySelector("parsererror")) {
        return h("code", {}, plain);
    }
    const math = imported(parsed.documentElement);
    if (target) {
        math.replaceChildren(
            element("mrow", nameOf(target), element("mo", "="), ...math.childNodes),
        );
    }
    if (display) math.setAttribute("display", "block");
    math.setAttribute("aria-label", plain);
    return math;
}
