"""What a call does to the tensors that it gets: seen by calling it, with each argument normal or inference."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

Path = tuple[Any, ...]
"""Where a tensor lies: position or keyword, then the index in a list."""

SAVED = "Inference tensors cannot be saved for backward"
WRITTEN = "Inplace update to inference tensor outside InferenceMode"


class Sample(NamedTuple):
    """The arguments of one call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    strided: bool = False
    """Its tensors aren't contiguous: many ops then save a copy, which says nothing about other calls."""


def shown(value: Any) -> str:
    """An option's value; two tensors make no difference."""
    return "tensor" if isinstance(value, torch.Tensor) else repr(value)


@dataclass
class Call:
    """What one call showed, by the names of the arguments."""

    options: dict[str, str] = field(default_factory=dict)
    """Optional arguments that differ from their default, and what they are."""
    strided: bool = False
    results: list[str] = field(default_factory=list)
    """What each result was; "(" or "[" is first for a tuple or a list."""
    given: set[str] = field(default_factory=set)
    """Arguments that were tensors."""
    written: set[str] = field(default_factory=set)
    """Arguments that were written, and refused when they were inference tensors."""
    saved: dict[tuple[str, str], bool] = field(default_factory=dict)
    """(saved, because), where a gradient was recorded."""
    saved_results: list[bool] = field(default_factory=list)
    differentiable: set[str] = field(default_factory=set)


class Impossible(Exception):
    """The call fails even with normal tensors."""


