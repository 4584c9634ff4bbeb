"""PyTorch's own layers, scripted and traced: through this interpreter over torch's ops they answer as
`torch.jit.load` does. It shows that the interpreter and the table of ops are right apart from the shim."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from guardfix.runtime_shim import jit
from guardfix.runtime_shim.jit.calls.call_registry import VALUE_OPS
from guardfix.runtime_shim.jit.calls.call_table import OpTable, UnknownOp

torch = pytest.importorskip("torch")
nn = torch.nn

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

LAYERS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "Linear without bias": (lambda: nn.Linear(4, 3, bias=False), (2, 4)),
    "Sequential": (
        lambda: nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2), nn.Softmax(1)),
        (3, 4),
    ),
    "Conv1d": (lambda: nn.Conv1d(2, 3, 3, padding=1, dilation=2), (2, 2, 9)),
    "Conv2d same": (lambda: nn.Conv2d(2, 4, 3, padding="same", groups=2), (1, 2, 5, 6)),
    "Conv2d reflect": (lambda: nn.Conv2d(1, 2, 3, padding=1, padding_mode="reflect"), (1, 1, 5, 5)),
    "Conv3d": (lambda: nn.Conv3d(1, 2, 2), (1, 1, 3, 4, 5)),
    "ConvTranspose2d": (
        lambda: nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1, output_padding=1),
        (1, 2, 4, 4),
    ),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(3), (4, 3)),
    "BatchNorm2d without stats": (lambda: nn.BatchNorm2d(3, track_running_stats=False), (2, 3, 4, 4)),
    "BatchNorm2d cumulative": (lambda: nn.BatchNorm2d(2, momentum=None), (2, 2, 3, 3)),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(2, affine=True), (2, 2, 4, 4)),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), (2, 4, 3)),
    "LayerNorm": (lambda: nn.LayerNorm([3, 4]), (2, 3, 4)),
    "RMSNorm": (lambda: nn.RMSNorm(4), (2, 4)),
    "LocalResponseNorm": (lambda: nn.LocalResponseNorm(2), (2, 4, 3, 3)),
    "MaxPool2d ceil": (lambda: nn.MaxPool2d(3, 2, 1, ceil_mode=True), (1, 2, 6, 7)),
    "MaxPool1d": (lambda: nn.MaxPool1d(2), (1, 2, 6)),
    "AvgPool2d": (lambda: nn.AvgPool2d(2, stride=1, padding=1, count_include_pad=False), (1, 2, 5, 5)),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d((2, 3)), (1, 2, 5, 5)),
    "AdaptiveMaxPool1d": (lambda: nn.AdaptiveMaxPool1d(2), (1, 2, 5)),
    "Upsample nearest": (lambda: nn.Upsample(scale_factor=2), (1, 1, 3, 3)),
    "Upsample bilinear": (lambda: nn.Upsample((5, 5), mode="bilinear", align_corners=True), (1, 1, 3, 3)),
    "Upsample bicubic": (lambda: nn.Upsample(scale_factor=1.5, mode="bicubic"), (1, 1, 4, 4)),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), (1, 4, 2, 2)),
    "Unfold": (lambda: nn.Unfold(2), (1, 1, 3, 3)),
    "ReflectionPad2d": (lambda: nn.ReflectionPad2d(1), (1, 1, 3, 3)),
    "ZeroPad2d": (lambda: nn.ZeroPad2d((1, 2, 0, 1)), (1, 1, 3, 3)),
    "Flatten and Unflatten": (lambda: nn.Sequential(nn.Flatten(), nn.Unflatten(1, (2, 6))), (2, 3, 4)),
    "LSTM": (lambda: Within(nn.LSTM(3, 4, num_layers=2, batch_first=True)), (2, 5, 3)),
    "LSTM bidirectional": (lambda: Within(nn.LSTM(3, 4, bidirectional=True, proj_size=2)), (5, 2, 3)),
    "GRU": (lambda: Within(nn.GRU(3, 4)), (5, 2, 3)),
    "RNN": (lambda: Within(nn.RNN(3, 4, nonlinearity="relu")), (5, 2, 3)),
    "LSTMCell": (lambda: nn.LSTMCell(3, 4), (2, 3)),
    "GRUCell": (lambda: nn.GRUCell(3, 4), (2, 3)),
    "TransformerEncoderLayer": (
        lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, norm_first=True),
        (2, 3, 4),
    ),
    "TransformerEncoder": (
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, activation="gelu"), 2),
        (3, 2, 4),
    ),
    **{
        name: ((lambda name=name: getattr(nn, name)()), (2, 4))
        for name in [
            "ReLU",
            "ReLU6",
            "ELU",
            "SELU",
            "CELU",
            "GELU",
            "SiLU",
            "Mish",
            "Sigmoid",
            "LogSigmoid",
            "Tanh",
            "Tanhshrink",
            "Softplus",
            "Softsign",
            "Softshrink",
            "Hardshrink",
            "Hardsigmoid",
            "Hardswish",
            "Hardtanh",
            "LeakyReLU",
            "PReLU",
            "GLU",
            "Dropout",
            "Identity",
        ]
    },
    "in-place activations": (
        lambda: nn.Sequential(
            nn.Linear(4, 4),
            *(kind(inplace=True) for kind in (nn.ReLU, nn.ELU, nn.LeakyReLU, nn.SiLU, nn.Hardtanh, nn.Mish, nn.ReLU6)),
        ),
        (2, 4),
    ),
    "Softmin": (lambda: nn.Softmin(1), (2, 3)),
    "CosineSimilarity": (lambda: Twice(nn.CosineSimilarity()), (2, 3)),
    "PairwiseDistance": (lambda: Twice(nn.PairwiseDistance()), (2, 3)),
    **{
        name: ((lambda name=name: Twice(getattr(nn, name)())), (2, 3))
        for name in [
            "MSELoss",
            "L1Loss",
            "SmoothL1Loss",
            "HuberLoss",
            "KLDivLoss",
            "BCEWithLogitsLoss",
        ]
    },
    "BCELoss": (lambda: Twice(nn.BCELoss(), squash=True), (2, 3)),
}


class Within(nn.Module):
    """A layer whose `forward` has overloads, which only a module around it can call."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)[0]


