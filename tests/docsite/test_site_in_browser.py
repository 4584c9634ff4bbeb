"""The documentation site: it is built strictly, and each of its pages can be read by all, on wide and narrow screens."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from fixture_files import ROOT
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


LOOKS = [pytest.param(1280, "light", id="wide, light"), pytest.param(390, "dark", id="narrow, dark")]


@needs_chromium
@pytest.mark.skipif(not AXE, reason="needs axe-core: GUARDFIX_AXE")
@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_each_page_fits_and_can_be_read_by_all(
    width: int, theme: str, built: tuple[Path, subprocess.CompletedProcess[str]]
) -> None:
    pytest.importorskip("selenium")
    folder, _ = built
    pages = sorted(path.parent.relative_to(folder).as_posix() for path in folder.rglob("index.html"))
    assert len(pages) > 50
    wrong = {}
    with served(folder) as address, browser_at(address, width, theme) as driver:
        for page in pages:
            driver.get(f"{address}{page}/" if page != "." else address)
            driver.execute_async_script(_SETTLED)
            found = [*accessibility_violations(driver), *([] if fits(driver) else ["it is wider than the window"])]
            if found:
                wrong[page] = found
    assert wrong == {}


_SETTLED = "const done = arguments[0]; addEventListener('load', done); if (document.readyState === 'complete') setTimeout(done, 60);"
"""The theme wraps tables, and this site's script names them, after the page is there."""
