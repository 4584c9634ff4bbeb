"""GF306 missing-redispatch-guard: an Autograd kernel calls its own op again without a guard, and never returns.

What it flags: a function that is registered for an Autograd key (`TORCH_LIBRARY_IMPL(ns, Autograd, m)`, `m.impl("op",
DispatchKey::Autograd, …)`) and that calls the op for which it is registered, through the dispatcher, with no guard on
the way that hides the key: `findSchemaOrThrow("ns::op", "").typed<…>().call(x)`, also by a handle that is kept in a
variable or that a function returns, directly, through `Function::apply` and its `forward`, or through functions that
wrap the call. In kernels of PyTorch's own ops (`TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m)`) also `at::op(x)` and
`x.op()` with the kernel's own arguments. In a fallback for an Autograd key, `op.callBoxed(stack)`.

Why it is bad: grad mode doesn't matter to the dispatcher. As long as the Autograd key isn't hidden, it calls the same
kernel again, until the stack is full: the process dies with a segmentation fault, without a message.

Example:

    at::Tensor halve(const at::Tensor& x) {
      static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("my::halve", "").typed<Halve>();
      return op.call(x);
    }

    at::Tensor halve_autograd(const at::Tensor& x) {
      return halve(x);
    }

    TORCH_LIBRARY_IMPL(my, Autograd, m) {
      m.impl("halve", halve_autograd);
    }

Use instead:

    at::Tensor halve(const at::Tensor& x) {
      static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("my::halve", "").typed<Halve>();
      return op.call(x);
    }

    at::Tensor halve_autograd(const at::Tensor& x) {
      at::AutoDispatchBelowADInplaceOrView guard;
      return halve(x);
    }

    TORCH_LIBRARY_IMPL(my, Autograd, m) {
      m.impl("halve", halve_autograd);
    }

Fix: unsafe. `at::AutoDispatchBelowADInplaceOrView guard;` is declared in front of the statement that makes the call, if
that stands in the function's outermost block. It also covers the rest of the function, where other ops are then not
recorded.

Not flagged: `redispatch`; calls below a guard that hides keys, below one of the project's own that may hide them, or in
a function that sets the keys by hand; calls of the op with other arguments (a part of the input, a changed tensor),
which may come to an end; `backward`; functions that are called through a pointer or on an object.

Limits: files are read for it if they contain `findSchema`, or an Autograd key behind a comma or `DispatchKey::`. A
name that a macro makes up is not followed.

When not to use it: nowhere; a finding that isn't an endless recursion is a mistake of this rule.

Seen in public code: not in the packages that were read for it. PyTorch's custom operator tutorial shows the guard in
this place.

References: c10/core/DispatchKeySet.h and torch/csrc/autograd/custom_function.h of torch 2.13 (`Function::apply` turns
grad mode off, and hides no key); https://pytorch.org/tutorials/advanced/dispatcher.html.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.own_op_calls import own_op_call
from ..analysis.project import Project
from ..analysis.registrations import dispatcher_registrations, is_under_autograd
from ..facts import Call, Facts, Span
from ..findings import Applicability, Finding, Severity
from ..guards import no_guards
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF306",
    "missing-redispatch-guard",
    group=RuleGroup.RAISES,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    severity=Severity.ERROR,
    guards=no_guards,
    needles=(b"findSchema", b", Autograd", b",Autograd", b"DispatchKey::Autograd"),
)


@RULE.check_file
def calls_of_own_op(facts: Facts, project: Project) -> Iterator[Finding]:
    found: dict[Span, tuple[Call, str, str]] = {}
    for function in facts.functions:
        if function.macro is not None or not function.is_read:
            continue
        for _, registration, _ in dispatcher_registrations(function, facts, project):
            if is_under_autograd(registration):
                own = own_op_call(function, facts, registration, project)
                if own is not None and own.facts.path == facts.path:
                    found.setdefault(own.call.span, (own.call, own.operator, registration.key))
    for call, operator, key in found.values():
        op = f"`{operator}`" if operator else "the op"
        message = (
            f"{op} is called again from its own {key} kernel with no guard that hides the key: the dispatcher comes "
            "back here until the stack is full"
        )
        yield RULE.at(facts, call.span, message)
