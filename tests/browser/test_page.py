"""The page of `symlaw serve` in a real browser: a table is dropped and its formula found, copied and drawn; the
universe is browsed; a study is watched while it runs.

SYMLAW names the program. PAGE_PICTURES names a folder for screenshots.
"""
import csv
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from conftest import look

pytest.importorskip("selenium", reason="no selenium: tools/setup check installs Debian's")
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).parents[2]
PROGRAM = os.environ.get("SYMLAW") or str(ROOT / "build" / "symlaw")
AXE = Path(os.environ.get("AXE_CORE") or ROOT / "build" / "axe.min.js")
PICTURES = os.environ.get("PAGE_PICTURES")


# ---------------------------------------------------------------- the server

def serve(*options):
    """A running server and its address, which is the first line that it prints."""
    process = subprocess.Popen([PROGRAM, "serve", "--port", "0", *options], stdout=subprocess.PIPE, text=True)
    url = process.stdout.readline().strip()
    assert url.startswith("http://127.0.0.1:"), url
    return process, url


def end(process):
    process.send_signal(signal.SIGTERM)
    process.wait(60)
    process.stdout.close()


@pytest.fixture(scope="module")
def url():
    process, url = serve()
    yield url
    end(process)


# ---------------------------------------------------------------- what a person does

def one(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector)


def text_of(browser, selector):
    """By a script: parts of the page are replaced at any moment, and an element of before has no text."""
    return browser.execute_script("return document.querySelector(arguments[0]).innerText.trim()", selector)


def wait(browser, script, *args, seconds=120):
    """The first value of the script that is true."""
    return WebDriverWait(browser, seconds, 0.1).until(
        lambda b: b.execute_script(script, *args), f"never true: {script} {args}")


