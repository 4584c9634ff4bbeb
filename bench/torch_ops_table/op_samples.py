"""The calls that are tried: the wheel's own samples (OpInfo), and a few for what these leave out."""

from __future__ import annotations

import itertools
import operator
import warnings
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import torch
from op_probe import Sample
from torch.testing._internal.common_methods_invocations import op_db

_MOST = 16
"""Samples of an op that are taken, first those that differ most."""

_DTYPES = (torch.float32, torch.float64, torch.complex64, torch.int64, torch.bool)


def _small(sample: Sample) -> bool:
    def sizes(value: Any) -> Iterator[int]:
        if isinstance(value, torch.Tensor):
            yield value.numel()
        elif isinstance(value, (list, tuple)):
            for item in value:
                yield from sizes(item)
        elif isinstance(value, dict):
            yield from sizes(list(value.values()))

    # Without elements an op may take its own way, which says nothing about the others.
    return all(0 < size <= 100_000 for size in sizes((*sample.args, sample.kwargs)))


def _laid_out(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.layout == torch.strided and value.dim() > 1


def _of(info: Any) -> Iterator[Sample]:
    dtypes = info.supported_dtypes("cpu")
    dtype = next((dtype for dtype in _DTYPES if dtype in dtypes), None)
    if dtype is None:
        return
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), 200)
        usable = [
            (sample, whole)
            for sample in made
            if _small(whole := Sample((sample.input, *sample.args), dict(sample.kwargs)))
        ]
        for place, (sample, whole) in enumerate(_varied(usable)[:_MOST]):
            yield whole
            if place < 2 and _laid_out(sample.input):
                apart = sample.noncontiguous()
                yield Sample((apart.input, *apart.args), dict(apart.kwargs), strided=True)


def _varied(samples: list[tuple[Any, Sample]]) -> list[tuple[Any, Sample]]:
    """One of each kind first, then the second of each, and so on."""
    rounds: dict[str, int] = defaultdict(int)
    ranked = []
    for place, (sample, whole) in enumerate(samples):
        kind = repr(_kinds((whole.args, whole.kwargs)))
        ranked.append(((rounds[kind], len(whole.kwargs), place), (sample, whole)))
        rounds[kind] += 1
    return [both for _, both in sorted(ranked, key=operator.itemgetter(0))]


def _kinds(value: Any) -> Any:
    """What matters of a call: how many dimensions its tensors have, and which words and flags there are."""
    if isinstance(value, torch.Tensor):
        return value.dim()
    if isinstance(value, (list, tuple)):
        return [_kinds(item) for item in value]
    if isinstance(value, dict):
        return {key: _kinds(item) for key, item in value.items()}
    return value if isinstance(value, (bool, str)) else type(value).__name__


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
