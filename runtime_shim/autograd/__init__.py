"""`torch.autograd`: backward, grad, custom Functions."""

from __future__ import annotations

import functools
from typing import Any

import numpy

from ..core import error_texts
from ..core.dtypes import Size
from ..core.function_table import FUNCTIONS
from ..core.late_modules import homes_of, late_module
from ..core.tensor import Tensor, new_tensor, requires_grad
from ..core.thread_state import tls
from ..tape.history import gradient_edge
from ..tape.nodes import Edge


@functools.cache
def _engine() -> Any:
    """The engine, which is imported when something first runs backward."""
    from . import backward_engine

    return backward_engine


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, Tensor) or hasattr(value, "output_nr") else tuple(value)


def _edge_of(given: Any) -> Edge | None:
    """Where the gradient of a tensor goes; a GradientEdge says so itself."""
    return gradient_edge(given) if isinstance(given, Tensor) else (given.node, given.output_nr)


def _check_root(i: int, grad: Tensor, shape: tuple[int, ...], dtype: Any) -> None:
    """RuntimeError unless `grad` fits an output that is named by its edge."""
    from ..core.dtypes import BY_CHAR

    if grad._array.shape != shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {Size(grad._array.shape)} and output[{i}] has a shape "
            f"of {Size(shape)}."
        )
    if (grad._array.dtype.kind == "c") != (dtype.kind == "c"):
        raise RuntimeError(
            f"For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{i}] has a dtype of {grad.dtype} and output[{i}] has a dtype of {BY_CHAR[dtype.char]}."
        )


def _roots(outputs: tuple[Any, ...], grads: Any) -> tuple[list[Edge], list[Tensor]]:
    given: tuple[Any, ...]
    if grads is None:
        given = (None,) * len(outputs)
    else:
        given = (grads,) if isinstance(grads, Tensor) else tuple(grads)
    if len(given) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
    found: list[Tensor] = []
    for i, (out, grad) in enumerate(zip(outputs, given, strict=True)):
        if not isinstance(out, Tensor):
            shape, dtype = out.node.outputs[out.output_nr]
            if grad is None:
                if shape not in ((), (1,)):
                    raise RuntimeError("grad can be implicitly created only for scalar outputs")
                grad = new_tensor(numpy.ones(shape, dtype))
            _check_root(i, grad, shape, dtype)
            found.append(grad)
        elif isinstance(grad, Tensor):
            if grad._array.shape != out._array.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{i}] has a shape of {Size(grad._array.shape)} and output[{i}] has "
                    f"a shape of {Size(out._array.shape)}."
                )
            if (out._array.dtype.kind == "c") != (grad._array.dtype.kind == "c"):
                raise RuntimeError(
                    "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch "
                    f"in dtype: grad_output[{i}] has a dtype of {grad.dtype} and output[{i}] has a dtype of "
                    f"{out.dtype}."
                )
            found.append(grad)
        elif grad is None:
            if requires_grad(out):
                if out._array.size != 1:
                    raise RuntimeError("grad can be implicitly created only for scalar outputs")
                if out._array.dtype.kind not in "fV":
                    raise RuntimeError(
                        f"grad can be implicitly created only for real scalar outputs but got {out.dtype}"
                    )
                one = out._array.copy()
                one.fill(1)
                found.append(new_tensor(one))
            else:
                found.append(None)  # type: ignore[arg-type]
        else:
            raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
    edges: list[Edge] = []
    for i, out in enumerate(outputs):
        edge = _edge_of(out)
        if edge is None:
            raise RuntimeError(error_texts.NOT_RECORDED.format(i))
        edges.append(edge)
    return edges, found


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Accumulate the gradients of `tensors` into the `.grad` of the leaves they depend on.

    RuntimeError if a tensor has no history, if a gradient is needed and not given, if the graph was freed, or
    if a saved tensor was written to since.
    """
    if tls.state.transforms:
        raise RuntimeError(
            "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
            "functorch.vjp instead or call backward() outside of functorch transforms."
        )
    if inputs is not None and not isinstance(inputs, Tensor) and len(tuple(inputs)) == 0:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    edges, grads = _roots(_as_tuple(tensors), grad_tensors)
    keep = create_graph if retain_graph is None else retain_graph
    if create_graph:
        from ..core import error_texts

        error_texts.warn_once(error_texts.CREATE_GRAPH)
    if inputs is None:
        _engine().run_backward(edges, grads, keep, create_graph, None)
        return
    chosen = _as_tuple(inputs)
    targets = []
    for t in chosen:
        if isinstance(t, Tensor):
            t.retain_grad()
        targets.append(_edge_of(t))
    _engine().run_backward(edges, grads, keep, create_graph, targets, accumulate=True)


def grad(
    outputs: object,
    inputs: object,
    grad_outputs: object = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of `outputs` with respect to `inputs`, returned instead of accumulated."""
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    chosen = _as_tuple(inputs)
    if is_grads_batched:
        rest: Any = True, create_graph, only_inputs, allow_unused, False, materialize_grads
        rows = [grad(outputs, chosen, row, *rest) for row in _rows(_as_tuple(outputs), _as_tuple(grad_outputs))]
        return tuple(None if column[0] is None else FUNCTIONS["stack"](column) for column in zip(*rows, strict=True))
    edges, grads = _roots(_as_tuple(outputs), grad_outputs)
    if not chosen:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    targets: list[Edge | None] = []
    for t in chosen:
        if not isinstance(t, Tensor) and not hasattr(t, "output_nr"):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
        edge = _edge_of(t)
        if edge is None and not requires_grad(t):
            raise RuntimeError(error_texts.INPUT_NOT_RECORDED)
        targets.append(edge)
    keep = create_graph if retain_graph is None else retain_graph
    found = _engine().run_backward(edges, grads, keep, create_graph, targets)
    for i, value in enumerate(found):
        if value is None:
            if materialize_grads:
                if not isinstance(chosen[i], Tensor):
                    raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
                found[i] = FUNCTIONS["zeros_like"](chosen[i], requires_grad=create_graph)
            elif not allow_unused:
                raise RuntimeError(error_texts.NOT_IN_GRAPH.format(i))
    return tuple(found)


