"""JSON as it is printed: in ASCII, without what a terminal or a CI server would act on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def json_text(
    value: Any, *, indent: int | None = None, compact: bool = False, default: Callable[[Any], Any] | None = None
) -> str:
    """The value as JSON. What is unusual in strings is escaped, so that reading it gives the same value."""
    import json

    text = json.dumps(value, indent=indent, separators=(",", ":") if compact else None, default=default)
    # Only strings can hold these: DEL, which JSON lets pass, and the commands of CI servers (`foreign_text`).
    return text.replace("\x7f", "\\u007f").replace("##", "#\\u0023")
