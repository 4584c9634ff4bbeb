"""What a fix of a Python finding depends on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...linter.facts import Facts
from ...linter.findings import Finding, Fix
from ...linter.project import Project
from ...linter.python.facts import PythonUse


@dataclass(frozen=True, slots=True)
class PythonSite:
    """One finding with its place."""

    finding: Finding
    found: PythonUse
    facts: Facts
    project: Project
    text: bytes


Codemod = Callable[[PythonSite], Fix | None]
