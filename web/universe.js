// universe - every distinct expression up to a depth: listed, searched, drawn; and whether yours is
// one.
import * as api from "./api.js";
import { announce, byId, copyText, debounce, errorBox, h } from "./dom.js";
import { plural, whole } from "./format.js";
import { typeset } from "./mathml.js";
import { pairFigures } from "./universe_pair.js";

const PAGE = 20;
const OPERATORS = ["exp", "sin", "neg", "sqrt", "+", "-", "*", "/", "log", "cos"];
const USUAL = new Set(OPERATORS.slice(0, 8)); // the set that models are trained on

export function start() {
    const set = { depth: "2", variables: "2", ops: "", contains: "" };
    const list = listOf(set, (member) => one.show(member)), one = memberOf(set);
    byId("universe-body").append(
        h(
            "div",
            { class: "stack" },
            toolbar(set, list),
            h(
                "div",
                { class: "universe-grid" },
                h("div", { class: "stack" }, list.element, askBox(set, list)),
                one.element,
            ),
        ),
    );
    list.load(0);
}

// ---------------------------------------------------------------- which set

function toolbar(set, list) {
    const choice = (name, label, values) =>
        h(
            "div",
            { class: "field" },
            h("label", { class: "label", for: "universe-" + name }, label),
            h("select", {
                id: "universe-" + name,
                onchange(event) {
                    set[name] = event.target.value;
                    list.load(0);
                },
            }, values.map((v) => h("option", { value: v, selected: v === set[name] }, v))),
        );
    const changed = debounce(() => list.load(0), 300);
    const ops = h(
        "fieldset",
        {
            class: "field grow",
            onchange() {
                const on = Array.from(ops.querySelectorAll(":checked"), (b) => b.value);
                const usual = on.length === USUAL.size && on.every((o) => USUAL.has(o));
                set.ops = usual ? "" : on.join(",");
                changed();
            },
        },
        h("legend", {}, "Operators"),
        h(
            "div",
            { class: "chips" },
            OPERATORS.map((o) =>
                h(
                    "label",
                    { class: "chip mono" },
                    h("input", { type: "checkbox", value: o, checked: USUAL.has(o) }),
                    o,
                )
            ),
        ),
    );
    const search = h("input", {
        type: "search",
        id: "universe-contains",
        placeholder: "sin(x1",
        autocomplete: "off",
        spellcheck: "false",
        oninput(event) {
            set.contains = event.target.value.trim();
            changed();
        },
    });
    return h(
        "div",
        { class: "card" },
        h(
            "div",
            { class: "toolbar" },
            choice("depth", "Depth up to", ["0", "1", "2", "3"]),
            choice("variables", "Variables", ["1", "2", "3"]),
            ops,
            h(
                "div",
                { class: "field grow" },
                h("label", { class: "label", for: "universe-contains" }, "Contains the text"),
                search,
            ),
        ),
    );
}

// ---------------------------------------------------------------- the list

