"""What packages of layers and ops import from PyTorch beside its public names."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import guardfix.runtime_shim as torch

NAMES = """
_C _log_api_usage_once
_jit_internal BroadcastingList2 Optional _copy_to_script_wrapper _overload boolean_dispatch
_tensor Tensor
_utils _flatten_dense_tensors _unflatten_dense_tensors
amp custom_bwd custom_fwd
cuda.amp custom_bwd custom_fwd
autograd.profiler record_function
func functional_call
fx wrap
hub get_dir load_state_dict_from_url set_dir
nn._reduction get_enum
nn.attention SDPBackend sdpa_kernel
nn.common_types _ratio_2_t _size_1_t _size_2_opt_t _size_2_t _size_3_t _size_any_t
nn.functional _Reduction
nn.modules.batchnorm BatchNorm2d _BatchNorm _NormBase
nn.modules.conv Conv2d _ConvNd _ConvTransposeNd
nn.modules.dropout _DropoutNd
nn.modules.instancenorm _InstanceNorm
nn.modules.loss _Loss _WeightedLoss
nn.modules.utils _list_with_default _ntuple _pair _quadruple _reverse_repeat_tuple _single _triple
overrides handle_torch_function has_torch_function is_tensor_like
profiler record_function
storage TypedStorage UntypedStorage
utils.hooks RemovableHandle
"""


@pytest.mark.parametrize("line", NAMES.strip().splitlines(), ids=lambda line: line.split()[0])
def test_names(line: str) -> None:
    module, *names = line.split()
    found: Any = torch
    for part in module.split("."):
        found = getattr(found, part)
    assert [name for name in names if not hasattr(found, name)] == []


HOMES = {
    "_ConvNd": "conv",
    "_ConvTransposeNd": "conv",
    "_NormBase": "batchnorm",
    "_BatchNorm": "batchnorm",
    "_InstanceNorm": "instancenorm",
    "_DropoutNd": "dropout",
    "_Loss": "loss",
    "_WeightedLoss": "loss",
}


@pytest.mark.parametrize(
    ("layer", "bases", "others"),
    [
        (torch.nn.Conv2d(1, 1, 1), "_ConvNd", "_ConvTransposeNd _NormBase"),
        (torch.nn.ConvTranspose1d(1, 1, 1), "_ConvNd _ConvTransposeNd", "_BatchNorm"),
        (torch.nn.BatchNorm1d(1), "_BatchNorm _NormBase", "_InstanceNorm"),
        (torch.nn.InstanceNorm1d(1), "_InstanceNorm _NormBase", "_BatchNorm"),
        (torch.nn.Dropout(), "_DropoutNd", "_Loss"),
        (torch.nn.Dropout3d(), "_DropoutNd", "_Loss"),
        (torch.nn.MSELoss(), "_Loss", "_WeightedLoss"),
        (torch.nn.CrossEntropyLoss(), "_Loss _WeightedLoss", "_NormBase"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_layers_by_their_bases(layer: Any, bases: str, others: str) -> None:
    homes = importlib.import_module("guardfix.runtime_shim.nn.modules")
    assert all(isinstance(layer, getattr(getattr(homes, HOMES[name]), name)) for name in bases.split())
    assert not any(isinstance(layer, getattr(getattr(homes, HOMES[name]), name)) for name in others.split())


class Deformed(torch.nn.modules.conv._ConvNd):  # type: ignore[misc, name-defined]
    """A convolution of a package's own."""

    def __init__(self, padding: Any = (1, 1), mode: str = "zeros") -> None:
        super().__init__(2, 4, (3, 3), (1, 1), padding, (1, 1), False, (0, 0), 2, True, mode)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.conv2d(
            x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )


def test_a_convolution_of_ones_own() -> None:
    layer = Deformed()
    assert repr(layer) == "Deformed(2, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), groups=2)"
    assert (layer.weight.shape, layer.bias.shape) == ((4, 1, 3, 3), (4,))
    assert layer(torch.ones(1, 2, 5, 5)).shape == (1, 4, 5, 5)
    assert layer._reversed_padding_repeated_twice == (1, 1, 1, 1)
    with pytest.raises(ValueError, match="padding_mode must be one of"):
        Deformed(mode="none")


