"""Aliases and copies: detach, data, clone, conversions, deepcopy, pickle, files."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable

import pytest

from .kinds import (
    DETACH_VIEW,
    INFERENCE,
    INPLACE,
    MUTABLE,
    NORMAL,
    RECORDED,
    VERSION,
    Op,
    Tensor,
    Torch,
    make,
    refused,
    state,
)


@pytest.mark.parametrize("alias", [lambda t: t.detach(), lambda t: t.data], ids=["detach", "data"])
def test_alias_of_inference_tensor(torch: Torch, alias: Callable[[Tensor], Tensor]) -> None:
    tensor = make(torch, "I")
    with torch.inference_mode():
        assert state(alias(tensor)) == INFERENCE
    outside = alias(tensor)
    assert state(outside) == MUTABLE
    outside.add_(1)
    assert tensor.tolist() == [[1.5, 1.5]] * 2
    assert outside._version == 1


def test_alias_of_normal_tensor_inside(torch: Torch) -> None:
    tensor = make(torch, "Nh")
    with torch.inference_mode():
        detached, data = tensor.detach(), tensor.data
    assert state(detached) == state(data) == NORMAL
    assert detached._base is None
    tensor.add_(1)
    assert (tensor._version, detached._version, data._version) == (1, 1, 0)


@pytest.mark.parametrize(
    ("op", "version"),
    [
        pytest.param(lambda torch, t: t.clone(), 1, id="clone"),
        pytest.param(lambda torch, t: t + 0, 0, id="add nothing"),
        pytest.param(lambda torch, t: torch.zeros_like(t), 0, id="zeros_like"),
        pytest.param(lambda torch, t: t.double(), 1, id="double"),
        pytest.param(lambda torch, t: t.to(torch.int64), 1, id="to int64"),
    ],
)
def test_the_way_out(torch: Torch, op: Op, version: int) -> None:
    tensor = make(torch, "I")
    assert state(op(torch, tensor)) == f"normal leaf v{version}"
    with torch.inference_mode():
        assert state(op(torch, tensor)) == INFERENCE


@pytest.mark.parametrize(
    "op",
    [
        pytest.param(lambda torch, t: t.contiguous(), id="contiguous"),
        pytest.param(lambda torch, t: t.float(), id="float of float32"),
        pytest.param(lambda torch, t: t.to(torch.float32), id="to the same"),
        pytest.param(lambda torch, t: t.requires_grad_(False), id="requires_grad_"),
    ],
)
@pytest.mark.parametrize("kind", ["N", "I"])
def test_what_gives_itself_keeps_its_kind(torch: Torch, kind: str, op: Op) -> None:
    tensor = make(torch, kind)
    before = state(tensor)
    assert op(torch, tensor) is tensor
    with torch.inference_mode():
        assert op(torch, tensor) is tensor
    assert state(tensor) == before


def test_set_data_takes_kind_and_keeps_counter(torch: Torch) -> None:
    normal, inference = make(torch, "N"), make(torch, "I")
    normal.data = inference
    assert state(normal) == MUTABLE
    normal.add_(1)
    assert inference.tolist() == [[1.5, 1.5]] * 2
    inference.data = make(torch, "N")
    assert state(inference) == "normal leaf untracked"
    with refused(INPLACE):
        inference.add_(1)
    with refused(VERSION):
        repr(inference)


def test_detach_in_place(torch: Torch) -> None:
    history = make(torch, "Nh")
    with torch.inference_mode():
        history.detach_()
    assert state(history) == RECORDED
    assert state(history.detach_()) == NORMAL
    with refused(DETACH_VIEW):
        make(torch, "Nh").view(4).detach_()
    inference = make(torch, "I")
    assert inference.detach_() is inference


def _saved(torch: Torch, tensor: Tensor) -> Tensor:
    stream = io.BytesIO()
    torch.save(tensor, stream)
    stream.seek(0)
    return torch.load(stream)


@pytest.mark.parametrize(
    "duplicate",
    [
        pytest.param(lambda torch, t: copy.deepcopy(t), id="deepcopy"),
        pytest.param(lambda torch, t: pickle.loads(pickle.dumps(t)), id="pickle"),
        pytest.param(_saved, id="save and load"),
    ],
)
@pytest.mark.parametrize("kind", ["N", "Nr", "I", "Ir"])
def test_copies_take_the_kind_of_the_mode(torch: Torch, kind: str, duplicate: Op) -> None:
    tensor = make(torch, kind)
    outside = duplicate(torch, tensor)
    assert (outside.is_inference(), outside.requires_grad) == (False, kind.endswith("r"))
    with torch.inference_mode():
        inside = duplicate(torch, tensor)
    assert (inside.is_inference(), inside.requires_grad) == (True, kind.endswith("r"))
    assert outside.tolist() == inside.tolist() == tensor.tolist()


def test_deepcopy_of_history_is_refused(torch: Torch) -> None:
    with refused("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol"):
        copy.deepcopy(make(torch, "Nh"))


def test_reading_an_inference_tensor(torch: Torch) -> None:
    with torch.inference_mode():
        tensor = torch.tensor([1.5])
    assert tensor.item() == 1.5
    assert tensor.tolist() == [1.5]
    assert tensor.numpy().tolist() == [1.5]
    assert repr(tensor) == "tensor([1.5000])"


def test_a_copy_below_the_counting_layer_is_not_counted(torch: Torch) -> None:
    t = torch.ones(2)
    assert copy.deepcopy(t)._version == 1
    with torch._C._AutoDispatchBelowADInplaceOrView():
        assert copy.deepcopy(t)._version == 0
