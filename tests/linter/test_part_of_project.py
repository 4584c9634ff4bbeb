"""A file that is checked alone is decided as in its project, or less surely, and then the evidence says so."""

from __future__ import annotations

from pathlib import Path

import pytest

import guardfix
from fixture_files import Fixture, all_fixtures
from guardfix.linter import project_reading, surroundings
from guardfix.linter.engine import Options, check
from guardfix.linter.findings import Confidence, Finding

PROJECTS = [fixture for fixture in all_fixtures() if fixture.path.is_dir()]
NAMED_ELSEWHERE = {
    ("alias_in_header", "kernels.cpp", "GF101"),
    ("reexported_guards", "aliased_only.py", "GF402"),
    ("reexported_guards", "aliased_only.py", "GF404"),
    ("reexported_guards", "service.py", "GF401"),
    ("reexported_guards", "service.py", "GF403"),
}
"""Uses of a guard under a name that only another file gives it."""
MET_ELSEWHERE = {
    ("entered_in_another_module", "distil.py", "GF501"),
    ("entered_in_another_module", "distil.py", "GF502"),
    ("models_of_other_files", "network.py", "GF503"),
    ("redispatch_through_a_wrapper", "autograd.cpp", "GF306"),
    ("models_of_other_files", "rotary.py", "GF503"),
}
"""What goes wrong in a file by what another file does: it enters a guard, or calls the op again."""
IGNORED = {("clean_ignored_folder", "old.cpp", "GF101"), ("clean_ignored_folder", "made.gen.cpp", "GF101")}
"""Files that are left out of a folder, and taken when they are named."""


def key(finding: Finding) -> tuple[object, ...]:
    decided = finding.decision and (finding.decision.context, finding.decision.confidence)
    return finding.path, finding.span, finding.code, finding.message, decided


@pytest.mark.parametrize("fixture", PROJECTS, ids=lambda fixture: fixture.name)
def test_a_file_alone_is_decided_as_in_its_project(fixture: Fixture, tmp_path: Path) -> None:
    folder = fixture.copy_to(tmp_path)
    (folder / ".git").mkdir()
    options = Options(workers=1, minimum_torch=fixture.minimum_torch())
    whole = {key(finding): finding for finding in check([str(folder)], options).findings}
    alone = {
        key(finding): finding
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for finding in check([str(path)], options).findings
    }
    different = {
        (fixture.name, Path(finding.path).name, finding.code)
        for found, finding in (whole | alone).items()
        if (found in whole) != (found in alone)
    }
    assert different <= NAMED_ELSEWHERE | MET_ELSEWHERE | IGNORED


KERNEL = """\
#include <torch/library.h>
at::Tensor add_kernel(const at::Tensor& a, const at::Tensor& b) {
  at::AutoNonVariableTypeMode guard(true);
  return at::add(a, b);
}
"""
DECLARED = "#include <torch/torch.h>\nat::Tensor add_kernel(const at::Tensor& a, const at::Tensor& b);\n"
REGISTERED = 'TORCH_LIBRARY_IMPL(my, Autograd, m) {\n  m.impl("add", add_kernel);\n}\n'
CASES = [
    pytest.param({}, True, ("kernel", "high"), False, id="the whole project is asked"),
    pytest.param({}, False, None, False, id="no project around it: there is nobody to ask"),
    pytest.param({"src/a.cpp": "", "src/b.cpp": "", "src/c.cpp": ""}, True, None, True, id="the project is too large"),
]


@pytest.mark.parametrize(("more", "repository", "decided", "capped"), CASES)
def test_who_registers_a_function_is_asked_of_the_project(
    more: dict[str, str],
    repository: bool,
    decided: tuple[str, str] | None,
    capped: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(surroundings, "LARGEST", 3)
    (tmp_path / "src").mkdir()
    files = {"kernel.cpp": KERNEL, "kernel.h": DECLARED, "library.cpp": '#include "kernel.h"\n' + REGISTERED, **more}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    if repository:
        (tmp_path / ".git").mkdir()
    alone = check([str(tmp_path / "kernel.cpp")], Options(select=("GF101",), workers=1))
    whole = check([str(tmp_path)], Options(select=("GF101",), workers=1))
    (one,), (other,) = alone.findings, whole.findings
    assert one.decision is not None
    assert other.decision is not None
    assert (other.decision.context.value, other.decision.confidence.value) == ("kernel", "high")
    if decided is not None:
        assert (one.decision.context.value, one.decision.confidence.value) == decided
    else:
        assert one.decision.confidence is not Confidence.HIGH
    limits = [evidence for evidence in one.decision.evidence if evidence.signal == "part-of-project"]
    assert len(limits) == (1 if capped else 0)
    if capped:
        assert one.decision.reason(limits[0]) == (
            f"only 1 of more than 3 files below {tmp_path} were looked at: what decides this may be in another one"
        )
    assert {Path(facts.path).name for facts in alone.project.checked()} == {"kernel.cpp"}


def test_a_settled_decision_asks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "kernel.cpp").write_text(KERNEL + REGISTERED)
    monkeypatch.setattr(surroundings, "LARGEST", -1)
    (finding,) = check([str(tmp_path / "kernel.cpp")], Options(select=("GF101",), workers=1)).findings
    assert finding.decision is not None
    assert finding.decision.confidence is Confidence.HIGH


def test_a_high_confidence_is_lowered_where_answers_may_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workload that another file may register under Autograd."""
    text = (
        "#include <torch/script.h>\n"
        "at::Tensor run(const std::string& path, const at::Tensor& x) {\n"
        "  at::AutoNonVariableTypeMode guard(true);\n"
        "  auto module = torch::jit::load(path);\n"
        "  return module.forward({x}).toTensor();\n"
        "}\n"
    )
    (tmp_path / ".git").mkdir()
    (tmp_path / "run.cpp").write_text(text)
    (tmp_path / "other.cpp").write_text("int x;\n")

    def confidence() -> Confidence | None:
        (finding,) = check([str(tmp_path / "run.cpp")], Options(select=("GF101",), workers=1)).findings
        return finding.decision and finding.decision.confidence

    assert confidence() is Confidence.HIGH
    monkeypatch.setattr(surroundings, "LARGEST", 1)
    assert confidence() is Confidence.MEDIUM


def test_a_guard_s_new_name_in_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are not read for a name that stands in too many of them; the others are."""
    monkeypatch.setattr(project_reading, "MOST_NAMING", 3)
    (tmp_path / "modes.py").write_text("from torch import no_grad as quiet\nfrom torch import no_grad as calm\n")
    for number in range(5):
        (tmp_path / f"quiet{number}.py").write_text("from modes import quiet\n\n\nasync def f():\n    quiet()\n")
    (tmp_path / "calm.py").write_text("from modes import calm\n\n\ndef f():\n    calm()\n")
    found = check([str(tmp_path)], Options(workers=1)).findings
    assert [(Path(one.path).name, one.code) for one in found] == [("calm.py", "GF402")]


def test_a_mistake_in_the_settings_of_another_folder_stops_only_a_check_of_that(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name, text in {
        "here/a.cpp": "at::Tensor f(at::Tensor x) { at::AutoNonVariableTypeMode g(true); return helper(x); }\n",
        "there/b.cpp": "at::Tensor helper(at::Tensor x) { return x; }\n",
        "there/guardfix.toml": "nonsense = 3\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert [finding.code for finding in guardfix.check([tmp_path / "here/a.cpp"]).findings] == ["GF101"]
    with pytest.raises(guardfix.BadConfiguration, match="nonsense"):
        guardfix.check([tmp_path])
