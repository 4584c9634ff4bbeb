"""`torch.fft`: discrete Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .aten import FUNCTIONS, Tensor
from .aten.networks.unfolding import constant_pad_nd
from .aten.spectral import BY_N, BY_ROOT_N, NONE, c2c, c2r, r2c
from .core import dtypes
from .core.dtypes import wrap_dim
from .core.supported_names import refuses_missing

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "ifft", "ifft2", "ifftn", "ifftshift", "irfft",
    "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip


def _normalization(norm: str | None, forward: bool) -> int:
    if norm not in (None, "backward", "ortho", "forward"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    if norm == "ortho":
        return BY_ROOT_N
    return BY_N if (norm == "forward") == forward else NONE


def _promoted(t: Tensor, *, complex_: bool = False) -> Tensor:
    """Of the type that transforms compute in."""
    kind = t.dtype
    if kind in (dtypes.float16, dtypes.bfloat16):
        raise RuntimeError(f"Unsupported dtype {kind.scalar_name}")
    if not kind.is_inexact:
        kind = dtypes.get_default_dtype()
    if complex_ and not kind.is_complex:
        kind = kind.to_complex()
    found: Tensor = t.to(kind)
    return found


def _resized(t: Tensor, dim: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """Zero-padded at the end, or cut, to these sizes along these dimensions."""
    for d, size in zip(dim, sizes, strict=True):
        if size < 1:
            raise RuntimeError(f"Invalid number of data points ({size}) specified")
        given = t._array.shape[d]
        if given < size:
            padding = [0, 0] * (t._array.ndim - 1 - d) + [0, size - given]
            t = constant_pad_nd(t, padding)
        elif given > size:
            t = t.narrow(d, 0, size)
    return t


def _one(t: Tensor, dim: int) -> int:
    if t._array.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, t._array.ndim)


def _several(t: Tensor, s: Sequence[int] | None, dim: Any) -> tuple[list[int], list[int]]:
    """The dimensions, and the sizes along them; -1 in `s` keeps a size."""
    ndim = t._array.ndim
    if dim is None:
        given: Sequence[int] = range(ndim) if s is None else range(ndim - len(s), ndim)
        if s is not None and len(s) > ndim:
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {ndim} dimensions.")
    else:
        given = (dim,) if isinstance(dim, int) else dim
    dims = [wrap_dim(d, ndim) for d in given]
    if len(set(dims)) < len(dims):
        raise RuntimeError("FFT dims must be unique")
    if s is not None and len(s) != len(dims):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    wanted = [-1] * len(dims) if s is None else s
    return dims, [t._array.shape[d] if n == -1 else n for d, n in zip(dims, wanted, strict=True)]


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    return _along(input, n, dim, norm, True)


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    return _along(input, n, dim, norm, False)


def _along(input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    d = _one(input, dim)
    size = input._array.shape[d] if n is None else n
    kind = _normalization(norm, forward)
    t = _promoted(input)
    t = _resized(t, [d], [size])
    if t.is_complex():
        return c2c(t, [d], kind, forward)
    found: Tensor = r2c(t, [d], kind, False)
    return found if forward else found.conj()


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The half of the spectrum that a real input has."""
    return rfftn(input, None if n is None else (n,), (_one(input, dim),), norm)


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The real signal of `n` elements, by default of an even number, that has this half of a spectrum."""
    return irfftn(input, None if n is None else (n,), (_one(input, dim),), norm)


def fftn(input: Tensor, s: Sequence[int] | None = None, dim: object = None, norm: str | None = None) -> Tensor:
    return _over(input, s, dim, norm, True)


def ifftn(input: Tensor, s: Sequence[int] | None = None, dim: object = None, norm: str | None = None) -> Tensor:
    return _over(input, s, dim, norm, False)


def _over(input: Tensor, s: Sequence[int] | None, dim: object, norm: str | None, forward: bool) -> Tensor:
    dims, sizes = _several(input, s, dim)
    t = _resized(_promoted(input, complex_=True), dims, sizes)
    return c2c(t, dims, _normalization(norm, forward), forward)


def rfftn(input: Tensor, s: Sequence[int] | None = None, dim: object = None, norm: str | None = None) -> Tensor:
    if input.is_complex():
        raise RuntimeError(f"rfft expects a real input tensor, but got {input.dtype.scalar_name}")
    dims, sizes = _several(input, s, dim)
    t = _resized(_promoted(input), dims, sizes)
    return r2c(t, dims, _normalization(norm, True), True)


def irfftn(input: Tensor, s: Sequence[int] | None = None, dim: object = None, norm: str | None = None) -> Tensor:
    dims, sizes = _several(input, s, dim)
    if s is None:
        sizes[-1] = 2 * (sizes[-1] - 1)
    if sizes[-1] < 1:
        raise RuntimeError(f"Invalid number of data points ({sizes[-1]}) specified")
    half = [*sizes[:-1], sizes[-1] // 2 + 1]
    t = _resized(_promoted(input, complex_=True), dims, half)
    return c2r(t, dims, _normalization(norm, False), sizes[-1])


def fft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    return fftn(input, s, dim, norm)


def ifft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    return ifftn(input, s, dim, norm)


def rfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    return rfftn(input, s, dim, norm)


def irfft2(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
    return irfftn(input, s, dim, norm)


def fftfreq(n: int, d: float = 1.0, **options: object) -> Tensor:
    """The frequencies of the elements of a spectrum of `n`, `d` being the time between two elements of the signal."""
    found = FUNCTIONS["arange"](n, **_floating(options))
    negative = found._array[n // 2 + n % 2 :]
    np.copyto(negative, np.arange(-(n // 2), 0))
    return found * (1.0 / (n * d))


def rfftfreq(n: int, d: float = 1.0, **options: object) -> Tensor:
    """The same for half of a spectrum."""
    return FUNCTIONS["arange"](n // 2 + 1, **_floating(options)) * (1.0 / (n * d))


def _floating(options: dict[str, object]) -> dict[str, object]:
    return {"dtype": dtypes.get_default_dtype()} | {k: v for k, v in options.items() if v is not None}


def fftshift(input: Tensor, dim: object = None) -> Tensor:
    """The frequency zero in the middle."""
    return _shifted(input, dim, lambda n: n // 2)


def ifftshift(input: Tensor, dim: object = None) -> Tensor:
    return _shifted(input, dim, lambda n: math.ceil(n / 2))


def _shifted(input: Tensor, dim: Any, by: Any) -> Tensor:
    dims = range(input._array.ndim) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    found: Tensor = input.roll([by(input._array.shape[d]) for d in dims], list(dims))
    return found


__getattr__ = refuses_missing("torch.fft")
