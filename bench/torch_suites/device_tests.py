"""Stands in for torch.testing._internal.common_device_type: tests for each dtype and parameter, on the CPU."""

from __future__ import annotations

import functools
import inspect
import itertools
import unittest
from collections.abc import Callable, Iterator
from typing import Any

Test = Callable[..., Any]
Parameters = dict[str, Any]


class subtest:
    """Arguments of one instance of a parametrized test, with decorators for it alone."""

    def __init__(self, arg_values: Any, name: str | None = None, decorators: Any = None) -> None:
        self.arg_values = arg_values
        self.name = name
        self.decorators = decorators or []


class parametrize:
    def __init__(self, arg_str: Any, arg_values: Any, name_fn: Any = None) -> None:
        self.names = [n.strip() for n in arg_str.split(",")] if isinstance(arg_str, str) else list(arg_str)
        self.values = list(arg_values)
        self.name_fn = name_fn

    def __call__(self, test: Test) -> Test:
        test.parameters = [self, *getattr(test, "parameters", [])]  # type: ignore[attr-defined]
        return test

    def instances(self) -> Iterator[tuple[str, Parameters, list[Any]]]:
        for nr, value in enumerate(self.values):
            decorators: list[Any] = []
            name = None
            if isinstance(value, subtest):
                decorators, name, value = value.decorators, value.name, value.arg_values
            values = [value] if len(self.names) == 1 else list(value)
            if self.name_fn is not None and name is None:
                name = self.name_fn(*values)
            if name is None:
                name = "_".join(_shown(n, v, nr) for n, v in zip(self.names, values, strict=True))
            yield name, dict(zip(self.names, values, strict=True)), decorators


class swap(parametrize):
    """Instances with parameters of modules swapped on conversion, and without."""

    def __init__(self, values: Any) -> None:
        super().__init__("swap", values)

    def instances(self) -> Iterator[tuple[str, Parameters, list[Any]]]:
        for value in self.values:
            yield f"swap_{value}", {}, [_swapping(value)]


def _swapping(value: bool) -> Callable[[Test], Test]:
    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run(self: Any) -> Any:
            import torch

            before = torch.__future__.get_swap_module_params_on_conversion()
            torch.__future__.set_swap_module_params_on_conversion(value)
            try:
                return test(self)
            finally:
                torch.__future__.set_swap_module_params_on_conversion(before)

        return run

    return decorate


def _shown(name: str, value: Any, nr: int) -> str:
    if isinstance(value, bool | int | float | str):
        return f"{name}_{value}".replace(".", "_").replace(" ", "_")
    shown = str(value).rpartition(".")[2]
    return f"{name}_{shown}" if shown.isidentifier() else f"{name}{nr}"


class ops:
    """Tests for each op of PyTorch's own table of ops, which is not here: no instance."""

    def __init__(self, op_list: Any, **options: Any) -> None:
        pass

    def __call__(self, test: Test) -> Test:
        test.parameters = [parametrize("op", [])]  # type: ignore[attr-defined]
        return test


class OpDTypes:
    supported = supported_backward = unsupported = unsupported_backward = none = any_one = any_common_cpu_cuda_one = 0


class dtypes:
    device = "all"

    def __init__(self, *args: Any, device_type: str = "all") -> None:
        self.args = args
        if device_type != "all":
            self.device = device_type

    def __call__(self, test: Test) -> Test:
        test.dtypes = {**getattr(test, "dtypes", {}), self.device: self.args}  # type: ignore[attr-defined]
        return test


class dtypesIfCPU(dtypes):
    device = "cpu"


class dtypesIfCUDA(dtypes):
    device = "cuda"


class dtypesIfMPS(dtypes):
    device = "mps"


class precisionOverride:
    attribute = "precision_overrides"

    def __init__(self, values: Any) -> None:
        self.values = values

    def __call__(self, test: Test) -> Test:
        setattr(test, self.attribute, self.values)
        return test


class toleranceOverride(precisionOverride):
    attribute = "tolerance_overrides"


class tol:
    def __init__(self, atol: float, rtol: float) -> None:
        self.atol, self.rtol = atol, rtol


