"""More functions of one operand: inverse hyperbolic ones, the gamma and error functions, angles, fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array
from ..core.error_texts import UnsupportedError
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE, Computes, DtypeRefusal, Op
from ..dispatch.op_node import recorded_write
from ..dispatch.registration import composite, op, publish
from .elementwise import conj, mul_scalar
from .ufunc_makers import FLOAT, no_derivative, unary


def _written_without_derivative(name: str) -> tuple[Op, Op]:
    return recorded_write(
        name, f"{name.capitalize()}Backward1", lambda self: self, self=no_derivative(f"inplace version of {name}")
    )


unary(
    "asinh",
    np.arcsinh,
    computes=ANY_DTYPE,
    result=FLOAT,
    self=lambda grad, self: grad * conj((self * self + 1).rsqrt()),
    recorded_in_place=_written_without_derivative("asinh"),
)
unary(
    "acosh",
    np.arccosh,
    computes=ANY_DTYPE,
    result=FLOAT,
    self=lambda grad, self: grad * conj((self - 1).rsqrt() * (self + 1).rsqrt()),
    recorded_in_place=_written_without_derivative("acosh"),
)
unary(
    "atanh",
    np.arctanh,
    computes=ANY_DTYPE,
    result=FLOAT,
    self=lambda grad, self: grad * conj(1 / (1 - self * self)),
    recorded_in_place=_written_without_derivative("atanh"),
)


def _by_double(function: Callable[[object], object]) -> Callable[[Any], Any]:
    """A function of doubles, for arrays of any floating dtype; the result is rounded once."""

    def of_array(a: Tensor) -> Array:
        return np.asarray(function(np.asarray(a, np.float64))).astype(a.dtype)

    return of_array


def _each(function: Callable[[float], float]) -> Callable[[Any], Any]:
    return _by_double(np.vectorize(function, otypes=[float]))


def _lgamma(x: float) -> float:
    if math.isnan(x):
        return x
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def _digamma(x: float) -> float:
    """By its recurrence up to 10, and the asymptotic series from there."""
    if x == 0:
        return math.copysign(math.inf, -x)
    if math.isnan(x) or x == -math.inf or (x < 0 and x == math.floor(x)):
        return math.nan
    if x == math.inf:
        return x
    if x < 0:
        return _digamma(1 - x) - math.pi / math.tan(math.pi * math.fmod(x, 1.0))
    below = 0.0
    while x < 10:
        below -= 1 / x
        x += 1
    z = 1 / (x * x)
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z / 12))))))
    return below + math.log(x) - 0.5 / x - series


def _zeta(order: int, x: float) -> float:
    """Hurwitz' zeta function of an integer order above 1 and a positive x, by Euler and Maclaurin."""
    total = 0.0
    while x < 12:
        total += x**-order
        x += 1
    total += x ** (1 - order) / (order - 1) + 0.5 * x**-order
    factor, power = float(order), x ** (-order - 1)
    for number, bernoulli in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6), start=1):
        total += bernoulli / math.factorial(2 * number) * factor * power
        factor *= (order + 2 * number - 1) * (order + 2 * number)
        power /= x * x
    return total


def _polygamma(order: int, x: float) -> float:
    if math.isnan(x):
        return x
    if x <= 0:
        raise UnsupportedError("the shim has no polygamma of numbers that are not positive; supported: positive ones")
    if x == math.inf:
        return 0.0
    return float((-1) ** (order + 1) * math.factorial(order) * _zeta(order + 1, x))


def _erfinv(y: float) -> float:
    """Newton's method on erf, or on erfc near the ends, from a rational guess."""
    if math.isnan(y) or abs(y) > 1:
        return math.nan
    if abs(y) == 1:
        return math.copysign(math.inf, y)
    if y == 0:
        return y
    w = math.log1p(-y * y)
    t = 2 / (math.pi * 0.147) + w / 2
    x = math.copysign(math.sqrt(math.sqrt(t * t - w / 0.147) - t), y)
    for _ in range(4):
        error = math.erf(x) - y if abs(y) < 0.5 else (1 - abs(y) - math.erfc(abs(x))) * math.copysign(1, y)
        slope = 2 / math.sqrt(math.pi) * math.exp(-x * x)
        if slope == 0:
            break
        x -= error / (slope + x * error)  # Halley's step
    return x


_REALS = Computes("bif")


def _polygamma_gradient(grad: Tensor, n: int, self: Tensor) -> Tensor:
    found: Tensor = grad * FUNCTIONS["polygamma"](n + 1, self)
    return found


