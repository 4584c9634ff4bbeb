"""Attributes that are filled once, with a tensor, under inference mode, and read outside it (GF503).

One class at a time. A method runs under inference mode when it is decorated with it, or when it is called from such
a method or block; it runs in normal mode too when training code runs it: `forward`, `training_step`, and what those
call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...lazy_regex import lazy_regex
from ...named_tuples import NamedTuple
from .name_resolution import statements
from .tensor_values import PLAIN_VALUES, is_tensor_function, makes_tensor, root_of, walk_own

TRAINS = lazy_regex(r"^forward$|^__call__$|(?:^|_)(?:train|training|loss|step|fit|backward|learn|update)(?:_|$)")
"""Methods that training code runs."""
_HARMLESS = frozenset({"numel", "size", "shape", "dtype", "device", "dim", "ndim", "item", "tolist", "is_cuda", "cpu"})
"""What may be asked of an inference tensor anywhere."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
IsInference = Callable[[ast.expr, _Function], bool]
ResolveIn = Callable[[ast.expr, _Function], str | None]


class Cache(NamedTuple):
    attribute: str
    node: ast.AST
    method: str
    reader: str
    reading: ast.AST


@dataclass
class _Method:
    node: _Function
    decorated: bool
    blocks: set[ast.stmt]
    """Statements inside its inference-mode blocks."""
    calls_inside: set[str]
    calls_outside: set[str]


def find_lazy_caches(node: ast.ClassDef, is_inference: IsInference, resolve: ResolveIn) -> Iterator[Cache]:
    functions = [child for child in node.body if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if not any(True for function in functions for _ in lazy_fills(function, resolve)):
        return  # as in most classes: what calls what need not be read
    methods = {function.name: _read(function, is_inference) for function in functions}
    under = _reached({name for name, m in methods.items() if m.decorated}, methods, inside=True)
    normal = {name for name, m in methods.items() if not m.decorated and TRAINS.search(name)}
    normal = _reached(normal, methods, inside=False) - {name for name, m in methods.items() if m.decorated}
    seen: set[str] = set()
    for name, method in methods.items():
        for attribute, assignment in lazy_fills(method.node, resolve):
            inside = name in under or assignment in method.blocks
            if not inside or attribute in seen or name == "__init__":
                continue
            for reader in sorted(normal):
                reading = _reads(methods[reader], attribute, skip=assignment)
                if reading is not None:
                    seen.add(attribute)
                    yield Cache(attribute, assignment, name, reader, reading)
                    break


def _read(function: _Function, is_inference: IsInference) -> _Method:
    decorated = any(is_inference(decorator, function) for decorator in function.decorator_list)
    blocks: set[ast.stmt] = set()
    for node in statements(function.body):
        if isinstance(node, ast.With) and any(is_inference(item.context_expr, function) for item in node.items):
            blocks.update(statements(node.body))
    method = _Method(function, decorated, blocks, set(), set())
    for node in statements(function.body):
        for call in _own_calls(node):
            name = _own_method(call)
            if name:
                (method.calls_inside if decorated or node in blocks else method.calls_outside).add(name)
    return method


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


def _reached(start: set[str], methods: dict[str, _Method], *, inside: bool) -> set[str]:
    reached = set(start)
    queue = list(start)
    if inside:
        for method in methods.values():
            queue += [name for name in method.calls_inside if name in methods and name not in reached]
        reached |= set(queue)
    while queue:
        method = methods[queue.pop()]
        calls = method.calls_inside | method.calls_outside if inside else method.calls_outside
        for name in calls & methods.keys() - reached:
            reached.add(name)
            queue.append(name)
    return reached


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


def _reads(method: _Method, attribute: str, skip: ast.stmt) -> ast.AST | None:
    """Where a method reads the attribute outside inference mode, in more than a question whether it is there."""
    for node in statements(method.node.body):
        if node in method.blocks or node is skip or isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        for part in ast.iter_child_nodes(node):
            if not isinstance(part, ast.expr) or (isinstance(node, (ast.If, ast.Assert)) and part is node.test):
                continue
            asked = {id(a.value) for a in walk_own(part) if isinstance(a, ast.Attribute) and a.attr in _HARMLESS}
            for child in walk_own(part):
                if id(child) not in asked and (
                    isinstance(child, ast.Attribute)
                    and child.attr == attribute
                    and isinstance(child.ctx, ast.Load)
                    and _is_self(child.value)
                ):
                    return child
    return None
