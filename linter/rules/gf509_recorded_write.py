"""GF509 recorded-write: a leaf, or a view that was made under a guard, is changed in place where autograd records.

What it flags: an in-place op, an assignment to an element or an augmented assignment, outside of any guard, on a tensor
that surely requires grad and is a leaf or a view of one; and on a view of a tensor with a graph, if the view was made
under `no_grad`, `NoGradGuard` or inference mode. Also `p -= lr * p.grad` behind the `backward` of the same function:
what has a gradient is a leaf. Python files are read for this that name a guard, `requires_grad=True`, or change an
element of `.weight`, `.bias` or an `nn.Parameter`, or a module's parameters, in place; C++ files that name a guard,
`torch::requires_grad`, `.grad()`, `->weight.` or `->bias.`, or loop over `parameters()`.

Why it is bad: PyTorch raises: "a leaf Variable that requires grad is being used in an in-place operation", or "A view
was created in no_grad mode and is being modified inplace with grad mode enabled".

Example:

    auto base = torch::ones({4}, torch::requires_grad()) * 2;
    torch::Tensor head;
    {
      torch::NoGradGuard no_grad;
      head = base.narrow(0, 0, 2);
    }
    head.mul_(3);
    base.sum().backward();

Use instead: the change under the guard, if it is no part of the graph; the view outside, if it is.

    auto base = torch::ones({4}, torch::requires_grad()) * 2;
    {
      torch::NoGradGuard no_grad;
      base.narrow(0, 0, 2).mul_(3);
    }
    base.sum().backward();

Fix: none. Whether the change belongs to the graph is for the author to say.

Not flagged: changes under a guard, of `.data`, of a detached or cloned tensor; tensors of which it isn't certain that
they require grad; tests that expect the error; functions without a guard that ask for no gradient.

Limits: a tensor whose origin isn't in sight, such as an argument of a function that nothing calls, isn't known to
require grad, and nothing is said about it.

When not to use it: always use it.

Seen in public code: as forum questions with this error message; code that raises each time isn't published.

References: torch/csrc/autograd/VariableTypeUtils.h (`check_inplace`) of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.project import Project
from ..decision.event_words import recorded_write_message
from ..facts import Facts
from ..findings import Finding, Severity
from ..flow.events import Event, EventKind
from ..guards import LAYER_WRITES, MAKES_LEAF, STEPS, Effect, guards_with
from ..rule import Rule
from ..rule_names import RuleGroup

_IN_PLACE = rb"(?:(?:[-+*/@%&|^]|//|\*\*)=|\.[a-z]\w*_\()"
_SHAPE = (
    rb"(?m)(?:\.|->)(?:weight|bias)\.[a-z]\w*_\(|\.(?:weight|bias)\[(?:[^][]|\[[^][]*\])*\]\s*[-+*/@%&|^<>]{0,2}=(?!=)"
    rb"|^[ \t]*([\w.]+)[ \t]*(?::[^=\n]{0,100})?=[^\n]{0,300}?(?:requires_grad=True|\bnn\.Parameter\()(?s:.{0,4000}?)"
    rb"^[ \t]*\1[ \t]*(?:\[[^\n]{0,300}\][ \t]*[-+*/@]?=(?!=)|" + _IN_PLACE + rb")"
    rb"|^[ \t]*for (\w+) in [^\n]{0,300}:(?s:.{0,1000}?)^[ \t]*\2[ \t]*"
    + _IN_PLACE
    + rb"|^[ \t]*for [^\n]*?\b(\w+)\b[^\n]* in [^\n]{0,300}parameters\(\)[^\n]*:(?s:.{0,1000}?)^[ \t]*\3[ \t]*"
    + _IN_PLACE
    + rb"|^[ \t]*([\w.]+)(?:[ \t]*[-+*/]=|\.\w+_\()[^\n]*\b\4\.grad\b"
)
"""Elements of a layer's weight or bias are written, or a leaf: one that a name is given just above, of a list, of a
module's parameters, or what is stepped by its own gradient."""

RULE = Rule(
    "GF509",
    "recorded-write",
    group=RuleGroup.RAISES,
    since="0.1.0",
    severity=Severity.ERROR,
    languages=("cpp", "python"),
    odd_uses_only=True,
    guards=guards_with(Effect.INFERENCE, Effect.GRAD_MODE),
    needles_in={
        "python": (
            b".weight[",
            b".bias[",
            b".weight.",
            b".bias.",
            b"requires_grad=True",
            b"nn.Parameter(",
            b".parameters()",
            b".backward()",
        ),
        "cpp": (MAKES_LEAF, *STEPS, *LAYER_WRITES),
    },
    shape=_SHAPE,
)


@RULE.check_event(EventKind.LEAF_WRITTEN, EventKind.VIEW_WRITTEN)
def recorded(event: Event, facts: Facts, project: Project) -> Iterator[Finding]:
    yield RULE.at_event(event, facts, project, recorded_write_message(event, facts))
