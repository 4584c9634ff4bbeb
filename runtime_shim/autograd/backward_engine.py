"""Running the tape backward (torch/csrc/autograd/engine.cpp, on one thread, without recursion)."""

from __future__ import annotations

import heapq
import operator
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.array_kinds import ZeroArray
from ..core.dtypes import BY_CHAR, sizes
from ..core.function_table import FUNCTIONS, AnyFunction
from ..core.memory_layout import geometry, non_overlapping_and_dense, obeys_layout
from ..core.tensor import Tensor, meta_of, requires_grad
from ..core.thread_state import tls
from ..tape.nodes import AccumulateGrad, Edge, Grads, Node
from .gradient_shapes import as_given, check_replacement, expandable_to, gradient_in_dtype, sum_to

#: How many there were; each has its number.
_backwards = 0


#: What a thread's state says of the backward that runs in it.
_OF_A_BACKWARD = ("backward_id", "backward_inputs", "backward_nodes", "backward_start", "backward_callbacks")
_of_this_backward = operator.attrgetter(*_OF_A_BACKWARD)


def run_backward(
    roots: list[Edge],
    grads: list[Tensor],
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[Edge | None] | None,
    accumulate: bool = False,
) -> list[Tensor | None]:
    """Propagate `grads` from `roots`.

    Without `inputs`, gradients are accumulated into leaves. With them, only what they need runs; their
    gradients are returned (None where an input was not reached), or accumulated if `accumulate`.
    """
    state = tls.state
    grad_mode = state.grad_mode
    saved_tensor_hooks = list(state.saved_tensor_hooks)
    state.grad_mode = create_graph
    global _backwards
    outer = _of_this_backward(state)
    _backwards += 1
    confined = "" if inputs is None else "accumulated" if accumulate else "returned"
    state.backward_id, state.backward_inputs, state.backward_callbacks = _backwards, confined, []
    state.backward_depth += 1
    try:
        if state.backward_depth % _DEEPEST:
            found = _execute(roots, grads, keep_graph, create_graph, inputs, accumulate)
        else:
            found = _on_a_new_stack(_execute, roots, grads, keep_graph, create_graph, inputs, accumulate)
        for callback in state.backward_callbacks:
            callback()
        return found
    finally:
        state.backward_depth -= 1
        for name, value in zip(_OF_A_BACKWARD, outer, strict=True):
            setattr(state, name, value)
        state.grad_mode = grad_mode
        state.saved_tensor_hooks[:] = saved_tensor_hooks


#: How many backwards run within each other on one Python stack. Deeper ones continue on another, as PyTorch's do.
_DEEPEST = 30


def _on_a_new_stack(call: AnyFunction, *args: object) -> Any:
    """Call a function on its own thread that has this one's state, and wait for it."""
    state = tls.state
    found: list[Any] = []

    def run() -> None:
        tls.state = state
        try:
            found.append((call(*args), None))
        except BaseException as error:
            found.append((None, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    result, error = found[0]
    if error is not None:
        raise error
    return result


def will_execute(node: object) -> bool:
    """Whether the backward that is running calls this node (`torch._C._will_engine_execute_node`).

    RuntimeError outside a backward, for what isn't a node, and for a leaf whose gradient `grad()` is to return.
    """
    if not isinstance(node, Node):
        raise RuntimeError(f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}")
    state = tls.state
    if not state.backward_id:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward pass")
    if node not in state.backward_nodes or node is state.backward_start:
        return False
    if state.backward_inputs == "returned" and isinstance(node, AccumulateGrad):
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is "
            "currently not supported."
        )
    return True


def running_node() -> Node | None:
    """The node whose function is running in this thread, or None; found on the stack, so that running costs no more."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code is _call.__code__:
            return frame.f_locals["node"]
        frame = frame.f_back
    return None


def keeps_graph() -> bool:
    """Whether the backward that runs in this thread keeps what its nodes saved; True outside of one."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code is _execute.__code__:
            return bool(frame.f_locals["keep_graph"])
        frame = frame.f_back
    return True


def _dependencies(roots: list[Edge]) -> dict[Node, int]:
    counts: dict[Node, int] = {}
    seen: set[Node] = set()
    queue = [node for node, _ in roots]
    while queue:
        node = queue.pop()
        if node in seen:
            continue
        seen.add(node)
        counts.setdefault(node, 0)
        for edge in node.next_edges:
            if edge is not None:
                counts[edge[0]] = counts.get(edge[0], 0) + 1
                queue.append(edge[0])
    return counts


def _needed(roots: list[Edge], inputs: Sequence[Edge | None]) -> set[Node]:
    """Nodes that must run for the gradients of the inputs: those from which an input can be reached."""
    targets = {edge[0] for edge in inputs if edge is not None}
    needed: set[Node] = set()
    done: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(node, False) for node, _ in roots]
    while stack:
        node, children_done = stack.pop()
        if children_done:
            done.add(node)
            if any(e is not None and (e[0] in targets or e[0] in needed) for e in node.next_edges):
                needed.add(node)
        elif node not in done:
            stack.append((node, True))
            stack.extend((e[0], False) for e in node.next_edges if e is not None and e[0] not in done)
    return needed


