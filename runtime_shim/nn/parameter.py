"""Parameter and Buffer."""

from __future__ import annotations

from typing import Any

from ..aten import FUNCTIONS
from ..aten.copies import REBUILT_BY, rebuild
from ..core.tensor import Tensor, disabled_torch_function, of_class, set_requires_grad


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    """Parameters of a subclass of Tensor are of that class, and are parameters all the same."""

    def __instancecheck__(cls, instance: object) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that a Module registers when it is assigned; shares the memory of `data`."""

    __slots__ = ()
    __torch_function__ = disabled_torch_function

    def __new__(cls, data: object = None, requires_grad: bool = True) -> Any:
        if data is not None and type(data) is not Tensor and type(data) is not Parameter:
            return _of_its_class(data, requires_grad)
        made = FUNCTIONS["empty"](0) if data is None else data.detach()
        made = of_class(made, cls)
        set_requires_grad(made, requires_grad)
        return made

    def __init__(self, *args: object, **kwargs: object) -> None:
        """`__new__` has read them; that of a subclass may take others."""

    def __deepcopy__(self, memo: dict[int, object]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]


def _of_its_class(data: Any, requires_grad: bool) -> Any:
    """A parameter of a subclass of Tensor."""
    made = data.detach().requires_grad_(requires_grad)
    if type(made) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an "
            f"instance of the same type, but return type {type(made).__name__} was found instead. To use the type as "
            "a Parameter, please correct the detach() semantics defined by its __torch_dispatch__() implementation."
        )
    made._is_param = True
    return made


Parameter.__module__ = "torch.nn.parameter"


class Buffer(Tensor):
    """A tensor that a Module registers as a buffer when it is assigned."""

    __slots__ = ()
    __torch_function__ = disabled_torch_function

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        made = FUNCTIONS["empty"](0) if data is None else data.detach()
        made = of_class(made, cls)
        made.persistent = persistent
        return made

    def __init__(self, data: object = None, *, persistent: bool = True) -> None:
        pass


def is_lazy(param: object) -> bool:
    """Whether a parameter has no shape yet, as those of lazy layers, of which the shim has none."""
    return False


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