function listOf(set, picked) {
    const failure = h("div", {}),
        items = h("ul", {
            class: "members",
            role: "listbox",
            tabindex: "0",
            "aria-label": "Expressions",
            "aria-keyshortcuts": "PageUp PageDown",
        });
    const where = h("p", { role: "status" }), summary = h("p", { class: "dim" });
    const step = (name, pages) =>
        h("button", { type: "button", class: "small", onclick: () => turn(pages) }, name);
    const buttons = {
        first: step("First", -Infinity),
        back: step("Previous", -1),
        next: step("Next", 1),
        last: step("Last", Infinity),
    };
    const element = h(
        "section",
        { class: "card", "aria-label": "List of expressions" },
        summary,
        failure,
        items,
        h("div", { class: "pager" }, where, h("div", { class: "buttons" }, Object.values(buttons))),
        h(
            "p",
            { class: "help" },
            h("kbd", {}, "↑"),
            " ",
            h("kbd", {}, "↓"),
            " choose, ",
            h("kbd", {}, "Page Up"),
            " ",
            h("kbd", {}, "Page Down"),
            " turn the page.",
        ),
    );
    let first = 0, count = 0, next = null, shown = [], at = -1, request = 0;
    let before = []; // of a search, where the earlier pages began: these lie at no even steps
    const choose = debounce(() => picked(shown[at]), 120);

    async function load(start, select = 0) {
        const mine = ++request;
        element.setAttribute("aria-busy", "true");
        try {
            const page = await api.universe({ ...set, start, count: PAGE });
            if (mine !== request) return;
            failure.replaceChildren();
            [first, count, next, shown] = [start, page.count, page.next, page.items];
            if (start === 0) before = [];
            summary.replaceChildren(...summaryOf(set, page));
            draw();
            move(Math.min(shown.length - 1, select < 0 ? shown.length - 1 : select));
        } catch (error) {
            if (mine === request) failure.replaceChildren(errorBox(error));
        } finally {
            if (mine === request) element.removeAttribute("aria-busy");
        }
    }

    function draw() {
        items.replaceChildren(...shown.map((e, i) =>
            h(
                "li",
                {
                    role: "option",
                    id: `member-${i}`,
                    "aria-selected": "false",
                    onclick() {
                        items.focus();
                        move(i);
                    },
                },
                h("span", { class: "index" }, whole(e.index)),
                h("span", { class: "what" }, typeset(e.mathml, e.formula)),
                h("span", { class: "depth" }, `depth ${e.level}`),
            )
        ));
        where.textContent = !shown.length
            ? "No expression fits."
            : set.contains
            ? `Page ${whole(before.length + 1)}${next === null ? ", the last" : ""}`
            : `${whole(first + 1)} to ${whole(first + shown.length)} of ${whole(count)}`;
        buttons.first.disabled = buttons.back.disabled = first === 0;
        buttons.next.disabled = next === null;
        buttons.last.disabled = next === null || set.contains !== "";
    }

    function move(i) {
        items.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
        at = i;
        if (i < 0) {
            items.removeAttribute("aria-activedescendant");
            return;
        }
        const row = items.children[i];
        row.setAttribute("aria-selected", "true");
        items.setAttribute("aria-activedescendant", row.id);
        if (document.activeElement === items) row.scrollIntoView({ block: "nearest" });
        choose();
    }

    function turnSearch(pages, select) {
        if (pages > 0 && next !== null) {
            before.push(first);
            load(next, select);
        } else if (pages < 0 && before.length) {
            load(pages === -1 ? before.pop() : 0, select);
        }
    }

    function turn(pages, select = 0) {
        if (set.contains) {
            turnSearch(pages, select);
            return;
        }
        const last = Math.max(0, Math.floor((count - 1) / PAGE) * PAGE);
        const to = Math.min(
            last,
            Math.max(0, pages === Infinity ? last : pages === -Infinity ? 0 : first + pages * PAGE),
        );
        if (to !== first) load(to, select);
    }

    items.addEventListener("keydown", (event) => {
        const { key } = event;
        if (key === "ArrowDown") at + 1 < shown.length ? move(at + 1) : turn(1, 0);
        else if (key === "ArrowUp") at > 0 ? move(at - 1) : turn(-1, -1);
        else if (key === "PageDown") turn(1, at);
        else if (key === "PageUp") turn(-1, at);
        else if (key === "Home") event.ctrlKey ? turn(-Infinity) : move(0);
        else if (key === "End") event.ctrlKey ? turn(Infinity, -1) : move(shown.length - 1);
        else return;
        event.preventDefault();
    });

    return {
        element,
        load,
        goTo(index) {
            set.contains = byId("universe-contains").value = "";
            load(Math.floor(index / PAGE) * PAGE, index % PAGE);
        },
    };
}

function summaryOf(set, page) {
    if (set.contains) return [`Those of ${whole(page.count)} that contain “${set.contains}”`];
    const levels = (page.levels ?? []).map((l) => `${whole(l.distinct)} of depth ${l.level}`).join(
        ", ",
    );
    return [h("strong", {}, plural(page.count, "expression")), levels ? `: ${levels}` : ""];
}

// ---------------------------------------------------------------- one member

