"""What the files of a project say about one name, as each of them sees it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from ..facts import Facts

_Item = TypeVar("_Item")


class ItemsInSight(Generic[_Item]):
    """What files say about one name: a file that defines it means its own."""

    def __init__(self, items: Iterable[tuple[Facts, _Item]], defines: Callable[[Facts], bool]) -> None:
        self._shared: list[tuple[Facts, _Item]] = []
        self._own: dict[str, list[tuple[Facts, _Item]]] = defaultdict(list)
        self._before: dict[str, int] = {}
        """How many of the shared items come before those of its own file."""
        for facts, item in items:
            if defines(facts):
                self._before.setdefault(facts.path, len(self._shared))
                self._own[facts.path].append((facts, item))
            else:
                self._shared.append((facts, item))

    def at(self, path: str) -> list[tuple[Facts, _Item]]:
        """What can be about the name as that file defines it, in the order of the files."""
        if path not in self._own:
            return self._shared
        place = self._before[path]
        return [*self._shared[:place], *self._own[path], *self._shared[place:]]
