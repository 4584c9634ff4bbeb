"""Which part a function plays in an autograd Function or in a node of the graph."""

from __future__ import annotations

from enum import Enum

from ..facts import Facts, Function
from ..facts.expressions import Expression, NamePath
from ..named_tuples import NamedTuple
from .linkage import Link
from .names import PYTHON_AUTOGRAD_FUNCTION
from .project import Project, takes_context

_NODE_BASES = frozenset({"Node", "TraceableFunction", "Function"})


class Role(Enum):
    """What a method of `torch::autograd::Function` is there for."""

    FORWARD = "forward"
    BACKWARD = "backward"
    HELPER = "helper"
    """Another method, or a function that is given the context, and `backward` does not call it."""
    HELPER_OF_BACKWARD = "helper of backward"


class Part(NamedTuple):
    role: Role
    function: Function
    link: Link = Link.SHOWN
    """How it is shown: its class, or what that derives from, may be in another file."""


def part_in_autograd_function(chain: tuple[Function, ...], facts: Facts, project: Project) -> Part | None:
    """The part of the innermost function around a place that has one; None outside autograd Functions."""
    for function in chain:
        method = project.autograd_method(facts, function)
        if method in ("forward", "backward"):
            return Part(Role(method), function, project.autograd_link(facts, function))
        if method is not None or takes_context(function):
            helps = serves_backward(function, facts, project)
            link = project.autograd_link(facts, function) or Link.SHOWN
            return Part(Role.HELPER_OF_BACKWARD if helps else Role.HELPER, function, link)
    return None


def serves_backward(function: Function, facts: Facts, project: Project) -> bool:
    """Whether `backward` of an autograd Function calls the function: it is a helper of the gradient's formula."""
    return any(
        project.autograd_method(where, around) == "backward"
        for where, call, _ in project.callers_of(facts, function)
        for around in where.enclosing(call.function)
    )


def is_method_of_node(function: Function, facts: Facts, project: Project) -> bool:
    """Whether the function is a method of a hand-written node of the autograd graph."""
    owner = function.qualified[-2:-1]
    classes = [facts.classes[function.class_]] if function.class_ is not None else []
    classes += project.classes_called(owner[0], facts) if owner else []
    if not classes and len(function.declared_as) > 1:  # its class is in a header that wasn't read
        return any(one.type.last == "variable_list" and "&&" in one.type.marks for one in function.parameters)
    return any(_is_node(base) for class_ in classes for base in class_.bases)


def _is_node(base: Expression) -> bool:
    if not isinstance(base, NamePath) or base.template_arguments is not None:
        return False
    return base.name in _NODE_BASES and base.path not in PYTHON_AUTOGRAD_FUNCTION
