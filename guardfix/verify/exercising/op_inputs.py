"""Inputs for an op: made from its signature, and bent by what its checks refuse until it accepts them.

A candidate has one input for each argument. The search tries candidates in an order that its seed fixes. A refusal that
was not heard before means that a candidate passed the checks before it, so the search goes on from there; where the
message names what it wants (a rank, a dtype, two sizes that should be one), that is tried first.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from .op_signatures import ArgumentType, CallableOp, OpArgument

DTYPES = ("float32", "int64", "float64", "bool", "int32", "uint8", "float16")
_FIRST_SIZES = (2, 3, 4, 5, 2)
_SIZES = (1, 2, 3, 4, 5, 6, 8)
_INTEGERS = (1, 2, 0, 3, -1, 4, 5, 8)
_REALS = (0.5, 1.0, 0.0, 2.0, -1.0)
_TEXTS = ("sum", "mean", "none", "max", "", "zeros", "bilinear")


@dataclass(frozen=True)
class TensorInput:
    """A tensor: its sizes, its dtype, and for whole numbers the bound that they stay below."""

    sizes: tuple[int, ...]
    dtype: str = "float32"
    below: int = 2

    @property
    def is_float(self) -> bool:
        return self.dtype.startswith(("float", "bfloat"))

    @property
    def numel(self) -> int:
        total = 1
        for size in self.sizes:
            total *= size
        return total


@dataclass(frozen=True)
class PlainInput:
    """A number, a text, a list of numbers: as it is written in Python. Empty for an argument that is left out."""

    text: str


Input = TensorInput | PlainInput | tuple[TensorInput, ...]
Candidate = tuple[Input, ...]
LEFT_OUT = PlainInput("")


def tensors_of(candidate: Candidate) -> Iterator[TensorInput]:
    """All tensors of a candidate, those in lists as well."""
    for one in candidate:
        if isinstance(one, TensorInput):
            yield one
        elif isinstance(one, tuple):
            yield from one


def size_of(candidate: Candidate) -> tuple[int, int]:
    """What orders candidates: the simplest first."""
    return sum(1 for one in candidate if one != LEFT_OUT), sum(tensor.numel for tensor in tensors_of(candidate))


def simplest_value(kind: ArgumentType, tensor: TensorInput) -> Input:
    """The first value that is tried for an argument."""
    if kind.is_tensor:
        return (tensor, tensor) if kind.is_list else tensor
    return PlainInput(next(iter(plain_values(kind))))


def plain_values(kind: ArgumentType) -> Iterator[str]:
    """Values of a type that is not a tensor's, as they are written in Python; the simplest first."""
    single: Sequence[object]
    if kind.name == "int":
        single = _INTEGERS
    elif kind.name in ("float", "Scalar"):
        single = _REALS
    elif kind.name == "bool":
        single = (False, True)
    elif kind.name == "str":
        single = _TEXTS
    elif kind.name == "ScalarType":
        yield from ("torch.float32", "torch.float64", "torch.int64")
        return
    elif kind.name == "Device":
        yield "torch.device('cpu')"
        return
    elif kind.name == "Layout":
        yield "torch.strided"
        return
    elif kind.name == "MemoryFormat":
        yield "torch.contiguous_format"
        return
    else:
        yield "None"
        return
    if kind.is_list:
        for length in (kind.length,) if kind.length else (2, 1, 3, 4):
            yield from (repr([value] * length) for value in single)
    else:
        yield from map(repr, single)
    if kind.optional:
        yield "None"


def first_candidates(op: CallableOp) -> Iterator[Candidate]:
    """All tensors alike, of each rank; arguments with defaults are left out."""
    for rank in (2, 1, 3, 4, 0, 5):
        tensor = TensorInput(_FIRST_SIZES[:rank])
        yield tuple(
            simplest_value(argument.type, tensor) if argument.required else LEFT_OUT for argument in op.arguments
        )


_RANK = re.compile(
    r"\.(?:dim|ndimension)\(\) == (\d)|\brank (?:of )?([0-6])\b|\b([0-6])[- ]?(?:d|dim\w*)\b", re.IGNORECASE
)
_WORDS = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_RANK_IN_WORDS = re.compile(rf"\b({'|'.join(_WORDS)})[- ]dim", re.IGNORECASE)
_SIZE = re.compile(r"(\w+)\.size\((-?\d)\) == (\d+)")
_SIZES_ALIKE = re.compile(r"(\w+)\.size\((-?\d)\) == (\w+)\.size\((-?\d)\)")
_DTYPE_WORDS = {
    "long": "int64", "int64": "int64", "int32": "int32", "double": "float64", "float64": "float64", "half": "float16",
    "bool": "bool", "byte": "uint8", "uint8": "uint8", "float": "float32", "float32": "float32", "int": "int32",
    "integral": "int64", "integer": "int64", "index": "int64",
}  # fmt: skip
_DTYPE = re.compile(rf"\bk?({'|'.join(sorted(_DTYPE_WORDS, key=len, reverse=True))})\b", re.IGNORECASE)


