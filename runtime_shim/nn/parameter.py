"""Parameter and Buffer."""

from __future__ import annotations

from typing import Any

from ..aten import FUNCTIONS
from ..aten.pickling import REBUILT_BY, rebuild
from ..core.tensor import Tensor, of_class, set_requires_grad


class Parameter(Tensor):
    """A tensor that a Module registers when it is assigned; shares the memory of `data`."""

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        made = FUNCTIONS["empty"](0) if data is None else data.detach()
        made = of_class(made, cls)
        if requires_grad and made._array.dtype.kind not in "fcV":
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        set_requires_grad(made, requires_grad)
        return made

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        pass

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]


Parameter.__module__ = "torch.nn.parameter"


class Buffer(Tensor):
    """A tensor that a Module registers as a buffer when it is assigned."""

    __slots__ = ()

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        made = FUNCTIONS["empty"](0) if data is None else data.detach()
        made = of_class(made, cls)
        made.persistent = persistent
        return made

    def __init__(self, data: Any = None, *, persistent: bool = True) -> None:
        pass


def rebuild_parameter(*parts: Any) -> Tensor:
    """The parameter that pickle took apart."""
    made = rebuild(*parts)
    made.__class__ = Parameter
    return made


def rebuild_buffer(*parts: Any) -> Tensor:
    """The buffer that pickle took apart."""
    made = rebuild(*parts)
    made.__class__ = Buffer
    return made


REBUILT_BY[Parameter] = rebuild_parameter
REBUILT_BY[Buffer] = rebuild_buffer
