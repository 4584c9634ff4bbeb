"""What Python and numpy take at least for the ops that `bench/shim.py` times."""

from __future__ import annotations

from typing import Any

import numpy

# What Python and numpy take at least for the ops above: numpy's calls, and one function of Python that makes a tensor
# of the result or counts the write. Nothing is checked, and no mode is asked for. `p` is `k` as a matrix, `i` the image
# in windows, `n` the averaging square of a row.
FLOORS = {
    "add": "made(numpy.add(a, b))",
    "mul": "made(numpy.multiply(a, b))",
    "exp": "made(numpy.exp(a))",
    "neg": "made(numpy.negative(a))",
    "relu": "made(numpy.maximum(a, zero))",
    "sum": "made(numpy.add.reduce(a, None))",
    "matmul": "made(a.dot(m))",
    "add_": "written(numpy.add(a, b, a))",
    "mul_": "written(numpy.multiply(a, b, a))",
    "neg_": "written(numpy.negative(a, a))",
    "zero_": "written(a.fill(0))",
    "view": "made(a.reshape(-1))",
    "select": "made(a[0])",
    "slice": "made(a[:1])",
    "t": "made(a.T)",
    "unsqueeze": "made(a[None])",
    "cat": "made(numpy.concatenate((a, b)))",
    "stack": "made(numpy.concatenate((a, b)).reshape(2, 2, 3))",
    "where": "made(numpy.where(mask, a, b))",
    "softmax": "e = numpy.exp(a - a.max(1, keepdims=True)); e /= e.dot(n); made(e)",
    "layer_norm": "c = a - a.dot(n); d = (c * c).dot(n); d += 1e-5; c /= numpy.sqrt(d); made(c)",
    "linear": "e = a.dot(w); e += v; made(e)",
    "conv": "made(p.dot(i.reshape(18, 36)).reshape(1, 3, 6, 6))",
    "clone": "made(a.copy())",
    "mean": "made(a.mean(1))",
    "div by a number": "made(numpy.divide(a, 2))",
    "indexing by a tensor": "made(a[r])",
}


def arrays(shape: tuple[int, int]) -> dict[str, Any]:
    a, b = (numpy.ones(shape, dtype=numpy.float32) for _ in range(2))
    return {"a": a, "b": b, "m": numpy.ones(shape[::-1], dtype=numpy.float32), "t": numpy}


class _Bare:
    """A tensor of which nothing is known: five slots, as the shim's has."""

    __slots__ = ("array", "keys", "meta", "storage", "version")

    array: Any
    keys: int
    meta: None
    storage: list[Any]
    version: None


def floor_names() -> dict[str, Any]:
    """The operands of `FLOORS`."""

    def made(array: Any) -> _Bare:
        bare = _Bare()
        bare.array = array
        bare.storage = [0, array]
        bare.keys, bare.meta, bare.version = 0, None, None
        return bare

    storage = [0]

    def written(array: Any) -> Any:
        storage[0] += 1
        return array

    one = numpy.float32
    image = numpy.ones((2, 8, 8), one)
    return arrays((2, 3)) | {
        "numpy": numpy,
        "made": made,
        "written": written,
        "zero": numpy.zeros((), one),
        "mask": numpy.ones((2, 3), bool),
        "r": numpy.array([1, 0]),
        "n": numpy.full((3, 3), 1 / 3, one),
        "w": numpy.ones((3, 4), one),
        "v": numpy.ones(4, one),
        "p": numpy.ones((3, 18), one),
        "i": numpy.lib.stride_tricks.sliding_window_view(image, (3, 3), (1, 2)).transpose(0, 3, 4, 1, 2),
    }
