"""The layers of ops that write: in place, and to `out=`; whether memory overlaps, and how often writes were counted."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ..core import dtypes, error_texts
from ..core.dtypes import Array
from ..core.error_texts import wrong_type
from ..core.function_table import AnyFunction, out_type
from ..core.memory_layout import byte_range, non_overlapping_and_dense, same_memory
from ..core.tensor import Tensor, address, new_tensor, requires_grad
from ..core.thread_state import ADINPLACEORVIEW, AUTOGRAD, ThreadState, tls
from ..tape.history import check_inplace, rebase_history, reshape_history
from ..tape.saved_tensors import Saved
from .functional_layers import recorded_node
from .op_description import Op, OutRule
from .op_node import OpNode, _not_a_tensor, arguments_of, arrays

COUNTS = {"version_bumps": 0, "view_records": 0}


def assert_no_overlap(self: Tensor, args: tuple[object, ...]) -> None:
    """Refuse to write where elements share memory with each other or, partly, with an input."""
    array = self._array
    if not array.size:
        return
    if 0 in array.strides and any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)):
        raise RuntimeError(error_texts.WRITE_OVERLAP)
    for other in args[1:]:
        if isinstance(other, Tensor) and other._storage is self._storage and other._array is not array:
            if not (array.size and other._array.size and non_overlapping_and_dense(self)):
                continue
            if not non_overlapping_and_dense(other):
                continue
            mine, theirs = byte_range(self), byte_range(other)
            if mine == theirs and same_memory(self, other) and self._array.strides == other._array.strides:
                continue
            if mine[0] < theirs[1] and theirs[0] < mine[1]:
                raise RuntimeError(error_texts.PARTIAL_OVERLAP)


def may_share(a: Tensor, b: Tensor) -> bool:
    """Whether they are one tensor, or dense ones that overlap in memory, wholly or in part."""
    if a is b:
        return True
    if a._storage is not b._storage or not (a._array.size and b._array.size):
        return False
    if not (non_overlapping_and_dense(a) and non_overlapping_and_dense(b)):
        return False
    mine, theirs = byte_range(a), byte_range(b)
    return mine[0] < theirs[1] and theirs[0] < mine[1]


def resize_storage(t: Tensor, shape: tuple[int, ...]) -> None:
    """Give `t` a contiguous shape over its own storage, from where it starts; a storage too small grows."""
    root = t._storage[1]
    count = int(np.prod(shape, dtype=np.int64))
    offset = t.storage_offset()
    if root.dtype == t._array.dtype and root.flags.c_contiguous and root.size >= offset + count:
        t._array = root.reshape(-1)[offset : offset + count].reshape(shape)
        return
    if not root.flags.forc:  # not memory of its own, as what is expanded
        grown = np.zeros(offset + count, t._array.dtype)
        if root.dtype == t._array.dtype:
            flat = root.reshape(-1)[: offset + count]
            grown[: flat.size] = flat
        t._storage = [t._storage[0], grown]
        t._array = grown[offset:].reshape(shape)
        return
    shared = _references(t) > _ALONE
    memory = _grow(t._storage, (offset + count) * t._array.itemsize, shared)
    t._array = np.ndarray(shape, t._array.dtype, memory, offset * t._array.itemsize)


def _grow(record: list[Any], nbytes: int, shared: bool) -> Array:
    """Move a storage to memory of at least so many bytes, and the tensors that share it as well; the bytes."""
    root = record[1]
    grown = np.zeros(max(root.size, -(-nbytes // root.itemsize)), root.dtype)
    grown[: root.size] = root.ravel(order="K")
    memory = grown.view(np.uint8)
    if shared:  # to find the others takes milliseconds
        start = address(root)
        for other in gc.get_referrers(record):
            if isinstance(other, Tensor) and other._storage is record:
                old = other._array
                array = np.ndarray(old.shape, old.dtype, memory, address(old) - start, old.strides)
                other._array = array if type(old) is np.ndarray else array.view(type(old))
    record[1] = grown
    return memory


def _references(t: Tensor) -> int:
    """References to the storage of `t`, counted always in the same way."""
    return sys.getrefcount(t._storage)


_ALONE = _references(new_tensor(np.zeros(1)))


def bump(t: Tensor, state: ThreadState) -> None:
    """Count a write on `t`; RuntimeError on an inference tensor outside inference mode, after the write."""
    counter = t._version_counter
    if counter is not None:
        counter[0] += 1
        COUNTS["version_bumps"] += 1
    elif not state.inference_mode:
        raise RuntimeError(error_texts.INPLACE_ON_INFERENCE)


def inplace(op: Op, state: ThreadState, args: tuple[Any, ...]) -> Tensor:
    """Run the in-place form of an op through the layers; `args[0]` is written to and returned."""
    self = args[0]
    if not isinstance(self, Tensor):
        _not_a_tensor(op, args)
    tensors, keys = arguments_of(op, args)
    forms = op.recorded_in_place
    recorded = op if forms is None else forms[isinstance(args[-1], Tensor)]
    return write_through_layers(recorded, state, self, args, tensors, keys, lambda: run_inplace_kernel(op, self, args))


def write_through_layers(
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
    if state.before_write is not None:
        state.before_write(self)
    node: OpNode | None = None
    # Logic has no gradient at all: PyTorch does not even look whether its target requires one.
    recorded = (op.rebases_integers or self._array.dtype.kind in "fcV") and not op.name.startswith("logical_")
    if keys & AUTOGRAD and recorded and state.grad_mode and any(requires_grad(t) for t in tensors):
        check_inplace(self)
        if op.differentiable:
            node, _ = recorded_node(op, args, self)
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
        if op.saves_result:
            node.saved["result"] = Saved(self, True)
    if state.tracer is not None:
        state.tracer.record(op.name + "_", keys, self)
    return self


def run_inplace_kernel(op: Op, self: Tensor, args: tuple[Any, ...]) -> None:
    target = self._array
    if op.checks_overlap:
        assert_no_overlap(self, args)
    if op.out.apart and any(isinstance(a, Tensor) and may_share(self, a) for a in args[1:]):
        raise RuntimeError(error_texts.PARTIAL_OVERLAP)
    if op.inplace_kernel is not None:
        op.inplace_kernel(*arrays(args))
        return
    found = np.asarray(op.kernel(*arrays(args)))
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


#: The functions that take a Python number for any of their tensors (torch/csrc/utils/python_arg_parser.cpp).
_NUMBERS_WILL_DO = frozenset({"add", "sub", "mul", "div", "floor_divide"})


def run_out(op: Op, args: tuple[object, ...], out: Tensor) -> Tensor:
    """Run an op into an existing tensor, resizing it if need be."""
    state = tls.state
    if op.title in _NUMBERS_WILL_DO and isinstance(out, bool | int | float | complex):
        out = new_tensor(np.array(out))
    if not isinstance(out, Tensor):
        raise TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    tensors, keys = arguments_of(op, args)
    keys = (keys | out._keys | state.included) & ~state.excluded
    if keys & AUTOGRAD and state.grad_mode and op.differentiable and any(requires_grad(t) for t in [*tensors, out]):
        raise error_texts.out_requires_grad(op.title)
    if "dtype" in op.params:
        _check_asked_dtype(args[op.params.index("dtype")], out)
    rule = op.out
    if not rule.resized_first and op.checks_overlap:
        assert_no_overlap(out, (out, *args))
    if rule.computed_in and args[-1] is None:
        args = (*args[:-1], out.dtype)
    found = np.asarray(op.kernel(*arrays(args)))
    rule.dtype(op.title, found.dtype, out._array.dtype)
    if not rule.resized_first:
        resize_output(out, found.shape)
    else:
        shared = rule.apart and any(may_share(t, out) for t in tensors)
        if op.lists or not shared:
            resize_output(out, found.shape)
        assert_no_overlap(out, ())
        if shared:
            raise RuntimeError(error_texts.PARTIAL_OVERLAP)
    if state.before_write is not None:
        state.before_write(out)
    np.copyto(out._array, found, casting="unsafe")
    out._storage[0] += 1
    if keys & ADINPLACEORVIEW:
        bump(out, state)
    if state.tracer is not None:
        state.tracer.record(op.name, keys, out)
    return out


def _check_asked_dtype(asked: object, out: Tensor) -> None:
    """RuntimeError if `dtype=` says something else than `out` has."""
    if isinstance(asked, dtypes.dtype) and asked is not out.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {asked.short}, but got {out.dtype.short} instead")


def resize_output(out: Tensor, shape: tuple[int, ...], *, warn: bool = True) -> None:
    """Give `out` the shape of a result, in a new storage if it has another; counts as no write."""
    if out._array.shape == shape:
        return
    if out._array.size and warn:
        import warnings

        warnings.warn(
            f"An output with one or more elements was resized since it had shape {dtypes.sizes(out._array.shape)}, "
            f"which does not match the required output shape {dtypes.sizes(shape)}. This behavior is deprecated, and "
            "in a future PyTorch release outputs will not be resized unless they have zero elements. You can "
            "explicitly reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
            UserWarning,
            stacklevel=4,
        )
    resize_storage(out, shape)


def with_out(
    call: AnyFunction,
    name: str,
    rule: OutRule | tuple[OutRule, ...],
    computed_in_out: Callable[..., bool] | None = None,
) -> AnyFunction:
    """`call`, made of other ops or with several results, with an `out=`: one for each result, by one rule or each by
    its own.

    What it computes is written as `run_out` does for an op. Where `computed_in_out` of its arguments holds, it is
    computed in the dtype of `out`.
    """

    @wraps(call)
    def function(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is None:
            return call(*args, **kwargs)
        state = tls.state
        targets = out if isinstance(out, (tuple, list)) else (out,)
        if state.grad_mode and not state.excluded & AUTOGRAD:
            given = (*args, *kwargs.values(), *targets)
            if any(isinstance(a, Tensor) and requires_grad(a) for a in given):
                raise error_texts.out_requires_grad(name)
        if type(rule) is tuple and isinstance(out, Tensor):
            raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not Tensor")
        if computed_in_out is not None and isinstance(out, Tensor):
            _check_asked_dtype(kwargs.get("dtype"), out)
        if computed_in_out is not None and computed_in_out(*args):
            kwargs.setdefault("dtype", out.dtype)
        grad_mode, state.grad_mode = state.grad_mode, False
        try:
            found = call(*args, **kwargs)
        finally:
            state.grad_mode = grad_mode
        if isinstance(found, Tensor):
            assert type(rule) is OutRule
            return _write_result(found, out, name, rule)
        if len(targets) != len(found):
            raise TypeError(f"expected tuple of {len(found)} elements but got {len(targets)}")
        rules = rule if isinstance(rule, tuple) else (rule,) * len(found)
        written = [_write_result(f, target, name, r) for f, target, r in zip(found, targets, rules, strict=True)]
        return tuple(written) if type(found) is tuple else out_type(type(found))(*written)

    return function


def _write_result(found: Tensor, out: object, name: str, rule: OutRule) -> Tensor:
    if not isinstance(out, Tensor):
        raise wrong_type(name, "out", 0, out)
    rule.dtype(name, found._array.dtype, out._array.dtype)
    resize_output(out, found._array.shape)
    assert_no_overlap(out, ())
    state = tls.state
    if state.before_write is not None:
        state.before_write(out)
    np.copyto(out._array, found._array, casting="unsafe")
    out._storage[0] += 1
    if (out._keys | state.included) & ~state.excluded & ADINPLACEORVIEW:
        bump(out, state)
    return out
