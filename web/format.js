// format - numbers as people write them, and where the ticks of an axis stand.

const RAISED = {
    "-": "⁻",
    0: "⁰",
    1: "¹",
    2: "²",
    3: "³",
    4: "⁴",
    5: "⁵",
    6: "⁶",
    7: "⁷",
    8: "⁸",
    9: "⁹",
};

export const raised = (n) => Array.from(String(n), (c) => RAISED[c] ?? c).join("");

const minus = (text) => text.replace(/-/g, "−");

// 12,345: whole numbers by groups of three.
export function whole(n) {
    return minus(Math.round(n).toString()).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

// At most `digits` significant digits, without trailing zeros; beyond 0.001 .. 100,000 as 1.2·10⁷.
export function number(value, digits = 4) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    if (value === 0) return "0";
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    const power = Number(exponent);
    if (power < -3 || power > 5) {
        return minus(trim(mantissa) + "·").replace(/^(−?)1·$/, "$1") + "10" + raised(power);
    }
    return minus(trim(Number(value.toPrecision(digits)).toFixed(Math.max(0, digits - 1 - power))));
}

const trim = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

// R2: as many digits as it takes to differ from 1.
export function share(value) {
    if (value === null || value === undefined) return "–";
    if (value === 1) return "1";
    if (Math.abs(value) < 1e-6) return "0";
    if (value < 0.999) return number(value, 4);
    const gap = 1 - value;
    if (gap < 1e-5) return "1 − " + number(gap, 2);
    return trim(value.toFixed(Math.ceil(-Math.log10(gap)) + 2));
}

// 0.0001923 ± 0.0000003: the error has two digits and the value as many places.
export function withError(value, error) {
    if (error === null || error === undefined) return number(value, 6);
    if (!(error > 0)) return number(value, 10);
    const scale = Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3
        ? Math.floor(Math.log10(Math.abs(value) || error))
        : 0;
    const unit = 10 ** scale;
    const places = Math.max(0, Math.min(15, 1 - Math.floor(Math.log10(error / unit))));
    const text = minus((value / unit).toFixed(places)) + " ± " + (error / unit).toFixed(places);
    return scale ? `(${text})·10${raised(scale)}` : text;
}

export function seconds(t) {
    if (t < 1) return t.toFixed(2) + " s";
    if (t < 60) return t.toFixed(1) + " s";
    const m = Math.floor(t / 60);
    if (m < 60) return `${m} min ${Math.floor(t % 60)} s`;
    return `${Math.floor(m / 60)} h ${m % 60} min`;
}

export function bytes(n) {
    if (n < 1000) return n + " bytes";
    return n < 1e6 ? Math.round(n / 1e3) + " kB" : number(n / 1e6, 3) + " MB";
}

// "m s^-2" with raised numbers.
export const unitText = (unit) => unit.replace(/\^\(?(-?\d+)\)?(?![\d/])/g, (_, n) => raised(n));

export const plural = (n, word) => `${whole(n)} ${word}${n === 1 ? "" : "s"}`;

// ---------------------------------------------------------------- ticks

// Ticks of a linear axis: multiples of 1, 2 or 5 times a power of ten, about `count` of them.
export function linearTicks(low, high, count) {
    const span = high - low;
    if (!(span > 0)) return [{ at: low, text: number(low, 4) }];
    const raw = span / Math.max(1, count), power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((m) => m >= raw * 0.7);
    const ticks = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) {
        const at = Math.abs(k * step) < step * 1e-9 ? 0 : k * step;
        ticks.push({ at, text: number(at, Math.max(1, digitsOf(at, step))) });
    }
    return ticks;
}

// Digits of `at` that are not below the last place of the step.
function digitsOf(at, step) {
    if (at === 0) return 1;
    return Math.floor(Math.log10(Math.abs(at)) + 1e-9) - Math.floor(Math.log10(step) + 1e-9) + 1;
}

// Ticks of a logarithmic axis: powers of ten with a text, the others without; over less than two
// decades 2 and 5 have a text too, and less than one has even steps.
export function logTicks(low, high, count) {
    if (high / low < 10) return linearTicks(low, high, count * 1.6);
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const decades = Math.log10(high / low),
        every = Math.max(1, Math.ceil(decades / Math.max(1, count)));
    const ticks = [];
    for (let p = first; p <= last; p++) {
        for (let m = 1; m < 10; m++) {
            const at = m * 10 ** p;
            if (at < low * (1 - 1e-9) || at > high * (1 + 1e-9)) continue;
            const named = m === 1 ? (p - first) % every === 0 : decades < 2 && (m === 2 || m === 5);
            if (named) ticks.push({ at, text: number(at, 1) });
            else if (every === 1) ticks.push({ at, text: "" });
        }
    }
    return ticks;
}
