"""Classes derived from `torch.jit.ScriptModule`, with methods that `script_method` marks."""

from __future__ import annotations

from typing import Any

import pytest

import guardfix.runtime_shim as torch


class Marked(torch.jit.ScriptModule):
    def __init__(self, factor: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.factor = factor

    @torch.jit.script_method
    def forward(self, x: torch.Tensor) -> Any:
        if self.factor > 1:
            x = self.twice(x)
        return x * self.weight

    @torch.jit.script_method
    def twice(self, x: torch.Tensor) -> Any:
        return x * 2


def test_script_methods_are_checked_and_run() -> None:
    module = Marked(2)
    assert module(torch.ones(2)).tolist() == [2.0, 2.0]
    assert [name for name, _ in module.named_parameters()] == ["weight"]
    assert isinstance(torch.jit.script(torch.nn.Linear(1, 1)), torch.jit.ScriptModule)
    with torch.no_grad():
        assert not module(torch.ones(2)).requires_grad
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor' for argument 'x'"):
        module(3)


class Refused(torch.jit.ScriptModule):
    @torch.jit.script_method
    def forward(self, x: torch.Tensor) -> Any:
        try:
            return x
        except ValueError:
            return x


def test_a_script_method_that_is_not_torchscript_is_refused_when_an_object_is_made() -> None:
    with pytest.raises(RuntimeError, match="try blocks aren't supported"):
        Refused()
