// theme - light and dark: what the system asks for, until the switch in the header says otherwise.

const ORDER = ["system", "light", "dark"];
const NAMES = { system: "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };
const SIGNS = { system: "◐", light: "☀", dark: "☾" };
const KEY = "symlaw.theme";

const system = matchMedia("(prefers-color-scheme: dark)");

// Storage may be switched off in the browser; then a choice lasts as long as the page.
let choice = "system";
try {
    choice = ORDER.includes(localStorage.getItem(KEY)) ? localStorage.getItem(KEY) : "system";
} catch {
    // kept in `choice` alone
}

function apply(button) {
    const dark = choice === "dark" || (choice === "system" && system.matches);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.textContent = SIGNS[choice];
    button.setAttribute("aria-label", NAMES[choice]);
    button.title = NAMES[choice];
    document.dispatchEvent(new Event("themechange"));
}

export function startTheme(button) {
    system.addEventListener("change", () => apply(button));
    button.addEventListener("click", () => {
        choice = ORDER[(ORDER.indexOf(choice) + 1) % ORDER.length];
        try {
            localStorage.setItem(KEY, choice);
        } catch {
            // kept in `choice` alone
        }
        apply(button);
    });
    apply(button);
}
