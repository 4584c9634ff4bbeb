"""`torch.nn._reduction`: what a loss does with its elements, as a number."""

from __future__ import annotations

import warnings

from .loss_functions import _reduction


def get_enum(reduction: str) -> int:
    """0, 1 or 2 for `none`, `mean`, `sum`. ValueError for another word."""
    return _reduction(reduction)


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The word for what the two old arguments say."""
    size_average, reduce = size_average is not False, reduce is not False
    found = "none" if not reduce else "mean" if size_average else "sum"
    if emit_warning:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{found}' instead.", stacklevel=2
        )
    return found
