"""Which ops refuse which dtypes, and in what words. Read off PyTorch 2.13, op by op and dtype by dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..dispatch.op_description import OPS, Op

# op, kinds of the dtype it computes in that it refuses (bool, integer, floating, complex), kernel
_NOT_IMPLEMENTED = """
floor b floor_vml_cpu
ceil b ceil_vml_cpu
round bc round_vml_cpu
trunc b trunc_vml_cpu
abs b abs_cpu
erf c erf_vml_cpu
max_all c max_all
min_all c min_all
amax c max_values_cpu
amin c min_values_cpu
atan2 c atan2_cpu
fmod bc fmod_cpu
remainder bc remainder_cpu
div_mode bc div_floor_cpu
pow_tensor b pow
lt c lt_cpu
le c le_cpu
gt c gt_cpu
ge c ge_cpu
bitwise_and fc bitwise_and_cpu
bitwise_or fc bitwise_or_cpu
bitwise_xor fc bitwise_xor_cpu
bitwise_left_shift bfc lshift_cpu
bitwise_right_shift bfc rshift_cpu
bitwise_not fc bitwise_not_cpu
clamp_tensor b clamp_cpu
addcmul b addcmul_cpu_out
mm b addmm_impl_cpu_
addmm b addmm_impl_cpu_
mv b addmv_impl_cpu
dot b dot
bmm b bmm
gelu bic GeluKernelImpl
silu bi silu_cpu
elu bic elu_cpu
leaky_relu bic leaky_relu_cpu
softplus bic softplus_cpu
lerp bi lerp_kernel_scalar
lerp_tensor bi lerp_kernel_tensor
"""

_REFUSED: dict[str, tuple[str, type[Exception], str]] = {
    "relu": ("b", RuntimeError, "Boolean inputs not supported for relu"),
    "relu complex": ("c", NotImplementedError, "clamp is not supported for complex types"),
    "clamp": ("c", NotImplementedError, "clamp is not supported for complex types"),
    "clamp_tensor complex": ("c", NotImplementedError, "clamp is not supported for complex types"),
    "floor complex": ("c", NotImplementedError, "floor is not supported for complex inputs"),
    "ceil complex": ("c", NotImplementedError, "ceil is not supported for complex inputs"),
    "trunc complex": ("c", NotImplementedError, "trunc is not supported for complex inputs"),
    "sign complex": (
        "c",
        NotImplementedError,
        "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.",
    ),
    "argmax": ("b", RuntimeError, "argmax(): does not support bool input"),
    "argmin": ("b", RuntimeError, "argmin(): does not support bool input"),
    "argmax complex": ("c", RuntimeError, "argmax(): does not support complex input"),
    "argmin complex": ("c", RuntimeError, "argmin(): does not support complex input"),
    "max_dim": ("c", RuntimeError, "max(): does not support complex input"),
    "min_dim": ("c", RuntimeError, "min(): does not support complex input"),
    "maximum": ("c", RuntimeError, "maximum not implemented for complex tensors."),
    "minimum": ("c", RuntimeError, "minimum not implemented for complex tensors."),
    "sort": ("c", RuntimeError, " Sort does not support complex dtypes on CPU"),
    "argsort": ("c", RuntimeError, " Sort does not support complex dtypes on CPU"),
    "topk": ("c", RuntimeError, " topk does not support complex dtypes on CPU"),
    "topk bool": ("b", RuntimeError, "topk does not support bool dtypes on CPU"),
    "addcdiv": (
        "bi",
        RuntimeError,
        "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform "
        "a true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as "
        "(input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as "
        "(input + value * tensor1 / tensor2) for float inputs. The future addcdiv behavior is just the "
        "latter implementation: (input + value * tensor1 / tensor2), for all dtypes.",
    ),
}


def _refusing(
    op: Op, kernel: Callable[..., Any], kinds: str, kind: type[Exception], text: str, shapes_first: bool
) -> Any:
    positions = [i for i in op.tensor_positions if op.params[i] not in ("index", "mask", "condition")]
    if op.params[1:2] == ("other",) and 1 not in positions:
        positions.append(1)  # a number

    takes_floating = "f" not in kinds

    def checked(*args: Any) -> Any:
        for i in positions:
            if i >= len(args) or type(args[i]) is not np.ndarray or args[i].dtype.kind != "f":
                break
        else:  # the usual case, at little cost
            if takes_floating:
                return kernel(*args)
        operands = [args[i] for i in positions if i < len(args) and args[i] is not None]
        if operands and all(isinstance(a, np.ndarray | np.generic | int | float | complex) for a in operands):
            common = dtypes.result_type(*operands)
            if common.kind in kinds or (common.kind == "u" and "i" in kinds):
                if shapes_first:
                    _check_shapes(kernel, args)
                raise kind(text.format(dtypes.BY_CHAR[common.char].scalar_name))
        return kernel(*args)

    return checked


def _check_shapes(kernel: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Raise what the kernel says of the operands' shapes; what numpy says of their dtype is not asked for."""
    try:
        kernel(*args)
    except NotImplementedError:
        pass
    except (RuntimeError, IndexError):
        raise
    except Exception:
        pass


def _refuse(name: str, kinds: str, kind: type[Exception], text: str, shapes_first: bool = False) -> None:
    op = OPS.get(name)
    for form in (op, op and op.number_form):
        if form is not None:
            form.kernel = _refusing(form, form.kernel, kinds, kind, text, shapes_first)
            if form.inplace_kernel is not None:
                form.inplace_kernel = _refusing(form, form.inplace_kernel, kinds, kind, text, False)


for _line in _NOT_IMPLEMENTED.split("\n"):
    if _line:
        _name, _kinds, _label = _line.split()
        # These are refused by the loop over the elements, which is reached when the shapes fit.
        _refuse(_name, _kinds, NotImplementedError, f"\"{_label}\" not implemented for '{{}}'", shapes_first=True)
for _name, (_kinds, _type, _text) in _REFUSED.items():
    _refuse(_name.split()[0], _kinds, _type, _text, _name.split()[0] in ("topk", "max_dim", "min_dim"))
