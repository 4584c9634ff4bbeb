"""Which guards cover a place: by blocks, and by the functions and lambdas between."""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..facts import Facts, Form, Function, GuardUse, Span
from ..facts.index import index_of
from ..lazy_regex import lazy_regex

_LOCAL = (Form.DECLARATION, Form.AUTO)
# What the test frameworks for C++ call their macros; each reads as a function of that name.
_TEST = lazy_regex(r"(?:[A-Z]+_)*(?:TEST|BENCHMARK|TEST_CASE|TEST_CASE_METHOD)(?:_[A-Z]+)*")


def is_constantly_on(use: GuardUse) -> bool:
    """Whether the guard is switched on whatever happens: no argument, or a literal true."""
    return use.argument is None or use.argument.empty or use.argument.value is True


def is_inference_scope(use: GuardUse) -> bool:
    """A local `InferenceMode` that is always on and is where it can be trusted."""
    return (
        use.guard == guards.INFERENCE_MODE
        and use.form in _LOCAL
        and is_constantly_on(use)
        and use.function is not None
        and use.macro is None
        and not use.under_error
    )


def is_run_in_place(inner: int | None, outer: int | None, facts: Facts) -> bool:
    """Whether `inner` runs where it is in `outer`: it is the same function, or a lambda that is called at once."""
    while inner != outer:
        if inner is None or not facts.functions[inner].immediately_invoked:
            return False
        inner = facts.functions[inner].parent
    return True


def covering(facts: Facts, span: Span, function: int | None) -> Iterator[GuardUse]:
    """The local guards in whose scope `span` is, of the same function, outermost first."""
    for use in index_of(facts).uses_around(span):
        if _covers(use, facts, function):
            yield use


def _covers(use: GuardUse, facts: Facts, function: int | None) -> bool:
    return use.form in _LOCAL and is_run_in_place(function, use.function, facts)


def inference_mode_at(facts: Facts, span: Span, function: int | None) -> GuardUse | None:
    """The innermost `InferenceMode` around a place, on or off."""
    found = [
        use
        for use in index_of(facts).neighbours_around(span)
        if use.guard == guards.INFERENCE_MODE and _covers(use, facts, function)
    ]
    return max(found, key=lambda use: use.span.start) if found else None


def takes_benchmark_state(function: Function) -> bool:
    """Whether the function is one of Google Benchmark."""
    return any(parameter.type.path[-2:] == ("benchmark", "State") for parameter in function.parameters)


def is_in_test(function: int | None, facts: Facts) -> bool:
    """Whether a place is in a test of googletest, Catch2 and the like, or in a function of Google Benchmark."""
    return any(_TEST.fullmatch(outer.name) or takes_benchmark_state(outer) for outer in facts.enclosing(function))


def is_first_in_statement(use: GuardUse, facts: Facts) -> bool:
    """Whether its statement names no guard before this one: `slow ? at::AutoGradMode(true) : at::NoGradGuard();`."""
    first = index_of(facts).uses.first(use.span)
    return first is None or first.span != use.span or first.type_span == use.type_span