def suggested(op: CallableOp, candidate: Candidate, message: str) -> Iterator[Candidate]:
    """Candidates that a refusal asks for."""
    names = [argument.name for argument in op.arguments]
    named = [position for position, name in enumerate(names) if re.search(rf"\b{re.escape(name)}\b", message)]
    tensors = [position for position, one in enumerate(candidate) if isinstance(one, TensorInput)]
    about = [position for position in named if position in tensors] or tensors
    ranks = [int(found[1] or found[2] or found[3]) for found in _RANK.finditer(message)]
    ranks += [_WORDS[found[1].lower()] for found in _RANK_IN_WORDS.finditer(message)]
    for rank in dict.fromkeys(ranks):
        for position in about:
            yield _with(candidate, position, _of_rank(candidate[position], rank))
        if len(about) > 1:
            changed = candidate
            for position in about:
                changed = _with(changed, position, _of_rank(changed[position], rank))
            yield changed
    for found in _SIZES_ALIKE.finditer(message):
        if found[1] in names and found[3] in names:
            one, other = names.index(found[1]), names.index(found[3])
            first, second = candidate[one], candidate[other]
            if isinstance(first, TensorInput) and isinstance(second, TensorInput):
                yield from _size_from(candidate, one, int(found[2]), second, int(found[4]))
                yield from _size_from(candidate, other, int(found[4]), first, int(found[2]))
    for found in _SIZE.finditer(message):
        for position in about:
            yield from _sized(candidate, position, int(found[2]), int(found[3]))
    for found in _DTYPE.finditer(message):
        dtype = _DTYPE_WORDS[found[1].lower()]
        for position in about:
            yield _with(candidate, position, replace(_tensor(candidate[position]), dtype=dtype))
        if len(about) > 1:
            changed = candidate
            for position in about:
                changed = _with(changed, position, replace(_tensor(changed[position]), dtype=dtype))
            yield changed


def _tensor(one: Input) -> TensorInput:
    assert isinstance(one, TensorInput)
    return one


def _with(candidate: Candidate, position: int, one: Input) -> Candidate:
    return (*candidate[:position], one, *candidate[position + 1 :])


def _of_rank(one: Input, rank: int) -> TensorInput:
    tensor = _tensor(one)
    return replace(tensor, sizes=(*tensor.sizes, *_FIRST_SIZES[len(tensor.sizes) :])[:rank])


def _sized(candidate: Candidate, position: int, dim: int, size: int) -> Iterator[Candidate]:
    tensor = _tensor(candidate[position])
    if -len(tensor.sizes) <= dim < len(tensor.sizes) and size <= 64:
        sizes = list(tensor.sizes)
        sizes[dim] = size
        yield _with(candidate, position, replace(tensor, sizes=tuple(sizes)))


def _size_from(
    candidate: Candidate, position: int, dim: int, other: TensorInput, other_dim: int
) -> Iterator[Candidate]:
    if -len(other.sizes) <= other_dim < len(other.sizes):
        yield from _sized(candidate, position, dim, other.sizes[other_dim])


def bent(op: CallableOp, candidate: Candidate, chance: random.Random) -> Candidate:
    """A neighbour of the candidate: one thing about it is different, now and then two."""
    for _ in range(1 if chance.random() < 0.7 else 2):
        candidate = _bent_once(op, candidate, chance)
    return candidate


def _bent_once(op: CallableOp, candidate: Candidate, chance: random.Random) -> Candidate:
    places = [position for position, one in enumerate(candidate) if isinstance(one, TensorInput)]
    lists = [position for position, one in enumerate(candidate) if isinstance(one, tuple)]
    others = [position for position in range(len(candidate)) if position not in places and position not in lists]
    if others and (not places or chance.random() < 0.25):
        position = chance.choice(others)
        return _with(candidate, position, _other_value(op.arguments[position], candidate, chance))
    if lists and (not places or chance.random() < 0.3):
        position = chance.choice(lists)
        return _with(candidate, position, _other_list(candidate, chance))
    if not places:
        return candidate
    position = chance.choice(places)
    argument, tensor = op.arguments[position], _tensor(candidate[position])
    if not argument.required and chance.random() < 0.3:
        return _with(candidate, position, LEFT_OUT)
    if argument.type.optional and chance.random() < 0.2:
        return _with(candidate, position, PlainInput("None"))
    other = _tensor(candidate[chance.choice(places)])
    kind = chance.randrange(8)
    if kind == 0:
        return _with(candidate, position, _of_rank(tensor, chance.randrange(6)))
    if kind == 1:
        rank = chance.randrange(6)
        for place in places:
            candidate = _with(candidate, place, _of_rank(candidate[place], rank))
        return candidate
    if kind == 2:
        return _with(candidate, position, replace(tensor, sizes=other.sizes))
    if kind in (3, 4) and tensor.sizes and other.sizes:
        dim = chance.randrange(len(tensor.sizes))
        size = chance.choice(other.sizes if kind == 3 else _SIZES)
        return next(_sized(candidate, position, dim, size), candidate)
    if kind == 5:
        dtype = chance.choice(DTYPES)
        for place in places:
            candidate = _with(candidate, place, replace(_tensor(candidate[place]), dtype=dtype))
        return candidate
    if kind == 6:
        return _with(candidate, position, replace(tensor, dtype=chance.choice(DTYPES)))
    return _with(candidate, position, replace(tensor, below=chance.choice((1, 2, 3, 4))))


