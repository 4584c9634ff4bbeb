"""The documentation site: it is built strictly, and each of its pages can be read by all, on wide and narrow screens."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from fixture_files import ROOT
from guardfix.pytorch_messages.message_table import known_messages
from headless_browser import AXE, accessibility_violations, browser_at, fits, needs_chromium

pytestmark = pytest.mark.thorough
pytest.importorskip("material")
pytest.importorskip("mkdocstrings")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The site's folder, and how it was built."""
    folder = tmp_path_factory.mktemp("built") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    return folder, done


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder's files."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_the_site_is_built_without_a_warning(built: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, done = built
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert 'id="guards-data"' in (folder / "guards" / "index.html").read_text(encoding="utf-8")
    assert (folder / "rules" / "gf201-temporary-guard" / "index.html").is_file()


@needs_chromium
def test_a_search_for_what_pytorch_says_finds_it_first(built: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    pytest.importorskip("selenium")
    from markdown.extensions.toc import slugify

    asked = {text.title: slugify(message.title, "-") for message in known_messages().values() for text in message.texts}
    with served(built[0]) as address, browser_at(address) as driver:
        driver.execute_async_script(_SETTLED)
        found = {title: driver.execute_async_script(_BEST_FOUND, title.replace("…", " ")) for title in asked}
    assert found == {title: f"#{_SEARCHED_FOR.get(title, anchor)}" for title, anchor in asked.items()}


_SEARCHED_FOR = {
    "element … of the input tensors does not require grad": "element-of-tensors-does-not-require-grad-and-does-not-have-a-grad_fn"
}
"""An old wording that has all but one of its words from another message, which is asked for more often."""
_BEST_FOUND = """const [asked, done] = arguments; const input = document.querySelector('.md-search__input');
const list = document.querySelector('.md-search-result__list');
const look = (tries) => {
  const hits = [...list.querySelectorAll('article')].map((one) => [Number(one.dataset.mdScore), one.closest('a')]);
  if (!hits.length) { tries ? setTimeout(look, 30, tries - 1) : done(''); return; }
  done(new URL(hits.sort((one, other) => other[0] - one[0])[0][1].href).hash);
};
input.focus(); input.value = ''; input.dispatchEvent(new Event('keyup'));
const ask = () => { if (list.children.length) { setTimeout(ask, 30); return; }
  input.value = asked; input.dispatchEvent(new Event('keyup')); look(300); };
ask();"""
"""The result with the highest score, which Enter opens; the theme puts the page's own title above its parts."""


@needs_chromium
def test_code_can_be_reached_by_keyboard_at_each_width(built: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    pytest.importorskip("selenium")
    out_of_reach = "return [...document.querySelectorAll('pre > code')].filter((one) => one.tabIndex < 0).length"
    with served(built[0]) as address, browser_at(address, 390) as driver:
        driver.execute_async_script(_SETTLED)
        for width in (340, 1280, 390):  # the theme looks again at what scrolls
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            time.sleep(0.3)
            assert driver.execute_script(out_of_reach) == 0


LOOKS = [pytest.param(0, 1280, "light", id="wide, light"), pytest.param(1, 390, "dark", id="narrow, dark")]
"""Half of the pages are looked at in each: axe takes a second for a page."""


@needs_chromium
@pytest.mark.skipif(not AXE, reason="needs axe-core: GUARDFIX_AXE")
@pytest.mark.parametrize(("half", "width", "theme"), LOOKS)
def test_each_page_fits_and_can_be_read_by_all(
    half: int, width: int, theme: str, built: tuple[Path, subprocess.CompletedProcess[str]]
) -> None:
    pytest.importorskip("selenium")
    folder, _ = built
    pages = sorted(path.parent.relative_to(folder).as_posix() for path in folder.rglob("index.html"))
    assert len(pages) > 50
    wrong = {}
    with served(folder) as address, browser_at(address, width, theme) as driver:
        for page in {".", *pages[half::2]}:
            driver.get(f"{address}{page}/" if page != "." else address)
            driver.execute_async_script(_SETTLED)
            found = [*accessibility_violations(driver), *([] if fits(driver) else ["it is wider than the window"])]
            if found:
                wrong[page] = found
        driver.get(f"{address}?q=inference+tensors")
        driver.execute_async_script(_FOUND)
        wrong |= {"a search": found} if (found := accessibility_violations(driver)) else {}
    assert wrong == {}


_FOUND = """const [done] = arguments; const look = () =>
  document.querySelector('.md-search-result__list article') ? setTimeout(done, 300) : setTimeout(look, 30); look();"""
_SETTLED = "const done = arguments[0]; addEventListener('load', done); if (document.readyState === 'complete') setTimeout(done, 60);"
"""The theme wraps tables, and this site's script names them, after the page is there."""
