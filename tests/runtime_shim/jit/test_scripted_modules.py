"""`torch.jit.script` of modules: what they give, what they keep, what is refused. PyTorch gives the same answers."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .written_modules import assert_pytorch_answers, imported

SOURCE = """
import {module} as torch

nn = torch.nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.ReLU()])
        self.factor = 3
        self.odd = object()
        self.register_buffer("shift", torch.ones(2))
        for parameter in self.parameters():
            nn.init.constant_(parameter, 0.5)

    def forward(self, x, times: int = 1):
        for layer in self.layers:
            x = layer(x)
        return self.scaled(self.layer(x)) * times + self.shift

    def scaled(self, x):
        return x * self.factor

    def never_called(self, x):
        return x

    @torch.jit.export
    def with_factor(self, n: int) -> int:
        return n + self.factor

    @torch.jit.ignore
    def outside(self, x):
        return eval("x + 1")


class Drops(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(1.0)

    def forward(self, x):
        return self.dropout(x)


class Raises(nn.Module):
    def forward(self, x):
        return self.checked(x)

    def checked(self, x):
        if x.sum() > 0:
            raise ValueError("positive")
        return x


class Commented(nn.Module):
    def forward(self, x, n):
        # type: (torch.Tensor, int) -> torch.Tensor
        return x * n


class ReadsOdd(nn.Module):
    def __init__(self):
        super().__init__()
        self.odd = object()

    def forward(self, x):
        return self.odd


class ReadsNothing(nn.Module):
    def forward(self, x):
        return self.nothing(x)


class Recursive(nn.Module):
    def forward(self, x):
        return self.forward(x)


class Child(nn.Module):
    def forward(self, x):
        return self.missing(x)


class InChild(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x)


class NeedsNothing(nn.Module):
    def forward(self, *xs):
        return xs
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return sample(tmp_path_factory.mktemp("scripted"), "guardfix.runtime_shim")


def sample(folder: Path, torch: str) -> ModuleType:
    return imported(folder / "sample_modules.py", SOURCE, torch)


def after(change: Callable[[Any], Any], asked: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """What is asked of the module and its scripted one once the latter was changed."""

    def call(m: Any, s: Any) -> Any:
        module = m.Net()
        scripted = s(module)
        change(scripted)
        return asked(module, scripted)

    return call


def raised_by(call: Callable[[], Any]) -> str:
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "nothing"


def trains(m: Any, s: Any) -> list[float]:
    module = m.Net()
    scripted = s(module)
    scripted(m.torch.ones(1, 2)).sum().backward()
    return [round(value, 4) for value in module.layer.weight.grad.flatten().tolist()]


Call = Callable[[Any, Any], Any]
RESULTS = [
    pytest.param(lambda m, s: s(m.Net())(m.torch.ones(1, 2)).tolist(), [[7.0, 7.0]], id="forward"),
    pytest.param(lambda m, s: s(m.Net())(m.torch.ones(1, 2), times=2).tolist(), [[13.0, 13.0]], id="keyword"),
    pytest.param(lambda m, s: s(m.Net()).scaled(m.torch.ones(1)).tolist(), [3.0], id="a method that forward calls"),
    pytest.param(lambda m, s: s(m.Net()).with_factor(4), 7, id="an exported method"),
    pytest.param(lambda m, s: s(m.Net()).outside(4), 5, id="an ignored method"),
    pytest.param(lambda m, s: s(m.Net()).factor, 3, id="an attribute"),
    pytest.param(trains, [4.5] * 4, id="gradients reach the original"),
    pytest.param(
        lambda m, s: [name for name, _ in s(m.Net()).named_parameters()],
        ["layer.weight", "layer.bias", "layers.0.weight", "layers.0.bias"],
        id="parameters",
    ),
    pytest.param(lambda m, s: next(iter(s(m.Net()).state_dict())), "shift", id="state_dict"),
    pytest.param(lambda m, s: len(s(m.Net()).layers), 2, id="a container has a length"),
    pytest.param(lambda m, s: bool(s(m.nn.ModuleList())), True, id="an empty one is true"),
    pytest.param(lambda m, s: raised_by(lambda: len(s(m.Net()))), "NotImplementedError", id="no other has"),
    pytest.param(lambda m, s: raised_by(lambda: s(m.Net()).never_called), "AttributeError", id="what isn't compiled"),
    pytest.param(lambda m, s: raised_by(lambda: s(m.Net()).odd), "AttributeError", id="what can't be kept"),
    pytest.param(lambda m, s: isinstance(s(m.Net()), m.torch.jit.ScriptModule), True, id="its type"),
    pytest.param(lambda m, s: isinstance(s(m.Net()), m.Net), False, id="not that of the original"),
    pytest.param(lambda m, s: s(m.Net()).original_name, "Net", id="its name"),
    pytest.param(lambda m, s: repr(s(m.nn.Linear(1, 1))), "RecursiveScriptModule(original_name=Linear)", id="as text"),
    pytest.param(lambda m, s: type(s(s(m.Net()))).__name__, "RecursiveScriptModule", id="scripted twice"),
    pytest.param(lambda m, s: s(m.Commented())(m.torch.ones(1), 3).tolist(), [3.0], id="a type comment"),
    pytest.param(lambda m, s: s(m.nn.Sequential(m.nn.ReLU()))(m.torch.ones(1)).tolist(), [1.0], id="PyTorch's own"),
    pytest.param(lambda m, s: s(m.Drops()).eval()(m.torch.ones(2)).tolist(), [1.0, 1.0], id="eval reaches submodules"),
    pytest.param(lambda m, s: s(m.Drops())(m.torch.ones(2)).tolist(), [0.0, 0.0], id="training"),
    pytest.param(lambda m, s: copy.deepcopy(s(m.Net()))(m.torch.ones(1, 2)).tolist(), [[7.0, 7.0]], id="copied"),
    pytest.param(
        after(lambda one: one.eval(), lambda m, s: (m.training, s.training, m.layer.training, s.layer.training)),
        (True, False, True, False),
        id="eval leaves the original alone",
    ),
    pytest.param(
        after(lambda one: setattr(one, "factor", 7), lambda m, s: (m.factor, s.with_factor(1))), (3, 8), id="set"
    ),
    pytest.param(
        after(lambda one: one.layer.weight.data.fill_(2), lambda m, s: m.layer.weight[0, 0].item()),
        2.0,
        id="the tensors are the original's",
    ),
    pytest.param(
        after(lambda one: one.load_state_dict({"shift": one.shift * 3}, strict=False), lambda m, s: m.shift.tolist()),
        [3.0, 3.0],
        id="a state that is loaded",
    ),
]
REFUSALS = [
    pytest.param(lambda m, s: s(m.ReadsOdd()), "Module 'ReadsOdd' has no attribute 'odd' .* type: 'object'", id="odd"),
    pytest.param(lambda m, s: s(m.ReadsNothing()), "Module 'ReadsNothing' has no attribute 'nothing'", id="nothing"),
    pytest.param(lambda m, s: s(m.InChild()), "Module 'Child' has no attribute 'missing'", id="in a child"),
    pytest.param(lambda m, s: s(m.Recursive()), "method 'forward' is called recursively", id="recursion"),
    pytest.param(lambda m, s: s(m.NeedsNothing()), "can't take variable number of arguments", id="*xs"),
    pytest.param(lambda m, s: s(m.Net())(), r"forward\(\) is missing value for argument 'x'", id="an argument less"),
    pytest.param(
        lambda m, s: s(m.Net())(m.torch.ones(1, 2), "a"),
        "Expected a value of type 'int' for argument 'times' but instead found type 'str'",
        id="a wrong type",
    ),
    pytest.param(
        lambda m, s: s(m.Raises())(m.torch.ones(1)), "builtins.ValueError: positive", id="what a method raises"
    ),
]


@pytest.mark.parametrize(("call", "expected"), RESULTS)
def test_a_scripted_module_gives(shim: ModuleType, call: Call, expected: Any) -> None:
    assert call(shim, shim.torch.jit.script) == expected


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_what_is_refused(shim: ModuleType, call: Call, words: str) -> None:
    with pytest.raises(Exception, match=words):
        call(shim, shim.torch.jit.script)


def test_what_the_shim_alone_refuses(shim: ModuleType, tmp_path: Path) -> None:
    script = shim.torch.jit.script
    with pytest.raises(NotImplementedError, match=r"can't save a module of torch\.jit\.script"):
        script(shim.Net()).save(tmp_path / "net.pt")
    hooked = shim.Net()
    hooked.register_forward_hook(lambda module, args, result: None)
    with pytest.raises(NotImplementedError, match="doesn't compile forward hooks"):
        script(hooked)


@pytest.mark.oracle
def test_pytorch_gives_the_same_answers(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    assert_pytorch_answers(sample(tmp_path, "torch"), RESULTS, REFUSALS)
