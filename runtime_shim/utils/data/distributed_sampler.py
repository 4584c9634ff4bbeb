"""The sampler of one of several processes that share an epoch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ...aten.random_numbers import Generator
from ...core.function_table import FUNCTIONS
from .sampler import Sampler


class DistributedSampler(Sampler[Any]):
    """Every `num_replicas`-th index from `rank` on, in an order that `seed` and the epoch fix.

    Without `num_replicas` and `rank` it raises RuntimeError, since the shim has no process group.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            raise RuntimeError("Requires distributed package to be available")
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        share = len(dataset) / num_replicas
        self.num_samples = len(dataset) // num_replicas if drop_last else math.ceil(share)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[Any]:
        order = list(range(len(self.dataset)))
        if self.shuffle:
            generator = Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = FUNCTIONS["randperm"](len(order), generator=generator).tolist()
        while len(order) < self.total_size:  # the first come again, so that all have as many
            order += order[: self.total_size - len(order)]
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Another order for another epoch."""
        self.epoch = epoch
