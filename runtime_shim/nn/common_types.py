"""`torch.nn.common_types`: what layers take for a size."""

from __future__ import annotations

from ..core.tensor import Tensor


def _one_or_each(kind: object, count: int) -> object:
    return kind | tuple[(kind,) * count]  # type: ignore[misc]


_size_any_t = int | tuple[int, ...]
_size_1_t, _size_2_t, _size_3_t, _size_4_t, _size_5_t, _size_6_t = (_one_or_each(int, count) for count in range(1, 7))
_size_any_opt_t = int | None | tuple[int | None, ...]
_size_2_opt_t, _size_3_opt_t = (_one_or_each(int | None, count) for count in (2, 3))
_ratio_any_t = float | tuple[float, ...]
_ratio_2_t, _ratio_3_t = (_one_or_each(float, count) for count in (2, 3))
_maybe_indices_t = Tensor | tuple[Tensor, Tensor]
