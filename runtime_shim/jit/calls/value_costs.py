"""What an op on numbers, texts, lists and dicts will cost, before it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...core.resource_budget import account_in_force, pay_for_hashes
from .call_costs import parts_of

_AT_ONCE = frozenset(
    "append pop len __getitem__ _set_item __is__ __isnot__ __len__ numpy_T clear setdefault get".split()
)
"""Ops that touch one element, whatever the size."""
_DEEP = frozenset(
    "eq ne lt le gt ge __contains__ index count remove sort sorted sum str prim.min prim.max dict".split()
)
"""Ops that walk through what lists hold."""
_PER_STEP = 64
"""Elements that are copied in the time of a step."""
_ELEMENT = 8


def pay_for(name: str, kind: str, values: Sequence[Any]) -> None:
    """Pay for an op of these values by the account that is in force. Raises `LimitReached`."""
    account = account_in_force()
    if account is None or kind == "any":
        return
    if kind == "number":
        if name == "prim.rangelist":
            account.pay(max(0, values[0]), max(0, values[0]) * 4 * _ELEMENT)
    elif kind == "str":
        account.pay(1 + len(values[0]) // 10_000)
        made = _made_of_text(name, values) * max(map(_width, _texts(values)))
        account.afford(made, _search_time(name, values))  # the result itself is paid when it is there
    elif kind == "dict" and len(values) > 1 and isinstance(values[1], (tuple, complex)):
        # A key, whose hash is computed again; of complex numbers, any number of keys may have one hash.
        account.pay(parts_of(values[1]) + (len(values[0]) if isinstance(values[1], complex) else 0))
    elif name in _DEEP:
        account.pay(sum(parts_of(value) for value in values))
        if name == "dict":
            pay_for_hashes(_keys(values[0]))
    elif kind == "dict" and name == "update":
        account.pay(sum(len(value) for value in values if isinstance(value, dict)))
        pay_for_hashes([key for value in values if isinstance(value, dict) for key in value])
    elif name in ("mul", "mul_"):
        made = len(values[0]) * max(0, *(value for value in values[1:] if isinstance(value, int)), 0)
        account.pay(made // _PER_STEP, made * _ELEMENT)
    elif name not in _AT_ONCE:
        made = sum(len(value) for value in values if isinstance(value, (list, tuple, dict, str)))
        account.pay(1 + made // _PER_STEP, made * _ELEMENT)


def _keys(pairs: Any) -> list[Any]:
    """The keys of what a dict is made of."""
    return list(pairs) if isinstance(pairs, dict) else [pair[0] for pair in pairs]


def _texts(values: Sequence[object]) -> Iterator[str]:
    """The texts among the values, and in the lists among them."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (part for part in value if isinstance(part, str))


def _width(text: str) -> int:
    """Bytes of a character, at most."""
    return 1 if text.isascii() else _WIDEST


_WIDEST = 4
_GROWING = frozenset("upper lower casefold title capitalize swapcase".split())
_LONGEST_CASE = 3
"""Letters that one becomes in the other case, at most."""
_BACKWARDS = frozenset("rfind rindex rsplit rpartition".split())
_OF_LETTERS = frozenset("strip lstrip rstrip".split())


def _search_time(name: str, values: Sequence[Any]) -> float:
    """Seconds of a search that compares each place with all of what is looked for, as Python's do backwards."""
    others = [len(value) for value in values[1:] if isinstance(value, str)]
    if not others or name not in _BACKWARDS | _OF_LETTERS:
        return 0
    return len(values[0]) * others[0] * (1e-10 if name in _BACKWARDS else 1e-9)


def _made_of_text(name: str, values: Sequence[Any]) -> int:
    """The bytes of what an op of texts makes, at most."""
    text, rest = values[0], values[1:]
    made = len(text)
    if name == "mul":
        made *= max([0, *(value for value in rest if isinstance(value, int))])
    elif name in _GROWING and not text.isascii():
        made *= _LONGEST_CASE
    elif name in ("center", "ljust", "rjust", "zfill"):
        made = max([made, *(value for value in rest if isinstance(value, int))])
    elif name == "expandtabs":
        made += text.count("\t") * max([8, *(value for value in rest if isinstance(value, int))])
    elif name == "replace" and len(rest) > 1 and isinstance(rest[0], str) and isinstance(rest[1], str):
        found = text.count(rest[0]) if rest[0] else made + 1
        made += found * len(rest[1])
    elif name == "join":
        made = sum(len(part) + made for part in rest[0] if isinstance(part, str))
    elif name in ("format", "percentFormat"):
        made += 32 * sum(parts_of(value) for value in rest)
    elif name in ("split", "rsplit", "splitlines", "list", "partition", "rpartition"):
        made *= 60  # an object for each piece
    return made
