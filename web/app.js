// app - starts the page: theme, the three views, what the server is.
import * as api from "./api.js";
import { byId, errorBox } from "./dom.js";
import { startTheme } from "./theme.js";

// A view's module is loaded when it is first shown.
const VIEWS = {
    discover: { title: "Discover", load: () => import("./discover.js") },
    universe: { title: "Universe", load: () => import("./universe.js") },
    study: { title: "Study", load: () => import("./study.js") },
};

const started = new Set();
let info = null;

async function show(name, focus) {
    for (const key of Object.keys(VIEWS)) byId("view-" + key).hidden = key !== name;
    for (const link of document.querySelectorAll("nav [data-view]")) {
        if (link.dataset.view === name) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    document.title = VIEWS[name].title + " · symlaw";
    if (focus) byId("main").focus({ preventScroll: true });
    if (started.has(name) || !info) return;
    started.add(name);
    (await VIEWS[name].load()).start(info);
}

const wanted = () => (location.hash.slice(1) in VIEWS ? location.hash.slice(1) : "discover");

async function start() {
    startTheme(byId("theme"));
    document.querySelector(".skip").addEventListener("click", (event) => {
        event.preventDefault(); // the hash names the view
        byId("main").focus();
    });
    addEventListener("hashchange", () => show(wanted(), true));
    show(wanted(), false);
    try {
        info = await api.info();
    } catch (error) {
        byId("main").prepend(errorBox(error));
        return;
    }
    byId("version").textContent = `symlaw ${info.version} (${info.build})`;
    show(wanted(), false);
}

start();
