"""`torch.jit.script` of modules: `forward`, the exported methods and what they call are checked, and run as Python.

A scripted module has its parameters and buffers in common with the original, but flags and attributes of its own.
Source of what it shows, and of the words: torch/jit/_script.py and torch/jit/_recursive.py of 2.13.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core.error_texts import UnsupportedError
from ..core.function_table import AnyFunction
from ..core.tensor import Tensor
from ..library.operator_schema import Schema
from ..nn.module import Module
from .checked_functions import ATTRIBUTES, FunctionChecker, FunctionSource, is_ours, run_scripted, schema_of
from .script_module import ArchiveModule

_OWN_TABLES = (
    "_forward_hooks", "_forward_pre_hooks", "_forward_hook_options", "_backward_hooks", "_backward_pre_hooks"
)  # fmt: skip
_SHARED_TABLES = ("_parameters", "_buffers", "_non_persistent_buffers_set")
_UNCOMPILED = frozenset({"ignore", "unused"})
"""Marks of methods that stay Python's."""


class ScriptModule(Module):
    """The base of modules whose methods are marked with `script_method`; these are checked at the end of `__init__`."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        marked = [name for name, value in vars(cls).items() if _MARKED in getattr(value, "__dict__", ())]
        init = cls.__init__
        if not marked:
            return

        @functools.wraps(init)
        def initialize(self: Any, *args: Any, **options: Any) -> None:
            init(self, *args, **options)
            if type(self) is cls:
                checked: dict[str, ScriptMethod] = {}
                for name in dir(cls):
                    if _MARKED in getattr(getattr(cls, name), "__dict__", ()):
                        _check_method(self, name, checked, ())
                self.__dict__["_methods"] = checked

        cls.__init__ = initialize  # type: ignore[method-assign]


_MARKED = "_is_script_method"


def script_method(fn: Callable[..., object]) -> AnyFunction:
    """Marks a method of a ScriptModule as TorchScript."""

    @functools.wraps(fn)
    def call(self: object, /, *args: object, **kwargs: object) -> Any:
        method = self.__dict__.get("_methods", {}).get(fn.__name__)
        return fn(self, *args, **kwargs) if method is None else method(self, *args, **kwargs)

    call.__dict__[_MARKED] = True
    return call


class RecursiveScriptModule(ScriptModule):
    """A module that `torch.jit.script` has checked.

    The Python code runs on a copy of the original, `_python`, whose submodules are such copies too; this tree is what
    the user holds.
    """

    def __init__(self, python: Module, methods: dict[str, ScriptMethod]) -> None:
        super().__init__()
        self.__dict__.update({name: python.__dict__[name] for name in (*_SHARED_TABLES, "training")})
        self.__dict__["_python"] = python
        self.__dict__["_methods"] = methods

    @property
    def original_name(self) -> str:
        """The class of the module that was scripted."""
        return type(self._python).__name__

    @property
    def code(self) -> str:
        """The source of `forward`. PyTorch prints what it compiled."""
        method = self._methods.get("forward")
        return method.source.text if method is not None else inspect.getsource(type(self._python).forward)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        method = self._methods.get("forward")
        if method is None:  # a layer of PyTorch's own, or a module without one
            return self._python.forward(*args, **kwargs)
        return method(self._python, *args, **kwargs)

    def save(self, f: Any, **kwargs: Any) -> None:
        """Refused: NotImplementedError."""
        raise UnsupportedError(
            "the shim can't save a module of torch.jit.script, which runs as Python; one of torch.jit.load it can"
        )

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if "_python" not in own or name.startswith("__"):
            return super().__getattr__(name)
        if name in own["_methods"]:
            return functools.partial(own["_methods"][name], own["_python"])
        python: Module = own["_python"]
        if name in python.__dict__ and _is_attribute(python.__dict__[name]):
            return python.__dict__[name]
        mark = getattr(getattr(type(python), name, None), "_torchscript_modifier", "")
        return getattr(python, name) if mark in _UNCOMPILED else super().__getattr__(name)

    def __setattr__(self, name: str, value: object) -> None:
        python = self.__dict__.get("_python")
        if python is not None and (name == "training" or (name in python.__dict__ and name not in self.__dict__)):
            python.__dict__[name] = value
            if name != "training":
                return
        super().__setattr__(name, value)

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"

    # What containers can do, they can do here too. A module is true even where it is an empty container.

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        return len(self._container("__len__"))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._container("__iter__"))

    def __contains__(self, key: object) -> bool:
        return key in self._container("__contains__")

    def __getitem__(self, key: Any) -> Any:
        return self._container("__getitem__")[key]

    def _container(self, method: str) -> Any:
        if not hasattr(type(self._python), method):
            raise NotImplementedError
        return self._python


class ScriptMethod:
    """A method that was checked, with the types of its arguments."""

    def __init__(self, source: FunctionSource, schema: Schema, function: AnyFunction) -> None:
        self.source = source
        self.schema = schema
        self.function = function

    def __call__(self, module: Module, /, *args: Any, **kwargs: Any) -> Any:
        values, keywords = self.schema.bind(args, kwargs)
        return run_scripted(self.function, self.source, (module, *values), keywords)


def scripted_module(module: Module) -> RecursiveScriptModule:
    """The module, checked, with its submodules.

    NotSupportedError or RuntimeError if a method is not TorchScript; NotImplementedError if a module has forward hooks.
    """
    return _scripted(module, {})


def _scripted(module: Module, known: dict[int, RecursiveScriptModule]) -> RecursiveScriptModule:
    if isinstance(module, RecursiveScriptModule):
        return module
    if id(module) in known:
        return known[id(module)]
    if module._forward_hooks or module._forward_pre_hooks:
        raise UnsupportedError("the shim's torch.jit.script doesn't compile forward hooks; remove them before")
    children = {name: None if child is None else _scripted(child, known) for name, child in module._modules.items()}
    python = _copied(module)
    python.__dict__["_modules"].update((name, child and child._python) for name, child in children.items())
    found = known[id(module)] = RecursiveScriptModule(python, _methods(python))
    found._modules.update(children)
    return found


def _copied(module: Module) -> Module:
    """A module of the same class and tensors, whose attributes can change without the original."""
    found: Module = object.__new__(type(module))
    found.__dict__.update(module.__dict__)
    tables = (*_SHARED_TABLES, *_OWN_TABLES)
    found.__dict__.update({name: copy.copy(module.__dict__[name]) for name in tables}, _modules={})
    return found


def _methods(module: Module) -> dict[str, ScriptMethod]:
    """`forward`, the exported methods, and the methods that they call, by name."""
    kind = type(module)
    found: dict[str, ScriptMethod] = {}
    names = ["forward"] if kind.forward is not Module.forward else []
    names += [name for name in dir(kind) if _mark(kind, name) == "export"]
    for name in names:
        if not is_ours(getattr(kind, name)) and _mark(kind, name) not in _UNCOMPILED:
            _check_method(module, name, found, ())
    return found


def _mark(kind: type, name: str) -> str:
    return str(getattr(getattr(kind, name, None), "_torchscript_modifier", ""))


def _check_method(module: Module, name: str, found: dict[str, ScriptMethod], callers: tuple[Any, ...]) -> None:
    if name in found:
        return
    function = inspect.unwrap(getattr(type(module), name))
    source = FunctionSource(function)
    _MethodChecker(module, function, source, (*callers, function), found).check()
    definition = copy.deepcopy(source.node)
    del definition.args.args[0]
    found[name] = ScriptMethod(source, schema_of(function.__get__(module), definition), function)


class _MethodChecker(FunctionChecker):
    """A checker that knows what `self` is."""

    def __init__(
        self,
        module: Module,
        function: AnyFunction,
        source: FunctionSource,
        callers: tuple[AnyFunction, ...],
        methods: dict[str, ScriptMethod],
    ) -> None:
        super().__init__(function, source, callers)
        self.module = module
        self.methods = methods
        self.own_name = source.node.args.args[0].arg if source.node.args.args else ""
        self.classes.pop(self.own_name, None)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name) and node.value.id == self.own_name and isinstance(node.ctx, ast.Load):
            self.use_own(node)
        else:
            super().visit_Attribute(node)

    def use_own(self, node: ast.Attribute) -> None:
        """Refuses an attribute of the module that is none, or of a type that TorchScript hasn't; checks a method."""
        name, kind = node.attr, type(self.module).__name__
        if not hasattr(self.module, name):
            raise RuntimeError(f"\nModule '{kind}' has no attribute '{name}' :\n{self.source.marked(node)}")
        function = getattr(type(self.module), name, None)
        if inspect.isfunction(function):
            if is_ours(function) or hasattr(function, "_torchscript_modifier"):
                return
            self.refuse_recursion(function, f" method '{name}'", node)
            _check_method(self.module, name, self.methods, self.callers)
        elif not _is_attribute(found := getattr(self.module, name)):
            raise RuntimeError(
                f"\nModule '{kind}' has no attribute '{name}' (This attribute exists on the Python module, but we "
                f"failed to convert Python type: '{type(found).__name__}' to a TorchScript type.):\n"
                f"{self.source.marked(node)}"
            )


