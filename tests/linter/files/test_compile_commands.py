"""What a compilation database says, as the tools write it and as it should not be written."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from guardfix.linter.files.compile_commands import CompileCommand, find_compile_commands
from guardfix.linter.files.workspace import Workspace


def command(text: str) -> dict[str, str]:
    return {"directory": "/p/build", "file": "../a.cpp", "command": text}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        pytest.param(
            command("c++ -DA -DB=2 -D C=x -UD -c ../a.cpp"),
            CompileCommand({"A": "1", "B": "2", "C": "x"}, frozenset({"D"})),
            id="macros",
        ),
        pytest.param(command("c++ -DA -UA"), CompileCommand({}, frozenset({"A"})), id="the last one counts"),
        pytest.param(
            command("c++ -I../inc -I /opt/x -isystem ../third -iquote ."),
            CompileCommand(include=("/p/inc", "/opt/x", "/p/third", "/p/build")),
            id="folders, as seen from the command's own",
        ),
        pytest.param(
            {"directory": "/p", "file": "a.cpp", "arguments": ["cl", "/DA=1", "/Iinc", "a.cpp"]},
            CompileCommand({"A": "1"}, include=("/p/inc",)),
            id="a list of arguments, and Visual C++",
        ),
        pytest.param(command("c++ '-DNAME=\"a b\"'"), CompileCommand({"NAME": '"a b"'}), id="quotes of a shell"),
        pytest.param({"file": "a.cpp"}, None, id="no folder"),
        pytest.param({"directory": "/p", "file": "a.cpp"}, None, id="no command"),
        pytest.param(command("c++ 'open"), None, id="an open quote"),
        pytest.param("a.cpp", None, id="no entry at all"),
    ],
)
def test_a_command(entry: object, expected: CompileCommand | None) -> None:
    workspace = Workspace.in_memory({"/p/build/compile_commands.json": json.dumps([entry])})
    found = find_compile_commands("/p", workspace).by_file
    (compiled, *others) = [replace(one, source="") for one in found.get("/p/a.cpp", ())] or [None]
    assert (compiled, others) == (expected, [])
    assert len(found) == (expected is not None)


def test_what_is_compiled_and_written() -> None:
    workspace = Workspace.in_memory({"/p/build/compile_commands.json": json.dumps([command("c++ -std=c++20 -o a.o")])})
    (found,) = find_compile_commands("/p", workspace).all()
    assert (found.source, found.standard, found.output) == ("/p/build/../a.cpp", "c++20", "a.o")


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        pytest.param({"/p/compile_commands.json": "[", "/p/build/compile_commands.json": "[]"}, False, id="broken"),
        pytest.param({"/p/compile_commands.json": "{}"}, False, id="an object"),
        pytest.param({"/p/compile_commands.json": "[" * 200_000}, False, id="nested beyond reading"),
        pytest.param({"/p/compile_commands.json": "[" + "1" * 5_000 + "]"}, False, id="a number beyond reading"),
        pytest.param({"/q/compile_commands.json": json.dumps([command("c++")])}, False, id="another project's"),
        pytest.param({"/p/out/compile_commands.json": json.dumps([command("c++")])}, True, id="in a folder of builds"),
    ],
)
def test_where_it_stands(texts: dict[str, str], found: bool) -> None:
    assert bool(find_compile_commands("/p", Workspace.in_memory(texts)).by_file) is found
