"""`GradMode::set_enabled(false)` in C++: whether the function that says it also takes it back on every way out."""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..answered_once import answered_once
from ..facts import Call, Facts, Function
from ..facts.expressions import CallExpression, last_name, nodes_of, pointee, truth_of
from ..facts.index import index_of
from ..guards import Effect
from ..lazy_regex import lazy_regex
from .grad_switches import OWNS_THE_MODE, ModeSwitch

_SETTER = ("GradMode", "set_enabled")
_RESTORING = (Effect.GRAD_MODE, Effect.INFERENCE)
_MACRO = lazy_regex(r"^[A-Z][A-Z0-9_]+$")
"""`TEST(…)`, `PYBIND11_MODULE(…)`: what a test sets ends with its process, or with its fixture."""
_NEVER_RAISES = frozenset({"size", "empty", "data", "begin", "end", "get", "is_enabled", "defined"})
"""Methods, of whatever object, between a setter and what takes it back."""


def cpp_mode_switches(facts: Facts) -> Iterator[ModeSwitch]:
    """The statements of a file that leave grad mode off."""
    settings = [call for call in facts.calls if call.path[-2:] == _SETTER and call.function is not None]
    for call in settings:
        if _mode(call) is not False:
            continue
        function = facts.functions[call.function or 0]
        if not (
            _owns_the_mode(function, facts)
            or _is_set_elsewhere(function, settings, facts)
            or _is_set_by_an_object(function, settings, facts)
        ):
            yield from _in_function(call, function, [one for one in settings if function.body.holds(one.span)], facts)


def _mode(call: Call) -> bool | None:
    return truth_of(call.arguments[0]) if len(call.arguments) == 1 else None


def _in_function(call: Call, function: Function, settings: list[Call], facts: Facts) -> Iterator[ModeSwitch]:
    if any(facts.functions[one.function or 0] is not function for one in settings):
        return  # a lambda sets it again, whenever it is run
    index = index_of(facts)
    for use in index.uses_around(call.span):
        guard = guards.CPP.get(use.guard)
        if guard is None or guard.effect in _RESTORING:
            return
    others = [one for one in settings if _mode(one) is not False]
    after = [one for one in others if one.span.start > call.span.end]
    if len(after) < len(others) or len(after) > 1:
        return  # each phase sets its mode, or each way out does
    end = after[0].span.start if after else function.body.end
    work = next((one for one in index.calls.within(function.body) if _may_raise(one, call.span.end, end)), None)
    if work is not None:
        restore, skipped_by = (after[0].span, work.callee or "a call") if after else (None, "")
        yield ModeSwitch(call.span, call.callee, restore, skipped_by, function.name)


def _may_raise(call: Call, start: int, end: int) -> bool:
    if not (start <= call.span.start and call.span.end <= end):
        return False
    if call.path in (("std", "move"), ("std", "forward")) or call.path[-2:] == _SETTER:
        return False
    return call.name not in _NEVER_RAISES


def _owns_the_mode(function: Function, facts: Facts) -> bool:
    """Whether the mode is the function's to set: it is `main`, makes or destroys an object, or is handed to others."""
    if function.is_lambda or function.macro is not None:
        return True
    name, owner = function.name, "".join(function.qualified[-2:-1])
    if name == owner or name.startswith(("~", "operator")) or _MACRO.match(name):
        return True
    return OWNS_THE_MODE.search(name) is not None or name in _handed_on(facts)


def _is_set_elsewhere(function: Function, settings: list[Call], facts: Facts) -> bool:
    """Whether another method of the class sets the mode."""
    owner = function.qualified[:-1]
    if function.class_ is None and len(function.declared_as) < 2:
        return False
    others = (facts.functions[one.function or 0] for one in settings)
    return any(one is not function and one.qualified[:-1] == owner for one in others)


def _is_set_by_an_object(function: Function, settings: list[Call], facts: Facts) -> bool:
    """Whether the function declares an object whose destructor sets the mode, or that is called so."""
    setting = {facts.functions[one.function or 0].name for one in settings}
    types = [one.type.last for one in index_of(facts).assignments.within(function.body) if one.type is not None]
    return any(f"~{name}" in setting or _RESTORES.search(name) for name in types)


_RESTORES = lazy_regex(r"(?i)restore|scope_?(?:exit|guard)|finally|grad_?mode|on_?exit|defer(?:red)?$")


@answered_once
def _handed_on(facts: Facts) -> frozenset[str]:
    """The names that calls and declarations are given as values: `std::thread worker(run)`, `std::async(run)`."""
    values = [argument for call in facts.calls for argument in call.arguments]
    values += [one.value for one in facts.assignments if one.value is not None]
    found = {last_name(pointee(value)) for value in values}
    for value in values:
        called = {id(node.callee) for node in nodes_of(value) if isinstance(node, CallExpression)}
        found |= {last_name(pointee(node)) for node in value.children if id(node) not in called}
    return frozenset(found - {""})
