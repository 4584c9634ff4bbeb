"""`torch.set_grad_enabled(False)` as a statement of Python: whether the function that says it also takes it back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import guards
from ..facts import Facts
from ..facts.bodies import AnyStatement, Block, Body, BodyKind, Evaluate, If, Loop, Try
from ..facts.expressions import (
    CallExpression,
    Expression,
    KeywordArgument,
    NamePath,
    Operation,
    last_name,
)
from ..facts.statement_walk import all_statements, blocks_of, bodies_below, bodies_of, called_in, calls_of, nodes_in
from ..named_tuples import NamedTuple
from .grad_switches import OWNS_THE_MODE, ModeSwitch
from .project_summary import is_test_path
from .written_guards import called_name, guard_called, mode_given

_SETTERS = frozenset({"torch._C._set_grad_enabled"})
_SETTINGS_OF = frozenset({"torch", "logging", "warnings", "os", "sys"})
"""Modules whose functions are called when others are imported."""
_WITH_A_GUARD = frozenset({guards.NO_GRAD, guards.ENABLE_GRAD, guards.SET_GRAD_ENABLED, guards.PYTHON_INFERENCE_MODE})
_ENTERS_AND_LEAVES = frozenset({"__enter__", "__exit__", "__del__", "__aenter__", "__aexit__"})


class _Setting(NamedTuple):
    statement: Evaluate
    call: CallExpression
    parents: tuple[AnyStatement, ...]
    """The compound statements around it, the outermost first."""
    in_finally: bool
    block: Sequence[AnyStatement]
    """The statements among which it is."""

    @property
    def mode(self) -> bool | None:
        return mode_given(self.call)


def python_mode_switches(facts: Facts) -> Iterator[ModeSwitch]:
    """The statements of a file that leave grad mode off."""
    for body, class_ in _with_classes(facts.bodies, None):
        if body.kind is BodyKind.MODULE:
            if facts.python is not None and not facts.python.is_script and not is_test_path(facts.path):
                yield from _at_the_top(body)
        elif body.kind is BodyKind.FUNCTION and body.is_read:
            if body.name in _ENTERS_AND_LEAVES or OWNS_THE_MODE.search(body.name):
                continue
            switches = list(_in_function(body))  # who calls the function is asked of those few that have some
            if switches and not _is_meant(body, class_, facts):
                yield from switches


def _is_meant(body: Body, class_: Body | None, facts: Facts) -> bool:
    """Whether others see to it that the mode is set again, or the process ends."""
    return _is_set_elsewhere(class_, body) or _is_the_last_thing(body, facts) or body.name in _named_as_values(facts)


def _with_classes(bodies: Sequence[Body], class_: Body | None) -> Iterator[tuple[Body, Body | None]]:
    for body in bodies:
        yield body, class_
        yield from _with_classes(body.inner, body if body.kind is BodyKind.CLASS else class_)


def _at_the_top(body: Body) -> Iterator[ModeSwitch]:
    settings = list(_settings(body.statements, (), in_finally=False))
    if any(setting.mode is not False for setting in settings) or any(map(_works, body.statements)):
        return
    for setting in settings:
        if not any(isinstance(parent, (Block, If)) for parent in setting.parents):
            yield ModeSwitch(setting.statement.span, str(setting.call))


def _works(statement: AnyStatement) -> bool:
    """Whether a module does something at its top that isn't a setting: then it is a script."""
    if not isinstance(statement, Evaluate):
        return isinstance(statement, Loop)
    call = statement.value
    return isinstance(call, CallExpression) and called_name(call).partition(".")[0] not in _SETTINGS_OF


def _in_function(body: Body) -> Iterator[ModeSwitch]:
    settings = list(_settings(body.statements, (), in_finally=False))
    if not settings or any(map(_is_grad_guard, body.decorators)) or _sets_as_value(body):
        return
    if any(setting.in_finally for setting in settings):
        return
    on = [number for number, setting in enumerate(settings) if setting.mode is not False]
    after = [settings[number] for number in on]
    for setting in settings[: on[0] + 1] if on else settings:  # behind that, each phase sets the mode that it needs
        if setting.mode is not False or any(_is_guarded(parent) for parent in setting.parents):
            continue
        if any(isinstance(one, Loop) for one in setting.parents):
            continue
        written = str(setting.call.callee)
        if not after:
            work = _first_work(body, setting.statement.span.end, None)
            if work:
                yield ModeSwitch(setting.statement.span, written, function=body.name)
        elif len(after) == 1 and after[0].block is setting.block:
            work = _first_work(body, setting.statement.span.end, after[0].statement.span.start)
            if work:
                yield ModeSwitch(setting.statement.span, written, after[0].statement.span, work, body.name)


