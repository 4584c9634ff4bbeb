"""The page of `guardfix verify --html`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from guardfix.verify.verifying import Result

from .page_kit import rendered
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

    @property
    def first_open(self) -> int:
        """The program that is open at first: the first that has steps, the worst one."""
        with_steps = [number for number, program in enumerate(self.programs) if program.rows]
        return with_steps[0] if with_steps else 0


_WORST_FIRST = ("changed", "stricter", "not run", "unsupported", "not reached", "repaired", "same")


def _rank(verdict: str) -> int:
    return _WORST_FIRST.index(verdict) if verdict in _WORST_FIRST else len(_WORST_FIRST)


def verify_page(results: Iterable[Result], *, version: str, backend: str) -> str:
    """The whole page: each program with its verdict, and the steps before and after beside each other."""
    content = VerifyContent(version, backend, [program_content(result) for result in results])
    content.programs.sort(key=lambda program: _rank(program.verdict))
    return rendered("verify_page.html", ("verify_page.css",), ("verify_page.js",), content)