def _execute(
    roots: list[Edge],
    grads: list[Tensor],
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[Edge | None] | None,
    accumulate: bool,
) -> list[Tensor | None]:
    pending = _dependencies(roots)
    captures: dict[Node, list[tuple[int, int]]] = {}
    needed: set[Node] | None = None
    captured: list[Tensor | None] = []
    if inputs is not None:
        needed = _needed(roots, inputs)
        if accumulate:
            needed.update(edge[0] for edge in inputs if edge is not None)
        else:
            captured = [None] * len(inputs)
            for i, edge in enumerate(inputs):
                if edge is not None:
                    captures.setdefault(edge[0], []).append((edge[1], i))

    tls.state.backward_nodes = pending if needed is None else needed | captures.keys()
    # PyTorch begins at a single root itself, and does not come by it on the way.
    tls.state.backward_start = roots[0][0] if needed is None and len(roots) == 1 else None
    buffers: dict[Node, Grads] = {}
    ready: list[tuple[int, int, Node]] = []
    order = 0

    def is_ready(node: Node) -> None:
        nonlocal order
        order += 1
        heapq.heappush(ready, (-node.sequence, order, node))

    for i, (node, nr) in enumerate(roots):
        grads[i] = _as_shape_of_output(grads[i], node, nr, i)
        _accumulate(buffers.setdefault(node, [None] * max(1, len(node.outputs))), nr, grads[i])
    del grads
    starts = dict.fromkeys(node for node, _ in roots)
    for node in starts:
        if pending[node] == 0:
            is_ready(node)

    while ready:
        _, _, node = heapq.heappop(ready)
        buffer = buffers.pop(node)
        runs = needed is None or node in needed
        if not runs:
            if node not in captures and node not in starts:
                continue
            _run_tensor_hooks(node, buffer)
        if node in captures:  # of a node that runs, before its hooks
            for nr, i in captures[node]:
                captured[i] = buffer[nr]
        if runs and (node.tensor_hooks or isinstance(node, AccumulateGrad)):
            _run_tensor_hooks(node, buffer)
        if node.retained:
            _run_retain_hooks(node, buffer)
        if not runs:
            continue
        if isinstance(node, AccumulateGrad):
            _run_accumulator(node, buffer, create_graph)
            continue
        outputs = _call(node, buffer, keep_graph)
        del buffer
        for i, edge in enumerate(node.next_edges):
            if edge is None:
                continue
            target, nr = edge
            pending[target] -= 1
            buffer = buffers.get(target) or []
            if target not in buffers:
                buffers[target] = buffer = [None] * max(1, len(target.outputs))
            value, outputs[i] = outputs[i], None
            if value is not None:
                _accumulate(buffer, nr, value)
            del value
            del buffer
            if pending[target] == 0:
                is_ready(target)
        del outputs
    return captured


