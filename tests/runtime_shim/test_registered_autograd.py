"""`torch.library.register_autograd`: a gradient in Python for an op that has kernels already."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import guardfix.runtime_shim as torch


@pytest.fixture
def library() -> Iterator[Any]:
    made = torch.library.Library("registered", "DEF")
    made.define("scale(Tensor x, float by=2.0, *, bool negate=False) -> Tensor")
    made.impl("scale", lambda x, by=2.0, *, negate=False: x * (-by if negate else by), "CPU")
    yield made
    made._destroy()


def with_gradient(library: Any) -> None:
    def setup_context(ctx: Any, inputs: Any, output: Any, keyword_only_inputs: Any = None) -> None:
        _, ctx.by = inputs
        ctx.negate = (keyword_only_inputs or {}).get("negate", False)

    def backward(ctx: Any, grad: Any) -> Any:
        return grad * (-ctx.by if ctx.negate else ctx.by), None

    torch.library.register_autograd("registered::scale", backward, setup_context=setup_context, lib=library)


@pytest.mark.parametrize(
    ("args", "keywords", "gradient"),
    [
        pytest.param((3.0,), {}, 3.0, id="by position"),
        pytest.param((), {}, 2.0, id="default"),
        pytest.param((3.0,), {"negate": True}, -3.0, id="keyword only"),
    ],
)
def test_gradient(library: Any, args: Any, keywords: Any, gradient: float) -> None:
    with_gradient(library)
    x = torch.ones(2, requires_grad=True)
    result = torch.ops.registered.scale(x, *args, **keywords)
    assert result.grad_fn.name() == "GeneratedBackwardFor_registered_scale_defaultBackward"
    result.sum().backward()
    assert x.grad.tolist() == [gradient] * 2


def test_nothing_is_recorded_where_nothing_requires_grad(library: Any) -> None:
    with_gradient(library)
    assert torch.ops.registered.scale(torch.ones(1)).grad_fn is None
    with torch.no_grad():
        assert torch.ops.registered.scale(torch.ones(1, requires_grad=True)).grad_fn is None
    with torch.inference_mode():
        assert torch.ops.registered.scale(torch.ones(1)).is_inference()


def test_gradcheck_of_a_registered_gradient(library: Any) -> None:
    with_gradient(library)
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(torch.ops.registered.scale, (x, 3.0))


def test_an_op_that_is_not_defined(library: Any) -> None:
    with pytest.raises(AttributeError, match="'_OpNamespace' 'registered' object has no attribute 'other'"):
        torch.library.register_autograd("registered::other", lambda ctx, grad: grad, lib=library)


def test_fake_kernels_are_taken_and_never_run(library: Any) -> None:
    @torch.library.register_fake("registered::scale", lib=library)
    def fake(x: Any, by: float = 2.0, *, negate: bool = False) -> Any:
        raise AssertionError("there are no tensors without memory here")

    assert torch.ops.registered.scale(torch.ones(1)).tolist() == [2.0]
