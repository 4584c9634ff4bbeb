"""Each program of the fixtures, before and after migration, gets the verdict that stands at its head."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fixture_files import FIXTURES
from guardfix.cli.migrate_command import command as migrate
from guardfix.cli.verify_command import command

PROGRAMS = sorted((FIXTURES / "cpp_programs").glob("*.before.cpp")) + sorted(
    (FIXTURES / "python_programs").glob("*.before.py")
)
_VERDICT = re.compile(r"^(?://|#) verify: (\w+)", re.MULTILINE)


NOTHING = "nothing to verify"


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


def check(entry: dict[str, Any], status: int, verdict: str) -> None:
    assert entry["verdict"] == verdict, entry
    assert status == (0 if verdict in ("same", "repaired") else 1)
    wrong = entry["silently_wrong"]
    asked_for = "which is what GF" in entry["reason"]
    assert bool(wrong["before"]) == (verdict == "repaired" and not asked_for)
    assert not wrong["after"]
    if verdict in ("repaired", "stricter"):
        assert bool(entry["advice"]) == (not asked_for)
        assert entry["traces_part"]
    if verdict == "same":
        assert entry["results_part"] is None


# Two C++ programs take two compilations. What the migration makes of a program is compiled below anyway, so that the
# siblings are compared only with the thorough tests.
OTHER_CODE = "neighbouring_guards.before.cpp"
SAME_CODE = [path for path in PROGRAMS if path.suffix == ".cpp" and path.name != OTHER_CODE]
# So of these, one of each outcome is compared with its sibling as well; the others have the same code to compile.
COMPARED = [
    path for path in PROGRAMS if path not in SAME_CODE or path.name.startswith(("inplace_", "mutated_", "roi_"))
]


@pytest.mark.parametrize("program", COMPARED, ids=lambda path: path.name)
@pytest.mark.few(
    "missing_op.before.py", "silent_data.before.py", "saved_for_backward.before.py", "other_mode.before.py"
)
def test_program_and_its_migrated_form(program: Path) -> None:
    status, [entry] = verified(str(program), "--against", str(after(program)))
    check(entry, status, expected(program))


def code(path: Path) -> str:
    """The text without comments and without what stands between words."""
    return " ".join(re.sub(r"//.*", "", path.read_text()).split())


@pytest.mark.parametrize("program", SAME_CODE, ids=lambda path: path.name)
def test_the_sibling_is_what_the_migration_makes_of_it(program: Path, tmp_path: Path) -> None:
    migrated = shutil.copy(program, tmp_path)
    CliRunner().invoke(migrate, ["--apply", "--unsafe", "--isolated", str(migrated)])
    assert code(Path(migrated)) == code(after(program))


def test_every_verdict_has_two_programs() -> None:
    counts = Counter(expected(program) for program in PROGRAMS)
    assert {verdict: min(count, 2) for verdict, count in counts.items()} == dict.fromkeys(
        ("same", "repaired", "stricter", "changed", "unsupported"), 2
    )


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
@pytest.mark.few(
    "missing_op.before.py",
    "mutated_outside.before.py",
    "not_deterministic.before.py",
    "other_result.before.py",
    "silent_data.before.py",
    "training_step.before.py",
)
def test_program_alone_is_migrated_and_gets_its_verdict(program: Path) -> None:
    """No option: all fixes are taken. In a program that the migration leaves alone is nothing to verify."""
    status, [entry] = verified(str(program))
    assert (entry["after"] is not None) == bool(entry["migrated"])
    if entry["migrated"]:
        check(entry, status, expected(program))
    else:
        assert (entry["verdict"], status) == (NOTHING, 0), entry
    if program.suffix == ".cpp":
        assert bool(entry["migrated"]) == (program.name != "swapped_storage.before.cpp")
        assert entry["before"]["stdout"] == program.with_suffix(".out").read_text()
        if entry["migrated"]:
            assert entry["after"]["stdout"] == after(program).with_suffix(".out").read_text()


@pytest.mark.thorough
def test_migrating_the_folder_gives_the_verdicts_of_the_fixtures() -> None:
    """All C++ programs at once, migrated here."""
    _, entries = verified(str(FIXTURES / "cpp_programs"))
    found = {Path(entry["filename"]).name: entry for entry in entries}
    programs = [path for path in PROGRAMS if path.suffix == ".cpp"]
    assert {path.name for path in programs} <= set(found)
    for path in programs:
        entry = found[path.name]
        assert entry["verdict"] == (expected(path) if entry["migrated"] else NOTHING), path.name
    for path in programs:
        migrated = found[after(path).name]
        # A guard of theirs may get a fix of another rule: GF208 wants it to cover more, and it does.
        covers_more = any(fix["code"] == "GF208" for fix in migrated["migrated"])
        wanted = "repaired" if covers_more else "same"
        assert migrated["verdict"] == (wanted if migrated["migrated"] else NOTHING), migrated
        # what holds no old guard and gets no fix is not run
        assert (migrated["before"] is not None) == (bool(migrated["migrated"]) or "swapped_storage" in path.name)


SILENT = FIXTURES / "cpp_programs" / "silent_gradient.before.cpp"


@pytest.mark.thorough
def test_safe_only_says_that_unsafe_fixes_are_left() -> None:
    status, [entry] = verified(str(SILENT), "--safe-only")
    assert (status, entry["verdict"], entry["migrated"], entry["after"]) == (0, NOTHING, [], None)
    assert entry["reason"].startswith("nothing was migrated: the one fix is unsafe, and --safe-only is set: ")
    assert "silent_gradient.before.cpp:13: GF101" in entry["reason"]
    assert "it is still silently wrong: backward of MulBackward0 used a saved tensor" in entry["reason"]
    assert entry["silently_wrong"]["before"] == entry["silently_wrong"]["after"] != []
    assert "leave out `--safe-only`" in entry["advice"]
    [left] = entry["not_migrated"]
    assert (left["code"], left["location"]["row"], left["why"]) == ("GF101", 13, "unsafe")


@pytest.mark.thorough
def test_what_has_no_fix_is_said_and_the_program_is_run() -> None:
    path = FIXTURES / "cpp_programs" / "swapped_storage.before.cpp"
    status, [entry] = verified(str(path))
    assert (status, entry["verdict"]) == (0, NOTHING)
    assert entry["reason"].startswith(
        f"nothing was migrated: 1 finding has no fix that can be applied: {path}:9: GF101: Auto"
    )
    assert entry["reason"].endswith("; when run as is, nothing was silently wrong")
    assert entry["before"]["status"] == 0
    assert [left["why"] for left in entry["not_migrated"]] == ["no fix"]


def test_how_a_program_ends_that_stays_as_it_is(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        """\
import torch

