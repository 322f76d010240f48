/* colours - of layers and of the frame, in light and dark. */
#include "plot/plot_impl.h"

/* Colours for light and for dark backgrounds. In CIELAB any two are at least as far apart as red
 * and brown, also as seen by people who lack one kind of cone (Machado 2009). */
static const char *const colours[][2] = {
    { "#4a5fd3", "#8092f5" }, { "#c43c1e", "#f0693c" }, { "#00b8a4", "#20dcab" },
    { "#cbac0d", "#f4d83a" }, { "#9f1984", "#bb78ac" }, { "#7eb1e2", "#a2e5ff" },
    { "#765750", "#bf6560" },
};

/* Cold to warm, of rising lightness: ordered also on paper without colours. */
static const int shades[2][3][3] = { { { 68, 74, 190 }, { 22, 148, 155 }, { 232, 163, 32 } },
                                     { { 128, 142, 250 }, { 48, 196, 190 }, { 250, 214, 110 } } };

/* Rules for light, then the differences for dark; print is always light. */
void sl_plot__styles(sl_str *s) {
    static const struct {
        const char *name, *property, *value[2];
    } rule[] = {
        { ".b", "fill", { SL_PLOT_LIGHT, SL_PLOT_DARK } }, // background
        { "text", "fill", { "#57606a", "#a9b2bc" } },
        { ".t", "fill", { "#1f2328", "#eef1f4" } },          // titles
        { ".g", "stroke", { "#e6e9ed", "#2a3037" } },        // grid
        { ".a", "stroke", { "#98a1ab", "#6a737d" } },        // axes
        { ".m", "stroke", { SL_PLOT_LIGHT, SL_PLOT_DARK } }, // around marks
    };
    sl_str_add(s, "<style>\n");
    for (int dark = 0; dark < 2; dark++) {
        if (dark) sl_str_add(s, "@media screen and (prefers-color-scheme:dark){\n");
        for (int i = 0; i < SL_LEN(rule); i++)
            sl_str_addf(s, ".sl-plot %s{%s:%s}\n", rule[i].name, rule[i].property,
                        rule[i].value[dark]);
        for (int i = 0; i < SL_LEN(colours); i++)
            sl_str_addf(s, ".sl-plot .k%d{color:%s}\n", i, colours[i][dark]);
        if (dark) sl_str_add(s, ".sl-plot .q{color:var(--d)}\n}\n");
    }
    sl_str_add(s, "</style>\n");
}

void sl_plot__colour(sl_str *s, const sl_style *style) {
    if (style->shade <= 0) {
        sl_str_addf(s, " class=\"k%d\"", style->colour % SL_LEN(colours));
        return;
    }
    // the attribute is for light; in the dark the style sheet takes the variable
    const double at = style->shade * (SL_LEN(shades[0]) - 1);
    const int i = SL_MIN((int)at, SL_LEN(shades[0]) - 2);
    int mixed[2][3];
    for (int dark = 0; dark < 2; dark++)
        for (int k = 0; k < 3; k++) {
            const int from = shades[dark][i][k], to = shades[dark][i + 1][k];
            mixed[dark][k] = (int)(from + (at - i) * (to - from) + 0.5);
        }
    sl_str_addf(s, " class=\"q\" color=\"#%02x%02x%02x\" style=\"--d:#%02x%02x%02x\"", mixed[0][0],
                mixed[0][1], mixed[0][2], mixed[1][0], mixed[1][1], mixed[1][2]);
}
