"""`torch._foreach_add`, …: an op on each tensor of a list, as optimizers call it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .aten import FUNCTIONS, Tensor

_BY_METHOD = {"maximum": "clamp_min", "minimum": "clamp_max", "maximum_": "clamp_min_", "minimum_": "clamp_max_"}
"""Where the second operand may be a number."""
_OTHER = {"scalar": "other", "scalars": "other", "tensors1": "end", "weights": "weight"}


def for_each(name: str) -> Callable[..., list[Tensor]] | None:
    """The function `_foreach_…`; None if tensors have no such method."""
    op = name.removeprefix("_foreach_")
    apply: Any = FUNCTIONS["linalg_vector_norm"] if op == "norm" else vars(Tensor).get(_BY_METHOD.get(op, op))
    if not callable(apply):
        return None

    def each(self: Sequence[Tensor], *args: Any, **kwargs: Any) -> list[Tensor]:
        if op.startswith("addc"):  # the factor, which the op takes by its name only
            kwargs = {key if key != "scalars" else "value": value for key, value in kwargs.items()}
            kwargs |= zip(("value",), args[2:], strict=False)
            args = args[:2]

        def of(value: Any, number: int) -> Any:
            return value[number] if isinstance(value, list | tuple) else value

        return [
            apply(
                tensor, *(of(one, n) for one in args), **{_OTHER.get(key, key): of(v, n) for key, v in kwargs.items()}
            )
            for n, tensor in enumerate(self)
        ]

    each.__name__ = each.__qualname__ = name
    return each
