"""Gradients of every differentiable op: by finite differences without PyTorch, and against PyTorch itself.

An expression is over x and y (3, 4), q (4, 3) and v (4,), all float64 between 0.2 and 0.9, so that no op is
near a kink or a pole. Its values are weighted unevenly, so that no gradient is right by symmetry.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import guardfix.runtime_shim as shim
from guardfix.runtime_shim.aten import LATE
from guardfix.runtime_shim.dispatch.op_description import OPS, Op
from guardfix.runtime_shim.dispatch.op_node import OpNode

_UNARY = """
neg exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan sinh cosh tanh sigmoid reciprocal
rsqrt abs sgn relu erf asinh atanh lgamma digamma erfc erfinv deg2rad rad2deg frac logit square prod max min amax amin std var mean sum norm t flatten tril triu nan_to_num
clone floor ceil trunc round sign
"""
_EXPRESSIONS = """
x.add(y, alpha=2)
x.sub(y, alpha=3)
x * y
x * v
x / y
x.div(y, rounding_mode="floor") * x
x ** y
x ** 3
x ** 0.5
2 ** x
0.3 + x
1 - x
torch.rsub(x, y)
2 / x
torch.maximum(x, y)
torch.minimum(x, y)
torch.atan2(x, y)
torch.hypot(x, y)
torch.where(x > y, x, y)
x.clamp(0.3, 0.7)
x.clamp_min(0.3)
x.clamp_max(0.7)
torch.clamp(x, y - 0.2, y + 0.1)
torch.lerp(x, y, 0.3)
torch.lerp(x, y, x * 1)
torch.addcmul(x, x, y, value=2)
torch.addcdiv(x, x, y, value=2)
torch.fmod(x, y)
torch.remainder(x, y)
torch.nn.functional.gelu(x)
torch.nn.functional.gelu(x, approximate="tanh")
torch.nn.functional.silu(x)
torch.nn.functional.elu(x - 0.5)
torch.var_mean(x, 1)[0]
torch.copysign(x, y - 0.5)
torch.acosh(x + 1)
torch.polygamma(1, x)
torch.std_mean(x, 1)[0] + torch.std_mean(x, 1)[1]
torch.cummax(x, 1)[0] * torch.cummin(x, 0)[0]
torch.mode(x, 1)[0]
torch.dist(x, y)
torch.dist(x, y, 1.5)
torch.dist(x, y, 0.5)
torch.dist(x, y, 3)
torch.pairwise_distance(x, y)
torch.renorm(x, 2, 0, 0.7)
torch.fill(x, v[0]) * x
torch.quantile(x, 0.3, 0)
torch.quantile(x, v, 1)
torch.nanquantile(x, v)
torch.logaddexp(torch.complex(x, y), torch.complex(y, x)).abs()
torch.logcumsumexp(torch.complex(x, y), 1).abs()
torch.logsumexp(torch.complex(x, y), 1).abs()
torch.clamp(x, y + 0.1, y - 0.1)
torch.clamp_min(x, y)
torch.clamp_max(x, y)
torch.special.xlog1py(x, y)
torch.xlogy(2, x)
torch.xlogy(x, 2)
torch.special.xlog1py(2, x)
torch.special.xlog1py(x, 2)
torch.copysign(x - 0.5, -1)
torch.copysign(x - 0.5, y)
torch.ldexp(x, y)
torch.nextafter(x, y) * x
torch.sinc(x)
torch.angle(x - 0.5) * x
torch.angle(torch.complex(x, y))
torch.sgn(torch.complex(x, y)).real
torch.complex(x, y).conj_physical().imag
torch.polar(x, y).real
(x - 0.5).conj_physical_()
torch.celu_(x - 0.5, 2.0)
torch.threshold_(x * 1, 0.5, 3.0)
(x * 1).polygamma_(1)
x.round(decimals=1)
torch.diag_embed(x, 1, 0, 2) ** 2
torch.nn.functional.pixel_shuffle(x[:, :, None].reshape(4, 3, 1), 2) ** 2
torch.nn.functional.pixel_unshuffle(x[None, :2], 2) ** 2
torch.linalg.cholesky(x @ x.t() + 3 * torch.eye(3, dtype=x.dtype), upper=True) ** 2
torch.logaddexp(x, y)
torch.logcumsumexp(x, 1)
torch.linalg.det(x @ q + 3 * torch.eye(3, dtype=x.dtype))
torch.linalg.slogdet(x @ q + 3 * torch.eye(3, dtype=x.dtype)).logabsdet
torch.linalg.slogdet(x @ q + 3 * torch.eye(3, dtype=x.dtype)).sign * x
torch.linalg.inv(x @ q + 3 * torch.eye(3, dtype=x.dtype))
torch.linalg.solve(x @ q + 3 * torch.eye(3, dtype=x.dtype), y)
torch.linalg.solve(x @ q + 3 * torch.eye(3, dtype=x.dtype), y.t(), left=False)
torch.linalg.cholesky(x @ x.t() + 3 * torch.eye(3, dtype=x.dtype))
torch.linalg.eigvalsh(x @ x.t() + torch.diag(v[:3]))
torch.linalg.svdvals(x)
torch.linalg.lu_factor(q)[0] ** 2
torch.linalg.lu(x)[2] ** 2
torch.linalg.qr(q)[1] ** 2
torch.linalg.qr(x)[0] ** 2
torch.linalg.qr(x)[1] ** 2
torch.linalg.pinv(x)
torch.linalg.pinv(q)
torch.cholesky(x @ x.t() + 3 * torch.eye(3, dtype=x.dtype), upper=True)
torch.xlogy(x, y + 1.5)
torch.fmax(x, y)
torch.fmin(x, y)
torch.nn.functional.leaky_relu(x - 0.5)
torch.nn.functional.softplus(x)
torch.nn.functional.hardtanh(x, 0.3, 0.7)
torch.nn.functional.glu(x)
torch.nn.functional.logsigmoid(x)
torch.nn.functional.mish(x)
torch.nn.functional.cross_entropy(x, y.softmax(1))
torch.nn.functional.prelu(x - 0.5, v[:1])
torch.nn.functional.hardsigmoid(x)
torch.nn.functional.hardswish(x)
torch.nn.functional.hardshrink(x)
torch.nn.functional.softshrink(x)
torch.nn.functional.threshold(x, 0.5, 0.1)
torch.nn.functional.interpolate(x[None], 5, mode="linear")
torch.nn.functional.interpolate(x[None], 5)
torch.nn.functional.interpolate(x[None], 4, mode="nearest-exact")
torch.nn.functional.interpolate(x[None, None], (3, 4))
torch.nn.functional.interpolate(x[None, None], (3, 4), mode="nearest-exact")
torch.nn.functional.interpolate(x[None, None], (3, 4), mode="bilinear", align_corners=True)
torch.nn.functional.interpolate(x[None, None], (1, 2), mode="bilinear", antialias=True)
torch.nn.functional.interpolate(x[None, None], (3, 4), mode="bicubic")
torch.nn.functional.interpolate(x[None, None], (1, 2), mode="bicubic", antialias=True)
torch.nn.functional.interpolate(x[None, None, None], (2, 3, 4))
torch.nn.functional.interpolate(x[None, None, None], (2, 3, 4), mode="nearest-exact")
torch.nn.functional.interpolate(x[None, None, None], (2, 3, 4), mode="trilinear")
torch.nn.functional.selu(x - 0.5)
torch.nn.functional.celu(x - 0.5, 0.7)
torch.nn.functional.cosine_embedding_loss(x, y, (v[:3] > 0.5) * 2.0 - 1, 0.1, reduction="none")
torch.nn.functional.triplet_margin_loss(x, y, q.t())
torch.nn.functional.kl_div(x, y, reduction="none")
torch.nn.functional.cosine_similarity(x, y)
torch.nn.functional.scaled_dot_product_attention(x, y, q.t())
torch.nn.functional.pixel_shuffle(x.view(1, 4, 3, 1), 2)
torch.nn.functional.pixel_unshuffle(x.view(3, 2, 2), 2)
torch.channel_shuffle(x.view(3, 4, 1), 2)
torch.nn.functional.max_pool3d(x.view(1, 3, 2, 2), 2, 1, 1)
torch.nn.functional.avg_pool3d(x.view(1, 3, 2, 2), 2, 1, 1, count_include_pad=False)
torch.nn.functional.adaptive_max_pool1d(x, 3)
torch.nn.functional.adaptive_avg_pool1d(x, 3)
torch.nn.functional.adaptive_avg_pool3d(x.view(1, 3, 2, 2), (2, 1, 2))
x @ q
x @ v
v @ q
v @ v
x.mv(v)
torch.stack([x, y]) @ torch.stack([q, q])
torch.stack([x, y]) @ q
x @ torch.stack([q, q])
torch.addmm(x @ q, x, q, beta=2, alpha=3)
x.t().mm(y)
torch.outer(v, v)
torch.nn.functional.linear(x, y, v[:3])
x.sum(0)
x.mean(1, keepdim=True)
x.max(0)[0]
x.min(1)[0]
x.amax(0)
x.amin(1)
x.prod(1)
x.std(0)
x.var(1)
x.norm(1)
x.norm(3, dim=1)
x.norm(float("inf"))
x.cumsum(1)
x.cumprod(1)
x.logsumexp(1)
x.softmax(1)
x.log_softmax(0)
x.sort(1)[0]
x.sort(0, descending=True)[0]
x.topk(2, 1)[0]
torch.cat([x, y, x], 1)
torch.stack([x, y], 1)
x.repeat(2, 1, 2)
x.flip(0, 1)
x.rot90(1)
x.trace()
x.index_fill(0, torch.tensor([1]), x[0, 0])
x.roll(1, 1)
x.view(4, 3)
x.t().reshape(2, 6)
x[:, :2].reshape(3, 2, 1)
x.permute(1, 0)
x.transpose(0, 1)
x.unsqueeze(1)
x.unsqueeze(1).squeeze(1)
x.unsqueeze(1).squeeze()
x.unsqueeze(1).squeeze((1,))
x.expand(2, 3, 4)
x.unfold(1, 2, 1)
x.diagonal(1)
x.as_strided((2, 2), (4, 2), 1)
x.as_strided((3, 3), (1, 1), 0)
x.narrow(1, 1, 2)
x.select(1, -1)
x.split([1, 3], 1)[1]
x.split(2, 1)[0]
x.chunk(2, 1)[0]
torch.unsafe_split(x, 2)[0]
x.unbind(1)[2]
x[:, ::2]
x[[0, 0, 2]]
x[:, [1, 1]]
x[0, [1, 1]]
x[x > 0.5]
x[None, ..., 0]
x.gather(1, torch.tensor([[0, 0], [1, 2], [3, 3]]))
x.index_select(1, torch.tensor([0, 0, 3]))
x.masked_fill(x > 0.5, 0.0)
x.masked_fill(x > 0.5, v[0])
x.masked_select(x > 0.5)
x.masked_scatter(x > 0.5, y)
x.scatter(1, torch.tensor([[0], [1], [2]]), y[:, :1])
x.scatter(1, torch.tensor([[0], [1], [2]]), 0.5)
x.scatter_add(1, torch.tensor([[0], [1], [2]]), y[:, :1])
x.index_put((torch.tensor([0, 1]), torch.tensor([1, 2])), y[0, :2])
x.index_put((torch.tensor([0, 0]), torch.tensor([1, 1])), y[0, :2], accumulate=True)
x.index_add(1, torch.tensor([0, 0]), y[:, :2])
x.scatter_reduce(1, torch.tensor([[0, 0], [1, 2], [2, 2]]), y[:, :2], "prod")
x.scatter_reduce(1, torch.tensor([[0, 0], [1, 2], [2, 2]]), y[:, :2], "mean", include_self=False)
x.median()
x.median(1)[0]
x.nanmedian()
x.nanmedian(0)[0]
x.kthvalue(2)[0]
x.quantile(0.3, 1)
x.nansum()
x.nansum(1)
x.nanmean(0)
torch.addmv(x[:, 0], x, v, beta=2, alpha=3)
torch.baddbmm(x[:, :3].unsqueeze(0), x.unsqueeze(0), q.unsqueeze(0), beta=2, alpha=3)
torch.cdist(x, y)
torch.cdist(x, y, 1)
torch.cdist(x, y, 3)
torch.view_as_real(torch.fft.rfft(x))
torch.view_as_real(torch.fft.fft(torch.fft.rfft(x)))
torch.fft.irfft(torch.fft.rfft(x), 4)
x.index_fill(1, torch.tensor([0]), 0.5)
x.index_copy(1, torch.tensor([0, 2]), y[:, :2])
x.take(torch.tensor([[0, 5], [1, -1]]))
x.put(torch.tensor([[0, 5], [1, -1]]), y[:2, :2])
x.put(torch.tensor([[0, 0], [1, -1]]), y[:2, :2], accumulate=True)
x.sum_to_size(1, 4)
torch.diag_embed(x, 1)
x.trace()
x.rot90()
torch.vdot(v, v * 2)
torch.linalg.cross(x[:, :3], q[:3], dim=0)
torch.tensordot(x, y, ([1, 0], [1, 0]))
torch.view_as_complex(x.view(3, 2, 2)).abs()
torch.view_as_real(torch.view_as_complex(x.view(3, 2, 2)) * 2)
(torch.view_as_complex(x.view(3, 2, 2)).conj() * torch.view_as_complex(y.view(3, 2, 2))).abs()
(x * 1).exp_()
(x * 1).pow_(3)
(x * 1).add_(y).mul_(y).div_(2).sub_(x)
(x * 1).copy_(y)
(x * 1).t_()
"""


def _expressions() -> Iterator[str]:
    for name in _UNARY.split():
        yield f"x.{name}()"
    yield from (line for line in _EXPRESSIONS.split("\n") if line)


EXPRESSIONS = list(dict.fromkeys(_expressions()))
_random = np.random.default_rng(0)
INPUTS = {
    "x": _random.uniform(0.2, 0.9, (3, 4)),
    "y": _random.uniform(0.2, 0.9, (3, 4)),
    "q": _random.uniform(0.2, 0.9, (4, 3)),
    "v": _random.uniform(0.2, 0.9, 4),
}
#: Differentiable ops that no expression reaches: the gradient of one is tested elsewhere, or it has none.
ELSEWHERE = {
    "bernoulli.by_element",  # random, with gradients of zero, as are the next ones
    "bernoulli.p",
    "normal.both",
    "normal.mean",
    "normal.std",
    "poisson.drawn",
    "heaviside",  # an error as well
    "scatter_reducing",  # its gradient is an error, as in PyTorch; so are the next three
    "_unique2",
    "unique_consecutive",
    "unique_dim",
    "_to_copy",
    "alias",
    "floor_divide",
}


def leaves(torch: ModuleType) -> dict[str, Any]:
    return {name: torch.tensor(array).requires_grad_() for name, array in INPUTS.items()}


def weighted(expression: str, torch: ModuleType, names: dict[str, Any]) -> tuple[Any, Any]:
    out = eval(expression, {"torch": torch, **names})
    weights = torch.tensor(np.cos(np.arange(out.numel())).reshape(tuple(out.shape)))
    return out, (out * weights).sum()


def gradients(expression: str, torch: ModuleType, *, second: bool) -> tuple[str, list[Any]]:
    names = leaves(torch)
    out, total = weighted(expression, torch, names)
    found = torch.autograd.grad(total, list(names.values()), create_graph=second, allow_unused=True)
    if second:
        squares = [(g * g).sum() for g in found if g is not None and g.requires_grad]
        if not squares:
            return type(out.grad_fn).__name__, []
        found = torch.autograd.grad(sum(squares[1:], squares[0]), list(names.values()), allow_unused=True)
    # Adding 0 gives PyTorch's gradients that are zero without being stored a storage.
    return type(out.grad_fn).__name__, [None if g is None else (g.detach() + 0).tolist() for g in found]


def slope(expression: str, name: str, torch: ModuleType = shim, step: float = 1e-6) -> np.ndarray[Any, Any]:
    """Central differences of the weighted sum by each element of one input."""
    found = np.zeros_like(INPUTS[name])
    for place in np.ndindex(found.shape):
        sides = []
        for sign in (1, -1):
            arrays = {n: a.copy() for n, a in INPUTS.items()}
            arrays[name][place] += sign * step
            names = {n: torch.tensor(a) for n, a in arrays.items()}
            sides.append(float(weighted(expression, torch, names)[1]))
        found[place] = (sides[0] - sides[1]) / (2 * step)
    return found


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.some(2)
def test_gradient_is_the_slope(expression: str) -> None:
    for name, found in zip(INPUTS, gradients(expression, shim, second=False)[1], strict=True):
        np.testing.assert_allclose(
            np.zeros_like(INPUTS[name]) if found is None else found,
            slope(expression, name),
            rtol=1e-5,
            atol=1e-7,
            err_msg=f"d({expression})/d{name}",
        )


def test_every_differentiable_op_is_reached() -> None:
    reached: set[str] = set()
    for expression in EXPRESSIONS:
        out = eval(expression, {"torch": shim, **leaves(shim)})
        queue = [out.grad_fn]
        while queue:
            node = queue.pop()
            if isinstance(node, OpNode):
                reached.add(node.op.name)
            queue.extend(n for n, _ in getattr(node, "next_functions", ()) if n is not None)
    # What the kernels of networks register is tested with them.
    core = {
        name
        for name, op in OPS.items()
        if any(formula is not None for _, formula, _ in op.formulas)
        and op.kernel.__module__.partition(".aten.")[2] not in LATE
    }
    assert core - reached - ELSEWHERE - {n for n in core if n.endswith("_backward")} == set()


@pytest.mark.parametrize("factor", [1.001, 0.999])
@pytest.mark.parametrize("name", ["mul", "exp", "cumprod", "index", "amax", "mm", "std"])
def test_an_error_of_a_thousandth_in_a_formula_is_seen(
    name: str, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    op = OPS[name]
    position, formula, params = op.formulas[0]

    def wrong(*args: Any) -> Any:
        return formula(*args) * factor

    monkeypatch.setattr(Op, "__setattr__", object.__setattr__)  # descriptions are frozen
    monkeypatch.setattr(op, "formulas", ((position, wrong, params), *op.formulas[1:]))
    expression = {"mul": "x * y", "exp": "x.exp()", "cumprod": "x.cumprod(1)", "index": "x[[0, 0, 2]]"}.get(
        name, {"amax": "x.amax(0)", "mm": "x.mm(q)", "std": "x.std(0)"}.get(name, "")
    )
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        test_gradient_is_the_slope(expression)


@pytest.mark.oracle
@pytest.mark.parametrize("second", [False, True], ids=["first order", "second order"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_gradient_is_that_of_pytorch(expression: str, second: bool) -> None:
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            node, want = gradients(expression, torch, second=second)
        except RuntimeError as error:
            if "is not implemented" not in str(error):
                raise
            pytest.skip("PyTorch has no second derivative of it")
    mine, got = gradients(expression, shim, second=second)
    assert mine == node
    assert len(want) == len(got) or not any(np.any(g) for g in [*want, *got] if g is not None)
    for a, b in zip(want, got, strict=len(want) == len(got)):
        zero = np.zeros(())
        np.testing.assert_allclose(zero if b is None else b, zero if a is None else a, rtol=1e-6, atol=1e-9)
