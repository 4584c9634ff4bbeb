"""Modules that are saved again: the shim and PyTorch load what was written, and it answers as before."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest

import guardfix.runtime_shim as torch
from guardfix.runtime_shim import jit

from .test_replay import ARCHIVES, RECORDED, answers_as_recorded

COUNTS_ITS_LOADS = "stateful"


def saved(module: jit.Module) -> bytes:
    file = io.BytesIO()
    jit.save(module, file)
    return file.getvalue()


def again(module: jit.Module) -> jit.Module:
    return jit.load(io.BytesIO(saved(module)))


@pytest.mark.parametrize("name", [name for name in RECORDED if name != COUNTS_ITS_LOADS])
def test_a_saved_archive_answers_as_recorded(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = again(jit.load(ARCHIVES / f"{name}.pt"))
    answers_as_recorded(name, module, torch, capsys)


def test_the_state_is_what_getstate_gives() -> None:
    module = jit.load(ARCHIVES / f"{COUNTS_ITS_LOADS}.pt")
    assert (module.loaded, again(module).loaded, again(again(module)).loaded) == (1, 2, 3)


def test_values_are_those_of_the_moment(tmp_path: Path) -> None:
    module = jit.load(ARCHIVES / "mlp.pt").train()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    torch.optim.SGD(module.parameters(), lr=0.5).zero_grad()
    module(torch.ones(2, 4)).sum().backward()
    torch.optim.SGD(module.parameters(), lr=0.5).step()
    module.save(tmp_path / "trained.pt")
    loaded = jit.load(str(tmp_path / "trained.pt"))
    assert loaded.training
    assert [parameter.requires_grad for parameter in loaded.parameters()] == [True] * 4
    for name, value in loaded.state_dict().items():
        assert torch.equal(value, module.state_dict()[name])
        assert not torch.equal(value, before[name])


def test_what_shares_a_storage_shares_it_again() -> None:
    module = jit.load(ARCHIVES / "mlp.pt")
    first, second = (parameter for parameter in module.parameters() if parameter.dim() == 1)
    first.data = second.data = torch.arange(6.0)
    second.data = first.data[::2]
    loaded = again(module)
    first, second = (parameter for parameter in loaded.parameters() if parameter.dim() == 1)
    assert (first.tolist(), second.tolist(), second.stride()) == ([0, 1, 2, 3, 4, 5], [0, 2, 4], (2,))
    assert first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int64"])
def test_kinds_of_elements(dtype: str) -> None:
    module = jit.load(ARCHIVES / "guards.pt")
    module.weight.requires_grad_(False).data = torch.tensor([1, -2]).to(getattr(torch, dtype))
    loaded = again(module).weight
    assert (loaded.dtype, loaded.tolist()) == (getattr(torch, dtype), [1, -2])


def test_extra_files() -> None:
    file = io.BytesIO()
    jit.save(jit.load(ARCHIVES / "mlp.pt"), file, _extra_files={"labels.txt": "cat", "raw": b"\0\1"})
    file.seek(0)
    found: dict[str, Any] = {"labels.txt": "", "raw": ""}
    jit.load(file, _extra_files=found)
    assert found == {"labels.txt": b"cat", "raw": b"\0\1"}


def test_the_same_bytes_each_time() -> None:
    assert saved(jit.load(ARCHIVES / "containers.pt")) == saved(again(jit.load(ARCHIVES / "containers.pt")))


def test_what_is_no_module_of_an_archive() -> None:
    with pytest.raises(TypeError, match=r"takes a module of jit\.load, not a Linear"):
        jit.save(torch.nn.Linear(1, 1), io.BytesIO())


def test_a_path_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        jit.load(ARCHIVES / "mlp.pt").save(tmp_path / "missing" / "model.pt")


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RECORDED)
def test_pytorch_loads_what_is_saved(name: str) -> None:
    real = pytest.importorskip("torch")
    ours = real.jit.load(io.BytesIO(saved(jit.load(ARCHIVES / f"{name}.pt"))))
    theirs = real.jit.load(ARCHIVES / f"{name}.pt")
    assert described(ours) == described(theirs)


def described(module: Any) -> str:
    """Code, attributes and parameters as PyTorch prints them.

    Left out are addresses, where the source stood, which isn't saved again, and what a model counts of its loads.
    """
    return re.sub(r"0x[0-9a-f]+| # .*|loaded = \d+", "", module._c.dump_to_str(True, True, True))
