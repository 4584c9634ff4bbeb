"""Warnings that come once in a process."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import guardfix.runtime_shim as torch
from guardfix.runtime_shim.core import error_texts


def backward_with_a_graph(x: Any) -> None:
    (x * x).sum().backward(create_graph=True)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        pytest.param(backward_with_a_graph, "create_graph=True will create a reference cycle", id="backward"),
        pytest.param(lambda x: float(x), "Converting a tensor with requires_grad=True to a scalar", id="float"),
    ],
)
def test_once_and_where_the_program_asked_for_it(
    act: Callable[[Any], Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(error_texts, "_given", set())
    x = torch.ones(1, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act(x)
        act(x)
    assert [words in str(w.message) for w in caught] == [True]


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda x: torch.autograd.grad(x * x, x, create_graph=True), id="autograd.grad"),
        pytest.param(lambda x: x.item(), id="item"),
        pytest.param(lambda x: float(x.detach()), id="float of a detached tensor"),
        pytest.param(lambda x: bool(x), id="bool"),
    ],
)
def test_what_is_no_mistake_is_silent(act: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(error_texts, "_given", set())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        act(torch.ones(1, requires_grad=True))


@pytest.mark.parametrize("choose", [warnings.simplefilter, warnings.filterwarnings])
def test_arithmetic_is_silent_whatever_warnings_are_asked_for(choose: Callable[[Any], None]) -> None:
    with warnings.catch_warnings():
        choose("error")
        assert torch.zeros(1).div(0).isnan().all()
        with pytest.raises(RuntimeWarning, match="divide by zero"):
            np.ones(1) / np.zeros(1)  # numpy still warns its own users
