"""Tensors that leave an inference-mode block and are used afterwards as inference tensors cannot be.

One function at a time, in the order of its statements. A name that is bound anew is forgotten, a `clone()` is a
normal tensor. What is not certain is left out. Reference: https://pytorch.org/docs/stable/notes/autograd.html
(section on inference mode).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .expectations import expects_failure
from .names import statements
from .tensors import (
    calls_in,
    changed_in_place,
    given_requires_grad,
    makes_tensor,
    root_of,
    saved_names,
    walk_own,
)

Resolve = Callable[[ast.expr], str | None]


class Found(NamedTuple):
    variable: str
    made: ast.AST
    what: str
    where: ast.AST


_BACKWARD = frozenset({"backward", "manual_backward"})


def find_escapes(block: ast.With, after: Sequence[ast.stmt], resolve: Resolve) -> list[Found]:
    """Places in the statements `after` the block where a tensor made in it raises."""
    made = _made_in(block.body, resolve)
    return _follow(made, after, resolve) if made else []


def _resolved(node: ast.AST, resolve: Resolve) -> dict[ast.Call, str | None]:
    return {call: resolve(call.func) for call in calls_in(node)}


class _Made(NamedTuple):
    node: ast.AST
    surely: bool


def _made_in(body: Sequence[ast.stmt], resolve: Resolve) -> dict[str, _Made]:
    made: dict[str, _Made] = {}
    for node in statements(body):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            value, targets = node.value, node.targets[0]
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            value, targets = node.value, node.target
        else:
            for name in _bound_by(node):
                made.pop(name, None)
            continue
        names = [targets] if isinstance(targets, ast.Name) else getattr(targets, "elts", [])
        resolved = resolve(value.func) if isinstance(value, ast.Call) else None
        sure = makes_tensor(value, resolved, set(made))
        for target in names:
            if isinstance(target, ast.Name):
                if sure:
                    made[target.id] = _Made(target, sure == "surely" and len(names) == 1)
                else:
                    made.pop(target.id, None)
    return made


def _bound_by(node: ast.stmt) -> Iterator[str]:
    targets: list[ast.expr] = []
    if isinstance(node, (ast.For, ast.AsyncFor)):
        targets = [node.target]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        targets = [item.optional_vars for item in node.items if item.optional_vars is not None]
    elif isinstance(node, ast.Delete):
        targets = node.targets
    for target in targets:
        for child in ast.walk(target):
            if isinstance(child, ast.Name):
                yield child.id


def _follow(made: dict[str, _Made], after: Sequence[ast.stmt], resolve: Resolve) -> list[Found]:
    found: list[Found] = []
    derived: dict[str, list[Found]] = {}
    for node in _in_normal_mode(after, resolve):
        if not made:
            break
        header = _header(node)
        calls = [call for part in header for call in calls_in(part)]
        found += _mutations(node, calls, made)
        names = set(made)
        saved = [
            Found(name, made[name].node, "used in a loss that is differentiated", where)
            for part in header
            for name, where in saved_names(part, _resolved(part, resolve), names)
        ]
        inherited = [
            origin
            for part in header
            for child in walk_own(part)
            if isinstance(child, ast.Name) and child.id in derived
            for origin in derived[child.id]
        ]
        if any(_differentiates(call, resolve) for call in calls):
            found += saved + inherited
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            _assign(node, made, derived, saved + inherited)
        for name in _bound_by(node):
            made.pop(name, None)
            derived.pop(name, None)
    unique: dict[tuple[int, int], Found] = {}
    for one in found:
        unique.setdefault((one.where.lineno, one.where.col_offset), one)  # type: ignore[attr-defined]
    return list(unique.values())


def _in_normal_mode(after: Sequence[ast.stmt], resolve: Resolve) -> Iterator[ast.stmt]:
    """The statements in order, without those under inference mode again and those that a test expects to fail."""
    skipped: set[ast.stmt] = set()
    for node in statements(after):
        if node in skipped:
            continue
        if isinstance(node, ast.With) and (
            expects_failure(node)
            or any(
                isinstance(item.context_expr, ast.Call)
                and (resolve(item.context_expr.func) or "").endswith("inference_mode")
                for item in node.items
            )
        ):
            skipped.update(statements(node.body))
            # What is bound there is bound anew all the same.
        yield node


def _header(node: ast.stmt) -> list[ast.expr]:
    """The expressions that a statement evaluates itself, not those of statements inside it."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    return [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)] + [
        item.context_expr for item in getattr(node, "items", ())
    ]


def _mutations(node: ast.stmt, calls: Sequence[ast.Call], made: dict[str, _Made]) -> Iterator[Found]:
    for call in calls:
        for name, what in (
            (changed_in_place(call), "changed in place"),
            (given_requires_grad(call), "given requires_grad"),
        ):
            if name in made:
                yield Found(name, made[name].node, what, call)
    targets: list[ast.expr] = []
    if isinstance(node, ast.AugAssign):
        targets = [node.target]
    elif isinstance(node, ast.Assign):
        targets = [target for target in node.targets if isinstance(target, (ast.Subscript, ast.Attribute))]
    for target in targets:
        if isinstance(target, ast.Attribute):
            name = root_of(target.value)
            switched_on = isinstance(node, ast.Assign) and not (
                isinstance(node.value, ast.Constant) and node.value.value is False
            )
            if target.attr == "requires_grad" and name in made and switched_on:
                yield Found(name, made[name].node, "given requires_grad", target)
            continue
        name = root_of(target)
        if name in made and made[name].surely:
            yield Found(name, made[name].node, "changed in place", target)


def _assign(
    node: ast.Assign | ast.AnnAssign | ast.AugAssign,
    made: dict[str, _Made],
    derived: dict[str, list[Found]],
    origins: list[Found],
) -> None:
    if isinstance(node, ast.AugAssign):
        if isinstance(node.target, ast.Name) and origins:
            derived[node.target.id] = derived.get(node.target.id, []) + origins
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        for child in [target, *getattr(target, "elts", [])]:
            if isinstance(child, ast.Name):
                made.pop(child.id, None)
                derived.pop(child.id, None)
                if origins:
                    derived[child.id] = list(origins)


def _differentiates(call: ast.Call, resolve: Resolve) -> bool:
    """`loss.backward()`, `scaler.scale(loss).backward()`, `accelerator.backward(loss)`, `autograd.grad(loss, …)`."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in _BACKWARD:
        return True
    return resolve(call.func) in ("torch.autograd.grad", "torch.autograd.backward")
