"""The table of messages: what the shim says is in it, and what a person pastes finds its row."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import guardfix.runtime_shim as torch
from guardfix.linter.flow.events import MESSAGES, pytorch_says
from guardfix.linter.rule import all_rules
from guardfix.linter.rule_names import RuleGroup, rule_names
from guardfix.pytorch_messages.message_lookup import find_messages, message_in
from guardfix.pytorch_messages.message_table import known_messages, wording


def inference_tensor() -> torch.Tensor:
    with torch.inference_mode():
        return torch.ones(3)


def parameter() -> torch.Tensor:
    return torch.ones(3, requires_grad=True)


def computed_without_recording() -> torch.Tensor:
    with torch.no_grad():
        return parameter().sum()


def view_without_recording() -> torch.Tensor:
    x = parameter() * 2
    with torch.no_grad():
        return x.view(3)


def differentiated_twice() -> None:
    y = (parameter() ** 2).sum()
    y.backward()
    y.backward()


def changed_before_backward() -> None:
    y = parameter().exp()
    z = y * y
    y.add_(1)
    z.sum().backward()


RAISED: list[tuple[str, Callable[[], object]]] = [
    ("inference-tensor-saved", lambda: inference_tensor() * parameter()),
    ("inference-tensor-written", lambda: inference_tensor().add_(1)),
    ("inference-tensor-requires-grad", lambda: inference_tensor().requires_grad_()),
    ("inference-tensor-version", lambda: inference_tensor()._version),
    ("nothing-recorded", lambda: computed_without_recording().backward()),
    ("input-requires-no-grad", lambda: torch.autograd.grad(parameter().sum(), torch.ones(3))),
    ("not-used-in-graph", lambda: torch.autograd.grad(parameter().sum(), parameter())),
    ("leaf-written", lambda: parameter().add_(1)),
    ("leaf-written", lambda: parameter().view(3).add_(1)),
    ("view-written", lambda: view_without_recording().add_(1)),
    ("several-views-written", lambda: (parameter() * 2).unbind(0)[0].add_(1)),
    ("graph-freed", differentiated_twice),
    ("saved-tensor-changed", changed_before_backward),
    ("numpy-requires-grad", lambda: parameter().numpy()),
    ("flag-of-computed-tensor", lambda: (parameter() * 2).requires_grad_(False)),
    ("computed-tensor-optimized", lambda: torch.optim.SGD([parameter() * 2], 0.1)),
    ("gradient-not-kept", lambda: torch.ones(3).retain_grad()),
    ("out-requires-grad", lambda: torch.add(parameter(), 1, out=torch.ones(3))),
]


@pytest.mark.parametrize(("key", "run"), RAISED)
def test_what_the_shim_raises_is_in_the_table(key: str, run: Callable[[], object]) -> None:
    with pytest.raises((RuntimeError, ValueError)) as raised:
        run()
    found = message_in(f"{type(raised.value).__name__}: {raised.value}")
    assert found is not None
    assert found.key == key


@pytest.mark.parametrize("key", sorted(known_messages()))
def test_each_wording_finds_its_row(key: str) -> None:
    for text in known_messages()[key].texts:
        said = text.words.replace("{}", "0")
        assert [found.message.key for found in find_messages(f"RuntimeError: {said}")] == [key]


FOUND = [
    # a log, in which the last message counts
    ("RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.\n\nDuring handling of the "
     "above exception, another exception occurred:\n\nRuntimeError: Inference tensors cannot be saved for backward. "
     "To work around", ["inference-tensor-saved"]),
    # broken by a terminal, in color, with the quotation marks of a compiler
    ("  what():  Inplace update to inference tensor\n outside InferenceMode is not allowed.You can make", [
        "inference-tensor-written"]),
    ("\x1b[31mE  RuntimeError: element 3 of tensors does not require grad and does not have a grad_fn\x1b[0m", [
        "nothing-recorded"]),
    ("error: \u2018at::NonVariableTypeMode\u2019 has not been declared", ["legacy-switch-gone"]),
    # a part of a message, and a few of its words
    ("cannot be saved for backward", ["inference-tensor-saved"]),
    ("does not require grad", ["nothing-recorded", "input-requires-no-grad"]),
    ("element 0 of tensors does not require grad", ["nothing-recorded"]),
    ("leaf variable in-place", ["leaf-written"]),
    ("inference tensor backward saved", ["inference-tensor-saved"]),
    # symptoms
    ("grad is None", ["gradient-is-none"]),
    ("memory grows", ["memory-grows"]),
    # of other things
    ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", []),
    ("KeyError: 'inference'", []),
    ("IndexError: index 3 is out of range", []),
    ("tensor", []),
    ("", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "keys"), FOUND)
def test_what_is_pasted_finds_rows(text: str, keys: list[str]) -> None:
    assert [found.message.key for found in find_messages(text)] == keys


def test_events_take_their_words_from_the_table() -> None:
    for kind, key in MESSAGES.items():
        assert pytorch_says(kind)
        assert wording(key).replace("{}", "0").startswith(pytorch_says(kind) or "?")


def test_the_rules_that_rows_name_exist() -> None:
    codes = {rule.code for rule in rule_names()}
    for row in known_messages().values():
        assert set(row.rules) <= codes
        assert row.cures
        assert all(cure.change and cure.cost for cure in row.cures)


def test_each_rule_about_what_a_program_does_is_named_by_a_row() -> None:
    """Left out: what changes nothing, what doesn't compile, and GF301, of which nothing is seen."""
    silent = {RuleGroup.GUARDFIX, RuleGroup.REDUNDANT, RuleGroup.DEPRECATED}
    named = {code for row in known_messages().values() for code in row.rules}
    left = {rule.code for rule in all_rules() if rule.group not in silent} - named
    assert left == {"GF102", "GF301"}
