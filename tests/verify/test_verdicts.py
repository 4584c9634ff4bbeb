"""Each program of the fixtures, before and after migration, gets the verdict that stands at its head."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fixture_files import FIXTURES
from guardfix.commands.verify import command

PROGRAMS = sorted((FIXTURES / "cpp_programs").glob("*.before.cpp")) + sorted(
    (FIXTURES / "python_programs").glob("*.before.py")
)
_VERDICT = re.compile(r"^(?://|#) verify: (\w+)", re.MULTILINE)


def expected(program: Path) -> str:
    found = _VERDICT.search(program.read_text())
    assert found, f"{program} does not say what verify says of it"
    return found[1]


def after(program: Path) -> Path:
    return program.with_name(program.name.replace(".before.", ".after."))


def verified(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
    done = CliRunner().invoke(command, [*arguments, "--output-format", "json", "--isolated"])
    assert done.exit_code in (0, 1), done.output
    return done.exit_code, json.loads(done.stdout)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_program_and_its_migrated_form(program: Path) -> None:
    status, [entry] = verified(str(program), "--against", str(after(program)))
    verdict = expected(program)
    assert entry["verdict"] == verdict, entry
    assert status == (0 if verdict in ("same", "repaired") else 1)
    wrong = entry["silently_wrong"]
    assert bool(wrong["before"]) == (verdict == "repaired")
    assert not wrong["after"]
    if verdict in ("repaired", "stricter"):
        assert entry["advice"]
        assert entry["traces_part"]
    if verdict == "same":
        assert entry["results_part"] is None


def test_every_verdict_has_two_programs() -> None:
    counts = Counter(expected(program) for program in PROGRAMS)
    assert {verdict: min(count, 2) for verdict, count in counts.items()} == dict.fromkeys(
        ("same", "repaired", "stricter", "changed", "unsupported"), 2
    )


def test_migrating_the_folder_gives_the_verdicts_of_the_fixtures() -> None:
    """All C++ programs at once, migrated here; one that the migration leaves alone is the same."""
    _, entries = verified(str(FIXTURES / "cpp_programs"), "--unsafe")
    found = {Path(entry["filename"]).name: entry for entry in entries}
    programs = [path for path in PROGRAMS if path.suffix == ".cpp"]
    assert {path.name for path in programs} <= set(found)
    for path in programs:
        entry = found[path.name]
        untouched = entry["reason"] == "there is nothing to migrate"
        assert entry["verdict"] == ("same" if untouched else expected(path)), path.name
    assert sum(entry["verdict"] == "repaired" for entry in entries) >= 2
    assert all(found[after(path).name]["verdict"] == "same" for path in programs)


@pytest.mark.parametrize(
    ("name", "kind", "op"),
    [
        ("silent_gradient.before.cpp", "saved", "MulBackward0"),
        ("inplace_kernel.before.cpp", "saved", "MulBackward0"),
        ("view_made_inside.before.cpp", "view", "sum_all"),
        ("guard_in_backward.before.cpp", "gradient", "torch::autograd::CppNode<Square>Backward"),
    ],
    ids=["saved tensor changed", "saved tensor changed by a kernel", "write through a lost view", "no second gradient"],
)
def test_how_a_program_is_silently_wrong(name: str, kind: str, op: str) -> None:
    program = FIXTURES / "cpp_programs" / name
    _, [entry] = verified(str(program), "--against", str(after(program)))
    [silent] = entry["silently_wrong"]["before"]
    assert (silent["kind"], silent["op"]) == (kind, op)
    if kind == "saved":
        assert silent["writes_when_used"] == silent["writes_when_saved"] + 1
        assert silent["version"] == 0


def test_the_meaning_since_19_is_not_silently_wrong() -> None:
    """Since 1.9 the old guard counts writes: the program raises before and after."""
    program = FIXTURES / "cpp_programs" / "silent_gradient.before.cpp"
    status, [entry] = verified(str(program), "--against", str(after(program)), "--legacy-since19")
    assert (status, entry["verdict"]) == (0, "same")


def test_a_program_that_stays_wrong_is_said_to_be() -> None:
    program = FIXTURES / "cpp_programs" / "silent_gradient.before.cpp"
    _, [entry] = verified(str(program), "--against", str(program))
    assert entry["verdict"] == "same"
    assert "both are wrong" in entry["reason"]


@pytest.mark.oracle
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_pytorch_agrees(program: Path) -> None:
    pytest.importorskip("torch")
    if "missing_op" in program.name or "silent_data" in program.name:
        pytest.skip("about the shim alone")
    _, [entry] = verified(str(program), "--against", str(after(program)), "--backend", "torch")
    assert entry["verdict"] == expected(program), entry