def click(browser, selector):
    wait(browser, "return !!document.querySelector(arguments[0])", selector)
    for last in [False, False, True]:  # it may be replaced by its like between two steps
        try:
            browser.execute_script("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
            one(browser, selector).click()
            return
        except StaleElementReferenceException:
            if last:
                raise


@pytest.fixture
def page(browser, url):
    """The page as a new visitor sees it. Whatever the browser complains about fails the test."""
    look(browser)
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get(url)
    wait(browser, "return document.querySelectorAll('[data-example]').length > 0")
    yield browser
    assert [e for e in browser.get_log("browser") if e["level"] != "DEBUG"] == []


def drop(browser, name, text):
    """Drops a file on the page, as from a file manager."""
    browser.execute_script("""
        const data = new DataTransfer();
        data.items.add(new File([arguments[1]], arguments[0], {type: 'text/csv'}));
        for (const type of ['dragover', 'drop'])
            document.body.dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));
        """, name, text)


def loaded(browser, name):
    wait(browser, "return document.querySelector('#preview .data-name')?.textContent.includes(arguments[0])", name)


def find(browser, seconds=240):
    """Presses the button and waits for the figures."""
    click(browser, "#start")
    wait(browser, "return document.querySelector('#figures svg, #answer .alert')", seconds=seconds)
    assert [e.text for e in browser.find_elements(By.CSS_SELECTOR, "#answer .alert")] == []


def formula(browser):
    return text_of(browser, "#formula-card .formula-text")


def example(browser, name):
    click(browser, f'[data-example="{name}.csv"]')
    loaded(browser, name)


def picture(browser, name):
    if PICTURES:
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        browser.save_screenshot(str(Path(PICTURES) / f"{name}.png"))


KEPLER = (ROOT / "examples" / "kepler.csv").read_text()


# ---------------------------------------------------------------- discover

def test_a_dropped_table_gives_its_formula_figure_and_latex(page):
    drop(page, "planets.csv", KEPLER)
    loaded(page, "planets.csv")
    heads = page.execute_script(
        "return Array.from(document.querySelectorAll('#preview thead th'), t => t.textContent)")
    assert [h[:1] for h in heads] == ["p", "a", "T"]
    assert "text" in heads[0] and "input" in heads[1] and "target" in heads[2]
    assert page.execute_script("return document.querySelectorAll('#preview tbody tr').length") == 8
    find(page)
    assert formula(page) == "T = a^(3/2)"
    # typeset: the left side, a power, a fraction
    tags = page.execute_script(
        "return Array.from(document.querySelectorAll('#formula-card math *'), e => e.localName)")
    assert "msup" in tags and "mfrac" in tags
    assert text_of(page, "#formula-card .verdict") == "Within the noise"
    # the figure: eight dots, and a curve that goes through them
    curve, dots = page.execute_script("""
        const svg = document.querySelector('#figures svg');
        const path = svg.querySelector('path.curve');
        const n = path.getTotalLength(), dots = Array.from(svg.querySelectorAll('circle.dot'));
        const on = Array.from({length: 2000}, (_, i) => path.getPointAtLength(n * i / 1999));
        return [n, dots.map(d => Math.min(...on.map(p => Math.hypot(p.x - d.cx.baseVal.value, p.y - d.cy.baseVal.value))))];
        """)
    assert curve > 200 and len(dots) == 8 and max(dots) < 2, (curve, dots)
    # a copy for a paper
    page.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    click(page, "[data-copy=latex]")
    wait(page, "return document.querySelector('.copy [role=status]').textContent === 'LaTeX copied'")
    text = page.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert re.fullmatch(r"a\^\{?\\frac\{3\}\{2\}\}?", text), text
    assert text_of(page, ".copied") == text
    formats = page.execute_script("return Array.from(document.querySelectorAll('[data-copy]'), b => b.dataset.copy)")
    assert {"latex", "python", "numpy", "sympy", "c", "julia", "excel", "json"} <= set(formats)


def test_a_pasted_table_and_a_chosen_target(page):
    page.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    rows = ["y,z,w"] + [f"{3 * k * k + 2},{k},{7 - k}" for k in range(1, 15)]
    page.execute_async_script("navigator.clipboard.writeText(arguments[0]).then(arguments[1])", "\n".join(rows))
    click(page, "#csv")
    one(page, "#csv").send_keys(Keys.CONTROL, "v")
    loaded(page, "pasted")
    assert one(page, "#target").get_attribute("value") == "y"
    one(page, "#target").send_keys("w")
    wait(page, "return document.querySelector('th[data-column=w]').classList.contains('is-target')")
    # the target is no input; without any input there is nothing to search
    assert not one(page, "input[name=input][value=w]").is_enabled()
    click(page, "input[name=input][value=z]")
    assert not one(page, "#start").is_enabled()
    click(page, "input[name=input][value=z]")
    assert one(page, "#start").is_enabled()
    find(page)
    assert formula(page) in ["w = -z + 7", "w = 7 - z"]


def test_without_a_clipboard_the_text_is_there_to_select(page):
    example(page, "pendulum")
    find(page)
    page.execute_script("""
        Object.defineProperty(navigator, 'clipboard', {value: {writeText: () => Promise.reject(new Error())}});
        document.execCommand = () => false;""")
    click(page, "[data-copy=python]")
    wait(page, "return document.querySelector('.copy [role=status]').textContent.startsWith('Select')")
    assert "sqrt(length)" in text_of(page, ".copied")


def test_two_inputs_have_a_map_and_a_surface_that_turns(page):
    example(page, "wind")
    find(page)
    assert re.fullmatch(r"P = 0\.0001922\d*\*d\^2\*v\^3", formula(page)), formula(page)
    assert "±" in text_of(page, ".constants td")
    colours = """
        const c = document.querySelector(arguments[0]), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        const seen = new Set();
        for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
        return seen.size;"""
    assert page.execute_script(colours, "canvas.heat") > 40
    assert page.execute_script("return document.querySelectorAll('#figures .dot.tone-value').length") == 60
    wait(page, colours.replace("return seen.size", "return seen.size > 20"), "canvas.space")
    image = "const c = document.querySelector('canvas.space'); return c.toDataURL()"
    before = page.execute_script(image)
    page.execute_script("document.querySelector('canvas.space').scrollIntoView({block: 'center'})")
    one(page, "canvas.space").send_keys(Keys.ARROW_RIGHT)
    wait(page, "const c = document.querySelector('canvas.space'); return c.toDataURL() !== arguments[0]", before)
    turned = page.execute_script(image)
    page.execute_script("""
        const c = document.querySelector('canvas.space'), b = c.getBoundingClientRect();
        const at = (type, dx) => c.dispatchEvent(new PointerEvent(type, {pointerId: 1, bubbles: true,
            clientX: b.left + 100 + dx, clientY: b.top + 100}));
        c.setPointerCapture = () => {};
        at('pointerdown', 0); at('pointermove', 60); at('pointerup', 60);""")
    wait(page, "const c = document.querySelector('canvas.space'); return c.toDataURL() !== arguments[0]", turned)


def test_more_inputs_and_units(page):
    example(page, "energy")
    find(page)
    assert formula(page) == "E = m*v^2/2 + 9.81*m*h"
    assert "m s⁻²" in text_of(page, ".constants")
    titles = page.execute_script("return Array.from(document.querySelectorAll('#figures .figure-title, #residuals .figure-title'), t => t.textContent)")
    assert titles[:3] == ["By m (kg)", "By v (m/s)", "By h (m)"]
    assert "Predicted against measured" in titles and len(titles) == 5


def test_options_reach_the_search(page):
    rows = ["a,y"] + [f"{k},{2 * k * k + (k % 3 - 1) * 0.01}" for k in range(1, 31)]
    drop(page, "square.csv", "\n".join(rows))
    loaded(page, "square.csv")
    one(page, "#option-holdout").send_keys("0.2")
    one(page, "#option-max-size").send_keys("5")
    for box in page.find_elements(By.CSS_SELECTOR, "input[name=option-ops]"):
        if box.get_attribute("value") not in ("exp", "log"):
            page.execute_script("arguments[0].click()", box)
    page.execute_script("document.querySelector('details.more').open = true")
    one(page, "#option-seed").send_keys("3")
    sent = page.execute_script("""
        const old = window.fetch;
        window.fetch = (url, init) => { if (init?.method === 'POST') window.sent = init.body; return old(url, init); };""")
    find(page)
    sent = json.loads(page.execute_script("return window.sent"))["options"]
    assert sent == {"target": "y", "inputs": "a", "holdout": 0.2, "max-size": 5, "ops": "exp,log", "seed": 3}
    assert "held-out R²" in text_of(page, ".facts") and "6 rows" in text_of(page, ".facts")
    assert formula(page) in ["y = 2*a^2", "y = 2*a*a"]
    sizes = page.execute_script("return Array.from(document.querySelectorAll('.front-table tbody tr'), r => +r.cells[0].textContent)")
    assert max(sizes) <= 5


def test_a_table_is_read_anew_as_asked(page):
    drop(page, "plain.csv", "1,2\n2,8\n3,18\n4,32\n5,50\n6,72\n")
    loaded(page, "plain.csv")
    heads = "return Array.from(document.querySelectorAll('#preview th'), t => t.dataset.column).join()"
    assert page.execute_script(heads) == "x1,x2"
    click(page, "#reading summary")
    click(page, "#reading .segments label:nth-child(2)")  # header: yes
    wait(page, heads + " === '1,2'")
    find(page)
    assert text_of(page, ".outcome").split(" · ")[2] == "5 rows"


def test_notes_stand_before_the_formula(page):
    rows = ["a,b,y"] + [f"{k},{'' if k == 4 else k % 5},{3 * k + k % 5}" for k in range(1, 21)]
    drop(page, "gaps.csv", "\n".join(rows))
    loaded(page, "gaps.csv")
    assert "1 missing" in text_of(page, "th[data-column=b]")
    find(page)
    note = wait(page, "return document.querySelector('#answer .notes')?.innerText")
    assert note == "Rows: 19 of 20: 1 with a missing cell dropped."
    assert page.execute_script("""return document.querySelector('#answer .notes').compareDocumentPosition(
        document.querySelector('#formula-card')) & Node.DOCUMENT_POSITION_FOLLOWING""")


def test_the_front_is_clicked_through(page):
    example(page, "wind")
    find(page)
    first = formula(page)
    rows = page.find_elements(By.CSS_SELECTOR, ".front-table tbody tr")
    assert len(rows) >= 4
    dots = page.execute_script("return document.querySelectorAll('#front-card circle.dot').length")
    assert dots == len(rows)
    seen, residuals = set(), set()
    for k in range(len(rows)):
        click(page, f".front-table tbody tr:nth-child({k + 1}) .pick")
        # the card and the figures are those of this row once its error and its verdict are shown
        verdict = wait(page, """
            const row = document.querySelectorAll('.front-table tbody tr')[arguments[0]];
            const error = document.querySelector('#formula-card .facts dd').firstChild.textContent;
            const size = document.querySelectorAll('#formula-card .facts dd')[2].firstChild.textContent;
            return row.getAttribute('aria-current') === 'true' && error === row.cells[1].textContent
                && size === row.cells[0].textContent && document.querySelector('#formula-card .verdict').textContent""", k)
        seen.add(formula(page))
        residuals.add(page.execute_script(
            "return Array.from(document.querySelectorAll('#residuals figure:last-child .dot'), d => d.getAttribute('cy')).join()"))
        assert verdict == ("Within the noise" if formula(page) == first else "Another formula of the front")
    assert len(seen) == len(rows) and len(residuals) == len(rows)  # each with figures of its own
    # the figure of the front does it too, by keyboard
    front = one(page, "#front-card .plot")
    page.execute_script("arguments[0].focus()", front)
    front.send_keys(Keys.HOME)
    assert "size" in text_of(page, "#front-card .readout")
    front.send_keys(Keys.ENTER)
    wait(page, "return document.querySelector('.front-table tbody tr').getAttribute('aria-current') === 'true'")


def noise():
    """A table without any law."""
    draw = random.Random(7)
    rows = [f"{draw.uniform(1, 9):.6f},{draw.uniform(1, 9):.6f},{draw.uniform(-5, 5):.6f}" for _ in range(400)]
    return "\n".join(["a,b,y", *rows])


def test_a_long_search_is_stopped_and_keeps_what_it_found(page):
    drop(page, "noise.csv", noise())
    loaded(page, "noise.csv")
    page.execute_script("document.querySelector('input[name=option-effort][value=high]').click()")
    click(page, "#start")
    # the front is there while the search runs
    wait(page, "return document.querySelectorAll('.front-table tbody tr').length > 0")
    assert text_of(page, "#formula-card .verdict") == "Best so far"
    assert not one(page, "#start").is_enabled()
    click(page, "#stop")
    wait(page, "return document.querySelector('.outcome')?.textContent.startsWith('Stopped on request')")
    wait(page, "return !!document.querySelector('#figures svg')")
    assert formula(page).startswith("y = ")
    assert one(page, "#start").is_enabled()


def test_what_is_wrong_with_a_table_is_said(page):
    drop(page, "words.csv", "name,colour\nAnna,red\nBert,blue\n")
    loaded(page, "words.csv")
    assert '"red" is no number' in text_of(page, "#preview .notes")
    assert "cannot be searched" in text_of(page, "#preview .alert")
    assert not one(page, "#start").is_enabled()
    # a search all the same: the server's text and its remedy
    drop(page, "one.csv", "a,b\n1,2\n2,oops\n3,4\n")
    loaded(page, "one.csv")
    assert "oops" in text_of(page, "#preview .notes")
    one(page, "#target").send_keys("b")
    click(page, "input[name=input][value=a]")
    click(page, "#start")
    wait(page, "return document.querySelector('#status .alert')")
    assert "oops" in text_of(page, "#status .alert-text") and "row 2" in text_of(page, "#status .alert-text")
    assert len(text_of(page, "#status .alert-remedy")) > 10
    assert one(page, "#status .alert").get_attribute("role") == "alert"
    assert one(page, "#start").is_enabled()
    # a good table afterwards clears it
    drop(page, "planets.csv", KEPLER)
    loaded(page, "planets.csv")
    assert page.find_elements(By.CSS_SELECTOR, ".alert") == []
    page.get_log("browser")  # an answer 400 is named there


def test_names_and_formulas_are_text_not_markup(page):
    rows = ["<img src=x onerror=alert(1)>,y"] + [f"{k},{2 * k * k}" for k in range(1, 12)]
    drop(page, "<b>odd</b>.csv", "\n".join(rows))
    loaded(page, "<b>odd</b>.csv")
    find(page)
    assert page.execute_script("return document.querySelectorAll('main img, main b').length") == 0
    assert "2*" in formula(page) and "^2" in formula(page)


def test_names_of_several_letters_stand_apart(page):
    example(page, "resistors")
    find(page)
    gap = """const names = Array.from(document.querySelectorAll('#formula-card math mfrac > :first-child mi'), e => e.getBoundingClientRect());
        return names[1].left - names[0].right"""
    assert formula(page) == "R = R1*R2/(R1 + R2)" and page.execute_script(gap) > 3


def saved(page, path):
    """The file that a button has downloaded, when it is whole."""
    WebDriverWait(page, 60).until(lambda _: path.is_file() and path.stat().st_size > 0)
    return path.read_text()


def test_the_table_with_predictions(page, tmp_path):
    """All rows and columns, also where the figures show fewer; of any formula of the front."""
    page.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    rows = ["who,a b,y"] + [f"row {k},{k % 100 / 10},{3 * (k % 100 / 10) ** 2 + 0.5}" for k in range(1, 2501)]
    drop(page, "many.csv", "\n".join(rows))
    loaded(page, "many.csv")
    find(page)
    for k in (0, 1):  # the simplest is a number alone
        click(page, f".front-table tbody tr:nth-child({k + 1}) .pick")
        wait(page, """const row = document.querySelectorAll('.front-table tbody tr')[arguments[0]];
            const size = document.querySelectorAll('#formula-card .facts dd')[2]?.firstChild.textContent;
            return size === row.cells[0].textContent && document.querySelector('#save-rows')""", k)
        path = tmp_path / "many_fitted.csv"
        path.unlink(missing_ok=True)
        click(page, "#save-rows")
        found = list(csv.reader(io.StringIO(saved(page, path))))
        assert found[0] == ["who", "a b", "y", "y_fitted", "y_residual"] and len(found) == 2501
        assert [",".join(r[:3]) for r in found] == rows
        assert (len({r[3] for r in found[1:]}) == 1) == (k == 0)
        for r in found[1:]:
            assert abs(float(r[2]) - float(r[3]) - float(r[4])) < 1e-6


def test_the_result_is_a_file(page, tmp_path):
    page.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    example(page, "pendulum")
    find(page)
    click(page, "#save-rows")
    assert saved(page, tmp_path / "pendulum_fitted.csv").startswith("length")
    click(page, "#save-result")
    assert json.loads(saved(page, tmp_path / "pendulum.json"))["data"]["rows"] == 30


# ---------------------------------------------------------------- figures

def test_figures_are_read_by_pointer_keys_and_table(page):
    example(page, "pendulum")
    find(page)
    plot = one(page, "#figures .plot")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].focus()", plot)
    plot.send_keys(Keys.ARROW_RIGHT)
    assert text_of(page, "#figures .readout") == "data: length 0.1, period 0.6357"
    plot.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert text_of(page, "#figures .readout") == "data: length 0.2, period 0.9002"
    plot.send_keys(Keys.ESCAPE)
    assert text_of(page, "#figures .readout") == ""
    page.execute_script("""
        const dot = document.querySelectorAll('#figures svg circle.dot')[29].getBoundingClientRect();
        document.querySelector('#figures .plot').dispatchEvent(new PointerEvent('pointermove',
            {bubbles: true, clientX: dot.x + 3, clientY: dot.y + 3}))""")
    assert text_of(page, "#figures .readout").startswith("data: length 3, period 3.4")
    click(page, "#figures .figure-data summary")
    cells = wait(page, """const rows = document.querySelectorAll('#figures .figure-data table:last-child tbody tr');
        return rows.length && [rows.length, rows[0].textContent]""")
    assert cells[0] == 30 and cells[1].startswith("0.10.6357")


