"""What a file says as a whole: what it exports, what it trains with, where an import can be added."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .. import guards
from ..facts import Span
from .facts import Training
from .module import Module
from .names import resolve_name

_TRAINING = {
    "FullyShardedDataParallel": "FSDP",
    "fully_shard": "FSDP",
    "torch_xla": "XLA",
    "torch.compile": "torch.compile",
}


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


def training_signs(module: Module) -> Iterator[Training]:
    """Signs that the file trains with something that inference tensors do not mix with."""
    text = module.source.text
    for word, what in _TRAINING.items():
        pattern = rb"\b" + re.escape(word.encode()) + (rb"\s*\(|@" + word.encode() if "compile" in word else rb"\b")
        match = re.search(pattern, text)
        if match is not None and b"#" not in text[text.rfind(b"\n", 0, match.start()) + 1 : match.start()]:
            yield Training(what, Span(*match.span()))


def trains(module: Module) -> bool:
    """Whether the file computes gradients, or leaves that to a trainer."""
    return b".backward(" in module.source.text or b"Trainer" in module.source.text


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
