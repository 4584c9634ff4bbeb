"""What a Python file has `torch.jit.script` compile, and which guards in it TorchScript drops or refuses.

TorchScript compiles the source of a function, without its decorators, and then what that calls. Of the guards it knows
`with torch.no_grad():` alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from .. import guards
from ..facts import Facts, Span
from ..facts.bodies import AnyStatement, Assign, Block, Body, BodyKind, If, Try
from ..facts.expressions import (
    CallExpression,
    Expression,
    MemberAccess,
    is_this,
    last_name,
    simple_name,
    words_of,
)
from ..facts.statement_walk import all_statements, blocks_of, bodies_below, calls_of, words_in
from ..named_tuples import NamedTuple
from .model_types import MODULES_GIVE_THEMSELVES
from .written_guards import called_name, guard_called

_SCRIPTS = frozenset({"torch.jit.script"})
_SCRIPTS_METHODS = frozenset({"torch.jit.export", "torch.jit.script_method"})
_LEAVES_OUT = frozenset({"torch.jit.ignore", "torch.jit.unused"})
_SAID = frozenset(name.rpartition(".")[2] for name in _SCRIPTS | _SCRIPTS_METHODS)
_SCRIPT_MODULE = "torch.jit.ScriptModule"
_REFUSED = frozenset({guards.PYTHON_INFERENCE_MODE, guards.ENABLE_GRAD, guards.SET_GRAD_ENABLED})


class DroppedGuard(NamedTuple):
    """A decorator that what is compiled doesn't have."""

    span: Span
    """The statement that compiles, or the function's own decorators."""
    function: str
    guard: str
    at_decorator: bool
    """The function itself is decorated with `script`: the span is that of the whole definition."""


class RefusedGuard(NamedTuple):
    """A `with` statement that TorchScript doesn't compile."""

    span: Span
    """The header of the `with` statement."""
    function: str
    guard: str


def scripted_guards(facts: Facts) -> Iterator[DroppedGuard | RefusedGuard]:
    """The guards of a file that are dropped or refused, in no order; one may come twice."""
    for module in facts.bodies:
        if module.kind is BodyKind.MODULE and _may_script(module):
            yield from _Scripted(module).found()


def _may_script(module: Body) -> bool:
    """Whether a module names something that compiles: most don't, and their statements aren't looked at."""
    if not _SAID.isdisjoint(words_in(module)):
        return True
    return any(called_name(base) == _SCRIPT_MODULE for class_ in module.inner for base in class_.bases)


