"""Adam and AdamW."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from .optimizer import (
    Optimizer,
    check_at_least_zero,
    check_betas,
    check_learning_rate,
    check_options,
    chosen,
    count,
    decayed,
    largest_of,
    start,
)


class Moments(Optimizer):
    """What Adam's variants share: two decay rates, and checks of their options."""

    def __init__(self, params: object, options: dict[str, Any], **refused: object) -> None:
        check_options(capturable=options["capturable"], **refused)
        check_learning_rate(options["lr"])
        check_at_least_zero(epsilon=options["eps"])
        check_betas(options["betas"])
        check_at_least_zero(weight_decay=options["weight_decay"])
        super().__init__(params, options)


class Adam(Moments):
    """Gradient descent by moments of the gradient (Kingma and Ba 2014); `amsgrad` keeps the largest.

    With `decoupled_weight_decay` it is AdamW.
    """

    def __init__(
        self,
        params: object,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        names = "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable fused"
        super().__init__(params, chosen(locals(), f"{names} decoupled_weight_decay"), fused=fused)

    def prepare(self, p: Tensor, group: dict[str, object], state: dict[str, object]) -> None:
        if not state:
            start(p, state, "exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else []))

    def update(self, p: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        first, second, (beta1, beta2) = state["exp_avg"], state["exp_avg_sq"], group["betas"]
        step = count(state)
        grad = decayed(p, grad, group)
        first.lerp_(grad, 1 - beta1)
        second.mul_(beta2).addcmul_(grad, grad.conj(), value=1 - beta2)
        if group["amsgrad"]:
            second = largest_of(state["max_exp_avg_sq"], second, group)
        denominator = (second.sqrt() / (1 - beta2**step) ** 0.5).add_(group["eps"])
        p.addcdiv_(first, denominator, value=-group["lr"] / (1 - beta1**step))


class AdamW(Adam):
    """Adam whose weight decay acts on the weights, not on the gradient (Loshchilov and Hutter 2017)."""

    def __init__(
        self,
        params: object,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
