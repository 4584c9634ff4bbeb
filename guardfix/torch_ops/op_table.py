"""Reads the table: a line is taken apart when somebody asks for its op."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

_KINDS = {"t": "tensor", "l": "tensors", "n": "number", "o": "other"}


class ArgumentOfOp(NamedTuple):
    """One argument of an op."""

    name: str
    kind: str
    """`tensor`, `tensors` (a list or tuple of them), `number` or `other`."""
    optional: bool
    """It may be None or left out."""
    keyword_only: bool
    variadic: bool = False
    """It takes all further positional arguments: `torch.meshgrid(a, b)`."""


class Op(NamedTuple):
    """One overload of an op: what PyTorch 2.13 does with its arguments."""

    name: str
    """The name below aten, or of what exists in Python only, its path: `nn.functional.kl_div`, `Tensor.float`."""
    overload: str
    arguments: tuple[ArgumentOfOp, ...]
    results: tuple[str, ...]
    """For each result: `new`, `view:NAME` (always of that argument), `alias:NAME` (always the argument itself),
    `maybe:NAME` (new, a view or the argument itself), `tensors` and `views:NAME` (a list), `number`, `none`, `other`.
    """
    writes: tuple[str, ...]
    """Arguments that are always written in place: an inference tensor is refused there."""
    saves: tuple[tuple[str, str], ...]
    """(saved, because): the first is saved for backward whenever the second requires grad."""
    saves_result: bool | None
    """Whether the result is saved. None: unknown, or it depends on the arguments."""
    differentiable: tuple[str, ...]
    """Arguments because of which the first result requires grad."""
    probed: bool
    """Seen on PyTorch. Otherwise the row is what PyTorch declares."""
    may_write: tuple[str, ...] = ()
    """Arguments that some calls write in place."""
    may_save: tuple[tuple[str, str], ...] = ()
    """As `saves`, in some calls only."""
    saves_known: bool = True
    """False: neither a call nor a derivative formula shows what is saved."""
    options: tuple[str, ...] = ()
    """Optional arguments on which `saves` depends: it holds for calls that leave them at their default."""
    copied: tuple[str, ...] = ()
    """Saved arguments of which a copy is saved instead if they aren't contiguous."""


class Layer(NamedTuple):
    """A class of torch.nn and torch::nn."""

    name: str
    parameters: bool
    saves_input: bool | None
    """With parameters that require grad, an inference input is refused in training mode. None: in some calls."""
    saves_input_eval: bool | None
    """The same in evaluation mode."""
    result: str
    """`new`, `maybe` (may hand its argument back) or `other`."""
    inplace: bool = False
    """Made with `inplace=True`, it writes its argument and hands it back; `result` is without that."""


class _Table(NamedTuple):
    ops: dict[str, list[str]]
    """The lines of each name."""
    spellings: dict[str, str]
    """Paths in Python whose aten op has another name."""
    layers: dict[str, str]
    attributes: dict[str, str]
    tensor_methods: frozenset[str]
    module_methods: frozenset[str]


@cache
def table() -> _Table:
    """The whole file, read once."""
    text = Path(__file__).with_name("torch_ops.tsv").read_text(encoding="utf-8")
    lines, spellings, layers, attributes, methods = text.split("\n\n")
    ops: dict[str, list[str]] = {}
    for line in lines.split("\n"):
        ops.setdefault(line[: line.index("\t")], []).append(line)
    tensor_methods, module_methods = methods.split("\n")[:2]
    return _Table(
        ops,
        _pairs(spellings),
        _pairs(layers),
        _pairs(attributes),
        frozenset(tensor_methods.split()),
        frozenset(module_methods.split()),
    )


def _pairs(section: str) -> dict[str, str]:
    return {name: rest for name, _, rest in (line.partition("\t") for line in section.split("\n"))}


def _argument(text: str) -> ArgumentOfOp:
    name, _, rest = text.lstrip("*").partition("/")
    return ArgumentOfOp(name, _KINDS[rest[0]], "?" in rest, text.startswith("*"), "+" in rest)


def _pair(text: str) -> tuple[str, str]:
    saved, _, because = text.partition("<")
    return saved, because


@cache
def _parsed(line: str) -> tuple[str, Op]:
    """The marks of a line, and its op."""
    name, overload, marks, arguments, results, writes, saves, differentiable = line.split("\t")
    words = saves.split()
    pairs = [word for word in words if "<" in word]
    written = writes.split()
    op = Op(
        name,
        overload,
        tuple(map(_argument, arguments.split())),
        tuple(results.split()),
        tuple(word for word in written if word[0] != "~"),
        tuple(_pair(word) for word in pairs if word[0] != "~"),
        True if "result" in words else None if "~result" in words or "?" in words else False,
        tuple(differentiable.split()),
        "+" in marks,
        tuple(word[1:] for word in written if word[0] == "~"),
        tuple(_pair(word[1:]) for word in pairs if word[0] == "~"),
        "?" not in words,
        tuple(word[1:] for word in words if word[0] == "!"),
        tuple(word[1:] for word in words if word[0] == "^"),
    )
    return marks, op


def ops(name: str, mark: str) -> tuple[Op, ...]:
    """The overloads of a name that carry the mark: f in Python, m a method, c in C++, p a Python function."""
    found = [_parsed(line) for line in table().ops.get(name, ())]
    return tuple(op for marks, op in found if mark in marks)