with torch.inference_mode():
    total = torch.zeros(2)
total.add_(1)
"""
    )
    status, [entry] = verified(str(program))
    assert (status, entry["verdict"], entry["before"]["status"]) == (0, NOTHING, 1)
    assert entry["reason"].endswith(
        "; when run as is, nothing was silently wrong, and it ended with exit status 1: "
        "Inplace update to inference tensor outside InferenceMode is not allowed"
    )
    assert entry["advice"].startswith("clone it before changing it")


@pytest.mark.thorough
def test_each_finding_without_a_fix_is_told(tmp_path: Path) -> None:
    """The reason has the first, a line each has the others; the guards are still there, and hide what they hid."""
    program = tmp_path / "program.cpp"
    program.write_text(
        """\
#include <torch/torch.h>
void swap(torch::Tensor first, const torch::Tensor& second) {
  at::AutoNonVariableTypeMode guard;
  first.set_data(second);
}
void overwrite(torch::Tensor first) {
  at::AutoNonVariableTypeMode guard;
  first.copy_(torch::zeros({2}));
}
int main() {
  auto x = torch::ones({2}, torch::requires_grad());
  auto saved = torch::ones({2});
  auto other = torch::ones({2});
  auto y = (x * saved).sum();
  swap(other, torch::zeros({2}));
  overwrite(saved);
  y.backward();
}
"""
    )
    status, [entry] = verified(str(program))
    assert (status, entry["verdict"], entry["migrated"]) == (0, NOTHING, [])
    assert [(left["code"], left["location"]["row"], left["why"]) for left in entry["not_migrated"]] == [
        ("GF101", 3, "no fix"),
        ("GF101", 7, "no fix"),
    ]
    assert f"2 findings have no fix that can be applied: {program}:3: GF101: " in entry["reason"]
    assert "; it is still silently wrong: backward of MulBackward0 used a saved tensor float32[2]" in entry["reason"]
    assert entry["advice"].startswith("choose the guard by hand")
    brief, verbose = (
        CliRunner().invoke(command, [str(program), "--isolated", *more]).stdout for more in ([], ["--verbose"])
    )
    for shown in (brief, verbose):
        assert shown.startswith(f"{program}:3: nothing to verify: 2 findings")
        assert shown.count("\n   | GF101: ") == 1
    assert [one.count(f"Not migrated (no fix): {program}:7: GF101") for one in (brief, verbose)] == [0, 1]


def test_a_suggestion_is_no_fix_to_apply(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import torch\n\ntorch.no_grad()\nprint(torch.ones(2) * 2)\n")
    status, [entry] = verified(str(program))
    assert (status, entry["verdict"], entry["before"]["status"]) == (0, NOTHING, 0)
    assert f"{program}:3: GF402: only a suggestion: put `with torch.no_grad():`" in entry["reason"]


@pytest.mark.thorough
def test_a_suppressed_old_guard_is_looked_at(tmp_path: Path) -> None:
    program = tmp_path / "program.cpp"
    program.write_text(
        SILENT.read_text().replace("AutoNonVariableTypeMode guard;", "AutoNonVariableTypeMode guard;  // NOLINT")
    )
    assert "NOLINT" in program.read_text()
    status, [entry] = verified(str(program))
    assert (status, entry["verdict"], entry["not_migrated"]) == (0, NOTHING, [])
    assert "there is no finding about its old guard" in entry["reason"]
    assert "is still silently wrong" in entry["reason"]


def test_a_program_without_an_old_guard_is_not_run(tmp_path: Path) -> None:
    program = tmp_path / "program.cpp"
    program.write_text("this does not compile: int main() {}\n")
    status, [entry] = verified(str(program))
    assert (status, entry["verdict"], entry["reason"]) == (0, NOTHING, "there is nothing to migrate")
    assert entry["before"] is entry["after"] is None


@pytest.mark.thorough
def test_a_program_with_an_old_guard_that_cannot_be_run_is_not_verified(tmp_path: Path) -> None:
    text = (FIXTURES / "cpp_programs" / "swapped_storage.before.cpp").read_text()
    program = tmp_path / "program.cpp"
    program.write_text(text + "int more = torch::no_such_thing();\n")
    status, [entry] = verified(str(program))
    assert (status, entry["verdict"]) == (0, NOTHING)
    assert "whether it is correct is unknown" in entry["reason"]
    assert "torch::no_such_thing" in entry["reason"]


@pytest.mark.thorough
def test_half_a_migration_says_what_it_leaves(tmp_path: Path) -> None:
    """One guard has a fix, one has none: the program is run before and after, and the second one is told."""
    text = (FIXTURES / "cpp_programs" / "swapped_storage.before.cpp").read_text()
    helper = """\
