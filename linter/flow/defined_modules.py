"""What the Python modules of a program define, with nothing of them run: one state that every root begins from."""

from __future__ import annotations

from functools import partial

from ..facts.bodies import Assign, Define, Import
from ..facts.expressions import (
    Bracketed,
    CallExpression,
    Expression,
    KeywordArgument,
    LiteralExpression,
    NamePath,
    Operation,
    simple_name,
)
from . import calling, threads
from .paths import Interpreter, Place
from .program import File
from .state import State
from .values import Instance, Modes, Name, Ref, Tensor, Value, literal_of

MOST_DEEP = 40
"""Modules that import each other and are read inside one another; what is deeper is looked up when all are read."""


class DefinedModules:
    """The modules of a machine's program."""

    def __init__(self, machine: Interpreter) -> None:
        self._machine = machine
        self._defined: State | None = None
        self._deep = 0
        self._missed: list[tuple[File, Import]] = []
        """Imports of names that their module didn't have yet: modules may import one another."""

    def state(self) -> State:
        """A state in which all modules are defined."""
        if self._defined is None:
            state = self._defined = State()
            for file in self._machine.program.files:
                self._deep = 0
                if file.module is not None and file.language == "python":
                    self._machine.run_root(partial(self._define, file, state), file, file.module)
            missed, self._missed = self._missed, []
            for file, statement in missed:
                self._import(file, statement, state)
            self._defined = state.over()
        return self._defined.fork()

    def frame(self, file: File) -> int:
        """The number of the frame in which a module's names are."""
        return -(1 + file.number)

    def imported(self, dotted: str, state: State, file: File) -> Value:
        """What an import gives: a definition of the project, or a name."""
        found = None if dotted.startswith("torch") else self._of_project(dotted, state, file)
        if found is not None:
            return found
        return Name(tuple(part for part in dotted.split(".") if part) or ("",))

    def _of_project(self, dotted: str, state: State, file: File) -> Value | None:
        """What the project's modules have for a dotted name; None where they don't have it, or not yet."""
        module = self._machine.program.module(dotted, file)
        if module is not None and module.module is not None:
            return Name(tuple(part for part in dotted.split(".") if part))
        holder, _, name = dotted.rpartition(".")
        if holder and not holder.strip("."):
            holder += "."
        module = self._machine.program.module(holder or ".", file) if holder or dotted.startswith(".") else None
        if module is None or module is file or module.module is None:
            return None
        if self.frame(module) not in state.frames and self._deep < MOST_DEEP:
            self._define(module, state)
        names: dict[str, Value] = state.frames.get(self.frame(module), {})
        return names.get(name)

    def _define(self, file: File, state: State) -> None:
        """Fill the frame of a module, once."""
        number = self.frame(file)
        if number in state.frames:
            return
        frame = state.frames[number] = {}
        module = file.module
        assert module is not None
        place = Place(file, module, number, module.span)
        self._deep += 1
        for statement in module.statements:
            here = place.at(statement.span)
            if isinstance(statement, Import):
                self._import(file, statement, state)
            elif isinstance(statement, Define):
                body = module.inner[statement.body]
                made = calling.made(self._machine, body, state, here)
                if made:
                    frame[body.name] = made[0][1]
            elif isinstance(statement, Assign):
                for target in statement.targets:
                    name = simple_name(target)
                    if name:
                        frame[name] = self._value(statement.value, name, state, here)
        self._deep -= 1
        state.modes, state.opened = Modes(), ()  # `off = torch.set_grad_enabled(False)` is that module's business

    def _import(self, file: File, statement: Import, state: State) -> None:
        if statement.name == "*":
            return
        found = self.imported(statement.dotted, state, file)
        state.names(self.frame(file))[statement.name] = found
        if isinstance(found, Name) and not statement.dotted.startswith("torch"):
            self._missed.append((file, statement))

    def _value(self, expression: Expression | None, name: str, state: State, place: Place) -> Value:
        """What a module gives a name, as far as later code can't have changed it: literals, and torch's tensors."""
        literal = literal_of(expression)
        if literal is not None:
            return literal
        if threads.makes_pool(expression):
            return self._machine.evaluate(expression, state, place)[0][1]
        if isinstance(expression, CallExpression) and isinstance(expression.callee, NamePath):
            path = expression.callee.parts
            if path[0] == "torch" and len(path) > 1 and all(_is_constant(given) for given in expression.arguments):
                modes, opened = state.modes, state.opened
                results = self._machine.evaluate(expression, state, place)
                state.modes, state.opened = modes, opened
                for _, value in results[:1]:
                    _weaken(value, state)
                    self._machine.name_thing(value, NamePath((name,), separator="."), state)
                    return value
        return state.opaque(name)


def _weaken(value: Value, state: State) -> None:
    """Forget of a thing what others may have changed since: whether it requires grad."""
    thing = state.thing(value)
    if isinstance(thing, Tensor) and isinstance(value, Ref):
        grad = frozenset((value.number,)) if thing.grad else thing.grad
        state.change(value, grad=grad, leaf=None if grad else thing.leaf)
    elif isinstance(thing, Instance):
        for inner in thing.attributes.values():
            _weaken(inner, state)


def _is_constant(expression: Expression) -> bool:
    if isinstance(expression, KeywordArgument):
        return _is_constant(expression.value)
    if isinstance(expression, Bracketed):
        return all(map(_is_constant, expression.items))
    if isinstance(expression, Operation):
        return all(map(_is_constant, expression.operands))
    return isinstance(expression, LiteralExpression) or (
        isinstance(expression, NamePath) and expression.parts[0] == "torch"
    )