def _is_attribute(value: object) -> bool:
    """Whether TorchScript can keep a value as a module's attribute: tensors, plain values, containers of them, code."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_attribute, value))
    if isinstance(value, dict):
        return all(_is_attribute(part) for pair in value.items() for part in pair)
    return isinstance(value, (*ATTRIBUTES, Tensor, Module, types.FunctionType)) or is_ours(type(value))


_EXPECTS = (
    "{} expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script your 'nn.Module'."
)


class FrozenModule(RecursiveScriptModule):
    """`forward` and the preserved attributes of a scripted module. Gradients reach the inputs, not the constants."""

    def __init__(self, constant: RecursiveScriptModule | ArchiveModule, preserved: Sequence[str]) -> None:
        Module.__init__(self)
        del self.__dict__["training"]
        self.__dict__["_constant"] = constant
        self.__dict__["_preserved"] = frozenset(preserved)

    @property
    def original_name(self) -> str:
        return self._constant.original_name

    @property
    def script_class(self) -> Any:
        """The class that a loaded module's archive declares."""
        return self._constant.script_class

    @property
    def code(self) -> str:
        return self._constant.code

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._constant(*args, **kwargs)

    def run_method(self, name: str, /, *args: object, **kwargs: object) -> Any:
        """Calls `forward` or a preserved method. RuntimeError when there is none of this name."""
        if name != "forward" and name not in self._preserved:
            raise RuntimeError(f"Method '{name}' is not defined.")
        return getattr(self, name)(*args, **kwargs)

    def hasattr(self, name: str) -> bool:
        """Whether an attribute of this name (not: a method) was preserved."""
        return name in self._preserved and not callable(getattr(self._constant, name))

    def attr(self, name: str) -> Any:
        return getattr(self, name)

    def save(self, f: Any, **kwargs: Any) -> None:
        """Refused: NotImplementedError."""
        raise UnsupportedError("the shim can't save a frozen module; save the module that it was made from")

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if name in own.get("_preserved", ()):
            return getattr(own["_constant"], name)
        raise AttributeError(f"'RecursiveScriptModule' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: object) -> None:
        Module.__setattr__(self, name, value)

    def _get_name(self) -> str:
        return "RecursiveScriptModule"

    def _container(self, method: str) -> Any:
        raise NotImplementedError


def freeze(mod: Any, preserved_attrs: Sequence[str] | None = None, optimize_numerics: bool = True) -> FrozenModule:
    """A module with `forward` and the preserved attributes of a scripted one in eval mode; its tensors are shared.

    RuntimeError for a module that isn't scripted or is in training mode, and for a preserved name that it hasn't.
    """
    _check_scripted(mod, "Freezing")
    if mod.training:
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. "
            "Please call .eval() on your module before freezing."
        )
    preserved = list(preserved_attrs or ())
    for name in preserved:
        if not hasattr(mod, name):
            raise RuntimeError(f"Unknown name: {name}")
    tensors = [*mod.parameters(), *mod.buffers()]
    return FrozenModule(copy.deepcopy(mod, {id(tensor): tensor.detach() for tensor in tensors}), preserved)


def optimize_for_inference(mod: Any, other_methods: Sequence[str] | None = None) -> FrozenModule:
    """The module, frozen unless it is, in eval mode. RuntimeError for a module that isn't scripted."""
    _check_scripted(mod, "optimize_for_inference")
    return mod if isinstance(mod, FrozenModule) else freeze(mod.eval(), preserved_attrs=other_methods)


def _check_scripted(module: object, function: str) -> None:
    if not isinstance(module, (RecursiveScriptModule, ArchiveModule)):
        raise RuntimeError(_EXPECTS.format(function))
