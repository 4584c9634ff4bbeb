"""How random results are recorded: their gradients are zero, or refused. Nodes as in derivatives.yaml."""

from __future__ import annotations

from typing import Any

from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.op_description import ANY_DTYPE
from ..dispatch.registration import op


def _zeros(grad: Tensor) -> Tensor:
    found: Tensor = FUNCTIONS["zeros_like"](grad)
    return found


def _no_derivative(grad: Tensor) -> Tensor:
    raise RuntimeError("derivative for aten::bernoulli is not implemented")


def _of_one(name: str, node: str, derivative: Any = _zeros) -> Any:
    """`found(tensor, array)`: the array as a result of an op on the tensor."""
    register = op(name, node=node, function=False, method=False, computes=ANY_DTYPE, self=derivative)
    return register(lambda self, drawn: drawn)


bernoulli_result = _of_one("bernoulli.by_element", "BernoulliBackward0")
bernoulli_p_result = _of_one("bernoulli.p", "NotImplemented", _no_derivative)
poisson_result = _of_one("poisson.drawn", "PoissonBackward0")
normal_mean_result = _of_one("normal.mean", "NormalBackward1")
normal_std_result = _of_one("normal.std", "NormalBackward2")
normal_result: Any = op(
    "normal.both", node="NormalBackward3", function=False, method=False, computes=ANY_DTYPE, self=_zeros, other=_zeros
)(lambda self, other, drawn: drawn)