@op("polygamma", computes=_REALS, method=False, self=_polygamma_gradient)
def polygamma(n: int, self: Array) -> Array:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        return _each(_digamma)(floating(self))
    return _each(lambda x: _polygamma(n, x))(floating(self))


@composite("polygamma", function=False)
def _polygamma_method(self: Tensor, n: int) -> Tensor:
    return FUNCTIONS["polygamma"](n, self)


@op(
    "polygamma",
    computes=_REALS,
    node="PolygammaBackward1",
    inplace=True,
    method=False,
    function=False,
    self=_polygamma_gradient,
)
def _polygamma_written(self: Array, n: int) -> Array:
    return polygamma.op.kernel(n, self)  # type: ignore[attr-defined]


publish("polygamma_", _polygamma_written.inplace, function=False)  # type: ignore[attr-defined]


def floating(a: Any) -> Any:
    """Integers and bools as the default dtype."""
    return a.astype(dtypes.get_default_dtype().numpy) if a.dtype.kind in "biu" else a


unary(
    "lgamma",
    _each(_lgamma),
    computes=Computes("bif", "lgamma_vml_cpu"),
    result=FLOAT,
    self=lambda grad, self: grad * self.digamma(),
)
unary(
    "digamma",
    _each(_digamma),
    computes=Computes("bif", "digamma"),
    result=FLOAT,
    self=lambda grad, self: grad * FUNCTIONS["polygamma"](1, self),
)
unary(
    "erfc",
    _each(math.erfc),
    computes=Computes("bif", "erfc_vml_cpu"),
    result=FLOAT,
    self=lambda grad, self: grad * (-2 / math.sqrt(math.pi)) * (-(self * self)).exp(),
)
unary(
    "erfinv",
    _each(_erfinv),
    computes=Computes("bif", "erfinv_vml_cpu"),
    result=FLOAT,
    self=lambda grad, self: mul_scalar(self.erfinv().pow(2).exp(), 0.5 * math.sqrt(math.pi)) * grad,
)
unary(
    "deg2rad",
    lambda a: a * a.dtype.type(math.pi / 180),
    node="Deg2RadBackward0",
    leak=1,
    computes=Computes(
        "bif", refusals=(DtypeRefusal("c", RuntimeError, "deg2rad is not supported for complex tensors."),)
    ),
    result=FLOAT,
    self=lambda grad: grad * (math.pi / 180),
)
unary(
    "rad2deg",
    lambda a: a * a.dtype.type(180 / math.pi),
    node="Rad2DegBackward0",
    leak=1,
    computes=Computes(
        "bif", refusals=(DtypeRefusal("c", RuntimeError, "rad2deg is not supported for complex tensors."),)
    ),
    result=FLOAT,
    self=lambda grad: grad * (180 / math.pi),
)
unary("frac", lambda a: a - np.trunc(a), self=lambda grad: grad)


def _logit(a: Any) -> Any:
    return np.log(a / (1 - a))


@op(
    "logit",
    computes=Computes("bif", "logit_cpu"),
    inplace=True,
    self=lambda grad, self, eps: _logit_gradient(grad, self, eps),
)
def logit(self: Array, eps: float | None = None) -> Array:
    self = floating(self)
    return np.asarray(_logit(self if eps is None else np.clip(self, eps, 1 - eps)))


def _logit_gradient(grad: Tensor, self: Tensor, eps: float | None) -> Tensor:
    found = grad / (self * (1 - self))
    if eps is None:
        return FUNCTIONS["where"]((self < 0) | (self > 1), math.nan, found)
    return FUNCTIONS["where"]((self < eps) | (self > 1 - eps), 0.0, found)


def _alias(name: str, of: str) -> None:
    """Another name of a function, its in-place form and its methods."""
    for suffix in ("", "_"):
        call = FUNCTIONS[of + suffix]
        FUNCTIONS[name + suffix] = call
        setattr(Tensor, name + suffix, getattr(Tensor, of + suffix))


for _name in ("sin", "cos", "tan", "sinh", "cosh", "tanh"):
    _alias(f"arc{_name}", f"a{_name}")
_alias("fix", "trunc")
_alias("negative", "neg")


for _name, _ufunc in {"isposinf": np.isposinf, "isneginf": np.isneginf}.items():
    unary(
        _name,
        _ufunc,
        inplace_form=False,
        computes=Computes(
            "bif", refusals=(DtypeRefusal("c", RuntimeError, f"{_name} does not support complex inputs."),)
        ),
        leak=lambda self: int(self._array.dtype.kind in "biu"),
    )
