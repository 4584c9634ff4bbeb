"""The playground in a real browser, served as `guardfix serve` does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("selenium")

from guardfix.playground.playground_app import EDITOR
from guardfix.playground.playground_examples import EXAMPLES
from guardfix.report.page_kit import has_template
from headless_browser import LOOKS, accessibility_violations, browser_at, fits, needs_chromium

BUNDLED = has_template(EDITOR)
pytestmark = [pytest.mark.thorough, needs_chromium]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a playground with a folder, and the folder."""
    folder = tmp_path_factory.mktemp("tree")
    (folder / "kernel.cpp").write_text(EXAMPLES[0].text)
    with subprocess.Popen(
        [sys.executable, "-m", "guardfix", "serve", "--isolated", "--port", "0", "."],
        stdout=subprocess.PIPE, text=True, cwd=folder,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1], folder
        finally:
            process.terminate()


def wait_for(driver: Any, expression: str) -> bool:
    """Whether the expression becomes true."""
    script = f"""const done = arguments[0]; const end = Date.now() + 20000;
    const look = () => {{ let found = false; try {{ found = !!({expression}); }} catch {{ /* not there yet */ }}
    found || Date.now() > end ? done(found) : setTimeout(look, 30); }}; look();"""
    return bool(driver.execute_async_script(script))


def code_box(driver: Any) -> Any:
    """Where one types: the editor, or the text area where the editor isn't bundled."""
    if not BUNDLED:
        return driver.find_element("id", "text")
    return driver.find_element("class name", "code-editor").shadow_root.find_element("css selector", ".cm-content")


def test_what_is_typed_is_checked(served: tuple[str, Path]) -> None:
    with browser_at(served[0]) as driver:
        assert wait_for(driver, "document.querySelector('.answer .badge').textContent === 'GF101'")
        driver.find_element("id", "take").click()
        assert wait_for(driver, "document.getElementById('answer').textContent.includes('0 findings')")
        assert "AutoDispatchBelowADInplaceOrView" in driver.find_element("id", "text").get_property("value")
        code_box(driver).send_keys("\ue009a\ue000import torch\ntorch.no_grad()\n")  # Ctrl-A before
        assert wait_for(driver, "document.querySelector('.answer .badge').textContent === 'GF402'")
        assert driver.find_element("id", "copy").get_property("disabled")


@pytest.mark.skipif(not BUNDLED, reason="needs `make editor`")
def test_the_editor_marks_findings(served: tuple[str, Path]) -> None:
    python = "import+torch%0Ax+%3D+'%F0%9F%98%80'%3B+torch.no_grad%28%29%0A"  # an emoji, two units of a string, before the finding
    for code, marked, row in (("", "at::AutoNonVariableTypeMode", 5), (f"#code={python}", "torch.no_grad()", 2)):
        with browser_at(served[0] + code) as driver:
            root = "document.querySelector('.code-editor').shadowRoot"
            assert wait_for(driver, f"{root}.querySelector('.cm-lintRange')")
            pieces = f"return [...{root}.querySelectorAll('.cm-lintRange')].map((one) => one.textContent).join('')"
            assert driver.execute_script(pieces) == marked
            line = f"return {root}.querySelector('.cm-lint-marker').getBoundingClientRect().top"
            number = f"return [...{root}.querySelectorAll('.cm-lineNumbers .cm-gutterElement')].find((one) => one.textContent === '{row}').getBoundingClientRect().top"
            assert 0 <= driver.execute_script(line) - driver.execute_script(number) < 20
            code_box(driver).send_keys("\ue038")  # F8: the next finding, with a button that leads to what is said of it
            assert wait_for(driver, f"{root}.querySelector('.cm-diagnosticAction').textContent === 'Show'")
            assert accessibility_violations(driver) == []


@pytest.mark.skipif(BUNDLED, reason="the editor takes its place")
def test_lines_have_numbers_and_marks(served: tuple[str, Path]) -> None:
    with browser_at(served[0]) as driver:
        assert wait_for(driver, "document.querySelector('#numbers .marked')?.textContent === '5'")
        lines = driver.execute_script("return document.querySelectorAll('#numbers div').length")
        assert lines == len(EXAMPLES[0].text.split("\n"))
        aligned = """const [text, numbers] = ['text', 'numbers'].map((id) => document.getElementById(id));
        text.style.height = '100px'; text.scrollTop = 60; text.dispatchEvent(new Event('scroll'));
        return [text.scrollTop, numbers.scrollTop];"""
        assert wait_for(driver, "document.getElementById('numbers').offsetHeight > 0")
        driver.execute_script(aligned)
        assert wait_for(
            driver, "document.getElementById('numbers').scrollTop === document.getElementById('text').scrollTop"
        )


def test_the_address_holds_the_text(served: tuple[str, Path]) -> None:
    with browser_at(f"{served[0]}#code=import+torch%0Atorch.no_grad%28%29%0A&language=python") as driver:
        assert wait_for(driver, "document.querySelector('.answer .badge').textContent === 'GF402'")
        assert driver.find_element("id", "text").get_property("value") == "import torch\ntorch.no_grad()\n"
        code_box(driver).send_keys("\ue009\ue010\ue000x = 1\n")  # Ctrl-End before
        assert wait_for(driver, "location.hash.includes('x+%3D+1')")


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_it_fits_and_can_be_read_by_all(served: tuple[str, Path], width: int, theme: str) -> None:
    with browser_at(served[0], width, theme) as driver:
        assert wait_for(driver, "document.querySelector('.diff')")
        code_box(driver).send_keys("\ue009\ue010\ue000// a long line" + " that scrolls" * 20)  # Ctrl-End before
        assert fits(driver)
        assert accessibility_violations(driver) == []


def test_without_javascript_there_is_a_button(served: tuple[str, Path]) -> None:
    with browser_at(served[0], scripts=False) as driver:
        driver.implicitly_wait(20)  # for the page that the form brings
        driver.find_element("id", "check").click()
        assert driver.find_element("css selector", ".answer .badge").text == "GF101"


def test_the_report_is_loaded_again_after_a_save(served: tuple[str, Path]) -> None:
    address, folder = served
    with browser_at(f"{address}report") as driver:
        assert wait_for(driver, "document.getElementById('shown').textContent === '1 finding'")
        (folder / "evaluate.py").write_text("import torch\ntorch.no_grad()\n")
        assert wait_for(driver, "document.getElementById('shown').textContent === '2 findings'")
        # Each found and clicked at once: what is loaded or opened is drawn anew.
        driver.execute_script("document.querySelector('.finding > .head').click()")
        assert wait_for(driver, "document.querySelector('.body a') !== null")
        driver.execute_script("document.querySelector('.body a').click()")
        assert wait_for(driver, "document.querySelector('tr:target')?.textContent.includes('AutoNonVariable')")
