"""Random numbers, seeded by manual_seed: PyTorch's generator, and the factories that draw from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.device import CPU, check_device
from ..core.dtypes import Array, NumpyDtype
from ..core.function_table import FUNCTIONS
from ..core.memory_layout import blank_like, laid_out
from ..core.random_engine import RandomEngine
from ..core.tensor import Tensor, new_tensor
from ..dispatch.op_description import ANY_DTYPE, RESIZED
from ..dispatch.registration import composite, op
from .creation import check_like, checked_shape, factory, finish, numpy_dtype


def _zeros(grad: Tensor) -> Tensor:
    found: Tensor = FUNCTIONS["zeros_like"](grad)
    return found


def _no_derivative(grad: Tensor) -> Tensor:
    raise RuntimeError("derivative for aten::bernoulli is not implemented")


def _of_one(name: str, node: str, derivative: Any = _zeros) -> Any:
    """`found(tensor, array)`: the array as a result of an op on the tensor."""
    register = op(name, node=node, function=False, method=False, computes=ANY_DTYPE, self=derivative)
    return register(lambda self, drawn: drawn)


bernoulli_result = _of_one("bernoulli.by_element", "BernoulliBackward0")
bernoulli_p_result = _of_one("bernoulli.p", "NotImplemented", _no_derivative)
poisson_result = _of_one("poisson.drawn", "PoissonBackward0")
normal_mean_result = _of_one("normal.mean", "NormalBackward1")
normal_std_result = _of_one("normal.std", "NormalBackward2")
normal_result: Any = op(
    "normal.both", node="NormalBackward3", function=False, method=False, computes=ANY_DTYPE, self=_zeros, other=_zeros
)(lambda self, other, drawn: drawn)


_UNSEEDED = 67280421310721
"""The seed of a generator that has got none."""


class Generator:
    """`torch.Generator`: a stream of numbers of its own."""

    def __init__(self, device: object = None) -> None:
        check_device(device)
        self.device = CPU
        self._engine: RandomEngine | None = None

    @property
    def engine(self) -> RandomEngine:
        if self._engine is None:  # made when it is needed
            self._engine = RandomEngine(_chosen_seed() if self is default_generator else _UNSEEDED)
        return self._engine

    def manual_seed(self, seed: int) -> Generator:
        """Make what follows reproducible. RuntimeError if the seed is no integer, ValueError if it has over 64 bits."""
        if not isinstance(seed, int):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError("Overflow when unpacking long long")
        self._engine = RandomEngine(seed)
        return self

    def initial_seed(self) -> int:
        return self.engine.seed

    def seed(self) -> int:
        """Seed with a number that no one chose; returns it."""
        chosen = _chosen_seed()
        self.manual_seed(chosen)
        return chosen

    def get_state(self) -> Tensor:
        """The state as a tensor of bytes, for `set_state`."""
        return new_tensor(np.frombuffer(self.engine.state(), np.uint8).copy())

    def set_state(self, new_state: Tensor) -> Generator:
        """Go on as the generator did whose state that is.

        TypeError if it isn't a tensor of bytes, RuntimeError if those are no state.
        """
        if not isinstance(new_state, Tensor) or new_state._array.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        self._engine = RandomEngine.from_state(new_state._array.tobytes())
        return self

    def clone_state(self) -> Generator:
        """A generator that goes on as this one does."""
        return Generator().set_state(self.get_state())


def _chosen_seed() -> int:
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) >> 1


default_generator = Generator()
"""That of whoever names none: it starts with a seed that no one chose."""


def engine_of(chosen: Generator | None = None) -> RandomEngine:
    """What rand, randn and the like draw from."""
    chosen = default_generator if chosen is None else chosen
    if not isinstance(chosen, Generator):
        raise TypeError(f"argument 'generator' must be torch.Generator, not {type(chosen).__name__}")
    return chosen.engine


def drawn_seed(chosen: Generator | None = None) -> int:
    """A seed for another generator, as samplers and loaders draw it."""
    return int(engine_of(chosen).long_words(1)[0]) % (1 << 63)


@composite("manual_seed", method=False)
def manual_seed(seed: int) -> Generator:
    """Make what follows reproducible."""
    return default_generator.manual_seed(int(seed))


@composite("seed", method=False)
def seed() -> int:
    """Seed with a number that no one chose; returns it."""
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


def uniform_numbers(
    engine: RandomEngine,
    count: int,
    target: NumpyDtype,
    low: float = 0.0,
    high: float = 1.0,
    *,
    contiguous: bool = True,
) -> Array:
    """`count` numbers in [low, high), as `target`; complex ones are drawn as two."""
    if target.kind == "c":
        part = part_of(target)
        return uniform_numbers(engine, 2 * count, part, low, high).view(target)
    if target == np.float64:
        return engine.uniform(count) * (high - low) + low
    drawn = engine.uniform(count, np.float32) * np.float32(high - low) + np.float32(low)
    return drawn.astype(target, copy=False)


def normal_numbers(
    engine: RandomEngine,
    count: int,
    target: NumpyDtype,
    mean: float = 0.0,
    std: float = 1.0,
    *,
    contiguous: bool = True,
) -> Array:
    """`count` normal numbers as `target`, for a tensor that is contiguous or not.

    Of complex ones, each part has the mean and half the variance.
    """
    if target.kind == "c":
        part = part_of(target)
        return normal_numbers(engine, 2 * count, part, mean, std * math.sqrt(0.5), contiguous=contiguous).view(target)
    if count < RandomEngine.BLOCK or not contiguous:
        return (engine.normals(count) * std + mean).astype(target, copy=False)
    made = np.float64 if target == np.float64 else np.float32
    drawn = engine.block_normals(count, made, rounded=target.itemsize == 2)
    return (drawn * made(std) + made(mean)).astype(target, copy=False)


def part_of(target: NumpyDtype) -> NumpyDtype:
    """The dtype of a complex number's parts."""
    return np.dtype(f"f{target.itemsize // 2}")


