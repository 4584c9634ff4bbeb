"""What could break when a scope runs under `c10::InferenceMode`: tensors that leave it and are changed later.

A tensor made under InferenceMode is an inference tensor. Outside, it cannot be changed in place, cannot be
given `requires_grad`, and cannot be saved for backward. Everything here is as far as one file shows it.
Reference: https://pytorch.org/cppdocs/notes/inference_mode.html.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from ..facts import Assignment, Call, Facts, Function, GuardUse, Span
from ..facts.expressions import assigned_names, variable_of, words_of
from ..facts.index import assignments_by_layer, calls_where, index_of
from ..facts.model import MOST_AROUND
from ..facts.spans import ANYWHERE
from .project import Project
from .tensor_changes import Hazard, possible_changes, what_changes


def escape_hazards(use: GuardUse, facts: Facts, project: Project) -> list[Hazard]:
    """Hazards of turning this use into InferenceMode. Rather one too many than one too few."""
    function = facts.functions[use.function] if use.function is not None else None
    if function is None:
        return []
    made = _made_inside(use, facts)
    if function.immediately_invoked:
        # `auto out = [&] { guard; return model.forward(x); }();`
        held = index_of(facts).assignments_around.around(function.span)
        made |= {name for a in held for name in assigned_names(a.target)}
    whole = facts.enclosing(use.function)[-1]
    local = _declared_in(whole.span, facts) | {parameter.name for parameter in function.parameters}
    inside = _declared_in(use.scope, facts) - _returned_names(use.scope, facts)
    # In a loop, what stands above the scope runs after it too: all of the function counts.
    found = list(possible_changes(made - inside, whole.body, facts, exclude=use.scope))
    shared = frozenset(name for name in made if name not in local)
    elsewhere = (hazard for hazard in _changed_everywhere(shared, facts) if not use.scope.holds(hazard.span))
    found += islice(elsewhere, MOST_AROUND)
    found += _in_callers(use.live, made, function, facts, _DEPTH)
    return list({hazard.span: hazard for hazard in found}.values())


@lru_cache(maxsize=64)
def _changed_everywhere(shared: frozenset[str], facts: Facts) -> list[Hazard]:
    """Where the file may change what is not a local variable; many methods may give one member its value."""
    everywhere = possible_changes(set(shared), ANYWHERE, facts, exclude=None)
    return [hazard for hazard in everywhere if not _is_local_there(hazard, facts)]


@lru_cache(maxsize=64)
def _declared_in(span: Span, facts: Facts) -> frozenset[str]:
    """The variables that are declared in a function or a block."""
    declared = (a for a in assignments_by_layer(facts).within(span) if a.declares)
    return frozenset(name for a in declared for name in assigned_names(a.target))


def _is_local_there(hazard: Hazard, facts: Facts) -> bool:
    """Whether the function around a hazard has a variable of its own of that name."""
    for function in index_of(facts).functions_around.around(hazard.span):
        if any(parameter.name == hazard.variable for parameter in function.parameters):
            return True
        if hazard.variable in _declared_in(function.span, facts):
            return True
    return False


_DEPTH = 3
"""How many functions of the file a result is followed through."""


def _made_inside(use: GuardUse, facts: Facts) -> set[str]:
    """Names that are given a value under the guard, or are given one to hold."""
    names = {
        name
        for assignment in assignments_by_layer(facts).within(use.live)
        if assignment.operator == "="
        for name in assigned_names(assignment.target)
    }
    names |= {variable_of(call.receiver) for call in calls_where(facts, ANYWHERE, _is_given_to_hold).within(use.live)}
    return names - {""}


def _is_given_to_hold(call: Call) -> bool:
    return call.name in _HOLDS and call.receiver is not None


_HOLDS = frozenset({"push_back", "emplace_back", "insert", "emplace", "copy_", "set_", "append"})


@lru_cache(maxsize=64)
def _returned_names(scope: Span, facts: Facts) -> frozenset[str]:
    return frozenset(word for returned in index_of(facts).returns.within(scope) for word in words_of(returned.value))


def _in_callers(live: Span, made: set[str], function: Function, facts: Facts, depth: int) -> Iterator[Hazard]:
    """Results that the function gives back, followed into its callers in the same file."""
    if depth == 0 or function.is_lambda or not function.name:
        return
    returned = list(index_of(facts).returns.within(function.body))
    gives_back = any(live.holds(r.span) or words_of(r.value) & made for r in returned)
    by_reference = [
        index for index, parameter in enumerate(function.parameters) if parameter.name in made and parameter.type.marks
    ]
    if not gives_back and not by_reference:
        return
    for call in _calls_of(facts).get(function.name, ()):
        if function.span.holds(call.span) or call.function is None:
            continue
        caller = facts.functions[call.function]
        names = {variable_of(call.arguments[i]) for i in by_reference if i < len(call.arguments)} - {""}
        if gives_back:
            here = index_of(facts)
            given = here.assignments.within(caller.span)
            names |= {name for a in given if _is_value_of(call, a) for name in assigned_names(a.target)} - {""}
            for outer in here.calls.within(caller.span):
                goes_on = outer.span.start == call.span.start and outer.span.end > call.span.end
                what = what_changes(outer) if goes_on and outer.receiver is not None else ""
                if what:
                    yield Hazard(f"{function.name}()", what, outer.span, facts.row(outer.span.start))
        yield from possible_changes(names, caller.body, facts, exclude=call.span)
        yield from _in_callers(call.span, names, caller, facts, depth - 1)


@lru_cache(maxsize=64)
def _calls_of(facts: Facts) -> dict[str, list[Call]]:
    """The file's calls by the called function's name."""
    table: dict[str, list[Call]] = {}
    for call in facts.calls:
        table.setdefault(call.name, []).append(call)
    return table


def _is_value_of(call: Call, assignment: Assignment) -> bool:
    return assignment.operator == "=" and assignment.span.holds(call.span) and assignment.function == call.function
