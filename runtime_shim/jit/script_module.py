"""What `jit.load` returns: a module whose methods run the archive's code, with the interface of a scripted module."""

from __future__ import annotations

import copy
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from ..core.resource_budget import brief
from .archive_writer import runtime_of, save
from .script_source import Method, ScriptClass
from .script_values import ScriptObject
from .type_annotations import Mismatch, convert


class ArchiveModule(ScriptObject):
    """A module of an archive, as `torch.jit.RecursiveScriptModule` shows it.

    Attributes, parameters, buffers, constants, submodules and methods are attributes of the Python object;
    attributes that the class declares can be set.
    """

    __slots__ = ()

    @property
    def _python_name(self) -> str:
        return "RecursiveScriptModule"

    # Calling.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the forward hooks of the archive and `forward`."""
        declared = self.script_class
        for hook in declared.pre_hooks:
            result = self.get_method(hook)(args)
            if result is not None:
                args = result if isinstance(result, tuple) else (result,)
        output = self.get_method("forward")(*args, **kwargs)
        for hook in declared.hooks:
            result = self.get_method(hook)(args, output)
            if result is not None:
                output = result
        return output

    def run_method(self, name: str, /, *args: object, **kwargs: object) -> object:
        """Calls a method by name. RuntimeError when the module has none of this name."""
        return self.get_method(name)(*args, **kwargs)

    def get_method(self, name: str) -> Method:
        function = self.script_class.methods.get(name)
        if function is None:
            raise RuntimeError(f"Method '{name}' is not defined.")
        return function.bound(self)

    def find_method(self, name: str) -> Method | None:
        return self.get_method(name) if name in self.script_class.methods else None

    def get_methods(self) -> list[Method]:
        return [function.bound(self) for function in self.script_class.methods.values()]

    # Attributes.

    def attr(self, name: str, *default: object) -> Any:
        """The attribute of this name; a default as second argument is returned when there is none."""
        if name in self.slots:
            return self.slots[name]
        if name in self.script_class.constants:
            return self.script_class.constants[name]
        if default:
            return default[0]
        raise AttributeError(f"{self.script_class.qualified_name} does not have a field with name '{name}'")

    def hasattr(self, name: str) -> bool:
        """Whether the module has an attribute of this name (not: a method)."""
        return name in self.slots or name in self.script_class.constants

    def setattr(self, name: str, value: object) -> None:
        """Sets a declared attribute. AttributeError when there is none, RuntimeError when the type does not fit."""
        declared = self.script_class
        if name not in declared.attributes:
            raise AttributeError(f"'{declared.name}' object has no attribute '{name}'")
        try:
            self.slots[name] = convert(value, declared.attributes[name], runtime_of(self).world)
        except Mismatch as error:
            raise RuntimeError(
                f"Could not cast attribute '{name}' to {declared.attributes[name]}: found {brief(value)}"
            ) from error

    def __setattr__(self, name: str, value: object) -> None:
        self.setattr(name, value)

    def __dir__(self) -> list[str]:
        declared = self.script_class
        return sorted({*super().__dir__(), *self.slots, *declared.methods, *declared.constants})

    # The tree of modules.

    @property
    def original_name(self) -> str:
        return self.script_class.name

    def named_children(self) -> Iterator[tuple[str, ArchiveModule]]:
        for name, value in self.slots.items():
            if isinstance(value, ArchiveModule):
                yield name, value

    def children(self) -> Iterator[ArchiveModule]:
        return (child for _, child in self.named_children())

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, ArchiveModule]]:
        """This module and all below it, each once, under its first name."""
        return self._walk(prefix, set())

    def _walk(self, prefix: str, seen: set[int] | None) -> Iterator[tuple[str, ArchiveModule]]:
        if seen is not None:
            if id(self) in seen:
                return
            seen.add(id(self))
        yield prefix, self
        for name, child in self.named_children():
            yield from child._walk(f"{prefix}.{name}" if prefix else name, seen)

    def modules(self) -> Iterator[ArchiveModule]:
        return (module for _, module in self.named_modules())

    def named_parameters(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Any]]:
        return self._tensors("parameters", prefix, recurse, unique=True)

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Any]]:
        return self._tensors("buffers", prefix, recurse, unique=True)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def state_dict(self) -> dict[str, Any]:
        """Parameters and buffers of the whole tree by dotted name, detached, sharing their storage."""
        state: dict[str, Any] = {}
        for prefix, module in self._walk("", None):
            for kind in ("parameters", "buffers"):
                state.update(
                    (name, tensor.detach()) for name, tensor in module._tensors(kind, prefix, False, unique=False)
                )
        return state

    def _tensors(self, kind: str, prefix: str, recurse: bool, unique: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        for path, module in self.named_modules(prefix) if recurse else [(prefix, self)]:
            for name in getattr(module.script_class, kind):
                tensor = module.slots.get(name)
                if tensor is None or (unique and id(tensor) in seen):
                    continue
                seen.add(id(tensor))
                yield (f"{path}.{name}" if path else name), tensor

    # State.

    def train(self, mode: bool = True) -> ArchiveModule:
        for module in self.modules():
            if "training" in module.script_class.attributes:
                module.slots["training"] = bool(mode)
        return self

    def eval(self) -> ArchiveModule:
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> ArchiveModule:
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        for parameter in self.parameters():
            if parameter.grad is not None:
                if set_to_none:
                    parameter.grad = None
                else:
                    parameter.grad.detach_().zero_()

    def to(self, *args: Any, **kwargs: Any) -> ArchiveModule:
        """Converts parameters in place and replaces buffers; integers keep their dtype, as in PyTorch."""
        if args and isinstance(args[0], runtime_of(self).backend.Tensor):
            args = (args[0].dtype, *args[1:])
        dtype = kwargs.get("dtype") or next((value for value in args if _is_dtype(value)), None)
        if dtype is not None and not _floating(dtype):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )
        others = tuple(value for value in args if not _is_dtype(value))
        keywords = {name: value for name, value in kwargs.items() if name != "dtype"}

        def convert_tensor(tensor: Any) -> Any:
            wanted = dict(keywords)
            if dtype is not None and _floating(tensor.dtype):
                wanted["dtype"] = dtype
            return tensor.to(*others, **wanted) if others or wanted else tensor

        for module in self.modules():
            for name in module.script_class.parameters:
                parameter = module.slots.get(name)
                if parameter is not None:
                    converted = convert_tensor(parameter)
                    if converted is not parameter:
                        parameter.data = converted.data
        replaced: dict[int, Any] = {}
        for module in self.modules():
            for name in module.script_class.buffers:
                buffer = module.slots.get(name)
                if buffer is not None:
                    if id(buffer) not in replaced:
                        replaced[id(buffer)] = convert_tensor(buffer)
                    module.slots[name] = replaced[id(buffer)]
        return self

    def float(self) -> ArchiveModule:
        return self.to(runtime_of(self).backend.float32)

    def double(self) -> ArchiveModule:
        return self.to(runtime_of(self).backend.float64)

    def half(self) -> ArchiveModule:
        return self.to(runtime_of(self).backend.float16)

    def cpu(self) -> ArchiveModule:
        return self

    def save(self, f: Any, _extra_files: Mapping[str, Any] | None = None) -> None:
        """Writes the module with its present values: `torch.jit.save`."""
        save(self, f, _extra_files)

    def __deepcopy__(self, memo: dict[int, object]) -> ArchiveModule:
        twin = ArchiveModule(self.script_class)
        memo[id(self)] = twin
        twin.slots.update({name: copy.deepcopy(value, memo) for name, value in self.slots.items()})
        return twin

    def __copy__(self) -> ArchiveModule:
        twin = ArchiveModule(self.script_class)
        twin.slots.update(self.slots)
        return twin

    # Showing.

    @property
    def code(self) -> str:
        """The source of `forward` as it is in the archive."""
        return self.get_method("forward").code

    def __repr__(self) -> str:
        head = f"original_name={self.original_name}"
        children = [f"({name}): {child!r}" for name, child in self.named_children()]
        if not children:
            return f"{self._python_name}({head})"
        return f"{self._python_name}(\n{textwrap.indent(chr(10).join([head, *children]), '  ')}\n)"

    def __len__(self) -> int:
        return int(self._container("__len__")())

    def __contains__(self, key: object) -> bool:
        return bool(self._container("__contains__")(key))

    def __iter__(self) -> Iterator[ArchiveModule]:
        self._container("__len__")
        return self.children()

    def __getitem__(self, index: Any) -> Any:
        self._container("__len__")
        if isinstance(index, str):
            return self.slots[index]
        return list(self.children())[index]

    def __bool__(self) -> bool:
        return True

    def _container(self, method: str) -> Method:
        found = self.find_method(method)
        if found is None:
            raise TypeError(f"'{self.original_name}' is not a container: it has no {method}")
        return found


def _is_dtype(value: object) -> bool:
    return hasattr(value, "is_floating_point") or type(value).__name__ == "dtype"


def _floating(dtype: object) -> bool:
    name = str(dtype)
    return "float" in name or "complex" in name


def make_instance(declared: ScriptClass) -> ScriptObject:
    """An instance without state."""
    return ArchiveModule(declared) if declared.kind == "Module" else ScriptObject(declared)