def lenient(*args: Any, **kwargs: Any) -> Any:
    """A decorator, with arguments or without, that says nothing of the CPU."""
    if len(args) == 1 and not kwargs and (inspect.isfunction(args[0]) or isinstance(args[0], type)):
        return args[0]
    return lambda test: test


def skipped(*args: Any, **kwargs: Any) -> Any:
    """A decorator, with arguments or without, of tests that this machine can't run."""
    if len(args) == 1 and not kwargs and (inspect.isfunction(args[0]) or isinstance(args[0], type)):
        return unittest.skip("not on the CPU")(args[0])
    return unittest.skip("not on the CPU")


def _variants(test: Test, on_device: bool) -> Iterator[tuple[str, Parameters, list[Any]]]:
    """Suffix of the name, arguments and decorators of each instance of a test."""
    axes: list[list[tuple[str, Parameters, list[Any]]]] = [
        list(p.instances()) for p in reversed(getattr(test, "parameters", []))
    ]
    if on_device:
        axes.append([("cpu", {"device": "cpu"}, [])])
        given = getattr(test, "dtypes", {})
        chosen = given.get("cpu", given.get("all"))
        if chosen is not None:
            argument = "dtypes" if any(isinstance(d, list | tuple) for d in chosen) else "dtype"
            names = [_dtype_names(d) for d in chosen]
            axes.append([(n, {argument: d}, []) for n, d in zip(names, chosen, strict=True)])
    for parts in itertools.product(*axes):
        arguments: Parameters = {}
        for _, more, _ in parts:
            arguments.update(more)
        yield "_".join(name for name, _, _ in parts if name), arguments, [d for _, _, ds in parts for d in ds]


def _dtype_names(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "_".join(map(_dtype_names, value))
    return str(value).removeprefix("torch.")


def _instance(test: Test, arguments: Parameters, on_device: bool) -> Test:
    override = getattr(test, "precision_overrides", {}).get(arguments.get("dtype"))
    tolerance = getattr(test, "tolerance_overrides", {}).get(arguments.get("dtype"))
    given = dict(arguments)
    accepted = inspect.signature(test).parameters
    device = [given.pop("device")] if on_device else []
    if len(accepted) < 2:
        device = []

    @functools.wraps(test)
    def run(self: Any) -> Any:
        if override is not None:
            self.precision = max(self.precision, override)
        if tolerance is not None:
            self.precision = max(self.precision, getattr(tolerance, "atol", tolerance[0]))
            self.rel_tol = max(self.rel_tol, getattr(tolerance, "rtol", tolerance[-1]))
        values = [*device]
        for name in ("dtype", "dtypes"):
            if name in given and name not in accepted:  # called otherwise by the test: goes by position
                return test(self, *values, given[name], **{k: v for k, v in given.items() if k != name})
        return test(self, *values, **given)

    for attribute in ("parameters", "dtypes"):
        run.__dict__.pop(attribute, None)
    del run.__wrapped__
    return run


def _fill(source: type, target: type, on_device: bool) -> None:
    for name in dir(source):
        test = getattr(source, name)
        if not name.startswith("test") or not callable(test):
            continue
        if not on_device and not getattr(test, "parameters", None):
            continue
        setattr(target, name, None)  # what the class inherits is not a test by itself
        for suffix, arguments, decorators in _variants(test, on_device):
            made = _instance(test, arguments, on_device)
            for decorate in decorators:
                made = decorate(made)
            full = f"{name}_{suffix}" if suffix else name
            made.__name__ = full
            setattr(target, full, made)


def instantiate_parametrized_tests(case: type) -> type:
    _fill(case, case, False)
    return case


def instantiate_device_type_tests(
    case: type, scope: dict[str, Any], except_for: Any = None, only_for: Any = None, **more: Any
) -> None:
    scope.pop(case.__name__, None)
    only = (only_for,) if isinstance(only_for, str) else only_for
    excepted = (except_for,) if isinstance(except_for, str) else except_for
    if (only and "cpu" not in only) or (excepted and "cpu" in excepted):
        return
    made = type(f"{case.__name__}CPU", (case,), {"device_type": "cpu", "__module__": scope["__name__"]})
    made.get_all_devices = made.get_primary_device = lambda *_: "cpu"  # type: ignore[attr-defined]
    _fill(case, made, True)
    scope[made.__name__] = made
