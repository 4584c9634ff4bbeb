"""Facts and sketches as MessagePack: what is sent between processes and kept. Reading it executes nothing and checks
every type."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from .model import Facts
from .sketch import Sketch


class NoFacts(Exception):
    """The bytes hold no facts: they are damaged, or of another version."""


def pack_facts(facts: Facts) -> bytes:
    """A file's facts as MessagePack."""
    return _encoder().encode(facts)


def unpack_facts(packed: bytes) -> Facts:
    """The facts that `pack_facts` was given. Raises `NoFacts` for anything else."""
    try:
        return _decoder().decode(packed)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise NoFacts(str(error)) from None


def pack_sketch(sketch: Sketch) -> bytes:
    """A file's sketch as MessagePack."""
    return _encoder().encode(sketch)


def unpack_sketch(packed: bytes) -> Sketch:
    """The sketch that `pack_sketch` was given. Raises `NoFacts` for anything else."""
    try:
        return _sketch_decoder().decode(packed)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise NoFacts(str(error)) from None


@cache
def _encoder() -> msgspec.msgpack.Encoder:
    return msgspec.msgpack.Encoder(enc_hook=_bounds)


@cache
def _decoder() -> msgspec.msgpack.Decoder[Facts]:
    return msgspec.msgpack.Decoder(Facts, dec_hook=_range)


@cache
def _sketch_decoder() -> msgspec.msgpack.Decoder[Sketch]:
    return msgspec.msgpack.Decoder(Sketch)


def _bounds(value: object) -> object:
    if isinstance(value, range):
        return value.start, value.stop
    raise NotImplementedError(f"facts hold a {type(value).__name__}, which has no packed form")


def _range(kind: type[Any], value: Any) -> range:
    return range(*msgspec.convert(value, tuple[int, int]))
