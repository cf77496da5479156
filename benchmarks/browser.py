"""A headless Chromium that reads pages as a user does: by the words on them.

Every page that is pictured must be one that works: no error page, no error notice, nothing severe on its console.
Needs the extra ``browser`` (Selenium) and Chromium or Chrome with its driver; both are looked for on the PATH, and
Selenium fetches what is missing where there is a network.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from PIL import Image

try:
    from selenium import webdriver
    from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
    from selenium.webdriver.common.by import By
    from selenium.webdriver.remote.webelement import WebElement
except ModuleNotFoundError:
    sys.exit(
        "error: selenium is missing; install it with: pip install --constraint constraints.txt --editable '.[browser]'"
    )

SECONDS = 120.0
"""For a page to show what it must; a quiet machine needs a few."""
WIDTH, HEIGHT = 1400, 1000
COLOURS = 128
ERROR_PAGES = ("Page not found", "Page Not Found", "Something went wrong", "404 Not Found", "Internal Server Error")
NOT_OURS = ("/mlflow/users/current", "/favicon.ico", "/ico/", "ResizeObserver loop")
"""MLflow asks who is logged in, where nobody can be; Prefect lacks icons; a drawing took two steps."""
ERROR_NOTICES = ".p-toast--error, .p-message--error, .du-bois-light-notification-notice-error, [data-type='error']"

T = TypeVar("T")


@dataclass
class Browser:
    """One window."""

    driver: webdriver.Chrome
    pictures: Path
    taken: list[Path] = field(default_factory=list)

    def open(self, address: str) -> None:
        """Go there."""
        self.driver.get(address)

    @property
    def words(self) -> str:
        """All that can be read on the page."""
        return str(self.driver.execute_script("return document.body.innerText"))

    def read(self, *expected: str, seconds: float | None = None) -> str:
        """The page's words, once they hold all that is expected.

        Raises:
            AssertionError: when they do not in time.
        """
        return self.until(
            lambda: words if all(one in (words := self.words) for one in expected) else None,
            lambda: f"{[one for one in expected if one not in self.words]} not on {self.driver.current_url}",
            seconds,
        )

    def count(self, words: str) -> int:
        """How many shown elements say exactly this; the options of a list do not count."""
        path = innermost(f"normalize-space(.)='{words}' and not(ancestor-or-self::select)")
        return sum(found.is_displayed() for found in self.driver.find_elements(By.XPATH, path))

    def find(self, path: str, what: str = "", *, within: WebElement | None = None) -> WebElement:
        """The first shown element of an XPath.

        Raises:
            AssertionError: when there is none in time.
        """
        root = within or self.driver
        return self.until(
            lambda: next((found for found in root.find_elements(By.XPATH, path) if found.is_displayed()), None),
            lambda: f"no {what or path} on {self.driver.current_url}",
        )

    def click(self, words: str) -> None:
        """Click on what says exactly this."""
        self.press(innermost(f"normalize-space(.)='{words}'"), words)

    def press(self, path: str, what: str = "") -> None:
        """Click on the first shown element of an XPath; again where the page has just drawn it anew.

        Raises:
            AssertionError: when it cannot be clicked in time.
        """

        def pressed() -> bool:
            self.find(path, what).click()
            return True

        self.until(pressed, f"{what or path} cannot be clicked")

    def scroll_to(self, place: WebElement) -> None:
        """Show it at the top of the window."""
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'start'})", place)

    def configure_environment(self) -> None:
        """Wait until the words stand still and nothing moves in."""
        before = ""
        while before != (before := self.words):
            time.sleep(1.5)

    def picture(self, name: str) -> None:
        """Keep what is shown, of a page that must be in order.

        Raises:
            AssertionError: for an error page, an error notice, or errors on the page's console.
        """
        shown = self.words
        assert not (found := [words for words in ERROR_PAGES if words in shown]), f"{name}: {found}"
        notices = [notice.text for notice in self.driver.find_elements(By.CSS_SELECTOR, ERROR_NOTICES)]
        assert not any(notices), f"{name}: {notices}"
        assert not (severe := self.severe()), f"{name}: {severe}"
        self.taken.append(self.pictures / f"{name}.png")
        shot = Image.open(io.BytesIO(self.driver.get_screenshot_as_png()))
        shot.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(self.taken[-1], optimize=True)

    def severe(self) -> list[str]:
        """Severe lines of the console since the last call, but for what is known and harmless."""
        lines = [line["message"] for line in self.driver.get_log("browser") if line["level"] == "SEVERE"]
        return [line for line in lines if not any(known in line for known in NOT_OURS)]

    def requests(self) -> list[str]:
        """Addresses that were asked for over a network since the last call."""
        events = (json.loads(line["message"])["message"] for line in self.driver.get_log("performance"))
        sent = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [url for url in sent if url.startswith(("http", "ws"))]

    @contextmanager
    def offline(self) -> Iterator[None]:
        """No network meanwhile."""
        self.driver.set_network_conditions(offline=True, latency=0, throughput=0)
        try:
            yield
        finally:
            self.driver.delete_network_conditions()

    def until(self, ask: Callable[[], T | None], complaint: str | Callable[[], str], seconds: float | None = None) -> T:
        """What is asked for, once there is any; a page that is just being drawn is asked again.

        Raises:
            AssertionError: with the complaint, when there is none in time.
        """
        deadline = time.monotonic() + (seconds or SECONDS)
        while True:
            found, reason = None, ""
            try:
                found = ask()
            except StaleElementReferenceException:
                pass
            except WebDriverException as error:  # covered by another element, not yet drawn
                reason = f": {(error.msg or '').splitlines()[0]}"
            if found:
                return found
            if time.monotonic() > deadline:
                self.driver.save_screenshot(str(self.pictures / "failed.png"))
                told = complaint if isinstance(complaint, str) else complaint()
                raise AssertionError(f"{told}{reason}; see {self.pictures / 'failed.png'}")
            time.sleep(0.1)


def innermost(condition: str) -> str:
    """The XPath of elements that meet a condition while none within them does."""
    return f"//*[{condition}][not(.//*[{condition}])]"


@contextmanager
def browser(pictures: Path) -> Iterator[Browser]:
    """A window of its own profile, closed in the end."""
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", f"--window-size={WIDTH},{HEIGHT}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found:
        options.binary_location = found
    try:
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    except WebDriverException as error:
        sys.exit(f"error: no browser: {(error.msg or '').splitlines()[0]}; install chromium and its driver")
    try:
        driver.set_page_load_timeout(SECONDS)
        yield Browser(driver, pictures)
    finally:
        driver.quit()
