"""What the C++ headers ask of the Python side, in one object.

A compiled program reaches Python through `current()` alone. `Backend` answers for a module that has PyTorch's
Python interface: the shim, or PyTorch itself (which the tests use to tell a fault of the headers from a fault
of the shim). What C++ has and Python's interface hides (overloads for numbers, the raw `is_leaf`,
key sets) is where the two differ; `ShimBackend` and `TorchBackend` say how each does it.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import math
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from ..core.error_texts import REQUIRES_GRAD_ON_INFERENCE
from ..core.function_table import AnyFunction
from .op_spellings import AnyTensor, BackwardChecks, OpSpellings, ScriptModuleQuestions

CPU, AUTOGRAD, AD_INPLACE_OR_VIEW = 1, 2, 4
"""The dispatch keys as the flags that the headers use."""


class Backend(OpSpellings, BackwardChecks, ScriptModuleQuestions):
    """Answers the headers for `module`, which has the names of the Python package `torch`."""

    def __init__(self, module: object, *, legacy_since19: bool = False) -> None:
        self.torch = module
        self.legacy_since19 = legacy_since19
        """True: `AutoNonVariableTypeMode` hides Autograd only, as from 1.9 on."""
        self.guard_table: Any = None
        """Where entered guards are counted (`recording.guard_table`), when they are."""

    # ---- guards that verification counts

    def enter_counted_guard(self, number: int) -> None:
        """A guard of this number has been entered."""
        if self.guard_table is not None:
            self.guard_table.enter(number)

    def leave_counted_guard(self, number: int) -> None:
        """The innermost guard of this number ends."""
        if self.guard_table is not None:
            self.guard_table.leave(number)

    # ---- ops

    def op(self, name: str) -> AnyFunction:
        """The callable behind the C++ method or function `name`.

        Raises NotImplementedError when the module has no such op.
        """
        return self._find(name, (self.torch.Tensor, self.torch))

    def _find(self, name: str, holders: Sequence[object]) -> AnyFunction:
        """The op in the first of the holders that has it, or in nn.functional: importing that takes a while."""
        if name.startswith("fft_"):  # C++ has no namespaces of functions
            return getattr(self.torch.fft, name.removeprefix("fft_"))
        for holder in (self, *holders):
            with contextlib.suppress(AttributeError, NotImplementedError):
                return getattr(holder, f"_op_{name}" if holder is self else name)
        with contextlib.suppress(AttributeError, NotImplementedError):
            return getattr(self.torch.nn.functional, name)
        raise NotImplementedError(f"the shim has no torch.{name}")

    def scalar_op(self, name: str) -> AnyFunction:
        """The overload of `name` whose second operand is a number that stays a number."""
        return self.op(name)

    def function(self, name: str) -> AnyFunction:
        """The module's function `name`: a method of that name may order its arguments otherwise, or take no `out`."""
        return self._find(name, (self.torch,))

    def out_form(self, name: str) -> AnyFunction:
        """The function `name` for a call with `out=`."""
        return self.function(name)

    def functional(self, name: str) -> AnyFunction:
        """The function `name` of nn.functional, which may take more than the op of that name."""
        return getattr(self.torch.nn.functional, name)

    def initializer(self, name: str) -> AnyFunction:
        """The function `name` of nn.init."""
        return getattr(self.torch.nn.init, name)

    def has_op(self, name: str, overload: str) -> bool:
        """Whether Python has the op `name` (as in "aten::mul"): PyTorch's own, or one that somebody registered."""
        namespace, _, op = name.partition("::")
        if namespace != "aten":
            return self._registered_op(name, overload) is not None
        try:
            self.op(op)
        except NotImplementedError:
            return False
        return True

    def _registered_op(self, name: str, overload: str) -> Any:
        namespace, _, op = name.partition("::")
        packet = getattr(getattr(self.torch.ops, namespace), op, None)
        return None if packet is None else getattr(packet, overload or "default", None)

    def call_op(self, name: str, overload: str, hidden: int | None, args: Sequence[object]) -> Any:
        """Calls an op that Python has; with the keys `hidden` out of sight when it is a redispatch."""
        namespace, _, op = name.partition("::")
        if namespace != "aten":
            found = self._registered_op(name, overload)
            if hidden is None:
                return found(*args)
            return found.redispatch((CPU | AUTOGRAD | AD_INPLACE_OR_VIEW) & ~hidden, *args)
        callable_ = self.scalar_op(op) if "Scalar" in overload else self.op(op)
        if hidden is None:
            return callable_(*args)
        guard = self.enter_guard("ExcludeDispatchKeyGuard", hidden)
        try:
            return callable_(*args)
        finally:
            self.leave_guard(guard)

    # ---- what a library registers

    def define_op(self, name: str, schema: str, place: str, called_from_python: Callable[[], None]) -> None:
        """`TORCH_LIBRARY` defined an op; `called_from_python` is for when Python registers a kernel for it."""
        raise NotImplementedError("only the shim has ops of C++ libraries in torch.ops")

    def implement_op(
        self, name: str, key: str, kernel: Callable[..., object] | None, called_from_python: Callable[[], None]
    ) -> None:
        """The op has a kernel for the key, `kernel(key set as flags, *arguments)`; None: calls go to the next key."""
        raise NotImplementedError("only the shim has ops of C++ libraries in torch.ops")

    def registration_failed(self, message: str) -> None:
        """A block that registers ops raised an error while its library was loaded."""
        raise NotImplementedError("only the shim has ops of C++ libraries in torch.ops")

    def define_class(self, namespace: str, name: str, doc: str) -> Any:
        """The Python class for a C++ class: `torch.classes.<namespace>.<name>`."""
        raise NotImplementedError("only the shim has C++ classes in torch.classes")

    def define_method(
        self, owner: object, kind: str, name: str, function: Callable[..., object], doc: str, names: list[str],
        defaults: list[object],
    ) -> None:  # fmt: skip
        """Gives the class a method of C++. `kind` is "constructor", "method", "static", "getter", …"""
        raise NotImplementedError("only the shim has C++ classes in torch.classes")

    def wrap_custom_object(self, owner: object, pointer: object) -> Any:
        """An object of the class around a C++ one."""
        raise NotImplementedError("only the shim has C++ classes in torch.classes")

    def unwrap_custom_object(self, value: object) -> object:
        """The C++ object in a Python one."""
        raise NotImplementedError("only the shim has C++ classes in torch.classes")

    def enter_op(self, name: str, key: str) -> None:
        """A kernel of an op that the program registered is about to run."""

    def leave_op(self, name: str, key: str, result: AnyTensor | None) -> None:
        """That kernel has returned."""

    def tracing(self, stream: TextIO) -> contextlib.AbstractContextManager[object]:
        """Inside, every op and every guard is written to `stream`."""
        raise NotImplementedError("only the shim can trace")

    # ---- attributes of a tensor

    def is_tensor(self, value: object) -> bool:
        return isinstance(value, self.torch.Tensor)

    def tensor_class(self) -> type:
        return self.torch.Tensor

    def is_a(self, value: object, kind: str) -> bool:
        """Whether `value` is a torch.`kind`: a dtype, a device, …"""
        return isinstance(value, getattr(self.torch, kind))

    def device(self, name: str) -> Any:
        return self.torch.device(name)

    def layout(self) -> Any:
        return self.torch.strided

    def memory_format(self, number: int) -> Any:
        """The memory format with this number in C++."""
        return getattr(
            self.torch, ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")[number]
        )

    def default_generator(self) -> Any:
        return self.torch.default_generator

    def random_bits(self, generator: Any, count: int) -> int:
        """The next 32 or 64 random bits of a generator."""
        engine = generator.engine
        return int((engine.words(1) if count == 32 else engine.long_words(1))[0])

    def take_normal_sample(self, generator: Any) -> float | None:
        """The second half of a pair of normal numbers that is left over, once."""
        kept: float | None = generator.engine.next_normal
        generator.engine.next_normal = None
        return kept

    def keep_normal_sample(self, generator: Any, sample: float | None) -> None:
        generator.engine.next_normal = sample

    def is_custom_object(self, value: object) -> bool:
        """Whether it is of a class that C++ registered."""
        return hasattr(value, "_pointer")

    def dtype(self, name: str) -> Any:
        return getattr(self.torch, name)

    def dtype_name(self, t: AnyTensor) -> str:
        return str(t.dtype).removeprefix("torch.")

    def default_dtype_name(self) -> str:
        return str(self.torch.get_default_dtype()).removeprefix("torch.")

    def sizes(self, t: AnyTensor) -> Sequence[int]:
        return tuple(t.shape)

    def strides(self, t: AnyTensor) -> Sequence[int]:
        return tuple(t.stride())

    def storage_offset(self, t: AnyTensor) -> int:
        return int(t.storage_offset())

    def storage(self, t: AnyTensor) -> Any:
        return t.untyped_storage()

    def storage_nbytes(self, t: AnyTensor) -> int:
        return int(t.untyped_storage().nbytes())

    def is_contiguous(self, t: AnyTensor) -> bool:
        return bool(t.is_contiguous())

    def is_alias_of(self, t: AnyTensor, other: AnyTensor) -> bool:
        return bool(t.untyped_storage().data_ptr() == other.untyped_storage().data_ptr())

    def data_ptr(self, t: AnyTensor) -> int:
        return int(t.data_ptr())

    def item(self, t: AnyTensor) -> Any:
        return t.item()

    def values(self, t: AnyTensor) -> list[float]:
        """All elements in order, for printing."""
        flat = self._plain(t).reshape(-1).tolist()
        return [x.real if isinstance(x, complex) else x for x in flat]

    def _plain(self, t: AnyTensor) -> AnyTensor:
        """`t` for reading alone: nothing is recorded, counted or traced."""
        with self.torch.no_grad():
            return t.detach()

    def requires_grad(self, t: AnyTensor) -> bool:
        return bool(t.requires_grad)

    def set_requires_grad(self, t: AnyTensor, requires_grad: bool) -> None:
        if requires_grad and not (t.is_floating_point() or t.is_complex()):  # C++ says it in other words than Python
            outside = t.is_inference() and not self.torch.is_inference_mode_enabled()
            words = "Only Tensors of floating point and complex dtype can require gradients"
            raise RuntimeError(REQUIRES_GRAD_ON_INFERENCE if outside else words)
        t.requires_grad_(requires_grad)  # what this refuses, the trace shows

    def is_leaf(self, t: AnyTensor) -> bool:
        return bool(t.is_leaf)

    def is_view(self, t: AnyTensor) -> bool:
        return bool(t._is_view())

    def is_inference(self, t: AnyTensor) -> bool:
        return bool(t.is_inference())

    def retains_grad(self, t: AnyTensor) -> bool:
        return bool(t.retains_grad)

    def output_nr(self, t: AnyTensor) -> int:
        return int(t.output_nr)

    def version(self, t: AnyTensor) -> int:
        return int(t._version)

    def bump_version(self, t: AnyTensor) -> None:
        raise NotImplementedError

    def count_writes(self, t: AnyTensor, count: int) -> None:
        """Count so many writes, as far as writes are counted at all."""
        if not t.is_inference() and not self.excluded() & AD_INPLACE_OR_VIEW:
            for _ in range(count):
                self.bump_version(t)

    def creation_meta(self, t: AnyTensor) -> int:
        raise NotImplementedError

    def key_set(self, t: AnyTensor) -> int:
        """The flags of the keys of `t`."""
        return CPU if t.is_inference() else CPU | AD_INPLACE_OR_VIEW | AUTOGRAD

    def base(self, t: AnyTensor) -> AnyTensor:
        return t._base

    def grad_fn(self, t: AnyTensor) -> Any:
        return t.grad_fn

    def grad(self, t: AnyTensor) -> AnyTensor | None:
        with warnings.catch_warnings():  # the headers give the warning, as PyTorch's C++ does
            warnings.simplefilter("ignore")
            return t.grad

    def set_grad(self, t: AnyTensor, grad: AnyTensor | None) -> None:
        t.grad = grad

    def data(self, t: AnyTensor) -> AnyTensor:
        return t.data

    def set_data(self, t: AnyTensor, data: AnyTensor) -> None:
        t.data = data

    def index(self, t: AnyTensor, indices: tuple[Any, ...]) -> AnyTensor:
        return t[indices[0] if len(indices) == 1 else indices]

    def index_put_(self, t: AnyTensor, indices: tuple[object, ...], values: object) -> None:
        t[indices[0] if len(indices) == 1 else indices] = values

    def node_name(self, node: Any) -> str:
        name = str(node.name())
        if name == "CopySlices":
            return "torch::autograd::CopySlices"
        if name.startswith("torch::autograd::CppNode<"):  # PyTorch's Python takes it for a Function of Python
            return name.removesuffix("Backward")
        return name

    def next_functions(self, node: Any) -> Any:
        return node.next_functions

    # ---- making tensors

    def _op_binary_cross_entropy(self, t: AnyTensor, target: AnyTensor, **options: object) -> AnyTensor:
        # The op leaves dimensions of size 1 aside; Python's function refuses other shapes.
        if target.shape != t.shape and target.squeeze().shape == t.squeeze().shape:
            target = target.reshape(t.shape)
        return self.torch.nn.functional.binary_cross_entropy(t, target, **options)

    def from_values(
        self, values: list[object], sizes: list[int], dtype: object, requires_grad: bool, filled: bool = False
    ) -> AnyTensor:
        """`values` in rows of `sizes`; numbers of Python's float become the default dtype when `dtype` is None.

        `filled` says that PyTorch writes the elements one by one, each of which its version counts.
        """
        rows: Any = values
        for size in reversed(sizes[1:]):
            rows = [rows[i * size : (i + 1) * size] for i in range(len(rows) // size)] if size else []
        if not sizes:
            rows = values[0]
        if 0 in sizes:
            return self.torch.zeros(sizes, dtype=dtype, requires_grad=requires_grad)
        made = self.torch.tensor(rows, dtype=dtype, requires_grad=requires_grad)
        if filled:
            self.count_writes(made, len(values))
        return made

    def from_blob(
        self, address: int, sizes: list[int], dtype: object, strides: list[int] | None = None, owner: object = None
    ) -> AnyTensor:
        """A tensor over memory; `owner` lives as long as a tensor over it."""
        import numpy

        # numpy itself has no bfloat16: the dtype of the module says what holds its elements.
        name = str(dtype).removeprefix("torch.")
        kind = numpy.dtype(getattr(dtype, "numpy", name))
        if strides is None:
            count = math.prod(sizes)
        else:
            count = 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True)) if math.prod(sizes) else 0
        memory: Any = (ctypes.c_char * (count * kind.itemsize)).from_address(address)
        memory._guardfix_owner = owner
        flat: Any = numpy.ndarray((count,), kind, memory)
        if strides is None:
            return self.torch.from_numpy(flat.reshape(sizes))
        return self.torch.from_numpy(flat).as_strided(sizes, strides)

    # ---- archives

    def archive_bytes(self, entries: dict[str, object]) -> bytes:
        """What `torch::save` writes: a dictionary of tensors, values and dictionaries."""
        file = io.BytesIO()
        self.torch.save(entries, file)
        return file.getvalue()

    def archive_entries(self, data: bytes) -> dict[str, object]:
        """What `archive_bytes` was given. Raises RuntimeError if `data` is something else."""
        entries = self.torch.load(io.BytesIO(data), weights_only=True)
        if not isinstance(entries, dict):
            raise RuntimeError("the archive was not written by torch::save")
        return entries

    # ---- thread state

    def is_grad_enabled(self) -> bool:
        return bool(self.torch.is_grad_enabled())

    def set_grad_enabled(self, enabled: bool) -> None:
        self.torch._C._set_grad_enabled(enabled)

    def is_inference_mode_enabled(self) -> bool:
        return bool(self.torch.is_inference_mode_enabled())

    def included(self) -> int:
        raise NotImplementedError

    def excluded(self) -> int:
        raise NotImplementedError

    def enter_guard(self, name: str, argument: object) -> Any:
        """Puts the C++ guard `name` in force; what comes back is for `leave_guard`."""
        raise NotImplementedError

    def leave_guard(self, guard: Any) -> None:
        guard.__exit__(None, None, None)

    # ---- autograd

    def backward(
        self,
        tensors: list[AnyTensor],
        grad_tensors: list[AnyTensor],
        retain_graph: bool | None,
        create_graph: bool,
        inputs: list[AnyTensor],
    ) -> None:
        self._expect_real(tensors, grad_tensors)
        self._expect_recorded(inputs, tensors)
        self.torch.autograd.backward(tensors, grad_tensors or None, retain_graph, create_graph, inputs=inputs or None)

    def gradients(
        self,
        outputs: list[AnyTensor],
        inputs: list[AnyTensor],
        grad_outputs: list[AnyTensor],
        retain_graph: bool | None,
        create_graph: bool,
        allow_unused: bool,
    ) -> Sequence[AnyTensor | None]:
        if not inputs:
            raise RuntimeError("grad requires non-empty inputs.")  # C++'s words
        self._expect_real(outputs, grad_outputs)
        self._expect_recorded(inputs, outputs)
        try:
            grads: Sequence[AnyTensor | None] = self.torch.autograd.grad(
                outputs,
                inputs,
                grad_outputs or None,
                retain_graph=retain_graph,
                create_graph=create_graph,
                allow_unused=allow_unused,
            )
        except RuntimeError as error:
            # torch/csrc/api/src/autograd.cpp has words of its own, a space too few included.
            unused = re.match(r"The differentiated Tensor at index (\d+) appears", str(error))
            if unused is None:
                raise
            message = f"element {unused[1]}of the differentiated Tensors appears{str(error)[unused.end() :]}"
            raise RuntimeError(message) from None
        return grads

    def custom_function(self, name: str, forward: AnyFunction, backward: AnyFunction) -> Any:
        """A Function class whose forward and backward are C++; `node`, their first argument, is opaque here."""

        def run_forward(ctx: Any, node: object, *inputs: AnyTensor) -> Any:
            ctx.native_node = node
            return forward(ctx, node)

        def run_backward(ctx: Any, *grads: AnyTensor) -> Any:
            return (None, *backward(ctx, ctx.native_node, grads))

        body = {"forward": staticmethod(run_forward), "backward": staticmethod(run_backward)}
        return type(name, (self.torch.autograd.Function,), body)

    def apply_function(self, function: Any, node: object, inputs: list[AnyTensor]) -> Sequence[AnyTensor]:
        outputs = function.apply(node, *inputs)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    def context_call(self, context: object, method: str, tensors: list[AnyTensor]) -> None:
        getattr(context, method)(*tensors)

    def saved_variables(self, context: Any) -> Sequence[AnyTensor]:
        saved: Sequence[AnyTensor] = context.saved_tensors
        return saved

    def set_materialize_grads(self, context: Any, value: bool) -> None:
        context.set_materialize_grads(value)

    def needs_input_grad(self, context: Any, index: int) -> bool:
        return bool(context.needs_input_grad[index + 1])  # the first input is the node
