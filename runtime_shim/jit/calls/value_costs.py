"""What an op of numbers, texts, lists and dicts will cost, told before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.account import account_in_force
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
        account.afford(_made_of_text(name, values), 0)  # the result itself is paid when it is there
    elif kind == "dict" and len(values) > 1 and isinstance(values[1], tuple):
        account.pay(parts_of(values[1]))  # a key, whose hash is computed anew
    elif name in _DEEP:
        account.pay(sum(parts_of(value) for value in values))
    elif name in ("mul", "mul_"):
        made = len(values[0]) * max(0, *(value for value in values[1:] if isinstance(value, int)), 0)
        account.pay(made // _PER_STEP, made * _ELEMENT)
    elif name not in _AT_ONCE:
        made = sum(len(value) for value in values if isinstance(value, (list, tuple, dict, str)))
        account.pay(1 + made // _PER_STEP, made * _ELEMENT)


def _made_of_text(name: str, values: Sequence[Any]) -> int:
    """The bytes of what an op of texts makes, at most."""
    text, rest = values[0], values[1:]
    made = len(text)
    if name == "mul":
        made *= max([0, *(value for value in rest if isinstance(value, int))])
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
