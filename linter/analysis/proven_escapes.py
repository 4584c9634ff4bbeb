"""Tensors made under an InferenceMode that surely raise below its scope, as far as one function proves it."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from functools import lru_cache
from typing import TypeGuard

from ..facts import Assignment, Facts, GuardUse, Span
from ..facts.expressions import (
    CallExpression,
    Expression,
    MemberAccess,
    NamePath,
    Subscript,
    innermost_object,
    is_named,
    simple_name,
    steps_of,
    variable_of,
)
from ..facts.index import index_of
from ..facts.spans import ANYWHERE
from .calls import names_op
from .coverage import inference_mode_at, is_expected_to_throw, is_run_in_place
from .declared_types import declared_type
from .tensor_changes import Hazard, changes_of

_NO_NEW_TENSOR = frozenset(
    """view_as_real view_as_complex real imag narrow select slice squeeze unsqueeze transpose t permute diagonal detach
    reshape flatten unbind split chunk movedim swapaxes swapdims expand_copy alias load pickle_load dtype device
    requires_grad str numel max_size get_num_threads conj adjoint ravel unflatten
    equal allclose is_nonzero is_floating_point is_complex is_signed is_same_size can_cast promote_types result_type
    tensor_split hsplit vsplit dsplit unsafe_split unsafe_chunk meshgrid broadcast_tensors align_tensors""".split()
)
"""Ops that give a view, a flag or a number, or several tensors."""
_KEEPS = frozenset(
    """toTensor to cpu cuda clone detach contiguous view reshape permute transpose t squeeze unsqueeze flatten select
    slice narrow expand softmax log_softmax sigmoid tanh relu abs exp log sqrt neg mean sum mul add sub div clamp argmax
    index_select index""".split()
)
"""Methods of an inference tensor that give a tensor: a new one or a view, which is an inference tensor too."""


def escapes_in_function(use: GuardUse, facts: Facts) -> list[Hazard]:
    """Tensors made under an InferenceMode that raise below its scope, as far as the function itself proves it."""
    if use.function is None:
        return []
    body = facts.functions[use.function].body
    after = Span(use.scope.end, body.end)
    found: list[Hazard] = []
    for made in _made_under_modes(facts).get(use.type_span, ()):
        if not use.live.holds(made.span) or not is_run_in_place(made.function, use.function, facts):
            continue
        if _is_declared_inside(made.variable, use, facts) or _asks_for_its_kind(made.variable, after, facts):
            continue
        until = _next_value(made.variable, after, facts)
        for hazard in changes_of({made.variable}, Span(after.start, until), facts, exclude=None):
            if hazard.what not in _PROVEN or not any(span.holds(hazard.span) for span in use.after):
                continue
            if _is_covered(hazard, use, facts):
                continue
            if _holds_a_tensor(made, hazard, facts) and _is_of_the_tensor_itself(hazard, facts):
                found.append(hazard)
    return list({hazard.span: hazard for hazard in found}.values())


@lru_cache(maxsize=64)
def _made_under_modes(facts: Facts) -> dict[Span, list[Assignment]]:
    """Assignments of new tensors, by the place of the innermost `InferenceMode` around each."""
    found: dict[Span, list[Assignment]] = defaultdict(list)
    for made in index_of(facts).assignments.within(ANYWHERE):
        if made.declares or made.operator != "=" or not made.variable:
            continue
        if made.value is not None and _makes_tensor(made.value):
            mode = inference_mode_at(facts, made.span, made.function)
            if mode is not None:
                found[mode.type_span].append(made)
    return found


_PROVEN = ("changed in place", "given requires_grad", "saved for backward")


def _makes_tensor(value: Expression) -> bool:
    """Whether the value is a tensor with storage of its own: a view of an ordinary tensor stays ordinary."""
    if not isinstance(value, CallExpression):
        return False
    callee = value.callee
    if not isinstance(callee, MemberAccess):
        return _names_maker(callee) and callee.name not in _NO_NEW_TENSOR
    if callee.name in ("forward", "clone") and _is_plain_chain(callee.object):
        return True
    return callee.arrow == "." and callee.name in _KEEPS and _makes_tensor(callee.object)


def _names_maker(callee: Expression) -> TypeGuard[NamePath]:
    """`torch::ones`, `at::linalg::svd`: an op, and no kernel."""
    return (
        isinstance(callee, NamePath)
        and callee.template_arguments is None
        and names_op(callee.path)
        and callee.path[1] != "native"
    )


def _is_plain_chain(expression: Expression) -> bool:
    """`model`, `this->net.inner`: names and members, nothing that is called."""
    while isinstance(expression, MemberAccess):
        expression = expression.object
    return bool(simple_name(expression))


def _holds_a_tensor(made: Assignment, hazard: Hazard, facts: Facts) -> bool:
    """Whether the variable is one tensor, and not the list, the number or the image that another `forward` gives."""
    type_ = declared_type(made.variable, made.function, made.span.start, facts)
    if type_ is not None and not is_named(type_.name, "auto"):
        return type_.last in ("Tensor", "Variable")
    if made.value is not None and _names_maker(innermost_object(made.value)):
        return True
    return any(call.span == hazard.span for call in index_of(facts).calls.within(hazard.span))


_ALLOWED = frozenset({"detach_", "share_memory_", "pin_memory_"})
"""Methods that end in `_` and do nothing to an inference tensor that it does not allow."""
_GIVES_A_VIEW = frozenset(
    "view view_as select slice narrow transpose t permute squeeze unsqueeze expand".split(),
)


def _is_of_the_tensor_itself(hazard: Hazard, facts: Facts) -> bool:
    """Whether the tensor or a view of it is changed or saved, and not the new one that `clone()` or an op gives.

    `detach()` and `data()` give one that may be changed, outside InferenceMode.
    """
    for call in index_of(facts).calls.within(hazard.span):
        if call.span != hazard.span:
            continue
        if hazard.what == "saved for backward":
            return any(_hands_over(given, hazard.variable) for given in call.arguments)
        if call.receiver is not None:
            return call.name not in _ALLOWED and _is_view(call.receiver)
    return True


def _is_view(receiver: Expression) -> bool:
    """Whether a receiver is a variable, an element of it or a view: `x`, `x[0]`, `x.view(2).t()`."""
    return all(
        isinstance(step, (NamePath, Subscript, CallExpression))
        or (isinstance(step, MemberAccess) and step.name in _GIVES_A_VIEW)
        for step in steps_of(receiver)
    )


def _hands_over(given: Expression, variable: str) -> bool:
    """Whether the variable itself is given, also in a list or to a function, and not what a method makes of it."""
    if isinstance(given, CallExpression):
        inner: tuple[Expression, ...] = given.arguments
        if isinstance(given.callee, MemberAccess):
            inner = (given.callee, *inner)
    elif isinstance(given, (MemberAccess, Subscript)):
        inner = tuple(child for child in given.children if child is not given.object or not simple_name(child))
    else:
        inner = given.children
    return simple_name(given) == variable or any(_hands_over(child, variable) for child in inner)


def _is_declared_inside(name: str, use: GuardUse, facts: Facts) -> bool:
    return name in _declared_inside(use.scope, use.function, facts)


@lru_cache(maxsize=64)
def _declared_inside(scope: Span, function: int | None, facts: Facts) -> frozenset[str]:
    inside = index_of(facts).assignments.within(scope)
    return frozenset(a.variable for a in inside if a.declares and a.function == function)


def _next_value(name: str, after: Span, facts: Facts) -> int:
    """Where the variable is given another value, or goes out of the function's hands; the end when it is not."""
    starts = _values_given(facts).get(name, [])
    index = bisect_left(starts, after.start)
    return min(starts[index], after.end) if index < len(starts) else after.end


