"""`torch._check` and its kin, in PyTorch's words; and `torch.library.opcheck` of ops that return nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import guardfix.runtime_shim as torch

UNNAMED = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
    "enhancement request to PyTorch.)"
)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: torch._check(False), RuntimeError, UNNAMED),
        (lambda: torch._check(False, lambda: "mine"), RuntimeError, "mine"),
        (lambda: torch._check(False, lambda: 3), RuntimeError, "3"),
        (lambda: torch._check(False, "mine"), TypeError, "message must be a callable"),
        (lambda: torch._check(1), TypeError, "cond must be a bool, but got <class 'int'>"),
        (
            lambda: torch._check(torch.tensor(True)),
            TypeError,
            "cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() to assert "
            "that all elements are true.",
        ),
        (lambda: torch._check_index(False, lambda: "i"), IndexError, "i"),
        (lambda: torch._check_value(False, lambda: "v"), ValueError, "v"),
        (lambda: torch._check_type(False, lambda: "t"), TypeError, "t"),
        (lambda: torch._check_not_implemented(False, lambda: "n"), NotImplementedError, "n"),
        (lambda: torch._check_is_size(-1), RuntimeError, UNNAMED),
        (lambda: torch._check_is_size(3, lambda: "large", max=2), RuntimeError, "large"),
        (lambda: torch._check_tensor_all(torch.tensor([True, False])), RuntimeError, UNNAMED),
        (lambda: torch._check_tensor_all(torch.ones(1)), TypeError, "cond tensor must have dtype torch.bool, but got torch.float32"),
        (lambda: torch._check_tensor_all(True), TypeError, "cond must be a tensor, but got <class 'bool'>"),
    ],
)  # fmt: skip
def test_what_is_refused(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert (type(raised.value), str(raised.value)) == (error, words)


def test_what_holds_passes() -> None:
    def never() -> str:
        raise AssertionError("the message is only made for an error")

    torch._check(True, never)
    torch._check_is_size(0, never, max=0)
    torch._check_tensor_all(torch.tensor([True, True]), never)
    torch._check_tensor_all(torch.ones(0, dtype=torch.bool), never)


@pytest.fixture
def library() -> Iterator[Any]:
    made = torch.library.Library("value_checks", "DEF")
    made.define("into(Tensor x, Tensor(a!) out) -> ()")
    made.define("aside(Tensor x) -> ()")
    made.define("doubled(Tensor x) -> Tensor")
    made.impl("into", lambda x, out: out.copy_(x) and None, "CPU")
    made.impl("aside", lambda x: None, "CPU")
    made.impl("doubled", lambda x: x * 2, "CPU")
    yield made
    made._destroy()


@pytest.mark.parametrize(
    ("name", "arguments", "fails"),
    [
        pytest.param("into", 2, False, id="an op that only writes needs no fake"),
        pytest.param("aside", 1, True, id="one that neither writes nor returns does"),
        pytest.param("doubled", 1, True, id="one that returns does"),
    ],
)
def test_ops_without_a_fake(library: Any, name: str, arguments: int, fails: bool) -> None:
    op = getattr(torch.ops.value_checks, name).default
    given = tuple(torch.ones(1) for _ in range(arguments))
    found = torch.library.opcheck(op, given, test_utils="test_faketensor", raise_exception=False)
    assert (found["test_faketensor"] != "SUCCESS") is fails


@pytest.mark.parametrize(
    ("call", "found"),
    [
        (lambda: torch.finfo(float).dtype, "float64"),
        (lambda: torch.finfo(complex).dtype, "float64"),
        (lambda: torch.iinfo(int).dtype, "int64"),
        (lambda: torch.finfo(torch.float16).dtype, "float16"),
    ],
)
def test_limits_of_the_dtype_of_a_type_of_pythons(call: Callable[[], Any], found: str) -> None:
    assert call() == found


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: torch.iinfo(bool), "torch.bool is not supported by torch.iinfo"),
        (lambda: torch.finfo(int), "torch.finfo() requires a floating point input type"),
        (lambda: torch.finfo(list), "finfo(): argument 'type' (position 1) must be torch.dtype, not type"),
    ],
)
def test_limits_that_are_refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(TypeError, match=re.escape(words)):
        call()


def test_an_optimizer_around_another_one_patches_its_step() -> None:
    class Around(torch.optim.Optimizer):  # type: ignore[misc]
        def __init__(self, inner: Any) -> None:
            self._patch_step_function()
            self.inner, self.param_groups = inner, inner.param_groups

    weight = torch.nn.Parameter(torch.ones(1))
    assert Around(torch.optim.SGD([weight], lr=0.1)).param_groups[0]["lr"] == 0.1