def in_order_of_memory(array: Array, written: Array) -> Array:
    """A view with the elements in the order in which random numbers are written: as `written` lies in memory."""
    if written.flags.c_contiguous:
        return array
    return array.transpose(sorted(range(written.ndim), key=lambda axis: -abs(written.strides[axis])))


def _random(name: str, draw: Callable[..., Array], refusal: str) -> None:
    def inexact(target: NumpyDtype) -> NumpyDtype:
        if not dtypes.is_inexact(target):
            raise NotImplementedError(f"\"{refusal}\" not implemented for '{dtypes.BY_CHAR[target.char].scalar_name}'")
        return target

    @factory(name, out=RESIZED, out_title=f"aten::{name}")
    def create(
        *shape: object, size: object = None, dtype: dtypes.dtype | None = None, generator: Generator | None = None
    ) -> Array:
        target = inexact(numpy_dtype(dtype))
        dimensions = checked_shape(shape if size is None else (size,))
        return draw(engine_of(generator), math.prod(dimensions), target).reshape(dimensions)

    @factory(f"{name}_like")
    def like(input: Tensor, *, dtype: dtypes.dtype | None = None, memory_format: object = None) -> Array:
        check_like(f"{name}_like", input)
        target = inexact(numpy_dtype(dtype, input._array.dtype))
        if memory_format in (None, "preserve"):
            found = blank_like(input._array, target)
        else:
            found = laid_out(np.empty(input._array.shape, target), memory_format)
        ordered = in_order_of_memory(found, found)
        drawn = draw(engine_of(), found.size, target, contiguous=found.flags.c_contiguous)
        np.copyto(ordered, drawn.reshape(ordered.shape))
        return found


_random("rand", uniform_numbers, "check_uniform_bounds")
_random("randn", normal_numbers, "normal_kernel_cpu")


def random_integers(engine: RandomEngine, low: int, high: int, count: int, target: NumpyDtype) -> Array:
    """`count` integers in [low, high), as `target`. RuntimeError where there are none, or it doesn't hold them."""
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    _check_bounds(low, high - 1, target)
    drawn = engine.below(high - low, count)
    return (drawn + np.uint64(low) if low >= 1 << 63 else drawn.astype(np.int64) + low).astype(target)