function memberOf(set) {
    const body = h("div", {}),
        element = h("section", {
            class: "card",
            id: "member",
            "aria-label": "The chosen expression",
        }, body);
    let member = null, draw = 0, request = 0;

    async function drawPair(said) {
        const mine = ++request, holder = body.querySelector(".pair-figures");
        try {
            const p = await api.pair({
                depth: set.depth,
                variables: set.variables,
                ops: set.ops,
                member: member.index,
                draw,
            });
            if (mine !== request) return;
            holder.replaceChildren(
                h("p", { class: "dim" }, "With constants and points drawn at random:"),
                h("div", {
                    class: "formula long",
                    tabindex: "0",
                    role: "group",
                    "aria-label": "Formula of the pair",
                }, typeset(p.mathml, p.formula, { target: "y", display: true })),
                ...pairFigures(p),
            );
            if (said) announce(`Drawn: y = ${p.formula}`);
        } catch (error) {
            if (mine === request) holder.replaceChildren(errorBox(error));
        }
    }

    return {
        element,
        show(e) {
            if (!e) return;
            member = e;
            draw = 0;
            const said = h("span", { class: "dim", role: "status" });
            body.replaceChildren(
                h("p", { class: "verdict" }, `Number ${whole(e.index)} · depth ${e.level}`),
                h("div", {
                    class: "formula",
                    tabindex: "0",
                    role: "group",
                    "aria-label": "Expression, typeset",
                }, typeset(e.mathml, e.formula, { display: true })),
                h("p", { class: "formula-text" }, h("code", {}, e.formula)),
                h(
                    "div",
                    { class: "buttons" },
                    h("button", {
                        type: "button",
                        id: "draw",
                        onclick() {
                            draw++;
                            drawPair(true);
                        },
                    }, "Draw another"),
                    h("button", {
                        type: "button",
                        async onclick() {
                            said.textContent = await copyText(e.latex) ? "LaTeX copied" : e.latex;
                        },
                    }, "Copy LaTeX"),
                    said,
                ),
                h("div", { class: "pair-figures stack" }),
            );
            drawPair(false);
        },
    };
}

// ---------------------------------------------------------------- is it in the set?

function askBox(set, list) {
    const answer = h("div", { id: "ask-answer", "aria-live": "polite" });
    const box = h("input", {
        type: "text",
        id: "ask",
        placeholder: "x1*x2/x1 + sin(x2)",
        autocomplete: "off",
        spellcheck: "false",
        autocapitalize: "off",
    });
    async function ask(event) {
        event.preventDefault();
        const text = box.value.trim();
        if (!text) return;
        try {
            const [form, found] = await Promise.all([
                api.formula(text),
                api.universe({
                    depth: set.depth,
                    variables: set.variables,
                    ops: set.ops,
                    find: text,
                }),
            ]);
            const known = found.index !== null && found.index !== undefined;
            answer.replaceChildren(
                h("p", { class: "dim" }, "Canonical form"),
                h("div", {
                    class: "formula long",
                    tabindex: "0",
                    role: "group",
                    "aria-label": "Canonical form",
                }, typeset(form.mathml, form.canonical, { display: true })),
                h("p", { class: "formula-text" }, h("code", {}, form.canonical)),
                known
                    ? h(
                        "p",
                        { class: "verdict good" },
                        `In the set: number ${
                            whole(found.index)
                        }, depth ${found.item.level}, listed as ${found.item.formula}. `,
                        h("button", {
                            type: "button",
                            class: "link",
                            onclick: () => list.goTo(found.index),
                        }, "Show it"),
                    )
                    : h("p", { class: "verdict weak" }, "Not in the set."),
            );
        } catch (error) {
            answer.replaceChildren(errorBox(error));
        }
    }
    return h(
        "section",
        { class: "card", "aria-labelledby": "ask-title" },
        h("h2", { id: "ask-title" }, "Is your expression in the set?"),
        h(
            "form",
            { onsubmit: ask },
            h("label", { class: "label", for: "ask" }, "Expression in x1, x2, …"),
            h("div", { class: "with-button" }, box, h("button", { type: "submit" }, "Ask")),
        ),
        answer,
    );
}
