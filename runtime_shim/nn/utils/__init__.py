"""`torch.nn.utils`: gradients of many parameters at once, packed sequences, weights made of other weights."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from ..gradient_utils import (
    clip_grad_norm_,
    clip_grad_value_,
    consume_prefix_in_state_dict_if_present,
    get_total_norm,
    parameters_to_vector,
    vector_to_parameters,
)

#: Functions that are imported when they are asked for, by module.
_LATE = dict.fromkeys(
    ("remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"), "weight_normalization"
)


def clip_grad_norm(
    parameters: object, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> object:  # fmt: skip
    """The old name of `clip_grad_norm_`; warns."""
    import warnings

    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def _submodule(name: str, *functions: Any) -> ModuleType:
    """The module of torch.nn.utils in which PyTorch has these functions."""
    made = ModuleType(f"torch.nn.utils.{name}")
    made.__dict__.update({function.__name__: function for function in functions})
    return made


def __getattr__(name: str) -> Any:
    if name in ("parametrize", "parametrizations", "stateless"):
        return importlib.import_module(f"{__name__}.{name}")
    if name == "rnn":
        return importlib.import_module(f"{__name__}.packed_sequences")
    if name in ("clip_grad", "convert_parameters"):
        functions = (
            (clip_grad_norm, clip_grad_norm_, clip_grad_value_, get_total_norm)
            if name == "clip_grad"
            else (parameters_to_vector, vector_to_parameters)
        )
        made = globals()[name] = _submodule(name, *functions)
        return made
    if name in _LATE:
        found = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_LATE[name]}"), name)
        return found
    from ...core.supported_names import missing

    return missing("torch.nn.utils", name)


__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "consume_prefix_in_state_dict_if_present",
    "get_total_norm",
    "parameters_to_vector",
    "vector_to_parameters",
]
