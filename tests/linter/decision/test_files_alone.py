"""A file that is checked alone says no more of a use than its whole tree does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fixture_files import ROOT, all_fixtures

TREES = [
    fixture
    for fixture in all_fixtures()
    if fixture.path.is_dir() and any(code == "GF101" for _, _, code, _ in fixture.expected())
]


def alone(*arguments: object) -> str:
    command = [sys.executable, ROOT / "bench" / "files_alone.py", *arguments]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False).stdout


def test_projects_of_several_files(tmp_path: Path) -> None:
    for fixture in TREES:
        (tmp_path / fixture.name).mkdir()
        (fixture.copy_to(tmp_path / fixture.name) / "guardfix.toml").touch()
    said = alone(*(tmp_path / fixture.name / "work" for fixture in TREES))
    assert ", 0 not as they should be\n" in said, said


@pytest.mark.thorough
def test_all_single_files_as_one_tree() -> None:
    said = alone("--project", ROOT / "fixtures" / "cpp")
    assert ", 0 not as they should be\n" in said, said


def common_name(folder: Path, checked: int, around: int) -> Path:
    """A helper whose name is in so many files beside it, and below another folder of the project."""
    (folder / "guardfix.toml").touch()
    tree = folder / "tree"
    for place, count in ((tree, checked), (folder / "around", around)):
        place.mkdir()
        for number in range(count):
            call = "m.forward({other(x)})" if number == 0 and place == tree else "other(x)"
            (place / f"f{number}.cpp").write_text(f"#include <torch/script.h>\nauto f{number}() {{ return {call}; }}\n")
    (tree / "a.cpp").write_text(
        "#include <torch/script.h>\nat::Tensor other(at::Tensor x) {\n"
        "  at::AutoNonVariableTypeMode guard(true);\n  return at::relu(x);\n}\n"
    )
    return tree


def test_a_name_is_common_by_all_files_of_the_project(tmp_path: Path) -> None:
    from guardfix.linter.engine import Options, check

    tree = common_name(tmp_path, 35, 35)
    for path in (tree, tree / "a.cpp"):
        assert "other" in check([str(path)], Options(select=("GF101",))).project.common
