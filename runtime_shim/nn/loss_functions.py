"""Losses that few programs use, most of them made of other ops. `reduction` is "none", "mean" or "sum" everywhere."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from ..aten.elementwise import add_scalar, sub_scalar
from ..aten.networks.backward_kernels import MEAN, NONE
from ..aten.networks.losses import REDUCTIONS
from ..core import dtypes
from ..core.function_table import FUNCTIONS
from ..core.late_modules import late_module
from ..core.tensor import Tensor


def _reduction(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """What a loss does with its elements, as a number, from the word or the two old arguments."""
    if size_average is not None or reduce is not None:
        size_average, reduce = size_average is not False, reduce is not False
        reduction = "none" if not reduce else "mean" if size_average else "sum"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            stacklevel=3,
        )
    elif reduction == "elementwise_mean":
        warnings.warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=3)
        reduction = "mean"
    try:
        return REDUCTIONS[reduction]
    except KeyError:
        raise ValueError(f"{reduction} is not a valid value for reduction") from None


def _reduced(values: Tensor, reduction: int) -> Tensor:
    return values if reduction == NONE else values.mean() if reduction == MEAN else values.sum()


def _minus(number: float, t: Tensor) -> Tensor:
    """A number minus a tensor as PyTorch's C++ code computes it: the number is a tensor of the same dtype."""
    made: Tensor = FUNCTIONS["full"]((), number, dtype=t.dtype) - t
    return made


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, -target * (input1 - input2) + margin)"""
    number = _reduction(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    away = input1 - input2
    return _reduced(add_scalar(-target * away, float(margin)).clamp_min_(0), number)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1."""
    number, ndim = _reduction(reduction, size_average, reduce), target.dim()
    if ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1.dim() == input2.dim() == ndim + 1:
        raise RuntimeError(
            f"{ndim}D target tensor expects {ndim + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    product = (input1 * input2).sum(ndim)
    squares = [add_scalar((t * t).sum(ndim), 1e-12) for t in (input1, input2)]
    cosine = product / (squares[0] * squares[1]).sqrt_()
    zeros = FUNCTIONS["zeros_like"](cosine)
    near, far = _minus(1, cosine), sub_scalar(cosine, float(margin)).clamp_min_(0)
    return _reduced(FUNCTIONS["where"](target == 1, near, zeros) + FUNCTIONS["where"](target == -1, far, zeros), number)


def _check_triplet(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    dims = [t.ndim for t in (anchor, positive, negative)]
    if len(set(dims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {dims[0]}D, positive {dims[1]}D, and negative {dims[2]}D inputs"
        )


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, |anchor - positive| - |anchor - negative| + margin)"""
    number = _reduction(reduction, size_average, reduce)
    _check_triplet(anchor, positive, negative, margin)
    distance = _distance()
    near, far = distance(anchor, positive, p, eps), distance(anchor, negative, p, eps)
    if swap:
        far = FUNCTIONS["minimum"](far, distance(positive, negative, p, eps))
    return _reduced((add_scalar(near, float(margin)) - far).clamp_min(0), number)


def _distance() -> Callable[..., Tensor]:
    found: Callable[..., Tensor] = late_module("nn.functional").pairwise_distance
    return found


def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The distances of all pairs of rows."""
    first, second = [], []
    for i in range(input.size(0)):
        for j in range(i + 1, input.size(0)):
            first.append(i)
            second.append(j)
    found: Tensor = (input[first] - input[second]).norm(p, -1)
    return found


def _lengths(value: Any, what: str) -> list[int]:
    if isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex()):
        raise RuntimeError(f"{what}_lengths must be integral")
    numbers = value.tolist() if isinstance(value, Tensor) else value
    return [int(v) for v in (numbers if isinstance(numbers, Iterable) else [numbers])]


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: object,
    target_lengths: object,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Connectionist temporal classification, for `log_probs` of shape (time, batch, classes) or (time, classes).

    The gradient is that of the sum over all alignments; PyTorch's adds what a softmax before it makes vanish.
    """
    scores = log_probs if log_probs.dim() == 3 else log_probs.unsqueeze(1)
    times, lengths = _lengths(input_lengths, "input"), _lengths(target_lengths, "target")
    if not 0 <= blank < scores.size(2):
        raise RuntimeError("blank must be in label range")
    if len(times) != scores.size(1):
        raise RuntimeError("input_lengths must be of size batch_size")
    if len(lengths) != scores.size(1):
        raise RuntimeError("target_lengths must be of size batch_size")
    for what, values in (("input", times), ("target", lengths)):
        for value in values:
            if value < 0:
                raise _refused(f"{what}_lengths to have value at least 0, but got value {value}")
    for time in times:
        if time > scores.size(0):
            raise _refused(f"input_lengths to have value at most {scores.size(0)}, but got value {time}")
    if targets.dim() == 2 and targets.size(1) < max(lengths):
        raise _refused(
            f"tensor to have size at least {max(lengths)} at dimension 1, but got size {targets.size(1)} for argument "
            "#2 'targets'"
        )
    labels = targets.to(dtypes.int64).tolist()
    losses, begin = [], 0
    for n, (time, length) in enumerate(zip(times, lengths, strict=True)):
        if targets.dim() == 2:
            own = labels[n][:length]
        else:
            own, begin = labels[begin : begin + length], begin + length
        losses.append(_alignments(scores[:time, n], own, blank))
    found = FUNCTIONS["stack"](losses)
    if zero_infinity:
        found = found.masked_fill(found == math.inf, 0)
    if reduction == "mean":
        counts = FUNCTIONS["tensor"]([max(1, n) for n in lengths], dtype=found.dtype)
        return (found / counts).mean()
    return _reduced(found if log_probs.dim() == 3 else found.squeeze(0), _reduction(reduction))


def _refused(what: str) -> RuntimeError:
    return RuntimeError(f"Expected {what} (while checking arguments for ctc_loss_allocate_outputs)")


def _alignments(scores: Tensor, labels: list[int], blank: int) -> Tensor:
    """Minus the log of the summed probability of all ways to read `labels` from (time, classes)."""
    row = [blank]
    for label in labels:
        row += [label, blank]
    states = len(row)
    never = FUNCTIONS["full"]((1,), -math.inf, dtype=scores.dtype)
    if scores.size(0) == 0:
        return scores.sum() * 0 + (0.0 if states == 1 else math.inf)
    emitted = scores[:, row]
    may_skip = [i > 1 and row[i] != blank and row[i] != row[i - 2] for i in range(states)]
    barred = ~FUNCTIONS["tensor"](may_skip, dtype=dtypes.bool_)
    begins = FUNCTIONS["tensor"]([i < 2 for i in range(states)], dtype=dtypes.bool_)
    alpha = emitted[0].masked_fill(~begins, -math.inf)
    for time in range(1, scores.size(0)):
        one = FUNCTIONS["cat"]([never, alpha[:-1]])
        two = FUNCTIONS["cat"]([never, one[:-1]]).masked_fill(barred, -math.inf)
        alpha = _logaddexp([alpha, one, two]) + emitted[time]
    ends = alpha[-2:] if states > 1 else alpha[-1:]
    return -_logaddexp(list(ends.unbind(0)))


def _logaddexp(terms: list[Tensor]) -> Tensor:
    """log(sum of exp), where no term of a sum is one as well; without NaN in the gradient there."""
    stacked = FUNCTIONS["stack"](terms)
    top = stacked.detach().amax(0)
    finite = top != -math.inf
    shift = top.masked_fill(~finite, 0)
    total = (stacked - shift).exp().sum(0)
    return (total.masked_fill(~finite, 1).log() + shift).masked_fill(~finite, -math.inf)


__all__ = [
    "cosine_embedding_loss",
    "ctc_loss",
    "margin_ranking_loss",
    "pdist",
    "triplet_margin_loss",
]
