"""Regular expressions that are compiled when they are first used.

A check imports some 150 of them and uses a few: compiling all of them takes as long as Python's own start.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any, AnyStr


class _Uncompiled:
    """In place of an `re.Pattern`, with its attributes; from the second use on, each costs what the pattern's does."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copying and pickling ask for before there are any attributes
            raise AttributeError(name)
        import re

        given: Any = self.pattern
        value = getattr(re.compile(given, self._flags), name)
        setattr(self, name, value)
        return value


def lazy_regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, for the constants of modules. A pattern that is wrong raises `re.error` at its first use."""
    uncompiled: Any = _Uncompiled(pattern, flags)
    return uncompiled  # type: ignore[no-any-return]
