"""The modules of torch.testing._internal that the suites import, made of the stand-ins of this folder.

PyTorch's own modules of these names import most of PyTorch; the stand-ins import tensors and nothing else, and serve
PyTorch and the shim alike. What they leave out raises NotImplementedError when a test uses it.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import inspect
import io
import itertools
import os
import sys
import tempfile
import types
import unittest
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from . import device_tests, dtype_groups
from .absent_names import Absent
from .suite_test_case import SuiteTestCase

LENIENT = """skipMeta skipMPS skipLazy skipXLA skipIfTorchDynamo xfailIfTorchDynamo skipIfWindows skipIfMPS skipIfRocm
onlyCPU onlyNativeDeviceTypes onlyNativeDeviceTypesAnd expectedFailureMPS expectedFailureMPSPre15 expectedFailureMeta
expectedFailureXLA skipCUDAIf skipCUDAIfCudnnVersionLessThan skipCUDAIfMiopen skipCUDAIfNoCudnn skipCUDAIfNoMiopen
skipCUDAIfNotMiopenSuggestNHWC skipCUDAIfRocm skipCUDAIfRocmVersionLessThan skipIfCrossRef serialTest gcIfJetson
tf32_on_and_off skipIfNoLapack xfailIfS390X skipIfNotMiopenSuggestNHWC skipIfRocmVersionLessThan disablecuDNN
disableMkldnn skipCPUIfNoLapack skipCPUIfNoMkl skipCPUIfNoMkldnn skipIfTorchInductor skipRocmIfTorchInductor
skipCUDAMemoryLeakCheckIf skipCUDAIfNotRocm skipCUDAIfNoMagma skipCUDAIfNoMagmaAndNoCusolver skipCUDAVersionIn
skipCUDAIfNoCusolver bf32_on_and_off tf32_on tf32_off DecorateInfo setBlasBackendsToDefaultFinally
setLinalgBackendsToDefaultFinally wrapDeterministicFlagAPITest reduced_f32_on_and_off""".split()
SKIPPED = """onlyCUDA onlyMPS slowTest slowTestIf deviceCountAtLeast scoped_load_inline optims
onlyCUDAAndPRIVATEUSE1 skipIfNoSciPy""".split()
FALSE = """TEST_CUDA TEST_CUDNN TEST_MULTIGPU TEST_WITH_ROCM TEST_WITH_UBSAN TEST_WITH_ASAN TEST_PRIVATEUSE1 IS_FBCODE
IS_JETSON IS_MACOS IS_WINDOWS IS_SANDCASTLE TEST_WITH_TORCHDYNAMO TEST_WITH_CROSSREF TEST_SCIPY TEST_MKL
TEST_WITH_TORCHINDUCTOR IS_REMOTE_GPU IS_PPC IS_ARM64 TEST_OPT_EINSUM PYTORCH_CUDA_MEMCHECK NO_MULTIPROCESSING_SPAWN
PLATFORM_SUPPORTS_FLASH_ATTENTION SM53OrLater SM80OrLater SM90OrLater CDNA2OrLater TEST_DILL""".split()
#: Tables of PyTorch's own descriptions of ops, which are not here.
TABLES = """binary_ufuncs binary_ufuncs_and_refs custom_op_db op_db unary_ufuncs reduction_ops reference_masked_ops
shape_funcs optim_db module_tests criterion_tests new_module_tests ops_and_refs python_ref_db""".split()

NUMPY_OF = {
    getattr(torch, name): np.dtype(name).type
    for name in "uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()
}
NUMPY_OF[torch.bool] = np.bool_


@contextlib.contextmanager
def set_default_dtype(dtype: Any) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextlib.contextmanager
def freeze_rng_state(*args: Any, **kwargs: Any) -> Iterator[None]:
    state = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(state)


@contextlib.contextmanager
def disable_gc() -> Iterator[None]:
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@contextlib.contextmanager
def set_warn_always_context(new: bool) -> Iterator[None]:
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(new)
    try:
        yield
    finally:
        torch.set_warn_always(before)


class DeterministicGuard:
    def __init__(self, deterministic: bool, *, warn_only: bool = False, fill_uninitialized_memory: bool = True) -> None:
        self.wanted = deterministic, warn_only

    def __enter__(self) -> None:
        self.before = torch.are_deterministic_algorithms_enabled()
        torch.use_deterministic_algorithms(self.wanted[0], warn_only=self.wanted[1])

    def __exit__(self, *error: object) -> None:
        torch.use_deterministic_algorithms(self.before)


def suppress_warnings(test: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(test)
    def quiet(*args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return test(*args, **kwargs)

    return quiet


def gradcheck(fn: Any, inputs: Any, **options: Any) -> bool:
    options.pop("check_batched_grad", None)  # needs vmap, which no suite here is about
    return bool(torch.autograd.gradcheck(fn, inputs, **options))


def gradgradcheck(fn: Any, inputs: Any, grad_outputs: Any = None, **options: Any) -> bool:
    options.pop("check_batched_grad", None)
    return bool(torch.autograd.gradgradcheck(fn, inputs, grad_outputs, **options))


def assert_both_checks(case: SuiteTestCase, call: Any, inputs: Any, **options: Any) -> None:
    """Stands for _assertGradAndGradgradChecks."""
    case.assertTrue(gradcheck(call, inputs, **options))
    case.assertTrue(gradgradcheck(call, inputs, **options))


def iter_indices(t: Any) -> Any:
    import itertools

    return range(t.size(0)) if t.dim() == 1 else itertools.product(*(range(n) for n in t.size()))


def mask_not_all_zeros(shape: Any) -> Any:
    while True:
        found = torch.randn(shape).gt(0)
        if found.sum() > 0:
            return found


class TemporaryTestCase(SuiteTestCase):
    """Stands for NNTestCase: what modules are asked by their tests."""

    def _forward(self, module: Any, input: Any) -> Any:
        with freeze_rng_state():
            return module(input)

    def _backward(self, module: Any, input: Any, output: Any, grad_output: Any, create_graph: bool = False) -> Any:
        output.backward(grad_output, retain_graph=True, create_graph=create_graph)
        return None if input.grad is None else input.grad.data

    def _zero_grad_parameters(self, module: Any) -> None:
        for p in module.parameters():
            p.grad = None


class DescribedModuleTest:
    """Stands for a test of a module by its description; those are skipped."""

    with_tf32 = False
    test_cpu = True
    numbers = itertools.count()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.number = next(self.numbers)
        self.check_inplace = False

    def get_name(self) -> str:
        return f"test_described_{self.number}"

    def __call__(self, case: Any) -> None:
        raise unittest.SkipTest("a module by its description")

    def test_cuda(self, case: Any) -> None:
        raise unittest.SkipTest("not on the CPU")


def _create_basic_net() -> Any:
    nn = torch.nn

    class Layer(nn.Module):  # type: ignore[name-defined,misc,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.layer_dummy_param = nn.Parameter(torch.empty(3, 5))
            self.layer_dummy_buf = nn.Buffer(torch.zeros(1, 3, 3, 7))

    class Net(nn.Module):  # type: ignore[name-defined,misc,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.l1 = Layer()
            self.dummy_param = nn.Parameter(torch.empty(3, 5))
            self.dummy_buf = nn.Buffer(torch.zeros(7, 3, 3, 1))

    net = Net()
    return Layer(), net, nn.Sequential(net, net)


def check_empty_input(case: Any, module: Any, inp: Any, check_size: bool = True, inference: bool = False) -> None:
    """Stands for _test_module_empty_input."""
    if not inference:
        inp.requires_grad_(True)
    out = module(inp)
    if check_size:
        case.assertEqual(out.size(), inp.size())
    if inference:
        return
    out.backward(torch.rand_like(out))
    for p in module.parameters():
        if p.requires_grad:
            case.assertEqual(p.grad, torch.zeros_like(p.grad))
    case.assertEqual(inp.grad, torch.zeros_like(inp))


def check_bfloat16(
    case: Any, op: Any, device: Any, inp_dims: Any = (), prec: float = 1e-2, scale_factor: Any = None
) -> None:
    """Stands for _test_bfloat16_ops."""
    values = torch.randn(inp_dims) if scale_factor is None else torch.rand(inp_dims).bfloat16().float() * scale_factor
    exact = values.clone().requires_grad_()
    out = op(exact)
    seed = torch.randn_like(out)
    out.backward(seed)
    rounded = values.bfloat16().requires_grad_()
    op = op.bfloat16()
    short = op(rounded)
    short.backward(seed.bfloat16())
    case.assertEqual(out, short, atol=prec, rtol=prec, exact_dtype=False)
    case.assertEqual(exact.grad, rounded.grad, atol=prec, rtol=prec, exact_dtype=False)


def noncontiguous_like(t: Any) -> Any:
    """A tensor of the same elements whose last dimension has gaps."""
    if not t.is_contiguous():
        return t
    wide = torch.repeat_interleave(t.detach(), 2, dim=-1) if t.dim() else torch.stack([t.detach()] * 2)
    found = wide[..., 1::2] if t.dim() else wide[1]
    found = found.clone(memory_format=torch.preserve_format) if found.is_contiguous() and t.dim() else found
    return found.requires_grad_(t.requires_grad)


def bytes_to_scalar(byte_list: Any, dtype: Any, device: Any) -> Any:
    """A tensor without dimensions of the bytes."""
    flat = torch.tensor(byte_list, dtype=torch.uint8).to(torch.uint8)
    return flat.view(dtype).reshape(()) if dtype != torch.bool else flat[0].view(torch.bool)


class BytesIOContext(io.BytesIO):
    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        pass


@contextlib.contextmanager
def temporary_file_name(*args: Any, **kwargs: Any) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        open(path, "wb").close()
        yield path


@contextlib.contextmanager
def temporary_directory_name(suffix: str | None = None) -> Iterator[str]:
    with tempfile.TemporaryDirectory(suffix=suffix) as folder:
        yield folder


def set_warn_always_context_on(*args: Any) -> Any:
    return set_warn_always_context(True)


def is_iterable_of_tensors(value: Any, include_empty: bool = False) -> bool:
    if isinstance(value, torch.Tensor):
        return False
    try:
        found = list(value)
    except TypeError:
        return False
    return all(isinstance(v, torch.Tensor) for v in found) if found else include_empty


def do_test_empty_full(case: Any, dtypes: Any, layout: Any, device: Any) -> None:
    """Stands for the test of empty and full, by dtype."""
    shape = torch.Size([2, 3])
    for dtype in dtypes:
        for made in (
            torch.empty(shape, dtype=dtype, layout=layout, device=device),
            torch.empty_like(torch.empty(shape, dtype=dtype)),
            torch.zeros(1, dtype=dtype).new_empty(shape),
        ):
            case.assertEqual((made.shape, made.dtype, made.layout), (shape, dtype, layout))
        full = torch.full(shape, 1, dtype=dtype)
        case.assertEqual((full.shape, full.dtype), (shape, dtype))
        case.assertTrue(bool((torch.full_like(full, 1) == full).all()))
        case.assertTrue(bool((full.new_full(shape, 1) == full).all()))


COMMON: dict[str, Any] = {
    **dict.fromkeys(LENIENT, device_tests.lenient),
    **dict.fromkeys(SKIPPED, device_tests.skipped),
    **dict.fromkeys(FALSE, False),
    **{name: value for name, value in vars(device_tests).items() if not name.startswith("_")},
    **{name: value for name, value in vars(dtype_groups).items() if not name.startswith("_")},
    "TestCase": SuiteTestCase,
    "NNTestCase": TemporaryTestCase,
    "TEST_NUMPY": True,
    "GRADCHECK_NONDET_TOL": 0.0,
    "MACOS_VERSION": 0.0,
    "dtype2prec_DONTUSE": {torch.float32: 1e-5, torch.float64: 1e-5, torch.float16: 1e-2, torch.bfloat16: 1e-1},
    "numpy_to_torch_dtype_dict": {n: t for t, n in NUMPY_OF.items()},
    "torch_to_numpy_dtype_dict": {**NUMPY_OF, torch.bfloat16: np.float32},
    "skipIf": lambda condition, reason="": unittest.skipIf(condition, str(reason)),
    "tf32_is_not_fp32": lambda: False,
    "run_tests": lambda *args, **kwargs: None,
    "load_tests": None,
    "set_default_dtype": set_default_dtype,
    "freeze_rng_state": freeze_rng_state,
    "disable_gc": disable_gc,
    "set_warn_always_context": set_warn_always_context,
    "DeterministicGuard": DeterministicGuard,
    "suppress_warnings": suppress_warnings,
    "gradcheck": gradcheck,
    "gradgradcheck": gradgradcheck,
    "_assertGradAndGradgradChecks": assert_both_checks,
    "iter_indices": iter_indices,
    "mask_not_all_zeros": mask_not_all_zeros,
    "_create_basic_net": _create_basic_net,
    "_test_module_empty_input": check_empty_input,
    "_test_bfloat16_ops": check_bfloat16,
    **{name: [] for name in TABLES},
    "skipCPUIf": lambda condition, reason="": unittest.skipIf(condition, str(reason)),
    "noncontiguous_like": noncontiguous_like,
    "bytes_to_scalar": bytes_to_scalar,
    "BytesIOContext": BytesIOContext,
    "TemporaryFileName": temporary_file_name,
    "TemporaryDirectoryName": temporary_directory_name,
    "AlwaysWarnTypedStorageRemoval": set_warn_always_context_on,
    "is_iterable_of_tensors": is_iterable_of_tensors,
    "do_test_empty_full": do_test_empty_full,
    "largeTensorTest": lambda *args, **kwargs: device_tests.skipped,
    "get_function_arglist": lambda function: list(inspect.signature(function).parameters),
    "NewModuleTest": DescribedModuleTest,
    "CriterionTest": DescribedModuleTest,
    "get_all_device_types": lambda: ["cpu"],
    "get_all_qint_dtypes": list,
    "_get_torch_cuda_version": lambda: (0, 0),
    "_get_magma_version": lambda: (0, 0),
    "array_shapes": lambda *args, **kwargs: None,
    "tensor": lambda *args, **kwargs: None,  # of hypothesis_utils
    "assert_deadline_disabled": lambda: None,
    "make_logging_test": device_tests.skipped,
    "LoggingTestCase": SuiteTestCase,
}
MODULES = [
    "common_cuda",
    "common_mkldnn",
    "common_quantization",
    "common_optimizers",
    "hypothesis_utils",
    "common_device_type",
    "common_dtype",
    "common_methods_invocations",
    "common_nn",
    "common_utils",
    "custom_op_db",
    "logging_utils",
]


def install() -> None:
    """Put the stand-ins where the suites import them from."""
    from torch.testing import make_tensor

    COMMON["make_tensor"] = make_tensor
    import torch.testing._internal as package

    for name in MODULES:
        made = types.ModuleType(f"torch.testing._internal.{name}")
        made.__dict__.update(COMMON)
        made.__getattr__ = functools.partial(_left_out, name)  # type: ignore[method-assign]
        sys.modules[made.__name__] = made
        setattr(package, name, made)


def _left_out(module: str, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Absent(f"torch.testing._internal.{module}.{name}")
