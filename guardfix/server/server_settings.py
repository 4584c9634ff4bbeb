"""What the editor's own settings say, under `guardfix`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True)
class ServerSettings:
    """How the server behaves in an editor. What is looked for is in the project's configuration instead."""

    debounce: int = 150
    """How many milliseconds after the last key press the text is checked."""
    workspace: bool = False
    """Check all files in the workspace at startup and after each save, not only open ones."""
    codeLens: bool = True  # the names are those of the editors' settings
    """Offer to verify a program above its main function."""
    inlayHints: bool = True
    """Show what each guard is for after it, if the editor shows such hints."""
    modeHints: bool = False
    """Tell which mode begins after each function, block and guard that begins one."""

    @classmethod
    def of(cls, given: Any, initial: ServerSettings | None = None) -> tuple[ServerSettings, list[str]]:
        """The settings, and what is wrong with the given ones; what is wrong counts as not said.

        `initial` says what holds where nothing is given: an editor may have sent its settings as initialization
        options, and answer later that it has none.
        """
        initial = initial or cls()
        if isinstance(given, Mapping) and isinstance(given.get("guardfix"), Mapping):
            given = given["guardfix"]
        if not isinstance(given, Mapping):
            return initial, []
        values: dict[str, Any] = {}
        wrong = []
        known = asdict(initial)
        for name, value in given.items():
            if name not in known:
                continue  # a client may keep settings of its own beside these
            if type(value) is not type(known[name]) or (name == "debounce" and int(value) < 0):
                wrong.append(f"`guardfix.{name}` can't be {value!r}; it stays {known[name]!r}")
            else:
                values[name] = value
        return replace(initial, **values), wrong
