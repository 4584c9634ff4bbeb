"""Devices are values, as in PyTorch; tensors and modules are on the CPU alone, and say so."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from guardfix import runtime_shim as torch

nn = torch.nn
NAMES = {
    "cpu": ("device(type='cpu')", "cpu", None),
    "cpu:0": ("device(type='cpu', index=0)", "cpu", 0),
    "cuda": ("device(type='cuda')", "cuda", None),
    "cuda:1": ("device(type='cuda', index=1)", "cuda", 1),
    "meta": ("device(type='meta')", "meta", None),
}
CUDA = torch.device("cuda:0")


@pytest.mark.parametrize("name", NAMES)
def test_what_a_device_says(name: str) -> None:
    made = torch.device(name)
    assert (repr(made), made.type, made.index, str(made)) == (*NAMES[name], name)
    assert [other for other in NAMES if torch.device(other) == made] == [name]
    assert torch.device(made) == made
    assert torch.device(made.type, made.index) == made


@pytest.mark.parametrize("name", ["cuda:01", "cuda:-1", "cuda:", "cpu:x"])
def test_a_name_that_is_refused(name: str) -> None:
    with pytest.raises(RuntimeError, match=f"Invalid device string: '{name}'"):
        torch.device(name)


def test_other_refusals() -> None:
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        torch.device("gpu")
    with pytest.raises(RuntimeError, match="index was passed explicitly: cuda:0"):
        torch.device("cuda:0", 1)


def test_tensors_are_on_the_cpu() -> None:
    x = torch.ones(2)
    assert x.device == torch.device("cpu")
    assert x.device != CUDA
    assert x.to(torch.device("cpu")) is x
    with torch.device("cpu"):
        assert torch.ones(1).device.type == "cpu"


@pytest.mark.parametrize("name", NAMES)
def test_a_device_is_saved_and_loaded(name: str) -> None:
    file = io.BytesIO()
    torch.save([torch.device(name)], file)
    file.seek(0)
    assert torch.load(file) == [torch.device(name)]


def matrix() -> Any:
    return torch.ones(2, 2)


ON_ANOTHER_DEVICE: dict[str, Callable[[Any], Any]] = {
    "ones": lambda d: torch.ones(2, device=d),
    "zeros_like": lambda d: torch.zeros_like(matrix(), device=d),
    "randint_like": lambda d: torch.randint_like(matrix(), 3, device=d),
    "randperm": lambda d: torch.randperm(3, device=d),
    "normal": lambda d: torch.normal(0.0, 1.0, (2,), device=d),
    "hann_window": lambda d: torch.hann_window(3, device=d),
    "empty_strided": lambda d: torch.empty_strided((2,), (1,), device=d),
    "tensor": lambda d: torch.tensor(1.0, device=d),
    "new_ones": lambda d: matrix().new_ones((2,), device=d),
    "to": lambda d: matrix().to(d),
    "to with a dtype": lambda d: matrix().to(d, torch.float64),
    "an op": lambda d: torch.ops.aten.ones([2], device=d),
    "Generator": lambda d: torch.Generator(device=d),
    "set_default_device": lambda d: torch.set_default_device(d),
    "a module's to": lambda d: nn.Linear(1, 1).to(d),
    "Linear": lambda d: nn.Linear(1, 1, device=d),
    "Conv2d": lambda d: nn.Conv2d(1, 1, 1, device=d),
    "BatchNorm1d": lambda d: nn.BatchNorm1d(2, device=d),
    "LayerNorm": lambda d: nn.LayerNorm(2, device=d),
    "Embedding": lambda d: nn.Embedding(2, 2, device=d),
    "LSTM": lambda d: nn.LSTM(2, 2, device=d),
    "GRUCell": lambda d: nn.GRUCell(2, 2, device=d),
    "MultiheadAttention": lambda d: nn.MultiheadAttention(2, 1, device=d),
}


@pytest.mark.parametrize("name", ON_ANOTHER_DEVICE)
@pytest.mark.parametrize("device", ["cuda:0", CUDA], ids=["by name", "a device"])
def test_what_is_made_on_another_device_is_refused(name: str, device: Any) -> None:
    with pytest.raises(NotImplementedError, match="the shim has no device 'cuda:0'; supported: cpu"):
        ON_ANOTHER_DEVICE[name](device)
    ON_ANOTHER_DEVICE[name]("cpu")


def test_a_scope_of_another_device_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="the shim has no device 'cuda:0'; supported: cpu"), CUDA:
        pass
