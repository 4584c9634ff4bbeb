"""Stands in for the TestCase of torch.testing._internal: comparisons that know tensors."""

from __future__ import annotations

import contextlib
import random
import re
import unittest
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

#: Relative and absolute tolerance by dtype, as torch.testing documents them.
TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}


def as_array(t: Any) -> Any:
    """The elements of a tensor for numpy, in a type that numpy has."""
    t = t.detach()
    if t.dtype == torch.bfloat16:
        t = t.to(torch.float32)
    if t.dtype.is_complex:
        t = t.resolve_conj()
    return t.resolve_neg().numpy() if t.layout == torch.strided else t.to_dense().numpy()


class SuiteTestCase(unittest.TestCase):
    longMessage = True
    precision = 0.0
    rel_tol = 0.0
    maxDiff = None
    exact_dtype = True

    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(1234)
        random.seed(1234)
        np.random.seed(1234)

    @contextlib.contextmanager
    def _explained(self, msg: Any) -> Iterator[None]:
        try:
            yield
        except AssertionError as error:
            if msg is None:
                raise
            raise self.failureException(msg(str(error)) if callable(msg) else f"{error}: {msg}") from None

    def assertEqual(
        self,
        x: Any,
        y: Any,
        msg: Any = None,
        *,
        atol: float | None = None,
        rtol: float | None = None,
        equal_nan: bool = True,
        exact_dtype: bool | None = None,
        exact_device: bool = False,
        exact_layout: bool = False,
        exact_stride: bool = False,
        exact_is_coalesced: bool = False,
    ) -> None:
        exact = self.exact_dtype if exact_dtype is None else exact_dtype
        with self._explained(msg):
            self._compare(x, y, atol, rtol, equal_nan, exact, exact_stride)

    def _compare(self, x: Any, y: Any, atol: Any, rtol: Any, nan: bool, exact: bool, stride: bool) -> None:
        more = (atol, rtol, nan, exact, stride)
        tensors = isinstance(x, torch.Tensor), isinstance(y, torch.Tensor)
        if any(tensors):
            return self._compare_tensors(x, y, *more)
        if isinstance(x, np.ndarray | np.generic) or isinstance(y, np.ndarray | np.generic):
            left, right = torch.as_tensor(x), torch.as_tensor(y)
            return self._compare_tensors(left, right, atol, rtol, nan, False, False)
        if isinstance(x, str) or isinstance(y, str):
            return unittest.TestCase.assertEqual(self, x, y)
        if isinstance(x, Mapping) and isinstance(y, Mapping):
            self.assertSetEqual(set(x), set(y))
            for key in x:
                self._compare(x[key], y[key], *more)
            return None
        if isinstance(x, Sequence) and isinstance(y, Sequence):
            unittest.TestCase.assertEqual(self, len(x), len(y), "lengths differ")
            for left, right in zip(x, y, strict=True):
                self._compare(left, right, *more)
            return None
        numbers = (bool, int, float, complex)
        if isinstance(x, numbers) and isinstance(y, numbers) and not (isinstance(x, bool) and isinstance(y, bool)):
            dtype = torch.complex128 if isinstance(x, complex) or isinstance(y, complex) else torch.float64
            if type(x) is int and type(y) is int:
                return unittest.TestCase.assertEqual(self, x, y)
            return self._compare_arrays(np.asarray(x), np.asarray(y), (dtype,), atol, rtol, nan)
        return unittest.TestCase.assertEqual(self, x, y)

    def _compare_tensors(self, x: Any, y: Any, atol: Any, rtol: Any, nan: bool, exact: bool, stride: bool) -> None:
        if not isinstance(x, torch.Tensor):
            x, y = y, x
        numbers = (bool, int, float, complex, np.generic)
        if isinstance(y, np.ndarray):
            y = torch.from_numpy(np.array(y))
        elif isinstance(y, numbers):
            if x.numel() != 1:
                raise self.failureException(f"a tensor of {x.numel()} elements and a number, {y}")
            return self._compare_arrays(as_array(x).reshape(()), np.asarray(y), (x.dtype,), atol, rtol, nan)
        elif isinstance(y, Sequence):
            y = torch.as_tensor(y, dtype=x.dtype)
        elif not isinstance(y, torch.Tensor):
            raise self.failureException(f"a tensor and {type(y).__name__}")
        if x.layout != y.layout:
            raise self.failureException(f"layouts {x.layout} and {y.layout}")
        if x.shape != y.shape:
            raise self.failureException(f"shapes {tuple(x.shape)} and {tuple(y.shape)}")
        if exact and x.dtype != y.dtype:
            raise self.failureException(f"dtypes {x.dtype} and {y.dtype}")
        if stride and x.stride() != y.stride():
            raise self.failureException(f"strides {x.stride()} and {y.stride()}")
        return self._compare_arrays(as_array(x), as_array(y), (x.dtype, y.dtype), atol, rtol, nan)

    def _compare_arrays(self, x: Any, y: Any, dtypes: tuple[Any, ...], atol: Any, rtol: Any, nan: bool) -> None:
        found = [TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
        if rtol is None:
            rtol = 0.0 if atol is not None else max(self.rel_tol, *(pair[0] for pair in found))
            atol = max(self.precision, *(pair[1] for pair in found)) if atol is None else atol
        elif atol is None:
            atol = 0.0
        if x.dtype.kind in "biu" and y.dtype.kind in "biu" and not atol and not rtol:
            close = x == y
        else:
            kind = np.complex128 if "c" in x.dtype.kind + y.dtype.kind else np.float64
            with np.errstate(all="ignore"):
                close = np.isclose(x.astype(kind), y.astype(kind), rtol=rtol, atol=atol, equal_nan=nan)
        if not np.all(close):
            raise self.failureException(f"values differ: {str(x)[:200]} and {str(y)[:200]}")

    def assertNotEqual(self, x: Any, y: Any, msg: Any = None, **more: Any) -> None:  # type: ignore[override]
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(x, y, **more)

    def assertEqualIgnoreType(self, *args: Any, **kwargs: Any) -> None:
        self.assertEqual(*args, exact_dtype=False, **kwargs)

    def assertEqualBroadcasting(self, x: Any, y: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(y, (int, float, complex)):
            y = torch.full_like(x, y)
        self.assertEqual(x, y, *args, **kwargs)

    def assertExpectedInline(self, actual: Any, expect: str, skip: int = 0) -> None:
        unittest.TestCase.assertEqual(self, str(actual), expect)

    def assertExpected(self, s: Any, subname: Any = None) -> None:
        raise unittest.SkipTest("compares with a file of expectations")

    def assertExpectedRaisesInline(self, kind: Any, call: Any, expect: str, *args: Any, **kwargs: Any) -> None:
        with self.assertRaises(kind) as caught:
            call(*args, **kwargs)
        unittest.TestCase.assertEqual(self, str(caught.exception), expect)

    def assertNotWarn(self, call: Any, msg: str = "") -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        self.assertTrue(not caught, msg)

    @contextlib.contextmanager
    def assertWarnsOnceRegex(self, category: Any, regex: str = "") -> Iterator[None]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        self.assertTrue(any(re.search(regex, str(w.message)) for w in caught), f"no warning like {regex!r}")

    def compare_with_numpy(self, torch_fn: Any, np_fn: Any, tensor_like: Any, device: Any = None,
                           dtype: Any = None, **kwargs: Any) -> None:  # fmt: skip
        t = tensor_like if isinstance(tensor_like, torch.Tensor) else torch.tensor(tensor_like, dtype=dtype)
        expected = np_fn(as_array(t) if t.dtype != torch.bfloat16 else t.float().numpy())
        actual = torch_fn(t)
        if isinstance(expected, np.ndarray):
            expected = torch.from_numpy(expected.copy())
        self.assertEqual(actual, expected, **{"exact_dtype": False, **kwargs})

    def assertAtenOp(self, *args: Any, **kwargs: Any) -> None:
        raise unittest.SkipTest("looks into a trace")
