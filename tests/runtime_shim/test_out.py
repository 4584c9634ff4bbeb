"""`out=`: what dtype it must have, how it is resized, what it may share memory with."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

Torch = Any
Call = Callable[[Torch], Any]


@pytest.fixture(autouse=True)
def no_warning_of_resizing() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def grid(torch: Torch, **options: Any) -> Any:
    return torch.tensor([[1.5, 2.5], [3.5, 4.5]], **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(
            lambda torch: torch.argmax(grid(torch), 0, out=torch.zeros(2)),
            "Expected out tensor to have dtype long int, but got float instead",
            id="argmax",
        ),
        pytest.param(
            lambda torch: torch.mm(grid(torch), grid(torch), out=torch.zeros(2, 2, dtype=torch.float64)),
            "Expected out tensor to have dtype float, but got double instead",
            id="mm",
        ),
        pytest.param(
            lambda torch: torch.amax(grid(torch), 0, out=torch.zeros(2, dtype=torch.float64)),
            "Expected the dtype for input and out to match, but got Float for input's dtype and Double for out's dtype.",
            id="amax",
        ),
        pytest.param(
            lambda torch: torch.index_select(grid(torch), 0, torch.tensor([0]), out=torch.zeros(1, 2).double()),
            "index_select(): self and result must have the same scalar type",
            id="index_select",
        ),
        pytest.param(
            lambda torch: torch.clamp(grid(torch), min=2, out=torch.zeros(2, 2).double()),
            "Found dtype Double but expected Float",
            id="clamp",
        ),
        pytest.param(
            lambda torch: torch.where(grid(torch) > 2, grid(torch), grid(torch), out=torch.zeros(2, 2).long()),
            "Expected out type to be Float but got Long",
            id="where",
        ),
        pytest.param(
            lambda torch: torch.max(grid(torch), 0, out=(torch.zeros(2).double(), torch.zeros(2).long())),
            "Expected out tensor to have dtype float, but got double instead",
            id="max along a dimension",
        ),
        pytest.param(
            lambda torch: torch.zeros(2, 2, out=grid(torch, requires_grad=True)),
            "aten::zeros(): functions with out=... arguments don't support automatic differentiation",
            id="creation into a leaf",
        ),
    ],
)
def test_refuses(torch: Torch, call: Call, message: str) -> None:
    with pytest.raises(RuntimeError, match="^" + re.escape(message)):
        call(torch)


def test_cat_refuses_with_a_type_error(torch: Torch) -> None:
    with pytest.raises(TypeError, match=r"^torch\.cat\(\): input types can't be cast to the desired output type Long$"):
        torch.cat([grid(torch)], out=torch.zeros(2, 2, dtype=torch.int64))


@pytest.mark.parametrize("name", ["cat", "stack", "gather", "index_select", "masked_select"])
def test_what_is_read_while_it_is_written_stands_apart(torch: Torch, name: str) -> None:
    t = grid(torch)
    arguments = {
        "cat": ([t],),
        "stack": ([t],),
        "gather": (t, 0, torch.zeros(2, 2, dtype=torch.int64)),
        "index_select": (t, 0, torch.tensor([0])),
        "masked_select": (t, t > 0),
    }
    with pytest.raises(RuntimeError, match=r"^unsupported operation: some elements of the input tensor"):
        getattr(torch, name)(*arguments[name], out=t)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(lambda t, torch: torch.sum(t, 0, out=torch.zeros(2).long()), [4, 6], id="sum"),
        pytest.param(lambda t, torch: torch.prod(t, 0, out=torch.zeros(2).long()), [3, 8], id="prod"),
        pytest.param(lambda t, torch: torch.mean(t, 0, out=torch.zeros(2).double()), [2.5, 3.5], id="mean"),
        pytest.param(lambda t, torch: torch.sum(t, 0, dtype=torch.int64), [4, 6], id="sum with a dtype"),
    ],
)
def test_reductions_compute_in_the_dtype_of_out(
    torch: Torch, call: Callable[[Any, Torch], Any], expected: list[float]
) -> None:
    assert call(grid(torch), torch).tolist() == expected


def test_a_resized_view_keeps_its_storage(torch: Torch) -> None:
    base = torch.arange(6.0)
    view = base[2:4]
    torch.add(torch.ones(3), 1, out=view)
    assert base.tolist() == [0.0, 1.0, 2.0, 2.0, 2.0, 5.0]
    assert view.storage_offset() == 2


@pytest.mark.parametrize("name", ["eq", "logical_not", "argmin"])
def test_what_has_no_gradient_asks_for_none(torch: Torch, name: str) -> None:
    leaf = grid(torch, requires_grad=True)
    if name == "eq":
        assert torch.eq(leaf, leaf, out=torch.zeros(2, 2)).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    elif name == "argmin":
        assert torch.argmin(leaf, 0, out=torch.zeros(2, dtype=torch.int64)).tolist() == [0, 0]
    else:
        assert torch.logical_not(leaf, out=torch.zeros(2, 2)).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_max_writes_values_and_indices(torch: Torch) -> None:
    values, indices = torch.zeros(2), torch.zeros(2, dtype=torch.int64)
    torch.max(grid(torch), 0, out=(values, indices))
    assert (values.tolist(), indices.tolist()) == ([3.5, 4.5], [1, 1])


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        pytest.param(lambda torch: torch.zeros(2, dtype=torch.int64).fill_(1e19), "int64_t", id="int64"),
        pytest.param(lambda torch: torch.zeros(2, dtype=torch.int64).fill_(float("nan")), "int64_t", id="nan"),
        pytest.param(lambda torch: torch.full((2,), 1e39), "float", id="float32"),
        pytest.param(
            lambda torch: torch.zeros(2).half().masked_fill_(torch.ones(2).bool(), 1e9), "c10::Half", id="float16"
        ),
    ],
)
def test_a_number_that_does_not_fit(torch: Torch, call: Call, kind: str) -> None:
    with pytest.raises(RuntimeError, match=f"^value cannot be converted to type {kind} without overflow"):
        call(torch)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        pytest.param(lambda x, torch: x % 2, "RemainderBackward0", id="remainder of a number"),
        pytest.param(lambda x, torch: x % torch.ones(2), "RemainderBackward1", id="remainder of a tensor"),
        pytest.param(lambda x, torch: torch.fmod(x, 2), "FmodBackward0", id="fmod of a number"),
        pytest.param(lambda x, torch: x // 2, "NotImplemented", id="floor_divide"),
        pytest.param(lambda x, torch: x.div(2, rounding_mode="floor"), "DivBackward2", id="div with a mode"),
        pytest.param(lambda x, torch: x.clone().ge_(1), "GeBackward0", id="a comparison in place, with a number"),
        pytest.param(lambda x, torch: x.clone().ge_(x), "GeBackward1", id="a comparison in place, with a tensor"),
        pytest.param(
            lambda x, torch: x.expand(2, 2)[:, :1].reshape(-1),
            "ReshapeAliasBackward0",
            id="a reshape that strides allow",
        ),
    ],
)
def test_nodes_of_overloads(torch: Torch, call: Callable[[Any, Torch], Any], name: str) -> None:
    assert type(call(torch.ones(2, requires_grad=True), torch).grad_fn).__name__ == name


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        pytest.param(
            lambda torch: torch.ones(2, dtype=torch.complex64).abs_(),
            RuntimeError,
            "In-place abs is not supported for complex tensors.",
            id="abs_ of complex numbers",
        ),
        pytest.param(
            lambda torch: torch.ones(2).bool().cumsum_(0),
            NotImplementedError,
            "\"cumsum_out_cpu\" not implemented for 'Bool'",
            id="cumsum_ of bools",
        ),
        pytest.param(
            lambda torch: torch.ones(2).cumprod_(0, dtype=torch.float64),
            RuntimeError,
            "Bad in-place call: input tensor dtype float and output tensor dtype double should match",
            id="cumprod_ in another dtype",
        ),
        pytest.param(
            lambda torch: torch.ones(2).bool().remainder_(2),
            RuntimeError,
            "result type Long can't be cast to the desired output type Bool",
            id="remainder_ of bools by an integer",
        ),
        pytest.param(
            lambda torch: torch.ones(2).bool().clamp_(0, 1),
            RuntimeError,
            "result type Long can't be cast to the desired output type bool",
            id="clamp_ of bools",
        ),
    ],
)
def test_in_place_results_that_do_not_fit(torch: Torch, call: Call, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match="^" + re.escape(message)):
        call(torch)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda torch: torch.ones(0).amax(), RuntimeError, "amax(): Expected reduction dim to be specified"),
        (lambda torch: torch.ones(2, 0).max(1), IndexError, "max(): Expected reduction dim 1 to have non-zero size."),
        (lambda torch: torch.ones(0).argmin(), IndexError, "argmin(): Expected reduction dim to be specified"),
        (
            lambda torch: torch.ones(0)[torch.tensor([0])],
            IndexError,
            "index is out of bounds for dimension with size 0",
        ),
        (lambda torch: torch.ones(3).triu(), RuntimeError, "triu: input tensor must have at least 2 dimensions"),
        (lambda torch: torch.ones(3).unflatten(0, (2, -1)), RuntimeError, "unflatten: Provided sizes [2, -1] don't"),
        (lambda torch: torch.ones(()).roll(1, 0), IndexError, "Dimension specified as 0 but tensor has no dimensions"),
    ],
)
def test_nothing_to_reduce_or_to_index(torch: Torch, call: Call, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match="^" + re.escape(message)):
        call(torch)


@pytest.mark.parametrize("call", ["softmax", "log_softmax", "logsumexp", "flip"])
def test_nothing_is_enough_for(torch: Torch, call: str) -> None:
    assert getattr(torch.ones(2, 0), call)(0).numel() == 0


def test_arange_keeps_a_shape_of_as_many_elements(torch: Torch) -> None:
    assert torch.arange(4, out=torch.zeros(2, 2)).tolist() == [[0.0, 1.0], [2.0, 3.0]]


def test_aliases_survive_a_storage_that_grows(torch: Torch) -> None:
    base = torch.zeros(2)
    alias = base[1:]
    base.resize_(64)
    assert alias.storage_offset() == 1
    assert alias.clone().tolist() == [0.0]


def test_a_number_brings_no_keys_in_inference_mode(torch: Torch) -> None:
    t = torch.zeros(2)
    with torch.inference_mode():
        t.data = torch.ones(2)
        t.mul_(2)
    assert (t.is_inference(), t._version) == (True, 0)
