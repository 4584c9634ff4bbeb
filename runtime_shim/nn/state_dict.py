"""Saving and loading the state of modules."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Mapping
from typing import Any

from ..core.gradient_modes import no_grad
from ..core.tensor import Tensor
from .parameter import Parameter

_Module = Any
"""`module.Module`, which stands on this."""


class IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` did not find, and what it had no use for."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return "_" + super().__repr__()

    __str__ = __repr__


class StateDict(OrderedDict[str, Any]):
    """A state dict; `_metadata` has the versions of the modules."""

    _metadata: OrderedDict[str, Any]


def _own(module: _Module) -> dict[str, Tensor]:
    """The module's own parameters and persistent buffers."""
    found = dict(module._parameters)
    for name, buffer in module._buffers.items():
        if name not in module._non_persistent_buffers_set:
            found[name] = buffer
    return {name: value for name, value in found.items() if value is not None}


def save_own(module: _Module, destination: Any, prefix: str, keep_vars: bool) -> None:
    for name, value in _own(module).items():
        destination[prefix + name] = value if keep_vars else value.detach()


def collect(module: _Module, destination: Any, prefix: str, keep_vars: bool) -> Any:
    if destination is None:
        destination = StateDict()
        destination._metadata = OrderedDict()
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = {"version": module._version}
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    return destination


def load_own(
    module: _Module,
    state_dict: Any,
    prefix: str,
    local_metadata: Any,
    strict: bool,
    missing_keys: list[str],
    unexpected_keys: list[str],
    error_msgs: list[str],
) -> None:
    """Load what belongs to this module itself, noting in the lists what does not fit."""
    assign = local_metadata.get("assign_to_params_buffers", False)
    own = _own(module)
    for name, target in own.items():
        key = prefix + name
        if key not in state_dict:
            if strict:
                missing_keys.append(key)
            continue
        value = state_dict[key]
        if not isinstance(value, Tensor):
            error_msgs.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object '
                f"from checkpoint but received {type(value)}"
            )
        elif value.shape != target.shape:
            error_msgs.append(
                f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the "
                f"shape in current model is {target.shape}."
            )
        else:
            try:
                _place(module, name, target, value, assign)
            except Exception as error:  # reported together, as PyTorch does
                error_msgs.append(
                    f'While copying the parameter named "{key}", whose dimensions in the model are '
                    f"{target.size()} and whose dimensions in the checkpoint are {value.size()}, an "
                    f"exception "
                    f"occurred : {error.args}."
                )
    if strict:
        for key in state_dict:
            if key.startswith(prefix):
                first = key[len(prefix) :].split(".", 1)
                known = first[0] in module._modules if len(first) > 1 else first[0] in own
                if not known:
                    unexpected_keys.append(key)


def _place(module: _Module, name: str, target: Tensor, value: Tensor, assign: bool) -> None:
    if not assign:
        with no_grad():
            target.copy_(value)
    elif isinstance(target, Parameter) and not isinstance(value, Parameter):
        setattr(module, name, Parameter(value, requires_grad=target.requires_grad))
    else:
        setattr(module, name, value)


def load_into(module: _Module, state_dict: Any, strict: bool, assign: bool) -> IncompatibleKeys:
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    missing: list[str] = []
    unexpected: list[str] = []
    errors: list[str] = []
    metadata = getattr(state_dict, "_metadata", {})
    given = OrderedDict(state_dict)

    def visit(part: _Module, prefix: str) -> None:
        local = dict(metadata.get(prefix[:-1], {}))
        if assign:
            local["assign_to_params_buffers"] = True
        part._load_from_state_dict(given, prefix, local, True, missing, unexpected, errors)
        for name, child in part._modules.items():
            if child is not None:
                visit(child, f"{prefix}{name}.")

    visit(module, "")
    if strict:
        for keys, what in ((unexpected, "Unexpected"), (missing, "Missing")):
            if keys:
                quoted = ", ".join(f'"{k}"' for k in keys)
                errors.insert(0, f"{what} key(s) in state_dict: {quoted}. ")
    if errors:
        listed = "\n\t".join(errors)
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{listed}")
    return IncompatibleKeys(missing, unexpected)
