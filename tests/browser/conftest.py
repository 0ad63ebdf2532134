"""A real browser, headless; tests are skipped where none is installed."""

import json
import os
import shutil
import threading
from contextlib import contextmanager

import pytest

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Page:
    """A browser that remembers what pages asked for and complained about."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, address, ready="body"):
        self.driver.get("about:blank")  # the page before asks for nothing more from here on
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(address)
        return self.wait(ready)

    def find(self, selector):
        return self.driver.find_elements("css selector", selector)

    def wait(self, selector, text="", use=lambda element: element):
        """Return the first element that the selector finds and that holds the text, or its use.

        A use, such as a click, is tried again where the page has replaced the element meanwhile.
        """
        from selenium.common.exceptions import StaleElementReferenceException
        from selenium.webdriver.support.ui import WebDriverWait

        def found(_):
            element = next((e for e in self.find(selector) if text in e.text), None)
            return element and (use(element) or element)

        waiting = WebDriverWait(
            self.driver, 20, 0.05, ignored_exceptions=[StaleElementReferenceException]
        )
        return waiting.until(found, f"{selector} with {text!r}")

    def texts(self, selector):
        script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)"
        return self.run(script, selector)

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def look(self, width, scheme="light"):
        """Change the width of the window and the colour scheme."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)


def give_up(reason):
    """Skip, unless the browser was asked for: then a missing one must not pass unseen."""
    if os.environ.get("GEOMM_NEED_BROWSER"):
        pytest.fail(f"{reason}.")
    pytest.skip(f"{reason}; make test-browser installs it")


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    try:
        from selenium import webdriver
    except ImportError:
        give_up("selenium is not installed")
    names = ("chromium", "chromium-browser", "google-chrome")
    binary = next(filter(None, map(shutil.which, names)), None)
    driver_path = shutil.which("chromedriver")
    if not (binary and driver_path):
        give_up("Chromium or its chromedriver is not installed")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.binary_location = binary
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture
def page(browser):
    return Page(browser)


@pytest.fixture
def serving():
    """Give a function that serves an explorer while its block runs."""
    from geomm_plugin.views.explorer import ExplorerServer

    @contextmanager
    def serve(explorer):
        with ExplorerServer(explorer) as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.02,))
            thread.start()
            try:
                yield server
            finally:
                server.shutdown()
                thread.join()

    return serve
