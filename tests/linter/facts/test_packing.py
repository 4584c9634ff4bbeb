"""Facts survive being packed, and nothing else is taken for them."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import msgspec
import pytest

from fixture_files import FIXTURES
from guardfix.linter.facts import Facts
from guardfix.linter.facts.packing import NotPacked, pack, unpack
from guardfix.linter.files.languages import language_of
from guardfix.linter.frontends.extraction import extract_file


def fields_of(facts: Facts) -> dict[str, object]:
    """Facts are compared by identity, their parts by value."""
    found = {name: getattr(facts, name) for name in facts.__struct_fields__}
    return found | {"embedded": [fields_of(piece) for piece in facts.embedded]}


def facts_of_fixtures(folder: str) -> list[Facts]:
    paths = sorted(path for path in (FIXTURES / folder).rglob("*") if path.is_file())
    read = (extract_file(str(path), language_of(path.name) or "docs") for path in paths)
    return [facts for facts in read if facts is not None]


@pytest.mark.parametrize("folder", ["cpp", "cpp_projects", "python"])
def test_facts_come_back_as_they_were(folder: str) -> None:
    every = facts_of_fixtures(folder)
    assert len(every) > 20
    for facts in every:
        assert fields_of(unpack(Facts, pack(facts))) == fields_of(facts)
        assert fields_of(pickle.loads(pickle.dumps(facts))) == fields_of(facts)


def test_paths_that_are_not_unicode_come_back_byte_by_byte(tmp_path: Path) -> None:
    path = os.fsdecode(os.path.join(os.fsencode(tmp_path), b"\xff\xe9 \xc3\xa9.cpp"))
    try:
        with open(path, "w") as file:
            file.write("#if A\n// NOLINT(GF101)\n#endif\nvoid f() { at::AutoNonVariableTypeMode guard(g(true)); }\n")
    except OSError:
        pytest.skip("this system's names are Unicode")
    facts = extract_file(path, "cpp")
    assert facts is not None
    assert facts.path == path
    assert fields_of(unpack(Facts, pack(facts))) == fields_of(facts)
    assert fields_of(pickle.loads(pickle.dumps(facts))) == fields_of(facts)
    for damaged in (pack(facts)[:-1], b"\xc1", b"\xc1" + msgspec.msgpack.encode("\u20ac")):
        with pytest.raises(NotPacked):
            unpack(Facts, damaged)


def test_damaged_bytes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text("void f() { at::AutoNonVariableTypeMode guard(true); }\n")
    facts = extract_file(str(path), "cpp")
    assert facts is not None
    packed = pack(facts)
    for damaged in (
        b"",
        packed[:-1],
        packed + b"\x00",
        b"\x80",
        pickle.dumps(fields_of),
        packed.replace(b"cpp", b"\xc0\xc0\xc0"),
    ):
        with pytest.raises(NotPacked):
            unpack(Facts, damaged)
