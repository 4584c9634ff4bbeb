"""Which files are read where a use stays open: those that define what it reaches, whatever the project's size."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.linter import project_summarizing
from guardfix.linter.engine import Options, check
from guardfix.linter.project_summarizing import nearest

USE = """\
#include "net.h"
void Server::serve(at::Tensor x) {
  at::AutoNonVariableTypeMode guard(true);
  net_->answer(x);
}
"""
HEADER = """\
#include <torch/script.h>
struct Net { void answer(at::Tensor x); torch::jit::Module module_; };
struct Server { void serve(at::Tensor x); Net* net_; };
"""
NET = """\
#include "net.h"
void Net::answer(at::Tensor x) { module_.forward({x}); }
void Net::unrelated(at::Tensor x) { other(x); }
"""
OP = '#include <torch/library.h>\nTORCH_LIBRARY_IMPL(ns, CPU, m) { m.impl("op", op); }\n'


@pytest.mark.parametrize(
    ("files", "largest", "expected"),
    [
        pytest.param({"net.h": HEADER, "net.cpp": NET}, 100, "inference medium", id="what it calls runs a model"),
        pytest.param({"net.h": HEADER, "op.cpp": OP}, 100, "unknown low", id="what it calls is nowhere defined"),
        pytest.param(
            {"net.h": HEADER, "net.cpp": NET, "op.cpp": OP}, 100, "inference medium", id="in a project with ops"
        ),
        pytest.param(
            {"src/net.h": OP + HEADER, "src/net.cpp": NET, "a/b.cpp": "", "a/c.cpp": ""},
            3,
            "inference medium",
            id="in a large project, in the folder of the use",
        ),
    ],
)
def test_what_a_use_reaches_is_read(
    files: dict[str, str], largest: int, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_summarizing, "LARGE", largest)
    for name, text in {**files, "src/server.cpp": USE}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (finding,) = check([str(tmp_path)], Options(select=("GF101",), workers=1)).findings
    assert finding.decision is not None
    assert f"{finding.decision.context.value} {finding.decision.confidence.value}" == expected


def test_no_project_is_summarized_where_every_use_is_decided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        project_summarizing.ProjectSummarizing, "_summary", lambda *args: pytest.fail("nothing had to be asked")
    )
    text = USE.replace("net_->answer(x);", "at::NoGradGuard off; module.forward({x});")
    (tmp_path / "server.cpp").write_text(text)
    assert len(check([str(tmp_path)], Options(select=("GF101",), workers=1)).findings) == 1


@pytest.mark.parametrize(
    ("files", "uses", "expected"),
    [
        pytest.param(["a/x.cpp", "b/y.cpp"], ["b/z.cpp"], ["b/y.cpp", "a/x.cpp"], id="the same folder first"),
        pytest.param(["y.cpp", "a/b/x.cpp"], ["a/z.cpp"], ["a/b/x.cpp", "y.cpp"], id="then what is below it"),
        pytest.param(["c/y.cpp", "a/c/x.cpp"], ["a/b/z.cpp"], ["a/c/x.cpp", "c/y.cpp"], id="then its neighbours"),
        pytest.param(["a.cpp", "b.cpp", "c.cpp"], ["d.cpp"], ["a.cpp", "b.cpp"], id="and no more than so many"),
    ],
)
def test_the_nearest_files_come_first(files: list[str], uses: list[str], expected: list[str]) -> None:
    assert nearest(files, uses, 2) == expected


@pytest.mark.parametrize(
    ("calls", "largest", "expected"),
    [
        pytest.param(5, 100, "inference high", id="through five files"),
        pytest.param(3, 10, "inference high", id="in a large project through three"),
        pytest.param(5, 10, "unknown low", id="in a large project not through five"),
    ],
)
def test_calls_are_followed_so_far(
    calls: int, largest: int, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_summarizing, "LARGE", largest)
    steps = [
        f"#include <torch/script.h>\nvoid step_{n + 1}(at::Tensor x);\nvoid step_{n}(at::Tensor x) {{ step_{n + 1}(x); }}\n"
        for n in range(1, calls)
    ]
    last = f"#include <torch/script.h>\nvoid step_{calls}(at::Tensor x) {{ torch::jit::load(name).forward({{x}}); }}\n"
    files = {f"src/step_{n}.cpp": text for n, text in enumerate([*steps, last], start=1)}
    unrelated = {f"tools/other_{n}.cpp": "" for n in range(10)}
    use = (
        "void step_1(at::Tensor x);\n" + OP + USE.replace("net_->answer", "step_1")
    )  # what was read shows that the project defines ops
    for name, text in {"src/server.cpp": use, **files, **unrelated}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (finding,) = check([str(tmp_path)], Options(select=("GF101",), workers=1)).findings
    assert finding.decision is not None
    assert f"{finding.decision.context.value} {finding.decision.confidence.value}" == expected