def _as_shape_of_output(grad: Tensor, node: Node, nr: int, index: int) -> Tensor:
    """The gradient of a root in its dtype, summed where the tensor has got a greater shape since (by `.data`)."""
    if nr >= len(node.outputs) or grad is None:
        return grad
    shape, dtype = node.outputs[nr]
    have = grad._array.shape
    if have != shape:
        if not expandable_to(shape, have):
            raise RuntimeError(
                f"invalid gradient at index {index} - got {sizes(have)} but expected shape compatible with "
                f"{sizes(shape)}"
            )
        grad = sum_to(grad, shape)
    return grad if grad._array.dtype == dtype else gradient_in_dtype(grad, dtype)


def _run_tensor_hooks(node: Node, buffer: Grads) -> None:
    pairs = node.tensor_hooks
    if isinstance(node, AccumulateGrad):
        hooks = meta_of(node.variable).hooks
        pairs = [(0, hooks)] if hooks else None
    if pairs:
        for nr, table in pairs:
            for hook in list(table.values()):
                found = hook(buffer[nr])
                if found is not None:
                    if buffer[nr] is None:
                        raise RuntimeError("can't replace a None gradient with a non-None value")
                    if not isinstance(found, Tensor):
                        raise TypeError(f"expected Variable, but hook returned '{type(found).__name__}'")
                    check_replacement(hook, buffer[nr], found)
                    buffer[nr] = found


def _run_retain_hooks(node: Node, buffer: Grads) -> None:
    if node.retained:
        for nr, reference in node.retained.items():
            t = reference()
            grad = buffer[nr]
            if t is not None and grad is not None:
                meta = meta_of(t)
                meta.grad = grad.clone() if meta.grad is None else meta.grad + grad
                del meta
            del grad


def _run_pre_hooks(node: Node, buffer: Grads) -> None:
    if node.pre_hooks:
        for hook in list(node.pre_hooks.values()):
            found = hook(tuple(buffer))
            if found is not None:
                buffer[:] = as_given(hook, found, buffer)


def _run_accumulator(node: AccumulateGrad, buffer: Grads, create_graph: bool) -> None:
    _run_pre_hooks(node, buffer)
    inputs_for_hooks = tuple(buffer) if node.post_hooks else ()
    meta = node.variable._meta
    if buffer[0] is not None and meta is not None and meta.base is not None and node.variable.grad_fn is not None:
        raise RuntimeError("leaf variable has been moved into the graph interior")
    # The variable may have stopped requiring grad since the op was recorded.
    if buffer[0] is not None and requires_grad(node.variable):
        # Hooks hold the gradient as well; PyTorch lets the leaf have it all the same.
        _accumulate_into_leaf(node.variable, buffer, create_graph, holders=1 if node.post_hooks else 0)
    if node.post_hooks:
        for hook in list(node.post_hooks.values()):
            hook((), inputs_for_hooks)


def _call(node: Node, buffer: Grads, keep_graph: bool) -> Grads:
    if node.pre_hooks:
        _run_pre_hooks(node, buffer)
    inputs_for_hooks = tuple(buffer) if node.post_hooks else ()
    state = tls.state
    tracer = state.tracer
    if state.anomaly:
        outputs = _watched_apply(node, buffer)
    else:
        outputs = node.apply(buffer) if tracer is None else tracer.apply(node, buffer)
    _validate(node, outputs)  # where it fails, what was saved is still there
    if not keep_graph:
        node.release()
    if node.post_hooks:
        for post_hook in list(node.post_hooks.values()):
            found = post_hook(tuple(outputs), inputs_for_hooks)
            if found is not None:
                outputs = as_given(post_hook, found, outputs)
    return outputs


