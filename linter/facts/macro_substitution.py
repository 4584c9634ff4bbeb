"""What a macro's body becomes for given arguments: these are put in, `#` and `##` carried out ([cpp.subst])."""

from __future__ import annotations

import re

from ..lazy_regex import lazy_regex
from ..named_tuples import NamedTuple

_TOKEN = lazy_regex(rb'"(?:\\.|[^"\\\n])*"|(?<!#)#(?!#)\s*(?P<text>\w+)|(?P<word>\w+)')
_PASTE = lazy_regex(rb"(?:(?<!\s)\s+)?##\s*")


class Definition(NamedTuple):
    """A macro; `parameters` is None for one without brackets."""

    parameters: tuple[bytes, ...] | None
    body: bytes


def substituted(definition: Definition, arguments: tuple[bytes, ...]) -> bytes:
    """The macro's body with the arguments in place of its parameters."""
    parameters = definition.parameters or ()
    values = dict(zip(parameters, arguments, strict=False))
    if parameters and parameters[-1] == b"...":
        values[b"__VA_ARGS__"] = b", ".join(arguments[len(parameters) - 1 :])

    def replaced(match: re.Match[bytes]) -> bytes:
        if match["word"] is not None:
            return values.get(match["word"], match["word"])
        if match["text"] in values:
            return b'"' + values[match["text"]].replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
        return match.group()

    return _PASTE.sub(b"", _TOKEN.sub(replaced, definition.body))


def pasted(name: str, parameters: tuple[str, ...], arguments: tuple[str, ...]) -> str:
    """A name that a macro makes, for the arguments of one invocation: `op##_autograd` -> `add_autograd`."""
    definition = Definition(tuple(map(str.encode, parameters)), name.encode())
    return substituted(definition, tuple(map(str.encode, arguments))).decode("utf-8", "replace")
