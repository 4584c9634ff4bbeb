"""Rprop, which follows the signs of gradients, and ASGD, which averages what SGD goes through."""

from __future__ import annotations

from typing import Any

from ..aten import FUNCTIONS
from ..core.tensor import Tensor
from .optimizer import (
    Optimizer,
    check_at_least_zero,
    check_learning_rate,
    check_options,
    count,
    start,
    with_decay,
)


class Rprop(Optimizer):
    """Steps by the sign of the gradient alone, longer while it stays the same (Riedmiller and Braun 1993)."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(capturable=capturable)
        check_learning_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(
            params,
            {
                "lr": lr,
                "etas": etas,
                "step_sizes": step_sizes,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def prepare(self, p: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if not state:
            start(p, state, "prev")
            state["step_size"] = FUNCTIONS["full_like"](p.grad, group["lr"])

    def update(self, p: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        (shrink, grow), where = group["etas"], FUNCTIONS["where"]
        count(state)
        grad = -grad if group["maximize"] else grad
        turned = grad.mul(state["prev"]).sign()
        factor = where(turned > 0, grow, where(turned < 0, shrink, 1.0)).to(grad.dtype)
        sizes = state["step_size"].mul_(factor).clamp_(*group["step_sizes"])
        grad = where(turned < 0, FUNCTIONS["zeros_like"](grad), grad)  # where it turned, one step is left out
        p.addcmul_(grad.sign(), sizes, value=-1)
        state["prev"].copy_(grad)


class ASGD(Optimizer):
    """SGD whose weights are averaged from step `t0` on, in `state[p]["ax"]` (Polyak and Juditsky 1992)."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_options(capturable=capturable)
        check_learning_rate(lr)
        check_at_least_zero(weight_decay=weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "lambd": lambd,
                "alpha": alpha,
                "t0": t0,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def prepare(self, p: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if not state:
            start(p, state, "ax")
            average = state.pop("ax")
            state.update(eta=FUNCTIONS["tensor"](float(group["lr"])), mu=FUNCTIONS["ones"](()), ax=average)

    def update(self, p: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        lr, lambd, eta, mu = group["lr"], group["lambd"], float(state["eta"].item()), float(state["mu"].item())
        step = count(state)
        grad = with_decay(p, grad, group)
        p.mul_(1 - lambd * eta).add_(grad, alpha=-eta)
        average = state["ax"]
        if mu == 1:
            average.copy_(p)
        else:
            average.add_(p.sub(average).mul_(mu))
        state["eta"].fill_(lr / (1 + lambd * lr * step) ** group["alpha"])
        state["mu"].fill_(1 / max(1, step - group["t0"]))
