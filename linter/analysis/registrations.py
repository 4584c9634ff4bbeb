"""How a function is given to the dispatcher: under which key, by name or as the lambda that is there."""

from __future__ import annotations

from collections.abc import Iterable

from ..facts import Facts, Function, Registration
from ..facts.expressions import simple_name
from ..lazy_regex import lazy_regex
from .linkage import Link
from .project import Project

_AUTOGRAD_KEY = lazy_regex(r"^(?:Pre)?Autograd|^Variable(?:Type|Tensor)Id$|^AUTOGRAD")


def is_under_autograd(registration: Registration) -> bool:
    """Whether the key is one of autograd's: `Autograd`, `AutogradCUDA`, `PreAutograd`, `VariableTypeId`."""
    return _AUTOGRAD_KEY.match(registration.key) is not None


def dispatcher_registrations(
    function: Function, facts: Facts, project: Project
) -> list[tuple[Facts, Registration, Link]]:
    """Where the function or lambda of the file of `facts` is given to the dispatcher; a function's, in any file."""
    if not function.is_lambda:
        return project.registrations_of(facts, function)
    return [
        (facts, registration, Link.SHOWN)
        for registration in facts.registrations
        if _registers_lambda(registration, function, facts)
    ]


def is_kernel_of_backend(chain: Iterable[Function], facts: Facts, project: Project) -> bool:
    """Whether a function is given to the dispatcher, and under no key of autograd's."""
    found = [one for function in chain for _, one, _ in dispatcher_registrations(function, facts, project)]
    return bool(found) and not any(map(is_under_autograd, found))


def _registers_lambda(registration: Registration, function: Function, facts: Facts) -> bool:
    """`m.impl("op", [](const at::Tensor& self) { … });`, or by the name of the variable that holds the lambda."""
    if not registration.function:
        return registration.span.holds(function.span)
    in_sight = function.parent is None or facts.functions[function.parent].span.holds(registration.span)
    return registration.function == (simple_name(function.assigned_to),) and in_sight
