"""GF507 inference-backward: gradients are computed under `InferenceMode`, where nothing is recorded.

What it flags: `backward()` and `torch::autograd::grad` in the scope of an `InferenceMode` that is always on.

Why it is bad: nothing computed under InferenceMode is recorded, so calling `backward()` on it raises "element 0 of
tensors does not require grad and does not have a grad_fn". A graph recorded outside can be differentiated, but a
`.grad` created there is an inference tensor: the next `backward()` outside raises when it accumulates into it.

Example:

    c10::InferenceMode guard;
    auto loss = model->forward(input).sum();
    loss.backward();

Use instead: no `InferenceMode` around what is differentiated. If the mode comes from outside, put
`c10::InferenceMode normal(false);` around it.

Fix: none.

Not flagged: `InferenceMode` with `false` or a run-time flag; code under an inner `InferenceMode(false)`; lambdas
that run elsewhere; `backward()` of an object that isn't declared as a tensor; calls that a test expects to throw.

Level: warning if the differentiated tensor is made in the scope, info if it may come from outside.

When not to use it: where the error is intended, in a form that guardfix doesn't recognize as a test.

Seen in public code: the limitation is documented in the notes below.

References: https://pytorch.org/cppdocs/notes/inference_mode.html; torch/csrc/autograd/engine.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.coverage import inference_mode_at, is_expected_to_throw, is_inference_scope, is_run_in_place
from ..analysis.declared_types import declared_type
from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..facts import Call, Facts, Function, GuardUse
from ..facts.expressions import (
    Bracketed,
    CallExpression,
    Construction,
    Expression,
    LambdaExpression,
    MemberAccess,
    NamePath,
    Operation,
    OtherExpression,
    Subscript,
    innermost_object,
    is_named,
    last_name,
    nodes_of,
    simple_name,
    variable_of,
    words_of,
)
from ..facts.index import calls_where, values_given
from ..findings import Finding, Severity
from ..guards import Effect, guards_with
from ..rule import Rule

RULE = Rule("GF507", "inference-backward", guards=guards_with(Effect.INFERENCE))


@RULE.check_use
def differentiations(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if not is_inference_scope(use) or not is_gradient_guard(use, facts, project):
        return
    around = facts.enclosing(use.function)[-1].span if use.function is not None else use.scope
    for call in calls_where(facts, around, _differentiates).within(use.live):
        if not is_run_in_place(call.function, use.function, facts):
            continue
        if inference_mode_at(facts, call.span, call.function) is not use:
            continue
        if is_expected_to_throw(call, facts):
            continue
        row = facts.row(use.span.start)
        name = _differentiated(call)
        if not _may_be_tensor(name, call, facts):
            continue
        if _is_made_inside(name, use, facts):
            message = (
                f"nothing is recorded under the InferenceMode of line {row}: `{name}` has no graph, so "
                "this raises an error; "
                "end the mode before the code to differentiate"
            )
            yield RULE.at(facts, call.span, message, use=use)
        else:
            message = (
                f"gradients are computed under the InferenceMode of line {row}: a graph made there has none, "
                "and every new `.grad` is an inference tensor; end the mode above it"
            )
            yield RULE.at(facts, call.span, message, use=use, severity=Severity.INFO)


def _differentiates(call: Call) -> bool:
    if call.name == "backward" and isinstance(call.called, MemberAccess):
        return call.called.arrow == "." and not call.arguments  # a Tensor is not a pointer
    return call.name in ("grad", "backward") and call.path[-2:-1] == ("autograd",)


def _differentiated(call: Call) -> str:
    given = call.receiver or (call.arguments[0] if call.arguments else None)
    names = (node.path[0] for node in nodes_of(given) if isinstance(node, NamePath))
    return variable_of(given) or next(names, "")


def _may_be_tensor(name: str, call: Call, facts: Facts) -> bool:
    """Whether what is differentiated can be a tensor, by its declaration as far as that is in the function."""
    receiver = call.receiver
    if receiver is None:
        return True
    chain = facts.enclosing(call.function)
    is_variable = bool(simple_name(receiver)) or (
        isinstance(receiver, MemberAccess) and is_named(receiver.object, "this")
    )
    if is_variable:
        type_ = declared_type(last_name(receiver), call.function, call.span.start, facts)
        if type_ is not None and not is_named(type_.name, "auto"):
            words = words_of(type_)
            return not isinstance(type_.name, NamePath) or any("Tensor" in word or "Variable" in word for word in words)
    return not _is_built_otherwise(name, chain, facts)


def _is_built_otherwise(name: str, chain: tuple[Function, ...], facts: Facts) -> bool:
    """`Tape tape(weight);`, `auto tape = Tape(weight);`: an object that is not a tensor."""
    given = values_given(facts).get(name)
    if given is None or not chain:
        return False
    values = [one.value for one in given.within(chain[-1].body) if one.value is not None]
    return bool(values) and all(map(_builds, values))


def _builds(value: Expression) -> bool:
    """`(weight)`, `Tape(weight)`, `Tape{weight}`, `std::make_shared<Tape>(…)`, and not `(a * b).sum()`."""
    if isinstance(value, Bracketed):
        return _is_plain(value)
    if isinstance(value, Construction):
        return last_name(value.type)[:1].isupper() and _is_plain(value.arguments)
    first = innermost_object(value)
    if isinstance(first, NamePath) and first.name in ("make_shared", "make_unique"):
        return True
    if not isinstance(value, CallExpression) or not isinstance(value.callee, NamePath):
        return False
    return value.callee.name[:1].isupper() and all(map(_is_plain, value.arguments))


def _is_plain(argument: Expression) -> bool:
    """Names, members, calls, literals: nothing is computed by an operator."""
    computed = (Operation, Subscript, LambdaExpression, OtherExpression)
    return not any(
        isinstance(node, computed) and not (isinstance(node, Operation) and node.is_address)
        for node in nodes_of(argument)
    )


def _is_made_inside(name: str, use: GuardUse, facts: Facts) -> bool:
    given = values_given(facts).get(name)
    return given is not None and given.first(use.live) is not None
