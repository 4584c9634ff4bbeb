"""Strides of results, op by op, on inputs whose dimensions lie in memory in any order: the shim against PyTorch."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

import guardfix.runtime_shim as shim

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]
LAYOUTS = 60


@pytest.fixture(scope="module")
def torch() -> ModuleType:
    module: ModuleType = pytest.importorskip("torch")
    return module


@dataclass(frozen=True)
class Layout:
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def tensor(self, torch: Any, offset: int) -> Any:
        return (torch.arange(400.0) / 7 - 1).as_strided(self.shape, self.strides, offset)


def _shape(draw: random.Random) -> tuple[int, ...]:
    return tuple(draw.choice([1, 1, 2, 3]) for _ in range(draw.choice([1, 2, 2, 2, 3, 3])))


def _strides(draw: random.Random, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Those of a permuted tensor with or without gaps, of an expanded one, or any."""
    kind = draw.random()
    if kind > 0.6:
        return tuple(draw.choice([0, 1, 1, 2, 3, 4, 6]) for _ in shape)
    order = list(range(len(shape)))
    if kind < 0.4:
        draw.shuffle(order)
    found, step = [0] * len(shape), draw.choice([1, 1, 2])
    for dim in reversed(order):
        found[dim] = step if kind < 0.4 or draw.random() < 0.8 else 0
        step *= shape[dim] * draw.choice([1, 1, 2])
    return tuple(found)


def _layouts(seed: int) -> tuple[Layout, Layout, Layout]:
    """An input, another of its shape, and one that broadcasts with it."""
    draw = random.Random(seed)
    shape = _shape(draw)
    narrow = tuple(n if draw.random() < 0.6 else 1 for n in shape)[draw.random() < 0.3 and len(shape) > 1 :]
    first, second = Layout(shape, _strides(draw, shape)), Layout(shape, _strides(draw, shape))
    return first, second, Layout(narrow, _strides(draw, narrow))


#: Expressions of `x`, of `y` with its shape and of `z`, which broadcasts with it; `F` is torch.nn.functional.
EXPRESSIONS = """
x.neg() | x.exp() | x.sigmoid() | x.reciprocal() | x.rsqrt() | x.isnan() | x.logical_not() | x.clone() | x.square()
x.clamp(0, 3) | x.clamp_min(1) | x.nan_to_num() | x.float() | x.half() | x.bool() | x.contiguous() | x.erf() | x.sgn()
x + 1 | x * 2.0 | x / 3 | x ** 2 | 2 ** x | 1 - x | x == 1 | x.fmod(2) | x.remainder(2)
x + y | x * y | y - x | x.remainder(y) | x.atan2(y) | x.maximum(y) | x.copysign(y) | x.hypot(y) | x.lerp(y, 0.5)
x.addcmul(y, y) | x.addcdiv(y, y) | x + z | z * x | x == z | z / x | x.minimum(z) | x ** z | x + torch.tensor(2.0)
torch.where(x > 3, x, y) | torch.where(x > 3, x, z) | torch.where(x > 3, z, 0.0) | x.masked_fill(x > 3, 0.0)
x.masked_select(x > 3) | x.sum(0) | x.sum(-1, True) | x.mean(0) | x.amax(0) | x.argmax(0) | x.std(0) | x.var(0, True)
x.prod(0) | x.norm(2, 0) | x.logsumexp(0) | x.all(0) | x.max(0) | x.median(0) | x.mode(0) | x.kthvalue(1, 0)
x.cumsum(0) | x.cumprod(-1) | x.cummax(0) | x.logcumsumexp(0) | x.softmax(0) | x.log_softmax(-1) | x.sort(0) | x.argsort(0)
x.topk(1) | x.flip(0) | x.roll(1, 0) | x.roll(1) | x.triu() | x.tril() | x.tile(2) | x.repeat_interleave(2, 0)
x.index_select(0, torch.tensor([0, 0])) | x.gather(0, torch.zeros(x.shape, dtype=torch.int64)) | x.take(torch.tensor([0]))
x.unsqueeze(0) | x.reshape(-1) | x.ravel() | x.flatten() | x.squeeze() | x.view(x.shape) | x.unfold(0, 1, 1) | x.T | x.mT
x.diagonal() | x.movedim(0, -1) | x.chunk(2) | x.unbind() | x[..., ::2] | x[None, ..., None] | x.matmul(y) | x.outer(y)
x[torch.tensor([0])] | x[:, torch.tensor([0, 0])] | x[torch.tensor([[0, 0]]), torch.tensor([0])] | x[x > -5] | x.renorm(2, 0, 1.0)
x[torch.tensor([0]), :, torch.tensor([0])] | x[:, torch.tensor([[0], [0]])] | x[torch.tensor([[0, 0], [0, 0]]).t()]
torch.zeros_like(x) | torch.empty_like(x) | torch.rand_like(x) * 2 | torch.full_like(x, 2.0) | torch.zeros_like(x) + y
torch.cat([x, y]) | torch.stack([x, y], 1) | torch.hstack([x, y]) | F.relu(x) | F.leaky_relu(x) | F.elu(x) | F.gelu(x)
F.hardtanh(x) | F.softplus(x) | F.silu(x) | F.logsigmoid(x) | F.mish(x) | F.hardswish(x) | F.threshold(x, 0, 1) | F.celu(x)
(x + 1).view(x.shape) + y | x.clone() * z | x.t().contiguous() | x.detach().exp().t() * 2 | x.transpose(0, -1).sigmoid() + 1
""".replace("\n", " | ").split(" | ")


def _described(value: Any, torch: Any) -> object:
    if isinstance(value, torch.Tensor):
        return str(value.dtype), tuple(value.shape), tuple(value.stride()) if value.numel() else "empty"
    return [_described(item, torch) for item in value]


def _outcome(expression: Callable[..., Any], torch: Any, layouts: tuple[Layout, ...]) -> object:
    try:
        x, y, z = (layout.tensor(torch, offset) for offset, layout in enumerate(layouts))
        return _described(expression(torch, torch.nn.functional, x, y, z), torch)
    except (RuntimeError, IndexError):
        return "raises"


@pytest.mark.parametrize("expression", [e for e in EXPRESSIONS if e])
def test_strides_are_those_of_pytorch(torch: ModuleType, expression: str) -> None:
    function = eval(f"lambda torch, F, x, y, z: {expression}")
    for seed in range(LAYOUTS):
        layouts = _layouts(seed)
        assert _outcome(function, shim, layouts) == _outcome(function, torch, layouts), layouts