@lru_cache(maxsize=16)
def _values_given(facts: Facts) -> dict[str, list[int]]:
    """By variable, where it is given a value, in the file's order."""
    given: dict[str, list[int]] = defaultdict(list)
    for assignment in facts.assignments:
        if assignment.operator == "=":
            given[assignment.variable].append(assignment.span.start)
    return {name: sorted(starts) for name, starts in given.items()}


def _asks_for_its_kind(name: str, after: Span, facts: Facts) -> bool:
    """`if (!x.is_inference()) x.add_(1);`: the function knows."""
    return any(after.holds(place) for place in _kinds_asked(facts).get(name, ()))


@lru_cache(maxsize=16)
def _kinds_asked(facts: Facts) -> dict[str, list[Span]]:
    """By variable, the calls of its `is_inference()`."""
    asked: dict[str, list[Span]] = defaultdict(list)
    for call in facts.calls:
        if call.name == "is_inference" and call.receiver is not None:
            asked[variable_of(call.receiver)].append(call.span)
    return dict(asked)


def _is_covered(hazard: Hazard, use: GuardUse, facts: Facts) -> bool:
    """Whether another InferenceMode is on there, a lambda runs it elsewhere, or a test expects the error."""
    here = index_of(facts)
    for call in here.calls.within(hazard.span):
        if call.span == hazard.span and (
            is_expected_to_throw(call, facts) or not is_run_in_place(call.function, use.function, facts)
        ):
            return True
    return any(other.guard == use.guard and other is not use for other in here.neighbours_around(hazard.span))
