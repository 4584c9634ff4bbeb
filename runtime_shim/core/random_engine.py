"""The Mersenne Twister that PyTorch's CPU generator draws from, and how it makes numbers of the twister's words.

A seed gives PyTorch's numbers, but for the last bits of those that go through a logarithm or a sine. After
`aten/src/ATen/core/{MT19937RNGEngine,TransformationHelper,DistributionsHelper}.h` and
`aten/src/ATen/native/cpu/DistributionTemplates.h`.
"""

from __future__ import annotations

import math

import numpy as np

from .dtypes import Array

_WORDS = np.uint64(32)
_FROM_64_BITS = 1 << 28
"""Ranges from here on are drawn from 64 bits, smaller ones from 32."""
_LARGE_PERMUTATION = 0xFFFFFFFF // 20
_STATE = np.dtype(
    [
        ("seed", "<u8"), ("left", "<i4"), ("seeded", "<i4"), ("next", "<u8"), ("words", "<u8", 624),
        ("normal_x", "<f8"), ("normal_y", "<f8"), ("normal_rho", "<f8"), ("has_normal", "<i4"), ("padding", "<i4"),
        ("float_normal", "<f4"), ("has_float_normal", "<i4"),
    ]
)  # fmt: skip
"""What `get_rng_state` gives, 5056 bytes: `aten/src/ATen/CPUGeneratorImpl.cpp`."""


class RandomEngine:
    """A stream of random numbers; each of its methods goes on in the stream."""

    BLOCK = 16
    """Normal numbers are made in blocks of so many where there are as many, in pairs otherwise."""

    def __init__(self, seed: int) -> None:
        self.seed = seed & 0xFFFFFFFFFFFFFFFF
        self._bits = np.random.MT19937()
        np.random.RandomState(self._bits).seed(seed & 0xFFFFFFFF)
        self.next_normal: float | None = None
        self._has_drawn = False

    def words(self, count: int) -> Array:
        """32 random bits each, in elements of 64."""
        self._has_drawn = self._has_drawn or count > 0
        return np.asarray(self._bits.random_raw(count))

    def long_words(self, count: int) -> Array:
        """64 random bits each."""
        pairs = self.words(2 * count)
        return (pairs[0::2] << _WORDS) | pairs[1::2]

    def uniform(self, count: int, kind: object = np.float64) -> Array:
        """Numbers in [0, 1): 53 random bits as float64, 24 as float32."""
        if kind == np.float64:
            return (self.long_words(count) & np.uint64((1 << 53) - 1)) * 2.0**-53
        return (self.words(count) & np.uint64((1 << 24) - 1)).astype(np.float32) * np.float32(2.0**-24)

    def exponentials(self, count: int) -> Array:
        """Numbers of the exponential distribution with rate 1."""
        return -np.log1p(-self.uniform(count))

    def below(self, bound: int, count: int) -> Array:
        """Integers in [0, bound), as uint64; `bound` is at most 2**64."""
        if bound < _FROM_64_BITS:
            return self.words(count) % np.uint64(bound)
        return self.long_words(count) if bound == 1 << 64 else self.long_words(count) % np.uint64(bound)

    def normals(self, count: int) -> Array:
        """Standard normal numbers, in pairs; half a pair that is left over is the next one."""
        kept = [] if self.next_normal is None else [self.next_normal]
        pairs = (count - len(kept) + 1) // 2
        if count and kept:
            self.next_normal = None
        if pairs <= 0:
            return np.array(kept[:count])
        angles, radii = self.uniform(2 * pairs).reshape(pairs, 2).T
        radii = np.sqrt(-2.0 * np.log1p(-radii))
        angles = 2.0 * math.pi * angles
        found = np.concatenate([kept, np.stack([radii * np.cos(angles), radii * np.sin(angles)], 1).ravel()])
        if len(found) > count:
            self.next_normal = float(found[-1])
        return found[:count]

    def block_normals(self, count: int, kind: object, *, rounded: bool = False) -> Array:
        """At least 16 standard normal numbers, for a tensor that is contiguous; `rounded` where it has half precision.

        The last 16 are drawn again where the number is no multiple of that.
        """
        whole = count // self.BLOCK * self.BLOCK
        found = self.uniform(whole if rounded else count, kind)
        found[:whole] = _in_blocks(found[:whole])
        if whole != count:
            found = np.concatenate([found[: count - self.BLOCK], _in_blocks(self.uniform(self.BLOCK, kind))])
        return found

    def permutation(self, count: int) -> Array:
        """The integers from 0 to count - 1, as int64."""
        order = list(range(count))
        steps = max(0, count - 1)
        words = self.words(steps) if count < _LARGE_PERMUTATION else self.long_words(steps)
        for at, other in enumerate((words % np.arange(count, 1, -1, dtype=np.uint64)).tolist()):
            order[at], order[at + other] = order[at + other], order[at]
        return np.array(order, np.int64)

    def state(self) -> bytes:
        """All that is needed to go on from here, as PyTorch lays it out."""
        twister = self._bits.state["state"]
        state = np.zeros((), _STATE)
        position = int(twister["pos"])
        state["seed"], state["seeded"], state["words"] = self.seed, 1, twister["key"]
        state["left"], state["next"] = 624 - position + 1, position if self._has_drawn else 0
        if self.next_normal is not None:
            state["normal_y"], state["has_normal"] = self.next_normal, 1
        return state.tobytes()

    @classmethod
    def from_state(cls, data: bytes) -> RandomEngine:
        """The engine whose state that is. Raises RuntimeError if it is none."""
        if len(data) != _STATE.itemsize:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {_STATE.itemsize} but found the input RNG state size to be "
                f"{len(data)}"
            )
        state = np.frombuffer(data, _STATE)[0]
        left, following = int(state["left"]), int(state["next"])
        if not (state["seeded"] == 1 and 1 <= left <= 624 and 0 <= following <= 624):
            raise RuntimeError("Invalid mt19937 state")
        engine = cls(int(state["seed"]))
        engine._bits.state = {
            "bit_generator": "MT19937",
            "state": {"key": state["words"].astype(np.uint32), "pos": 624 if left == 1 else following},
        }
        engine._has_drawn = following > 0
        engine.next_normal = float(state["normal_y"]) if state["has_normal"] else None
        return engine


def _in_blocks(uniform: Array) -> Array:
    """Normal numbers of uniform ones, by Box and Muller's way: each block's first half are the radii."""
    kind = uniform.dtype.type
    radii, angles = uniform.reshape(-1, 2, RandomEngine.BLOCK // 2).transpose(1, 0, 2)
    radii = np.sqrt(kind(-2.0) * np.log(kind(1.0) - radii))
    angles = kind(2.0 * math.pi) * angles
    return np.stack([radii * np.cos(angles), radii * np.sin(angles)], 1).ravel()
