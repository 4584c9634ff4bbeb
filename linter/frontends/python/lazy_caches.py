"""Attributes that are filled once, with a tensor, under inference mode, and read outside it (GF503).

One class at a time. A method runs under inference mode when it is decorated with it, or when it is called from such
a method or block; it runs in normal mode too when training code runs it: `forward`, `training_step`, and what those
call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from ...lazy_regex import lazy_regex
from .name_resolution import statements
from .tensor_values import PLAIN_VALUES, is_tensor_function, makes_tensor, root_of, walk_own

TRAINS = lazy_regex(r"^forward$|^__call__$|(?:^|_)(?:train|training|loss|step|fit|backward|learn|update)(?:_|$)")
"""Methods that training code runs."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
ResolveIn = Callable[[ast.expr, _Function], str | None]


def calls_from(function: _Function) -> Iterator[str]:
    """The methods of `self` that a method calls."""
    for node in statements(function.body):
        yield from filter(None, map(_own_method, _own_calls(node)))


def _own_calls(node: ast.stmt) -> Iterator[ast.Call]:
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.expr):
            yield from (child for child in walk_own(part) if isinstance(child, ast.Call))


def _own_method(call: ast.Call) -> str:
    """The method of `self` that a call runs; `self(x)` runs `forward`."""
    func = call.func
    if isinstance(func, ast.Name) and func.id == "self":
        return "forward"
    return func.attr if isinstance(func, ast.Attribute) and _is_self(func.value) else ""


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def lazy_fills(function: _Function, resolve: ResolveIn) -> Iterator[tuple[str, ast.stmt]]:
    """(attribute, assignment) of `if self.x is None: self.x = torch.…`."""
    for node in statements(function.body):
        if not isinstance(node, ast.If):
            continue
        asked = {a.attr for a in ast.walk(node.test) if isinstance(a, ast.Attribute) and _is_self(a.value)}
        asked |= {
            c.args[1].value
            for c in ast.walk(node.test)
            if isinstance(c, ast.Call)
            and isinstance(c.func, ast.Name)
            and c.func.id in ("hasattr", "getattr")
            and len(c.args) > 1
            and isinstance(c.args[1], ast.Constant)
            and isinstance(c.args[1].value, str)
        }
        made: set[str] = set()
        for statement in statements(node.body):
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                continue
            target, value = statement.targets[0], statement.value
            makes = _is_tensor(value, made, lambda expression: resolve(expression, function))
            if isinstance(target, ast.Name) and makes:
                made.add(target.id)
            elif isinstance(target, ast.Attribute) and _is_self(target.value) and target.attr in asked and makes:
                yield target.attr, statement


_IF = lazy_regex(rb"^([ \t]+)(?:el)?if\b", re.MULTILINE)
_END_OF_TEST = lazy_regex(rb":[ \t]*(?:#[^\n]*)?\r?\n")
_LONGEST_TEST = 2000
_ASKED = lazy_regex(rb"\bself\.(\w+)|[\"'](\w+)[\"']")
_FILLED = lazy_regex(rb"\bself\.(\w+)[ \t]*=(?!=)")
_DEFINITION = lazy_regex(rb"\n([ \t]*)(?:async[ \t]+)?def\b")


def may_fill(text: bytes) -> bool:
    """Whether `lazy_fills` may find something in a model of the text, by its bytes alone: in most there is nothing."""
    if b"self." not in text or (b"forward" not in text and b"__call__" not in text):
        return False
    for found in _IF.finditer(text):
        start, longest = found.end(), found.end() + _LONGEST_TEST
        end = _END_OF_TEST.search(text, start, longest)
        asked = {name for names in _ASKED.findall(text, start, end.start() if end else longest) for name in names}
        if asked - {b""}:
            behind = (one for one in _DEFINITION.finditer(text, start) if len(one[1]) < len(found[1]))
            method_end = next((one.start() for one in behind), len(text))
            if not asked.isdisjoint(_FILLED.findall(text, start, method_end)):
                return True
    return False


def _is_tensor(value: ast.expr, made: set[str], resolve: Callable[[ast.expr], str | None]) -> bool:
    if isinstance(value, ast.Call):
        if is_tensor_function(resolve(value.func)):
            return True
        if isinstance(value.func, ast.Attribute) and value.func.attr not in PLAIN_VALUES:
            return _is_tensor(value.func.value, made, resolve)
    if isinstance(value, ast.BinOp):
        return any(_is_tensor(side, made, resolve) for side in (value.left, value.right))
    return root_of(value) in made or makes_tensor(value, None, made) == "surely"
