"""Losses that few programs use as layers, imported when one is asked for."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from . import functional as F
from .module import Module
from .weightless_layers import _Loss, _WeightedLoss


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


MarginRankingLoss = _loss("MarginRankingLoss", F.margin_ranking_loss, 3, margin=0.0)
CosineEmbeddingLoss = _loss("CosineEmbeddingLoss", F.cosine_embedding_loss, 3, margin=0.0)
TripletMarginLoss = _loss("TripletMarginLoss", F.triplet_margin_loss, 3, margin=1.0, p=2.0, eps=1e-6, swap=False)


class CTCLoss(Module):
    """Connectionist temporal classification: (time, batch, classes) log probabilities against label sequences."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__()
        self.blank, self.reduction, self.zero_infinity = blank, reduction, zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )
