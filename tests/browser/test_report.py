"""The page of a study in a real browser: drawing, sorting, narrow screens, dark mode, print.

REPORT_PAGE names the program that writes the page; SYMLAW the one whose `laws --report` writes that of a table.
"""
import base64
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import look

ROOT = Path(__file__).parents[2]
FIGURES = ["solved", "r2", "loss", "leave-out", "sweep", "optima", "allocation", "isoflop",
           "curves", "others"]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    program = os.environ.get("REPORT_PAGE") or str(ROOT / "build" / "test" / "report_page")
    path = tmp_path_factory.mktemp("page") / "report.html"
    subprocess.run([program, str(path)], check=True, timeout=60)
    return path


def show(browser, path, width=1280, dark=False):
    """Opens the page in a window that wide."""
    look(browser, width, dark)
    browser.get(path.as_uri())


DRAWN = """
return Array.from(document.querySelectorAll('figure')).map(f => {
    const seen = Array.from(f.querySelectorAll('svg')).filter(s => s.getBoundingClientRect().width > 0);
    const b = seen.length ? seen[0].getBoundingClientRect() : {width: 0, height: 0, left: 0, right: 0};
    const texts = seen.length ? Array.from(seen[0].querySelectorAll('text')) : [];
    const out = texts.filter(t => { const r = t.getBoundingClientRect();
        return r.left < b.left - 1 || r.right > b.right + 1 || r.top < b.top - 1 || r.bottom > b.bottom + 1; });
    return {id: f.id, seen: seen.length, width: b.width, height: b.height, left: b.left, right: b.right,
            marks: seen.length ? seen[0].querySelectorAll('circle,path').length : 0,
            font: texts.length ? texts[0].getBoundingClientRect().height : 0,
            label: seen.length ? seen[0].getAttribute('aria-label') : null,
            desc: seen.length && seen[0].querySelector('desc') ? seen[0].querySelector('desc').textContent : '',
            out: out.map(t => t.textContent)};
});
"""


@pytest.mark.parametrize("width", [1280, 820, 390])
def test_every_figure_is_drawn_inside_the_window(browser, page, width):
    show(browser, page, width)
    drawn = browser.execute_script(DRAWN)
    ids = [d["id"] for d in drawn]
    assert [i for i in ids if i] == ["fig-" + f for f in FIGURES]
    for d in drawn:
        assert d["seen"] == 1, d  # the one that fits, and only that
        assert d["width"] > 250 and d["height"] > 150 and d["marks"] > 5, d
        assert d["left"] >= 0 and d["right"] <= width, d
        assert d["out"] == [], d
        assert d["font"] >= 9, d  # pixels: nothing is scaled until it cannot be read
        assert d["label"], d
        if d["id"]:
            assert len(d["desc"]) > 60, d


@pytest.mark.parametrize("width", [1280, 820, 390, 320])
def test_the_page_never_scrolls_sideways(browser, page, width):
    show(browser, page, width)
    # with all that is folded open
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    # what is wider scrolls in a box of its own
    wide = browser.execute_script("""
        return Array.from(document.querySelectorAll('main *')).filter(e => {
            if (e.closest('.scroll,pre,.formula,dd,svg,math')) return false;
            return e.getBoundingClientRect().right > innerWidth + 1; }).map(e => e.outerHTML.slice(0, 80))""")
    assert wide == []


def test_nothing_is_fetched_and_nothing_complains(browser, page):
    browser.get_log("browser")
    browser.get_log("performance")
    show(browser, page)
    assert browser.get_log("browser") == []
    asked = [m for e in browser.get_log("performance") for m in [e["message"]] if "Network.requestWillBeSent\"" in m]
    urls = [u for m in asked for u in re.findall(r'"url":"([^"]*)"', m)]
    assert [u for u in urls if not u.startswith(("file:", "data:"))] == []
    assert len([u for u in urls if u.startswith("file:") and not u.endswith("report.html")]) == 0


