"""Random numbers: numpy's, seeded by manual_seed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.device import CPU, check_device
from ..core.memory_layout import laid_out, laid_out_like
from ..core.tensor import Tensor, new_tensor
from ..dispatch.op_description import RESIZED
from ..dispatch.registration import composite
from .creation import checked_shape, finish, numpy_dtype


class Generator:
    """`torch.Generator`: a stream of numbers of its own; not PyTorch's numbers for the same seed."""

    def __init__(self, device: Any = None) -> None:
        check_device(device)
        self.device = CPU
        self.seed_value = 67280421310721  # what a generator that isn't seeded says in PyTorch
        self._numbers: np.random.Generator | None = None

    @property
    def numbers(self) -> np.random.Generator:
        if self._numbers is None:
            self._numbers = np.random.default_rng(None if self is default_generator else self.seed_value)
        return self._numbers

    def manual_seed(self, seed: int) -> Generator:
        """Make what follows reproducible; the numbers differ from PyTorch's for the same seed."""
        if not isinstance(seed, int):
            raise TypeError(f"manual_seed(): argument 'seed' must be int, not {type(seed).__name__}")
        self.seed_value = seed & 0xFFFFFFFFFFFFFFFF
        self._numbers = np.random.default_rng(self.seed_value)
        return self

    def initial_seed(self) -> int:
        return self.seed_value

    def seed(self) -> int:
        """Seed with a number that nobody chose; returns it."""
        chosen = int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) >> 1
        self.manual_seed(chosen)
        return chosen

    def get_state(self) -> Tensor:
        """The state as a tensor of bytes, for `set_state`."""
        state = {**self.numbers.bit_generator.state, "seed_value": self.seed_value}
        return new_tensor(np.frombuffer(json.dumps(state).encode(), np.uint8).copy())

    def set_state(self, new_state: Tensor) -> Generator:
        """Go on as the generator did whose state that is. TypeError if it isn't a tensor of bytes."""
        if not isinstance(new_state, Tensor) or new_state._array.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        state = json.loads(new_state._array.tobytes())
        self.seed_value = state.pop("seed_value")
        self._numbers = np.random.default_rng()
        self._numbers.bit_generator.state = state
        return self


default_generator = Generator()


def generator(chosen: Generator | None = None) -> np.random.Generator:
    """The numbers that rand, randn and the like draw; they are not PyTorch's."""
    return (chosen or default_generator).numbers


@composite("manual_seed", method=False)
def manual_seed(seed: int) -> Generator:
    """Make what follows reproducible; the numbers differ from PyTorch's for the same seed."""
    return default_generator.manual_seed(int(seed))


@composite("seed", method=False)
def seed() -> int:
    """Seed with a number that nobody chose; returns it."""
    return default_generator.seed()


@composite("get_rng_state", method=False)
def get_rng_state() -> Tensor:
    """The state of the random numbers, as a tensor of bytes."""
    return default_generator.get_state()


@composite("set_rng_state", method=False)
def set_rng_state(new_state: Tensor) -> None:
    """Go on drawing from the state that `get_rng_state` gave."""
    default_generator.set_state(new_state)


@composite("initial_seed", method=False)
def initial_seed() -> int:
    """The seed last given to manual_seed."""
    return default_generator.initial_seed()


def _random(name: str, draw: Callable[[np.random.Generator, tuple[int, ...]], Any], refusal: str) -> None:
    def create(
        *shape: Any,
        size: Any = None,
        dtype: dtypes.dtype | None = None,
        requires_grad: bool = False,
        device: Any = None,
        generator: Any = None,
        layout: Any = None,
        pin_memory: bool = False,
    ) -> Tensor:
        check_device(device)
        target = numpy_dtype(dtype)
        if not dtypes.is_inexact(target):
            raise NotImplementedError(f"\"{refusal}\" not implemented for '{dtypes.BY_CHAR[target.char].scalar_name}'")
        return finish(_drawn(draw, checked_shape(shape if size is None else (size,)), target, generator), requires_grad)

    def like(
        input: Tensor,
        *,
        dtype: dtypes.dtype | None = None,
        requires_grad: bool = False,
        device: Any = None,
        layout: Any = None,
        memory_format: Any = None,
    ) -> Tensor:
        check_device(device)
        target = numpy_dtype(dtype, input._array.dtype)
        if not dtypes.is_inexact(target):
            raise NotImplementedError(f"\"{refusal}\" not implemented for '{dtypes.BY_CHAR[target.char].scalar_name}'")
        found = _drawn(draw, input._array.shape, target, None)
        if memory_format in (None, "preserve"):
            found = laid_out_like(found, input._array)
        else:
            found = laid_out(found, memory_format)
        return finish(found, requires_grad)

    composite(name, method=False, out=RESIZED, out_title=f"aten::{name}")(create)
    composite(f"{name}_like", method=False)(like)


