"""Optimizers that scale each weight's step by past gradients: RMSprop, Adagrad, Adadelta, Adamax, NAdam and RAdam."""

from __future__ import annotations

import math
from typing import Any

from ..aten import FUNCTIONS
from ..core.tensor import Tensor
from .adam import Moments
from .optimizer import (
    Optimizer,
    check_at_least_zero,
    check_learning_rate,
    check_options,
    chosen,
    count,
    decayed,
    largest_of,
    start,
    with_decay,
)


class RMSprop(Optimizer):
    """Steps divided by the root of a running mean of squared gradients (Tieleman and Hinton 2012); `centered` takes the
    variance instead."""

    def __init__(
        self,
        params: object,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(capturable=capturable)
        check_learning_rate(lr)
        check_at_least_zero(epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        names = "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"
        super().__init__(params, chosen(locals(), names))

    def prepare(self, p: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        if not state:
            start(p, state, "square_avg")
            if group["momentum"] > 0:
                state["momentum_buffer"] = FUNCTIONS["zeros_like"](p)
            if group["centered"]:
                state["grad_avg"] = FUNCTIONS["zeros_like"](p)

    def update(self, p: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        alpha, squares = group["alpha"], state["square_avg"]
        count(state)
        grad = with_decay(p, grad, group)
        squares.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"].lerp_(grad, 1 - alpha)
            scale = squares.addcmul(mean, mean, value=-1).sqrt()
        else:
            scale = squares.sqrt()
        scale = scale.add(group["eps"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(grad, scale)
            p.add_(buffer, alpha=-group["lr"])
        else:
            p.addcdiv_(grad, scale, value=-group["lr"])


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of all squared gradients (Duchi, Hazan and Singer 2011)."""

    def __init__(
        self,
        params: object,
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(fused=fused)
        check_learning_rate(lr)
        check_at_least_zero(
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            epsilon=eps,
        )
        names = "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize differentiable fused"
        super().__init__(params, chosen(locals(), names))
        for group in self.param_groups:
            for p in group["params"]:
                self._start(p, group, self.state[p])

    @staticmethod
    def _start(p: Tensor, group: dict[str, object], state: dict[str, object]) -> None:
        state["step"] = FUNCTIONS["tensor"](0.0)
        state["sum"] = FUNCTIONS["full_like"](p, group["initial_accumulator_value"]).detach()

    def prepare(self, p: Tensor, group: dict[str, object], state: dict[str, object]) -> None:
        if not state:  # of a group that was added later
            self._start(p, group, state)

    def update(self, p: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        step = count(state)
        grad = with_decay(p, grad, group)
        total = state["sum"].addcmul_(grad, grad, value=1)
        rate = group["lr"] / (1 + (step - 1) * group["lr_decay"])
        p.addcdiv_(grad, total.sqrt().add(group["eps"]), value=-rate)


class Adadelta(Optimizer):
    """Steps scaled by the ratio of the running means of past steps and of gradients (Zeiler 2012)."""

    def __init__(
        self,
        params: object,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(capturable=capturable)
        check_learning_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_at_least_zero(epsilon=eps, weight_decay=weight_decay)
        super().__init__(params, chosen(locals(), "lr rho eps weight_decay maximize capturable foreach differentiable"))

    def prepare(self, p: Tensor, group: dict[str, object], state: dict[str, object]) -> None:
        if not state:
            start(p, state, "square_avg", "acc_delta")

    def update(self, p: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        rho, eps = group["rho"], group["eps"]
        count(state)
        grad = with_decay(p, grad, group)
        squares = state["square_avg"].mul_(rho).addcmul_(grad, grad, value=1 - rho)
        steps = state["acc_delta"]
        delta = steps.add(eps).sqrt().div(squares.add(eps).sqrt()).mul(grad)
        steps.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        p.add_(delta, alpha=-group["lr"])


class Adamax(Moments):
    """Adam by the largest gradient, decayed, instead of the mean square (Kingma and Ba 2014)."""

    def __init__(
        self,
        params: object,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        names = "lr betas eps weight_decay foreach maximize differentiable capturable"
        super().__init__(params, chosen(locals(), names))

    def prepare(self, p: Tensor, group: dict[str, object], state: dict[str, object]) -> None:
        if not state:
            start(p, state, "exp_avg", "exp_inf")

    def update(self, p: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        (beta1, beta2), largest = group["betas"], state["exp_inf"]
        step = count(state)
        grad = with_decay(p, grad, group)
        mean = state["exp_avg"].lerp_(grad, 1 - beta1)
        largest = largest_of(largest.mul_(beta2), grad.abs().add_(group["eps"]), group)
        p.addcdiv_(mean, largest, value=-group["lr"] / (1 - beta1**step))


class NAdam(Moments):
    """Adam with Nesterov's momentum (Dozat 2016)."""

    def __init__(
        self,
        params: object,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least_zero(momentum_decay=momentum_decay)
        names = "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach capturable"
        super().__init__(params, chosen(locals(), f"{names} differentiable"))

    def prepare(self, p: Tensor, group: dict[str, object], state: dict[str, object]) -> None:
        if not state:
            start(p, state)
            state["mu_product"] = FUNCTIONS["ones"](())
            state["exp_avg"], state["exp_avg_sq"] = FUNCTIONS["zeros_like"](p), FUNCTIONS["zeros_like"](p)

    def update(self, p: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        (beta1, beta2), lr = group["betas"], group["lr"]
        step = count(state)
        grad = decayed(p, grad, group)
        now = beta1 * (1.0 - 0.5 * 0.96 ** (step * group["momentum_decay"]))
        then = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * group["momentum_decay"]))
        state["mu_product"] *= now
        product = state["mu_product"] if group["differentiable"] else float(state["mu_product"].item())
        mean = state["exp_avg"].lerp_(grad, 1 - beta1)
        squares = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        scale = squares.div(1 - beta2**step).sqrt().add(group["eps"])
        of_grad, of_mean = -lr * (1.0 - now) / (1.0 - product), -lr * then / (1.0 - product * then)
        if group["differentiable"]:
            p.addcdiv_(grad * of_grad, scale)
            p.addcdiv_(mean * of_mean, scale)
        else:
            p.addcdiv_(grad, scale, value=of_grad)
            p.addcdiv_(mean, scale, value=of_mean)


class RAdam(Moments):
    """Adam that goes without the scale while too few gradients were seen to know it (Liu and others 2019)."""

    def __init__(
        self,
        params: object,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        names = "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay differentiable"
        super().__init__(params, chosen(locals(), names))

    def prepare(self, p: Tensor, group: dict[str, object], state: dict[str, object]) -> None:
        if not state:
            start(p, state, "exp_avg", "exp_avg_sq")

    def update(self, p: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        step = count(state)
        grad = decayed(p, grad, group)
        mean = state["exp_avg"].lerp_(grad, 1 - beta1)
        squares = state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        corrected = mean / (1 - beta1**step)
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / (1 - beta2**step)
        factor: Any = 1.0
        if length > 5.0:
            rectified = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
            factor = (1 - beta2**step) ** 0.5 / squares.sqrt().add(group["eps"]) * math.sqrt(rectified)
        p.add_(corrected * group["lr"] * factor, alpha=-1.0)