def _rows(outputs: tuple[Any, ...], batches: tuple[Any, ...]) -> list[tuple[Tensor, ...]]:
    """The gradients of each row of a batch. RuntimeError unless a row has the sizes of its output."""
    for i, (out, batch) in enumerate(zip(outputs, batches, strict=True)):
        if batch.shape[1:] != out.shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
                f"output, but a mismatch was detected: grad_output[{i}] has a shape of {batch.shape[1:]} and "
                f"output[{i}] has a shape of {out.shape}. If you only want some tensors in `grad_output` to be "
                "considered batched, consider using vmap."
            )
    return list(zip(*(batch.unbind() for batch in batches), strict=True))


class _unsafe_preserve_version_counter:
    """Writes inside the block are not counted. RuntimeError on a tensor without a version counter."""

    def __init__(self, tensors: object) -> None:
        self.tensors = _as_tuple(tensors)
        self.versions = tuple(t._version for t in self.tensors)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        for t, version in zip(self.tensors, self.versions, strict=True):
            assert t._version_counter is not None
            t._version_counter[0] = version


_HERE = "autograd"
#: Modules that are imported when they are asked for.
_SUBMODULES = ("forward_ad", "graph", "grad_mode", "function", "functional", "variable")
_ELSEWHERE = homes_of({
    "autograd.function": "Function once_differentiable",
    "autograd.python_nodes": "set_detect_anomaly detect_anomaly set_multithreading_enabled is_multithreading_enabled",
    "autograd.gradient_checks": "gradcheck gradgradcheck",
    "autograd.variable": "Variable",
    "autograd.grad_mode": "_force_original_view_tracking is_view_replay_enabled",
    "tape.saved_tensors": "SavedTensor",
    "core.gradient_modes": "no_grad enable_grad set_grad_enabled inference_mode",
})  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "torch":  # PyTorch's module imports it, and so has it
        return late_module()
    if name == "profiler":
        return late_module("profiler")
    if name in _SUBMODULES:
        return late_module(f"{_HERE}.{name}")
    if name in _ELSEWHERE:
        return getattr(late_module(_ELSEWHERE[name]), name)
    from ..core.supported_names import missing

    return missing("torch.autograd", name)
