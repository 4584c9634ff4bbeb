"""Products with a logarithm that are 0 where the first factor is 0. Derivatives as in derivatives.yaml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.argument_errors import invalid_combination, public_call
from ..core.function_table import FUNCTIONS
from ..core.reordered_array import elementwise
from ..core.tensor import Tensor
from ..dispatch.op_description import Computes
from ..dispatch.registration import composite, op, publish
from .ufunc_makers import FLOAT, binary_kernel, is_operand


def _register(name: str, node: str, logarithm: Callable[[Any], Any], pole: float, method: bool) -> None:
    """`name(self, other)`, with overloads for a number in either place; the logarithm of `pole` is minus infinity."""

    def product(x: Any, y: Any) -> Any:
        with np.errstate(all="ignore"):
            found = np.where(np.isnan(y), y, np.where(x == 0, np.zeros_like(x), x * logarithm(y)))
        return elementwise(found, x, y)

    kernel = binary_kernel(product, FLOAT, None, False)

    def overload(number: int, **derivatives: Any) -> Any:
        return op(
            name,
            computes=Computes("bif", f"{name.removeprefix('special_')}_cpu"),
            node=f"{node}{number}",
            inplace=method,
            method=False,
            function=False,
            title=name,
            tensor_params=("self", "other"),
            numbers=("self", "other"),
            **derivatives,
        )(kernel)

    def self_gradient(grad: Tensor, self: Tensor, other: Tensor) -> Tensor:
        return FUNCTIONS[name](grad, other).masked_fill((self == 0.0) & (other <= pole), 0.0)

    def self_gradient_by_number(grad: Tensor, self: Tensor, other: Any) -> Tensor:
        found: Tensor = FUNCTIONS[name](grad, other)
        return found if other > pole else found.masked_fill(self == 0.0, 0.0)

    def other_gradient(grad: Tensor, self: Any, other: Tensor) -> Tensor:
        return grad * self / (other - pole if pole else other)

    of_number_first = overload(1, other=other_gradient)
    of_number = overload(2, self=self_gradient_by_number)
    of_tensors = overload(0, self=self_gradient, other=other_gradient)

    def chosen(self: Any, other: Any) -> Any:
        if not (is_operand(self) and is_operand(other)) or not (isinstance(self, Tensor) or isinstance(other, Tensor)):
            called = public_call()
            raise invalid_combination(name, called[2] if called else ())
        if not isinstance(other, Tensor):
            return of_number
        return of_tensors if isinstance(self, Tensor) else of_number_first

    def call(self: Any, other: Any, *, out: Tensor | None = None) -> Any:
        found = chosen(self, other)
        return found(self, other) if out is None else found(self, other, out=out)

    def call_(self: Any, other: Any) -> Any:
        return chosen(self, other).inplace(self, other)

    composite(name, method=method)(call)
    if method:
        publish(f"{name}_", call_)


_register("xlogy", "XlogyBackward", np.log, 0.0, True)
_register("special_xlog1py", "SpecialXlog1PyBackward", np.log1p, -1.0, False)
