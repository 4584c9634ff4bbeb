"""`nn.utils.parametrize` and `parametrizations`: parameters that are made of others. PyTorch gives the same."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SOURCE = '''
import copy

import {module} as torch

nn = torch.nn
parametrize, parametrizations = nn.utils.parametrize, nn.utils.parametrizations


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).transpose(-1, -2)

    def right_inverse(self, x):
        return x.triu()


class Twice(nn.Module):
    def forward(self, x):
        return x * 2


def symmetric(*more):
    layer = nn.Linear(2, 2)
    nn.init.constant_(layer.weight, 3.0)
    for one in (Symmetric(), *more):
        parametrize.register_parametrization(layer, "weight", one)
    return layer


def layer(rows=3):
    """Weights 1, -2, 3, -4, …"""
    made = nn.Linear(4, rows)
    with torch.no_grad():
        made.weight.copy_((torch.arange(4.0 * rows) + 1).view(rows, 4) * torch.tensor([1.0, -1.0, 1.0, -1.0]))
    return made


def assigned():
    made = symmetric()
    made.weight = torch.tensor([[1.0, 2.0], [2.0, 5.0]])
    return made.weight.tolist(), made.parametrizations.weight.original.tolist()


def copied():
    made = symmetric()
    twin = copy.deepcopy(made)
    twin.weight = torch.ones(2, 2)
    return made.weight.tolist(), twin.weight.tolist(), type(twin).__name__


def gradients():
    made = symmetric(Twice())
    made(torch.ones(1, 2)).sum().backward()
    return made.parametrizations.weight.original.grad.tolist()


def removed(keep):
    made = parametrize.remove_parametrizations(symmetric(Twice()), "weight", leave_parametrized=keep)
    return made.weight.tolist(), type(made).__name__, isinstance(made.weight, nn.Parameter), list(made.state_dict())


def computed_once():
    calls = []

    class Counting(nn.Module):
        def forward(self, x):
            calls.append(0)
            return x

    made = symmetric(Counting())
    calls.clear()
    with parametrize.cached():
        same = made.weight is made.weight
    return same, len(calls), made.weight is made.weight


def normalized():
    made = parametrizations.weight_norm(layer(1))
    weight, norm = made.weight.detach(), made.parametrizations.weight.original0.detach()
    return sorted(made.state_dict()), weight[0].tolist(), float(norm) ** 2


def spectral():
    torch.manual_seed(0)
    made = parametrizations.spectral_norm(nn.Linear(4, 4))
    for _ in range(20):
        made(torch.ones(1, 4))
    return round(float(torch.linalg.matrix_norm(made.weight.detach(), 2)), 3), sorted(made.state_dict())
'''

ROWS: list[tuple[str, Any]] = [
    ("type(symmetric()).__name__", "ParametrizedLinear"),
    ("parametrize.type_before_parametrizations(symmetric()).__name__", "Linear"),
    ("[name for name, _ in symmetric().named_parameters()]", ["bias", "parametrizations.weight.original"]),
    ("symmetric(Twice()).weight.tolist()", [[6.0, 6.0], [6.0, 6.0]]),
    ("parametrize.is_parametrized(symmetric()), parametrize.is_parametrized(symmetric(), 'bias')", (True, False)),
    ("assigned()", ([[1.0, 2.0], [2.0, 5.0]], [[1.0, 2.0], [0.0, 5.0]])),
    ("copied()", ([[3.0, 3.0], [3.0, 3.0]], [[1.0, 1.0], [1.0, 1.0]], "ParametrizedLinear")),
    ("gradients()", [[2.0, 4.0], [0.0, 2.0]]),
    ("removed(True)", ([[6.0, 6.0], [6.0, 6.0]], "Linear", True, ["bias", "weight"])),
    ("removed(False)", ([[3.0, 3.0], [0.0, 3.0]], "Linear", True, ["bias", "weight"])),
    ("computed_once()", (True, 1, False)),
    ("normalized()", (
        ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"], [1.0, -2.0, 3.0, -4.0], 30.0)),
    ("spectral()", (1.0, [
        "bias", "parametrizations.weight.0._u", "parametrizations.weight.0._v", "parametrizations.weight.original"])),
]  # fmt: skip

REFUSALS = [
    ('symmetric().__setattr__("weight", torch.ones(3))', RuntimeError, "triu"),
    (
        'symmetric(Twice()).__setattr__("weight", torch.ones(2, 2))',
        RuntimeError,
        "Twice does not implement right_inverse",
    ),
    (
        'parametrize.register_parametrization(layer(), "nope", Twice())',
        ValueError,
        "does not have a parameter, a buffer",
    ),
    ('parametrize.register_parametrization(layer(), "bias", nn.Linear(3, 2))', ValueError, "may not change the shape"),
    ('parametrize.remove_parametrizations(layer(), "weight")', ValueError, "does not have a parametrization on weight"),
    ("parametrize.ParametrizationList([], torch.ones(1))", ValueError, "requires one or more modules"),
]


def sample(folder: Path, torch: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("made_parameters", folder / "made_parameters.py")
    assert spec is not None
    assert spec.loader is not None
    (folder / "made_parameters.py").write_text(SOURCE.replace("{module}", torch))
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return sample(tmp_path_factory.mktemp("made"), "guardfix.runtime_shim")


def close(found: Any, expected: Any) -> bool:
    if isinstance(expected, float):
        return bool(found == pytest.approx(expected, abs=2e-3))
    if isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(close, found, expected))
    return bool(found == expected)


@pytest.mark.parametrize(("call", "expected"), ROWS, ids=[call for call, _ in ROWS])
def test_what_is_made(shim: ModuleType, call: str, expected: Any) -> None:
    found = eval(call, vars(shim))
    assert close(found, expected), found


@pytest.mark.parametrize(("call", "kind", "words"), REFUSALS, ids=[call for call, _, _ in REFUSALS])
def test_what_is_refused(shim: ModuleType, call: str, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        eval(call, vars(shim))


@pytest.mark.oracle
def test_pytorch_gives_the_same(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    for name in ("parametrize", "parametrizations"):
        importlib.import_module(f"torch.nn.utils.{name}")
    theirs = sample(tmp_path, "torch")
    for call, expected in ROWS:
        found = eval(call, vars(theirs))
        assert close(found, expected), f"{call}: {found}"
    for call, kind, words in REFUSALS:
        with pytest.raises(kind, match=words):
            eval(call, vars(theirs))


def test_hooks_are_what_was_registered(shim: ModuleType) -> None:
    """As PyTorch keeps them: what looks for its own hook among them finds it."""
    made = shim.layer()
    plain, keyed, always = (lambda *_: None for _ in range(3))
    made.register_forward_pre_hook(plain)
    handle = made.register_forward_pre_hook(keyed, with_kwargs=True)
    made.register_forward_hook(always, always_call=True)
    assert [*made._forward_pre_hooks.values()] == [plain, keyed]
    assert [*made._forward_hooks.values()] == [always]
    assert made._forward_pre_hooks_with_kwargs == {handle.id: True}
    handle.remove()
    assert made._forward_pre_hooks_with_kwargs == {}