class Twice(nn.Module):
    """A layer of two inputs, fed with one."""

    def __init__(self, layer: Any, squash: bool = False) -> None:
        super().__init__()
        self.layer = layer
        self.squash = squash

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.squash:
            x = torch.sigmoid(x)
        return self.layer(x, x.detach() * 0.5)


def both(module: Any) -> tuple[Any, Any]:
    """The module as PyTorch loads it and as we do."""
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    return torch.jit.load(io.BytesIO(buffer.getvalue())), jit.load(io.BytesIO(buffer.getvalue()), backend=torch)


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, torch.Tensor):
        return (
            isinstance(ours, torch.Tensor)
            and ours.dtype == theirs.dtype
            and ours.shape == theirs.shape
            and ours.requires_grad == theirs.requires_grad
            and (ours.grad_fn is None) == (theirs.grad_fn is None)
            and torch.allclose(ours, theirs, rtol=1e-5, atol=1e-6, equal_nan=True)
        )
    if isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return bool(ours == theirs)


@pytest.mark.parametrize("how", ["script", "trace"])
@pytest.mark.parametrize("name", LAYERS)
def test_layer(name: str, how: str) -> None:
    make, size = LAYERS[name]
    torch.manual_seed(0)
    x = torch.randn(size)
    module = make().eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = torch.jit.script(module) if how == "script" else torch.jit.trace(module, x, check_trace=False)
    theirs, ours = both(made)
    expected, actual = theirs(x.clone()), ours(x.clone())
    assert same(actual, expected)
    if how == "script" and "Dropout" not in name and "Transformer" not in name:
        theirs.train()
        ours.train()
        assert same(ours(x.clone()), theirs(x.clone()))
        assert same(list(ours.state_dict().values()), list(theirs.state_dict().values()))


def test_gradients_reach_the_parameters() -> None:
    theirs, ours = both(torch.jit.script(LAYERS["BatchNorm1d"][0]()))
    for module in (theirs, ours):
        module(torch.arange(12.0).reshape(4, 3)).pow(2).sum().backward()
    for ours_parameter, theirs_parameter in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(ours_parameter.grad, theirs_parameter.grad)


