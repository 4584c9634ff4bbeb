"""torch.load reads tensors, containers and numbers, and refuses everything that could run code."""

from __future__ import annotations

import io
import os
import pickle
from collections import OrderedDict
from typing import Any

import pytest

import guardfix.runtime_shim as torch


def stored(value: Any) -> io.BytesIO:
    stream = io.BytesIO()
    torch.save(value, stream)
    stream.seek(0)
    return stream


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"a": [1, 2.5, None, True, "text"], "b": (1, {2})}, id="containers and numbers"),
        pytest.param(OrderedDict(step=3), id="ordered dict, as state_dict() gives"),
        pytest.param([torch.float16, torch.bool, torch.Size([2, 3])], id="dtypes and a size"),
    ],
)
def test_plain_values_come_back(value: Any) -> None:
    assert torch.load(stored(value)) == value


def test_tensors_come_back_with_flag_strides_and_shared_storage() -> None:
    base = torch.arange(6.0).reshape(2, 3).requires_grad_()
    view = base.detach().t()[1:]
    a, b = torch.load(stored([base, view]))
    assert a.requires_grad
    assert not b.requires_grad
    assert b.tolist() == [[1.0, 4.0], [2.0, 5.0]]
    assert b.stride() == view.stride()
    a.detach().zero_()
    assert b.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_state_of_a_module_comes_back() -> None:
    net = torch.nn.Linear(2, 3)
    again = torch.nn.Linear(2, 3)
    again.load_state_dict(torch.load(stored(net.state_dict())))
    assert torch.equal(again.weight, net.weight)


class RunsCode:
    def __reduce__(self) -> Any:
        return os.getcwd, ()


class Mine:
    pass


@pytest.mark.parametrize(
    ("payload", "named"),
    [
        pytest.param(RunsCode(), "getcwd", id="a function of os"),
        pytest.param(Mine(), "Mine", id="a class of the program"),
        pytest.param({"deep": [(RunsCode(),)]}, "getcwd", id="inside containers"),
        pytest.param(eval, "eval", id="a builtin function"),
    ],
)
def test_anything_else_is_refused_by_name(payload: Any, named: str) -> None:
    with pytest.raises(pickle.UnpicklingError, match=rf"Weights only load failed.*{named}.*weights_only=False"):
        torch.load(stored(payload))


def test_a_window_beyond_the_storage_is_refused() -> None:
    class Beyond:
        def __reduce__(self) -> Any:
            from guardfix.runtime_shim.aten.pickling import rebuild

            tensor = torch.zeros(2)
            return rebuild, (tensor._storage, ((1000,), (4,), 0), False, {})

    with pytest.raises((ValueError, TypeError)):
        torch.load(stored(Beyond()))


def test_a_trusted_file_may_hold_any_object() -> None:
    assert isinstance(torch.load(stored(Mine()), weights_only=False), Mine)
