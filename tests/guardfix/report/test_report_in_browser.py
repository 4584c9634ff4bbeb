"""The report in a real browser: Chromium without a screen."""

from __future__ import annotations

import json
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
from headless_browser import LOOKS, accessibility_violations, browser_at, fits, needs_chromium

pytestmark = [pytest.mark.thorough, needs_chromium]

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
SAME = {"line": 3, "guards": [], "message": "`mul` gives 1"}
VERDICTS = [
    {
        "filename": "program.cpp",
        "verdict": "changed",
        "reason": "`mul` gives another value",
        "advice": "look at step 3",
        "trace": [
            {
                "step": 2,
                "agreement": "same",
                "before": SAME,
                "after": SAME,
            },
            {
                "step": 3,
                "agreement": "parted",
                "before": {"line": 4, "guards": ["AutoNonVariableTypeMode"], "message": "`mul` gives 2"},
                "after": None,
            },
        ],
        "guards": [
            {
                "code": "GF101",
                "filename": "part1.cpp",
                "location": {"row": 4, "column": 3},
                "entered": {"before": 1, "after": 1},
            },
            {
                "code": "GF101",
                "filename": "part1.cpp",
                "location": {"row": 9, "column": 3},
                "entered": {"before": 0, "after": 0},
            },
        ],
        "migrated": [],
    }
]
"""What `guardfix verify --output-format json` prints of a program that enters the first guard of two."""


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


@pytest.fixture(scope="module")
def judged(page: Path) -> Path:
    """The report of one of the files, with what a verification said."""
    results = page.parent / "verdicts.json"
    results.write_text(
        json.dumps(
            [
                one
                | {
                    "filename": str(page.parent / "program.cpp"),
                    "guards": [guard | {"filename": str(page.parent / guard["filename"])} for guard in one["guards"]],
                }
                for one in VERDICTS
            ]
        )
    )
    written = page.parent / "judged.html"
    arguments = ["--isolated", str(page.parent / "part1.cpp"), "--verify-results", str(results), "-o", str(written)]
    ran = CliRunner().invoke(command, arguments)
    assert ran.exit_code == 0, ran.output
    return written


@pytest.fixture
def browser(page: Path) -> Iterator[Any]:
    with browser_at(page.as_uri()) as driver:
        yield driver


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
    browser.find_element("css selector", ".more > summary").click()
    assert not browser.find_element("id", "filter-verdict").is_displayed(), "nothing was verified"
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
    assert browser.execute_script(place) == "3", "with the line of the group"
    place = browser.execute_script("return document.activeElement.querySelector('.place').textContent.split(' ')[0]")
    assert browser.find_element("css selector", "#detail .body a").text.startswith(f"{place}:")
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


def test_verdicts_are_shown_and_can_be_filtered(judged: Path) -> None:
    with browser_at(judged.as_uri()) as driver:
        script = "const s = document.getElementById('filter-verdict'); s.value = arguments[0]; if (!s.value) throw Error('no such verdict'); s.dispatchEvent(new Event('change'))"
        driver.execute_script(script, "not reached")
        assert shown(driver) == "1 of 200 findings"
        driver.execute_script(script, "changed")
        assert shown(driver) == "1 of 200 findings"
        driver.find_element("css selector", ".finding > .head").click()
        body = driver.find_element("css selector", ".body").text
        assert "changed" in body
        assert "look at step 3" in body
        rows = driver.find_elements("css selector", ".excerpt tbody tr")
        assert [row.get_attribute("class") for row in rows] == ["same", "parted"]
        assert [cell.text for cell in rows[1].find_elements("css selector", "th, td")] == [
            "3 \u2260",
            "AutoNonVariableTypeMode\nmul gives 2",
            "no such step",
        ]
        assert accessibility_violations(driver) == []


_PRINT = """dispatchEvent(new Event('beforeprint'));
const colors = getComputedStyle(document.body);
const found = [colors.color, colors.backgroundColor, document.querySelectorAll('.finding').length, document.querySelectorAll('#list .body').length,
  [...document.querySelectorAll('.filters, .top-buttons, .pick')].filter((one) => one.checkVisibility()).length];
dispatchEvent(new Event('afterprint'));
return [...found, document.querySelectorAll('.body').length];"""


def test_on_paper_everything_is_open_and_black_on_white(judged: Path) -> None:
    with browser_at(judged.as_uri(), theme="dark") as driver:
        driver.find_element("css selector", ".finding > .head").click()
        features = [{"name": "prefers-color-scheme", "value": "dark"}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": features})
        text, ground, findings, bodies, controls, open_after = driver.execute_script(_PRINT)
        assert (text, ground) == ("rgb(27, 31, 39)", "rgb(255, 255, 255)")
        assert (findings, bodies, controls) == (200, 200, 0)
        assert open_after == 1, "the one beside the list"


def test_the_bar_chooses_and_the_address_keeps_it(page: Path) -> None:
    with browser_at(page.as_uri()) as driver:
        press(driver, "j", "j")
        driver.find_element("css selector", "button[data-part=decide]").click()
        assert shown(driver) == "600 findings"
        select = "const s = document.getElementById('filter-confidence'); s.value = 'low'; s.dispatchEvent(new Event('change'))"
        driver.execute_script(select)
        address = driver.execute_script("return location.href")
        assert "part=decide" in address
        assert "at=" in address
        assert accessibility_violations(driver) == []
        before = driver.find_element("css selector", "#detail .body a").text
    with browser_at(address) as driver:
        assert driver.find_element("css selector", "#detail .body a").text == before
        assert driver.find_element("css selector", "button[data-part=decide]").get_attribute("aria-pressed") == "true"


def test_a_tree_of_files_chooses(browser: Any) -> None:
    [file] = [one for one in browser.find_elements("css selector", ".tree .leaf button") if "part1.cpp" in one.text]
    file.click()
    assert shown(browser) == "200 of 600 findings"
    file.click()
    assert shown(browser) == "600 findings"


def test_a_group_is_decided_at_once(browser: Any) -> None:
    script = (
        "const s = document.querySelector('.group select'); s.value = 'preserve'; s.dispatchEvent(new Event('change'))"
    )
    browser.execute_script(script)
    text = browser.execute_script("return document.getElementById('intent').textContent")
    assert sorted(line.rpartition("/")[2] for line in text.splitlines()[1:]) == [
        f'part{number}.cpp" = "preserve"' for number in range(3)
    ]


def test_the_first_finding_is_on_the_first_screen_of_a_phone(page: Path) -> None:
    with browser_at(page.as_uri(), 390) as driver:
        bottom = driver.execute_script(
            "return document.querySelector('.finding .code .here').getBoundingClientRect().bottom"
        )
        assert bottom < 900


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_it_fits_and_can_be_read_by_all(page: Path, width: int, theme: str) -> None:
    with browser_at(page.as_uri(), width, theme) as driver:
        driver.execute_script("document.querySelector('.finding > .head').click()")
        assert driver.execute_script("return document.documentElement.dataset.theme") == theme
        assert fits(driver)
        assert accessibility_violations(driver) == []