@pytest.mark.parametrize("guard", ["no_grad", "inference_mode", "enable_grad"])
def test_a_guard_at_loading_applies_to_the_parameters(guard: str) -> None:
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(nn.BatchNorm1d(2)), buffer)
    with getattr(torch, guard)():
        buffer.seek(0)
        theirs = torch.jit.load(buffer)
        buffer.seek(0)
        ours = jit.load(buffer, backend=torch)
        inside = (ours(torch.ones(2, 2)).is_inference(), theirs(torch.ones(2, 2)).is_inference())
        assert inside[0] == inside[1]
    for mine, other in zip(ours.state_dict(), theirs.state_dict(), strict=True):
        assert mine == other
    tensors = [*zip(ours.parameters(), theirs.parameters(), strict=True)]
    tensors += zip(ours.buffers(), theirs.buffers(), strict=True)
    for mine, other in tensors:
        for flag in ("is_inference", "_is_view"):
            assert getattr(mine, flag)() == getattr(other, flag)()
        for flag in ("requires_grad", "is_leaf", "__class__"):
            assert getattr(mine, flag) == getattr(other, flag)


def test_a_random_op_draws_as_pytorch_does() -> None:
    theirs, ours = both(torch.jit.script(nn.Sequential(nn.Dropout(0.3), nn.Dropout(0.5))))
    torch.manual_seed(3)
    expected = theirs(torch.ones(50))
    torch.manual_seed(3)
    assert torch.equal(ours(torch.ones(50)), expected)


def test_the_text_of_code_and_repr() -> None:
    theirs, ours = both(torch.jit.script(nn.Sequential(nn.Linear(2, 2), nn.ReLU())))
    assert repr(ours) == repr(theirs)
    assert getattr(ours, "0").code == getattr(theirs, "0").code
    assert str(ours.get_method("forward").schema) == str(theirs.forward.schema)


def test_the_text_of_an_error() -> None:
    """Type and text of an op's error, up to the part on the original source."""
    theirs, ours = both(torch.jit.script(nn.Sequential(nn.Linear(2, 2))))
    texts = []
    for module in (theirs, ours):
        with pytest.raises(RuntimeError) as caught:
            module(torch.ones(3, 3))
        lines = str(caught.value).splitlines()
        texts.append([line for line in lines if line.startswith(("The following", "  File", "RuntimeError"))])
    theirs_lines = [line for line in texts[0] if "site-packages" not in line]
    assert texts[1] == theirs_lines


@pytest.mark.parametrize("kind", ["float", "double", "int", "bool", "whole", "big", "small", "mixed", "not finite"])
def test_tensors_print_as_in_cpp(kind: str) -> None:
    from guardfix.runtime_shim.jit.script_printing import to_text

    @torch.jit.script
    def text(x: torch.Tensor) -> str:
        return str(x)

    torch.manual_seed(len(kind))
    for size in ([], [0], [1], [7], [2, 3], [3, 30], [12, 1], [2, 2, 2], [1, 3, 2, 12], [2, 0, 3]):
        x = torch.randn(size)
        made = {
            "float": x,
            "double": x.double() * 3,
            "int": (x * 1e4).long(),
            "bool": x > 0,
            "whole": (x * 5).round(),
            "big": x * 1e8,
            "small": x * 1e-6,
            "mixed": x * 10 ** (torch.randn(size) * 4),
            "not finite": torch.where(x > 0, x, torch.tensor(float("inf"))),
        }[kind]
        assert to_text(made) == text(made)


def test_every_op_of_the_table_is_one_of_pytorch() -> None:
    """The table names no op that PyTorch's schemas have not, and torch has the Python function for each."""
    table = OpTable(torch, "torch")
    schemas = {schema.name for schema in torch._C._jit_get_all_schemas()}
    known = {name.removeprefix("aten::").replace("prim::", "prim.") for name in schemas}
    unknown = []
    for spelled in table.names:
        name = spelled.removeprefix("torch.").removeprefix("ops.")
        try:
            table.find(spelled)
        except UnknownOp as error:
            unknown.append(f"{spelled}: {error}")
        if name not in known and name not in VALUE_OPS and not name.startswith(("prim.", "profiler.")):
            unknown.append(f"{spelled} has no schema")
    assert not unknown, "\n".join(unknown)
