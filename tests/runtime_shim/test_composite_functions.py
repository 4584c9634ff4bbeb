"""The functions of nn.functional that are made of other ops: values worked out by hand, and gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import guardfix.runtime_shim as torch

F: Any = torch.nn.functional


def grid(*shape: int) -> Any:
    """0, 1, 2, … in this shape."""
    return torch.arange(math.prod(shape), dtype=torch.float64).reshape(shape)


def values(found: Any) -> Any:
    return found.detach().numpy()


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(lambda: F.max_pool3d(grid(1, 2, 2, 4), 2), [[[[13.0, 15.0]]]], id="max_pool3d"),
        pytest.param(lambda: F.avg_pool3d(grid(1, 2, 2, 2), 2), [[[[3.5]]]], id="avg_pool3d"),
        pytest.param(
            lambda: F.avg_pool3d(grid(1, 1, 1, 2), (1, 1, 2), padding=(0, 0, 1), count_include_pad=False),
            [[[[0.0, 1.0]]]],
            id="padding that does not count",
        ),
        pytest.param(lambda: F.adaptive_max_pool1d(grid(1, 5), 2), [[2.0, 4.0]], id="windows overlap"),
        pytest.param(lambda: F.adaptive_max_pool2d(grid(1, 2, 4), (None, 2)), [[[1.0, 3.0], [5.0, 7.0]]], id="None"),
        pytest.param(lambda: F.adaptive_avg_pool3d(grid(1, 2, 2, 2), 1), [[[[3.5]]]], id="adaptive_avg_pool3d"),
        pytest.param(
            lambda: F.max_unpool1d(torch.tensor([[5.0]]), torch.tensor([[1]]), 2), [[0.0, 5.0]], id="max_unpool1d"
        ),
        pytest.param(lambda: F.pixel_shuffle(grid(4, 1, 2), 2), [[[0.0, 2.0, 1.0, 3.0], [4.0, 6.0, 5.0, 7.0]]], id="shuffle"),
        pytest.param(lambda: F.pixel_unshuffle(F.pixel_shuffle(grid(4, 1, 2), 2), 2), grid(4, 1, 2).tolist(), id="back"),
        pytest.param(
            lambda: F.grid_sample(grid(1, 1, 2, 2), torch.zeros(1, 1, 1, 2, dtype=torch.float64)),
            [[[[1.5]]]],
            id="the middle of four pixels",
        ),
        pytest.param(
            lambda: F.grid_sample(
                grid(1, 1, 2, 2), F.affine_grid(torch.eye(2, 3, dtype=torch.float64).unsqueeze(0), (1, 1, 2, 2))
            ),
            grid(1, 1, 2, 2).tolist(),
            id="the identity",
        ),
        pytest.param(
            lambda: F.grid_sample(grid(1, 1, 1, 2), torch.tensor([[[[3.0, 0.0]]]], dtype=torch.float64)),
            [[[[0.0]]]],
            id="zeros outside",
        ),
        pytest.param(lambda: F.hardshrink(torch.tensor([-1.0, 0.2, 0.5, 2.0])), [-1.0, 0.0, 0.0, 2.0], id="hardshrink"),
        pytest.param(lambda: F.softshrink(torch.tensor([-1.0, 0.2, 2.0])), [-0.5, 0.0, 1.5], id="softshrink"),
        pytest.param(lambda: F.local_response_norm(torch.ones(1, 2, 1), 2, 1.0, 1.0, 1.0), [[[1 / 1.5], [0.5]]], id="lrn"),
        pytest.param(
            lambda: F.embedding_bag(torch.tensor([0, 1, 2]), grid(3, 2), torch.tensor([0, 2]), mode="sum"),
            [[2.0, 4.0], [4.0, 5.0]],
            id="two bags",
        ),
        pytest.param(
            lambda: F.embedding_bag(torch.tensor([[0, 2]]), grid(3, 2), mode="max"), [[4.0, 5.0]], id="a row is a bag"
        ),
        pytest.param(
            lambda: F.embedding_bag(torch.tensor([0, 1]), grid(3, 2), torch.tensor([0, 0]), padding_idx=0),
            [[0.0, 0.0], [2.0, 3.0]],
            id="an empty bag, and what padding leaves",
        ),
        pytest.param(lambda: F.pdist(torch.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])), [5.0, 1.0, 18**0.5], id="pdist"),
    ],
)  # fmt: skip
def test_values(found: Callable[[], Any], expected: Any) -> None:
    np.testing.assert_allclose(values(found()), expected, rtol=1e-6)


LOSSES = [
    pytest.param(
        lambda: F.margin_ranking_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]), 0.5), 2.5, id="ranking"
    ),
    pytest.param(
        lambda: F.cosine_embedding_loss(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]]), torch.tensor([1.0])),
        1.0,
        id="orthogonal",
    ),
    pytest.param(
        lambda: F.triplet_margin_loss(torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]), margin=6.0, eps=0.0),
        1.0,
        id="triplet",
    ),
    pytest.param(
        # three steps, one label: aab, a-b's readings of "a" are -a-, a--, --a, aa-, -aa, aaa, each of probability 1/8
        lambda: F.ctc_loss(torch.full((3, 1, 2), math.log(0.5)), torch.tensor([[1]]), [3], [1]),
        -math.log(6 / 8),
        id="all readings of one label",
    ),
    pytest.param(
        lambda: F.ctc_loss(torch.full((1, 1, 2), math.log(0.5)), torch.tensor([[1, 1]]), [1], [2], zero_infinity=True),
        0.0,
        id="no reading",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("found", "expected"), LOSSES)
def test_losses(found: Callable[[], Any], expected: float) -> None:
    assert found().item() == pytest.approx(expected, abs=1e-5)


def numerical(function: Callable[[Any], Any], x: Any) -> Any:
    found = np.zeros(x.numel())
    for i in range(x.numel()):
        ends = []
        for step in (1e-6, -1e-6):
            moved = x.detach().clone()
            moved.view(-1)[i] += step
            ends.append(function(moved).sum().item())
        found[i] = (ends[0] - ends[1]) / 2e-6
    return found.reshape(tuple(x.shape))


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        pytest.param(lambda x: F.max_pool3d(x, 2), (1, 2, 2, 2), id="max_pool3d"),
        pytest.param(lambda x: F.adaptive_avg_pool3d(x, (1, 2, 1)), (1, 2, 3, 2), id="adaptive_avg_pool3d"),
        pytest.param(
            lambda x: F.grid_sample(x, F.affine_grid(torch.full((1, 2, 3), 0.3, dtype=torch.float64), (1, 1, 2, 2))),
            (1, 1, 3, 3),
            id="grid_sample",
        ),
        pytest.param(
            lambda x: F.ctc_loss(x.log_softmax(-1), torch.tensor([[1, 2]]), [4], [2], reduction="sum"), (4, 1, 3), id="ctc"
        ),
        pytest.param(lambda x: F.triplet_margin_loss(x, x * 2, x - 1), (2, 3), id="triplet"),
    ],
)  # fmt: skip
def test_gradients(function: Callable[[Any], Any], shape: tuple[int, ...]) -> None:
    torch.manual_seed(3)
    x = torch.rand(*shape, dtype=torch.float64).requires_grad_()
    function(x).sum().backward()
    np.testing.assert_allclose(values(x.grad), numerical(function, x), atol=1e-6)


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn_tanh", "rnn_relu"])
def test_packed_sequences_are_those_one_by_one(kind: str) -> None:
    """Sequences of lengths 3 and 1: each gets what it gets alone, in both directions."""
    gates = {"lstm": 4, "gru": 3}.get(kind, 1)
    torch.manual_seed(1)

    def rand(*shape: int) -> Any:
        return torch.rand(*shape, dtype=torch.float64)

    weights = []
    for _ in range(2):
        weights += [rand(gates * 2, 3), rand(gates * 2, 2), rand(gates * 2), rand(gates * 2)]
    states = [rand(2, 2, 2) for _ in range(2 if kind == "lstm" else 1)]
    long, short = rand(3, 3), rand(1, 3)
    packed = torch.cat([torch.stack([long[0], short[0]]), long[1:]])

    def run(input: Any, sizes: Any, state: Any) -> Any:
        return F.recurrent(kind, input, sizes, state, weights, True, 1, 0.0, False, True, False)

    both = run(packed, [2, 1, 1], states)
    alone = [
        run(sequence.unsqueeze(1), None, [part[:, i : i + 1] for part in states])
        for i, sequence in enumerate((long, short))
    ]
    np.testing.assert_allclose(values(both[0])[[0, 2, 3]], values(alone[0][0])[:, 0])
    np.testing.assert_allclose(values(both[0])[[1]], values(alone[1][0])[:, 0])
    for part, first, second in zip(both[1:], alone[0][1:], alone[1][1:], strict=True):
        np.testing.assert_allclose(values(part), np.concatenate([values(first), values(second)], axis=1))


def test_attention_looks_where_the_mask_lets_it() -> None:
    """With projections that change nothing, one head, and a mask, the output is the mean of what is visible."""
    eye = torch.eye(2)
    value = torch.tensor([[[1.0, 0.0]], [[3.0, 0.0]], [[9.0, 0.0]]])
    output, weights = F.multi_head_attention_forward(
        torch.zeros(1, 1, 2), value, value, 2, 1, torch.cat([eye, eye, eye]), None, None, None, False, 0.0, eye, None,
        key_padding_mask=torch.tensor([[False, False, True]]),
    )  # fmt: skip
    np.testing.assert_allclose(values(output), [[[2.0, 0.0]]])
    np.testing.assert_allclose(values(weights), [[[0.5, 0.5, 0.0]]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: F.max_pool3d(torch.zeros(2, 2), 2), "non-empty 4D or 5D", id="rank"),
        pytest.param(lambda: F.softshrink(torch.zeros(1), -1.0), "lambda must be in range", id="lambda"),
        pytest.param(lambda: F.pixel_shuffle(torch.zeros(3, 1, 1), 2), "divisible by the square", id="channels"),
        pytest.param(lambda: F.grid_sample(torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 1, 2), "cubic"), "but got: 'cubic'", id="mode"),
    ],
)  # fmt: skip
def test_refusals(call: Callable[[], Any], message: str) -> None:
    with pytest.raises((RuntimeError, ValueError), match=message):
        call()
