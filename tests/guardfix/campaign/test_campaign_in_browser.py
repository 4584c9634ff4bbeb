"""A campaign's pages in a real browser: all can read them, on wide and narrow screens."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("duckdb")
pytest.importorskip("selenium")

from campaign_repositories import OLD, UNCALLED, MakeRepository
from guardfix.cli.main import cli
from headless_browser import LOOKS, accessibility_violations, browser_at, fits, needs_chromium

pytestmark = [pytest.mark.thorough, needs_chromium]

LONG = "a-team/with-a-name-that-takes-more-room-than-a-phone-has/kernels"
APART = """const boxes = [...document.querySelectorAll('.bars .label, .bars svg, .bars .number')].map((one) => one.getBoundingClientRect());
return boxes.every((one, at) => one.left >= 0 && one.right <= innerWidth && boxes.slice(at + 1).every((other) =>
  one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top));"""
SMALLEST = """return Math.min(...[...document.querySelectorAll('.bars .label, .bars .number')]
  .map((one) => Number.parseFloat(getComputedStyle(one).fontSize)));"""


@pytest.mark.parametrize(("width", "theme"), LOOKS[::3])
def test_the_pages_fit_and_can_be_read_by_all(
    width: int, theme: str, tmp_path: Path, repository: MakeRepository
) -> None:
    wide = OLD.replace(" g;", f" g_{'with_a_long_name_' * 6};")
    repository("one", {"a.cpp": OLD, "b.cpp": wide, "a.py": UNCALLED})
    (tmp_path / "list.toml").write_text(
        f'[[repository]]\nsource = "one"\nname = "{LONG}"\n[[repository]]\nsource = "gone"\n'
    )
    out = tmp_path / "out"
    for words in (["run", str(tmp_path / "list.toml"), "-j", "1"], ["report"]):
        CliRunner().invoke(cli, ["campaign", *words, "-o", str(out)])
    index = out / "report" / "index.html"
    [page] = (out / "report" / "repositories").iterdir()
    with browser_at(index.as_uri(), width, theme) as driver:
        assert driver.execute_script(APART)
        assert driver.execute_script(SMALLEST) >= 12
        assert fits(driver)
        assert accessibility_violations(driver) == []
        driver.get(page.as_uri())
        driver.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
        assert fits(driver)
        assert accessibility_violations(driver) == []
