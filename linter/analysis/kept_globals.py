"""Globals that hold what was computed under a guard, and where the file's other functions change them in place.

The abstract machine runs what guards can reach; a function that only names a global isn't among that.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..answered_once import answered_once
from ..facts import Assignment, Call, Facts, GuardUse
from ..facts.expressions import pointee, variable_of
from ..facts.index import declarations_of
from ..facts.spans import Sorted


def changed_globals(use: GuardUse, facts: Facts) -> Iterator[tuple[str, Call]]:
    """The globals that are given a value under a C++ guard, each with a call elsewhere that changes it in place."""
    kept = {given.variable for given in _assignments_to_globals(facts).within(use.live)}
    for call in facts.calls if kept else ():
        name = variable_of(pointee(call.receiver)) if call.receiver is not None else ""
        changes = call.name.endswith("_") and not call.name.endswith("__")
        if name in kept and changes and not use.live.holds(call.span) and not _is_local(name, call.function, facts):
            yield name, call


@answered_once
def _assignments_to_globals(facts: Facts) -> Sorted[Assignment]:
    return Sorted(
        (
            given
            for given in facts.assignments
            if given.variable and not given.declares and not _is_local(given.variable, given.function, facts)
        ),
        lambda given: given.span,
    )


def _is_local(name: str, function: int | None, facts: Facts) -> bool:
    """Whether a function or those around it declare a variable, or their class has such a member."""
    for around in facts.enclosing(function):
        if any(parameter.name == name for parameter in around.parameters):
            return True
        declared = declarations_of(facts).get(name)
        if declared is not None and declared.first(around.body) is not None:
            return True
        owner = facts.classes[around.class_] if around.class_ is not None else None
        if owner is not None and any(member.name == name for member in owner.members):
            return True
        if len(around.declared_as) > 1:
            return True  # a method whose class another file may define
    return False
