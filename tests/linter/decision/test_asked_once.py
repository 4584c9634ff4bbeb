"""What stands around a use is looked for once for each state of the project, however often it is asked about."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from guardfix.linter.decision import signal_registry
from guardfix.linter.engine import Options, check
from guardfix.linter.files.workspace import Workspace

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
