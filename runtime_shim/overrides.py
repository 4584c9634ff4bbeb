"""`torch.overrides`: whether arguments have a `__torch_function__` of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .core.tensor import Tensor, disabled_torch_function


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether a function has to ask one of its arguments."""
    return any(_has_its_own(type(argument)) for argument in relevant_args)


def _has_its_own(kind: type) -> bool:
    found = getattr(kind, "__torch_function__", disabled_torch_function)
    return found is not disabled_torch_function and getattr(found, "__func__", found) is not _OF_TENSORS


_OF_TENSORS = vars(Tensor)["__torch_function__"].__func__


def has_torch_function_unary(argument: Any) -> bool:
    return has_torch_function((argument,))


def has_torch_function_variadic(*arguments: Any) -> bool:
    return has_torch_function(arguments)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """What the first of the arguments that is asked makes of a call. TypeError when none makes anything of it."""
    asked = [argument for argument in relevant_args if has_torch_function((argument,))]
    types = tuple(dict.fromkeys(type(argument) for argument in asked))
    for argument in asked:
        found = type(argument).__torch_function__(public_api, types, args, kwargs)
        if found is not NotImplemented:
            return found
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(
        f"no implementation found for '{name}' on types that implement __torch_function__: "
        f"{[type(argument) for argument in asked]}"
    )


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor, or has a `__torch_function__`."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def __getattr__(name: str) -> Any:
    from .core.supported_names import missing_attribute

    raise missing_attribute("torch.overrides", name)
