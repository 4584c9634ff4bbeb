"""Tells one version of guardfix's code from any other: what is kept between runs holds for the code that found it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import cache

from ..parser_versions import installed_parsers
from .digests import blake2b

_LINTER = os.path.dirname(os.path.dirname(__file__))


@cache
def code_digest(*places: str) -> bytes:
    """Of Python, the parsers, and the code at and below these places: paths, or names within the linter."""
    hasher = blake2b(sys.version.encode(), digest_size=32)
    for place in places:
        top = os.path.join(_LINTER, place)
        for path in [top] if os.path.isfile(top) else _files_below(top):
            hasher.update(os.path.relpath(path, _LINTER).encode() + b"\0")
            with open(path, "rb") as file:
                hasher.update(file.read())
    for module, version in installed_parsers().items():
        hasher.update(f"{module} {version}\0".encode())
    return hasher.digest()


def _files_below(top: str) -> Iterable[str]:
    for where, _, names in sorted(os.walk(top)):
        yield from (os.path.join(where, name) for name in sorted(names) if name.endswith((".py", ".tsv")))
