"""Signals that the guard does nothing, or harm, and should go."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ..analysis.calls import computes_nothing
from ..facts import Call, Facts, Function, Span
from ..facts.spans import Sorted
from ..findings import Context
from .signals import Scene, Signal, Weight

_OPERATION = re.compile(
    r"\w\[|^[({]?\s*[-~]\s*[A-Za-z_(]|[\w)\]]\s*(?:[-+*/%@&|^]|<<|>>|[<>=!]=|[<>])=?\s*[-~]?[\w(]|\?\s*\w"
)
_TEMPLATE_ARGUMENTS = re.compile(r"(?<=\w)<[\w:,&* ]*(?:<[\w:,&* ]*>)?[\w:,&* ]*>(?=[({:])")


def _has_operation(value: str) -> bool:
    """Whether an operator of tensors may stand in the expression."""
    return _OPERATION.search(_TEMPLATE_ARGUMENTS.sub("", value)) is not None


def computes(scene: Scene, span: Span) -> Call | str | None:
    """Something in the span that may compute a tensor: a call, or an expression with an operator."""
    for call in scene.calls_in(span):
        if not computes_nothing(call):
            return call
    return next((text for _, text in _operations(scene.facts).within(span)), None)


@lru_cache(maxsize=64)
def _operations(facts: Facts) -> Sorted[tuple[Span, str]]:
    """The assignments and returned values in which a tensor may be computed without a call."""
    found = [(returned.span, returned.value) for returned in facts.returns if _has_operation(returned.value)]
    for assignment in facts.assignments:
        if assignment.target.startswith(("ctx->", "ctx.")):
            continue
        if assignment.operator != "=" or assignment.target.endswith("]") or _has_operation(assignment.value):
            found.append((assignment.span, assignment.value or assignment.target))
    return Sorted(found, lambda operation: operation[0])


_NODE_BASE = re.compile(r"(?:^|::)(?:Node|TraceableFunction|Function)$")


def _is_node(scene: Scene, function: Function) -> bool:
    """Whether the function is a method of a hand-written node of the autograd graph."""
    owner = function.qualified.rsplit("::", 2)[-2:-1]
    classes = [scene.facts.classes[function.class_]] if function.class_ is not None else []
    classes += [c for f in scene.project for c in f.classes if owner and c.name == owner[0]]
    return any(_NODE_BASE.search(base) for class_ in classes for base in class_.bases)


def _is_fragment(scene: Scene) -> bool:
    """Whether the guard stands among statements of a string or a code block that have no function around them."""
    function = scene.chain[0]
    alone = scene.facts.language == "embedded" and not function.name and not function.is_lambda
    return alone and scene.use.scope == function.body


def removal_signals(scene: Scene) -> Iterator[Signal]:
    for function in scene.chain:
        if scene.project.autograd_method(scene.facts, function) == "backward":
            message = "stands in `backward`, where it stops autograd from recording: no higher-order gradients"
            yield scene.signal(Context.REMOVE, Weight.DECISIVE, message, function.span.start)
            return
    for function in scene.chain:
        if function.name == "apply" and _is_node(scene, function):
            message = "stands in `apply` of a backward node, where it stops autograd from recording"
            yield scene.signal(Context.REMOVE, Weight.STRONG, message, function.span.start)
            return
    if not scene.chain or scene.use.form.value not in ("declaration", "auto"):
        return
    if _is_fragment(scene):
        return  # what it covers is in another string
    if computes(scene, scene.use.live) is None:
        in_forward = any(scene.project.autograd_method(scene.facts, f) == "forward" for f in scene.chain)
        message = "nothing is computed between the guard and the end of its scope"
        weight = Weight.DECISIVE if in_forward else Weight.STRONG
        yield scene.signal(Context.REMOVE, weight, message, scene.use.span.end)
