"""GF408: the statement becomes a guard for the rest of its block."""

from __future__ import annotations

from guardfix.linter.analysis.cpp_mode_switches import cpp_mode_switches
from guardfix.linter.analysis.grad_switches import ModeSwitch
from guardfix.linter.facts import GuardUse, Span
from guardfix.linter.facts.index import index_of
from guardfix.linter.facts.python_uses import uses_of
from guardfix.linter.frontends.cpp.cpp_masking import code_only
from guardfix.linter.guards import NO_GRAD, SET_GRAD_ENABLED
from guardfix.linter.lazy_regex import lazy_regex

from ..edits.statements import removal
from ..fix import Edit, Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()

_ENDS = lazy_regex(rb"\s*;")
_ONLY_RETURNS = lazy_regex(rb"\s*(?:return\b[^;(]*;\s*)?\}")
_KEPT = lazy_regex(rb"[^;{}]*\b(\w+)\s*=[^;{}=]*GradMode::is_enabled\(\)\s*;")


@FIX.fix_in("python")
def with_no_grad(site: Site) -> Fix | None:
    """Where nothing sets the mode again, all that follows in the block goes under `with torch.no_grad():`."""
    use = next((one for one in uses_of(site.facts, (SET_GRAD_ENABLED,)) if one.use.span == site.finding.span), None)
    torch = site.facts.python.torch_name if site.facts.python is not None else ""
    chain = site.facts.enclosing(use.use.function) if use is not None else ()
    in_constructor = bool(chain) and chain[0].name == "__init__"  # the methods are meant as well
    if use is None or not use.local or not torch or in_constructor or _is_set_again(use.use, site):
        return site.suggestion("put what should run without gradients into `with torch.no_grad():`")
    from ..edits.with_blocks import rest_of_block_under  # which imports libcst

    guard = f"{torch}.{NO_GRAD}()"
    edits = rest_of_block_under(site.text, use.use, guard)
    message = f"move the rest of the block into `with {guard}:`; behind it grad mode is the caller's again"
    return None if edits is None else site.fix(message, edits)


def _is_set_again(use: GuardUse, site: Site) -> bool:
    return b"set_grad_enabled(" in site.text[use.span.end : use.scope.end]


@FIX.fix_in("cpp")
def declare_a_guard(site: Site) -> Fix | None:
    switch = next((one for one in cpp_mode_switches(site.facts) if one.span == site.finding.span), None)
    function = next(index_of(site.facts).functions_around.around(site.finding.span), None)
    if switch is None or function is None or site.facts.partial:
        return None
    code = code_only(site.text)
    if code.count(b"{", function.body.start + 1, switch.span.start) != code.count(
        b"}", function.body.start + 1, switch.span.start
    ):
        return None  # in its own block, where the guard would end too early
    edits = [_guard(switch, code, function.body)]
    if switch.restore is not None:
        end = _ENDS.match(code, switch.restore.end)
        if end is None or _ONLY_RETURNS.match(code, end.end()) is None:
            return None  # what follows it would run with the mode off
        edits.append(removal(site.text, Span(switch.restore.start, end.end())))
        edits += _unused_variable(site.text, code, function.body)
    message = "declare a guard instead; behind the function grad mode is the caller's again"
    return site.fix(message, edits)


def _guard(switch: ModeSwitch, code: bytes, body: Span) -> Edit:
    name = "no_grad" if b"no_grad" not in code[slice(*body)] else "no_grad_guard"
    namespace = switch.written.partition("GradMode::")[0]
    return Edit(switch.span, f"{namespace}NoGradGuard {name}")


def _unused_variable(text: bytes, code: bytes, body: Span) -> list[Edit]:
    """Takes out `bool before = GradMode::is_enabled();` where only the statement that goes has read it."""
    for kept in _KEPT.finditer(code, body.start + 1, body.end):
        if code.count(kept[1], *body) == 2:
            start = kept.start() + len(kept.group()) - len(kept.group().lstrip())
            return [removal(text, Span(start, kept.end()))]
    return []
