"""Losses that few programs use as layers, imported when one is asked for."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from . import functional as F
from .module import Module
from .weightless_layers import _Loss, _WeightedLoss
from .window_layers import PairwiseDistance


def _loss(name: str, function: Any, inputs: int = 2, **options: Any) -> type[_Loss]:
    """A class whose constructor takes `options` (name to default), then `reduction` and its two old names by keyword.

    Its call takes as many `inputs` as the function.
    """
    table = {**options, "size_average": None, "reduce": None, "reduction": "mean"}
    base: type[_Loss] = _WeightedLoss if "weight" in options else _Loss
    of_base = table.keys() - (options.keys() - {"weight"})

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = dict(table)
        given.update(zip(table, args, strict=False))
        for key, value in kwargs.items():
            if key not in table:
                raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{key}'")
            given[key] = value
        base.__init__(self, **{key: given.pop(key) for key in of_base})
        for key, value in given.items():
            setattr(self, key, value)

    def forward(self: Any, *tensors: Tensor) -> Tensor:
        if len(tensors) != inputs:
            raise TypeError(f"{name}.forward() takes {inputs} tensors but {len(tensors)} were given")
        return function(*tensors, reduction=self.reduction, **{key: getattr(self, key) for key in options})

    made = type(
        name,
        (base,),
        {"__init__": __init__, "forward": forward, "__module__": __name__},
    )
    made.__doc__ = f"`nn.functional.{function.__name__}` as a layer."
    return made


SoftMarginLoss = _loss("SoftMarginLoss", F.soft_margin_loss)
MultiLabelMarginLoss = _loss("MultiLabelMarginLoss", F.multilabel_margin_loss)
MultiLabelSoftMarginLoss = _loss("MultiLabelSoftMarginLoss", F.multilabel_soft_margin_loss, weight=None)
MultiMarginLoss = _loss("MultiMarginLoss", F.multi_margin_loss, p=1, margin=1.0, weight=None)
HingeEmbeddingLoss = _loss("HingeEmbeddingLoss", F.hinge_embedding_loss, margin=1.0)
MarginRankingLoss = _loss("MarginRankingLoss", F.margin_ranking_loss, 3, margin=0.0)
CosineEmbeddingLoss = _loss("CosineEmbeddingLoss", F.cosine_embedding_loss, 3, margin=0.0)
TripletMarginLoss = _loss("TripletMarginLoss", F.triplet_margin_loss, 3, margin=1.0, p=2.0, eps=1e-6, swap=False)


class PoissonNLLLoss(_Loss):
    """The negative log likelihood of counts."""

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class TripletMarginWithDistanceLoss(_Loss):
    """The triplet loss with a distance of one's own."""

    def __init__(
        self, *, distance_function: Any = None, margin: float = 1.0, swap: bool = False, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            name = type(self).__name__
            raise ValueError(f"{name}: expected margin to be greater than 0, got {margin} instead")
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin, self.swap = margin, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class CTCLoss(Module):
    """Connectionist temporal classification: (time, batch, classes) log probabilities against label sequences."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__()
        self.blank, self.reduction, self.zero_infinity = blank, reduction, zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )
