"""Random numbers: numpy's, seeded by manual_seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes
from ..core.device import check_device
from ..core.tensor import Tensor
from ..dispatch.op_description import RESIZED
from ..dispatch.registration import composite
from .creation import checked_shape, finish, numpy_dtype

_generator: np.random.Generator | None = None


def generator() -> np.random.Generator:
    """The generator behind rand, randn and the like; its numbers are not PyTorch's."""
    global _generator
    if _generator is None:
        _generator = np.random.default_rng()
    return _generator


class Generator:
    """`torch.Generator`: what random ops draw from. There is one stream of numbers, not PyTorch's."""

    def __init__(self, device: Any = None) -> None:
        check_device(device)
        self.seed_value = 0

    def manual_seed(self, seed: int) -> Generator:
        """Make what follows reproducible; the numbers differ from PyTorch's for the same seed."""
        global _generator
        if not isinstance(seed, int):
            raise TypeError(f"manual_seed(): argument 'seed' must be int, not {type(seed).__name__}")
        self.seed_value = seed & 0xFFFFFFFFFFFFFFFF
        _generator = np.random.default_rng(self.seed_value)
        return self

    def initial_seed(self) -> int:
        return self.seed_value


default_generator = Generator()


@composite("manual_seed", method=False)
def manual_seed(seed: int) -> Generator:
    """Make what follows reproducible; the numbers differ from PyTorch's for the same seed."""
    return default_generator.manual_seed(seed)


@composite("initial_seed", method=False)
def initial_seed() -> int:
    """The seed last given to manual_seed."""
    return default_generator.initial_seed()


def _random(name: str, draw: Any, refusal: str) -> None:
    def create(
        *size: Any,
        dtype: dtypes.dtype | None = None,
        requires_grad: bool = False,
        device: Any = None,
        generator: Any = None,
        layout: Any = None,
    ) -> Tensor:
        check_device(device)
        target = numpy_dtype(dtype)
        if target.kind not in "fc":
            raise NotImplementedError(f"\"{refusal}\" not implemented for '{dtypes.BY_CHAR[target.char].scalar_name}'")
        return finish(draw(checked_shape(size)).astype(target), requires_grad)

    def like(
        input: Tensor, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False, device: Any = None
    ) -> Tensor:
        return finish(
            np.asarray(draw(input._array.shape)).astype(numpy_dtype(dtype, input._array.dtype)),
            requires_grad,
        )

    composite(name, method=False, out=RESIZED, out_title=f"aten::{name}")(create)
    composite(f"{name}_like", method=False)(like)


_random("rand", lambda shape: np.asarray(generator().random(shape)), "check_uniform_bounds")
_random("randn", lambda shape: np.asarray(generator().standard_normal(shape)), "normal_kernel_cpu")


@composite("randint", method=False, out=RESIZED, out_title="aten::randint")
def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    device: Any = None,
) -> Tensor:
    if size is None:
        low, high, size = 0, low, high
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    return finish(
        generator().integers(low, high, checked_shape((size,))).astype(numpy_dtype(dtype or dtypes.int64)),
        requires_grad,
    )


@composite("randperm", method=False, out=RESIZED, out_title="aten::randperm")
def randperm(n: int, *, dtype: dtypes.dtype | None = None, device: Any = None) -> Tensor:
    return finish(generator().permutation(n).astype(numpy_dtype(dtype or dtypes.int64)))
