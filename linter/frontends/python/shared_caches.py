"""Lazy caches of a model that another class, or a function, builds and runs: once under inference mode, once to train.

`forward`, or a method that it calls, fills `self.mask` when it runs first. If that is under somebody else's inference
mode, the mask is an inference tensor, and the training step that runs the same model can't save it (GF503).
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from .lazy_caches import TRAINS, Cache, IsInference, ResolveIn, calls_from, lazy_fills
from .name_resolution import statements
from .tensor_values import walk_own

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_RUNS = ("forward", "__call__")


class _Run(NamedTuple):
    """One place where a model is run."""

    call: ast.Call
    function: _Function
    inside: bool
    """Under inference mode."""


def find_shared_caches(tree: ast.Module, is_inference: IsInference, resolve: ResolveIn) -> Iterator[Cache]:
    """The caches of the file's models that it runs both under inference mode and to train."""
    classes = (node for node in statements(tree.body, into_scopes=True) if isinstance(node, ast.ClassDef))
    models = [node for node in classes if _fills(node, resolve)]
    if not models:
        return
    built = _built(tree, {node.name for node in models})
    runs = _runs(tree, {name for names in built.values() for name in names}, is_inference)
    for node in models:
        own = [run for name in built[node.name] for run in runs.get(name, ())]
        under = next((run for run in own if run.inside), None)
        normal = next((run for run in own if not run.inside and _trains(run.function)), None)
        if under is not None and normal is not None:
            for attribute, assignment, method in _fills(node, resolve):
                yield Cache(attribute, assignment, method, normal.function.name, normal.call.func)


def _fills(node: ast.ClassDef, resolve: ResolveIn) -> list[tuple[str, ast.stmt, str]]:
    """(attribute, assignment, method) of each cache that `forward`, or a method that it calls, fills."""
    methods = {child.name: child for child in node.body if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))}
    reached = [name for name in _RUNS if name in methods]
    for name in reached:
        reached += [called for called in calls_from(methods[name]) if called in methods and called not in reached]
    found: dict[str, tuple[str, ast.stmt, str]] = {}
    for name in reached:
        for attribute, assignment in lazy_fills(methods[name], resolve):
            found.setdefault(attribute, (attribute, assignment, name))
    return list(found.values())


def _built(tree: ast.Module, models: set[str]) -> dict[str, set[str]]:
    """The variables and attributes that hold an object of each class."""
    held: dict[str, set[str]] = defaultdict(set)
    for node in statements(tree.body, into_scopes=True):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _last(node.value.func) in models:
            held[_last(node.value.func)].update(filter(None, map(_last, node.targets)))
    return held


def _runs(tree: ast.Module, names: set[str], is_inference: IsInference) -> dict[str, list[_Run]]:
    """By variable or attribute, where the object that it holds is run."""
    found: dict[str, list[_Run]] = defaultdict(list)
    for function in statements(tree.body, into_scopes=True):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) or not names:
            continue
        decorated = any(is_inference(decorator, function) for decorator in function.decorator_list)
        blocks: set[ast.stmt] = set()
        for node in statements(function.body):
            if isinstance(node, ast.With) and any(is_inference(item.context_expr, function) for item in node.items):
                blocks.update(statements(node.body))
            for part in ast.iter_child_nodes(node):
                if not isinstance(part, ast.expr):
                    continue
                for call in walk_own(part):
                    if isinstance(call, ast.Call) and (name := _run_object(call)) in names:
                        found[name].append(_Run(call, function, decorated or node in blocks))
    return found


def _run_object(call: ast.Call) -> str:
    """What a call runs: `net` of `self.net(x)` and `net.forward(x)`."""
    func = call.func
    if isinstance(func, ast.Attribute) and func.attr == "forward":
        return _last(func.value)
    return _last(func)


def _trains(function: _Function) -> bool:
    """Whether a function trains, by its name or by what it calls."""
    if TRAINS.search(function.name):
        return True
    return any(isinstance(node, ast.Call) and _last(node.func) == "backward" for node in ast.walk(function))


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
