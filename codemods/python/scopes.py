"""GF405 and GF101: a guard object that is kept becomes a `with` around the rest of its block."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from guardfix.linter import guards
from guardfix.linter.facts import GuardUse, Span
from guardfix.linter.findings import Applicability, Edit, Fix

from ..edits.libcst_regions import Statement, indent_unit, rewrite_statements, wrap
from .site import PythonSite


def enter_for_the_rest(site: PythonSite) -> Fix | None:
    """GF405: the rest of the block below `with`."""
    use = site.found.use
    if not site.found.local or use.class_ is not None:
        return None
    guard = _entered(site)
    edits = rest_of_block_under(site.text, use, guard)
    if edits is None:
        return None
    message = f"put the rest of the block below `with {guard}:`; it then ends with the block"
    return Fix(message, Applicability.UNSAFE, tuple(edits))


def _entered(site: PythonSite) -> str:
    """What `with` enters instead: the public guard where this file has a name for torch, else the guard itself."""
    use = site.found.use
    if use.guard != guards.C_INFERENCE_MODE:
        return f"{use.written}()"
    module, _, _ = use.written.rpartition(f"._C.{use.guard}")
    torch = module or (site.facts.python.torch_name if site.facts.python is not None else "")
    argument = "" if use.argument is None else use.argument.text[1:-1]
    if not torch:
        return f"{use.written}({argument})"
    on = use.argument is None or use.argument.value is True
    return f"{torch}.{guards.PYTHON_INFERENCE_MODE}({'' if on else argument})"


def rest_of_block_under(text: bytes, use: GuardUse, guard: str) -> list[Edit] | None:
    """The edits that put what follows the statement of `use` in its block below `with guard:`.

    A `del` of the variable, or `= None`, ends the block early, and goes.
    """

    def rewriting(statements: Sequence[Statement]) -> Sequence[Statement] | None:
        first, rest = statements[0], list(statements[1:])
        if not isinstance(first, cst.SimpleStatementLine) or len(first.body) != 1:
            return None
        end = next((number for number, one in enumerate(rest) if _lets_go(one, use.variable)), None)
        inside = rest if end is None else rest[:end]
        outside = [] if end is None else rest[end + 1 :]
        if not inside:
            return None
        guarded = wrap(inside, guard, indent_unit(text), first.trailing_whitespace)
        return [guarded.with_changes(leading_lines=first.leading_lines), *outside]

    return rewrite_statements(text, Span(use.span.start, use.scope.end), rewriting)


def _lets_go(node: Statement, variable: str | None) -> bool:
    if variable is None or not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return False
    small = node.body[0]
    target: cst.BaseExpression | None = None
    if isinstance(small, cst.Del):
        target = small.target
    elif isinstance(small, cst.Assign) and len(small.targets) == 1 and _is_name(small.value, "None"):
        target = small.targets[0].target
    return target is not None and _is_name(target, variable)


def _is_name(node: cst.BaseExpression, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name