def probe(function: Callable[..., Any], sample: Sample, name_of: Callable[[Path], str]) -> Call:
    """Repeats one call with other tensors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _Probe(function, sample, name_of).run()


class _Probe:
    def __init__(self, function: Callable[..., Any], sample: Sample, name_of: Callable[[Path], str]) -> None:
        self.function = function
        self.sample = sample
        self.seen = Call(strided=sample.strided)
        found = [*_tensors((*sample.args, sample.kwargs))]
        # Positions begin a path as they are; the keywords come after them, and begin with their name.
        self.paths = [path[1:] if path[0] == len(sample.args) else path for path, _ in found]
        self.tensors = [tensor for _, tensor in found]
        self.names = [name_of(path) for path in self.paths]
        self.written: set[int] = set()

    def run(self) -> Call:
        try:
            result, arguments, versions = self._call()
        except Exception as error:
            raise Impossible(f"{type(error).__name__}: {error}") from None
        self.seen.given = {*self.names}
        self.written = {
            place
            for place, argument in enumerate(arguments)
            if not argument.is_inference() and argument._version != versions[place]
        }
        self.seen.written = {self.names[place] for place in self.written if self._refused(WRITTEN, place)}
        if isinstance(result, (list, tuple)) and not isinstance(result, torch.Size):
            self.seen.results.append("(" if isinstance(result, tuple) else "[")
        results = _flat(result)
        self.seen.results += [self._relation(one, position, arguments) for position, one in enumerate(results)]
        if self.written or any(isinstance(one, torch.Tensor) for one in results):
            for because, tensor in enumerate(self.tensors):
                if tensor.is_floating_point() or tensor.is_complex():
                    self._gradient(because)
        return self.seen

    def _call(self, inference: int | None = None, grad: int | None = None) -> tuple[Any, list[torch.Tensor], list[int]]:
        made: dict[int, torch.Tensor] = {}
        for place, tensor in enumerate(self.tensors):
            made[id(tensor)] = _made(tensor, place == inference, place == grad, leaf=not self.written)
        args, kwargs = _replaced((self.sample.args, self.sample.kwargs), made)
        arguments = [made[id(tensor)] for tensor in self.tensors]
        versions = [-1 if argument.is_inference() else argument._version for argument in arguments]
        self.history = arguments[grad].grad_fn if grad is not None else None
        torch.manual_seed(0)
        return self.function(*args, **kwargs), arguments, versions

    def _refused(self, message: str, inference: int, grad: int | None = None) -> bool:
        """Whether the call raises this with an inference tensor at a place."""
        try:
            self._call(inference, grad)
        except Exception as error:
            return message in str(error)
        return False

    def _relation(self, one: Any, position: int, arguments: list[torch.Tensor]) -> str:
        if isinstance(one, torch.Tensor):
            for place, argument in enumerate(arguments):
                if one is argument:
                    return f"alias:{self.names[place]}"
            for place, argument in enumerate(arguments):
                if _storage(one) == _storage(argument):
                    kind = "view" if self._stays_inference(place, position) else "maybe"
                    return f"{kind}:{self.names[place]}"
            return "new"
        if one is None:
            return "none"
        return "number" if isinstance(one, (bool, int, float, complex)) else "other"

    def _stays_inference(self, place: int, position: int) -> bool:
        """Whether a result that shares memory with an argument is an inference tensor if that is one."""
        try:
            result, _, _ = self._call(inference=place)
        except Exception:
            return True
        return bool(_flat(result)[position].is_inference())

    def _gradient(self, because: int) -> None:
        """What is saved because one argument requires grad."""
        packed: list[int] = []
        kept: list[torch.Tensor] = []  # the address of a freed storage may be taken again

        def pack(saved: torch.Tensor) -> torch.Tensor:
            packed.append(_storage(saved))
            kept.append(saved)
            return saved

        try:
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
                result, arguments, _ = self._call(grad=because)
        except Exception:
            return  # no derivative, or one that this argument can't have
        tensors = [one for one in _flat(result) if isinstance(one, torch.Tensor)]
        tensors = tensors or [arguments[place] for place in sorted(self.written)]  # `x[i] = y` has no result
        name = self.names[because]
        if not any(self._records(one) for one in tensors):
            if tensors and tensors[0].requires_grad and not self.written:
                self.seen.differentiable.add(name)  # so says the result, though differentiating it raises
            return
        if self._records(tensors[0]):
            self.seen.differentiable.add(name)
        elsewhere = {_storage(argument) for place, argument in enumerate(arguments) if place not in self.written}
        self.seen.saved_results.append(_storage(tensors[0]) in {*packed} - elsewhere)
        # An inference tensor that requires grad records nothing by itself, so what an argument saves of itself is
        # read from what autograd packs.
        saves_itself = because not in self.written and _storage(arguments[because]) in packed
        alone = self.names.count(name) == 1
        if alone:
            self._note(name, name, saves_itself)
        for place, saved in enumerate(self.names):
            if place != because and (alone or saved != name or self.names.count(name) == 2):
                self._note(saved, name, place not in self.written and self._refused(SAVED, place, because))

    def _records(self, one: torch.Tensor) -> bool:
        """Whether a result has a history; what was written in place had one before."""
        if not one.requires_grad or "NotImplemented" in type(one.grad_fn).__name__:
            return False
        return self.history is None or one.grad_fn is not self.history

    def _note(self, saved: str, because: str, raised: bool) -> None:
        pair = saved, because
        known = self.seen.saved.get(pair, saved == because)
        # Of a list that is saved because of another argument, one tensor is enough; of two in a list, each counts.
        self.seen.saved[pair] = (known and raised) if saved == because else (known or raised)


def _tensors(value: Any, path: Path = ()) -> Iterator[tuple[Path, torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            yield from _tensors(item, (*path, place))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _tensors(item, (*path, key))


def _replaced(value: Any, made: dict[int, torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return made[id(value)]
    if type(value) in (list, tuple):
        return type(value)(_replaced(item, made) for item in value)
    if isinstance(value, dict):
        return {key: _replaced(item, made) for key, item in value.items()}
    return copy.copy(value) if isinstance(value, bytearray) else value


def _made(like: torch.Tensor, inference: bool, grad: bool, leaf: bool) -> torch.Tensor:
    """A tensor of its own storage, laid out as `like` is. What is written in place can't be a leaf."""
    with torch.inference_mode(inference), torch.no_grad():
        if like.layout != torch.strided:
            made = like.detach().clone()
        else:
            made = torch.empty(0, dtype=like.dtype)
            made.set_(like.untyped_storage().clone(), like.storage_offset(), like.size(), like.stride())
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
    return int(of.untyped_storage()._cdata) if of.layout == torch.strided else id(of)


def _flat(result: Any) -> list[Any]:
    if isinstance(result, torch.Tensor) or not isinstance(result, (list, tuple)):
        return [result]
    return [item for part in result for item in _flat(part)]
