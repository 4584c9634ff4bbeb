"""A file that is checked alone is decided as in its project, or less surely, and then the evidence says so."""

from __future__ import annotations

from pathlib import Path

import pytest

import guardfix
from fixture_files import Fixture, all_fixtures
from guardfix.linter import project_reading, related_files
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


_SURE = {"low": 1, "medium": 2, "high": 3}


def sureness(finding: Finding) -> int:
    """How sure a decision is; 0 where nothing is decided."""
    decision = finding.decision
    return _SURE[decision.confidence.value] if decision is not None and decision.context.value != "unknown" else 0


@pytest.mark.parametrize("named", [False, True], ids=["no project is known", "the project is named"])
@pytest.mark.parametrize("fixture", all_fixtures(), ids=lambda fixture: fixture.name)
@pytest.mark.some(3)
def test_a_file_alone_is_never_surer_than_its_tree(fixture: Fixture, named: bool, tmp_path: Path) -> None:
    """In a folder that no configuration or repository marks, for uses that both find."""
    folder = fixture.copy_to(tmp_path)
    options = Options(select=("GF1",), workers=1, minimum_torch=fixture.minimum_torch())
    tree = {(one.path, one.span, one.code): one for one in check([str(folder)], options).findings}
    alone = options.changed(project=str(folder)) if named else options
    for path in sorted({finding.path for finding in tree.values()}):
        for one in check([path], alone).findings:
            whole = tree.get((one.path, one.span, one.code))
            if whole is None or one.decision is None or whole.decision is None:
                continue
            assert sureness(one) <= sureness(whole)
            if named:
                assert key(one) == key(whole)
            if sureness(one) and whole.decision.context is one.decision.context and sureness(one) == sureness(whole):
                assert one.decision.evidence[:1] == whole.decision.evidence[:1]
            if sureness(one) and whole.decision.context is not one.decision.context:
                # Another file decides otherwise. Then the evidence says that it wasn't looked at.
                assert one.decision.evidence[-1].signal == "part-of-project"


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
    pytest.param({}, False, None, True, id="nothing shows the project, so it is not looked at"),
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
    monkeypatch.setattr(related_files, "LARGEST", 3)
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
    if capped and repository:
        assert one.decision.reason(limits[0]) == (
            f"only 1 of more than 3 files below {tmp_path} were looked at: what decides this may be in another file"
        )
    elif capped:
        assert one.decision.reason(limits[0]) == (
            "the rest of the project wasn't looked at, as nothing shows where it is (`--project FOLDER` says so): what "
            "decides this may be in another file"
        )
    assert {Path(facts.path).name for facts in alone.project.checked()} == {"kernel.cpp"}
    options = Options(select=("GF101",), workers=1, project=str(tmp_path))
    (named,) = check([str(tmp_path / "kernel.cpp")], options).findings
    assert key(named) == key(other), "the project that is named is looked at, however large it is"


def test_a_settled_decision_asks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "kernel.cpp").write_text(KERNEL + REGISTERED)
    monkeypatch.setattr(related_files, "LARGEST", -1)
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
    monkeypatch.setattr(related_files, "LARGEST", 1)
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


WORKLOAD = """\
#include <torch/script.h>
at::Tensor run(const std::string& path, const at::Tensor& x) {
  at::AutoNonVariableTypeMode guard(true);
  auto module = torch::jit::load(path);
  return module.forward({x}).toTensor();
}
"""
HELPER = """\
#include <torch/script.h>
struct Net {
  at::Tensor predict(const at::Tensor& x);
  at::Tensor run(const at::Tensor& x) {
    at::Tensor y = predict(x);
    return torch::jit::load("m.pt").forward({y}).toTensor();
  }
};
at::Tensor Net::predict(const at::Tensor& x) {
  at::AutoNonVariableTypeMode guard(true);
  return at::relu(x);
}
void open() { torch::jit::load("m.pt"); }
"""
REACHES = """\
#include <torch/script.h>
at::Tensor Net::play(const at::Tensor& x) {
  at::AutoNonVariableTypeMode guard(true);
  return step(x);
}
at::Tensor step(const at::Tensor& x) { return module.forward({x}).toTensor(); }
"""
IN_A_TEST = """\
#include <torch/torch.h>
TEST(Math, Ones) {
  at::AutoNonVariableTypeMode guard(true);
  EXPECT_TRUE(torch::equal(torch::ones({2}), torch::ones({2})));
}
"""


@pytest.mark.parametrize(
    ("text", "alone", "in_company"),
    [
        pytest.param(WORKLOAD, "inference high", "inference medium", id="a workload that may be registered"),
        pytest.param(HELPER, "inference high", "inference medium", id="a helper that others may call"),
        pytest.param(REACHES, "inference medium", "unknown low", id="what it calls may do more elsewhere"),
        pytest.param(IN_A_TEST, "inference low", "unknown low", id="hardly decided"),
        pytest.param(KERNEL + REGISTERED, "kernel high", "kernel high", id="nothing elsewhere can change it"),
        pytest.param(
            WORKLOAD.replace("at::Tensor run(const std::string& path, const at::Tensor& x)", "int main()"),
            "inference high",
            "inference high",
            id="a program, which no other file names",
        ),
    ],
)
def test_a_file_with_others_around_it_is_part_of_something(
    text: str, alone: str, in_company: str, tmp_path: Path
) -> None:
    def decided() -> tuple[str, bool]:
        (finding,) = check([str(tmp_path / "src" / "run.cpp")], Options(select=("GF101",), workers=1)).findings
        decision = finding.decision
        assert decision is not None
        noted = any(one.signal == "part-of-project" for one in decision.evidence)
        return f"{decision.context.value} {decision.confidence.value}", noted

    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "run.cpp").write_text(text)
    (tmp_path / "README").write_text("")
    assert decided() == (alone, False)
    (tmp_path / "other.cpp").write_text("int other;\n")
    assert decided() == (in_company, alone != in_company)
