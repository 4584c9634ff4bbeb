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

import re
from collections.abc import Iterator

from ..analysis.coverage import inference_mode_at, is_expected_to_throw, is_inference_scope, is_run_in_place
from ..analysis.declared_types import declared_type
from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..facts import Call, Facts, Function, GuardUse
from ..facts.index import index_of
from ..findings import Finding, Severity
from ..guards import Effect, guards_with
from ..rule import Rule

RULE = Rule("GF507", "inference-backward", guards=guards_with(Effect.INFERENCE))


@RULE.check_use
def differentiations(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    if not is_inference_scope(use) or not is_gradient_guard(use, facts, project):
        return
    for call in index_of(facts).calls.within(use.live):
        if not _differentiates(call):
            continue
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
                f"nothing is recorded under the InferenceMode of line {row}: `{name}` has no graph, and this raises; "
                "end the mode above what is differentiated"
            )
            yield RULE.at(facts, call.span, message, use=use)
        else:
            message = (
                f"gradients are computed under the InferenceMode of line {row}: a graph made there has none, "
                "and every new `.grad` is an inference tensor; end the mode above it"
            )
            yield RULE.at(facts, call.span, message, use=use, severity=Severity.INFO)


def _differentiates(call: Call) -> bool:
    if call.name == "backward" and call.callee.endswith(".backward"):  # a Tensor is no pointer
        return not call.arguments
    return call.name in ("grad", "backward") and call.callee.endswith(("autograd::grad", "autograd::backward"))


def _differentiated(call: Call) -> str:
    match = re.match(r"\W*([A-Za-z_]\w*)", call.receiver or (call.arguments[0] if call.arguments else ""))
    return match[1] if match else ""


_OTHER_TYPE = re.compile(r"^(?:const)?(?!.*(?:Tensor|Variable|auto))[A-Za-z_][\w:<>,]*[&*]*$")
# `Tape tape(weight);`, `auto tape = Tape(weight);`, and not `loss = (a * b).sum()`.
_ARGUMENTS = r"(?:(?!\)\()[\w.,&:{}()])*"
_BUILDS = re.compile(
    rf"[({{]{_ARGUMENTS}[)}}]|(?:std::)?make_(?:shared|unique)<.*|(?:\w+::)*[A-Z]\w*[({{]{_ARGUMENTS}[)}}]"
)


def _may_be_tensor(name: str, call: Call, facts: Facts) -> bool:
    """Whether what is differentiated can be a tensor, by its declaration as far as that is in the function."""
    if not call.receiver:
        return True
    chain = facts.enclosing(call.function)
    if call.receiver in (name, f"this->{name}"):
        type_ = declared_type(name, call.function, call.span.start, facts)
        if type_ and "auto" not in type_:
            return _OTHER_TYPE.match(type_.replace(" ", "")) is None
    return not _is_built_otherwise(name, chain, facts)


def _is_built_otherwise(name: str, chain: tuple[Function, ...], facts: Facts) -> bool:
    """`Tape tape(weight);`, `auto tape = Tape(weight);`: an object that is no tensor."""
    given = [a for a in facts.assignments if a.target == name and any(f.body.holds(a.span) for f in chain)]
    values = [a.value for a in given if a.value]
    return bool(values) and all(map(_BUILDS.fullmatch, values))


def _is_made_inside(name: str, use: GuardUse, facts: Facts) -> bool:
    return any(
        assignment.target == name and assignment.operator == "=" and use.live.holds(assignment.span)
        for assignment in facts.assignments
    )
