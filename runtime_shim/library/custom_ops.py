"""Ops that programs define: overloads with kernels per dispatch key, and `torch.ops` where they are found.

Source of the behaviour: torch/_ops.py, aten/src/ATen/core/dispatch/OperatorEntry.cpp,
torch/csrc/autograd/autograd_not_implemented_fallback.cpp.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..aten import FUNCTIONS, LATE_FUNCTIONS
from ..core.function_table import ATEN_ALONE
from ..core.late_modules import late_module
from ..core.tensor import Tensor, requires_grad
from ..core.thread_state import ADINPLACEORVIEW, AUTOGRAD, BACKEND, tls
from . import missing_autograd
from .operator_schema import Schema
from .script_classes import LOADED, load_library

#: In the order in which the dispatcher tries them.
LAYERS = {AUTOGRAD: "Autograd", ADINPLACEORVIEW: "ADInplaceOrView", BACKEND: "CPU"}
#: Under this key a kernel stands for every layer that has none of its own.
COMPOSITE = 0
#: The key Autograd, which stands for that of every backend; a kernel of AutogradCPU goes before it.
AUTOGRAD_ALIAS = -1
#: The key CompositeExplicitAutograd, which stands for every backend; a kernel of CPU goes before it.
BACKEND_ALIAS = -2

Kernel = Callable[..., Any]


def fallthrough_kernel(*args: object, **kwargs: object) -> object:
    """Registered for a key, lets calls go on to the next layer. It is never called."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


