"""Context managers of a module's own that enter inference mode by hand: what runs in their blocks runs under it.

Classes whose `__enter__` enters `torch.inference_mode()`, and generators that `contextmanager` decorates and that yield
under it. Only what enters it on every way counts, as far as the definition shows it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ... import guards
from ...guards import canonical_name
from .name_resolution import Scope, resolve
from .tensor_values import makes_tensor, walk_own

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def entered_modes(tree: ast.Module, scope: Scope) -> dict[str, str]:
    """By the names of the module's context managers of inference mode, what a use of one counts as."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            handed = _handed_by_class(node, scope)
        elif isinstance(node, ast.FunctionDef):
            handed = _handed_by_generator(node, scope)
        else:
            continue
        if handed is not None:
            found[node.name] = guards.ENTERED_WITH_TENSORS if handed else guards.ENTERED_INFERENCE_MODE
    return found


def entered_on(statement: ast.stmt, stack: str, scope: Scope) -> ast.Call | None:
    """`torch.inference_mode()` of `stack.enter_context(torch.inference_mode())`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or len(call.args) != 1:
        return None
    given = call.args[0]
    on = call.func.attr == "enter_context" and isinstance(call.func.value, ast.Name) and call.func.value.id == stack
    return given if on and isinstance(given, ast.Call) and _is_mode(given, scope) else None


def _handed_by_class(node: ast.ClassDef, scope: Scope) -> bool | None:
    """Whether `__enter__` gives a tensor that it made under inference mode; None where it does not enter that."""
    methods = {child.name: child for child in node.body if isinstance(child, ast.FunctionDef)}
    enter = methods.get("__enter__")
    if enter is None or "__exit__" not in methods:
        return None
    inner = scope.inside(enter)
    held = _modes_held([*(methods["__init__"].body if "__init__" in methods else ()), *enter.body], inner)
    for index, statement in enumerate(enter.body):
        if any(_enters(call, held, inner) for call in _calls_of(statement)):
            rest = enter.body[index + 1 :]
            return any(isinstance(one, ast.Return) and _is_tensor(one.value, rest, inner) for one in rest)
    return None


def _handed_by_generator(node: ast.FunctionDef, scope: Scope) -> bool | None:
    """Whether it yields a tensor that it made under inference mode; None where it does not yield under that."""
    if not any((resolve(one, scope) or "").endswith("contextmanager") for one in node.decorator_list):
        return None
    inner = scope.inside(node)
    return _handed_below(node.body, inner)


def _handed_below(body: list[ast.stmt], scope: Scope) -> bool | None:
    for statement in body:
        if isinstance(statement, ast.With):
            if any(isinstance(i.context_expr, ast.Call) and _is_mode(i.context_expr, scope) for i in statement.items):
                yields = [part for one in statement.body for part in walk_own(one) if isinstance(part, ast.Yield)]
                return any(_is_tensor(one.value, statement.body, scope) for one in yields) if yields else None
            stacks = [i.optional_vars.id for i in statement.items if isinstance(i.optional_vars, ast.Name)]
            for index, one in enumerate(statement.body):
                if any(entered_on(one, stack, scope) is not None for stack in stacks):
                    rest = statement.body[index + 1 :]
                    yields = [part for later in rest for part in walk_own(later) if isinstance(part, ast.Yield)]
                    return any(_is_tensor(part.value, rest, scope) for part in yields) if yields else None
        elif isinstance(statement, ast.Try):
            found = _handed_below(statement.body, scope)
            if found is not None:
                return found
    return None


def _is_tensor(value: ast.expr | None, body: list[ast.stmt], scope: Scope) -> bool:
    """Whether a value is surely a tensor that the statements of the body made."""
    made: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and _makes(statement.value, made, scope):
                made.add(target.id)
    return value is not None and (_makes(value, made, scope) or (isinstance(value, ast.Name) and value.id in made))


def _makes(value: ast.expr, made: set[str], scope: Scope) -> bool:
    name = resolve(value.func, scope) if isinstance(value, ast.Call) else None
    return bool(makes_tensor(value, canonical_name(name) if name is not None else None, made))


def _modes_held(body: list[ast.stmt], scope: Scope) -> Mapping[str, bool]:
    """The variables and attributes that are given a mode, and nothing else, on every way."""
    held: dict[str, bool] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign):
                is_mode = node is statement and isinstance(node.value, ast.Call) and _is_mode(node.value, scope)
                for target in node.targets:
                    name = ast.unparse(target)
                    held[name] = held.get(name, True) and is_mode
    return held


def _calls_of(statement: ast.stmt) -> Iterator[ast.Call]:
    """The calls that a simple statement makes itself."""
    if isinstance(statement, (ast.Expr, ast.Assign, ast.Return)):
        yield from (part for part in walk_own(statement) if isinstance(part, ast.Call))


def _enters(call: ast.Call, held: Mapping[str, bool], scope: Scope) -> bool:
    """`self.mode.__enter__()`, `torch.inference_mode().__enter__()`, `stack.enter_context(torch.inference_mode())`."""
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == "__enter__" and not call.args:
        entered: ast.expr = call.func.value
    elif call.func.attr == "enter_context" and len(call.args) == 1:
        entered = call.args[0]
    else:
        return False
    if isinstance(entered, ast.Call):
        return _is_mode(entered, scope)
    return held.get(ast.unparse(entered), False)


def _is_mode(call: ast.Call, scope: Scope) -> bool:
    """`torch.inference_mode()`, switched on."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    on = not values or (len(values) == 1 and isinstance(values[0], ast.Constant) and values[0].value is True)
    name = resolve(call.func, scope) if on else None
    return name is not None and guards.python_guard(canonical_name(name)) == guards.PYTHON_INFERENCE_MODE
