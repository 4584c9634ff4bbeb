"""`typing.NamedTuple`, made in half the time: a check makes some 80 of them.

`typing` compiles each annotation, which no one asks for as long as the annotations of all modules are texts.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING or sys.version_info >= (3, 14):  # from where on annotations are made when they are asked for
    from typing import NamedTuple
else:
    from collections import namedtuple

    _MADE_BY_NAMEDTUPLE = frozenset({"__module__", "__qualname__", "__annotations__"})

    class _NamedTupleType(type):
        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, object]) -> type:
            annotations = body.get("__annotations__", {})
            defaults = [body[field] for field in annotations if field in body]
            made = namedtuple(name, annotations, defaults=defaults, module=body["__module__"])
            made.__annotations__ = made.__new__.__annotations__ = annotations
            for key, value in body.items():
                if key not in annotations and key not in _MADE_BY_NAMEDTUPLE:
                    setattr(made, key, value)
            made.__qualname__ = body["__qualname__"]
            return made

    class NamedTuple:
        """The base to inherit from; what inherits from it is a tuple, and has nothing of it."""

        def __mro_entries__(self, bases):
            return (_Base,)

    _Base = type.__new__(_NamedTupleType, "NamedTuple", (), {})
    NamedTuple = NamedTuple()

__all__ = ["NamedTuple"]