TICKS = """
const [low, high, count, log] = arguments, done = arguments[4];
import('./format.js').then(f => done((log ? f.logTicks : f.linearTicks)(low, high, count)));
"""


@pytest.mark.parametrize("low, high, count, log, texts", [
    (0, 1, 5, False, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
    (-3.2, 4.1, 4, False, ["−2", "0", "2", "4"]),
    (0, 3e7, 3, False, ["0", "10⁷", "2·10⁷", "3·10⁷"]),
    (1e-9, 1e-3, 6, True, ["10⁻⁹", "10⁻⁸", "10⁻⁷", "10⁻⁶", "10⁻⁵", "10⁻⁴", "0.001"]),
    (1, 50, 5, True, ["1", "2", "5", "10", "20", "50"]),
    (0.5, 1.5, 4, True, ["0.6", "0.8", "1", "1.2", "1.4"]),
])
def test_ticks(page, low, high, count, log, texts):
    ticks = page.execute_async_script(TICKS, low, high, count, log)
    assert [t["text"] for t in ticks if t["text"]] == texts


@pytest.mark.parametrize("call, text", [
    ("number(0.000192271)", "1.923·10⁻⁴"), ("number(-1234.5)", "−1235"), ("number(0)", "0"), ("number(1e9)", "10⁹"),
    ("number(null)", "–"), ("share(1)", "1"), ("share(0.99980812)", "0.999808"), ("share(0.5)", "0.5"),
    ("share(1 - 4.9e-7)", "1 − 4.9·10⁻⁷"), ("withError(2.005853, 0.00029)", "2.00585 ± 0.00029"),
    ("withError(1.9227e-4, 2.7e-7)", "(1.9227 ± 0.0027)·10⁻⁴"), ("withError(9.81, 0)", "9.81"),
    ("whole(1234567)", "1,234,567"), ("unitText('m s^-2')", "m s⁻²"), ("seconds(3725)", "1 h 2 min"),
])
def test_numbers(page, call, text):
    got = page.execute_async_script(
        "const done = arguments[0]; import('./format.js').then(({number, share, withError, whole, unitText, seconds}) => done("
        + call + "))")
    assert got == text


# ---------------------------------------------------------------- universe

def universe(browser, url):
    browser.get(url + "#universe")
    wait(browser, "return document.querySelectorAll('.members li').length")


def test_the_universe_is_browsed(page, url):
    universe(page, url)
    assert "929 expressions" in text_of(page, "#universe-body")
    texts = "return Array.from(document.querySelectorAll('.members .index'), e => e.textContent)"
    assert page.execute_script(texts) == [str(i) for i in range(20)]
    wait(page, "return document.querySelectorAll('#member figure').length === 2")
    members = one(page, ".members")
    page.execute_script("arguments[0].focus()", members)
    members.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    wait(page, "return document.querySelector('#member .formula-text')?.textContent === 'exp(x1)'")
    members.send_keys(Keys.PAGE_DOWN)
    wait(page, texts + "[0] === '20'")
    click(page, ".pager button:last-child")
    wait(page, texts + "[0] === '920'")
    assert len(page.execute_script(texts)) == 9
    # one pair is drawn, then another
    wait(page, "return document.querySelectorAll('#member circle.dot').length > 10")
    picture(page, "universe")
    dots = "return Array.from(document.querySelectorAll('#member circle.dot'), d => d.getAttribute('cx')).join()"
    before = page.execute_script(dots)
    click(page, "#draw")
    wait(page, dots + " !== arguments[0]", before)


def test_the_universe_is_searched_and_asked(page, url):
    universe(page, url)
    one(page, "#universe-contains").send_keys("sin(x2)")
    wait(page, "return document.querySelector('.pager p').textContent === 'Page 1'")
    labels = "return Array.from(document.querySelectorAll('.members math'), m => m.getAttribute('aria-label'))"
    texts = page.execute_script(labels)
    assert len(texts) == 20 and all("sin(x2)" in t for t in texts)
    click(page, ".pager button:nth-child(3)")
    wait(page, "return document.querySelector('.pager p').textContent === 'Page 2'")
    more = page.execute_script(labels)
    assert all("sin(x2)" in t for t in more) and not set(more) & set(texts)
    click(page, ".pager button:nth-child(2)")
    wait(page, "return document.querySelector('.pager p').textContent === 'Page 1'")
    assert page.execute_script(labels) == texts
    # the same function in other words is a member
    one(page, "#ask").send_keys("x1*x2/x1 + x1", Keys.ENTER)
    wait(page, "return document.querySelector('#ask-answer .verdict')")
    assert "In the set: number 12" in text_of(page, "#ask-answer .verdict")
    assert text_of(page, "#ask-answer .formula-text") == "x1 + x2"
    click(page, "#ask-answer button")
    wait(page, "return document.querySelector('.members [aria-selected=true] .index')?.textContent === '12'")
    one(page, "#ask").clear()
    one(page, "#ask").send_keys("exp(exp(exp(exp(x1))))", Keys.ENTER)
    wait(page, "return document.querySelector('#ask-answer .verdict')?.textContent === 'Not in the set.'")
    one(page, "#ask").clear()
    one(page, "#ask").send_keys("x1 + * x2", Keys.ENTER)
    wait(page, "return document.querySelector('#ask-answer .alert')")
    assert len(text_of(page, "#ask-answer .alert")) > 10
    page.get_log("browser")  # an answer 400 is named there
    # another set
    page.execute_script("document.querySelector('#universe-contains').value = ''")
    one(page, "#universe-contains").send_keys(" ")
    one(page, "#universe-depth").send_keys("1")
    wait(page, "return /of 20$/.test(document.querySelector('.pager p').textContent)")


# ---------------------------------------------------------------- study

PLAN = {
    "name": "small",
    "about": "Two tiny models on expressions of depth 1",
    "train": {"depth": 1, "points": 8, "optimizer": "adamw", "lanes": 1, "dropout": 0, "attention-dropout": 0,
              "init-scale": 0.15, "valid-pairs": 50},
    "sizes": [{"width": 8, "layers": 1}, {"width": 16, "layers": 1}],
    "sweep": {"ratio": 5, "batch": [8], "lr": [4e-3, 8e-3], "grow": 0},
    "scale": {"ratios": [5, 10, 20], "seeds": [0]},
    "eval": {"test": {"limit": 10, "samples": 4, "seeds": 1}},
}


def test_a_running_study_is_watched(browser, tmp_path):
    """The study takes a second or two, so all runs but one are given before; their laws are drawn meanwhile."""
    plan, folder, whole = tmp_path / "small.json", tmp_path / "small", tmp_path / "whole"
    plan.write_text(json.dumps(PLAN))
    for action, out in (("run", whole), ("init", folder)):
        subprocess.run([PROGRAM, "study", action, str(plan), "--out", str(out)], check=True, timeout=600,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process, url = serve("--study", str(folder))
    worker = None
    try:
        look(browser)
        browser.get_log("browser")
        browser.get(url + "#study")
        wait(browser, "return document.querySelectorAll('#runs tbody tr').length > 0")
        assert text_of(browser, "#study-state").startswith("0 of ")
        assert "small" in text_of(browser, "#study-title")
        # without a reload: runs begin and end, curves grow, laws and report come
        runs = sorted((whole / "runs").iterdir())
        late = next(r for r in runs if "-r10-" in r.name)
        for run in runs:
            if run != late:
                shutil.copytree(run, folder / "runs" / run.name, dirs_exist_ok=True)
        wait(browser, "return /^[1-9]/.test(document.querySelector('#study-state').textContent)")
        wait(browser, "return document.querySelectorAll('#curves path.curve').length > 0")
        # laws are drawn before the study is complete, and marked
        wait(browser, """const t = document.querySelector('#laws-title')?.textContent;
            return t?.startsWith('Laws: preliminary, ') && document.querySelectorAll('#laws circle.dot').length > 1 && t""")
        worker = subprocess.Popen([PROGRAM, "study", "run", str(plan), "--out", str(folder), "--quiet"],
                                  stdout=subprocess.DEVNULL)
        assert worker.wait(600) == 0
        wait(browser, """const m = /^(\\d+) of (\\d+) /.exec(document.querySelector('#study-state').textContent);
            return m && m[1] === m[2]""")
        wait(browser, "return document.querySelector('#report iframe')")
        rows = browser.execute_script("return Array.from(document.querySelectorAll('#runs tbody tr'), r => Array.from(r.cells, c => c.textContent))")
        assert len(rows) == len(runs) and all(r[3] == "done" and r[4] == "8" and r[5] in ("0.004", "0.008") and r[6] != "–" for r in rows), rows
        wait(browser, "return document.querySelector('#laws-title').textContent === 'Laws'")
        wait(browser, "return document.querySelectorAll('#curves path.curve').length === arguments[0]", len(rows))
        browser.switch_to.frame(one(browser, "#report iframe"))
        wait(browser, "return document.querySelector('h1')?.textContent === 'small'")
        browser.switch_to.default_content()
        assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []
    finally:
        browser.switch_to.default_content()
        if worker and worker.poll() is None:
            worker.send_signal(signal.SIGTERM)
            worker.wait(120)
        end(process)


def test_without_a_study_the_page_says_how_to_show_one(page, url):
    page.get(url + "#study")
    wait(page, "return document.querySelector('#study-body .command')")
    assert "symlaw serve --study" in text_of(page, "#study-body")


# ---------------------------------------------------------------- everybody

def views(browser, url):
    """Each state of the page that has something of its own to see."""
    browser.get(url)
    wait(browser, "return document.querySelectorAll('[data-example]').length > 0")
    yield "start"
    example(browser, "wind")
    browser.execute_script("document.querySelector('details.more').open = true")
    yield "data"
    find(browser)
    click(browser, "[data-copy=latex]")
    yield "answer"
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    yield "open"
    universe(browser, url)
    wait(browser, "return document.querySelectorAll('#member circle.dot').length > 10")
    one(browser, "#ask").send_keys("x2/x1", Keys.ENTER)
    wait(browser, "return document.querySelector('#ask-answer .verdict')")
    yield "universe"
    browser.get(url + "#study")
    wait(browser, "return document.querySelector('#study-body .command')")
    yield "study"


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing(page, url, dark):
    if not AXE.is_file():
        pytest.skip("no axe-core: tools/setup check fetches it")
    look(page, dark=dark)
    for name in views(page, url):
        page.execute_script(AXE.read_text())
        found = page.execute_async_script("""
            const done = arguments[0];
            axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations.map(v =>
                [v.id, v.nodes.map(n => n.html.slice(0, 120) + ' ' + n.failureSummary)])));""")
        assert found == [], (name, found)


@pytest.mark.parametrize("width", [1280, 820, 390, 320])
def test_the_page_never_scrolls_sideways(page, url, width):
    look(page, width)
    for name in views(page, url):
        wide = page.execute_script("""
            return Array.from(document.querySelectorAll('main *, header *')).filter(e => {
                if (e.closest('.scroll, .formula, pre, svg, math, .members, .front-table, .offscreen')) return false;
                return e.getBoundingClientRect().right > innerWidth + 1; }).map(e => e.outerHTML.slice(0, 90))""")
        assert wide == [], (name, wide)
        assert page.execute_script("return document.documentElement.scrollWidth") <= width, name
        picture(page, f"{name}-{width}")


def luminance(colour):
    channels = [int(v) / 255 for v in re.findall(r"\d+", colour)[:3]]
    r, g, b = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    high, low = sorted([luminance(a), luminance(b)], reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark_by_system_and_by_switch(page, url, dark):
    look(page, dark=dark)
    page.get(url)
    wait(page, "return document.documentElement.dataset.theme === arguments[0]", "dark" if dark else "light")
    example(page, "pendulum")
    find(page)
    colours = page.execute_script("""
        const card = getComputedStyle(document.querySelector('.card')).backgroundColor;
        const of = (s, p) => getComputedStyle(document.querySelector(s))[p];
        return {card, text: of('.card', 'color'), dim: of('.dim', 'color'), axis: of('.tick-text', 'fill'), label: of('.axis-text', 'fill'),
                link: of('.downloads button', 'color'), verdict: of('.verdict', 'color'), curve: of('#figures .curve.tone-fit', 'stroke'), dot: of('#figures .dot', 'fill')}""")
    card = colours.pop("card")
    assert (luminance(card) < 0.05) == dark
    for name, colour in colours.items():
        assert contrast(colour, card) >= (3 if name in ("curve", "dot") else 4.5), (name, colour, card)
    # the switch goes round: the system, light, dark
    for theme, expected in [("light", "light"), ("dark", "dark"), ("as the system", "dark" if dark else "light")]:
        click(page, "#theme")
        assert one(page, "#theme").get_attribute("aria-label") == f"Theme: {theme}"
        assert page.execute_script("return document.documentElement.dataset.theme") == expected
    picture(page, "answer-dark" if dark else "answer-light")


def test_all_of_it_by_keyboard(page):
    """From the top of the page to the formula with Tab, Enter and the arrow keys alone, and the focus is always seen."""
    def press(*keys):
        page.switch_to.active_element.send_keys(*keys)

    def here():
        return page.execute_script("""
            const e = document.activeElement, s = getComputedStyle(e.matches('.segments input, .chip input') ? e.closest('label') : e);
            return {id: e.id, text: e.textContent.trim().slice(0, 40), example: e.dataset.example ?? '', value: e.value ?? '', name: e.name ?? '',
                    outline: s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1}""")

    def go(test, most=60):
        for _ in range(most):
            press(Keys.TAB)
            at = here()
            assert at["outline"], at
            if test(at):
                return at
        raise AssertionError("not reached")

    page.execute_script("document.activeElement.blur()")
    one(page, "body").send_keys(Keys.TAB)
    assert here()["text"] == "Skip to content"
    press(Keys.ENTER)
    assert page.execute_script("return document.activeElement.id") == "main"
    order = [go(lambda at: True) for _ in range(4)]
    assert [o["id"] or o["text"] for o in order] == ["Paste, drop or choose a table", "csv", "read", "choose"]
    go(lambda at: at["example"] == "kepler.csv")
    press(Keys.ENTER)
    loaded(page, "kepler")
    go(lambda at: at["id"] == "target")
    go(lambda at: at["name"] == "option-effort")
    press(Keys.ARROW_RIGHT)
    assert page.execute_script("return document.querySelector('input[name=option-effort]:checked').value") == "high"
    go(lambda at: at["id"] == "start")
    press(Keys.ENTER)
    wait(page, "return !!document.querySelector('#figures svg')")
    assert formula(page) == "T = a^(3/2)"
    # the keyboard goes on at the formula, not at the top
    assert page.execute_script("return document.activeElement.closest('#answer') !== null")
    go(lambda at: at["text"] == "LaTeX", most=5)


def test_landmarks_names_and_live_regions(page):
    outline = page.execute_script("""
        return {landmarks: ['header', 'nav', 'main', 'footer'].filter(t => document.querySelectorAll('body ' + t).length === 1),
                h1: Array.from(document.querySelectorAll('h1')).filter(e => e.offsetParent).length,
                lang: document.documentElement.lang, current: document.querySelector('nav [aria-current=page]').textContent,
                nameless: Array.from(document.querySelectorAll('input, select, textarea, button')).filter(e =>
                    !(e.labels?.length || e.textContent.trim() || e.getAttribute('aria-label'))).map(e => e.outerHTML)}""")
    assert outline == {"landmarks": ["header", "nav", "main", "footer"], "h1": 1, "lang": "en", "current": "Discover",
                       "nameless": []}
    example(page, "pendulum")
    assert "30 rows" in one(page, "#announcer").get_attribute("textContent")
    find(page)
    wait(page, "return document.querySelector('#announcer').textContent.includes('sqrt(length)')")
    # a figure says what it shows
    label = one(page, "#figures .plot").get_attribute("aria-label")
    assert "period against length" in label and "30 points" in label


def test_reduced_motion_and_paper(page, tmp_path):
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [
        {"name": "prefers-reduced-motion", "value": "reduce"}]})
    page.execute_script("document.body.insertAdjacentHTML('beforeend', '<div class=\"bar unknown\" id=\"probe\"><div></div></div>')")
    assert page.execute_script("return getComputedStyle(document.querySelector('#probe div')).animationName") == "none"
    look(page, dark=True)
    example(page, "pendulum")
    find(page)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": [
        {"name": "prefers-color-scheme", "value": "dark"}]})
    seen = page.execute_script("""
        const shown = s => document.querySelector(s).getBoundingClientRect().height > 0;
        return {card: getComputedStyle(document.querySelector('#formula-card')).backgroundColor, form: shown('#search-form'),
                header: shown('header'), formula: shown('#formula-card math'), figure: shown('#figures svg')}""")
    assert seen == {"card": "rgb(255, 255, 255)", "form": False, "header": False, "formula": True, "figure": True}
    look(page)


def test_nothing_is_fetched_from_elsewhere(page, url):
    page.get_log("performance")
    for _ in views(page, url):
        pass
    urls = [u for e in page.get_log("performance") if '"Network.requestWillBeSent"' in e["message"]
            for u in re.findall(r'"url":"([^"]*)"', e["message"])]
    assert urls and [u for u in urls if not u.startswith((url, "blob:", "about:"))] == []
