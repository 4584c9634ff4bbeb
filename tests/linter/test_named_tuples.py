"""Named tuples that are made in less time: in use they are `typing`'s."""

from __future__ import annotations

import pickle
import typing

import msgspec
import pytest

from guardfix.linter.named_tuples import NamedTuple


class Place(NamedTuple):
    """A place."""

    path: str
    row: int = 1
    """From 1."""
    words: tuple[str, ...] = ()

    @property
    def below(self) -> int:
        return self.row + 1

    @classmethod
    def at_top(cls, path: str) -> Place:
        return cls(path)

    def __bool__(self) -> bool:
        return self.row > 1


class TypedPlace(typing.NamedTuple):
    """A place."""

    path: str
    row: int = 1
    words: tuple[str, ...] = ()


@pytest.mark.parametrize("given", [("a.cpp",), ("a.cpp", 3), ("a.cpp", 3, ("x", "y"))])
def test_it_is_used_as_a_tuple_of_typing_is(given: tuple[typing.Any, ...]) -> None:
    ours, typed = Place(*given), TypedPlace(*given)
    assert ours == typed == tuple(ours)
    assert hash(ours) == hash(typed)
    assert repr(ours) == repr(typed).replace("TypedPlace", "Place")
    assert ours._replace(row=7) == typed._replace(row=7)
    assert ours._asdict() == typed._asdict()
    assert pickle.loads(pickle.dumps(ours)) == ours
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(ours), type=Place) == ours
    assert (ours.below, bool(ours), Place.at_top("b")) == (ours.row + 1, ours.row > 1, ("b", 1, ()))


def test_it_describes_itself_as_one_of_typing_does() -> None:
    for name in ("_fields", "_field_defaults", "__doc__", "__bases__", "__module__"):
        assert getattr(Place, name) == getattr(TypedPlace, name), name
    assert typing.get_type_hints(Place) == typing.get_type_hints(TypedPlace)
    assert Place.__qualname__ == "Place"


def test_what_is_no_field_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(["a.cpp", "three"], Place)
    with pytest.raises(TypeError):
        Place()  # type: ignore[call-arg]
