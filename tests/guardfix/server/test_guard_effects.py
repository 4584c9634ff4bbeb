"""What hovers say of guards is what the shim does."""

from __future__ import annotations

from typing import Any

import pytest

import guardfix.runtime_shim as torch
from guardfix.linter.guards import Effect
from guardfix.server.guard_effects import SWITCHED

GUARDS = [
    pytest.param(Effect.INFERENCE, torch.inference_mode, id="inference mode"),
    pytest.param(Effect.GRAD_MODE, torch.no_grad, id="grad mode"),
    pytest.param(Effect.BELOW_AUTOGRAD, torch._C._AutoDispatchBelowAutograd, id="below autograd"),
    pytest.param(Effect.BELOW_ADINPLACEORVIEW, torch._C._AutoDispatchBelowADInplaceOrView, id="below ADInplaceOrView"),
]


@pytest.mark.parametrize(("effect", "guard"), GUARDS)
def test_the_words_are_true(effect: Effect, guard: Any) -> None:
    said = SWITCHED[effect]
    normal, leaf = torch.ones(2), torch.ones(2, requires_grad=True)
    with guard():
        assert not (leaf * 2).requires_grad
        grad_mode = torch.is_grad_enabled()
        new, view = torch.ones(2), normal[:1]
        normal.add_(1)
    assert "not recorded" in said.gradients or effect is Effect.GRAD_MODE
    assert ("grad mode stays as it is" in said.gradients) is grad_mode
    assert ("not tracked:" not in said.views) is view._is_view()
    assert ("don't bump" not in said.versions) is (normal._version == 1)
    assert said.new_tensors.startswith("inference tensors") is new.is_inference()


def test_every_effect_on_autograd_is_described() -> None:
    assert {*SWITCHED} == {*Effect} - {Effect.NEIGHBOUR}
