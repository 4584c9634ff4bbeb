"""What a fix of a Python finding depends on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from guardfix.linter.analysis.project import Project
from guardfix.linter.facts import Facts
from guardfix.linter.facts.python_model import PythonUse
from guardfix.linter.findings import Finding, Fix


@dataclass(frozen=True, slots=True)
class PythonSite:
    """One finding with its place."""

    finding: Finding
    found: PythonUse
    facts: Facts
    project: Project
    text: bytes


Codemod = Callable[[PythonSite], Fix | None]
