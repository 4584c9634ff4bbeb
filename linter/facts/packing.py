"""What was found in files as MessagePack: what is sent between processes and kept. Reading it executes nothing and
checks every type."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import msgspec

_Found = TypeVar("_Found", bound=msgspec.Struct)


class NotPacked(Exception):
    """The bytes hold nothing of the kind that was asked for: they are damaged, or of another version."""


_ESCAPED = b"\xc1"
"""How packed facts begin whose texts aren't all Unicode; MessagePack uses this byte for nothing."""


def pack(found: msgspec.Struct) -> bytes:
    """A file's facts, or its file summary, as MessagePack."""
    try:
        return _encoder().encode(found)
    except UnicodeEncodeError:  # a path whose bytes aren't UTF-8: Python keeps them as surrogates
        plain = msgspec.to_builtins(found, builtin_types=(bytes,), enc_hook=_bounds)
        return _ESCAPED + _encoder().encode(_with_texts(plain, _escaped))


def unpack(kind: type[_Found], packed: bytes) -> _Found:
    """What `pack` was given, if it was of that kind. Raises `NotPacked` for anything else."""
    try:
        if packed.startswith(_ESCAPED):
            plain = _with_texts(msgspec.msgpack.decode(packed[len(_ESCAPED) :]), _unescaped)
            return msgspec.convert(plain, kind, dec_hook=_range)
        found: _Found = _decoder(kind).decode(packed)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise NotPacked(str(error)) from None
    return found


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, (list, tuple)):
        return [_with_texts(one, change) for one in value]
    if isinstance(value, dict):
        return {_with_texts(key, change): _with_texts(one, change) for key, one in value.items()}
    return value


def _escaped(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def _unescaped(text: str) -> str:
    return text.encode("latin-1").decode("utf-8", "surrogatepass")


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