def column(browser, name):
    return browser.execute_script("""
        const t = document.querySelector('#runs ~ .scroll table.sort');
        const k = Array.from(t.querySelectorAll('thead th')).findIndex(h => h.textContent.trim() === arguments[0]);
        return Array.from(t.tBodies[0].rows).map(r => r.cells[k].dataset.v ?? r.cells[k].textContent)""", name)


def heading(browser, name):
    return browser.execute_script("""
        const t = document.querySelector('#runs ~ .scroll table.sort');
        return Array.from(t.querySelectorAll('thead [role=button]')).find(h => h.textContent.trim() === arguments[0])""", name)


def test_a_click_on_a_heading_sorts_the_runs(browser, page):
    show(browser, page)
    runs = column(browser, "run")
    assert len(runs) == 108
    before = [float(v) for v in column(browser, "loss")]
    heading(browser, "loss").click()
    up = [float(v) for v in column(browser, "loss")]
    assert up == sorted(before) and up != before
    heading(browser, "loss").click()
    assert [float(v) for v in column(browser, "loss")] == sorted(before, reverse=True)
    # rows stay whole, and those without a value come last either way
    for _ in range(2):
        heading(browser, "solved (%)").click()
        values = column(browser, "solved (%)")
        assert values[:48].count("") == 0 and values[48:] == [""] * 60
    heading(browser, "size").click()
    assert list(dict.fromkeys(column(browser, "size"))) == ["11k", "26k", "74k", "161k"]
    assert sorted(column(browser, "run")) == sorted(runs)
    # by keyboard too, and announced by screen readers
    browser.execute_script("arguments[0].focus()", heading(browser, "FLOPs"))
    browser.switch_to.active_element.send_keys(" ")
    assert browser.execute_script("return document.querySelector('#runs ~ .scroll th[aria-sort]').textContent") == "FLOPs"


def test_links_lead_to_their_sections(browser, page):
    show(browser, page)
    links = browser.execute_script("""return Array.from(document.querySelectorAll('a[href^="#"]')).map(
        a => [a.getAttribute('href'), document.querySelectorAll(a.getAttribute('href')).length])""")
    assert len(links) >= 20 and all(n == 1 for _, n in links)


def light_of(colour):
    r, g, b = (int(v) for v in re.findall(r"\d+", colour)[:3])
    return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255


COLOURS = """
const of = (e, p) => getComputedStyle(e)[p];
const svg = document.querySelector('#fig-loss svg');
return {back: of(document.body, 'backgroundColor'), text: of(document.querySelector('main p'), 'color'),
        caption: of(document.querySelector('figcaption'), 'color'), axis: of(svg.querySelector('text'), 'fill'),
        red: of(document.querySelector('.red'), 'color'),
        mark: of(svg.querySelector('g.q'), 'color'), plot: of(svg.querySelector('.b'), 'fill')};
"""


@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark(browser, page, dark):
    show(browser, page, dark=dark)
    c = browser.execute_script(COLOURS)
    back = light_of(c["back"])
    assert back < 0.15 if dark else back > 0.9
    for name in ["text", "caption", "axis", "red", "mark"]:
        assert abs(light_of(c[name]) - back) > 0.3, (name, c)
    r, g, b = (int(v) for v in re.findall(r"\d+", c["red"])[:3])
    assert r > 1.5 * g and r > 1.5 * b  # red words are red


def test_paper_is_light_in_the_dark_too(browser, page):
    show(browser, page, dark=True)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": [
        {"name": "prefers-color-scheme", "value": "dark"}]})
    c = browser.execute_script(COLOURS)
    assert light_of(c["back"]) > 0.9 and light_of(c["text"]) < 0.4 and light_of(c["axis"]) < 0.5


# ---------------------------------------------------------------- paper

def pdf_of(browser, **more):
    pdf = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True, **more})
    return base64.b64decode(pdf["data"])


