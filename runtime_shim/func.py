"""`torch.func`: a module called with other tensors in place of its parameters and buffers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: dict[str, Any] | Sequence[dict[str, Any]],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with these tensors by their dotted names; afterwards it has its own again.

    With `tie_weights` a tensor that the module has under several names is replaced under all of them. RuntimeError
    with `strict` when names are missing or unknown; ValueError when one name, or one tensor, is given several.
    """
    from .nn.utils.stateless import _functional_call

    given = _joined(parameter_and_buffer_dicts)
    return _functional_call(
        module, given, args, None if kwargs is None else dict(kwargs), tie_weights=tie_weights, strict=strict
    )


def _joined(dicts: Any) -> dict[str, Any]:
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    if not all(isinstance(one, dict) for one in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    counts = Counter(name for one in dicts for name in one)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise ValueError(f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: tensor for one in dicts for name, tensor in one.items()}


def __getattr__(name: str) -> Any:
    from .core.supported_names import missing_attribute

    raise missing_attribute("torch.func", name)
