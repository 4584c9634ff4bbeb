"""Gives Python findings their fixes. libcst is imported only where a finding needs it."""

from __future__ import annotations

import importlib

from guardfix.linter.analysis.project import Project
from guardfix.linter.facts import Facts, GuardUse
from guardfix.linter.facts.python_model import use_behind
from guardfix.linter.files.sources import Source
from guardfix.linter.findings import Finding, Fix

from .site import Codemod, PythonSite

_CODEMODS = {
    "GF101": ("legacy", "fix_for"),
    "GF401": ("decorators", "guard_inside"),
    "GF402": ("decorators", "make_decorator"),
    "GF403": ("decorators", "uncalled"),
    "GF405": ("scopes", "enter_for_the_rest"),
    "GF407": ("redundant", "take_out"),
}
"""Rule -> module of this package, function in it."""

PYTHON_CODES = frozenset({*_CODEMODS, "GF105"})
"""Rules whose edits need the file's text."""


def python_fixes(
    finding: Finding, use: GuardUse, facts: Facts, project: Project, source: Source
) -> tuple[Fix | None, tuple[Fix, ...]]:
    """(the fix, further fixes that are offered on their own) of one finding in a Python file or a document."""
    if finding.code == "GF105":
        from .embedded import fix_in_literal

        return fix_in_literal(finding, use, facts, project, source)
    found = use_behind(facts, use)
    if found is None:
        return None, ()
    module, function = _CODEMODS[finding.code]
    codemod: Codemod = getattr(importlib.import_module(f".{module}", __package__), function)
    return codemod(PythonSite(finding, found, facts, project, source.text)), ()
