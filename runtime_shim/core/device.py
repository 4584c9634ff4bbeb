"""The one device there is, and the layout and memory formats that programs may name."""

from __future__ import annotations

from typing import Any

_KNOWN = (
    *("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla"),
    *("lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone"),
)


def is_known(name: object) -> bool:
    """Whether PyTorch has devices of that type."""
    return name in _KNOWN


def known(name: str) -> None:
    """RuntimeError unless PyTorch has devices of that type."""
    if not is_known(name):
        raise RuntimeError(f"Expected one of {', '.join(_KNOWN)} device type at start of device string: {name}")


class device:
    """`torch.device("cuda:0")`: a value. Tensors are on the CPU alone (see `check_device`)."""

    __slots__ = ("index", "type")
    index: int | None
    type: str

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        name, colon, number = str(type).partition(":")
        known(name)
        if colon:
            if index is not None:
                raise RuntimeError(
                    f"type (string) must not include an index because index was passed explicitly: {type}"
                )
            if not number.isdecimal() or (number != "0" and number.startswith("0")):
                raise RuntimeError(f"Invalid device string: '{type}'")
            index = int(number)
        self.type = name
        self.index = index

    def __repr__(self) -> str:
        return f"device(type='{self.type}'{'' if self.index is None else f', index={self.index}'})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __enter__(self) -> device:
        check_device(self)
        return self

    def __exit__(self, *_: object) -> None:
        pass


CPU = device("cpu")


class layout:
    """How elements lie in memory: `torch.strided` for every tensor of the shim."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


strided = layout("strided")


class memory_format(str):
    """`torch.contiguous_format`, `torch.preserve_format`, `torch.channels_last` or `torch.channels_last_3d`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.{str.__str__(self)}{'' if self.startswith('channels') else '_format'}"

    __str__ = __repr__


contiguous_format = memory_format("contiguous")
preserve_format = memory_format("preserve")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


def check_device(wanted: object) -> None:
    """NotImplementedError unless `wanted` is None or the CPU."""
    if wanted is None or wanted is CPU:
        return
    if device(wanted).type != "cpu":
        raise NotImplementedError(f"the shim has no device '{wanted}'; supported: cpu")