def test_no_figure_is_cut_by_the_end_of_a_page(browser, page, tmp_path):
    """A figure that is cut has its caption on another page than its axes. Each panel's x axis has a name, the
    caption stands below it; both are looked for on every page."""
    if not shutil.which("pdftotext"):
        pytest.skip("no pdftotext: tools/setup check installs Debian's poppler-utils")
    show(browser, page)
    path = tmp_path / "report.pdf"
    for paper in [{"paperWidth": 8.27, "paperHeight": 11.69}, {"paperWidth": 8.5, "paperHeight": 11}]:
        path.write_bytes(pdf_of(browser, **paper))
        text = subprocess.run(["pdftotext", "-layout", str(path), "-"], check=True, capture_output=True).stdout
        pages = text.decode().split("\f")
        assert 6 < len(pages) < 30
        # the table of runs goes over several pages, each with its headings
        assert len(re.findall(r"N +D +FLOPs", text.decode())) >= 3
        first = {1: "solved (%)", 2: "99 (%)", 3: "validation loss", 4: "predicted", 5: "batch size 8",
                 6: "optimal batch size", 7: "tokens per parameter", 8: "parameters N", 9: "loss",
                 10: "public formulas"}
        for number, words in first.items():
            holders = [p for p in pages if f"Figure {number}." in p]
            assert len(holders) == 1, number
            above = holders[0].split(f"Figure {number}.")[0]
            assert words in above, (number, words, above)
    avoid = browser.execute_script("""return Array.from(document.querySelectorAll('figure,.problem')).map(
        f => getComputedStyle(f).breakInside)""")
    assert avoid.count("avoid") == 0  # on the screen it does not matter
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    avoid = browser.execute_script("""return Array.from(document.querySelectorAll('figure,.problem')).map(
        f => [getComputedStyle(f).breakInside, f.getBoundingClientRect().height])""")
    assert len(avoid) >= 13
    # and none is higher than a page, which nothing could keep whole: 243 mm at 96 pixels an inch
    assert all(rule == "avoid" and height < 243 / 25.4 * 96 for rule, height in avoid), avoid


# ---------------------------------------------------------------- a table of others

def test_the_report_of_a_plain_table(browser, tmp_path):
    program = os.environ.get("SYMLAW") or str(ROOT / "build" / "symlaw")
    table, report = tmp_path / "runs.csv", tmp_path / "report.html"
    rows = ["model,params,batch_size,learning_rate,tokens_per_param,flops,acc_solved,acc_r2_099,val_loss"]
    for size, n in enumerate([1e6, 4e6, 16e6, 64e6]):
        for ratio in [5, 10, 20, 40, 80]:
            c = 6 * n * n * ratio
            loss = (c / 1e12) ** -0.1 * (1 + 0.02 * abs(ratio - 20) / 20)
            rows.append(f"<b>{size}</b>,{n},32,1e-3,{ratio},{c},{1 - loss},{1 - loss ** 2},{loss}")
    table.write_text("\n".join(rows) + "\n")
    subprocess.run([program, "laws", str(table), "--draws", "50", "--report", str(report), "--figures",
                    str(tmp_path / "figures")], check=True, timeout=120, stdout=subprocess.DEVNULL)
    browser.get_log("browser")
    show(browser, report)
    assert browser.get_log("browser") == []
    ids = [d["id"] for d in browser.execute_script(DRAWN)]
    assert ids[:3] == ["fig-solved", "fig-r2", "fig-loss"] and "fig-allocation" in ids
    assert browser.execute_script("return document.querySelectorAll('table.sort td b').length") == 0
    assert "<b>0</b>" in column(browser, "size")
    svg = tmp_path / "figures" / "loss.svg"
    show(browser, svg)  # stands alone, as XML
    assert browser.execute_script("return document.documentElement.tagName") == "svg"
    assert browser.execute_script("return document.querySelectorAll('path').length") > 5
