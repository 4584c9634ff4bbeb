"""`torch.__future__`: how modules convert their parameters."""

from __future__ import annotations

_overwrite = False
_swap = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether `module.to(…)` puts new parameters in the place of the old ones."""
    global _overwrite
    _overwrite = value


def get_overwrite_module_params_on_conversion() -> bool:
    return _overwrite


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Whether `module.to(…)` and `load_state_dict` swap parameters with new ones instead of writing to them."""
    global _swap
    _swap = value


def get_swap_module_params_on_conversion() -> bool:
    return _swap
