"""`AdaptiveLogSoftmaxWithLoss`: a softmax over many classes, the rare ones in clusters. Source of the words:
torch/nn/modules/adaptive.py of 2.13.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ..core.device import check_device
from ..core.tensor import Tensor
from . import functional as F
from .containers import ModuleList, Sequential
from .linear import Linear
from .module import Module

_ASMoutput = namedtuple("_ASMoutput", "output loss")


class AdaptiveLogSoftmaxWithLoss(Module):
    """The classes below the first cutoff have outputs of their own, those between two cutoffs share one, and each such
    cluster has a smaller network. Input (N, in_features), target (N); gives log probabilities of the targets (N) and
    their negative mean.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        check_device(device)
        limits = list(cutoffs)
        if not limits:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        ordered = limits == sorted(set(limits)) and all(int(c) == c for c in limits)
        if not ordered or limits[0] <= 0 or limits[-1] > n_classes - 1:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*limits, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = limits[0]
        self.n_clusters = len(limits)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, dtype=dtype)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            hidden = int(in_features // div_value ** (i + 1))
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, dtype=dtype),
                    Linear(hidden, high - low, bias=False, dtype=dtype),
                )
            )

    def reset_parameters(self) -> None:
        self.head.reset_parameters()
        layers: Any = [layer for cluster in self.tail for layer in cluster.children()]
        for layer in layers:
            layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> Any:
        dims = target_.dim()
        if dims > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if dims == 1 and input_.size(0) != target_.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input_.dim() != dims + 1:
            raise RuntimeError(
                f"{dims}D target tensor expects {dims + 1}D input tensors, but found inputs with size {input_.size()}"
            )
        input, target = (input_, target_) if dims else (input_.unsqueeze(0), target_.unsqueeze(0))
        output, places, found = input.new_zeros(target.size(0)), target.new_empty(target.size(0)), 0
        for i, (low, high) in enumerate(pairwise([0, *self.cutoffs])):
            mask = (target >= low) & (target < high)
            rows = mask.nonzero().squeeze()
            if not rows.numel():
                continue
            found += rows.numel()
            if not i:
                places.index_copy_(0, rows, target[mask])
                continue
            places.index_fill_(0, rows, self.shortlist_size + i - 1)
            log_probabilities = F.log_softmax(self.tail[i - 1](input.index_select(0, rows)), dim=1)
            of_targets = log_probabilities.gather(1, (target[mask] - low).unsqueeze(1))
            output.index_copy_(0, rows, of_targets.squeeze(1))
        if found != target.size(0):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, "
                f"{target.max().item()}] were found. "
            )
        output += F.log_softmax(self.head(input), dim=1).gather(1, places.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output if dims else output.squeeze(0), loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log probabilities of all classes: (N, in_features) to (N, n_classes)."""
        return self._of_all(input, self.head(input))

    def _of_all(self, input: Tensor, head: Tensor) -> Tensor:
        out = input.new_empty((head.size(0), self.n_classes))
        log_probabilities = F.log_softmax(head, dim=1)
        out[:, : self.shortlist_size] = log_probabilities[:, : self.shortlist_size]
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            inside = F.log_softmax(self.tail[i](input), dim=1)
            out[:, low:high] = inside + log_probabilities[:, self.shortlist_size + i].unsqueeze(1)
        return out

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each sample: (N, in_features) to (N,)."""
        head = self.head(input)
        output = head.argmax(dim=1)
        rare = output >= self.shortlist_size
        if rare.any():
            output[rare] = self._of_all(input[rare], head[rare]).argmax(dim=1)
        return output
