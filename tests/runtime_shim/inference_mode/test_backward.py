"""Backward, custom Functions, nesting, threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from .kinds import (
    GUARDS,
    INFERENCE,
    INPLACE,
    NORMAL,
    RECORDED,
    SAVED,
    Tensor,
    Torch,
    make,
    refused,
    state,
)


def test_gradient_made_inside_cannot_be_accumulated_outside(torch: Torch) -> None:
    leaf = make(torch, "Nr")
    first, second = (leaf * leaf).sum(), (leaf * leaf).sum()
    with torch.inference_mode():
        first.backward()
    assert leaf.grad.is_inference()
    with refused(INPLACE):
        second.backward()
    assert leaf.grad.tolist() == [[2.0, 2.0]] * 2


@pytest.mark.parametrize("guard", GUARDS)
def test_backward_under_other_guards(torch: Torch, guard: str) -> None:
    leaf = make(torch, "Nr")
    result = (leaf * 3).sum()
    with GUARDS[guard](torch):
        result.backward()
    assert leaf.grad.tolist() == [[3.0, 3.0]] * 2
    assert not leaf.grad.is_inference()


def test_inference_tensor_as_grad(torch: Torch) -> None:
    leaf, inference = make(torch, "Nr"), make(torch, "I")
    leaf.grad = inference
    with refused(INPLACE):
        (leaf * 2).sum().backward()
    assert leaf.grad.tolist() == [[2.5, 2.5]] * 2
    leaf.grad = None
    (leaf * 2).backward(make(torch, "I"))
    assert leaf.grad.tolist() == [[1.0, 1.0]] * 2


def test_zeroing_a_normal_grad_inside(torch: Torch) -> None:
    leaf = make(torch, "Nr")
    (leaf * 2).sum().backward()
    with torch.inference_mode():
        leaf.grad.zero_()
    assert state(leaf.grad) == "normal leaf v1"
    (leaf * 2).sum().backward()
    assert leaf.grad.tolist() == [[2.0, 2.0]] * 2


def _square(torch: Torch) -> tuple[Any, list[tuple[bool, bool]]]:
    modes = []

    class Square(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            modes.append((torch.is_grad_enabled(), torch.is_inference_mode_enabled()))
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> Tensor:
            return 2 * ctx.saved_tensors[0] * gradient

    return Square, modes


def test_function_saves_inference_tensor(torch: Torch) -> None:
    square, _ = _square(torch)
    assert state(square.apply(make(torch, "I"))) == NORMAL
    with refused(SAVED):
        square.apply(make(torch, "Ir"))
    with torch.no_grad():
        assert state(square.apply(make(torch, "Ir"))) == NORMAL
    with torch.inference_mode():
        assert state(square.apply(make(torch, "Ir"))) == INFERENCE


def test_function_sees_the_modes(torch: Torch) -> None:
    square, modes = _square(torch)
    with torch.inference_mode():
        assert state(square.apply(make(torch, "Nr"))) == INFERENCE
    square.apply(make(torch, "Nr"))
    assert modes == [(False, True), (False, False)]


def test_function_that_makes_its_result_in_inference_mode(torch: Torch) -> None:
    class Inside(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            with torch.inference_mode():
                return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> Tensor:
            return gradient * 2

    leaf = make(torch, "Nr")
    result = Inside.apply(leaf)
    assert state(result) == "inference requires_grad grad_fn untracked"
    result.backward(torch.ones(2, 2))
    assert leaf.grad.tolist() == [[2.0, 2.0]] * 2


@pytest.mark.parametrize("guard", ["_AutoDispatchBelowAutograd", "_AutoDispatchBelowADInplaceOrView"])
def test_function_records_below_dispatch_guards(torch: Torch, guard: str) -> None:
    square, _ = _square(torch)
    with getattr(torch._C, guard)():
        assert state(square.apply(make(torch, "Nr"))) == RECORDED


@pytest.mark.parametrize("outer", ["inference_mode", "no_grad"])
def test_inference_mode_false_is_full_normal_mode(torch: Torch, outer: str) -> None:
    leaf = make(torch, "Nr")
    with getattr(torch, outer)():
        with torch.inference_mode(False):
            assert torch.is_grad_enabled()
            assert not torch.is_inference_mode_enabled()
            assert state(torch.ones(2)) == NORMAL
            assert state(leaf * 2) == RECORDED
            with refused(INPLACE):
                make(torch, "I").add_(1)
        assert not torch.is_grad_enabled()


def test_a_thread_starts_in_normal_mode(torch: Torch) -> None:
    seen = []

    def look() -> None:
        seen.append((torch.is_grad_enabled(), torch.is_inference_mode_enabled(), state(torch.ones(2))))

    with torch.inference_mode():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == [(True, False, NORMAL)]


def test_decorated_functions_and_generators(torch: Torch) -> None:
    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def called(x: Tensor) -> Tensor:
        return x * 2

    @torch.inference_mode  # type: ignore[untyped-decorator]
    def bare() -> bool:
        return bool(torch.is_inference_mode_enabled())

    @torch.inference_mode()  # type: ignore[untyped-decorator]
    def generated() -> Iterator[bool]:
        while True:
            yield torch.is_inference_mode_enabled()

    assert state(called(make(torch, "Nr"))) == INFERENCE
    assert bare()
    steps = generated()
    assert [next(steps), torch.is_inference_mode_enabled(), next(steps)] == [True, False, True]


def test_an_error_restores_the_mode(torch: Torch) -> None:
    with pytest.raises(ValueError, match="inside"), torch.inference_mode():
        raise ValueError("inside")
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()
