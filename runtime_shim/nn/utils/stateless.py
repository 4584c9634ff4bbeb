"""`torch.nn.utils.stateless`: a module called with other tensors in the place of its parameters and buffers.

Source of the behaviour: torch/nn/utils/stateless.py, _named_member_accessor.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...core.tensor import Tensor
from ..module import Module

_MISSING = object()


def _deprecated_call(
    module: object,
    parameters_and_buffers: dict[str, object],
    args: object = None,
    kwargs: dict[str, object] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> object:
    """The deprecated name of `torch.func.functional_call`."""
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _functional_call(
    module: Any,
    parameters_and_buffers: dict[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    if any(kind.__name__ in _JITTED for kind in type(module).__mro__):
        raise RuntimeError("The stateless API can't be used with Jitted modules")
    if not isinstance(args, tuple):
        args = () if args is None else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights, strict):
        return module(*args, **(kwargs or {}))


_JITTED = frozenset(("RecursiveScriptModule", "ScriptModule", "ScriptFunction", "TracedModule"))


@contextmanager
def _reparametrize_module(
    module: Any,
    parameters_and_buffers: dict[str, Any],
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
) -> Iterator[None]:
    """Inside, the module has these tensors. What it has in their places at the end goes into the dictionary."""
    own = {
        name: tensor
        for tensors in (module.named_parameters, module.named_buffers)
        for name, tensor in tensors(remove_duplicate=False)
    }
    wanted = _untied(own, parameters_and_buffers) if tie_weights else parameters_and_buffers
    if strict:
        _check_names(module, own, wanted)
    holders: dict[str, Any] = {}
    before: dict[str, Any] = {}
    try:
        try:
            for path, tensor in wanted.items():
                before[path] = _swapped(module, path, tensor, holders)
        except Exception:
            for path, tensor in before.items():
                _swapped(module, path, tensor, holders)
            before = {}
            raise
        yield
    finally:
        if stack_weights:
            before = dict(reversed(before.items()))
        after = {path: _swapped(module, path, tensor, holders) for path, tensor in before.items()}
        parameters_and_buffers.update({name: after[name] for name in parameters_and_buffers if name in after})


def _untied(own: dict[str, object], given: dict[str, object]) -> dict[str, object]:
    """The tensors under all names that the module has for one of them."""
    names: dict[int, list[str]] = {}
    for name, tensor in own.items():
        names.setdefault(id(tensor), []).append(name)
    found = dict(given)
    for tied in names.values():
        values = {id(given[name]): given[name] for name in tied if name in given}
        if len(values) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(tied)}, which are tied. Consider using "
                "tie_weights=False"
            )
        for value in values.values():
            found.update(dict.fromkeys(tied, value))
    return found


def _check_names(module: Any, own: dict[str, Any], given: dict[str, Any]) -> None:
    unexpected, missing = sorted(given.keys() - own.keys()), sorted(own.keys() - given.keys())
    texts = [
        f"{what} key(s): {', '.join(map(repr, names))}."
        for what, names in (("Unexpected", unexpected), ("Missing", missing))
        if names
    ]
    if texts:
        raise RuntimeError("\n\t".join([f"Error(s) in reparametrizing for {module._get_name()}:", *texts]))


def _holder(module: object, path: str, holders: dict[str, object]) -> Any:
    """The submodule of that path."""
    if not path:
        return module
    if path not in holders:
        folder, _, name = path.rpartition(".")
        outer = _holder(module, folder, holders)
        try:
            found = getattr(outer, name)
        except AttributeError:
            raise AttributeError(f"{outer._get_name()} has no attribute `{name}`") from None
        if not isinstance(found, Module):
            raise TypeError(f"submodule `{path}`: {found} is not an instance of torch.nn.Module")
        holders[path] = found
    return holders[path]


def _swapped(module: object, path: str, tensor: object, holders: dict[str, object]) -> Any:
    """Put a tensor where the path says, or nothing; returns what was there."""
    if tensor is not _MISSING and tensor is not None and not isinstance(tensor, Tensor):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    folder, _, name = path.rpartition(".")
    holder = _holder(module, folder, holders)
    if not name:
        raise KeyError('tensor name can\'t be empty string ""')
    for table in (holder._parameters, holder._buffers):
        if name in table:
            found = table[name]
            if tensor is _MISSING:
                del table[name]
            else:
                table[name] = tensor
            return found
    found = getattr(holder, name, _MISSING)
    if found is not _MISSING and found is not None and not isinstance(found, Tensor):
        raise TypeError(f"attribute `{name}`: {found} is not an instance of torch.Tensor")
    if tensor is not _MISSING:
        setattr(holder, name, tensor)
    elif found is not _MISSING:
        delattr(holder, name)
    return found


def __getattr__(name: str) -> Any:
    if name == "functional_call":
        return _deprecated_call
    raise AttributeError(f"module 'torch.nn.utils.stateless' has no attribute {name!r}")
