"""The page of `guardfix verify --html`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from guardfix.verify.verifying import Result

from .html_page import rendered
from .verify_content import ShownProgram, program_content


@dataclass(frozen=True)
class VerifyContent:
    """All that the page says."""

    version: str
    backend: str
    programs: list[ShownProgram]

    @property
    def verdicts(self) -> list[tuple[str, int]]:
        """How many programs have which verdict, the most frequent first."""
        return Counter(program.verdict for program in self.programs).most_common()


def verify_page(results: Iterable[Result], *, version: str, backend: str) -> str:
    """The whole page: each program with its verdict, and the steps before and after beside each other."""
    content = VerifyContent(version, backend, [program_content(result) for result in results])
    styles, scripts = ("report_page.css", "verify_page.css"), ("page_theme.js", "verify_page.js")
    return rendered("verify_page.html", styles, scripts, content)
