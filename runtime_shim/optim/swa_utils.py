"""`torch.optim.swa_utils`: models whose parameters are averages over training.

Source: torch/optim/swa_utils.py of 2.13.
"""

from __future__ import annotations

import copy
import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from ..aten import FUNCTIONS
from ..core.gradient_modes import no_grad
from ..core.tensor import Tensor
from ..nn.layers import _BatchNorm
from ..nn.module import Module
from .lr_scheduler import LRScheduler, _format_param
from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Tensor, Tensor, Any], Tensor]
AverageOfMany = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """A function that gives the exponential moving average of a parameter."""
    _check_decay(decay)

    @no_grad()
    def average(ema_param: Tensor, current_param: Tensor, num_averaged: object) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return average


def get_swa_avg_fn() -> Average:
    """A function that gives the mean of a parameter over the models so far."""

    @no_grad()
    def average(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return average


def _of_many(average: Average) -> AverageOfMany:
    @no_grad()
    def update(averaged: Sequence[Tensor], current: Sequence[Tensor], num_averaged: object) -> None:
        for old, new in zip(averaged, current, strict=True):
            old.copy_(average(old, new, num_averaged))

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> AverageOfMany:
    """As `get_ema_avg_fn`, for many parameters, which are written to."""
    return _of_many(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> AverageOfMany:
    """As `get_swa_avg_fn`, for many parameters, which are written to."""
    return _of_many(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of a model whose parameters `update_parameters` makes an average: the mean, unless a function is given.

    With `use_buffers`, buffers are averaged as well, else they are copied.
    """

    n_averaged: Any

    def __init__(
        self,
        model: Module,
        device: object = None,
        avg_fn: Average | None = None,
        multi_avg_fn: AverageOfMany | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        assert avg_fn is None or multi_avg_fn is None, "Only one of avg_fn and multi_avg_fn should be provided"
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", FUNCTIONS["tensor"](0, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def _averaged(self, model: Any) -> list[Tensor]:
        found = itertools.chain(model.parameters(), model.buffers()) if self.use_buffers else model.parameters()
        return [t.detach() for t in found]

    def update_parameters(self, model: Module) -> None:
        """Take the model's parameters into the average."""
        own, given = self._averaged(self.module), self._averaged(model)
        if self.n_averaged == 0:
            for target, source in zip(own, given, strict=False):
                target.copy_(source)
        elif self.multi_avg_fn is not None:
            alike: dict[object, tuple[list[Tensor], list[Tensor]]] = {}
            for target, source in zip(own, given, strict=False):
                targets, sources = alike.setdefault(target.dtype, ([], []))
                targets.append(target)
                sources.append(source)
            for targets, sources in alike.values():
                self.multi_avg_fn(targets, sources, self.n_averaged)
        else:
            average = self.avg_fn or get_swa_avg_fn()
            for target, source in zip(own, given, strict=False):
                target.copy_(average(target, source, self.n_averaged))
        if not self.use_buffers:
            for target, source in zip(self.module.buffers(), model.buffers(), strict=True):
                target.detach().copy_(source.detach())
        self.n_averaged += 1


def update_bn(loader: Iterable[Any], model: Module, device: object = None) -> None:
    """Compute the running statistics of the model's batch normalizations again, over all that the loader gives."""
    layers = [m for m in model.modules() if isinstance(m, _BatchNorm)]
    if not layers:
        return
    momenta = [layer.momentum for layer in layers]
    training = model.training
    with no_grad():
        for layer in layers:
            layer.reset_running_stats()
        model.train()
        for layer in layers:
            layer.momentum = None
        for given in loader:
            first = given[0] if isinstance(given, (list, tuple)) else given
            model(first if device is None else first.to(device))
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
        model.train(training)


class SWALR(LRScheduler):
    """Anneals the learning rate of each group to its own, in `anneal_epochs` steps, and keeps it there."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: object,
        anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(_format_param("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def _share(self, step: int) -> float:
        return self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))

    def get_lr(self) -> list[Any]:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=2,
            )
        step = self._step_count - 1
        if not self.anneal_epochs:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        found = []
        for group in self.optimizer.param_groups:
            rate, goal = group["lr"], group["swa_lr"]
            first = goal if before == 1 else (rate - before * goal) / (1 - before)
            found.append(goal * now + first * (1 - now))
        return found
