// discover_data - the table: pasted, dropped, chosen or an example; read by the server, shown.
import * as api from "./api.js";
import { announce, byId, debounce, errorBox, h, scroller } from "./dom.js";
import { field } from "./fields.js";
import { bytes, number, plural } from "./format.js";

export const READING = "reading the table"; // the group of these options in the server's table

export function startData(info, on) {
    const area = byId("csv"),
        box = byId("data-input"),
        preview = byId("preview"),
        failure = byId("data-error");
    const reading = readingFields(
        byId("reading"),
        info.options,
        () => last && load(last.text, last.name),
    );
    let current = null, last = null, request = 0;

    // What the server says of the text; of two requests under way the later one counts.
    async function load(text, name) {
        const mine = ++request, options = reading();
        last = { text, name };
        failure.replaceChildren();
        if (!text.trim()) {
            fail(
                new api.ApiError(
                    0,
                    "There is no table yet.",
                    "Paste rows of numbers, drop a file, or take an example.",
                ),
            );
            return;
        }
        if (info.limits?.body_bytes && text.length > info.limits.body_bytes) {
            fail(
                new api.ApiError(
                    413,
                    `The table has ${bytes(text.length)}; this server takes ${
                        bytes(info.limits.body_bytes)
                    }.`,
                    "Keep fewer rows, or use the command symlaw discover; it takes any size.",
                ),
            );
            return;
        }
        try {
            const table = await api.table(text, options);
            if (mine !== request) return;
            current = { text, name, table, reading: options };
            preview.replaceChildren(previewOf(current));
            box.open = false;
            box.querySelector("summary").textContent = "Other data";
            announce(
                `${name} read: ${plural(current.table.rows, "row")}, ${
                    plural(current.table.columns.length, "column")
                }`,
            );
            on.loaded(current);
        } catch (error) {
            if (mine === request) fail(error);
        }
    }

    function fail(error) {
        current = null;
        preview.replaceChildren();
        failure.replaceChildren(errorBox(error));
        box.open = true;
        on.cleared();
    }

    async function loadFile(file) {
        try {
            const text = await textOf(file);
            if (text.length <= 200000) area.value = text;
            else area.value = "";
            await load(text, file.name);
        } catch (error) {
            fail(
                new api.ApiError(
                    0,
                    `${file.name} could not be read: ${error.message}`,
                    "Is it a table in plain text, or one packed by gzip?",
                ),
            );
        }
    }

    byId("read").addEventListener("click", () => load(area.value, "the table"));
    area.addEventListener("paste", () => setTimeout(() => load(area.value, "the pasted table")));
    area.addEventListener(
        "input",
        debounce(() => {
            if (current && area.value.trim() && area.value !== current.text) {
                load(area.value, "the table").then(() => (box.open = true));
            }
        }, 800),
    );
    byId("choose").addEventListener("click", () => byId("file").click());
    byId("file").addEventListener("change", (event) => {
        const [file] = event.target.files;
        event.target.value = ""; // the same file may be chosen again
        if (file) loadFile(file);
    });
    startDrop(loadFile, (text) => {
        area.value = text;
        load(text, "the dropped table");
    });
    listExamples(area, load);

    return {
        current: () => current,
        // Which columns the search will use, shown in the heads of the preview.
        markColumns({ target, inputs }) {
            for (const head of preview.querySelectorAll("th[data-column]")) {
                const name = head.dataset.column;
                head.classList.toggle("is-target", name === target);
                head.classList.toggle("is-unused", name !== target && !inputs.includes(name));
                head.querySelector(".role").textContent = name === target
                    ? "target"
                    : inputs.includes(name)
                    ? "input"
                    : "not used";
            }
        },
    };
}

// Options about reading, such as the separator: the table is read anew when one changes. Returns a
// function that gives those that are not at their default.
function readingFields(holder, options, changed) {
    const fields = options.filter((o) => o.group === READING).map((o) => [o.name, field(o)]);
    holder.hidden = fields.length === 0;
    holder.append(h("div", { class: "fields" }, fields.map(([, f]) => f.element)));
    holder.addEventListener("change", changed);
    return () =>
        Object.fromEntries(
            fields.map(([name, f]) => [name, f.value()]).filter(([, v]) => v !== undefined),
        );
}

