/* report_html - the page around the content: style sheet, script, head, contents, figures, tables.
 *
 * Everything is inline and nothing is fetched. The page is well-formed XML and HTML, so the script
 * has no '<' and no '&'. Without the script only sorting is missing.
 *
 * A figure is drawn twice, for wide and for narrow screens: a picture at half its width is not
 * readable. The style sheet shows the one that fits. */
#include <math.h>
#include <string.h>

#include "report/report_impl.h"

static const char style_sheet[] =
    ":root{color-scheme:light dark;--back:" SL_PLOT_LIGHT
    ";--text:#23272d;--strong:#0f1318;--dim:#5b6470;--line:#e3e7ec;--card:#f7f8fa;"
    "--link:#2f49b8;--red:#b3261e;--mark:#fff4d6;--shade:#0002}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--back:" SL_PLOT_DARK
    ";--text:#d7dce2;--strong:#f3f5f7;--dim:#98a2ad;--line:#2c333b;--card:#1b2026;"
    "--link:#9db0ff;--red:#ff8a7a;--mark:#33301e;--shade:#fff3}}\n"
    "html{-webkit-text-size-adjust:100%}\n"
    "body{margin:0;background:var(--back);color:var(--text);"
    "font:18px/1.62 Charter,'Bitstream Charter','Iowan Old Style','Source Serif 4',Georgia,"
    "'Noto Serif','DejaVu Serif',serif}\n"
    "main{display:grid;grid-template-columns:minmax(20px,1fr) minmax(0,90px) minmax(0,660px) "
    "minmax(0,90px) minmax(20px,1fr);padding:64px 0 72px}\n"
    "main>*{grid-column:3;min-width:0}\n"
    "main>.wide{grid-column:2/5}\n"
    ".sans,nav,figcaption,table,dl,details,footer,.eyebrow,.badge{font-family:system-ui,"
    "-apple-system,'Segoe UI',Roboto,Helvetica,Arial,'DejaVu Sans',sans-serif}\n"
    "h1,h2,h3{color:var(--strong);line-height:1.2;font-weight:700;text-wrap:balance}\n"
    "h1{font-size:40px;letter-spacing:-.015em;margin:0 0 14px;overflow-wrap:anywhere}\n"
    "h2{font-size:27px;letter-spacing:-.01em;margin:68px 0 12px;padding-top:8px}\n"
    "h3{font-size:20px;margin:40px 0 8px}\n"
    "sup{line-height:0;font-size:.72em}\n"
    "h2 a.here,h3 a.here{color:var(--dim);text-decoration:none;margin-left:.35em;opacity:0;"
    "font-weight:400}\n"
    "h2:hover a.here,h3:hover a.here,a.here:focus{opacity:1}\n"
    "p{margin:0 0 18px}\n"
    "a{color:var(--link);text-decoration-thickness:1px;text-underline-offset:.18em}\n"
    ".eyebrow{font-size:13px;letter-spacing:.08em;text-transform:uppercase;color:var(--dim);"
    "margin:0 0 12px}\n"
    ".dim{color:var(--dim)}\n"
    ".lead{font-size:21px;line-height:1.52;color:var(--strong);margin:0 0 10px}\n"
    ".red{color:var(--red);font-weight:600}\n"
    ".note{border-left:3px solid var(--line);padding:2px 0 2px 16px;color:var(--dim);"
    "font-size:16px}\n"
    ".note.bad{border-color:var(--red)}\n"
    "nav{font-size:14px;line-height:1.5;margin:34px 0 0;padding:16px 0;"
    "border-top:1px solid var(--line);border-bottom:1px solid var(--line)}\n"
    "nav b{display:block;color:var(--strong);margin-bottom:6px}\n"
    "nav ol{list-style:none;margin:0;padding:0;columns:2;column-gap:32px}\n"
    "nav li{margin:3px 0;break-inside:avoid}\n"
    "nav a{color:var(--dim);text-decoration:none}\n"
    "nav a:hover{color:var(--link);text-decoration:underline}\n"
    "dl.keys{display:grid;grid-template-columns:repeat(auto-fit,minmax(176px,1fr));gap:1px;"
    "margin:34px 0 0;background:var(--line);border:1px solid var(--line);border-radius:8px;"
    "overflow:hidden}\n"
    "dl.keys div{background:var(--back);padding:16px 18px 14px;display:flex;"
    "flex-direction:column}\n"
    "dl.keys dt{font-size:13px;line-height:1.35;color:var(--dim);margin-bottom:6px}\n"
    "dl.keys dd{margin:0;font-size:27px;line-height:1.2;font-weight:600;color:var(--strong);"
    "letter-spacing:-.01em;font-variant-numeric:tabular-nums}\n"
    "dl.keys dd small{display:block;font-size:13px;line-height:1.4;font-weight:400;"
    "letter-spacing:0;color:var(--dim);margin-top:3px}\n"
    "dl.keys dd small.red{color:var(--red);font-weight:600}\n"
    "figure{margin:18px 0 40px;scroll-margin-top:16px}\n"
    "figure svg{display:block;margin:0 auto;max-width:100%;height:auto}\n"
    "figure svg+svg{display:none}\n"
    "figure .sl-plot .b{fill:none}\n"
    "figcaption{font-size:15px;line-height:1.5;color:var(--dim);margin:12px auto 0;"
    "max-width:660px}\n"
    "figcaption b{color:var(--strong)}\n"
    "details{font-size:14px;line-height:1.5;margin:10px auto 0;max-width:660px}\n"
    "main>details{margin:10px 0 0;max-width:none}\n"
    "figure details{color:var(--dim)}\n"
    "summary{cursor:pointer;color:var(--link)}\n"
    // shadows at the sides where there is more of a table
    ".scroll{overflow:auto;margin:14px 0 22px;background:linear-gradient(90deg,var(--back) 40%,"
    "transparent) left/48px 100% no-repeat local,linear-gradient(270deg,var(--back) 40%,"
    "transparent) right/48px 100% no-repeat local,linear-gradient(90deg,var(--shade),transparent) "
    "left/14px 100% no-repeat scroll,linear-gradient(270deg,var(--shade),transparent) right/14px "
    "100% no-repeat scroll}\n"
    "details .scroll{max-height:420px;border:1px solid var(--line);border-radius:6px;"
    "margin:10px 0}\n"
    "main>.scroll.tall{max-height:82vh}\n"
    ".dense table{font-size:13px}\n"
    ".dense th,.dense td{padding:6px 12px 6px 0}\n"
    ".tall thead th{position:sticky;top:0;background:var(--back);box-shadow:inset 0 -1.5px 0 "
    "var(--dim);border-bottom:0}\n"
    "details th:first-child,details td:first-child{padding-left:12px}\n"
    "table{border-collapse:collapse;min-width:100%;font-size:13.5px;line-height:1.4;"
    "font-variant-numeric:tabular-nums}\n"
    "th{color:var(--dim);font-weight:600;font-size:13px;text-align:left;vertical-align:bottom}\n"
    "th,td{padding:8px 14px 8px 0;border-bottom:1px solid var(--line);white-space:nowrap}\n"
    "td{vertical-align:top}\n"
    "td.text{white-space:normal;min-width:220px}\n"
    "tbody tr:last-child td{border-bottom:0}\n"
    "thead th{border-bottom:1.5px solid var(--dim)}\n"
    "th.n,td.n{text-align:right}\n"
    "th span{cursor:pointer}\n"
    "th span:hover{color:var(--link)}\n"
    "th span:focus-visible{outline:2px solid var(--link);outline-offset:2px}\n"
    "th[aria-sort] span::after{content:'\\2193';margin-left:.3em;color:var(--link)}\n"
    "th[aria-sort=ascending] span::after{content:'\\2191'}\n"
    "tr.best td{background:var(--mark)}\n"
    "tr.best td:first-child{box-shadow:inset 3px 0 0 #e0a320;padding-left:12px}\n"
    ".badge{display:inline-block;font-size:11px;line-height:1.5;padding:0 7px;border-radius:9px;"
    "border:1px solid var(--line);color:var(--dim);margin-left:6px;white-space:nowrap}\n"
    ".badge.red{border-color:var(--red);color:var(--red)}\n"
    "pre{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:14px 16px;"
    "overflow-x:auto;margin:10px 0 22px}\n"
    "pre,code{font:14px/1.5 ui-monospace,SFMono-Regular,Consolas,'DejaVu Sans Mono',monospace}\n"
    "math{font-family:'Latin Modern Math','STIX Two Math','Cambria Math',math,serif}\n"
    ".formula{overflow-x:auto;overflow-y:hidden;text-align:center;font-size:20px;"
    "margin:6px 0 22px;padding:8px 0}\n"
    ".problem{border-top:1px solid var(--line);padding:14px 0 4px;display:grid;"
    "grid-template-columns:minmax(0,1fr) 300px;gap:8px 28px;align-items:center}\n"
    ".problem>*{min-width:0}\n"
    ".problem figure{margin:0}\n"
    ".problem dl{display:grid;grid-template-columns:auto minmax(0,1fr);gap:4px 14px;margin:0;"
    "font-size:14px;align-items:baseline}\n"
    ".problem math{math-style:normal}\n" // fractions as large as in a line of their own
    ".problem dt{color:var(--dim)}\n"
    ".problem dd{margin:0;overflow-x:auto;overflow-y:hidden;font-size:16px;padding:2px 0}\n"
    "footer{margin-top:72px;padding-top:14px;border-top:1px solid var(--line);font-size:13px;"
    "color:var(--dim)}\n"
    "@media (min-width:1270px){nav{grid-column:1;position:sticky;top:32px;align-self:start;"
    "justify-self:end;width:168px;margin:8px 30px 0 0;padding:0;border:0;grid-row:1/span 400;"
    "max-height:calc(100vh - 64px);overflow-y:auto}nav ol{columns:1}}\n"
    "@media (max-width:640px){body{font-size:17px}main{padding-top:36px;"
    "grid-template-columns:16px 0 minmax(0,1fr) 0 16px}h1{font-size:30px}h2{font-size:23px;"
    "margin-top:54px}.lead{font-size:18.5px}nav ol{columns:1}"
    "dl.keys{grid-template-columns:1fr 1fr}dl.keys div{padding:12px}dl.keys dd{font-size:21px}"
    "figure svg{display:none}figure svg+svg,figure svg:only-of-type{display:block}"
    ".problem{grid-template-columns:minmax(0,1fr)}}\n"
    "@page{margin:18mm 16mm}\n"
    "@media print{body{font-size:10.5pt}main{display:block;padding:0}nav,figure details{"
    "display:none}h1{font-size:24pt}h2{font-size:16pt;margin-top:22pt}.lead{font-size:12.5pt}"
    "h2,h3{break-after:avoid}figure,.problem,dl.keys,tr,pre,.note{break-inside:avoid}"
    "figure svg{max-height:80mm;width:auto}figure.panels svg{max-height:150mm}"
    "figure{margin:8pt 0 16pt}figcaption{font-size:9pt}table{font-size:8pt;min-width:0}"
    "th{font-size:8pt}th,td,.dense th,.dense td{padding:2.5pt 6pt 2.5pt 0;white-space:normal}"
    "main>.scroll,main>.scroll.tall{overflow:visible;max-height:none;background:none}"
    "main>details::details-content{content-visibility:visible;display:block}"
    "main>details .scroll{max-height:none;border:0}"
    ".dense table,.dense th{font-size:7pt}.tall thead th{position:static;"
    "box-shadow:none;border-bottom:1pt solid var(--dim)}.dense td:first-child{white-space:nowrap}"
    "thead{display:table-header-group}a{color:inherit;text-decoration:none}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere}dl.keys dd{font-size:14pt}"
    "dl.keys{grid-template-columns:repeat(4,1fr);background:none}"
    "dl.keys div{border:.5pt solid var(--line);padding:8pt}"
    "*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}\n";

