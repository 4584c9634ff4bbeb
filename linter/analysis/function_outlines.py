"""What a function does by itself, before anybody has asked what its names mean."""

from __future__ import annotations

from enum import Enum

from ..answered_once import answered_once
from ..facts import Call, Facts, Span
from ..facts.expressions import (
    CallExpression,
    Construction,
    Expression,
    NamePath,
    NewExpression,
    Operation,
    Subscript,
    nodes_of,
)
from ..facts.index import index_of
from ..named_tuples import NamedTuple
from .calls import QUERIES, computes_nothing, is_load
from .linkage import Link
from .model_runs import runs_model_in
from .model_types import loads_by_construction
from .training_calls import training_in

MAKERS = frozenset({"make_unique", "make_shared", "make_intrusive", "make_optional", "make_any"})
"""Functions that build an object of the type that is their template argument."""
_FOREIGN = frozenset({"std", "at", "torch", "c10", "caffe2", "boost", "folly", "absl", "fmt", "spdlog", "cv", "thrust"})
_COMMON = QUERIES | frozenset(
    """push_back emplace_back empty begin end insert erase find count clear reserve resize data str c_str join detach
    wait notify_all notify_one lock unlock get reset release swap to cpu cuda item contiguous view reshape toTensor
    index""".split()
)
"""Methods that nearly every object has."""


class CallEffect(Enum):
    """What a function does, as messages say it."""

    RUN = "runs a model"
    LOAD = "loads a model"
    TRAIN = "trains"


class Act(NamedTuple):
    """An effect at the place where it is done: in the file of `facts`, at `offset`."""

    facts: Facts
    offset: int
    written: str
    link: Link = Link.SHOWN
    """How it is shown that the class of the model is the one that is meant."""


class FunctionOutline(NamedTuple):
    """What is in a function, before anybody has asked what its names mean."""

    acts: tuple[tuple[CallEffect, Act], ...]
    calls: tuple[Call, ...]
    built: tuple[tuple[Expression, Span], ...]
    """Types of objects that are built without a call."""
    handed_on: tuple[tuple[tuple[str, ...], str, Span], ...]
    """Functions that are named and not called: `&Net::run`."""


@answered_once
def outline_of(facts: Facts, span: Span, around: Span) -> FunctionOutline:
    """Read once for a file's facts: the project around them grows step by step."""
    index = index_of(facts)
    acts: dict[CallEffect, Act] = {}
    calls: list[Call] = []
    built: list[tuple[Expression, Span]] = []
    handed_on: list[tuple[tuple[str, ...], str, Span]] = []

    def look_into(value: Expression | None, place: Span) -> None:
        for node in nodes_of(value):
            if isinstance(node, (NewExpression, Construction)):
                built.append((node.type, place))
            elif isinstance(node, Operation) and node.is_address and isinstance(node.operands[0], NamePath):
                path = node.operands[0].path
                if len(path) > 1:
                    handed_on.append((path, str(node), place))

    for call in index.calls.within(span):
        if CallEffect.RUN not in acts and runs_model_in(call, facts, around):
            acts[CallEffect.RUN] = Act(facts, call.span.start, call.callee)
        if CallEffect.LOAD not in acts and is_load(call):
            acts[CallEffect.LOAD] = Act(facts, call.span.start, call.callee)
        if CallEffect.TRAIN not in acts and training_in(call):
            acts[CallEffect.TRAIN] = Act(facts, call.span.start, call.callee)
        if _may_be_the_projects(call):
            calls.append(call)
        for argument in call.arguments:
            look_into(argument, call.span)
    for assignment in index.assignments.within(span):
        if assignment.builds and assignment.type is not None:
            if CallEffect.LOAD not in acts and loads_by_construction(assignment.type):
                acts[CallEffect.LOAD] = Act(facts, assignment.span.start, str(assignment.type))
            built.append((assignment.type, assignment.span))
        look_into(assignment.value, assignment.span)
    for returned in index.returns.within(span):
        look_into(returned.value, returned.span)
    return FunctionOutline(tuple(acts.items()), tuple(calls), tuple(built), tuple(handed_on))


def _may_be_the_projects(call: Call) -> bool:
    """Whether a function of the project's own can be called: not a library's, nor a method that every object has."""
    name = call.name
    if not name:
        return isinstance(call.called, (CallExpression, Subscript))  # `handlers_.at(name)(x)`
    if name in MAKERS:
        return True
    if call.receiver is not None:
        return name not in _COMMON
    return _FOREIGN.isdisjoint(call.path[:1]) and not computes_nothing(call)
