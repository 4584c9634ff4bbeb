"""Stands in for torch.testing._internal.common_dtype: groups of dtypes, by what tests call them."""

from __future__ import annotations

from typing import Any

import torch

FLOATING = (torch.float32, torch.float64)
HALVES = (torch.float16, torch.bfloat16)
COMPLEX = (torch.complex64, torch.complex128)
INTEGRAL = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


class Group(tuple[Any, ...]):
    def __add__(self, other: Any) -> Group:
        return Group((*self, *other))


def _group(*dtypes: Any) -> Any:
    return lambda: Group(dtypes)


def _group_and(*dtypes: Any) -> Any:
    return lambda *more: Group(dict.fromkeys((*dtypes, *more)))


empty_types = _group()
floating_types = _group(*FLOATING)
floating_types_and = _group_and(*FLOATING)
floating_types_and_half = _group(*FLOATING, torch.float16)
double_types = _group(torch.float64, torch.complex128)
complex_types = _group(*COMPLEX)
complex_types_and = _group_and(*COMPLEX)
integral_types = _group(*INTEGRAL)
integral_types_and = _group_and(*INTEGRAL)
floating_and_complex_types = _group(*FLOATING, *COMPLEX)
floating_and_complex_types_and = _group_and(*FLOATING, *COMPLEX)
all_types = _group(*FLOATING, *INTEGRAL)
all_types_and = _group_and(*FLOATING, *INTEGRAL)
all_types_and_half = _group(*FLOATING, *INTEGRAL, torch.float16)
all_types_and_complex = _group(*FLOATING, *INTEGRAL, *COMPLEX)
all_types_and_complex_and = _group_and(*FLOATING, *INTEGRAL, *COMPLEX)
all_types_complex_float8_and = _group_and(
    *FLOATING,
    *INTEGRAL,
    *COMPLEX,
    *(getattr(torch, f"float8_{name}") for name in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz")),
)
custom_types = _group_and()
float_to_corresponding_complex_type_map = {
    torch.float32: torch.complex64,
    torch.float64: torch.complex128,
}


def get_all_int_dtypes() -> list[Any]:
    return list(INTEGRAL)


def get_all_complex_dtypes(include_complex32: bool = False) -> list[Any]:
    return list(COMPLEX)


def get_all_fp_dtypes(include_half: bool = True, include_bfloat16: bool = True) -> list[Any]:
    halves = [d for d, wanted in zip(HALVES, (include_half, include_bfloat16), strict=True) if wanted]
    return [*FLOATING, *halves]


def get_all_dtypes(
    include_half: bool = True,
    include_bfloat16: bool = True,
    include_bool: bool = True,
    include_complex: bool = True,
    include_complex32: bool = False,
    include_qint: bool = False,
) -> list[Any]:
    found = get_all_int_dtypes() + get_all_fp_dtypes(include_half, include_bfloat16)
    return found + [torch.bool] * include_bool + get_all_complex_dtypes() * include_complex


def get_all_math_dtypes(device: Any) -> list[Any]:
    return get_all_int_dtypes() + get_all_fp_dtypes(False, False) + get_all_complex_dtypes()