// Text of a file. Packed by gzip: unpacked here. Not UTF-8: Windows' Latin-1, as spreadsheets write
// it.
async function textOf(file) {
    let data = new Uint8Array(await file.arrayBuffer());
    if (data[0] === 0x1f && data[1] === 0x8b) {
        const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
        data = new Uint8Array(await new Response(stream).arrayBuffer());
    }
    if (data[0] === 0x50 && data[1] === 0x4b) {
        throw new Error("it is a spreadsheet or another packed file; save the sheet as CSV");
    }
    try {
        return new TextDecoder("utf-8", { fatal: true }).decode(data);
    } catch {
        return new TextDecoder("windows-1252").decode(data);
    }
}

// A file or a text may be dropped anywhere on the page.
function startDrop(takeFile, takeText) {
    const sign = byId("drop-sign"), here = () => !byId("view-discover").hidden;
    document.addEventListener("dragover", (event) => {
        if (!here()) return;
        event.preventDefault();
        sign.hidden = false;
    });
    document.addEventListener("dragleave", (event) => {
        if (!event.relatedTarget) sign.hidden = true;
    });
    document.addEventListener("drop", (event) => {
        sign.hidden = true;
        if (!here()) return;
        event.preventDefault();
        const [file] = event.dataTransfer.files, text = event.dataTransfer.getData("text/plain");
        if (file) takeFile(file);
        else if (text) takeText(text);
    });
}

async function listExamples(area, load) {
    const list = byId("examples");
    const show = async (item) => {
        const text = await api.example(item.name);
        area.value = text;
        load(text, item.name);
    };
    const button = (item) =>
        h(
            "button",
            { type: "button", "data-example": item.name, onclick: () => show(item) },
            h("span", { class: "example-name" }, item.name),
            h("span", { class: "help" }, (item.title ?? "").replace(/`/g, "")),
        );
    try {
        const items = await api.examples();
        list.replaceChildren(...items.map((item) => h("li", {}, button(item))));
        byId("examples-title").hidden = items.length === 0;
    } catch {
        byId("examples-title").hidden = true; // a server without examples works as well
    }
}

// ---------------------------------------------------------------- the preview

// A note says which cell or column stands in the way.
const UNREADY = {
    message: "This table cannot be searched as it is.",
    remedy: "Correct it, choose other columns below, or change how it is read.",
};

function previewOf({ name, table }) {
    const isNumber = (c) => c.kind === "number" || c.kind === "constant";
    const head = table.columns.map((c) =>
        h(
            "th",
            {
                scope: "col",
                class: isNumber(c) ? "n" : null,
                "data-column": c.name,
                title: columnTitle(c),
            },
            c.name,
            c.unit ? h("span", { class: "dim" }, ` (${c.unit})`) : null,
            h(
                "span",
                { class: "kind dim" },
                h("span", { class: "role" }),
                c.kind === "number" ? "" : ` · ${c.kind}`,
                c.missing ? ` · ${c.missing} missing` : "",
            ),
        )
    );
    const rows = (table.preview ?? []).map((cells) =>
        h(
            "tr",
            {},
            table.columns.map((c, i) =>
                h("td", { class: isNumber(c) ? "n" : null }, cells[i] ?? "")
            ),
        )
    );
    const more = table.rows - rows.length;
    return h(
        "div",
        {},
        h(
            "p",
            { class: "dim" },
            h("strong", { class: "data-name" }, name),
            ` · ${plural(table.rows, "row")}, ${plural(table.columns.length, "column")}`,
        ),
        notesOf(table.notes),
        table.target === null ? errorBox(UNREADY) : null,
        scroller(
            "First rows of the table",
            h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)),
        ),
        more > 0 ? h("p", { class: "help" }, `and ${plural(more, "more row")}`) : null,
    );
}

function columnTitle(c) {
    const range = typeof c.min === "number" ? `, ${number(c.min)} to ${number(c.max)}` : "";
    const distinct = c.distinct === null ? "" : `, ${plural(c.distinct, "distinct value")}`;
    return `${c.name}: ${c.kind}${range}${distinct}`;
}

export function notesOf(notes) {
    if (!notes?.length) return null;
    return h(
        "ul",
        { class: "notes", "aria-label": "Notes" },
        notes.map((n) => h("li", {}, typeof n === "string" ? n : n.text)),
    );
}