def _watched_apply(node: Node, buffer: Grads) -> Grads:
    """A node in anomaly mode: what it raises is explained, and NaN is an error."""
    state = tls.state
    before, state.running_node = state.running_node, node
    try:
        outputs = node.apply(buffer) if state.tracer is None else state.tracer.apply(node, buffer)
        if state.anomaly_checks_nan:
            for i, grad in enumerate(outputs):
                if (
                    grad is not None
                    and BY_CHAR[grad._array.dtype.char].is_inexact
                    and bool(np.isnan(grad._array).any())
                ):
                    raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")
    except Exception:
        node.explain_anomaly()
        raise
    finally:
        state.running_node = before
    return outputs


def _validate(node: Node, grads: Grads) -> None:
    """Check gradients against what they are gradients of: sum what was broadcast, convert dtypes."""
    edges = node.next_edges
    if len(grads) != len(edges):
        if len(grads) < len(edges):
            raise RuntimeError(
                f"Function {node.name()} returned an invalid number of gradients - expected {len(edges)}, "
                f"but got {len(grads)}"
            )
        del grads[len(edges) :]
    for i, edge in enumerate(edges):
        grad = grads[i]
        if edge is None or grad is None:
            continue
        shape, dtype = edge[0].outputs[edge[1]]
        if grad._array.shape != shape:
            if not expandable_to(shape, grad._array.shape):
                raise RuntimeError(
                    f"Function {node.name()} returned an invalid gradient at index {i} - got "
                    f"{sizes(grad._array.shape)} but expected shape compatible with {sizes(shape)}"
                )
            grads[i] = grad = sum_to(grad, shape)
        if grad._array.dtype != dtype:
            grads[i] = gradient_in_dtype(grad, dtype)
        del grad


def _accumulate(buffer: Grads, nr: int, value: Tensor) -> None:
    """Add to an input buffer: in place when no one else holds what is there, as PyTorch does."""
    old = buffer[nr]
    if old is None:
        buffer[nr] = value
    elif not tls.state.grad_mode and sys.getrefcount(old) <= _SOLE_IN_BUFFER and _owns_storage(old):
        buffer[nr] = old.add_(value)
    else:
        buffer[nr] = old + value


def _owns_storage(t: Tensor) -> bool:
    if type(t._array) is ZeroArray:
        return False
    return non_overlapping_and_dense(t) and t._array is t._storage[1] and sys.getrefcount(t._storage) <= _SOLE_STORAGE


def _accumulate_into_leaf(variable: Tensor, buffer: Grads, create_graph: bool, holders: int) -> None:
    """AccumulateGrad::accumulateGrad: steal, copy, add in place, or add out of place when creating a graph."""
    meta = meta_of(variable)
    grad = buffer[0]
    assert grad is not None
    old = meta.grad
    if old is None:
        if not create_graph and sys.getrefcount(grad) <= _SOLE_IN_BUFFER + holders and obeys_layout(grad, variable):
            meta.grad = grad.detach()
        else:
            if non_overlapping_and_dense(variable):
                meta.grad = FUNCTIONS["empty_strided"](*geometry(variable)[:2], dtype=grad.dtype).copy_(grad)
            else:
                meta.grad = grad.clone()
    elif not create_graph:
        old.add_(grad)
    else:
        meta.grad = old + grad
    if tls.state.tracer is not None:
        tls.state.tracer.accumulated(variable, meta.grad)
    if meta.post_accumulate_hooks:
        for hook in list(meta.post_accumulate_hooks.values()):
            found = hook(variable)
            if found is None or found is variable:
                continue
            if isinstance(found, Tensor):
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")
            raise TypeError(f"expected Variable, but hook returned '{type(found).__name__}'")


# What sys.getrefcount says of an object that only a buffer's slot and one local name hold. Measured, since
# interpreters differ in how many references a call adds.
def _measure() -> tuple[int, int]:
    def held(buffer: list[object]) -> int:
        old = buffer[0]
        return sys.getrefcount(old)

    class Holder:
        __slots__ = ("storage",)

    holder = Holder()
    holder.storage = [0]  # type: ignore[attr-defined]
    return held([Holder()]), sys.getrefcount(holder.storage)  # type: ignore[attr-defined]


_SOLE_IN_BUFFER, _SOLE_STORAGE = _measure()
