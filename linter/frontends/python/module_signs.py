"""What a file says as a whole: what it exports, what it trains with, where an import can be added."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import guards
from ...facts.python_model import Training
from ...guards import canonical_name
from .name_resolution import resolve, resolve_name
from .parsed_module import Module

_FSDP = frozenset({"FullyShardedDataParallel", "FSDP", "fully_shard"})
_DIFFERENTIATES = frozenset({"backward", "manual_backward"})


def torch_name(module: Module) -> str:
    """The name under which the file has torch; empty when it has not."""
    names = module.scope.bound
    candidates = (name for name in ("torch", *names) if name in names)
    return next((n for n in candidates if resolve_name(n, module.scope) in guards.PYTHON_MODULES), "")


def exports(module: Module) -> Iterator[tuple[str, str]]:
    """(name, dotted name) of guards and possible guards that the module binds at its top."""
    for name, bindings in module.scope.bound.items():
        for binding in bindings:
            last = binding.rpartition(".")[2] if isinstance(binding, str) else ""
            if isinstance(binding, (ast.Name, ast.Attribute)):
                last = binding.attr if isinstance(binding, ast.Attribute) else binding.id
            if last in module.words:
                meaning = resolve_name(name, module.scope)
                if meaning is not None:
                    yield name, meaning
                break


def training_signs(module: Module) -> tuple[Training, ...]:
    """Signs that the file trains with something that inference tensors do not mix with; none when it trains nothing.

    Training is a call of `backward`, or a class or call of a `…Trainer`. Names in comments and strings are no signs.
    """
    signs: dict[str, Training] = {}
    trains = False
    for node in ast.walk(module.tree):
        what = ""
        if isinstance(node, ast.Call):
            last = _last(node.func)
            trains = trains or last in _DIFFERENTIATES or last.endswith("Trainer")
            what = _wraps(node.func, module)
        elif isinstance(node, ast.ClassDef):
            trains = trains or any(_last(base).endswith("Trainer") for base in node.bases)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for decorator in node.decorator_list:
                if what := _wraps(decorator, module):
                    node = decorator
                    break
        elif isinstance(node, ast.Attribute):
            # `FSDP.summon_full_params(model)`
            what = _wraps(node.value, module) if _last(node.value) in _FSDP else ""
        elif isinstance(node, ast.Import):
            what = "XLA" if any(alias.name.split(".")[0] == "torch_xla" for alias in node.names) else ""
        elif isinstance(node, ast.ImportFrom):
            what = "XLA" if (node.module or "").split(".")[0] == "torch_xla" and not node.level else ""
        if what:
            signs.setdefault(what, Training(what, module.span(node)))
    return tuple(sorted(signs.values(), key=lambda sign: sign.span)) if trains else ()


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _wraps(node: ast.expr, module: Module) -> str:
    """What a function that is called, or decorates, wraps a model with: FSDP or torch.compile."""
    last = _last(node)
    if last in _FSDP:
        name = resolve(node, module.scope)
        # What the project does not import from torch may come from a library that hands it on.
        return "FSDP" if name is None or name.rpartition(".")[2] in _FSDP else ""
    if last == "compile":
        return "torch.compile" if canonical_name(resolve(node, module.scope) or "") == "torch.compile" else ""
    return ""


def imports_end(module: Module) -> int:
    """Where a further import can be written: behind the last import at the top, or the module's docstring."""
    row = 0
    for index, node in enumerate(module.tree.body):
        is_docstring = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, (ast.Import, ast.ImportFrom)) or is_docstring:
            row = node.end_lineno or node.lineno
        elif row:
            break
    return module.start_of_row(row)
