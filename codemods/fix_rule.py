"""The fix of a rule is one file in `fixes/`, named as the rule's file in `linter/rules/`. It is found by itself.

How much it may claim, and whether each finding has one, the rule says (`Rule.fix`).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from functools import cache

from guardfix.linter.findings import Applicability
from guardfix.linter.rule import load_rule
from guardfix.linter.rule_names import RuleName

from .fix import Fix
from .site import Site

FixFunction = Callable[[Site], Fix | None]
"""Makes the fix of one finding; None where there is none."""


class FixRule:
    """The fix of one rule: the functions that make it, registered by decorators."""

    def __init__(self) -> None:
        self._function: FixFunction | None = None
        self._by_language: dict[str, FixFunction] = {}

    def fix(self, function: FixFunction) -> FixFunction:
        """Register what makes the fix in every language that has no function of its own."""
        self._function = function
        return function

    def fix_in(self, *languages: str) -> Callable[[FixFunction], FixFunction]:
        """Register what makes the fix in these languages."""

        def register(function: FixFunction) -> FixFunction:
            self._by_language.update(dict.fromkeys(languages, function))
            return function

        return register

    def function_for(self, language: str) -> FixFunction | None:
        """What makes the fix in a language; None where nothing does."""
        return self._by_language.get(language, self._function)


@cache
def claim_of(code: str, name: str) -> Applicability:
    """The most that a fix of the rule with this code and name can claim, as the rule says."""
    fix = load_rule(RuleName(code, name, _module(code, name))).fix
    assert fix is not None, "only rules that say so have a fix"
    return fix.most


@cache
def find_fix_rule(code: str, name: str) -> FixRule | None:
    """The fix of the rule with this code and name; None for a rule without one.

    Only this rule's file is imported: a run pays for the fixes of what it finds.
    """
    module = _module(code, name)
    if not os.path.isfile(os.path.join(os.path.dirname(__file__), "fixes", f"{module}.py")):
        return None
    found: FixRule = importlib.import_module(f"{__package__}.fixes.{module}").FIX
    return found


def _module(code: str, name: str) -> str:
    return f"{code.lower()}_{name.replace('-', '_')}"