class WithKeySet:
    """A kernel that wants the key set of the call as its first argument."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel


class CompiledKernel:
    """A kernel of a C++ library. It is called with the key set and with every argument of the schema, in order."""

    __slots__ = ("call",)

    #: Beside the key set: the kernel tells the backend when it begins and ends.
    TOLD = 1 << 8
    #: Set while a program's ops are printed.
    printing = False

    def __init__(self, call: Kernel) -> None:
        self.call = call

    def __call__(self, keys: int, values: Sequence[Any]) -> Any:
        if tls.state.tracer is not None or CompiledKernel.printing:
            keys |= CompiledKernel.TOLD
        return self.call(keys, *values)


class OpOverload:
    """One op with one schema. Calling it dispatches; `redispatch(keys, …)` starts from a given key set."""

    def __init__(self, namespace: str, name: str, overload: str) -> None:
        self.namespace = namespace
        self._opname = name
        self._overloadname = overload or "default"
        self._definition: Schema | None = None
        #: Arguments by position -> all values for a C++ kernel, or None where something must be converted.
        self._plan: Callable[[tuple[Any, ...]], Sequence[Any] | None] | None = None
        self._first_kernels: dict[int, tuple[Any, bool]] = {}
        self.defined_at = ""
        #: Kernels by layer, the newest last; it is the one that runs.
        self.kernels: dict[int, list[Any]] = {}
        #: Keys of devices that aren't here, for which kernels were registered. "for all": a kernel for any device.
        self.elsewhere: list[str] = []
        #: Raises the error for a call that has no kernel, given the key of the call.
        self.report_missing: Callable[[str], None] | None = None
        self.tags: list[Any] = []
        #: Told when Python registers a kernel: the C++ libraries that registered the op, too.
        self.when_python_registers: list[Callable[[], None]] = []
        self.__name__ = f"{name}.{self._overloadname}"
        self.__module__ = f"torch._ops.{namespace}"

    _defined_in_python = True
    _composite_stays = False

    #: How often a definition came or went, of any op.
    definitions = 0

    @property
    def _schema(self) -> Schema | None:
        """None while the op has kernels and no definition."""
        return self._definition

    @_schema.setter
    def _schema(self, schema: Schema | None) -> None:
        self._definition = schema
        self._plan = None if schema is None else schema.plan()
        OpOverload.definitions += 1

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        state = tls.state
        filled = None if self._plan is None or kwargs else self._plan(args)
        if filled is None:
            args, kwargs = self._bind(args, kwargs)
        keys = BACKEND | state.included
        history = False
        for value in args:
            if isinstance(value, Tensor):
                keys |= value._keys
                history = history or value._meta is not None
            elif isinstance(value, list):
                for tensor in _tensors(value):
                    keys |= tensor._keys
                    history = history or tensor._meta is not None
        if kwargs:
            for tensor in _tensors(kwargs.values()):
                keys |= tensor._keys
        keys &= ~state.excluded
        if filled is not None:
            kernel, below_autograd = self._first_kernel(keys)
            if type(kernel) is CompiledKernel and not (below_autograd and history and state.grad_mode):
                return kernel(keys & ~AUTOGRAD if below_autograd else keys, filled)
            args, kwargs = self._bind(args, kwargs)
        return self._run(keys, args, kwargs)

    def redispatch(self, keys: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call the kernel of the highest key in `keys` (a DispatchKeySet or its bits)."""
        args, kwargs = self._bind(args, kwargs)
        return self._run(keys if isinstance(keys, int) else keys.bits, args, kwargs)

    def _bind(
        self, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> tuple[tuple[object, ...], dict[str, object]]:
        schema = self._definition
        assert schema is not None
        values, keywords = schema.bind(args, kwargs)
        return tuple(values), keywords

    def _run(self, keys: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for bit in LAYERS:
            if not keys & bit:
                continue
            kernel = self._kernel(bit)
            if kernel is None and bit == AUTOGRAD:
                if self._has_backend:
                    return self._without_autograd(keys & ~AUTOGRAD, args, kwargs)
                kernel = self._kernel(COMPOSITE)
            elif kernel is None and bit == BACKEND:
                kernel = self._kernel(COMPOSITE)
            if kernel is not None and kernel is not fallthrough_kernel:
                return self._call(kernel, bit, keys, args, kwargs)
        if self.report_missing is not None:
            self.report_missing("CPU" if any(True for _ in _tensors((*args, *kwargs.values()))) else "Undefined")
        raise NotImplementedError(
            f"Could not run '{self.name()}' with arguments from the 'CPU' backend. No kernel is registered for it; "
            f"registered: {', '.join(LAYERS[b] for b in LAYERS if self._kernel(b) is not None) or 'none'}"
        )

    def add_kernel(self, bit: int, kernel: object) -> None:
        """Put a kernel above those that the layer has."""
        if bit == BACKEND_ALIAS:
            # PyTorch looks again at what such a kernel stands for, and leaves the Autograd keys as they are.
            self._composite_stays = bool(self.kernels.get(COMPOSITE)) and self._kernel(AUTOGRAD) is None
        elif bit != ADINPLACEORVIEW:
            self._composite_stays = False
        self.kernels.setdefault(bit, []).append(kernel)
        self._first_kernels = {}

    def remove_kernel(self, bit: int, kernel: object) -> None:
        """Take a kernel back."""
        self.kernels[bit].remove(kernel)
        self._first_kernels = {}

    def _first_kernel(self, keys: int) -> tuple[object, bool]:
        """The kernel that a call with these keys comes to, and whether it is below an Autograd layer without one.

        No kernel where the way is longer: a layer that falls through, or a kernel that stands for several layers.
        """
        found = self._first_kernels.get(keys)
        if found is None:
            top = next((bit for bit in LAYERS if keys & bit and self._kernel(bit) is not None), None)
            kernel = None if top is None else self._kernel(top)
            below = bool(keys & AUTOGRAD) and top != AUTOGRAD
            if kernel is fallthrough_kernel or (below and not self._has_backend):
                kernel = None
            found = self._first_kernels[keys] = kernel, below
        return found

    @property
    def _has_backend(self) -> bool:
        """Whether calls go from Autograd to the backend, and not to a composite of other ops."""
        return bool(self.kernels.get(BACKEND) or (self.kernels.get(BACKEND_ALIAS) and not self._composite_stays))

    def _kernel(self, bit: int) -> object:
        """The kernel that serves a layer, or None."""
        found = self.kernels.get(bit)
        if found:
            return found[-1]
        if bit == BACKEND:
            found = self.kernels.get(BACKEND_ALIAS)
            return found[-1] if found else None
        if bit != AUTOGRAD:
            return None
        if self.kernels.get(COMPOSITE) and not self._has_backend:
            return None  # a composite of other ops, which have their own gradients, is before Autograd's alias
        found = self.kernels.get(AUTOGRAD_ALIAS)
        return found[-1] if found else None

    def _call(self, kernel: Any, bit: int, keys: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        assert self._schema is not None
        if type(kernel) is CompiledKernel:
            return kernel(keys, self._schema.complete(args, kwargs))
        if isinstance(kernel, WithKeySet):
            from .._C import key_set

            kernel, args = kernel.kernel, (key_set(keys), *args)
        result = self._schema.returned(kernel(*args, **kwargs))
        tracer = tls.state.tracer
        if tracer is not None and bit == BACKEND:
            tracer.record(self.name(), keys, result if result is not None else ())
        return result

    def _without_autograd(self, keys: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The op has no autograd kernel: a result without a history gets one that warns in backward."""
        given = list(_tensors((*args, *kwargs.values())))
        recording = missing_autograd.MODE == "warn" and tls.state.grad_mode and any(map(requires_grad, given))
        result = self._run(keys, args, kwargs)
        if recording:
            assert self._schema is not None
            results = result if len(self._schema.returns) > 1 else (result,)
            missing_autograd.mark(self.name(), given, results, self._schema.written_returns)
        return result

    def has_kernel_for_dispatch_key(self, key: Any) -> bool:
        bits = {
            "CompositeImplicitAutograd": COMPOSITE,
            "CompositeExplicitAutograd": BACKEND_ALIAS,
            "Autograd": AUTOGRAD_ALIAS,
        }
        if key.name not in bits and not key.bits:
            return False  # a backend that isn't here
        return bool(self.kernels.get(bits.get(key.name, key.bits)))

    def name(self) -> str:
        overload = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"{self.namespace}::{self._opname}{overload}"

    _name = property(name)

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        found: OpOverloadPacket = getattr(getattr(ops, self.namespace), self._opname)
        return found

    def __str__(self) -> str:
        return f"{self.namespace}.{self._opname}.{self._overloadname}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.namespace}.{self._opname}', overload='{self._overloadname}')>"


def _tensors(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from (v for v in value if isinstance(v, Tensor))


class OpOverloadPacket:
    """All overloads of one name. A call goes to the first whose schema it fits."""

    def __init__(self, namespace: str, name: str) -> None:
        self._namespace = namespace
        self.__name__ = name
        self._qualified_op_name = f"{namespace}::{name}"

        self._known: tuple[int, dict[str, OpOverload]] = (-1, {})

    def _overloads(self) -> dict[str, OpOverload]:
        seen, known = self._known
        if seen != OpOverload.definitions:
            found = REGISTRY.get(self._namespace, {})
            known = {o._overloadname: o for o in found.values() if o._opname == self.__name__ and o._schema is not None}
            self._known = OpOverload.definitions, known
        return known

    def overloads(self) -> list[str]:
        return list(self._overloads())

    @property
    def _schemas(self) -> dict[str, object]:
        """The schemas by the names of their overloads."""
        return {"" if name == "default" else name: op._schema for name, op in self._overloads().items()}

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        known = self._overloads()
        if len(known) == 1:
            for overload in known.values():
                return overload(*args, **kwargs)
        overloads = list(known.values())
        errors = []
        for overload in overloads:
            try:
                overload._bind(args, kwargs)
            except RuntimeError as error:
                errors.append(str(error))
            else:
                return overload(*args, **kwargs)
        text = "Overloaded torch operator invoked from Python failed to match any schema:\n"
        raise RuntimeError(text + "\n".join(errors))

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("__"):
            raise AttributeError(f"'{self}' can't have an overload name beginning with '__' (got '{name}').")
        found = self._overloads().get(name)
        if found is None:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")
        return found

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


#: namespace -> name or name.overload -> op
REGISTRY: dict[str, dict[str, OpOverload]] = {}


def split_qualname(qualname: str) -> tuple[str, str]:
    """The namespace and the name of `namespace::name`. Raises ValueError for anything else."""
    namespace, separator, name = qualname.partition("::")
    if not separator:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The qualname passed to the '
            "torch.library APIs must consist of a namespace and a name, e.g. aten::sin"
        )
    return namespace, name


def entry(namespace: str, name: str) -> OpOverload:
    """The op of that name or name.overload, made undefined if there is none."""
    ops = REGISTRY.setdefault(namespace, {})
    found = ops.get(name)
    if found is None:
        found = ops[name] = OpOverload(namespace, *name.partition(".")[::2])
    return found


class Namespace:
    """`torch.ops.<namespace>`."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def __getattr__(self, name: str) -> Any:
        if self._name == "aten":
            late = LATE_FUNCTIONS.get(name)
            if late is not None:
                late_module(f"aten.{late}")
            function = ATEN_ALONE.get(name) or FUNCTIONS.get(name)
            if function is not None:
                return aten_packet(name, function)
            if not name.startswith("__") and hasattr(Tensor, name):
                return aten_packet(name, getattr(Tensor, name))
        elif any(o._opname == name and o._schema is not None for o in REGISTRY.get(self._name, {}).values()):
            packet = self.__dict__[name] = OpOverloadPacket(self._name, name)
            return packet
        raise AttributeError(f"'_OpNamespace' '{self._name}' object has no attribute '{name}'")


class AtenPacket:
    """An aten op; overloads (`.Tensor`, `.default`) are the op itself, which chooses by its arguments."""

    _defined_in_python = False

    namespace = "aten"
    __module__ = "torch._ops.aten"

    def __init__(self, name: str, function: Kernel, overload: str = "") -> None:
        self._opname = name
        self.__name__ = f"{name}.{overload}" if overload else name
        self._function = function
        self._overload = self._overloadname = overload

    @property
    def overloadpacket(self) -> AtenPacket:
        return aten_packet(self._opname, self._function)

    def name(self) -> str:
        """The name as schemas have it: `aten::add.Tensor`."""
        overload = "" if self._overload in ("", "default") else f".{self._overload}"
        return f"aten::{self._opname}{overload}"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> AtenPacket:
        if name.startswith("__"):
            raise AttributeError(name)
        return aten_packet(self._opname, self._function, name)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        if self._overload:
            return f"<OpOverload(op='aten.{self._opname}', overload='{self._overload}')>"
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


@functools.cache
def aten_packet(name: str, function: Kernel, overload: str = "") -> AtenPacket:
    """The one object that stands for an aten op, or for an overload of it."""
    return AtenPacket(name, function, overload)


class Ops:
    """`torch.ops`."""

    def load_library(self, path: str | os.PathLike[str]) -> None:
        """Load a shared library that registers ops. OSError if that fails, RuntimeError if registering does."""
        load_library(path)

    @property
    def loaded_libraries(self) -> set[str]:
        """The paths of the libraries that were loaded."""
        return LOADED

    def __getattr__(self, name: str) -> Namespace:
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = self.__dict__[name] = Namespace(name)
        return namespace


for _class in (OpOverload, OpOverloadPacket):
    _class.__module__ = "torch._ops"

ops = Ops()
