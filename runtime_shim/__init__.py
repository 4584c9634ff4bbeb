"""A small PyTorch on numpy: `import guardfix.runtime_shim as torch`.

numpy holds the data; guards, version counters, views and gradients behave as in PyTorch 2.13, down to the
text of the errors. Anything unsupported raises NotImplementedError with its name.

Guards, dtypes and devices are here at once; Tensor and the ops are imported when one of them is first asked
for, so that a program which only names the module does not pay for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .core import dtypes, error_texts
from .core.device import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    layout,
    memory_format,
    preserve_format,
    strided,
)
from .core.dtypes import Size, dtype, get_default_dtype, set_default_dtype
from .core.gradient_modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .core.late_modules import homes_of, late_module

if TYPE_CHECKING:
    from . import autograd
    from .core.tensor import Tensor

error_texts.silence_arithmetic()

__version__ = "2.13.0+guardfix.shim"

float16 = half = dtypes.float16
bfloat16 = dtypes.bfloat16
complex32 = chalf = dtypes.complex32
float8_e4m3fn, float8_e4m3fnuz = dtypes.float8_e4m3fn, dtypes.float8_e4m3fnuz
float8_e5m2, float8_e5m2fnuz = dtypes.float8_e5m2, dtypes.float8_e5m2fnuz
float32 = float = dtypes.float32
float64 = double = dtypes.float64
int8 = dtypes.int8
int16 = short = dtypes.int16
int32 = int = dtypes.int32
int64 = long = dtypes.int64
uint8 = dtypes.uint8
uint16, uint32, uint64 = dtypes.uint16, dtypes.uint32, dtypes.uint64
bool = dtypes.bool_
complex64 = cfloat = dtypes.complex64
complex128 = cdouble = dtypes.complex128

inf = __import__("math").inf
nan = __import__("math").nan
pi = __import__("math").pi
e = __import__("math").e
newaxis = None

#: Modules that are imported when they are asked for, and where they are.
_SUBPACKAGES = """
    autograd nn optim jit library _C _classes _ops serialization utils version cuda fft testing backends random
    _utils _dynamo compiler _library _jit_internal overrides hub profiler fx func accelerator amp distributed
    distributions mps multiprocessing futures types
"""
_MODULES = {
    **{name: name for name in _SUBPACKAGES.split()},
    "xpu": "mps",
    "_vmap_internals": "func",
    "_tensor": "core.tensor",
    "storage": "aten.bit_views",
    "tracing": "core.tracing",
    "guards": "core.gradient_modes",
    "printing": "core.tensor_printing",
}
_ELSEWHERE = homes_of({
    "serialization": "save load",
    "core.tensor_printing": "set_printoptions",
    "core.error_texts": "set_warn_always is_warn_always_enabled",
    "core.value_checks": """
        _check _check_index _check_is_size _check_not_implemented _check_tensor_all _check_type _check_value finfo iinfo
    """,
    "library.operator_schema": "Tag",
    "aten.random_numbers": "Generator default_generator",
    "autograd.python_nodes": "is_anomaly_enabled is_anomaly_check_nan_enabled set_anomaly_enabled",
    "library": "ops",
    "library.script_classes": "classes",
    "compiler": "compile",
    "function_namespaces": "functional linalg special",
    "nn.functional": "alpha_dropout bilinear cosine_similarity hardshrink pairwise_distance pdist selu",
    "core.storage": "UntypedStorage",
    "func": "vmap",
    "amp": "autocast GradScaler is_autocast_enabled",
    "process_settings": """
        are_deterministic_algorithms_enabled get_default_device get_float32_matmul_precision get_num_interop_threads
        get_num_threads is_deterministic_algorithms_warn_only_enabled set_default_device set_default_tensor_type
        set_float32_matmul_precision set_num_interop_threads set_num_threads typename use_deterministic_algorithms
    """,
})  # fmt: skip
"""Names by the module that has them."""


#: The old constructors, one for each dtype.
_LEGACY = {f"{d.scalar_name}Tensor": d for d in (*dtypes.ALL, dtypes.bfloat16) if not d.is_complex}


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The dtype that both can be converted to."""
    return dtypes.BY_CHAR[dtypes.promote(type1.numpy, type2.numpy).char]


def result_type(tensor1: object, tensor2: object) -> dtype:
    """The dtype of the result of arithmetic on both."""
    from numbers import Number

    from .core.error_texts import invalid_combination
    from .core.tensor import Tensor

    if not (isinstance(tensor1, (Tensor, Number)) and isinstance(tensor2, (Tensor, Number))):
        raise invalid_combination("result_type", (tensor1, tensor2))
    operands = [t._array if isinstance(t, Tensor) else t for t in (tensor1, tensor2)]
    return dtypes.BY_CHAR[dtypes.result_type(*operands).char]


def can_cast(from_: dtype, to: dtype) -> Any:
    return dtypes.can_cast(from_.numpy, to.numpy)


def compiled_with_cxx11_abi() -> Any:
    return True


def trace(input: Tensor | None = None) -> Any:
    """Without argument, a context manager that records every op (see `tracing`); with a matrix, its trace."""
    if input is None:
        from .core.tracing import trace as recording

        return recording()
    return input.trace()


def _import_ops() -> dict[str, str]:
    """Make Tensor and every registered op a name of this module; returns the ops that come late, by module."""
    from .aten import FUNCTIONS, LATE_FUNCTIONS, Tensor

    names = globals()
    names["Tensor"] = Tensor
    for name, function in FUNCTIONS.items():
        names.setdefault(name, function)
    return LATE_FUNCTIONS


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return late_module(_MODULES[name])
    if name in _ELSEWHERE:
        return getattr(late_module(_ELSEWHERE[name]), name)
    if name in _LEGACY:
        from .aten.bit_views import legacy_constructor

        made = globals()[name] = legacy_constructor(_LEGACY[name])
        return made
    if not name.startswith("__"):
        late = _import_ops().get(name)
        if late is not None:
            late_module(f"aten.{late}")
            _import_ops()
        if name in globals():
            return globals()[name]
        if name.startswith("_foreach_"):
            found = late_module("foreach").for_each(name)
            if found is not None:
                return globals().setdefault(name, found)
    from .core.supported_names import missing

    return missing("torch", name)


def __dir__() -> list[str]:
    late = {*_MODULES, *_ELSEWHERE, *_import_ops()}
    return sorted({*globals(), *late} - {"Any", "TYPE_CHECKING", "annotations", "importlib", "warnings"})


__all__ = [
    "Size",
    "Tensor",
    "autograd",
    "channels_last",
    "channels_last_3d",
    "contiguous_format",
    "device",
    "dtype",
    "enable_grad",
    "get_default_dtype",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "layout",
    "memory_format",
    "no_grad",
    "preserve_format",
    "set_default_dtype",
    "set_grad_enabled",
    "strided",
]
