"""What was found in files as MessagePack: what is sent between processes and kept. Reading it executes nothing and
checks every type."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

import msgspec

_Found = TypeVar("_Found", bound=msgspec.Struct)


class NotPacked(Exception):
    """The bytes hold nothing of the kind that was asked for: they are damaged, or of another version."""


def pack(found: msgspec.Struct) -> bytes:
    """A file's facts, or its sketch, as MessagePack."""
    return _encoder().encode(found)


def unpack(kind: type[_Found], packed: bytes) -> _Found:
    """What `pack` was given, if it was of that kind. Raises `NotPacked` for anything else."""
    try:
        found: _Found = _decoder(kind).decode(packed)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise NotPacked(str(error)) from None
    return found


@cache
def _encoder() -> msgspec.msgpack.Encoder:
    return msgspec.msgpack.Encoder(enc_hook=_bounds)


@cache
def _decoder(kind: type[Any]) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(kind, dec_hook=_range)


def _bounds(value: object) -> object:
    if isinstance(value, range):
        return value.start, value.stop
    raise NotImplementedError(f"facts hold a {type(value).__name__}, which has no packed form")


def _range(kind: type[Any], value: Any) -> range:
    return range(*msgspec.convert(value, tuple[int, int]))
