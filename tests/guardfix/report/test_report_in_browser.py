"""The report in a real browser: Chromium without a screen."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("jinja2")
pytest.importorskip("selenium")

from selenium import webdriver

from guardfix.cli.report_command import command

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        shutil.which("chromium") is None or shutil.which("chromedriver") is None, reason="needs Chromium"
    ),
]

FUNCTION = """
at::Tensor {name}(at::Tensor x) {{
  at::AutoNonVariableTypeMode guard;
  {body}
}}
"""
ELSEWHERE = """void train(at::Tensor loss) {
  loss.backward();
}

TORCH_LIBRARY(other, m) { m.def("work(Tensor x) -> Tensor", &work); }
"""
"""A project that trains and defines ops: nothing says what the guards of the other files are for."""
BODIES = ("return at::mul(x, 2);", "x.add_(1); return x;", "return at::abs(x);")
AXE = os.environ.get("GUARDFIX_AXE", "")
"""The path of axe.min.js; its rules are tried where it is named."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of 600 findings in three files."""
    folder = tmp_path_factory.mktemp("tree")
    for number, body in enumerate(BODIES):
        functions = [FUNCTION.format(name=f"f{number}_{one}", body=body) for one in range(200)]
        (folder / f"part{number}.cpp").write_text("#include <ATen/ATen.h>\n" + "".join(functions))
    (folder / "train.cpp").write_text(ELSEWHERE)
    ran = CliRunner().invoke(command, ["--isolated", str(folder), "-o", str(folder / "report.html")])
    assert ran.exit_code == 0, ran.output
    return folder / "report.html"


def opened(page: Path, width: int, theme: str) -> Any:
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})  # for axe; the page needs nothing else
    driver.get(page.as_uri())
    return driver


@pytest.fixture
def browser(page: Path) -> Iterator[Any]:
    driver = opened(page, 1280, "light")
    yield driver
    assert driver.get_log("browser") == []
    driver.quit()


def press(browser: Any, *keys: str) -> None:
    for key in keys:
        webdriver.ActionChains(browser).send_keys(key).perform()
        time.sleep(0.15)


def shown(browser: Any) -> str:
    time.sleep(0.4)
    text: str = browser.execute_script("return document.getElementById('shown').textContent")
    return text


def test_only_what_is_in_sight_is_in_the_document(browser: Any) -> None:
    assert shown(browser) == "600 findings"
    assert len(browser.find_elements("css selector", ".finding")) < 60
    browser.execute_script("scrollTo(0, document.body.scrollHeight)")
    time.sleep(0.3)
    last = browser.find_elements("css selector", ".finding")[-1]
    assert last.get_attribute("aria-posinset") == "600"


FILTERS = [
    pytest.param("part1.cpp", "", "200 of 600 findings", id="a path"),
    pytest.param("f2_199 abs", "", "2 of 600 findings", id="two words, in the code"),
    pytest.param("", "unknown", "600 findings", id="a context"),
    pytest.param("no such text", "", "0 of 600 findings", id="nothing"),
]


@pytest.mark.parametrize(("text", "context", "expected"), FILTERS)
def test_search_and_filters(browser: Any, text: str, context: str, expected: str) -> None:
    press(browser, "/")
    if text:
        press(browser, text)
    if context:
        script = "const s = document.getElementById('filter-context'); s.value = arguments[0]; if (!s.value) throw Error('no such context'); s.dispatchEvent(new Event('change'))"
        browser.execute_script(script, context)
    assert shown(browser) == expected
    press(browser, "\ue00c", "\ue00c")  # Escape: out of the field, and all filters off
    assert shown(browser) == "600 findings"


def test_keys_go_through_the_findings(browser: Any) -> None:
    press(browser, "j", "j", "k", "j", "\ue007")
    place = "return document.activeElement.closest('.finding').getAttribute('aria-posinset')"
    assert browser.execute_script(place) == "2"
    assert browser.execute_script("return document.activeElement.getAttribute('aria-expanded')") == "true"
    assert len(browser.find_elements("css selector", ".body .code")) == 1


def test_decisions_are_collected(browser: Any) -> None:
    press(browser, "/", "part1.cpp", "\ue00c")
    shown(browser)
    heads = browser.find_elements("css selector", ".finding > .head")
    heads[0].click()
    browser.find_element("css selector", ".pick input[value=preserve]").click()
    text = browser.execute_script("return document.getElementById('intent').textContent")
    assert text.splitlines()[0] == "[tool.guardfix.intent]"
    assert text.splitlines()[1].endswith('part1.cpp" = "preserve"')
    browser.find_element("id", "copy").click()
    time.sleep(0.2)
    assert browser.execute_script("return document.getElementById('copied').textContent") == "Copied."


LOOKS = [(width, theme) for width in (1280, 390) for theme in ("light", "dark")]


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_it_fits_and_can_be_read_by_all(page: Path, width: int, theme: str) -> None:
    driver = opened(page, width, theme)
    try:
        driver.execute_script("document.querySelector('.finding > .head').click()")
        assert driver.execute_script("return document.documentElement.dataset.theme") == theme
        assert driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")
        if AXE:
            driver.execute_script(Path(AXE).read_text(encoding="utf-8"))
            found = driver.execute_async_script("axe.run().then((r) => arguments[0](r.violations.map((v) => v.id)))")
            assert found == []
        assert driver.get_log("browser") == []
    finally:
        driver.quit()
