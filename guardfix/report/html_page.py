"""The page of a report."""

from __future__ import annotations

from .page_kit import rendered
from .report_content import PICKED_PURPOSES, ReportContent


def html_page(content: ReportContent, *, live: bool = False) -> str:
    """The whole page of a report. It loads nothing; a `live` one asks its server for changes."""
    data = {"made": content.made.data, "findings": content.findings, "purposes": PICKED_PURPOSES}
    scripts = ("report_page.js", *(["live_report.js"] if live else []))
    return rendered("report_page.html", ("report_page.css",), scripts, content, data, connects="'self'" if live else "")