def _check_bounds(low: int, last: int, target: NumpyDtype) -> None:
    """Raises RuntimeError unless the dtype holds both."""
    if target.kind in "iu":
        least, greatest = int(np.iinfo(target).min), int(np.iinfo(target).max)
    elif target.kind == "b":
        least, greatest = 0, 1
    else:
        greatest = int(float(dtypes.floating_limits(target).max))
        least = -greatest
    for name, bound in (("from", low), ("to - 1", last)):
        if not least <= bound <= greatest:
            raise RuntimeError(f"{name} is out of bounds for {dtypes.BY_CHAR[target.char].short}")


def _integers(low: int, high: int, shape: tuple[int, ...], target: NumpyDtype, chosen: Generator | None) -> Array:
    return random_integers(engine_of(chosen), low, high, math.prod(shape), target).reshape(shape)


@factory("randint", out=RESIZED, out_title="aten::randint")
def randint(
    low: int = 0,
    high: Any = None,
    size: Any = None,
    *,
    dtype: dtypes.dtype | None = None,
    generator: Generator | None = None,
) -> Array:
    """Integers in `[low, high)`; with one bound, in `[0, low)`."""
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    return _integers(int(low), int(high), checked_shape((size,)), numpy_dtype(dtype or dtypes.int64), generator)


@factory("randint_like")
def randint_like(
    input: Tensor,
    low: int = 0,
    high: int | None = None,
    *,
    dtype: dtypes.dtype | None = None,
    memory_format: object = None,
) -> Array:
    """Integers in `[low, high)` in the shape and dtype of `input`; with one bound, in `[0, low)`."""
    check_like("randint_like", input)
    if high is None:
        low, high = 0, low
    return _integers(int(low), int(high), input._array.shape, numpy_dtype(dtype, input._array.dtype), None)


@factory("randperm", out=RESIZED, out_title="aten::randperm")
def randperm(n: int, *, dtype: dtypes.dtype | None = None, generator: Generator | None = None) -> Array:
    """The integers from 0 to n - 1 in random order."""
    checked_shape((n,))
    target = numpy_dtype(dtype or dtypes.int64)
    dtypes.check_number(n, target)
    return engine_of(generator).permutation(n).astype(target)


@composite("normal", method=False)
def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None, **options: Any) -> Tensor:
    """Normally distributed numbers; mean and standard deviation are numbers (with a size) or tensors."""
    check_device(options.get("device"))
    given = [t._array for t in (mean, std) if isinstance(t, Tensor)]
    if not given:
        if std < 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
        target = numpy_dtype(options.pop("dtype", None))
        shape = checked_shape((size,))
        drawn = normal_numbers(engine_of(generator), math.prod(shape), target, mean, std)
        return finish(drawn.reshape(shape), options.pop("requires_grad", False))
    shape = np.broadcast_shapes(*(a.shape for a in given))
    values = [t._array if isinstance(t, Tensor) else t for t in (mean, std)]
    if np.any(np.asarray(values[1]) < 0):
        raise RuntimeError("normal expects all elements of std >= 0.0")
    drawn = normal_numbers(engine_of(generator), math.prod(shape), given[0].dtype).reshape(shape)
    found = np.asarray(drawn * values[1] + values[0], given[0].dtype)
    if not isinstance(std, Tensor):
        return normal_mean_result(mean, found)
    if not isinstance(mean, Tensor):
        return normal_std_result(std, found)
    return normal_result(mean, std, found)


@composite("bernoulli", out=RESIZED)
def bernoulli(self: Tensor, p: float | None = None, *, generator: Any = None) -> Tensor:
    """1 with the probability that each element (or `p`) says, else 0."""
    array = self._array
    if p is None and array.dtype.kind in "biu":
        raise NotImplementedError(f"\"bernoulli_tensor_cpu_p_\" not implemented for '{self.dtype.scalar_name}'")
    drawn = trials(engine_of(generator), array.size, array if p is None else p)
    record = bernoulli_result if p is None else bernoulli_p_result
    found: Tensor = record(self, drawn.astype(array.dtype).reshape(array.shape))
    return found


def trials(engine: RandomEngine, count: int, chances: Any) -> Array:
    """Which of so many trials succeed, with a probability or an array of them."""
    if np.any((chances < 0) | (chances > 1)):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    single = isinstance(chances, np.ndarray) and chances.dtype != np.float64
    drawn = engine.uniform(count, np.float32 if single else np.float64)
    return np.asarray(drawn < (chances.ravel() if isinstance(chances, np.ndarray) else chances))
