// api - the server's JSON interface, /api/v1.

const BASE = "api/v1/";

// What the server refused, or that it could not be reached.
export class ApiError extends Error {
    constructor(status, text, remedy) {
        super(text);
        this.status = status;
        this.remedy = remedy;
    }
}

export const lost = () =>
    new ApiError(
        0,
        "The server does not answer.",
        "Is symlaw serve still running? Start it again and reload this page.",
    );

async function call(path, init = {}) {
    let response;
    try {
        response = await fetch(BASE + path, init);
    } catch (cause) {
        if (cause.name === "AbortError") throw cause;
        throw lost();
    }
    if (response.ok) return response;
    let error = {};
    try {
        error = (await response.json()).error ?? {};
    } catch {
        // an answer that is not the server's own
    }
    throw new ApiError(
        response.status,
        error.text ?? `The server answered ${response.status}.`,
        error.remedy ?? "",
    );
}

const json = async (path, init) => (await call(path, init)).json();

const send = (path, body, type = "application/json") =>
    call(path, { method: "POST", headers: { "Content-Type": type }, body });

const post = async (path, body, type) => (await send(path, body, type)).json();

const query = (values) =>
    new URLSearchParams(
        Object.entries(values).filter(([, v]) => v !== "" && v !== null && v !== undefined),
    );

export const info = () => json("info");
export const examples = async () => (await json("examples")).examples;
export const example = async (name) => (await call("examples/" + encodeURIComponent(name))).text();
export const table = (text, options = {}) => post("table?" + query(options), text, "text/csv");
export const discover = async (csv, options) =>
    (await post("discover", JSON.stringify({ csv, options }))).job;
export const cancel = (job) => call("jobs/" + job, { method: "DELETE" });
export const candidate = (job, place) => json(`jobs/${job}/candidates/${place}`);
export const formula = (text, names) =>
    post("formula", JSON.stringify(names ? { text, names } : { text }));
export const fitted = async (csv, formula, options) =>
    (await send("fitted", JSON.stringify({ csv, formula, options }))).text();
export const universe = (values, init) => json("universe?" + query(values), init);
export const pair = (values) => json("pair?" + query(values));
export const study = () => json("study");
export const studyRun = (name) => json("study/runs/" + encodeURIComponent(name));
export const reportUrl = BASE + "study/report";

// Events of a job or of the study. `on` has a function per event name; it gets the parsed data. A
// connection that breaks is resumed by the browser with the number of the last event.
export function listen(path, on, lost) {
    const source = new EventSource(BASE + path);
    for (const [name, take] of Object.entries(on)) {
        source.addEventListener(name, (event) => {
            if (typeof event.data === "string") take(JSON.parse(event.data));
        });
    }
    source.onerror = () => {
        if (source.readyState === EventSource.CLOSED) lost?.();
    };
    return source;
}

export const jobEvents = (job, on, lost) => listen(`jobs/${job}/events`, on, lost);
export const studyEvents = (on, lost) => listen("study/events", on, lost);
