"""The one device there is, and the layout and memory formats that programs may name."""

from __future__ import annotations

from typing import Any

_KNOWN = (
    *("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla"),
    *("lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone"),
)


def known(name: str) -> None:
    """RuntimeError unless PyTorch has devices of that type."""
    if name not in _KNOWN:
        raise RuntimeError(f"Expected one of {', '.join(_KNOWN)} device type at start of device string: {name}")


class device:
    """`torch.device("cpu")`. Others are refused with NotImplementedError."""

    __slots__ = ("index", "type")

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        name: str = getattr(type, "type", None) or str(type).split(":")[0]
        known(name)
        if name != "cpu":
            raise NotImplementedError(f"the shim has no device {type!r}; supported: cpu")
        self.type = name
        self.index = index

    def __repr__(self) -> str:
        return "device(type='cpu')"

    def __str__(self) -> str:
        return "cpu"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device)

    def __hash__(self) -> int:
        return hash("cpu")


CPU = device("cpu")


class layout:
    """How elements lie in memory: `torch.strided`, or `torch._mkldnn`, which oneDNN's own ops alone can read."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


strided = layout("strided")
mkldnn = layout("_mkldnn")


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


def check_device(wanted: Any) -> None:
    """NotImplementedError unless `wanted` is None or the CPU."""
    if wanted is not None and not isinstance(wanted, device):
        device(wanted)