class _Scripted:
    def __init__(self, module: Body) -> None:
        self._module = module
        self._functions = {body.name: body for body in module.inner if body.kind is BodyKind.FUNCTION}
        self._classes = {body.name: body for body in module.inner if body.kind is BodyKind.CLASS}
        names = Counter(body.name for body in module.inner)
        bound = {
            simple_name(target)
            for statement in module.statements
            if isinstance(statement, Assign)
            for target in statement.targets
        }
        self._known = {name for name, times in names.items() if times == 1 and name not in bound}

    def found(self) -> Iterator[DroppedGuard | RefusedGuard]:
        for function in self._functions.values():
            yield from self._decorated(function, _SCRIPTS)
        for class_ in self._classes.values():
            if any(called_name(base) == _SCRIPT_MODULE for base in class_.bases):
                for method in class_.inner:
                    yield from self._decorated(method, _SCRIPTS_METHODS)
        for body in bodies_below([self._module]):
            for statement, argument in _compiled_in(body.statements, expecting=False):
                yield from self._compiled(argument, statement.span, body)

    def _decorated(self, function: Body, scripts: frozenset[str]) -> Iterator[DroppedGuard | RefusedGuard]:
        names = [called_name(one) for one in function.decorators]
        at = next((index for index, name in enumerate(names) if name in scripts), None)
        if at is None:
            return
        guard = next(filter(None, map(_guard_of, function.decorators[at + 1 :])), "")
        if guard:
            yield DroppedGuard(function.span, function.name, guard, at_decorator=True)
        yield from self._inside(function)

    def _compiled(self, argument: Expression, span: Span, body: Body) -> Iterator[DroppedGuard | RefusedGuard]:
        """What is dropped and refused of an argument of `torch.jit.script`."""
        name = simple_name(argument)
        if name in self._known and name in self._functions:
            function = self._functions[name]
            if not any(called_name(one) in _SCRIPTS for one in function.decorators):
                yield from self._dropped(function, span)
                yield from self._inside(function)
            return
        class_ = self._class_of(argument, body)
        if class_ is not None:
            for method in _compiled_methods(class_):
                yield from self._dropped(method, span)
                yield from self._inside(method)

    def _dropped(self, function: Body, span: Span) -> Iterator[DroppedGuard]:
        guard = next(filter(None, map(_guard_of, function.decorators)), "")
        if guard:
            yield DroppedGuard(span, function.name, guard, at_decorator=False)

    def _inside(self, function: Body) -> Iterator[DroppedGuard | RefusedGuard]:
        """What is refused in a function that is compiled, and what is dropped of those that it calls."""
        if not function.is_read:
            return
        for statement in _compiled_statements(function.statements):
            for item in statement.items if isinstance(statement, Block) else ():
                guard = _guard_of(item.context)
                if guard in _REFUSED:
                    yield RefusedGuard(statement.span, function.name, guard)
        for statement in _compiled_statements(function.statements):
            for call in calls_of(statement):
                callee = self._functions.get(simple_name(call.callee))
                if callee is not None and callee.name in self._known and not _is_left_out(callee):
                    yield from self._dropped(callee, statement.span)

    def _class_of(self, argument: Expression, body: Body) -> Body | None:
        """The class of the module that is compiled: `Net()`, `Net().eval()`, a variable that was given one."""
        while isinstance(argument, CallExpression) and isinstance(argument.callee, MemberAccess):
            if argument.callee.name not in MODULES_GIVE_THEMSELVES:
                return None
            argument = argument.callee.object
        name = simple_name(argument)
        if name:
            given = [
                one
                for one in all_statements(body.statements)
                if isinstance(one, Assign) and any(simple_name(target) == name for target in one.targets)
            ]
            value = given[0].value if len(given) == 1 else None
            return self._class_of(value, body) if isinstance(value, CallExpression) else None
        if isinstance(argument, CallExpression) and simple_name(argument.callee) in self._known:
            return self._classes.get(simple_name(argument.callee))
        return None


def _guard_of(expression: Expression) -> str:
    """The public guard of gradients that an expression names or calls; empty for none."""
    guard = guard_called(expression)
    return guard if guard in (guards.NO_GRAD, *_REFUSED) else ""


def _is_left_out(function: Body) -> bool:
    return any(called_name(one) in _LEAVES_OUT for one in function.decorators)


def _compiled_in(block: Sequence[AnyStatement], *, expecting: bool) -> Iterator[tuple[AnyStatement, Expression]]:
    """The statements that call `torch.jit.script`, and what it is given; not where a failure is expected."""
    for one in block:
        if not expecting:
            for call in calls_of(one):
                if called_name(call) in _SCRIPTS and len(call.arguments) == 1:
                    yield one, call.arguments[0]
        fails = isinstance(one, Try) or (isinstance(one, Block) and any(map(_expects, one.items)))
        for inner in blocks_of(one):
            yield from _compiled_in(inner, expecting=expecting or fails)


def _expects(item: object) -> bool:
    words = words_of(getattr(item, "context", None))
    return any("raises" in word.lower() for word in words)


def _compiled_methods(class_: Body) -> Iterator[Body]:
    """The methods of a module that are compiled: `forward`, what is exported, and what these call on the object."""
    methods = {one.name: one for one in class_.inner if one.kind is BodyKind.FUNCTION}
    waiting = [name for name in methods if name == "forward" or _is_exported(methods[name])]
    seen = set(waiting)
    while waiting:
        method = methods[waiting.pop()]
        if _is_left_out(method):
            continue
        yield method
        for call in (call for statement in _compiled_statements(method.statements) for call in calls_of(statement)):
            callee = call.callee
            name = last_name(callee)
            if isinstance(callee, MemberAccess) and is_this(callee.object) and name in methods and name not in seen:
                seen.add(name)
                waiting.append(name)


def _is_exported(method: Body) -> bool:
    return any(called_name(one) in _SCRIPTS_METHODS for one in method.decorators)


def _compiled_statements(block: Sequence[AnyStatement]) -> Iterator[AnyStatement]:
    """The statements of a function, without what may only run uncompiled: `if not torch.jit.is_scripting(): …`."""
    for one in block:
        if isinstance(one, If) and "is_scripting" in words_of(one.condition):
            continue
        yield one
        for inner in blocks_of(one):
            yield from _compiled_statements(inner)
