"""What could break when a scope runs under `c10::InferenceMode`: tensors that leave it and are changed later.

A tensor made under InferenceMode is an inference tensor. Outside, it cannot be changed in place, cannot be
given `requires_grad`, and cannot be saved for backward. Everything here is as far as one file shows it.
Reference: https://pytorch.org/cppdocs/notes/inference_mode.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .facts import Assignment, Call, Facts, Function, GuardUse, Span
from .project import Project

_IN_PLACE = re.compile(r"^[a-zA-Z]\w*[^_]_$")
_NOT_TENSOR = re.compile(r"^(?:std|env|jenv|this)$")


@dataclass(frozen=True, slots=True)
class Hazard:
    """One place outside the scope where an inference tensor would raise."""

    variable: str
    what: str
    """`changed in place`, `given requires_grad`, `saved for backward`, `used in a differentiated computation`."""
    span: Span
    row: int


def escape_hazards(use: GuardUse, facts: Facts, project: Project) -> list[Hazard]:
    """Hazards of turning this use into InferenceMode."""
    function = facts.functions[use.function] if use.function is not None else None
    if function is None:
        return []
    made = _made_inside(use, facts)
    after = Span(use.scope.end, max(use.scope.end, function.body.end))
    found = list(_mutations(made, after, facts, exclude=None))
    members = {name for name in made if name.endswith("_") or name.startswith(("m_", "this->", "_"))}
    if members:
        whole = Span(0, max(facts.line_starts[-1], function.span.end) + 1)
        found += _mutations(members, whole, facts, exclude=use.scope)
    if not function.is_lambda and function.name:
        found += _in_callers(use, made, function, facts)
    return list({hazard.span: hazard for hazard in found}.values())


def _made_inside(use: GuardUse, facts: Facts) -> set[str]:
    """Names that are given a value under the guard."""
    return {
        _root(assignment.target)
        for assignment in facts.assignments
        if use.live.holds(assignment.span) and assignment.operator == "="
    } - {""}


def _root(target: str) -> str:
    """`out` of `out[0]`, `this->out` of `this->out`, `result` of `result.x`."""
    match = re.match(r"(?:this->)?[A-Za-z_]\w*", target)
    return match[0] if match else ""


def _mutations(names: set[str], span: Span, facts: Facts, exclude: Span | None) -> Iterator[Hazard]:
    """Places in the span where one of the names is changed as inference tensors may not be."""
    if not names or span.start >= span.end:
        return
    calls = [c for c in facts.calls if span.holds(c.span) and not (exclude and exclude.holds(c.span))]
    differentiated = any(c.name == "backward" or c.callee.endswith("autograd::grad") for c in calls)
    for call in calls:
        variable = _root(call.receiver)
        if variable in names:
            what = _mutates(call)
            if what:
                yield _hazard(variable, what, call.span, facts)
        if call.name == "save_for_backward":
            for name in sorted(_words(" ".join(call.arguments)) & names):
                yield _hazard(name, "saved for backward", call.span, facts)
    for assignment in facts.assignments:
        if not span.holds(assignment.span) or (exclude and exclude.holds(assignment.span)):
            continue
        variable = _root(assignment.target)
        changed = variable in names and (assignment.operator != "=" or assignment.target.startswith(variable + "["))
        if changed and not assignment.declares:
            yield _hazard(variable, "changed in place", assignment.span, facts)
        elif differentiated and assignment.declares:
            for name in sorted(_words(assignment.value) & names):
                yield _hazard(name, "used in a computation that is differentiated", assignment.span, facts)


def _mutates(call: Call) -> str:
    if call.name in ("requires_grad_", "set_requires_grad"):
        return "" if call.arguments[:1] == ("false",) else "given requires_grad"
    if call.name == "backward":
        return "differentiated"
    if _IN_PLACE.match(call.name) and not _NOT_TENSOR.match(call.receiver):
        return "changed in place"
    return ""


def _in_callers(use: GuardUse, made: set[str], function: Function, facts: Facts) -> Iterator[Hazard]:
    """Results that the function returns, followed into its callers in the same file."""
    returned = [r for r in facts.returns if function.body.holds(r.span)]
    gives_back = any(use.live.holds(r.span) or _words(r.value) & made for r in returned)
    by_reference = [
        index for index, parameter in enumerate(function.parameters) if "&" in parameter.type and parameter.name in made
    ]
    for call in facts.calls:
        if call.name != function.name or function.span.holds(call.span) or call.function is None:
            continue
        caller = facts.functions[call.function]
        names = {_root(call.arguments[i]) for i in by_reference if i < len(call.arguments)} - {""}
        if gives_back:
            names |= {_root(a.target) for a in facts.assignments if _is_value_of(call, a)} - {""}
            for outer in facts.calls:
                if outer.receiver and outer.span.start == call.span.start and outer.span.end > call.span.end:
                    what = _mutates(outer)
                    if what:
                        yield _hazard(f"{function.name}()", what, outer.span, facts)
        yield from _mutations(names, Span(call.span.end, caller.body.end), facts, exclude=None)


def _is_value_of(call: Call, assignment: Assignment) -> bool:
    return assignment.operator == "=" and assignment.span.holds(call.span) and assignment.function == call.function


def _words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))


def _hazard(variable: str, what: str, span: Span, facts: Facts) -> Hazard:
    return Hazard(variable, what, span, facts.row(span.start))
