"""What somebody else's data may cost: one account of steps, bytes and time for each load and each run.

Every op, list, string and number of a file pays into the account that is in force. What cannot be paid for is refused
before it is done; the place is added by whoever knows it.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

_clock = time.thread_time if hasattr(time, "thread_time") else time.process_time
"""Processor time: a busy machine is slow, and the data not to blame."""


class LimitReached(Exception):
    """A load or run that asks for more than it may; the message says of what, and what the limit is."""


@dataclass(frozen=True)
class Budget:
    """What one load or run may cost."""

    steps: int
    """Opcodes, statements, elements of lists: what takes about a microsecond each."""
    size: int
    """Bytes of all values that are made."""
    seconds: float
    """Of the processor."""


class Account:
    """What is left of a budget."""

    __slots__ = ("__weakref__", "_budget", "_deadline", "_held", "_next_look", "size", "steps")

    _BETWEEN_LOOKS = 500
    """Steps between two looks at the clock."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.steps = budget.steps
        self.size = budget.size
        self._deadline = _clock() + budget.seconds
        self._next_look = self.steps - self._BETWEEN_LOOKS
        self._held: dict[int, weakref.ref[Any]] = {}

    def pay(self, steps: int = 1, size: int = 0) -> None:
        """Raises `LimitReached` when too little is left, or the time is over."""
        self.steps -= steps
        if size:
            self.size -= size
            if self.size < 0:
                self.size = 0
                raise LimitReached(f"asks for more than {self._budget.size} bytes of memory")
        if self.steps < self._next_look:
            if self.steps < 0:
                self.steps = 0
                raise LimitReached(f"takes more than {self._budget.steps} steps")
            if _clock() > self._deadline:
                raise LimitReached(f"takes longer than {self._budget.seconds:g} seconds")
            self._next_look = self.steps - self._BETWEEN_LOOKS

    def afford(self, size: float, seconds: float) -> None:
        """Raises `LimitReached` when there is no room for so many bytes, or no time for so much work."""
        if size > self.size:
            raise LimitReached(
                f"asks for {_rounded(size)} bytes of memory, and {self.size} of {self._budget.size} are left"
            )
        if seconds > _WORTH_A_LOOK and _clock() + seconds > self._deadline:
            raise LimitReached(f"takes longer than {self._budget.seconds:g} seconds")

    def hold(self, array: Any) -> None:
        """Pay for the memory of an array for as long as it lives, once for all that share it."""
        while array is not None and isinstance(getattr(array, "base", None), type(array)):
            array = array.base
        if array is None or array.nbytes < _SMALL or id(array) in self._held:
            return
        self.pay(0, array.nbytes)
        key, size = id(array), array.nbytes

        def free(_: object) -> None:
            del self._held[key]
            self.size += size

        self._held[key] = weakref.ref(array, free)


_WORTH_A_LOOK = 0.01
_SMALL = 4096
"""Bytes of an array that is too small to be watched."""


def _rounded(size: float) -> str:
    return str(int(size)) if size < 1e18 else "more than 10^18"


class _InForce(threading.local):
    account: Account | None = None


_in_force = _InForce()


def pay(steps: int = 1, size: int = 0) -> None:
    """Pay into the account that is in force in this thread, if one is. Raises `LimitReached`."""
    account = _in_force.account
    if account is not None:
        account.pay(steps, size)


def account_in_force() -> Account | None:
    """The account of the load or run that this thread is in."""
    return _in_force.account


@contextmanager
def paying_into(account: Account) -> Iterator[None]:
    """`account` is in force meanwhile, in this thread."""
    before = _in_force.account
    _in_force.account = account
    try:
        yield
    finally:
        _in_force.account = before


def brief(value: object) -> str:
    """The value as messages show it: `repr` of small ones, cut; of others, what they are."""
    try:
        weight(value, 100)
    except LimitReached:
        return f"a {type(value).__name__}"
    if isinstance(value, (str, bytes)):
        value = value[:_SHOWN]
    text = repr(value) if not isinstance(value, int) or abs(value) < 1 << 64 else "a large int"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


_SHOWN = 200


def _one(value: object) -> int:
    return 1


def pay_for_hashes(values: Iterable[Any]) -> None:
    """Pay for a set of these: Python compares each with those before it that have its hash."""
    counts = Counter(map(hash, values))
    pay(sum(count * (count - 1) // 2 for count in counts.values()))


def weight(value: object, largest: int, leaf: Callable[[Any], int] = _one) -> int:
    """How many values a walk through `value` meets that knows nothing of sharing: in `[a, a]` all of `a` twice.

    `leaf` gives the weight of anything but a container. Looks at each container once, so it's quick where a walk is
    not. Raises `LimitReached` above `largest`, and for what contains itself.
    """
    known: dict[int, int] = {}
    waiting: list[tuple[Any, bool]] = [(value, False)]
    open_ones: set[int] = set()
    while waiting:
        one, seen = waiting.pop()
        items = _items(one)
        key = id(one)
        if items is None or (key in known and not seen):
            continue
        if seen:
            open_ones.discard(key)
            total = 1 + sum([known[id(item)] if isinstance(item, _CONTAINERS) else leaf(item) for item in items])
            if total > largest:
                raise LimitReached(f"a value of more than {largest} parts, counted as often as they are met")
            known[key] = total
        elif key in open_ones:
            raise LimitReached("a value that contains itself")
        else:
            open_ones.add(key)
            waiting.append((one, True))
            waiting += [(item, False) for item in items if isinstance(item, _CONTAINERS)]
    return known[id(value)] if id(value) in known else leaf(value)


_CONTAINERS = (list, tuple, dict, set, frozenset)


def _items(value: object) -> Any:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, _CONTAINERS) else None
