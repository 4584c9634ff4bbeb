"""The layers that an op goes through: autograd kernel, in-place-or-view kernel, numpy kernel.

An op is a forward function on numpy arrays, derivatives written as formulas on tensors, and the line that
registers them with their kind:

    @op("mul", inplace=True, self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)
    def mul(self, other): ...

A formula's parameters say what it needs: `grad`, `result`, any parameter of the op, or `self_shape` for the
shape of `self`. From them follows what is saved for backward and when: what one formula alone needs is saved
only if that formula's input requires grad, as PyTorch's generated code does.

Which layers run is decided by key sets alone: the union of the arguments' keys and the thread's included
keys, less its excluded keys. Ops know nothing of guards.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from guardfix.runtime_shim import dtypes, errors
from guardfix.runtime_shim._tensor import (
    Tensor,
    allocate,
    history,
    new_tensor,
    requires_grad,
)
from guardfix.runtime_shim.autograd.node import (
    Edge,
    Saved,
    SavedNumber,
    accumulator_of,
    check_inplace,
    gradient_edge,
    rebase_history,
    reshape_history,
    set_history,
)
from guardfix.runtime_shim.dtypes import Array
from guardfix.runtime_shim.operation import FUNCTIONS, OPS, Op, OpNode
from guardfix.runtime_shim.overlap import assert_no_overlap, may_share
from guardfix.runtime_shim.state import (
    ADINPLACEORVIEW,
    AUTOGRAD,
    INFERENCE_KEYS,
    NORMAL_KEYS,
    ThreadState,
    tls,
)

ndarray = np.ndarray
asarray = np.asarray

# How often the layers did what inference mode is to save; tests assert on these, not on time.
COUNTS = {"version_bumps": 0, "view_records": 0}


# -- registration
# -----------------------------------------------------------------------------------------------


def op(
    name: str,
    /,
    *,
    node: str | None = None,
    inplace: bool = False,
    method: bool = True,
    function: bool = True,
    tensor_params: tuple[str, ...] | None = None,
    leak: int | Callable[..., int] = 0,
    refuses: str | None = None,
    below: Callable[..., Any] | None = None,
    wraps: bool = False,
    outputs: Callable[..., Any] | None = None,
    nondifferentiable: tuple[int, ...] = (),
    title: str | None = None,
    **derivatives: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a functional op whose kernel takes and returns numpy arrays.

    `tensor_params` names the parameters that may be tensors or lists of tensors (default: those with
    derivatives, or
    `self`). `inplace` also makes `name_`. `leak`, `refuses` and `below` say what shows of PyTorch's kernel
    where
    no autograd kernel wraps it: versions left on the result, the out= form that refuses, the ops it is made
    of.
    """

    def register(kernel: Callable[..., Any]) -> Callable[..., Any]:
        made = Op(name, kernel, node, derivatives)
        names = tensor_params if tensor_params is not None else tuple(derivatives) or ("self",)
        made.tensor_positions = tuple(made.index[n] for n in names)
        if made.public and not wraps and name not in _TAKE_NUMBERS:
            made.only_tensors = tuple(made.index[n] for n in names if n not in _NUMBER_PARAMS)
        made.leak, made.refuses, made.below, made.wraps = leak, refuses, below, wraps
        made.outputs, made.nondifferentiable = outputs, nondifferentiable
        made.public, made.title = function or method or title is not None, title or name
        OPS[name] = made
        call = _generic(made)
        publish(name, call, method, function)
        if inplace:
            call.inplace = _generic_inplace(made)  # type: ignore[attr-defined]
            publish(name + "_", call.inplace, method, function)  # type: ignore[attr-defined]
        return call

    return register


_TAKE_NUMBERS = ("rsub", "rsub_tensor", "pow_base", "pow_scalar", "clamp", "clamp_tensor", "div_mode")
#: Parameters of ops at which a Python number may stand for a tensor.
_NUMBER_PARAMS = ("value", "weight", "exponent", "src", "min", "max", "values", "indices", "tensors")


def publish(name: str, call: Callable[..., Any], method: bool = True, function: bool = True) -> None:
    """Make `call` available as `torch.<name>` and as a method of Tensor."""
    if function:
        FUNCTIONS[name] = _form(call, name, "torch")
    if method:
        setattr(Tensor, name, _form(call, name, "Tensor"))


