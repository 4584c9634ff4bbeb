#!/usr/bin/env python3
"""Measures how a report of many findings scrolls: the longest task of the page's script while one goes through it.

    bench/report_scroll.py [--findings 10000] [--width 1280]

Needs the extra `report`, selenium, and Chromium with its driver. Scrolls to the end, jumps about, opens findings and
searches. Printed: the time until the page is there; for each of these the longest task, the number of tasks over 50
milliseconds, and how many findings are in the document. Exit status 1 when a task of scrolling took more than 100
milliseconds. Tasks are timed by the clock: on a busy machine they are longer.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check
from guardfix.package_version import VERSION
from guardfix.report.html_page import html_page
from guardfix.report.report_content import CodeLinks, ReportContent, content_of

TARGET = 100.0
"""Milliseconds of the longest task."""
ROOT = Path(__file__).resolve().parent.parent

_WATCH = """
window.tasks = [];
new PerformanceObserver((list) => { for (const one of list.getEntries()) tasks.push(one.duration); })
  .observe({ type: "longtask", buffered: true });
"""
_STEPS = """
const done = arguments[0];
let step = 0;
const go = () => {
  %s;
  if (step++ < %d) requestAnimationFrame(go); else setTimeout(done, 300);
};
go();
"""
_SCROLL = _STEPS % ("scrollTo(0, document.body.scrollHeight * step / 250)", 250)
_JUMP = _STEPS % ("scrollTo(0, document.body.scrollHeight * ((step * 7919) % 100) / 100)", 60)
_OPEN = _STEPS % (
    "const heads = document.querySelectorAll('.finding > .head:not([aria-expanded=true])');"
    "heads[heads.length >> 1].click(); scrollBy(0, innerHeight)",
    40,
)
_SEARCH = """
const done = arguments[0], field = document.getElementById("search");
field.value = "guard torch";
field.dispatchEvent(new Event("input"));
setTimeout(done, 1500);
"""
_WORK = {"scrolling": _SCROLL, "jumping": _JUMP, "opening": _OPEN, "searching": _SEARCH}


def many_findings(count: int) -> ReportContent:
    """The findings of the fixtures, as often as it takes, each in a file of its own name."""
    report = fixes_for(check([str(ROOT / "fixtures" / "cpp"), str(ROOT / "fixtures" / "python")], Options()))
    content = content_of(report, title=f"{count} findings", version=VERSION, links=CodeLinks(), intents_from=str(ROOT))
    few = content.findings
    content.findings = [
        {**few[number % len(few)], "path": f"copy{number // len(few)}/{few[number % len(few)]['path']}"}
        for number in range(count)
    ]
    content.findings.sort(key=lambda one: (one["part"], one["rule"], one["group"]))
    return content


def browser(width: int) -> Any:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium") or ""
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    driver.set_script_timeout(120)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _WATCH})
    return driver


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--findings", type=int, default=10_000)
    parser.add_argument("--width", type=int, default=1280)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        page.write_text(html_page(many_findings(given.findings)), encoding="utf-8")
        print(f"{given.findings} findings, {page.stat().st_size / 1e6:.1f} MB")
        driver = browser(given.width)
        try:
            driver.get(page.as_uri())
            there = driver.execute_script("return performance.getEntriesByType('navigation')[0].domComplete")
            print(f"there after {there:.0f} ms")
            longest = {}
            for name, script in _WORK.items():
                driver.execute_script("tasks.length = 0")
                driver.execute_async_script(script)
                tasks = driver.execute_script("return tasks")
                longest[name] = max(tasks, default=0.0)
                inside = driver.execute_script("return document.querySelectorAll('.finding').length")
                took = f"longest task {longest[name]:.0f} ms" if tasks else "no task over 50 ms"
                print(f"{name:10} {took}, {len(tasks)} over 50 ms; {inside} findings in the document")
        finally:
            driver.quit()
    return 1 if max(longest["scrolling"], longest["jumping"]) > TARGET else 0


if __name__ == "__main__":
    sys.exit(main())
