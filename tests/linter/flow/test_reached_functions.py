"""Which functions the machine runs: those that guards can reach, and not all that name what was asked for."""

from __future__ import annotations

import pytest

from cpp_snippets import facts_of
from guardfix.linter.flow.program import ProjectCode
from guardfix.linter.flow.running import functions_of, reaching_guards

USER = "void user() { made(); }\n"


@pytest.mark.parametrize(
    ("text", "watched", "expected"),
    [
        ("void made() { c10::InferenceMode guard; }\n" + USER, (), {"made", "user"}),
        (
            "struct Quiet { c10::InferenceMode guard; };\nvoid made() { Quiet quiet; }\n" + USER,
            ("Quiet",),
            {"made", "user"},
        ),
        ("#define QUIET c10::InferenceMode guard\nvoid made() { QUIET; }\n" + USER, ("QUIET",), {"made", "user"}),
        ("void made(Rows& rows) { rows.back(); back(); }\n" + USER, ("back",), set()),
        ("void made(Rows& rows) { auto last = rows.back(); }\n" + USER, ("back", "made"), set()),
    ],
    ids=["a guard", "a class", "a macro", "a method that was asked for", "what gives no guard"],
)
def test_only_what_can_stand_for_a_guard_is_one(text: str, watched: tuple[str, ...], expected: set[str]) -> None:
    program = ProjectCode([facts_of(text, watched=watched)])
    reached = reaching_guards(program)
    assert {body.name for _, body in functions_of(program.files[0]) if id(body) in reached} == expected
