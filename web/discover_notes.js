// discover_notes - what has to be known of the data and the work before a formula is believed, in
// the words of the command line.
import { plural, whole } from "./format.js";

// Sentences about a result of discover.
export function notesFrom({ data, search }) {
    return [
        rowsNote(data),
        columnsNote(data),
        textNote(data),
        constantNote(data),
        ...limits(search),
    ]
        .filter(Boolean);
}

function rowsNote(d) {
    const dropped = [
        [d.missing, "with a missing cell dropped"],
        [d.infinite, "with an infinite cell dropped"],
        [d.weightless, "of weight 0 dropped"],
    ].filter(([n]) => n > 0);
    const left = dropped.reduce((rest, [n]) => rest - n, d.rows_read);
    const parts = dropped.map(([n, what]) => `${whole(n)} ${what}`);
    if (d.rows < left) parts.push(parts.length ? "of the others an even sample" : "an even sample");
    if (d.repeated > 0) parts.push(`${whole(d.repeated)} repeat an earlier one`);
    if (!parts.length) return null;
    const count = d.rows < d.rows_read
        ? `${whole(d.rows)} of ${whole(d.rows_read)}`
        : whole(d.rows);
    return `Rows: ${count}: ${parts.join(", ")}.`;
}

function columnsNote(d) {
    if (!d.chosen_from) return null;
    const share = typeof d.explained === "number"
        ? `, ${Math.round(100 * d.explained)} % of the variance`
        : "";
    return `Inputs: ${d.inputs.length} of ${d.chosen_from} numeric columns, ` +
        `those that explain most${share}. Tick others to use them.`;
}

const textNote = (d) =>
    d.text_columns > 0 ? `${plural(d.text_columns, "text column")} not used.` : null;

const constantNote = (d) =>
    d.constant
        ? "The target is the same in every row, which supports no formula but this number."
        : null;

function limits(search) {
    return [
        search?.too_large > 0 &&
        `An exact formula of ${whole(search.too_large)} nodes is above the largest size.`,
        search?.end === "memory" && "Steps of the search were left out to keep to its memory.",
    ];
}
