"""`torch.nn.init`: filling parameters in place, without recording."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.function_table import FUNCTIONS
from ..core.gradient_modes import no_grad
from ..core.supported_names import refuses_missing
from ..core.tensor import Tensor

if TYPE_CHECKING:
    import statistics


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: object = None) -> Tensor:
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: object = None) -> Tensor:
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def constant_(tensor: Tensor, val: float) -> Tensor:
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    with no_grad():
        return tensor.zero_()


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """How much the nonlinearity shrinks variance, to be made up for by the weights."""
    if nonlinearity in (
        "linear",
        "sigmoid",
        *(f"conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3)),
    ):
        return 1.0
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, int | float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    gains = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains[nonlinearity]


def fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs and outputs each unit of a weight has."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


_calculate_fan_in_and_fan_out = fans


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: object = None) -> Tensor:
    bound = gain * math.sqrt(6.0 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: object = None) -> Tensor:
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(fans(tensor))), generator)


def _std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return calculate_gain(nonlinearity, a) / math.sqrt(fans(tensor)[mode == "fan_out"])


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: object = None,
) -> Tensor:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    bound = math.sqrt(3.0) * _std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: object = None,
) -> Tensor:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    return normal_(tensor, 0.0, _std(tensor, a, mode, nonlinearity), generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: object = None
) -> Tensor:
    """Normally distributed numbers between `a` and `b`."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
            "incorrect.",
            stacklevel=2,
        )
    import statistics  # brings fractions and decimal along

    distribution = statistics.NormalDist(mean, std)
    share = distribution.cdf(b) - distribution.cdf(a)
    if tensor.numel():
        with no_grad():
            # What lies outside is drawn again; where most would, numbers between the bounds are drawn instead, and
            # taken as often as the distribution has them.
            draw = _normal_numbers_between if share > _SHARE_FOR_NORMAL_NUMBERS else _weighted_numbers_between
            draw(tensor, distribution, a, b, generator)
    return tensor


_SHARE_FOR_NORMAL_NUMBERS = 0.3


def _normal_numbers_between(
    tensor: Tensor, distribution: statistics.NormalDist, a: float, b: float, generator: object
) -> None:
    def draw(into: Tensor) -> Tensor:
        return into.normal_(distribution.mean, distribution.stdev, generator=generator)

    found, bounds = draw(tensor), tensor.new_tensor([a, b]).tolist()
    while (outside := (found < bounds[0]) | (found > bounds[1])).any():
        found = FUNCTIONS["where"](outside, draw(FUNCTIONS["empty_like"](found)), found)
    if found is not tensor:
        tensor.copy_(found)


def _weighted_numbers_between(
    tensor: Tensor, distribution: statistics.NormalDist, a: float, b: float, generator: object
) -> None:
    mean, std = distribution.mean, distribution.stdev
    highest = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2

    def is_refused(numbers: Tensor) -> Tensor:
        chances = numbers.sub(mean).div_(std).pow_(2).mul_(-0.5).sub_(highest)
        return FUNCTIONS["empty_like"](numbers).uniform_(generator=generator).log_().gt(chances)

    found = tensor.uniform_(a, b, generator=generator)
    refused = is_refused(found)
    while refused.any():
        drawn = FUNCTIONS["empty_like"](found).uniform_(a, b, generator=generator)
        found = FUNCTIONS["where"](refused, drawn, found)
        refused = refused & is_refused(drawn)
    if found is not tensor:
        tensor.copy_(found)


def eye_(tensor: Tensor) -> Tensor:
    """The identity, as far as a matrix has it. ValueError unless there are two dimensions."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        return tensor.copy_(FUNCTIONS["eye"](*tensor.shape, dtype=tensor.dtype))


def orthogonal_(tensor: Tensor, gain: float = 1, generator: object = None) -> Tensor:
    """Orthogonal rows or columns, of the tensor with its last dimensions joined."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    drawn = normal_(tensor.new_empty(rows, columns), 0, 1, generator).numpy().astype(np.float64)
    q, r = np.linalg.qr(drawn.T if rows < columns else drawn)
    q = q * np.sign(np.diag(r))
    found = FUNCTIONS["from_numpy"](np.ascontiguousarray(q.T if rows < columns else q))
    with no_grad():
        tensor.copy_(found.view(*tensor.shape))
        return tensor.mul_(gain)


def _deprecated(new: Any) -> Any:
    """The old name of a function, which warns."""

    def init(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`nn.init.{new.__name__[:-1]}` is now deprecated in favor of `nn.init.{new.__name__}`.",
            FutureWarning,
            stacklevel=2,
        )
        return new(*args, **kwargs)

    return init


uniform, normal, constant, eye = map(_deprecated, (uniform_, normal_, constant_, eye_))
xavier_uniform, xavier_normal = _deprecated(xavier_uniform_), _deprecated(xavier_normal_)
kaiming_uniform, kaiming_normal = _deprecated(kaiming_uniform_), _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)


__getattr__ = refuses_missing("torch.nn.init")
