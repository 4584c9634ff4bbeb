"""`torch.testing._internal.common_utils`: a TestCase that compares tensors, and tests with parameters."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import random
import sys
import unittest
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...aten.random_numbers import get_rng_state, manual_seed, set_rng_state
from ...autograd.gradient_checks import gradcheck, gradgradcheck
from ...core import dtypes
from ...core.function_table import AnyFunction
from ...core.supported_names import refuses_missing
from ...core.tensor import Tensor, new_tensor
from ..closeness import assert_close, make_tensor

__all__ = [
    "TestCase", "freeze_rng_state", "gradcheck", "gradgradcheck", "instantiate_parametrized_tests", "make_tensor",
    "parametrize", "run_tests", "set_default_dtype", "subtest",
]  # fmt: skip

IS_WINDOWS = sys.platform == "win32"
IS_MACOS = sys.platform == "darwin"
IS_LINUX = sys.platform == "linux"
TEST_NUMPY = True
IS_FBCODE = IS_SANDCASTLE = TEST_CUDA = TEST_MULTIGPU = TEST_WITH_ROCM = TEST_MPS = TEST_XPU = False
TEST_WITH_ASAN = TEST_WITH_TORCHDYNAMO = TEST_WITH_TORCHINDUCTOR = False


def _comparable(value: object, other: object) -> object:
    """`value` in the form in which it is compared with `other`: arrays as tensors, numbers beside a tensor as one."""
    if isinstance(value, np.ndarray):
        return new_tensor(np.array(value))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(other, Tensor) and isinstance(value, bool | int | float | complex) and other.numel() == 1:
        return new_tensor(np.full(other._array.shape, value, other._array.dtype))
    return value


class TestCase(unittest.TestCase):
    """unittest's TestCase whose `assertEqual` compares tensors, and all else that holds them, within tolerances."""

    longMessage = True
    maxDiff = None

    def setUp(self) -> None:
        super().setUp()
        manual_seed(1234)
        random.seed(1234)
        np.random.seed(1234)

    def assertEqual(
        self,
        x: Any,
        y: Any,
        msg: Any = None,
        *,
        atol: float | None = None,
        rtol: float | None = None,
        equal_nan: bool = True,
        exact_dtype: bool = True,
        exact_device: bool = False,
        exact_layout: bool = False,
        exact_stride: bool = False,
        exact_is_coalesced: bool = False,
    ) -> None:
        """AssertionError unless `x` and `y` are close, by the tolerances of their dtype or by `atol` and `rtol`."""
        x, y = _comparable(x, y), _comparable(y, x)
        try:
            if isinstance(x, Mapping) and isinstance(y, Mapping):
                self.assertSetEqual(set(x), set(y))
                pairs = [(x[key], y[key]) for key in x]
            elif isinstance(x, Sequence) and isinstance(y, Sequence) and not isinstance(x, str | bytes):
                super().assertEqual(len(x), len(y), "The length of the sequences mismatch")
                pairs = list(zip(x, y, strict=True))
            elif isinstance(x, Tensor | float | complex) and isinstance(y, Tensor | int | float | complex):
                given: dict[str, Any] = (
                    {} if atol is None and rtol is None else {"atol": atol or 0.0, "rtol": rtol or 0.0}
                )
                assert_close(x, y, equal_nan=equal_nan, check_dtype=exact_dtype, check_stride=exact_stride, **given)
                return
            else:
                super().assertEqual(x, y)
                return
            for left, right in pairs:
                self.assertEqual(left, right, atol=atol, rtol=rtol, equal_nan=equal_nan, exact_dtype=exact_dtype,
                                 exact_stride=exact_stride)  # fmt: skip
        except AssertionError as error:
            if msg is None:
                raise
            raise self.failureException(msg(str(error)) if callable(msg) else f"{error}\n{msg}") from None

    def assertNotEqual(  # type: ignore[override]
        self,
        x: Tensor,
        y: Tensor,
        msg: object = None,
        *,
        atol: float | None = None,
        rtol: float | None = None,
        **kwargs: Any,
    ) -> None:
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(x, y, atol=atol, rtol=rtol, **kwargs)


def run_tests(argv: Sequence[str] | None = None) -> None:
    """What a file of tests calls when it is run by itself."""
    unittest.main(argv=list(sys.argv if argv is None else argv))


@contextlib.contextmanager
def freeze_rng_state(*args: object, **kwargs: object) -> Iterator[None]:
    """Random numbers drawn inside don't count."""
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


@contextlib.contextmanager
def set_default_dtype(dtype: dtypes.dtype) -> Iterator[None]:
    before = dtypes.get_default_dtype()
    dtypes.set_default_dtype(dtype)
    try:
        yield
    finally:
        dtypes.set_default_dtype(before)


class subtest:
    """One value, or tuple of values, of `parametrize`; `name` is its part of the test's name."""

    def __init__(self, arg_values: Any, name: str | None = None, decorators: Sequence[Any] = ()) -> None:
        self.arg_values = arg_values
        self.name = name
        self.decorators = decorators


class parametrize:
    """Makes a test of `instantiate_parametrized_tests` one for each of the values of `arg_str`, "a" or "a, b"."""

    def __init__(self, arg_str: str, arg_values: Any, name_fn: Callable[..., str] | None = None) -> None:
        self.names = [name.strip() for name in arg_str.split(",") if name.strip()]
        self.cases = [case if isinstance(case, subtest) else subtest(case) for case in arg_values]
        self.name_fn = name_fn

    def __call__(self, function: Any) -> Any:
        function.parametrized = [*getattr(function, "parametrized", ()), self]
        return function

    def values(self, case: subtest) -> dict[str, Any]:
        given = (case.arg_values,) if len(self.names) == 1 else tuple(case.arg_values)
        return dict(zip(self.names, given, strict=True))

    def suffix(self, number: int, case: subtest) -> str:
        values = self.values(case)
        if case.name is not None:
            return case.name
        if self.name_fn is not None:
            return self.name_fn(*values.values())
        return "_".join(f"{name}_{_shown(value, number)}" for name, value in values.items())


def _shown(value: object, number: int) -> str:
    if isinstance(value, dtypes.dtype):
        return value.name
    if isinstance(value, bool | int | float | str):
        return str(value).replace(".", "_").replace("-", "_")
    return getattr(value, "__name__", None) or f"{type(value).__name__}{number}"


def instantiate_parametrized_tests(generic_cls: type) -> type:
    """The class, with a test for each combination of values in place of each test with parameters."""
    for name, function in list(vars(generic_cls).items()):
        parameters: list[parametrize] = getattr(function, "parametrized", [])
        if not inspect.isfunction(function) or not parameters:
            continue
        delattr(generic_cls, name)
        for combination in itertools.product(*(list(enumerate(p.cases)) for p in parameters)):
            values: dict[str, Any] = {}
            suffixes = []
            test: Any = function
            for parameter, (number, case) in zip(parameters, combination, strict=True):
                values |= parameter.values(case)
                suffixes.append(parameter.suffix(number, case))
                for decorator in case.decorators:
                    test = decorator(test)
            setattr(generic_cls, "_".join([name, *suffixes]), _with(test, values))
    return generic_cls


def _with(test: Callable[..., object], values: dict[str, object]) -> AnyFunction:
    @functools.wraps(test)
    def run(self: Tensor) -> Any:
        return test(self, **values)

    # pytest would take the parameters of the function that this wraps for fixtures.
    del run.__wrapped__
    return run


__getattr__ = refuses_missing("torch.testing._internal.common_utils")
