// colour - the one ramp of colours for values, from dark to light, the same in both themes.

const STOPS = [[24, 28, 74], [38, 52, 136], [58, 92, 190], [96, 148, 214], [158, 200, 222], [
    236,
    236,
    208,
]];

// A function from a value to "rgb(r,g,b)".
export function ramp(low, high) {
    const span = high > low ? high - low : 1;
    return (value) => {
        const t = Math.min(1, Math.max(0, (value - low) / span)) * (STOPS.length - 1);
        const k = Math.min(STOPS.length - 2, Math.floor(t)), f = t - k;
        const [r, g, b] = STOPS[k].map((c, i) => Math.round(c + (STOPS[k + 1][i] - c) * f));
        return `rgb(${r},${g},${b})`;
    };
}
