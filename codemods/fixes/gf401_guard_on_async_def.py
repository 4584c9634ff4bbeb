"""GF401: the decorator becomes a `with` around the body, where the body does not pause."""

from __future__ import annotations

from itertools import groupby

from guardfix.linter.answered_once import answered_once
from guardfix.linter.facts import Facts, Span
from guardfix.linter.facts.python_model import PythonUse
from guardfix.linter.files.suppressions import silenced_rows
from guardfix.linter.rules.gf401_guard_on_async_def import RULE as GF401
from guardfix.linter.rules.gf401_guard_on_async_def import stacks

from ..fix import Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()

_DEEPEST_WITH = 8
"""CPython refuses more than 20 blocks within one another, and each item of a `with` is one."""


@FIX.fix
def guard_inside(site: Site) -> Fix | None:
    """Guards above the same function go together, in their order: apart, the upper one would come to be inside."""
    found = site.python_use
    if found is None or found.decorated is None:
        return None
    decorated = found.decorated
    guard = _call_text(site.text, found)
    if decorated.suspension_points:
        return site.suggestion(f"guard the computations between the awaits: `with {guard}:` inside `{decorated.name}`")
    stack = _unsilenced(site.facts).get(decorated.span, [found])
    if found is not stack[-1]:
        return site.suggestion(f"use `with {guard}:` inside `{decorated.name}`, as the fix of the guard below does")
    guards = [text for text, _ in groupby(_call_text(site.text, one) for one in stack)]
    edits = None
    if len(guards) <= _DEEPEST_WITH:
        from ..edits.with_blocks import body_under_guard  # which imports libcst

        edits = body_under_guard(site.text, decorated, [one.use.span for one in stack], ", ".join(guards))
    if edits is None:
        return site.suggestion(f"use `with {guard}:` inside `{decorated.name}`")
    acts = (
        ("the guard, which had no effect, takes effect")
        if len(guards) == 1
        else "the guards, which had no effect, take effect"
    )
    return site.fix(f"put `with {', '.join(guards)}:` inside `{decorated.name}`; {acts}", edits)


@answered_once
def _unsilenced(facts: Facts) -> dict[Span, list[PythonUse]]:
    """The guards above each `async def` that no comment says to leave alone."""
    kept = {
        span: [one for one in stack if not _is_silenced(one.use.span, facts)] for span, stack in stacks(facts).items()
    }
    return {span: stack for span, stack in kept.items() if stack}


def _is_silenced(span: Span, facts: Facts) -> bool:
    return silenced_rows(facts).silence(facts.rows(span), GF401.code, GF401.name, GF401.group or "")


def _call_text(text: bytes, found: PythonUse) -> str:
    written = text[slice(*found.call_span)].decode("utf-8")
    return written if found.called else f"{written}()"
