"""What a call does to the tensors that it gets: seen by calling it, with each argument normal or inference."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

Path = tuple[Any, ...]
"""Where a tensor lies in the arguments: position or keyword, then the index in a list."""

_SAVED = "Inference tensors cannot be saved for backward"
_WRITTEN = "Inplace update to inference tensor outside InferenceMode"
_MOST_OF_A_LIST = 3


class Sample(NamedTuple):
    """The arguments of one call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _tensors(value: Any, path: Path = ()) -> Iterator[tuple[Path, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, (list, tuple)):
        for place, item in enumerate(value[:_MOST_OF_A_LIST] if path else value):
            yield from _tensors(item, (*path, place))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _tensors(item, (*path, key))


def _replaced(value: Any, made: dict[int, torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return made[id(value)] if id(value) in made else _made(value)
    if type(value) in (list, tuple):
        return type(value)(_replaced(item, made) for item in value)
    if isinstance(value, dict):
        return {key: _replaced(item, made) for key, item in value.items()}
    return copy.copy(value) if isinstance(value, slice) else value


def _made(like: torch.Tensor, inference: bool = False, grad: bool = False, leaf: bool = True) -> torch.Tensor:
    """A tensor of its own storage, laid out as `like` is; one that is to be written in place can't be a leaf."""
    with torch.inference_mode(inference), torch.no_grad():
        if like.layout != torch.strided:
            made = like.detach().clone()
        else:
            storage = like.untyped_storage().clone()
            made = torch.empty(0, dtype=like.dtype)
            made.set_(storage, like.storage_offset(), like.size(), like.stride())
            if like.is_conj():
                made = made.conj()
            if like.is_neg():
                made = made._neg_view()
    if grad:
        made.requires_grad_()
        if not leaf:
            with torch.enable_grad():
                made = made.clone()
    return made


def _storage(of: torch.Tensor) -> int:
    return of.untyped_storage()._cdata if of.layout == torch.strided else id(of)


def _flat(result: Any) -> list[Any]:
    if isinstance(result, torch.Tensor) or not isinstance(result, (list, tuple)):
        return [result]
    return [item for part in result for item in _flat(part)]


@dataclass
class Seen:
    """What many calls of one function showed, by the names of its arguments."""

    results: list[list[str]] = field(default_factory=list)
    """For each call, what each result was."""
    calls: dict[str, int] = field(default_factory=dict)
    """How often an argument was given as a tensor."""
    written: dict[str, int] = field(default_factory=dict)
    refused_writes: set[str] = field(default_factory=set)
    saved: dict[tuple[str, str], list[bool]] = field(default_factory=dict)
    saved_results: list[bool] = field(default_factory=list)
    differentiable: set[str] = field(default_factory=set)
    failed: list[str] = field(default_factory=list)
    kinds: dict[str, set[str]] = field(default_factory=dict)
    other_messages: set[str] = field(default_factory=set)


class Probe:
    """One call of one function, repeated with other tensors."""

    def __init__(
        self, function: Callable[..., Any], sample: Sample, name_of: Callable[[Path], str], seen: Seen
    ) -> None:
        self.function = function
        self.sample = sample
        self.seen = seen
        self.leaves = [
            (name_of(path), tensor) for path, tensor in _tensors((*sample.args, sample.kwargs))
        ]  # the keywords come last: their paths begin with a number, then the keyword

    def _call(
        self, inference: Sequence[int] = (), grad: Sequence[int] = (), leaf: bool = True
    ) -> tuple[Any, list[torch.Tensor]]:
        made: dict[int, torch.Tensor] = {}
        for place, (_, tensor) in enumerate(self.leaves):
            made[id(tensor)] = _made(tensor, place in inference, place in grad, leaf)
        args, kwargs = _replaced((self.sample.args, self.sample.kwargs), made)
        arguments = [made[id(tensor)] for _, tensor in self.leaves]
        self.versions = [None if made_one.is_inference() else made_one._version for made_one in arguments]
        torch.manual_seed(0)
        return self.function(*args, **kwargs), arguments

    def run(self) -> bool:
        """Whether the call is possible at all."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._plain()
                self._gradients()
        except _Impossible as impossible:
            self.seen.failed.append(str(impossible))
            return False
        return True

    def _plain(self) -> None:
        """Results and writes."""
        try:
            result, arguments = self._call()
        except Exception as error:
            raise _Impossible(f"{type(error).__name__}: {error}") from None
        seen = self.seen
        by_storage: dict[int, int] = {}
        for place, argument in enumerate(arguments):
            by_storage.setdefault(_storage(argument), place)
            name = self.leaves[place][0]
            seen.calls[name] = seen.calls.get(name, 0) + 1
            if argument._version != self.versions[place]:
                seen.written[name] = seen.written.get(name, 0) + 1
        self.relations: list[str] = []
        for one in _flat(result):
            self.relations.append(self._relation(one, arguments, by_storage))
        if isinstance(result, (list, tuple)) and not isinstance(result, torch.Size):
            several = ["(", *self.relations] if isinstance(result, tuple) else ["[", *self.relations]
            seen.results.append(several)
        else:
            seen.results.append(self.relations)
        self.tensors = [one for one in _flat(result) if isinstance(one, torch.Tensor)]
        self.written = {place for place, argument in enumerate(arguments) if argument._version != self.versions[place]}
        for place in self.written:
            name = self.leaves[place][0]
            try:
                self._call(inference=[place])
            except Exception as error:
                if _WRITTEN in str(error):
                    seen.refused_writes.add(name)
                else:
                    seen.other_messages.add(str(error)[:120])

    def _relation(self, one: Any, arguments: list[torch.Tensor], by_storage: dict[int, int]) -> str:
        if isinstance(one, torch.Tensor):
            for place, argument in enumerate(arguments):
                if one is argument:
                    return f"alias:{self.leaves[place][0]}"
            shared = by_storage.get(_storage(one))
            return "new" if shared is None else f"view:{self.leaves[shared][0]}"
        if one is None:
            return "none"
        return "number" if isinstance(one, (bool, int, float, complex)) else "other"

    def _gradients(self) -> None:
        if not self.tensors:
            return
        for because, (name, tensor) in enumerate(self.leaves):
            if tensor.is_floating_point() or tensor.is_complex():
                self._gradient(because, name)

    def _gradient(self, because: int, name: str) -> None:
        seen = self.seen
        packed: list[int] = []
        kept: list[torch.Tensor] = []  # a freed storage's address may be taken again

        def pack(saved: torch.Tensor) -> torch.Tensor:
            packed.append(_storage(saved))
            kept.append(saved)
            return saved

        leaf = not self.written
        try:
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
                result, arguments = self._call(grad=[because], leaf=leaf)
        except Exception as error:
            seen.other_messages.add(str(error)[:120])
            return
        tensors = [one for one in _flat(result) if isinstance(one, torch.Tensor)]
        recorded = [one for one in tensors if one.requires_grad and _differentiates(one)]
        if not recorded:
            return
        if tensors[0].requires_grad and _differentiates(tensors[0]):
            seen.differentiable.add(name)
        elsewhere = {_storage(argument) for place, argument in enumerate(arguments) if place not in self.written}
        results = {_storage(one) for one in tensors} - elsewhere
        seen.saved_results.append(any(storage in results for storage in packed))
        by_name: dict[str, bool] = {}
        for place, (saved, _) in enumerate(self.leaves):
            if place == because:
                raised = place not in self.written and _storage(arguments[place]) in packed
            else:
                raised = self._raises(place, because, leaf)
            by_name[saved] = by_name.get(saved, False) or raised
        for saved, raised in by_name.items():
            seen.saved.setdefault((saved, name), []).append(raised)

    def _raises(self, place: int, because: int, leaf: bool) -> bool:
        """Whether an inference tensor at `place` can't be saved where `because` requires grad."""
        if place in self.written:
            return False
        try:
            self._call(inference=[place], grad=[because], leaf=leaf)
        except Exception as error:
            if _SAVED in str(error):
                return True
            self.seen.other_messages.add(str(error)[:120])
        return False


def _differentiates(one: torch.Tensor) -> bool:
    return one.grad_fn is None or "NotImplemented" not in type(one.grad_fn).__name__


class _Impossible(Exception):
    """The call fails even with normal tensors."""
