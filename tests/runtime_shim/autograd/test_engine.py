"""Hooks, `inputs=`, saved-tensor hooks, custom Functions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

Torch = Any
Program = Callable[[Torch], Any]


def scalar(torch: Torch, value: float = 1.0) -> Any:
    return torch.tensor(value, requires_grad=True)


def hooks_in_order(torch: Torch) -> list[str]:
    log: list[str] = []
    a = scalar(torch)
    b = a.clone()
    b.grad_fn.register_prehook(lambda grads: log.append("pre-hook of b"))
    b.register_hook(lambda grad: log.append("hook on b"))
    accumulator = b.grad_fn.next_functions[0][0]
    accumulator.register_prehook(lambda grads: log.append("pre-hook of a"))
    accumulator.register_hook(lambda inputs, outputs: log.append("post-hook of a"))
    a.register_hook(lambda grad: log.append("hook on a"))
    a.register_post_accumulate_grad_hook(lambda t: log.append("after accumulation"))
    b.backward()
    return log


def hooks_of_grad(torch: Torch) -> list[str]:
    log: list[str] = []
    a = scalar(torch)
    b = a * 2
    a.register_hook(lambda grad: log.append("hook on a"))
    b.grad_fn.next_functions[0][0].register_prehook(lambda grads: log.append("pre-hook of a"))
    torch.autograd.grad(b, a)
    return log


def captured_before_hooks_where_the_node_runs(torch: Torch) -> list[float]:
    a = scalar(torch)
    b = a * 2
    b.register_hook(lambda grad: grad * 10)
    a.register_hook(lambda grad: grad * 7)
    return [g.item() for g in torch.autograd.grad(b * 2, (a, b))]


def backward_to_non_leaf(torch: Torch) -> tuple[Any, ...]:
    a = scalar(torch)
    b = a * 2
    b.register_hook(lambda grad: grad * 10)
    (b * 2).backward(inputs=(b,))
    return b.grad.item(), a.grad, b.retains_grad


def none_reaches_hooks(torch: Torch) -> list[Any]:
    seen: list[Any] = []
    first, second = torch.ones(2, requires_grad=True).unbind()
    first.register_hook(seen.append)
    second.backward()
    return seen


def hooks_end_with_the_history_of_a_view(torch: Torch) -> list[str]:
    log: list[str] = []
    base = torch.ones(1, requires_grad=True).clone()
    view, other = base[:], base[:]
    view.register_hook(lambda grad: log.append("before the write"))
    other.register_hook(lambda grad: log.append("before another view was written to"))
    view.mul_(2)
    assert other.grad_fn is not None
    other.register_hook(lambda grad: log.append("after the write"))
    (view + other).sum().backward()
    return log


def saved_hooks_keep_the_graph(torch: Torch) -> list[float]:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: 2 * t, lambda t: t):
        a = scalar(torch, 3.0)
        y = a**3
    (first,) = torch.autograd.grad(y, a, create_graph=True)
    first.backward()
    return [first.item(), a.grad.item()]


def hooks_entered_in_backward_end_with_it(torch: Torch) -> float:
    doubling = torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t)

    def enter(t: Any) -> Any:
        doubling.__enter__()
        return t

    a = scalar(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, enter):
        y = a.sin()
    y.backward()
    a = scalar(torch)
    (a * a).backward()
    return float(a.grad)


def materialized_gradients_can_be_differentiated(torch: Torch) -> list[Any]:
    x, a = scalar(torch), scalar(torch)
    (first,) = torch.autograd.grad(x * a, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x, create_graph=True, materialize_grads=True)
    return [second.item(), second.requires_grad]


def post_hook_sees_the_gradient_of_the_leaf(torch: Torch) -> list[float]:
    a = torch.ones(2, requires_grad=True)
    seen: list[float] = []

    def add_half(t: Any) -> None:
        t.grad.add_(0.5)

    a.register_post_accumulate_grad_hook(add_half)
    accumulator = a.view_as(a).grad_fn.next_functions[0][0]
    accumulator.register_hook(lambda inputs, outputs: seen.extend(outputs[0].tolist()))
    (a * 2).sum().backward()
    return seen


def defaults_of_forward(torch: Torch) -> float:
    class Power(torch.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(x: Any, exponent: int = 3) -> Any:
            return x**exponent

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            x, ctx.exponent = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * ctx.exponent * x ** (ctx.exponent - 1), None

    x = scalar(torch, 2.0)
    Power.apply(x).backward()
    return float(x.grad)


def gradient_of_a_leaf_whose_storage_was_exchanged(torch: Torch) -> list[float]:
    p = torch.ones(4, requires_grad=True)
    (p * 2).sum().backward()
    with torch.no_grad():
        p.set_(p[1:])
        p.grad = None
    (p * 2).sum().backward()
    return list(p.grad.tolist())


def once_differentiable_edges(torch: Torch) -> list[str]:
    class Twice(torch.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            ctx.factor = factor
            return x * factor

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * ctx.factor, None

    x = scalar(torch)
    (grad,) = torch.autograd.grad(Twice.apply(x, 2.0) ** 2, x, create_graph=True)
    return [type(node).__name__ for node, _ in grad.grad_fn.next_functions]


def gradients_of_leaves_whose_shape_was_exchanged(torch: Torch) -> list[Any]:
    found = []
    for viewed, data in (((2, 1), (2, 1)), ((1, 2), (3, 2)), ((2, 1), (4,))):
        leaf = torch.ones(2, requires_grad=True)
        view = leaf.view(viewed)
        leaf.data = torch.ones(data)
        (view * 3).sum().backward()
        found.append((leaf.grad.tolist(), leaf.grad.stride()))
    return found


def gradients_of_sums_of_one_element_are_not_copied(torch: Torch) -> list[Any]:
    x = torch.ones(1, 3, requires_grad=True)
    return [torch.autograd.grad(x.cumsum(dim).sum(), x)[0].stride() for dim in (0, 1)]


def edges_of_the_slope_of_a_power(torch: Torch) -> list[str]:
    x = scalar(torch)
    (slope,) = torch.autograd.grad(x**3, x, create_graph=True)
    return [type(node).__name__ for node, _ in slope.grad_fn.next_functions]


PROGRAMS: list[tuple[Program, Any]] = [
    (
        hooks_in_order,
        [
            "hook on b",
            "pre-hook of b",
            "hook on a",
            "pre-hook of a",
            "after accumulation",
            "post-hook of a",
        ],
    ),
    (hooks_of_grad, ["hook on a"]),
    (captured_before_hooks_where_the_node_runs, [280.0, 2.0]),
    (backward_to_non_leaf, (20.0, None, True)),
    (none_reaches_hooks, [None]),
    (hooks_end_with_the_history_of_a_view, ["after the write"]),
    (saved_hooks_keep_the_graph, [108.0, 36.0]),
    (hooks_entered_in_backward_end_with_it, 2.0),
    (materialized_gradients_can_be_differentiated, [0.0, True]),
    (post_hook_sees_the_gradient_of_the_leaf, [2.5, 2.5]),
    (defaults_of_forward, 12.0),
    (gradient_of_a_leaf_whose_storage_was_exchanged, [2.0, 2.0, 2.0]),
    (
        gradients_of_leaves_whose_shape_was_exchanged,
        [([3.0, 3.0], (1,)), ([[3.0, 3.0]] * 3, (2, 1)), ([3.0, 3.0], (1,))],
    ),
    (gradients_of_sums_of_one_element_are_not_copied, [(0, 0), (3, 1)]),
    (edges_of_the_slope_of_a_power, ["NoneType", "MulBackward1"]),
    (once_differentiable_edges, ["AccumulateGrad", "NoneType"]),
]


@pytest.mark.parametrize(
    ("program", "expected"), PROGRAMS, ids=[program.__name__.replace("_", " ") for program, _ in PROGRAMS]
)
def test_does_as_pytorch_does(torch: Torch, program: Program, expected: Any) -> None:
    assert program(torch) == expected


def pack_in_place(torch: Torch) -> None:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
        torch.ones(2, requires_grad=True).exp()


def post_accumulate_result(torch: Torch) -> None:
    a = torch.ones(2, requires_grad=True)
    a.register_post_accumulate_grad_hook(lambda t: t.grad)
    a.sum().backward()


def replace_none(torch: Torch) -> None:
    first, second = torch.ones(2, requires_grad=True).unbind()
    first.register_hook(lambda grad: torch.ones(()))
    second.backward()


def both_ways_back(torch: Torch) -> None:
    class Both(torch.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

        @staticmethod
        def vjp(ctx: Any, grad: Any) -> Any:
            return grad

    Both.apply(torch.ones(1, requires_grad=True)).backward()


def delete(attribute: str) -> Program:
    return lambda torch: delattr(torch.ones(2), attribute)


def call_node(count: int) -> Program:
    return lambda torch: (torch.ones(1, requires_grad=True) ** 2).grad_fn(*[torch.ones(1)] * count)


def materialize_what_must_be_used(torch: Torch) -> None:
    x = torch.ones(1, requires_grad=True)
    torch.autograd.grad(x * 2, x, allow_unused=False, materialize_grads=True)


@pytest.mark.parametrize(
    ("program", "kind", "message"),
    [
        pytest.param(pack_in_place, RuntimeError, "A saved tensor pack hook is modifying its input in place."),
        pytest.param(post_accumulate_result, RuntimeError, "Tensor post accumulate grad hooks should return None."),
        pytest.param(replace_none, RuntimeError, "can't replace a None gradient with a non-None value"),
        pytest.param(both_ways_back, RuntimeError, "Implementing both 'backward' and 'vjp' for a custom Function"),
        pytest.param(call_node(0), TypeError, "expected 1 arguments, got 0 instead"),
        pytest.param(call_node(2), TypeError, "expected 1 arguments, got 2 instead"),
        pytest.param(delete("data"), RuntimeError, "Deleting tensor data is not allowed. Delete tensor instead!"),
        pytest.param(delete("requires_grad"), RuntimeError, "requires_grad must be a bool"),
        pytest.param(delete("is_leaf"), AttributeError, "attribute 'is_leaf' of 'torch._C.TensorBase' objects is not"),
        pytest.param(materialize_what_must_be_used, ValueError, "Expected allow_unused to be True or not passed when"),
    ],
)
def test_refuses_as_pytorch_does(torch: Torch, program: Program, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match="^" + re.escape(message)):
        program(torch)
