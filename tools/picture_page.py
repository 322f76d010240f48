#!/usr/bin/env python3
"""Draws docs/pictures/page*.png: the page of `symlaw serve` in chromium, as the documents show it.

    tools/picture_page.py [PROGRAM]        build/symlaw if not given

Needs what `tools/setup check` installs: chromium, its driver, selenium.
"""
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
LARGEST = 200_000  # bytes

# name, view, example, what is at the top (None: the page's own top), width, height, dark
PICTURES = [
    ("page", "discover", "pendulum", None, 1200, 1180, False),
    ("page_figures", "discover", "resistors", "#figures", 1200, 1160, False),
    ("page_dark", "discover", "energy", None, 1200, 900, True),
    ("page_phone", "discover", "kepler", "#formula-card", 390, 844, False),
    ("page_universe", "universe", None, None, 1200, 900, False),
]


def chromium():
    options = Options()
    options.binary_location = shutil.which("chromium")
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]:
        options.add_argument(argument)
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def until(browser, script):
    WebDriverWait(browser, 60, 0.1).until(lambda b: b.execute_script(script), script)


def draw(browser, url, name, view, example, top, width, height, dark):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    browser.get("about:blank")
    browser.get(f"{url}#{view}")
    if example:
        until(browser, "return document.querySelector('[data-example]')")
        browser.execute_script(f"""document.querySelector('[data-example="{example}.csv"]').click()""")
        until(browser, "return document.querySelector('#start')?.offsetParent")
        browser.execute_script("document.querySelector('#start').click()")
        until(browser, "return document.querySelector('#figures svg')")
    else:
        until(browser, "return document.querySelectorAll('#member circle.dot').length")
    if top:
        browser.execute_script("document.querySelector(arguments[0]).scrollIntoView()", top)
    browser.execute_script("document.activeElement.blur()")
    time.sleep(0.5)  # the surface is drawn in the next frame
    path = FOLDER / f"{name}.png"
    browser.save_screenshot(str(path))
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)}: {size} bytes")
    if size > LARGEST:
        sys.exit(f"{path} is larger than {LARGEST} bytes")


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build" / "symlaw")
    server = subprocess.Popen([program, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().strip()
    browser = chromium()
    try:
        for picture in PICTURES:
            draw(browser, url, *picture)
    finally:
        browser.quit()
        server.send_signal(signal.SIGTERM)
        server.wait(20)


if __name__ == "__main__":
    main()