def _form(call: Callable[..., Any], name: str, owner: str) -> Callable[..., Any]:
    """`call` as a function, whose first parameter is called `input`, or as a method.

    Both run the same code at the same speed; its name tells errors how the op was called.
    """
    code = call.__code__
    renamed: dict[str, Any] = {}
    if owner == "torch" and code.co_argcount and code.co_varnames[0] == "self":
        for field in ("co_varnames", "co_cellvars"):
            renamed[field] = tuple("input" if v == "self" else v for v in getattr(code, field))
    code = code.replace(co_name=name, co_qualname=f"{owner}.{name}", **renamed)
    made = FunctionType(code, call.__globals__, name, call.__defaults__, call.__closure__)
    made.__kwdefaults__ = call.__kwdefaults__
    made.__doc__, made.__module__, made.__qualname__ = call.__doc__, call.__module__, name
    made.__dict__.update(call.__dict__)
    return made


def attach(name: str, value: Any) -> None:
    """Give Tensor an attribute, method or operator."""
    setattr(Tensor, name, value)


def composite(
    name: str | None = None, *, method: bool = True, function: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Publish a function made of other ops; it passes no layer of its own."""

    def register(call: Callable[..., Any]) -> Callable[..., Any]:
        publish(name or call.__name__, call, method, function)
        return call

    return register


def _generic(op: Op) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None) if kwargs else None
        bound = op.bind(args, kwargs) if kwargs or len(args) != len(op.params) else args
        if out is not None:
            return run_out(op, bound, out)
        return functional(op, tls.state, bound)

    call.op = op  # type: ignore[attr-defined]
    return call


def _generic_inplace(op: Op) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        bound = op.bind(args, kwargs) if kwargs or len(args) != len(op.params) else args
        return inplace(op, tls.state, bound)

    call.op = op  # type: ignore[attr-defined]
    return call


# -- functional ops
# ---------------------------------------------------------------------------------------------


def arguments_of(op: Op, args: tuple[Any, ...]) -> tuple[list[Tensor], int]:
    """The tensors among the arguments, and the union of their keys."""
    found: list[Tensor] = []
    keys = 0
    for i in op.tensor_positions:
        value = args[i]
        if isinstance(value, Tensor):
            if op.params[i] == "tensors":
                _not_a_tensor(op, args, i)
            found.append(value)
            keys |= value._keys
        elif type(value) in (list, tuple):
            if op.params[i] not in _LIST_PARAMS:
                _not_a_tensor(op, args, i)
            for nr, v in enumerate(value):
                if isinstance(v, Tensor):
                    found.append(v)
                    keys |= v._keys
                elif op.params[i] == "tensors":
                    raise TypeError(f"expected Tensor as element {nr} in argument 0, but got {type(v).__name__}")
        elif value is None and (i in op.optional or not op.public):
            continue
        elif not isinstance(value, _NUMBERS) or i in op.only_tensors:
            _not_a_tensor(op, args, i)
        elif op.wraps and tls.state.wrap_scalars and not tls.state.inference_mode:
            keys |= NORMAL_KEYS
    if not found:
        _not_a_tensor(op, args)
    return found, keys


#: Parameters of ops that are lists of tensors.
_LIST_PARAMS = ("tensors", "indices")
_NUMBERS = (int, float, complex, np.generic)
_EMPTY_LIST = {
    "cat": (ValueError, "torch.cat(): expected a non-empty list of Tensors"),
    "stack": (RuntimeError, "stack expects a non-empty TensorList"),
}


def _not_a_tensor(op: Op, args: tuple[Any, ...], position: int | None = None) -> None:
    from guardfix.runtime_shim.arguments import wrong_type

    if position is None:
        position = op.tensor_positions[0]
    value = args[position]
    if type(value) in (list, tuple) and not value and op.name in _EMPTY_LIST:
        kind, message = _EMPTY_LIST[op.name]
        raise kind(message)
    wanted = "tuple of Tensors" if op.params[position] == "tensors" else "Tensor"
    raise wrong_type(op.title, op.params[position], position + 1, value, wanted)


def arrays(args: tuple[Any, ...]) -> list[Any]:
    """The arguments as kernels take them."""
    return [
        a._array
        if isinstance(a, Tensor)
        else [v._array if isinstance(v, Tensor) else v for v in a]
        if type(a) in (list, tuple)
        else a
        for a in args
    ]


def functional(op: Op, state: ThreadState, args: tuple[Any, ...]) -> Any:
    """Run a functional op through the layers."""
    first = args[0]
    if op.tensor_positions == (0,) and isinstance(first, Tensor) and op.params[0] != "tensors":
        tensors, keys = [first], first._keys
    else:
        tensors, keys = arguments_of(op, args)
    keys = (keys | state.included) & ~state.excluded
    if keys & AUTOGRAD:
        if state.grad_mode and op.differentiable:
            for t in tensors:
                if t._meta is not None and requires_grad(t):
                    result = _record(op, state, args)
                    if state.tracer is not None:
                        state.tracer.record(op.name, keys, result)
                    return result
    elif keys & ADINPLACEORVIEW and (op.leak or op.refuses or op.below):
        result = _run_unwrapped(op, state, args, tensors)
        if state.tracer is not None:
            state.tracer.record(op.name, keys, result)
        return result
    result = op.kernel(*arrays(args))
    if type(result) is tuple:
        assert op.outputs is not None
        result = op.outputs([new_tensor(r) for r in result])
    else:
        if type(result) is not ndarray:
            result = asarray(result)
        t = allocate(Tensor)
        t._array = result
        t._storage = [0, result]
        t._meta = None
        if state.inference_mode:
            t._keys = INFERENCE_KEYS
            t._version_counter = None
        else:
            t._keys = NORMAL_KEYS
            t._version_counter = [0]
        result = t
    if state.tracer is not None:
        state.tracer.record(op.name, keys, result)
    return result


def _run_unwrapped(op: Op, state: ThreadState, args: tuple[Any, ...], tensors: list[Tensor]) -> Any:
    """No autograd kernel wraps the op, so what its kernel does to fresh tensors shows on the result.

    PyTorch's kernels are in part made of in-place and view ops, whose marks (a version above 0, a view) stay.
    This happens for inference tensors outside inference mode, and below autograd.
    """
    if op.refuses and not state.excluded & AUTOGRAD and state.grad_mode and any(requires_grad(t) for t in tensors):
        if op.refuses == "saved":
            raise RuntimeError(errors.SAVED_INFERENCE)
        raise errors.out_requires_grad(op.refuses)
    if op.below is not None:
        return op.below(*args)
    found = op.kernel(*arrays(args))
    leak = op.leak if isinstance(op.leak, int) else op.leak(*args)
    made = [new_tensor(r) for r in (found if type(found) is tuple else (found,))]
    for t in made:
        if t._version_counter is not None:
            t._version_counter[0] += leak
    if type(found) is tuple:
        assert op.outputs is not None
        return op.outputs(made)
    return made[0]


def recorded_node(op: Op, args: tuple[Any, ...], original: Tensor | None = None) -> tuple[OpNode, list[Edge | None]]:
    """The node of an op about to run, its inputs saved. `original` stands for self if self will be written
    to.
    """
    tracer = tls.state.tracer
    if tracer is not None:
        tracer.reads(op.name, args)
    edges: list[Edge | None] = []
    saved: dict[Any, Any] = {}
    for i in op.differentiable:
        value = args[i]
        if isinstance(value, Tensor):
            meta = value._meta
            if meta is None:
                edges.append(None)
            elif meta.base is not None:
                edges.append(gradient_edge(value))
            elif meta.grad_fn is not None:
                edges.append((meta.grad_fn, meta.output_nr))
            else:
                edges.append((accumulator_of(value), 0) if meta.requires_grad else None)
        elif type(value) in (list, tuple):
            edges.extend(gradient_edge(v) if isinstance(v, Tensor) else None for v in value)
            saved["list", i] = len(value)
        else:
            edges.append(None)
    node = op.make_node(edges, saved)
    for name, i, guard in op.saved_inputs:
        if guard < 0 or edges[guard] is not None:
            value = args[i]
            if isinstance(value, Tensor):
                if i == 0 and original is not None:
                    value = original.clone()
                saved[name] = Saved(value)
            elif type(value) in (list, tuple) and any(isinstance(v, Tensor) for v in value):
                saved[name] = [Saved(v) if isinstance(v, Tensor) else v for v in value]
            elif op.wraps and i in op.tensor_positions:
                saved[name] = SavedNumber(value)
            else:
                saved[name] = value
        else:
            saved[name] = None
    for name, i in op.saved_shapes:
        value = args[i]
        if type(value) in (list, tuple):
            saved[name] = [v._array.shape for v in value]
        else:
            saved[name] = value._array.shape if isinstance(value, Tensor) else ()
    for name, i in op.saved_strides:
        saved[name] = args[i].stride()
    return node, edges


def _record(op: Op, state: ThreadState, args: tuple[Any, ...]) -> Any:
    """The autograd kernel of a functional op some input of which requires grad."""
    node, edges = recorded_node(op, args)
    found = op.kernel(*arrays(args))
    if type(found) is tuple:
        assert op.outputs is not None
        results = [new_tensor(r) for r in found]
        for nr, t in enumerate(results):
            if nr not in op.nondifferentiable and t._array.dtype.kind in "fc":
                set_history(t, node, nr)
            else:
                node.outputs.append((t._array.shape, t._array.dtype))
        if op.saves_result != -2:
            # Where there are indices, they are what the gradient needs; values may be written to.
            node.saved["result"] = [
                Saved(t) if nr in op.nondifferentiable else None if op.nondifferentiable else Saved(t, True)
                for nr, t in enumerate(results)
            ]
        return op.outputs(results)
    if type(found) is not ndarray:
        found = asarray(found)
    t = allocate(Tensor)
    t._array = found
    t._storage = [0, found]
    if state.inference_mode:
        t._keys = INFERENCE_KEYS
        t._version_counter = None
    else:
        t._keys = NORMAL_KEYS
        t._version_counter = [0]
    t._meta = None
    if found.dtype.kind in "fc":
        t._meta = history(node)
        node.outputs.append((found.shape, found.dtype))
        if op.saves_result != -2:
            guard = op.saves_result
            node.saved["result"] = Saved(t, True) if guard < 0 or edges[guard] is not None else None
    return t


# -- in-place ops
# -----------------------------------------------------------------------------------------------


def bump(t: Tensor, state: ThreadState) -> None:
    """Count a write on `t`; RuntimeError on an inference tensor outside inference mode, after the write."""
    counter = t._version_counter
    if counter is not None:
        counter[0] += 1
        COUNTS["version_bumps"] += 1
    elif not state.inference_mode:
        raise RuntimeError(errors.INPLACE_ON_INFERENCE)


def inplace(op: Op, state: ThreadState, args: tuple[Any, ...]) -> Tensor:
    """Run the in-place form of an op through the layers; `args[0]` is written to and returned."""
    self = args[0]
    if not isinstance(self, Tensor):
        _not_a_tensor(op, args)
    tensors, keys = arguments_of(op, args)
    forms = op.recorded_in_place
    recorded = op if forms is None else forms[isinstance(args[1], Tensor)]
    return write(recorded, state, self, args, tensors, keys, lambda: run_inplace_kernel(op, self, args))


def write(
    op: Op,
    state: ThreadState,
    self: Tensor,
    args: tuple[Any, ...],
    tensors: list[Tensor],
    keys: int,
    kernel: Callable[[], None],
) -> Tensor:
    """The layers of an in-place op around `kernel`, which writes to `self`."""
    keys = (keys | state.included) & ~state.excluded
    node: OpNode | None = None
    # Logic has no gradient at all: PyTorch does not even look whether its target requires one.
    recorded = (op.rebases_integers or self._array.dtype.kind in "fc") and not op.name.startswith("logical_")
    if keys & AUTOGRAD and recorded and state.grad_mode and any(requires_grad(t) for t in tensors):
        check_inplace(self)
        if op.differentiable:
            node, edges = recorded_node(op, args, self)
            kernel()
        else:
            kernel()
    else:
        kernel()
    self._storage[0] += 1
    if keys & ADINPLACEORVIEW:
        bump(self, state)
    if node is not None:
        if op.reshapes:
            reshape_history(self, node)
        else:
            rebase_history(self, node)
        if op.saves_result != -2:
            guard = op.saves_result
            node.saved["result"] = Saved(self, True) if guard < 0 or edges[guard] is not None else None
    if state.tracer is not None:
        state.tracer.record(op.name + "_", keys, self)
    return self


def run_inplace_kernel(op: Op, self: Tensor, args: tuple[Any, ...]) -> None:
    target = self._array
    if op.checks_overlap:
        assert_no_overlap(self, args)
    if op.stands_apart and any(isinstance(a, Tensor) and may_share(self, a) for a in args[1:]):
        raise RuntimeError(errors.PARTIAL_OVERLAP)
    if op.inplace_kernel is not None:
        op.inplace_kernel(*arrays(args))
        return
    found = asarray(op.kernel(*arrays(args)))
    store(target, found)


def store(target: Array, found: Array) -> None:
    """Write a result into an existing array, with PyTorch's checks of shape and dtype."""
    if found.shape != target.shape:
        shape = dtypes.broadcast_shapes(target.shape, found.shape)
        if shape != target.shape:
            raise RuntimeError(
                f"output with shape {dtypes.sizes(target.shape)} doesn't match the broadcast shape "
                f"{dtypes.sizes(shape)}"
            )
    if not dtypes.can_cast(found.dtype, target.dtype):
        raise dtypes.cast_error(found.dtype, target.dtype)
    np.copyto(target, found, casting="unsafe")


# -- out=
# -------------------------------------------------------------------------------------------------------


def run_out(op: Op, args: tuple[Any, ...], out: Tensor) -> Tensor:
    """Run an op into an existing tensor, resizing it if need be."""
    state = tls.state
    if not isinstance(out, Tensor):
        raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    tensors, keys = arguments_of(op, args)
    keys = (keys | out._keys | state.included) & ~state.excluded
    if keys & AUTOGRAD and state.grad_mode and op.differentiable and any(requires_grad(t) for t in [*tensors, out]):
        raise errors.out_requires_grad(op.title)
    found = asarray(op.kernel(*arrays(args)))
    if op.check_out is not None:
        op.check_out(found.dtype, out._array.dtype)
    elif op.keeps_dtype and found.dtype != out._array.dtype:
        wanted, given = dtypes.of(found), out.dtype
        raise RuntimeError(f"Found dtype {given.scalar_name} but expected {wanted.scalar_name}")
    if op.check_out is None and not dtypes.can_cast(found.dtype, out._array.dtype):
        raise dtypes.cast_error(found.dtype, out._array.dtype)
    if op.elementwise:
        if op.checks_overlap:
            assert_no_overlap(out, (out, *args))
        resize_output(out, found.shape)
    else:
        shared = op.stands_apart and any(may_share(t, out) for t in tensors)
        if op.params[0] == "tensors" or not shared:
            resize_output(out, found.shape)
            assert_no_overlap(out, ())
        if shared:
            raise RuntimeError(errors.PARTIAL_OVERLAP)
    np.copyto(out._array, found, casting="unsafe")
    out._storage[0] += 1
    if keys & ADINPLACEORVIEW:
        bump(out, state)
    if state.tracer is not None:
        state.tracer.record(op.name, keys, out)
    return out


def resize_output(out: Tensor, shape: tuple[int, ...], *, warn: bool = True) -> None:
    """Give `out` the shape of a result, in a new storage if it has another; counts as no write."""
    if out._array.shape == shape:
        return
    if out._array.size and warn:
        import warnings

        warnings.warn(
            "An output with one or more elements was resized since it had shape "
            f"{dtypes.sizes(out._array.shape)}, "
            f"which does not match the required output shape {dtypes.sizes(shape)}. This behavior is "
            "deprecated, and "
            "in a future PyTorch release outputs will not be resized unless they have zero elements. You can "
            "explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
            UserWarning,
            stacklevel=4,
        )
    resize_storage(out, shape)


def resize_storage(t: Tensor, shape: tuple[int, ...]) -> None:
    """Give `t` a contiguous shape over its own storage, from where it starts; a storage too small grows."""
    root = t._storage[1]
    count = int(np.prod(shape, dtype=np.int64))
    offset = t.storage_offset()
    if root.dtype == t._array.dtype and root.flags.c_contiguous and root.size >= offset + count:
        t._array = root.reshape(-1)[offset : offset + count].reshape(shape)
        return
    grown = np.zeros(offset + count, t._array.dtype)
    if root.dtype == t._array.dtype:
        flat = root.reshape(-1)[: offset + count]
        grown[: flat.size] = flat
    t._storage = [t._storage[0], grown]  # aliases stay with the memory that they have
    t._array = grown[offset:].reshape(shape)