class Standardized(torch.nn.Conv2d):
    """A convolution whose weights are made at each call."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return self._conv_forward(input, self.weight * 0 + 1, None)


def test_a_convolution_with_other_weights() -> None:
    layer = Standardized(1, 1, 3, padding=1, padding_mode="replicate")
    assert layer(torch.ones(1, 1, 2, 2)).tolist() == [[[[9.0, 9.0], [9.0, 9.0]]]]


@pytest.mark.parametrize(
    ("name", "given", "made"),
    [
        ("_pair", 2, (2, 2)), ("_pair", [1, 2], (1, 2)), ("_single", 3, (3,)), ("_triple", (1,), (1,)), ("_quadruple", 0, (0,) * 4),
    ],
)  # fmt: skip
def test_one_or_each(name: str, given: Any, made: Any) -> None:
    assert getattr(torch.nn.modules.utils, name)(given) == made


class Square(torch.autograd.Function):
    @staticmethod
    @torch.cuda.amp.custom_fwd
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return 2 * ctx.saved_tensors[0] * grad


def test_functions_for_autocast() -> None:
    x = torch.tensor([3.0], requires_grad=True)
    Square.apply(x).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [6.0]
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        torch.amp.custom_fwd(device_type=1)


class Tied(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(1, 1, bias=False)
        self.second = torch.nn.Linear(1, 1, bias=False)
        self.second.weight = self.first.weight
        self.register_buffer("shift", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x)) + self.shift


@pytest.mark.parametrize(
    ("tensors", "options", "result"),
    [
        ({"first.weight": 2.0}, {}, 4.0),
        ({"first.weight": 2.0, "shift": 1.0}, {}, 5.0),
        ({"first.weight": 2.0}, {"tie_weights": False}, 6.0),
        ([{"first.weight": 2.0}, {"shift": 1.0}], {}, 5.0),
    ],
)
def test_functional_call(tensors: Any, options: dict[str, Any], result: float) -> None:
    module = Tied()
    with torch.no_grad():
        module.first.weight.fill_(3.0)
    before = module.first.weight
    given: Any = [
        {name: torch.tensor([[value]] if "weight" in name else [value]) for name, value in one.items()}
        for one in (tensors if isinstance(tensors, list) else [tensors])
    ]
    found = torch.func.functional_call(module, given if len(given) > 1 else given[0], torch.ones(1, 1), **options)
    assert found.tolist() == [[result]]
    assert module.first.weight is before is module.second.weight


@pytest.mark.parametrize(
    ("tensors", "error", "words"),
    [
        (
            {"third": 1},
            RuntimeError,
            r"for Tied:\n\tUnexpected key\(s\): 'third'.\n\tMissing key\(s\): 'first.weight', 'sec",
        ),
        ([{"shift": 1}, {"shift": 2}], ValueError, r"\['shift'\] appeared in multiple dictionaries"),
        ({"first.weight": 1, "second.weight": 2}, ValueError, "multiple values for keys"),
    ],
)
def test_functional_calls_that_are_refused(tensors: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        torch.func.functional_call(Tied(), tensors, torch.ones(1, 1), strict=True)


def test_nothing_is_downloaded(tmp_path: Any) -> None:
    with pytest.raises(NotImplementedError, match=r"downloads nothing: put net\.pth into"):
        torch.hub.load_state_dict_from_url("https://example.org/net.pth?x=1", str(tmp_path))
    torch.save({"w": torch.ones(1)}, tmp_path / "net.pth")
    assert torch.hub.load_state_dict_from_url("https://example.org/net.pth", str(tmp_path))["w"].tolist() == [1.0]


def test_named_blocks() -> None:
    @torch.profiler.record_function("double")
    def double(x: torch.Tensor) -> torch.Tensor:
        with torch.autograd.profiler.record_function("inner"):
            return x * 2

    assert double(torch.ones(1)).tolist() == [2.0]
