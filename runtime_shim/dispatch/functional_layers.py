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

from itertools import repeat
from typing import Any

import numpy as np

from ..core import error_texts
from ..core.tensor import Tensor, history, new_tensor, requires_grad
from ..core.thread_state import ADINPLACEORVIEW, AUTOGRAD, ThreadState, tls
from ..tape.history import gradient_edge, set_history
from ..tape.nodes import Edge, accumulator_of
from ..tape.saved_tensors import Saved, SavedNumber
from .op_description import Op
from .op_node import OpNode, arguments_of, arrays, make_node

asarray, asanyarray = np.asarray, np.asanyarray


def functional(op: Op, state: ThreadState, args: tuple[object, ...]) -> Any:
    """Run a functional op through the layers."""
    first = args[0]
    if op.one_tensor and isinstance(first, Tensor):
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
    elif op.special_when_unwrapped and keys & ADINPLACEORVIEW:
        result = _run_unwrapped(op, state, args, tensors)
        if state.tracer is not None:
            state.tracer.record(op.name, keys, result)
        return result
    result = op.kernel(*arrays(args))
    if type(result) is tuple:
        assert op.outputs is not None
        result = op.outputs([new_tensor(r) for r in result])
    else:
        result = new_tensor(result)
    if state.tracer is not None:
        state.tracer.record(op.name, keys, result)
    return result


def _run_unwrapped(op: Op, state: ThreadState, args: tuple[object, ...], tensors: list[Tensor]) -> Any:
    """No autograd kernel wraps the op, so what its kernel does to fresh tensors shows on the result.

    PyTorch's kernels are in part made of in-place and view ops, whose marks (a version above 0, a view) stay.
    This happens for inference tensors outside inference mode, and below autograd.
    """
    if op.refuses and not state.excluded & AUTOGRAD and state.grad_mode and any(requires_grad(t) for t in tensors):
        refuses = op.refuses if isinstance(op.refuses, str) else op.refuses(*args)
        if refuses == "saved":
            raise RuntimeError(error_texts.SAVED_INFERENCE)
        if refuses is not None:
            raise error_texts.out_requires_grad(refuses)
    if op.below is not None:
        return op.below(*args)
    found = op.kernel(*arrays(args))
    leak = op.leak if isinstance(op.leak, int) else op.leak(*args)
    made = [new_tensor(r) for r in (found if type(found) is tuple else (found,))]
    for t, writes in zip(made, repeat(leak) if isinstance(leak, int) else leak, strict=False):
        if t._version_counter is not None:
            t._version_counter[0] += writes
    if type(found) is tuple:
        assert op.outputs is not None
        return op.outputs(made)
    return made[0]


def recorded_node(op: Op, args: tuple[Any, ...], original: Tensor | None = None) -> tuple[OpNode, list[Edge | None]]:
    """The node of an op about to run, its inputs saved. `original` stands for self if self will be written to."""
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
    node = make_node(op, edges, saved)
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


def _in_order_of_names(op: Op, count: int) -> list[int]:
    """The places of several results as PyTorch saves them, by their names if they have some."""
    fields = getattr(getattr(op.outputs, "__self__", None), "_fields", None)
    return sorted(range(count), key=fields.__getitem__ if fields else int)


def give_history(op: Op, node: OpNode, results: list[Tensor]) -> None:
    """Make the node the history of an op's several results, and save those that its gradient asks for."""
    for nr, t in enumerate(results):
        if nr not in op.nondifferentiable and t._array.dtype.kind in "fcV":
            set_history(t, node, nr)
        else:
            node.outputs.append((t._array.shape, t._array.dtype))
    for nr in op.saved_results:
        node.saved[f"result{nr}"] = Saved(results[nr], True)
    if op.saves_result:
        # Where there are indices, they are what the gradient needs; values may be written to.
        saved: list[Saved | None] = [None] * len(results)
        for nr in op.nondifferentiable or _in_order_of_names(op, len(results)):
            saved[nr] = Saved(results[nr], not op.nondifferentiable)
        node.saved["result"] = saved


def _record(op: Op, state: ThreadState, args: tuple[object, ...]) -> Any:
    """The autograd kernel of a functional op some input of which requires grad."""
    node, _ = recorded_node(op, args)
    found = op.kernel(*arrays(args))
    if type(found) is tuple:
        assert op.outputs is not None
        results = [new_tensor(r) for r in found]
        give_history(op, node, results)
        return op.outputs(results)
    t = new_tensor(found)
    found = t._array
    if found.dtype.kind in "fcV":
        t._meta = history(node)
        node.outputs.append((found.shape, found.dtype))
        if op.saves_result:
            node.saved["result"] = Saved(t, True)
    return t