static torch::Tensor doubled(const torch::Tensor& x) {
  return ([&]() { at::AutoNonVariableTypeMode guard(true); return at::mul(x, 2); })();
}
int main() {
  std::cout << doubled(torch::ones({2}));
"""
    assert text.count("int main() {\n") == 1
    program = tmp_path / "program.cpp"
    program.write_text(text.replace("int main() {\n", helper))
    _, [entry] = verified(str(program))
    assert len(entry["migrated"]) == 1
    assert [left["why"] for left in entry["not_migrated"]] == ["no fix"]
    shown = CliRunner().invoke(command, [str(program), "--isolated", "--verbose"]).stdout
    assert f"Not migrated (no fix): {program}:9: GF101" in shown
    assert "Migrated with `--unsafe`: " in shown


@pytest.mark.parametrize(
    ("name", "kind", "op"),
    [
        ("silent_gradient.before.cpp", "saved", "MulBackward0"),
        ("inplace_kernel.before.cpp", "saved", "MulBackward0"),
        ("guard_in_backward.before.cpp", "gradient", "torch::autograd::CppNode<Square>"),
    ],
    ids=["saved tensor changed", "saved tensor changed by a kernel", "no second gradient"],
)
@pytest.mark.thorough
def test_how_a_program_is_silently_wrong(name: str, kind: str, op: str) -> None:
    program = FIXTURES / "cpp_programs" / name
    _, [entry] = verified(str(program), "--against", str(after(program)))
    [silent] = entry["silently_wrong"]["before"]
    assert (silent["kind"], silent["op"]) == (kind, op)
    if kind == "saved":
        assert silent["writes_when_used"] == silent["writes_when_saved"] + 1
        assert silent["version"] == 0


@pytest.mark.thorough
def test_a_write_through_a_lost_view_is_silently_wrong_before_19() -> None:
    program = FIXTURES / "cpp_programs" / "view_made_inside.before.cpp"
    _, [entry] = verified(str(program), "--against", str(after(program)))
    old = entry["by_meaning"]["torch before 1.9"]
    assert (old["verdict"], old["silently_wrong"]) == ("repaired", True)
    assert "`sum_all` used a tensor float32[2, 2] that had been written to through a view" in old["reason"]


@pytest.mark.thorough
def test_the_meaning_since_19_is_not_silently_wrong() -> None:
    """Since 1.9 the old guard counts writes: the program raises before and after."""
    status, [entry] = verified(str(SILENT), "--against", str(after(SILENT)), "--legacy-since19")
    assert (status, entry["verdict"]) == (0, "same")


@pytest.mark.parametrize(
    ("options", "verdict", "said", "meanings"),
    [
        (
            [],
            "repaired",
            "(torch before 1.9; since 1.9: same)",
            {"torch before 1.9": ("repaired", True), "torch since 1.9": ("same", False)},
        ),
        (["--minimum-torch", "1.7"], "repaired", "(torch before 1.9; since 1.9: same)", None),
        (["--minimum-torch", "2.0"], "same", "", {}),
        (["--legacy-since19"], "same", "", {}),
    ],
    ids=["both", "old torch as well", "new torch only", "said so"],
)
@pytest.mark.thorough
def test_both_meanings_of_the_old_guard_are_judged(
    options: list[str], verdict: str, said: str, meanings: dict[str, tuple[str, bool]] | None
) -> None:
    _, [entry] = verified(str(SILENT), "--against", str(after(SILENT)), *options)
    assert entry["verdict"] == verdict
    assert entry["reason"].endswith(said)
    found = {when: (one["verdict"], one["silently_wrong"]) for when, one in entry["by_meaning"].items()}
    assert meanings is None or found == meanings


@pytest.mark.thorough
def test_a_program_that_stays_wrong_is_said_to_be() -> None:
    _, [entry] = verified(str(SILENT), "--against", str(SILENT))
    assert entry["verdict"] == "same"
    assert "both are wrong" in entry["reason"]


@pytest.mark.oracle
@pytest.mark.some(2)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_pytorch_agrees(program: Path) -> None:
    pytest.importorskip("torch")
    if "missing_op" in program.name or "silent_data" in program.name:
        pytest.skip("about the shim alone")
    _, [entry] = verified(str(program), "--against", str(after(program)), "--backend", "torch")
    before19 = re.search(r"^// verify: .*before 1\.9: (\w+)", program.read_text(), re.MULTILINE)
    assert entry["verdict"] == (before19[1] if before19 else expected(program)), entry