def _other_value(argument: OpArgument, candidate: Candidate, chance: random.Random) -> Input:
    if not argument.required and chance.random() < 0.3:
        return LEFT_OUT
    if argument.type.is_tensor:
        sizes = [tensor.sizes for tensor in tensors_of(candidate)] or [_FIRST_SIZES[:2]]
        return simplest_value(argument.type, TensorInput(chance.choice(sizes)))
    values = list(plain_values(argument.type))
    if argument.type.name == "int" and not argument.type.is_list:
        values += sorted({str(size) for tensor in tensors_of(candidate) for size in tensor.sizes})
    return PlainInput(chance.choice(values))


def _other_list(candidate: Candidate, chance: random.Random) -> tuple[TensorInput, ...]:
    sizes = _FIRST_SIZES[: chance.randrange(5)]
    return (TensorInput(sizes, chance.choice(DTYPES[:3])),) * chance.choice((1, 2, 3))


@dataclass
class FoundInputs:
    """What the search found out about an op."""

    accepted: list[Candidate] = field(default_factory=list)
    """Candidates that differ in ranks and dtypes; the simplest first."""
    tried: int = 0
    refusals: list[str] = field(default_factory=list)
    """What was said, the last one last."""


_NUMBERS = re.compile(r"\d+")
_ELSEWHERE = re.compile(r"\bcuda\b|\bgpu\b|\bxpu\b|\bmps\b", re.IGNORECASE)
ENOUGH = 10
"""Accepted candidates, of other ranks and dtypes, after which the search ends."""


def search_inputs(
    op: CallableOp, refusal_of: Callable[[Candidate], str | None], *, budget: int = 600, seed: int = 0
) -> FoundInputs:
    """Candidates that the op accepts. `refusal_of` calls it and gives what it says; None when it accepts.

    At most `budget` calls are made; after the first accepted candidate a third of what is left of them, for others.
    """
    chance = random.Random(seed)
    found = FoundInputs()
    queue = list(first_candidates(op))
    seen: set[Candidate] = set()
    heard: dict[str, Candidate] = {}
    shapes: set[tuple[object, ...]] = set()
    limit = budget
    for _ in itertools.repeat(None, 20 * budget):  # candidates that were tried before cost no call
        if found.tried >= limit or len(found.accepted) >= ENOUGH:
            break
        if queue:
            candidate = queue.pop(0)
        else:
            # From the checks that were passed last, mostly; from what is accepted, once there is something.
            known = found.accepted or list(heard.values())
            start = known[-1] if chance.random() < 0.5 else chance.choice(known)
            candidate = bent(op, start, chance)
        if candidate in seen:
            continue
        seen.add(candidate)
        found.tried += 1
        said = refusal_of(candidate)
        if said is None:
            if not found.accepted:
                limit = found.tried + (budget - found.tried) // 3
            shape = _shape_of(candidate)
            if shape not in shapes:
                shapes.add(shape)
                found.accepted.append(candidate)
            continue
        key = _NUMBERS.sub("#", said)
        if _ELSEWHERE.search(said) and len(heard) <= 1 and found.tried > ENOUGH:
            found.refusals.append(said)
            break  # it wants a device that is not here, before all else
        if key not in heard:
            heard[key] = candidate
            found.refusals.append(said)
            queue[:0] = list(suggested(op, candidate, said))
    found.accepted.sort(key=size_of)
    return found


def _shape_of(candidate: Candidate) -> tuple[object, ...]:
    """What makes an accepted candidate worth keeping beside the others."""
    return tuple(
        (len(one.sizes), one.dtype) if isinstance(one, TensorInput) else one == LEFT_OUT or type(one).__name__
        for one in candidate
    )
