"""`torch.jit.freeze` and `optimize_for_inference`: what is left of a module. PyTorch gives the same answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .forging import ARCHIVES
from .written_modules import assert_pytorch_answers, imported

CONVNET = ARCHIVES / "convnet.pt"
SOURCE = """
import {module} as torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
        self.dropout = torch.nn.Dropout(1.0)
        self.factor = 3
        for parameter in self.parameters():
            torch.nn.init.constant_(parameter, 0.5)

    def forward(self, x):
        return self.dropout(self.layer(x)) * self.factor

    @torch.jit.export
    def shifted(self, x):
        return x + 1
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return sample(tmp_path_factory.mktemp("frozen"), "guardfix.runtime_shim")


def sample(folder: Path, torch: str) -> ModuleType:
    return imported(folder / "frozen_modules.py", SOURCE, torch)


Call = Callable[[Any, Any], Any]


def frozen(asked: Callable[[Any, Any], Any], **options: Any) -> Call:
    """What is asked of a frozen module; its first argument is torch."""
    return lambda m, s: asked(m.torch, m.torch.jit.freeze(s(m.Net()).eval(), **options))


def optimized(asked: Callable[[Any, Any], Any], **options: Any) -> Call:
    return lambda m, s: asked(m.torch, m.torch.jit.optimize_for_inference(s(m.Net()), **options))


def changes(m: Any, s: Any) -> list[float]:
    """What a frozen module gives when the parameters of the original change."""
    module = s(m.Net()).eval()
    found = m.torch.jit.freeze(module)
    with m.torch.no_grad():
        module.layer.bias.zero_()
    return list(found(m.torch.ones(2)).tolist())


def in_inference_mode(torch: Any, module: Any) -> bool:
    with torch.inference_mode():
        return bool(module(torch.ones(2)).is_inference())


RESULTS = [
    pytest.param(frozen(lambda t, f: f(t.ones(2)).tolist()), [4.5, 4.5], id="forward"),
    pytest.param(frozen(lambda t, f: f(t.ones(2)).requires_grad), False, id="parameters are constants"),
    pytest.param(frozen(lambda t, f: f(t.ones(2, requires_grad=True)).requires_grad), True, id="inputs have gradients"),
    pytest.param(frozen(in_inference_mode), True, id="in inference mode"),
    pytest.param(changes, [3.0, 3.0], id="the tensors are the original's"),
    pytest.param(frozen(lambda t, f: len(list(f.parameters()))), 0, id="no parameters"),
    pytest.param(frozen(lambda t, f: list(f.state_dict())), [], id="no state"),
    pytest.param(frozen(lambda t, f: [name for name, _ in f.named_modules()]), [""], id="no submodules"),
    pytest.param(
        frozen(lambda t, f: [hasattr(f, name) for name in ("training", "layer", "factor", "shifted")]),
        [False] * 4,
        id="no attributes",
    ),
    pytest.param(
        frozen(lambda t, f: (f.factor, f.shifted(t.ones(1)).tolist()), preserved_attrs=["factor", "shifted"]),
        (3, [2.0]),
        id="preserved ones",
    ),
    pytest.param(frozen(lambda t, f: f.eval() is f), True, id="eval"),
    pytest.param(frozen(lambda t, f: repr(f)), "RecursiveScriptModule(original_name=Net)", id="as text"),
    pytest.param(frozen(lambda t, f: isinstance(f, t.jit.ScriptModule)), True, id="its type"),
    pytest.param(frozen(lambda t, f: t.jit.script(f) is f), True, id="it is scripted"),
    pytest.param(
        optimized(lambda t, f: f(t.ones(2)).requires_grad), False, id="optimized: frozen, and out of training"
    ),
    pytest.param(
        optimized(lambda t, f: f.shifted(t.ones(1)).tolist(), other_methods=["shifted"]), [2.0], id="other methods"
    ),
    pytest.param(
        frozen(lambda t, f: t.jit.optimize_for_inference(f)(t.ones(2)).tolist()), [4.5, 4.5], id="what is frozen"
    ),
    pytest.param(
        lambda m, s: [name for name, _ in m.torch.jit.freeze(m.torch.jit.load(CONVNET).eval()).named_parameters()],
        [],
        id="a loaded one",
    ),
]
REFUSALS = [
    pytest.param(lambda m, s: m.torch.jit.freeze(s(m.Net())), "implemented for modules in eval mode", id="training"),
    pytest.param(lambda m, s: m.torch.jit.freeze(m.Net()), "^Freezing expects a ScriptModule", id="not scripted"),
    pytest.param(
        lambda m, s: m.torch.jit.optimize_for_inference(m.Net()), "^optimize_for_inference expects", id="neither"
    ),
    pytest.param(frozen(lambda t, f: f, preserved_attrs=["nothing"]), "^Unknown name: nothing$", id="unknown"),
    pytest.param(frozen(lambda t, f: t.jit.freeze(f)), "object has no attribute 'training'", id="twice"),
]


@pytest.mark.parametrize(("call", "expected"), RESULTS)
def test_a_frozen_module_gives(shim: ModuleType, call: Call, expected: Any) -> None:
    assert call(shim, shim.torch.jit.script) == expected


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_what_is_refused(shim: ModuleType, call: Call, words: str) -> None:
    with pytest.raises((RuntimeError, AttributeError), match=words):
        call(shim, shim.torch.jit.script)


def test_the_shim_cannot_save_one(shim: ModuleType, tmp_path: Path) -> None:
    module = shim.torch.jit.freeze(shim.torch.jit.script(shim.Net()).eval())
    with pytest.raises(NotImplementedError, match="can't save a frozen module"):
        module.save(tmp_path / "net.pt")


@pytest.mark.oracle
def test_pytorch_gives_the_same_answers(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    assert_pytorch_answers(sample(tmp_path, "torch"), RESULTS, REFUSALS)