def _settings(
    block: Sequence[AnyStatement], parents: tuple[AnyStatement, ...], *, in_finally: bool
) -> Iterator[_Setting]:
    """The statements that set grad mode, in the order of the text."""
    for one in block:
        call = one.value if isinstance(one, Evaluate) else None
        if isinstance(one, Evaluate) and isinstance(call, CallExpression) and _is_setter(call.callee):
            yield _Setting(one, call, parents, in_finally, block)
        for inner in blocks_of(one):
            ends = isinstance(one, Try) and inner is one.finally_
            yield from _settings(inner, (*parents, one), in_finally=in_finally or ends)


def _is_setter(callee: Expression) -> bool:
    return isinstance(callee, NamePath) and (
        called_name(callee) in _SETTERS or guard_called(callee) == guards.SET_GRAD_ENABLED
    )


def _is_grad_guard(expression: Expression) -> bool:
    return guard_called(expression) in _WITH_A_GUARD


def _is_guarded(parent: AnyStatement) -> bool:
    """Whether it is a `with` that sets the mode again at its end."""
    return isinstance(parent, Block) and any(_is_grad_guard(item.context) for item in parent.items)


def _sets_as_value(body: Body) -> bool:
    """Whether the setter is handed on (`addCleanup(torch.set_grad_enabled, True)`), or called by a function inside."""
    if any(_sets_anything(inner) for inner in body.inner):
        return True
    given = (one for call in called_in(body) for one in call.arguments)
    return any(_is_setter(one.value if isinstance(one, KeywordArgument) else one) for one in given)


def _sets_anything(body: Body) -> bool:
    return any(_is_setter(call.callee) for one in bodies_below([body]) for call in called_in(one))


def _is_set_elsewhere(class_: Body | None, body: Body) -> bool:
    """Whether another method of the class sets the mode."""
    return class_ is not None and any(one is not body and _sets_anything(one) for one in class_.inner)


def _first_work(body: Body, start: int, end: int | None) -> str:
    """The first thing between two places of a function that may raise: a call, or a pause; empty if nothing is."""
    for statement in all_statements(body.statements):
        if statement.span.start < start or (end is not None and statement.span.start >= end):
            continue
        for node in nodes_in(statement):
            if isinstance(node, CallExpression):
                return str(node.callee)
            if isinstance(node, Operation) and node.operator.startswith(("yield", "await")):
                return node.operator
    return ""


# -- who calls it


def _named_as_values(facts: Facts) -> set[str]:
    """The names that are handed to something: `Process(target=work)`, `pool.submit(work)`."""
    given = (one for body in bodies_of(facts) for call in called_in(body) for one in call.arguments)
    return {last_name(one.value if isinstance(one, KeywordArgument) else one) for one in given} - {""}


def _is_the_last_thing(body: Body, facts: Facts) -> bool:
    """Whether the file calls the function only as the last thing that it does: the process ends with it."""
    calls = 0
    for around in bodies_of(facts):
        mentioned = sum(last_name(call.callee) == body.name for call in called_in(around))
        if not mentioned or around is body:
            continue
        is_main = around.kind is BodyKind.MODULE or OWNS_THE_MODE.search(around.name) is not None
        if not is_main or mentioned != _last_calls(around.statements, body.name):
            return False
        calls += mentioned
    return calls > 0


def _mentions(statement: AnyStatement, name: str) -> int:
    return sum(last_name(call.callee) == name for call in calls_of(statement))


def _last_calls(block: Sequence[AnyStatement], name: str) -> int:
    """How often the last statement of a block, or of the blocks at its end, calls a function."""
    if not block:
        return 0
    last = block[-1]
    if isinstance(last, (If, Block)):
        return sum(_last_calls(inner, name) for inner in blocks_of(last))
    return _mentions(last, name) if isinstance(last, Evaluate) and _called_name(last.value) == name else 0


def _called_name(expression: Expression) -> str:
    return last_name(expression.callee) if isinstance(expression, CallExpression) else ""
