"""Where a tensor is changed, saved for backward or differentiated, as an inference tensor may not be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from ..facts import Assignment, Call, Facts, Span
from ..facts.expressions import (
    Bracketed,
    Expression,
    MemberAccess,
    Subscript,
    assigned_names,
    is_named,
    steps_of,
    truth_of,
    variable_of,
    words_of,
)
from ..facts.index import index_of
from ..facts.spans import Sorted
from ..lazy_regex import lazy_regex

_IN_PLACE = lazy_regex(r"^[a-zA-Z]\w*[^_]_$")


class Hazard(Struct, frozen=True):
    """One place outside the scope where an inference tensor would raise."""

    variable: str
    what: str
    """`changed in place`, `given requires_grad`, `saved for backward`, `used in a differentiated computation`."""
    span: Span
    row: int


_VIEWS = frozenset(
    """view view_as reshape select slice narrow transpose t permute squeeze unsqueeze index detach expand flatten
    diagonal unbind split chunk alias at front back get toTensor""".split()
)


def _viewed(value: Expression | None) -> str:
    """The variable of which a value may be a view: `x`, `x[0]`, `x.view(…)…`; empty for anything new."""
    while isinstance(value, Bracketed) and len(value.items) == 1:
        value = value.items[0]
    if value is None:
        return ""
    first, *steps = steps_of(value)
    if is_named(first, "this") and steps:
        steps = steps[1:]
    begins = steps[0] if steps else None
    if begins is None or isinstance(begins, Subscript) or (isinstance(begins, MemberAccess) and begins.name in _VIEWS):
        return variable_of(value)
    return ""


def possible_changes(names: set[str], span: Span, facts: Facts, exclude: Span | None) -> list[Hazard]:
    """Places in the span where one of the names, or a view of it, may be changed as inference tensors may not be."""
    if not names:
        return []
    changes = _changes_of(facts)
    for assignment in changes.views.within(span):
        if exclude and exclude.holds(assignment.span):
            continue
        if _viewed(assignment.value) in names:
            names = names | set(assigned_names(assignment.target))
    found = list(changes_of(names, span, facts, exclude))
    given = [
        (call, name)
        for name in names
        for call in changes.given.get(name, ())
        if span.holds(call.span) and not (exclude and exclude.holds(call.span))
    ]
    found += [_hazard(name, "changed in place", call.span, facts) for call, name in sorted(given, key=_by_place)]
    backwards = [c for c in changes.backwards.within(span) if not (exclude and exclude.holds(c.span))]
    for call in backwards:
        for name in sorted(set().union(*map(words_of, (call.receiver, *call.arguments))) & names):
            found.append(_hazard(name, "used in a computation that is differentiated", call.span, facts))
    if backwards:
        for assignment in index_of(facts).assignments.within(span):
            if exclude and exclude.holds(assignment.span):
                continue
            for name in sorted(words_of(assignment.value) & names - set(assigned_names(assignment.target))):
                found.append(_hazard(name, "used in a computation that is differentiated", assignment.span, facts))
    return found


class _Changes(Struct, frozen=True):
    """What a file changes, by variable: a function may hold many guards, and each asks for its own tensors."""

    mutating: dict[str, list[tuple[Call, str]]]
    """By receiver, the methods that an inference tensor does not allow, each with what it does."""
    given: dict[str, list[Call]]
    """By first argument, the calls of functions that change it: `torch::relu_(x)`, `at::add_out(x, …)`."""
    assigned: dict[str, list[Assignment]]
    """`x += y`, `x[0] = y`."""
    saves: Sorted[Call]
    backwards: Sorted[Call]
    views: Sorted[Assignment]
    """Assignments of what may be a view."""


@lru_cache(maxsize=16)
def _changes_of(facts: Facts) -> _Changes:
    mutating: dict[str, list[tuple[Call, str]]] = defaultdict(list)
    given: dict[str, list[Call]] = defaultdict(list)
    assigned: dict[str, list[Assignment]] = defaultdict(list)
    for call in facts.calls:
        what = what_changes(call)
        if what:
            mutating[variable_of(call.receiver)].append((call, what))
        if call.receiver is None and call.arguments and (_IN_PLACE.match(call.name) or call.name.endswith("_out")):
            given[variable_of(call.arguments[0])].append(call)
    for assignment in facts.assignments:
        if assignment.declares:
            continue
        if assignment.operator != "=" or _is_element(assignment.target):
            assigned[variable_of(assignment.target)].append(assignment)
    return _Changes(
        mutating,
        given,
        assigned,
        saves=Sorted((c for c in facts.calls if c.name == "save_for_backward"), _place),
        backwards=Sorted((c for c in facts.calls if _differentiates(c)), _place),
        views=Sorted((a for a in facts.assignments if a.operator == "=" and _viewed(a.value)), _place),
    )


def _is_element(target: Expression) -> bool:
    """`x[0]`, `this->x[0].y`: a part of a variable's value is changed."""
    steps = steps_of(target)[1:]
    if variable_of(target).startswith("this->"):
        steps = steps[1:]
    return bool(steps) and isinstance(steps[0], Subscript)


def _differentiates(call: Call) -> bool:
    return call.name == "backward" or call.path[-2:] == ("autograd", "grad")


def _place(item: Call | Assignment) -> Span:
    return item.span


def _by_place(item: tuple[Call | Assignment, str]) -> tuple[int, int]:
    """In the file's order; of calls that begin together the outer one first."""
    return item[0].span.start, -item[0].span.end


def changes_of(names: set[str], span: Span, facts: Facts, exclude: Span | None) -> Iterator[Hazard]:
    """Places in the span where one of the names is changed as inference tensors may not be."""
    if not names or span.start >= span.end:
        return
    changes = _changes_of(facts)

    def counts(place: Span) -> bool:
        return span.holds(place) and not (exclude and exclude.holds(place))

    called = [
        (call, name, what) for name in names for call, what in changes.mutating.get(name, ()) if counts(call.span)
    ]
    for call in changes.saves.within(span):
        if counts(call.span):
            kept = set().union(*map(words_of, call.arguments)) & names
            called += [(call, name, "saved for backward") for name in sorted(kept)]
    for call, name, what in sorted(called, key=lambda item: (*_by_place(item[:2]), item[1])):
        yield _hazard(name, what, call.span, facts)
    changed = [(a, name) for name in names for a in changes.assigned.get(name, ()) if counts(a.span)]
    if any(counts(call.span) for call in changes.backwards.within(span)):
        declared = (a for a in index_of(facts).assignments.within(span) if a.declares and counts(a.span))
        used = [(a, name) for a in declared for name in sorted(words_of(a.value) & names)]
    else:
        used = []
    for assignment, name in sorted([*changed, *used], key=_by_place):
        what = "used in a computation that is differentiated" if assignment.declares else "changed in place"
        yield _hazard(name, what, assignment.span, facts)


def what_changes(call: Call) -> str:
    if call.name in ("requires_grad_", "set_requires_grad"):
        return "" if call.arguments and truth_of(call.arguments[0]) is False else "given requires_grad"
    if call.name == "backward":
        return "differentiated"
    if _IN_PLACE.match(call.name) and not is_named(call.receiver, "std", "env", "jenv", "this"):
        return "changed in place"
    return ""


def _hazard(variable: str, what: str, span: Span, facts: Facts) -> Hazard:
    return Hazard(variable, what, span, facts.row(span.start))
