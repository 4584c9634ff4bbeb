"""The calls that are tried: the wheel's own samples (OpInfo), and a few for what these leave out."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import torch
from op_probe import Sample
from torch.testing._internal.common_methods_invocations import op_db

MOST = 10
"""Samples of an op that are taken, spread over all that it has."""

_DTYPES = (torch.float32, torch.complex64, torch.int64, torch.bool)


def _small(sample: Sample) -> bool:
    def sizes(value: Any) -> Iterator[int]:
        if isinstance(value, torch.Tensor):
            yield value.numel()
        elif isinstance(value, (list, tuple)):
            for item in value:
                yield from sizes(item)
        elif isinstance(value, dict):
            yield from sizes(list(value.values()))

    # Without elements an op may take a way of its own, which says nothing about the others.
    return all(0 < size <= 100_000 for size in sizes((*sample.args, sample.kwargs)))


def _laid_out(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout == torch.strided and value.dim() > 1


def _of(info: Any) -> Iterator[Sample]:
    dtypes = info.supported_dtypes("cpu")
    dtype = next((dtype for dtype in (torch.float32, torch.float64, *_DTYPES) if dtype in dtypes), None)
    if dtype is None:
        return
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = []
        for sample in info.sample_inputs("cpu", dtype, requires_grad=False):
            found.append(sample)
            if len(found) >= 200:
                break
        usable = [sample for sample in found if _small(Sample((sample.input, *sample.args), dict(sample.kwargs)))]
        step = max(1, -(-len(usable) // MOST))
        for place, sample in enumerate(usable[::step]):
            yield Sample((sample.input, *sample.args), dict(sample.kwargs))
            if place < 2 and _laid_out(sample.input):
                apart = sample.noncontiguous()
                yield Sample((apart.input, *apart.args), dict(apart.kwargs))


class Samples:
    """What is known to be callable, by the name of the op: `linalg.norm`, `nn.functional.linear`, `mul`."""

    def __init__(self) -> None:
        self._infos: dict[str, list[Any]] = defaultdict(list)
        self._made: dict[int, list[Sample]] = {}
        for info in op_db:
            for name in {info.name, *(alias.name for alias in info.aliases)}:
                self._infos[name].append(info)
                self._infos[name.replace(".", "_")].append(info)
                if name.startswith(("nn.functional.", "special.", "linalg.")):
                    self._infos[name.rpartition(".")[2]].append(info)

    def of(self, name: str) -> list[Sample]:
        found: list[Sample] = []
        taken: set[int] = set()
        for key in (name, name.rstrip("_") if not name.endswith("__") else name):
            for info in self._infos.get(key, ()):
                if id(info) in taken:
                    continue
                taken.add(id(info))
                if id(info) not in self._made:
                    self._made[id(info)] = list(_of(info))
                found += self._made[id(info)]
        return found

    def functions(self, name: str) -> Callable[..., Any] | None:
        """What the samples' own table calls: it may reorder the arguments."""
        infos = self._infos.get(name, [])
        return infos[0].op if infos else None


def f(*sizes: int) -> torch.Tensor:
    """Floats between 0 and 1."""
    return torch.rand(*sizes) * 0.8 + 0.1


def i(*sizes: int, below: int = 2) -> torch.Tensor:
    """Indices."""
    return torch.randint(0, below, sizes)


def b(*sizes: int) -> torch.Tensor:
    """A mask."""
    return torch.arange(int(torch.tensor(sizes).prod())).reshape(sizes) % 2 == 0


def call(*args: Any, **kwargs: Any) -> Sample:
    """Arguments, as they are written in a call."""
    return Sample(args, kwargs)
