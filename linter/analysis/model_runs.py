"""Where a file loads models and runs them. A function may hold many guards: what it says is found once."""

from __future__ import annotations

from ..answered_once import answered_once
from ..facts import Assignment, Call, Facts, Span
from ..facts.expressions import MemberAccess, last_name, nodes_of, pointee, simple_name
from ..facts.index import all_calls_where, index_of
from .calls import is_load, is_run
from .declared_types import declared_type
from .model_types import is_model_type, loads_by_construction

RUN_METHODS = frozenset(
    {"run", "execute", "forward", "operator()", "predict", "infer", "boxed_run", "run_async", "replay"}
)
"""Methods that run the model whose they are."""


@answered_once
def first_run_in(facts: Facts, span: Span) -> Call | None:
    return next((call for call in index_of(facts).calls.within(span) if runs_model_in(call, facts, span)), None)


def first_load_in(facts: Facts, span: Span) -> Call | None:
    return all_calls_where(facts, is_load).first(span)


@answered_once
def first_load(facts: Facts) -> Call | None:
    return next(filter(is_load, facts.calls), None)


@answered_once
def first_construction_in(facts: Facts, span: Span) -> Assignment | None:
    """The first object that is built there and loads its model by that: `AOTIModelPackageLoader loader(path);`."""
    return next(
        (
            assignment
            for assignment in index_of(facts).assignments.within(span)
            if assignment.builds and assignment.type is not None and loads_by_construction(assignment.type)
        ),
        None,
    )


def runs_model_in(call: Call, facts: Facts, around: Span) -> bool:
    """Whether a call in the function `around` runs a model: by its name, or by what it is called on."""
    return is_run(call) or runs_held_method(call, facts, around) or runs_model_object(call, facts)


def runs_or_loads(call: Call) -> bool:
    """Whether the call runs or loads a model, by its names alone."""
    return is_run(call) or is_load(call)


def runs_model_object(call: Call, facts: Facts) -> bool:
    """`runner.run(inputs)`, `module(x)`, where the object is declared as a model."""
    if call.receiver is not None:
        if call.name not in RUN_METHODS:
            return False
        name = last_name(pointee(call.receiver))
    else:
        name = simple_name(pointee(call.called))
    type_ = declared_type(name, call.function, call.span.start, facts) if name else None
    return type_ is not None and is_model_type(type_)


def runs_held_method(call: Call, facts: Facts, around: Span) -> bool:
    """`auto decode = module.get_method("decode"); … decode(inputs)`: a model's method that a variable holds."""
    held = simple_name(call.receiver if call.name in ("operator()", "run") else call.called)
    return bool(held) and held in _held_methods(facts, around)


@answered_once
def _held_methods(facts: Facts, span: Span) -> frozenset[str]:
    """The variables that are given a model's method there."""
    return frozenset(
        assignment.variable
        for assignment in index_of(facts).assignments.within(span)
        if any(
            isinstance(node, MemberAccess) and node.name in ("get_method", "find_method")
            for node in nodes_of(assignment.value)
        )
    )