def _drawn(draw: Any, shape: tuple[int, ...], target: np.dtype[Any], chosen: Generator | None) -> Any:
    numbers = generator(chosen)
    if target.kind != "c":
        return np.asarray(draw(numbers, shape)).astype(target)
    scale = math.sqrt(0.5) if draw is _normal else 1.0  # a complex normal number has variance 1
    return np.asarray((draw(numbers, shape) + 1j * draw(numbers, shape)) * scale).astype(target)


def _uniform(numbers: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return numbers.random(shape)


def _normal(numbers: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return numbers.standard_normal(shape)


_random("rand", _uniform, "check_uniform_bounds")
_random("randn", _normal, "normal_kernel_cpu")


def _integers(low: int, high: int, shape: tuple[int, ...], target: np.dtype[Any], chosen: Generator | None) -> Any:
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    return generator(chosen).integers(low, high, shape).astype(target)


@composite("randint", method=False, out=RESIZED, out_title="aten::randint")
def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    device: Any = None,
    generator: Any = None,
    layout: Any = None,
) -> Tensor:
    """Integers in `[low, high)`; with one bound, in `[0, low)`."""
    check_device(device)
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    found = _integers(int(low), int(high), checked_shape((size,)), numpy_dtype(dtype or dtypes.int64), generator)
    return finish(found, requires_grad)


@composite("randint_like", method=False)
def randint_like(
    input: Tensor,
    low: int = 0,
    high: int | None = None,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    device: Any = None,
    layout: Any = None,
    memory_format: Any = None,
) -> Tensor:
    """Integers in `[low, high)` in the shape and dtype of `input`; with one bound, in `[0, low)`."""
    if high is None:
        low, high = 0, low
    found = _integers(int(low), int(high), input._array.shape, numpy_dtype(dtype, input._array.dtype), None)
    return finish(found, requires_grad)


@composite("randperm", method=False, out=RESIZED, out_title="aten::randperm")
def randperm(
    n: int,
    *,
    dtype: dtypes.dtype | None = None,
    device: Any = None,
    generator: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """The integers from 0 to n - 1 in random order."""
    found = (generator or default_generator).numbers.permutation(n).astype(numpy_dtype(dtype or dtypes.int64))
    return finish(found, requires_grad)


@composite("normal", method=False)
def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None, **options: Any) -> Tensor:
    """Normally distributed numbers; mean and standard deviation are numbers (with a size) or tensors."""
    given = [t._array for t in (mean, std) if isinstance(t, Tensor)]
    if not given:
        target = numpy_dtype(options.pop("dtype", None))
        drawn = _drawn(_normal, checked_shape((size,)), target, generator)
        return finish(np.asarray(drawn * std + mean, target), options.pop("requires_grad", False))
    shape = np.broadcast_shapes(*(a.shape for a in given))
    values = [t._array if isinstance(t, Tensor) else t for t in (mean, std)]
    if np.any(np.asarray(values[1]) < 0):
        raise RuntimeError("normal expects all elements of std >= 0.0")
    drawn = _drawn(_normal, shape, given[0].dtype, generator)
    return finish(np.asarray(drawn * values[1] + values[0], given[0].dtype))


@composite("bernoulli", out=RESIZED)
def bernoulli(self: Tensor, p: float | None = None, *, generator: Any = None) -> Tensor:
    """1 with the probability that each element (or `p`) says, else 0."""
    array = self._array
    chances = array if p is None else np.full(array.shape, p)
    if np.any((chances < 0) | (chances > 1)):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    drawn = (generator or default_generator).numbers.random(array.shape) < chances
    return new_tensor(np.asarray(drawn).astype(array.dtype))
