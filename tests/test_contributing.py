"""What CONTRIBUTING tells a newcomer to write works as it stands there, in a copy of the packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from fixture_files import ROOT
from guardfix.linter.rule import load_rule
from guardfix.linter.rule_names import RuleName, rule_names

SAMPLES = {
    "Adding a rule": (
        "linter/rules/gf299_sets_the_mode.py",
        "codemods/fixes/gf299_sets_the_mode.py",
        "linter/rules/gf598_double_saved.py",
    ),
    "Adding an op to the shim": ("runtime_shim/aten/sample_op.py",),
    "Adding an output format": ("guardfix/output/sample_format.py",),
}
"""The sections that have Python samples, and what their text says to call the files."""

PROGRAM = """\
#include <torch/torch.h>
void f() {
  at::GradMode::set_enabled(false);
}
"""

SAVES = """\
#include <torch/torch.h>
void f() {
  auto w = torch::ones({2}, torch::requires_grad());
  torch::Tensor made;
  { c10::InferenceMode guard; made = torch::ones({2}); }
  auto loss = w * made;
}
"""

USE_OF_THE_OP = """\
import guardfix.runtime_shim as torch

x = torch.tensor([3.0], requires_grad=True)
y = torch.tensor([4.0])
found = torch.hypot2(x, y)
found.sum().backward()
print(found.tolist(), x.grad.tolist())
try:
    torch.hypot2(torch.tensor([1]), torch.tensor([1]))
except RuntimeError as error:
    print(error)
"""


def samples() -> dict[str, list[str]]:
    """The Python samples of each section of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sections = dict(part.split("\n", 1) for part in text.split("\n## ")[1:])
    blocks = {title: re.findall(r"^ *```python\n(.*?)^ *```$", body, re.M | re.S) for title, body in sections.items()}
    return {title: [textwrap.dedent(block) for block in found] for title, found in blocks.items() if found}


def test_every_sample_is_tried() -> None:
    assert {title: len(found) for title, found in samples().items()} == {
        title: len(files) for title, files in SAMPLES.items()
    }


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages with every sample in its place, and nothing else changed."""
    folder = tmp_path_factory.mktemp("contributed")
    for package in ("guardfix", "linter", "codemods", "runtime_shim"):
        ignored = shutil.ignore_patterns("__pycache__", "include")
        shutil.copytree(ROOT / package, folder / package, symlinks=True, ignore=ignored)
    for title, files in SAMPLES.items():
        for file, sample in zip(files, samples()[title], strict=True):
            (folder / file).write_text(sample, encoding="utf-8")
    (folder / "a.cpp").write_text(PROGRAM, encoding="utf-8")
    (folder / "saves.cpp").write_text(SAVES, encoding="utf-8")
    (folder / "uses_the_op.py").write_text(USE_OF_THE_OP, encoding="utf-8")
    return folder


def run(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.thorough
@pytest.mark.parametrize("path", [pytest.param("a.cpp", id="a file"), pytest.param(".", id="a folder")])
def test_the_rule_the_fix_and_the_format_work(path: str, tree: Path) -> None:
    checked = run(tree, "-m", "guardfix", "check", "--select", "GF299", "--output-format", "sample", path)
    assert checked.stdout.startswith("a.cpp:3:3: GF299 "), checked.stderr
    assert checked.returncode == 1
    migrated = run(tree, "-m", "guardfix", "migrate", "--select", "GF299", path)
    assert "-  at::GradMode::set_enabled(false);\n+  torch::NoGradGuard guard;\n" in migrated.stdout, migrated.stderr


@pytest.mark.thorough
def test_the_rule_over_an_event_works(tree: Path) -> None:
    checked = run(tree, "-m", "guardfix", "check", "--select", "GF598", "--output-format", "concise", "saves.cpp")
    assert checked.stdout.startswith("saves.cpp:6:3: GF598 "), checked.stderr


@pytest.mark.thorough
def test_the_op_works(tree: Path) -> None:
    done = run(tree, "uses_the_op.py")
    assert done.stdout.splitlines()[:1] == ["[25.0] [6.0]"], done.stderr
    assert "not implemented for 'Long'" in done.stdout


def test_a_rule_with_another_name_than_its_file_is_refused() -> None:
    mistaken = RuleName("GF101", "legacy-gard", rule_names()[2].module)
    with pytest.raises(ValueError, match=r"defines GF101 legacy-guard, but .* which says GF101 legacy-gard"):
        load_rule(mistaken)
