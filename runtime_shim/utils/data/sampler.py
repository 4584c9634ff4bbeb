"""Samplers: the order in which indices of samples are drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ...aten.random_numbers import Generator, drawn_seed
from ...core.function_table import FUNCTIONS
from ...core.tensor import Tensor

_DRAWN_TOGETHER = 32
"""As many indices with replacement PyTorch draws at a time."""

T_co = TypeVar("T_co", covariant=True)


class Sampler(Generic[T_co]):
    """Base of samplers, which have `__iter__`."""

    def __init__(self, data_source: Any = None) -> None:
        pass

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """0, 1, 2, … to the last sample."""

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """A permutation, or `num_samples` indices, drawn with replacement if wanted."""

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._num_samples = num_samples
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        total, wanted = len(self.data_source), self.num_samples
        generator = self.generator or Generator().manual_seed(drawn_seed())
        if self.replacement:
            for start in range(0, wanted, _DRAWN_TOGETHER):
                shape = (min(_DRAWN_TOGETHER, wanted - start),)
                yield from FUNCTIONS["randint"](0, total, shape, generator=generator).tolist()
            return
        while wanted > 0:
            yield from FUNCTIONS["randperm"](total, generator=generator).tolist()[:wanted]
            wanted -= total

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """These indices in a random order."""

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in FUNCTIONS["randperm"](len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with probabilities in proportion to weights."""

    weights: Tensor

    def __init__(
        self, weights: Sequence[float] | Tensor, num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        made = FUNCTIONS["as_tensor"](weights).double()
        if made.dim() != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {tuple(made.shape)}")
        self.weights, self.num_samples, self.replacement, self.generator = made, num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = FUNCTIONS["multinomial"](self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of `batch_size` indices of another sampler."""

    def __init__(self, sampler: Iterable[Any], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        total = len(self.sampler)  # type: ignore[arg-type]
        return total // self.batch_size if self.drop_last else -(-total // self.batch_size)


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
