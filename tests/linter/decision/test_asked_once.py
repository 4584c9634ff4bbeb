"""What stands around a use is looked for once for each state of the project, however often it is asked about."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from guardfix.linter.decision import signal_registry
from guardfix.linter.engine import Options, check
from guardfix.linter.files.workspace import Workspace
from guardfix.linter.flow import running

_HELPER = """
#include <ATen/ATen.h>
at::Tensor helper(const at::Tensor& x) {
  at::AutoNonVariableTypeMode guard(true);
  return x + 1;
}
"""
_CALLERS = """
#include <torch/library.h>
at::Tensor helper(const at::Tensor& x);
at::Tensor one(const at::Tensor& x) { return helper(x); }
at::Tensor two(const at::Tensor& x) { return helper(helper(x)); }
TORCH_LIBRARY_IMPL(ops, Autograd, m) { m.impl("one", one); m.impl("two", two); }
"""


def test_a_place_is_asked_once_for_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[tuple[object, ...]] = Counter()
    projects: list[Any] = []  # kept, so that no two have one id
    real = signal_registry.signals_at

    def counted(scene: Any, *more: Any) -> Any:
        projects.append(scene.project)
        use = scene.use
        asked[(id(scene.project), scene.facts.path, use.type_span, use.form, *map(repr, more))] += 1
        return real(scene, *more)

    monkeypatch.setattr(signal_registry, "signals_at", counted)
    texts = {"helper.cpp": _HELPER, "callers.cpp": _CALLERS}
    report = check(sorted(texts), Options(), workspace=Workspace.in_memory(texts))
    [decision] = [finding.decision for finding in report.findings if finding.decision is not None]
    assert decision.context == "kernel"
    assert set(asked.values()) == {1}
    assert len({span for _, path, span, *_ in asked if path == "helper.cpp"}) == 1


def test_the_program_is_run_with_another_guard_once_all_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Any] = []
    real = running.run_flow

    def counted(project: Any, instead: Any) -> Any:
        if instead:
            runs.append(project)
        return real(project, instead)

    monkeypatch.setattr(running, "run_flow", counted)
    texts = {
        "model.h": "#include <torch/script.h>\nat::Tensor answer(torch::jit::Module& m, at::Tensor x);\n",
        "model.cpp": '#include "model.h"\nat::Tensor answer(torch::jit::Module& m, at::Tensor x) {\n'
        "  at::AutoNonVariableTypeMode guard(true);\n  return m.forward({x}).toTensor();\n}\n",
        "serve.cpp": '#include "model.h"\nat::Tensor serve(torch::jit::Module& m, at::Tensor x) {\n'
        "  return answer(m, x);\n}\n",
        "main.cpp": '#include "model.h"\nat::Tensor serve(torch::jit::Module& m, at::Tensor x);\n'
        'int main() { auto m = torch::jit::load("m.pt"); m.eval(); serve(m, at::ones({2})); }\n',
    }
    report = check(sorted(texts), Options(), workspace=Workspace.in_memory(texts))
    [decision] = [finding.decision for finding in report.findings if finding.decision is not None]
    assert decision.context == "inference"
    assert runs == [report.project]
