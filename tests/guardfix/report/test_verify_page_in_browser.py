"""The page of `guardfix verify --html` in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("grandalf")
pytest.importorskip("jinja2")
pytest.importorskip("selenium")

from selenium import webdriver

from guardfix.report.verify_page import verify_page
from guardfix.verify.judging.verdicts import Judgement, Verdict
from guardfix.verify.program_copies import Settings
from guardfix.verify.programs.program_discovery import Program
from guardfix.verify.runs.program_runs import ProgramRun
from guardfix.verify.verifying import Result, verify_against
from headless_browser import LOOKS, accessibility_violations, browser_at, fits, needs_chromium

pytestmark = [pytest.mark.thorough, needs_chromium]


def tensor(number: int, data: str = "d", *, version: int | None = 0) -> dict[str, Any]:
    return {
        "shape": [2], "dtype": "float32", "requires_grad": True, "grad_fn": "MulBackward0", "inference": version is None,
        "view": False, "version": version, "data": data, "first": ["1.0", "2.0"], "tensor": number, "memory": number,
        "base": None, "node": 1,
    }  # fmt: skip


def run(guard: str, odd: str, version: int | None) -> ProgramRun:
    """60 steps, some in a guard; one with another version, and one with other data."""
    nodes = [
        {"node": 1, "name": "MulBackward0", "next": [2]},
        {"node": 2, "name": "AccumulateGrad", "next": [], "leaf": 1},
    ]
    events: list[dict[str, Any]] = [{"event": "graph", "thread": 0, "nodes": nodes}]
    for n in range(1, 61):
        result = tensor(n, odd if n == 50 else "d", version=version if n == 30 else 0)
        guards = [guard] if 25 <= n < 40 else []
        events.append(
            {"event": "step", "thread": 0, "op": f"op{n}", "kernels": ["CPU"], "guards": guards, "results": [result]}
        )
    return ProgramRun(0, "", "", events)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    program = Program(Path("train.py"), Path(), named=True)
    runs = run("no_grad", "x", 0), run("inference_mode", "y", None)
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(
        verify_page([Result(program, Judgement(Verdict.CHANGED, "other data"), *runs)], version="1", backend="shim")
    )
    return path.as_uri()


def press(driver: Any, *keys: str) -> None:
    for key in keys:
        webdriver.ActionChains(driver).send_keys(key).perform()


def focused(driver: Any) -> str:
    text: str = driver.execute_script(
        "return document.activeElement.querySelector('th')?.firstChild.textContent.trim() ?? ''"
    )
    return text


def shown(driver: Any, expected: str) -> bool:
    """Whether the page says this before long: typing is waited for."""
    script = """const [expected, done] = arguments; const end = Date.now() + 5000;
    const look = () => { const said = document.querySelector('.shown').textContent;
    said === expected || Date.now() > end ? done(said) : setTimeout(look, 20); }; look();"""
    return bool(driver.execute_async_script(script, expected) == expected)


def test_keys_filters_and_graphs(page: str) -> None:
    with browser_at(page) as driver:
        assert shown(driver, "60 steps, 2 differ")
        selected = "return document.querySelector('.step[aria-current] th').firstChild.textContent.trim()"
        assert driver.execute_script(selected) == "50", "the step at which the runs part is selected at opening"
        press(driver, "p")
        assert focused(driver) == "30"
        press(driver, "n")
        assert focused(driver) == "50"
        press(driver, "\ue015")
        assert focused(driver) == "51"
        press(driver, "\ue013")
        assert focused(driver) == "50"
        press(driver, "k", "\ue007")
        assert focused(driver) == "49"
        press(driver, "p", "\ue007")
        assert focused(driver) == "30"
        assert driver.execute_script("return document.activeElement.querySelectorAll('.drawn[open] svg').length") == 2
        press(driver, "d")
        assert shown(driver, "2 of 60 steps")
        press(driver, "\ue00c", "/", "op1", "\ue00c")
        assert shown(driver, "11 of 60 steps")
        press(driver, "\ue00c", "?")
        assert driver.execute_script("return document.getElementById('keys').open")


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_it_fits_and_can_be_read_by_all(page: str, width: int, theme: str) -> None:
    with browser_at(page, width, theme) as driver:
        driver.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
        assert fits(driver)
        assert accessibility_violations(driver) == []


PROGRAM = """import torch
x = torch.ones(2, requires_grad=True)
with torch.no_grad():
    y = x * 2
print(y.requires_grad)
"""


def test_source_steps_and_timeline_go_together(tmp_path: Path) -> None:
    for name, text in (("before", PROGRAM), ("after", PROGRAM.replace("torch.no_grad", "torch.enable_grad"))):
        (tmp_path / f"{name}.py").write_text(text)
    result = verify_against(tmp_path / "before.py", tmp_path / "after.py", Settings(detailed=True))
    (tmp_path / "page.html").write_text(verify_page([result], version="1", backend="shim"))
    line = "return document.querySelector('.source .here').dataset.line"
    bar = "return Number.parseFloat(document.querySelector('.timeline .current').getAttribute('x'))"
    with browser_at((tmp_path / "page.html").as_uri()) as driver:
        assert driver.execute_script(line) == "4", "where the runs part"
        there = driver.execute_script(bar)
        press(driver, "k")
        assert driver.execute_script(line) == "2"
        assert driver.execute_script(bar) < there
        driver.find_element("css selector", '.source [data-line="4"]').click()
        assert (driver.execute_script(line), driver.execute_script(bar)) == ("4", there)
        driver.find_element("css selector", ".timeline > svg").click()
        assert driver.execute_script(line) in ("4", "5"), "the middle of the run"


def test_without_javascript_it_is_a_table(page: str) -> None:
    with browser_at(page, scripts=False) as driver:
        assert len(driver.find_elements("css selector", ".trace tbody tr.step")) == 60
        assert not driver.find_element("css selector", ".filters").is_displayed()
        driver.find_element("css selector", ".parted summary").click()
        assert driver.find_element("css selector", ".parted svg.graph").is_displayed()
