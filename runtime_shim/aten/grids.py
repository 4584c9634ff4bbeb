"""Grids of several axes: meshgrid, cartesian_prod."""

from __future__ import annotations

from typing import Any

from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..dispatch.registration import composite


def _axes(tensors: tuple[Any, ...], name: str) -> list[Tensor]:
    """The tensors, given one by one or as one sequence."""
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tuple(tensors[0])
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return list(tensors)


@composite("meshgrid", method=False)
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Each axis expanded over the grid of all, as views: the first axis first ("ij"), or the second ("xy")."""
    axes = _axes(tensors, "meshgrid")
    for axis in axes:
        if axis._array.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {axis}")
        if axis._array.dtype != axes[0]._array.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swapped = indexing == "xy" and len(axes) > 1
    if swapped:
        axes[0], axes[1] = axes[1], axes[0]
    shape = [axis._array.size for axis in axes]
    grids = [
        axis.view([-1 if i == place else 1 for i in range(len(axes))]).expand(shape) for place, axis in enumerate(axes)
    ]
    if swapped:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


@composite("cartesian_prod", method=False)
def cartesian_prod(*tensors: Any) -> Tensor:
    """The points of the grid, one a row; of one axis alone, the axis."""
    axes = _axes(tensors, "meshgrid")
    for axis in axes:
        if axis.dim() != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape [{', '.join(map(str, axis.shape))}]")
    if len(axes) == 1:
        return axes[0]
    found: Tensor = FUNCTIONS["stack"]([grid.flatten() for grid in meshgrid(*axes, indexing="ij")], 1)
    return found