/* Headings of tables of class `sort` become buttons: spans in that role, since chromium leaves true
 * ones out where it repeats a heading on the next sheet of paper. A cell sorts by its data-v, else
 * by its text; what is no number comes last. */
static const char script[] =
    "document.querySelectorAll('table.sort').forEach(function(table){"
    "var body=table.tBodies[0];"
    "table.querySelectorAll('thead th').forEach(function(th,column){"
    "var button=document.createElement('span');button.setAttribute('role','button');"
    "button.tabIndex=0;"
    "while(th.firstChild)button.appendChild(th.firstChild);th.appendChild(button);"
    "button.addEventListener('keydown',function(e){"
    "if(e.key==='Enter'||e.key===' '){e.preventDefault();button.click()}});"
    "button.addEventListener('click',function(){"
    "var up=th.getAttribute('aria-sort')!=='ascending';"
    "table.querySelectorAll('th[aria-sort]').forEach(function(o){o.removeAttribute('aria-sort')});"
    "th.setAttribute('aria-sort',up?'ascending':'descending');"
    "var key=function(tr){var td=tr.cells[column],v=td.dataset.v;"
    "return v===undefined?td.textContent.trim():v===''?NaN:Number(v)};"
    "var order=function(a,b){if(typeof a==='number'){if(isNaN(a)||isNaN(b))"
    "return isNaN(a)?(isNaN(b)?0:1):-1;return up?a-b:b-a}"
    "return up?a.localeCompare(b,'en',{numeric:true}):b.localeCompare(a,'en',{numeric:true})};"
    "Array.from(body.rows).map(function(tr,i){return{tr:tr,k:key(tr),i:i}})"
    ".sort(function(a,b){return order(a.k,b.k)||a.i-b.i})"
    ".forEach(function(e){body.appendChild(e.tr)})})})});\n";

