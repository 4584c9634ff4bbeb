"""What a module does with all of its tensors: conversions to a dtype, state dicts."""

from __future__ import annotations

import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Mapping
from typing import Any

from ..core import dtypes
from ..core.device import check_device
from ..core.function_table import AnyFunction
from ..core.gradient_modes import no_grad
from ..core.tensor import Tensor
from .parameter import Parameter

COMPLEX_MODULE = (
    "Complex modules are a new feature under active development whose design may change, and some modules might not "
    "work as expected when using complex tensors as parameters or buffers. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex module does not work as "
    "expected."
)


def parsed_target(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The dtype and the memory format. TypeError for arguments in another order than `(device, dtype, non_blocking,
    copy)`, `(dtype, non_blocking, copy)` or `(tensor, non_blocking, copy)`; RuntimeError for `copy`.
    """
    given = dict(kwargs)
    names = ["device", "dtype", "non_blocking", "copy"]
    if args and isinstance(args[0], dtypes.dtype):
        names = names[1:]
    elif args and isinstance(args[0], Tensor):
        given["dtype"] = args[0].dtype
        names = ["tensor", *names[2:]]
    for name, value in zip(names, args, strict=False):
        given[name] = value
    dtype, copy = given.get("dtype"), given.get("copy", False)
    flags = isinstance(given.get("non_blocking", False), bool) and isinstance(copy, bool)
    if len(args) > len(names) or not flags or not (dtype is None or isinstance(dtype, dtypes.dtype)):
        kinds = ", ".join([type(a).__name__ for a in args] + [f"{k}={type(v).__name__}" for k, v in kwargs.items()])
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({kinds}), but expected one of:\n * "
            "(torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, bool copy = False, *, "
            "torch.memory_format memory_format = None)\n * (torch.dtype dtype, bool non_blocking = False, bool copy = "
            "False, *, torch.memory_format memory_format = None)\n * (Tensor tensor, bool non_blocking = False, bool "
            "copy = False, *, torch.memory_format memory_format = None)\n"
        )
    if copy:
        raise RuntimeError(".to() does not accept copy argument")
    check_device(given.get("device"))
    return dtype, given.get("memory_format")


_Module = Any
"""`module.Module`, which is on this."""


class IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` did not find, and what it had no use for."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return "_" + super().__repr__()

    __str__ = __repr__


class LoadHook:
    """A hook before a module's state is loaded, called with the module if it was registered so."""

    def __init__(self, hook: AnyFunction, module: object) -> None:
        self.hook = hook
        self.module = None if module is None else weakref.ref(module)
        self.with_module = module is not None

    def __call__(self, *args: Any) -> Any:
        return self.hook(self.module(), *args) if self.module is not None else self.hook(*args)

    def __getstate__(self) -> dict[str, object]:
        found = {"hook": self.hook, "with_module": self.with_module}
        if self.module is not None:
            found["module"] = self.module()
        return found

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook, self.with_module = state["hook"], state["with_module"]
        self.module = weakref.ref(state["module"]) if self.with_module else None


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
    if _defines(module, "get_extra_state"):
        destination[prefix + EXTRA_STATE] = module.get_extra_state()


#: The name of what a class adds to its state.
EXTRA_STATE = "_extra_state"


def _defines(module: _Module, method: str) -> bool:
    """Whether a class between Module and the module's own defines a method."""
    return next(k for k in type(module).__mro__ if method in vars(k)).__name__ != "Module"


def collect(module: _Module, destination: Any, prefix: str, keep_vars: bool) -> Any:
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()  # the versions of the modules
    local = {"version": module._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = local
    for hook in list(module._state_dict_pre_hooks.values()):
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in list(module._state_dict_hooks.values()):
        found = hook(module, destination, prefix, local)
        if getattr(hook, "_from_public_api", False):
            if found is not None:
                raise RuntimeError("state_dict post-hook must return None")
        elif found is not None:
            destination = found
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
    for hook in list(module._load_state_dict_pre_hooks.values()):
        hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
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
    extra = prefix + EXTRA_STATE
    if _defines(module, "set_extra_state"):
        if extra in state_dict:
            module.set_extra_state(state_dict[extra])
        elif strict:
            missing_keys.append(extra)
    elif strict and extra in state_dict:
        unexpected_keys.append(extra)
    if strict:
        for key in state_dict:
            if key.startswith(prefix) and key != extra:
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


def load_into(module: _Module, state_dict: object, strict: bool, assign: bool) -> IncompatibleKeys:
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    missing: list[str] = []
    unexpected: list[str] = []
    errors: list[str] = []
    metadata = getattr(state_dict, "_metadata", {})
    given = OrderedDict(state_dict)

    def visit(part: _Module, given: Any, prefix: str) -> None:
        local = dict(metadata.get(prefix[:-1], {}))
        if assign:
            local["assign_to_params_buffers"] = True
        part._load_from_state_dict(given, prefix, local, True, missing, unexpected, errors)
        for name, child in part._modules.items():
            if child is not None:
                inner = f"{prefix}{name}."
                visit(child, {k: v for k, v in given.items() if k.startswith(inner)}, inner)
        incompatible = IncompatibleKeys(missing, unexpected)
        for hook in list(part._load_state_dict_post_hooks.values()):
            if hook(part, incompatible) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                    "values, if incompatible_keys need to be modified, it should be done inplace."
                )

    visit(module, given, "")
    if strict:
        for keys, what in ((unexpected, "Unexpected"), (missing, "Missing")):
            if keys:
                quoted = ", ".join(f'"{k}"' for k in keys)
                errors.insert(0, f"{what} key(s) in state_dict: {quoted}. ")
    if errors:
        listed = "\n\t".join(errors)
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{listed}")
    return IncompatibleKeys(missing, unexpected)
