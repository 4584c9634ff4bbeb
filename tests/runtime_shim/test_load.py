"""torch.load reads tensors, containers and numbers, and refuses everything that could run code."""

from __future__ import annotations

import io
import os
import pickle
from collections import Counter, OrderedDict, defaultdict
from typing import Any

import numpy as np
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


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.complex64, torch.int64])
def test_a_view_of_another_dtype_comes_back_in_the_same_storage(dtype: torch.dtype) -> None:
    base = torch.tensor([1.0, 2.0, 3.0, 4.0])
    a, b = torch.load(stored([base, base.view(dtype)[1:]]))
    assert (b.dtype, b.tolist()) == (dtype, base.view(dtype)[1:].tolist())
    assert (b.stride(), b.storage_offset()) == ((1,), 1)
    a.zero_()
    assert not b.any()


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
            from guardfix.runtime_shim.aten.copies import rebuild

            tensor = torch.zeros(2)
            return rebuild, (tensor._storage, ((1000,), (4,), 0), False, {})

    with pytest.raises(pickle.UnpicklingError, match="leaves its storage of 8 bytes"):
        torch.load(stored(Beyond()))


def test_a_trusted_file_may_hold_any_object() -> None:
    assert isinstance(torch.load(stored(Mine()), weights_only=False), Mine)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(Counter("abca"), id="a counter"),
        pytest.param(defaultdict(list, a=[1]), id="a default dict"),
        pytest.param({(1, "a"): frozenset({1, 2}), None: {3}, b"k": bytearray(b"x")}, id="keys and sets"),
        pytest.param([slice(1, None, 2), range(1, 10, 3), 1 + 2j, 10**30, -(2**63)], id="numbers of other kinds"),
        pytest.param([np.float32(1.5), np.int64(7), np.bool_(True)], id="numbers of numpy"),
        pytest.param(torch.device("cpu"), id="a device"),
        pytest.param(b"x" * 70_000, id="long bytes"),
    ],
)
def test_other_plain_values_come_back(value: Any) -> None:
    found = torch.load(stored(value))
    assert found == value
    assert type(found) is type(value)


def test_a_pickle_of_an_old_protocol_is_read() -> None:
    value = {"a": [1, {2, 3}, b"bytes", 1.5, complex(1, 2)], "b": OrderedDict(x=frozenset("y"))}
    for protocol in (2, 3, 4, 5):
        assert torch.load(io.BytesIO(pickle.dumps(value, protocol))) == value


def test_arrays_come_back_with_their_order() -> None:
    for array in (np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6).reshape(2, 3)), np.zeros((0, 3), bool)):
        found = torch.load(stored(array))
        assert found.dtype == array.dtype
        assert found.tolist() == array.tolist()
        assert found.flags.f_contiguous == array.flags.f_contiguous


def test_several_values_in_one_file() -> None:
    stream = io.BytesIO()
    torch.save([1], stream)
    torch.save(torch.ones(2), stream)
    stream.seek(0)
    assert torch.load(stream) == [1]
    assert torch.load(stream).tolist() == [1.0, 1.0]


def test_more_can_be_allowed() -> None:
    value = [[0] * 100 for _ in range(100)]
    with pytest.raises(pickle.UnpicklingError, match="takes more than 50 steps"):
        torch.load(stored(value), limits=torch.serialization.LoadLimits(steps=50, steps_per_byte=0))
    assert torch.load(stored(value), limits=torch.serialization.LoadLimits(steps=50_000)) == value
