"""In-place ops, the version and requires_grad."""

from __future__ import annotations

import pytest

from .kinds import (
    GUARDS,
    INFERENCE,
    INFERENCE_LEAF,
    INPLACE,
    LEAF,
    REQUIRES,
    SAVED,
    VERSION,
    Op,
    Tensor,
    Torch,
    make,
    refused,
    state,
)


def set_item(tensor: Tensor) -> None:
    tensor[0] = 2.0


# `out=` asks for requires_grad before anything else: it stands apart where the target may require grad.
OUT = pytest.param(lambda torch, t: torch.add(torch.ones(2, 2), 1, out=t), id="out=")
WRITES = [
    pytest.param(lambda torch, t: t.add_(1), id="add_"),
    pytest.param(lambda torch, t: t.mul_(torch.ones(2, 2)), id="mul_ by a tensor"),
    pytest.param(lambda torch, t: t.zero_(), id="zero_"),
    pytest.param(lambda torch, t: t.copy_(torch.ones(2, 2)), id="copy_"),
    pytest.param(lambda torch, t: set_item(t), id="item assignment"),
    pytest.param(lambda torch, t: t.view(4).mul_(3), id="through a view"),
    pytest.param(lambda torch, t: t.t_(), id="t_"),
    pytest.param(lambda torch, t: t.exp_(), id="exp_"),
    pytest.param(lambda torch, t: t.masked_fill_(t > 0, 3.0), id="masked_fill_"),
]


@pytest.mark.parametrize("op", WRITES)
@pytest.mark.parametrize("kind", ["I", "Ir"])
def test_write_to_inference_tensor_inside(torch: Torch, kind: str, op: Op) -> None:
    tensor = make(torch, kind)
    with torch.inference_mode():
        op(torch, tensor)
        assert state(tensor) == (INFERENCE if kind == "I" else INFERENCE_LEAF)


@pytest.mark.parametrize("op", WRITES)
@pytest.mark.parametrize("kind", ["N", "Nr", "Nh"])
def test_write_to_normal_tensor_inside_counts(torch: Torch, kind: str, op: Op) -> None:
    tensor = make(torch, kind)
    before = state(tensor)
    with torch.inference_mode():
        op(torch, tensor)
    assert state(tensor) == before.replace("v0", "v1")


@pytest.mark.parametrize("op", [*WRITES, OUT])
@pytest.mark.parametrize("guard", ["no guard", "no_grad", "below autograd"])
def test_write_to_inference_tensor_outside_is_refused_after_the_write(torch: Torch, guard: str, op: Op) -> None:
    tensor, twin = make(torch, "I"), make(torch, "N")
    with GUARDS[guard](torch), refused(INPLACE):
        op(torch, tensor)
    op(torch, twin)
    assert tensor.tolist() == twin.tolist()
    assert state(tensor) == INFERENCE


def test_write_to_inference_tensor_below_inplace_or_view_is_allowed(torch: Torch) -> None:
    tensor = make(torch, "I")
    with torch._C._AutoDispatchBelowADInplaceOrView():
        tensor.add_(1)
    assert tensor.tolist() == [[1.5, 1.5]] * 2


def test_write_to_inference_leaf_outside(torch: Torch) -> None:
    leaf = make(torch, "Ir")
    with refused(LEAF):
        leaf.add_(1)
    assert leaf.tolist() == [[0.5, 0.5]] * 2
    with torch.no_grad(), refused(INPLACE):
        leaf.add_(1)
    assert leaf.tolist() == [[1.5, 1.5]] * 2


def test_normal_tensor_takes_inference_operand_in_place(torch: Torch) -> None:
    inference, normal, history = make(torch, "I"), make(torch, "N"), make(torch, "Nh")
    normal.add_(inference)
    normal.copy_(inference)
    normal.mul_(inference)
    assert state(normal) == "normal leaf v3"
    history.add_(inference)
    with refused(SAVED):
        history.mul_(inference)
    assert history.tolist() == [[1.0, 1.0]] * 2
    assert history._version == 1


@pytest.mark.parametrize("name", ["add_", "mul_", "copy_"])
def test_inference_tensor_takes_operand_with_grad_in_place(torch: Torch, name: str) -> None:
    inference = make(torch, "I")
    with refused(INPLACE):
        getattr(inference, name)(make(torch, "Nr"))
    assert not inference.requires_grad
    with torch.inference_mode():
        getattr(inference, name)(make(torch, "Nr"))
    assert state(inference) == INFERENCE


@pytest.mark.parametrize("inside", [True, False], ids=["inside", "outside"])
def test_version_of_inference_tensor(torch: Torch, inside: bool) -> None:
    tensor = make(torch, "I")
    with torch.inference_mode(inside):
        with refused(VERSION):
            _ = tensor._version
        with pytest.raises(AttributeError, match=r"attribute '_version' of .* is not writable"):
            tensor._version = 1
        torch.autograd.graph.increment_version(tensor)


@pytest.mark.parametrize("kind", ["I", "Ir"])
def test_requires_grad_of_inference_tensor(torch: Torch, kind: str) -> None:
    tensor = make(torch, kind)
    with refused(REQUIRES):
        tensor.requires_grad_()
    with refused(REQUIRES):
        tensor.requires_grad = True
    with torch.no_grad(), refused(REQUIRES):
        tensor.requires_grad_(True)
    tensor.requires_grad_(False)
    assert state(tensor) == INFERENCE
    with refused(REQUIRES):
        tensor.requires_grad_(True)
    with torch.inference_mode():
        tensor.requires_grad_(True)
    assert state(tensor) == INFERENCE_LEAF
