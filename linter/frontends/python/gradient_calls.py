"""Calls that compute gradients or use them."""

from __future__ import annotations

import ast
import re

from ...guards import canonical_name
from ...lazy_regex import lazy_regex
from .name_resolution import Scope, resolve
from .parsed_module import Module

_OPTIMIZER = lazy_regex(
    r"(?:^|[._])(?:optim(?:izer)?s?|opt|optimizer_\w+|\w+_optim(?:izer)?|\w+_opt|(?:grad_|amp_)?scaler|(?:model_)?engine)$",
    re.IGNORECASE,
)
"""What has a `step` that trains: optimizers, `GradScaler`s, DeepSpeed's engines."""
_FUNCTIONS = ("torch.autograd.grad", "torch.autograd.backward")


def gradient_call(call: ast.Call, module: Module, scope: Scope) -> str:
    """`loss.backward()`, `optimizer.step()`, `torch.autograd.grad()`: such a call in words; empty for others."""
    func = call.func
    written = ""
    if isinstance(func, ast.Attribute) and func.attr in ("backward", "manual_backward"):
        receiver = func.value
        if not (isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Name) and receiver.func.id == "super"):
            written = module.written(func)
    elif isinstance(func, ast.Attribute) and func.attr == "step":
        if _OPTIMIZER.search(module.written(func.value)):
            written = module.written(func)
    elif isinstance(func, (ast.Name, ast.Attribute)):
        last = func.attr if isinstance(func, ast.Attribute) else func.id
        if last in ("grad", "backward"):
            name = resolve(func, scope)
            if name is not None and canonical_name(name) in _FUNCTIONS:
                written = module.written(func)
    return " ".join(written.split()) + "()" if written else ""
