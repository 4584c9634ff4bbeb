"""Where a Python file's comments stand; no parser is asked, so that a file with an error has comments too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import Span

# In a raw string a backslash still keeps the quote behind it from ending the string.
_TOKEN = re.compile(
    rb'"{3}(?:\\.|[^\\])*?"{3}|\'{3}(?:\\.|[^\\])*?\'{3}'
    rb'|"(?:\\\r?.|[^"\\\r\n])*"|\'(?:\\\r?.|[^\'\\\r\n])*\'|(?P<comment>#[^\r\n]*)',
    re.DOTALL,
)


def comments(text: bytes) -> Iterator[Span]:
    """The comments, where they stand in no string."""
    for match in _TOKEN.finditer(text):
        if match["comment"] is not None:
            yield Span(*match.span())