/* ---------------------------------------------------------------- the page ------------------ */

void sl_report__head(sl_str *s, const sl_report__view *v) {
    const char *title = v->in->title ? v->in->title : "Scaling laws";
    sl_str_add(s, "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n"
                  "<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
                  "content=\"width=device-width,initial-scale=1\"/>\n"
                  "<link rel=\"icon\" href=\"data:,\"/>\n<title>");
    sl_plot_escape(s, title);
    sl_str_addf(s, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n", style_sheet);
    sl_str_add(s, "<p class=\"eyebrow\">");
    sl_str_add(s, v->in->plan || v->in->n_curves ? "Scaling study" : "Table of runs");
    sl_str_add(s, "</p>\n<h1>");
    sl_plot_escape(s, title);
    sl_str_add(s, "</h1>\n");
    if (v->in->subtitle) {
        sl_str_add(s, "<p class=\"dim\">");
        sl_plot_escape(s, v->in->subtitle);
        sl_str_add(s, "</p>\n");
    }
}

void sl_report__foot(sl_str *s) {
    sl_str_addf(s,
                "<footer>Made by symlaw " SL_VERSION ". This page is one file and fetches nothing; "
                "its figures are also available as SVG files. Headings of the table of runs sort "
                "it.</footer>\n</main>\n<script>\n%s</script>\n</body>\n</html>\n",
                script);
}

/* ---------------------------------------------------------------- figures ------------------- */

/* HTML of this folder as plain text, in place: tags are removed, references decoded. */
static void plain(sl_str *s) {
    static const struct {
        const char *name;
        char c;
    } reference[] = {
        { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' }, { "&#39;", '\'' }
    };
    if (!s->len) return;
    char *to = s->text;
    for (const char *at = s->text; *at;) {
        if (*at == '<') {
            at += strcspn(at, ">");
            at += *at == '>';
            continue;
        }
        size_t n = 1;
        char c = *at;
        for (int i = 0; *at == '&' && i < SL_LEN(reference); i++)
            if (strncmp(at, reference[i].name, strlen(reference[i].name)) == 0) {
                n = strlen(reference[i].name);
                c = reference[i].c;
            }
        *to++ = c;
        at += n;
    }
    sl_str_truncate(s, (size_t)(to - s->text));
}

static sl_status add_drawing(sl_str *s, const sl_report__view *v, const sl_report__figure *f,
                             bool narrow) {
    sl_plot *p = NULL;
    sl_str words = { 0 };
    sl_status st;
    f->caption(&words, v);
    plain(&words);
    SL_GO(sl_str_status(&words));
    SL_GO(f->draw(&p, v, narrow));
    sl_plot_describe(p, f->name, sl_str_text(&words));
    st = sl_plot_svg(s, p);
done:
    sl_str_clear(&words);
    sl_plot_free(p);
    return st;
}

sl_status sl_report__add_figure(sl_str *s, sl_report__view *v, const sl_report__figure *f) {
    if (!f->is(v)) return SL_OK;
    sl_str_addf(s, "<figure id=\"fig-%s\" class=\"wide%s\">\n", f->id, f->panels ? " panels" : "");
    SL_TRY(add_drawing(s, v, f, false));
    SL_TRY(add_drawing(s, v, f, true));
    sl_str_addf(s, "<figcaption><b>Figure %d.</b> ", ++v->number);
    f->caption(s, v);
    sl_str_addf(s, "</figcaption>\n<details><summary>Data of figure %d</summary>\n", v->number);
    f->data(s, v);
    sl_str_add(s, "</details>\n</figure>\n");
    return SL_OK;
}

/* ---------------------------------------------------------------- numbers ------------------- */

void sl_report__count(sl_str *s, int64_t n, const char *one, const char *many) {
    char digits[32];
    sl_str_addf(s, "%s %s", sl_group_digits(digits, n), n == 1 ? one : many);
}

/* With a fixed number of decimals, where they fit into a plain number. */
static void add_fixed(sl_str *s, double v, int decimals) {
    if (isfinite(v) && fabs(v) < 1e15) {
        char digits[64];
        sl_snprintf(digits, sizeof digits, "%.*f", decimals, fabs(v));
        const bool zero = strspn(digits, "0.") == strlen(digits);
        sl_str_addf(s, "%s%s", v < 0 && !zero ? "−" : "", digits);
        return;
    }
    sl_plot_number(s, v, 3);
}

/* Decimals for so many significant digits of v; -1 if it takes a power of ten. */
static int decimals_of(double v, int digits) {
    if (!isfinite(v) || v == 0) return -1;
    const int top = (int)floor(log10(fabs(v)));
    return top < -4 || top > 5 ? -1 : SL_MAX(digits - 1 - top, 0);
}

void sl_report__like(sl_str *s, double v, double value, int digits) {
    const int decimals = decimals_of(value, digits);
    // a whole number of more digits than were asked for is rounded by the other
    if (decimals < 0 || fabs(value) >= pow(10, digits))
        sl_plot_number(s, v, digits);
    else
        add_fixed(s, v, decimals);
}

static bool has_interval(sl_estimate e) { return isfinite(e.low) && isfinite(e.high); }

void sl_report__estimate(sl_str *s, sl_estimate e, int digits) {
    sl_report__like(s, e.value, e.value, digits);
    if (!isfinite(e.value) || !has_interval(e)) return;
    sl_str_add(s, " (");
    sl_report__like(s, e.low, e.value, digits);
    sl_str_add(s, " to ");
    sl_report__like(s, e.high, e.value, digits);
    sl_str_add_char(s, ')');
}

/* Percent to a tenth. */
static void add_tenths(sl_str *s, double share) {
    if (!isfinite(share)) {
        sl_plot_number(s, share, 3);
        return;
    }
    sl_str_addf(s, "%.1f", 100 * share);
}

/* As sl_report__estimate, of a share in percent. */
static void add_percent(sl_str *s, sl_estimate share) {
    add_tenths(s, share.value);
    if (!isfinite(share.value)) return;
    sl_str_add(s, " %");
    if (!has_interval(share)) return;
    sl_str_add(s, " (");
    add_tenths(s, share.low);
    sl_str_add(s, " to ");
    add_tenths(s, share.high);
    sl_str_add_char(s, ')');
}

/* ---------------------------------------------------------------- tables -------------------- */

void sl_report__table_open(sl_str *s, const char *class, const char *const *names, int n) {
    sl_str_addf(s, "<div class=\"scroll %s\" tabindex=\"0\"><table%s>\n<thead><tr>", class,
                strstr(class, "sort") ? " class=\"sort\"" : "");
    for (int i = 0; i < n; i++) {
        const bool number = names[i][0] == '#';
        sl_str_addf(s, "<th scope=\"col\"%s>", number ? " class=\"n\"" : "");
        sl_plot_escape(s, names[i] + number);
        sl_str_add(s, "</th>");
    }
    sl_str_add(s, "</tr></thead>\n<tbody>\n");
}

void sl_report__table_close(sl_str *s) { sl_str_add(s, "</tbody>\n</table></div>\n"); }

/* Opens the cell of a number that sorts by v; last if it is not known. */
static void open_number(sl_str *s, double v) {
    char digits[SL_REAL_TEXT_MAX] = "";
    if (isfinite(v))
        sl_real_text(digits, v);
    else if (isinf(v))
        sl_snprintf(digits, sizeof digits, "%s1e999", v < 0 ? "-" : "");
    sl_str_addf(s, "<td class=\"n\" data-v=\"%s\">", digits);
}

/* In seconds, minutes or hours. */
static void add_time(sl_str *s, double seconds) {
    const bool hours = seconds >= 7200, minutes = seconds >= 120;
    sl_plot_number(s, hours ? seconds / 3600 : minutes ? seconds / 60 : seconds, 3);
    if (isfinite(seconds)) sl_str_add(s, hours ? " h" : minutes ? " min" : " s");
}

static void add_cell(sl_str *s, const sl_report__cell *c) {
    const double v = c->e.value;
    if (c->kind >= SL_CELL_IS_NUMBER)
        open_number(s, v);
    else
        sl_str_add(s, c->kind == SL_CELL_IS_WORDS ? "<td class=\"text\">" : "<td>");
    switch (c->kind) {
    case SL_CELL_IS_TEXT: sl_plot_escape(s, c->text ? c->text : "–"); break;
    case SL_CELL_IS_WORDS: sl_plot_escape(s, c->text ? c->text : ""); break;
    case SL_CELL_IS_HTML: sl_str_add(s, c->text); break;
    case SL_CELL_IS_BLANK:
        if (isfinite(v)) sl_plot_number(s, v, 3);
        break;
    case SL_CELL_IS_NUMBER: sl_plot_number(s, v, c->digits); break;
    case SL_CELL_IS_FIXED: add_fixed(s, v, c->digits); break;
    case SL_CELL_IS_ESTIMATE: sl_report__estimate(s, c->e, c->digits); break;
    case SL_CELL_IS_PERCENT: add_percent(s, c->e); break;
    case SL_CELL_IS_TIME: add_time(s, v); break;
    }
    sl_str_add(s, "</td>");
}

void sl_report__row(sl_str *s, const char *class, const sl_report__cell *cells, int n) {
    if (class)
        sl_str_addf(s, "<tr class=\"%s\">", class);
    else
        sl_str_add(s, "<tr>");
    for (int i = 0; i < n; i++) add_cell(s, &cells[i]);
    sl_str_add(s, "</tr>\n");
}
