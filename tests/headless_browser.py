"""Chromium without a screen, for the tests of pages. `GUARDFIX_AXE` names axe.min.js, whose rules are then tried."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

needs_chromium = pytest.mark.skipif(
    shutil.which("chromium") is None or shutil.which("chromedriver") is None or find_spec("selenium") is None,
    reason="needs Chromium, its driver, and the extra `browser`",
)
AXE = os.environ.get("GUARDFIX_AXE", "")
LOOKS = [(width, theme) for width in (1280, 390) for theme in ("light", "dark")]
"""Widths in pixels and color schemes in which pages are looked at."""


@contextmanager
def browser_at(address: str, width: int = 1280, theme: str = "light", *, scripts: bool = True) -> Iterator[Any]:
    """A browser that shows the page. At the end, nothing may stand in its console."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        driver.set_script_timeout(120)  # axe takes long where many jobs share a processor
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": theme}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        driver.get(address)
        yield driver
        assert driver.get_log("browser") == []
    finally:
        driver.quit()


def accessibility_violations(driver: Any) -> list[str]:
    """What axe finds on the page as it is now; nothing where axe is not at hand."""
    if not AXE:
        return []
    source = Path(AXE).read_text(encoding="utf-8")
    driver.execute_cdp_cmd("Runtime.evaluate", {"expression": source})  # past the page's policy
    found: list[str] = driver.execute_async_script(
        "axe.run().then((found) => arguments[0](found.violations.map((one) => one.id + ': ' + one.nodes[0].html)))"
    )
    return found


def fits(driver: Any) -> bool:
    """Whether nothing is wider than the window."""
    return bool(driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"))
