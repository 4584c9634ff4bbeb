"""Makers of elementwise ops over numpy ufuncs: the kernel, its in-place form, and the functions that run them."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, NumpyDtype, can_cast, cast_error, result_type
from ..core.error_texts import MISSING, wrong_type
from ..core.function_table import FUNCTIONS, AnyFunction
from ..core.memory_layout import blank_like
from ..core.tensor import Tensor, ndarray, new_tensor
from ..core.thread_state import AUTOGRAD, tls
from ..dispatch.functional_layers import asarray, functional
from ..dispatch.op_description import (
    ANY_DTYPE,
    ELEMENTWISE,
    FLOATING,
    FOUND_DTYPE,
    OPS,
    Computes,
    Op,
    OutRule,
    describe,
    said,
)
from ..dispatch.op_node import NUMBERS, describe_recording
from ..dispatch.registration import publish
from ..dispatch.writing_layers import inplace, run_out, store

# What dtype a result has where the operands promote to an integer or bool.
SAME, FLOAT, BOOL = "same", "float", "bool"


def is_operand(value: object) -> bool:
    """Whether arithmetic takes it: a tensor or a number."""
    return isinstance(value, Tensor | int | float | complex | np.number | np.bool_)


def cast(value: Any, target: NumpyDtype) -> Any:
    """An operand in the dtype that an op computes in; integers wrap around."""
    if isinstance(value, ndarray):
        if value.dtype is target:
            return value
        if type(value) is ndarray and (all(value.strides) or not value.size):
            return value.astype(target)
        return _in_its_order(value, target)
    try:
        return asarray(value, target)
    except OverflowError:
        return asarray(value & ((1 << 64) - 1), np.uint64).astype(target)


def _in_its_order(value: Array, target: NumpyDtype) -> Array:
    """An array in another dtype and the same order in memory; what is expanded stays so."""
    base = value[tuple([slice(0, 1) if not stride else slice(None) for stride in value.strides])]
    made = blank_like(base, target)
    np.copyto(made, base, casting="unsafe")
    return made if made.shape == value.shape else np.broadcast_to(made, value.shape, subok=True)


def computation_dtype(result: str, *operands: object) -> NumpyDtype:
    common = result_type(*operands)
    if result is FLOAT and common.kind in "biu":
        return dtypes.get_default_dtype().numpy
    return common


def result_beside_array(call: Any, self: Tensor, other: Any) -> Any:
    """A comparison with an array of numpy's, which is taken as a tensor; NotImplemented for anything else."""
    return call(self, new_tensor(other)) if isinstance(other, ndarray) else NotImplemented


def as_operator(call: Any, name: str) -> Any:
    """`call` as an operator: NotImplemented instead of an error about the other operand's type."""
    made = FunctionType(call.__code__, call.__globals__, name, call.__defaults__, call.__closure__)
    made.__kwdefaults__ = {**call.__kwdefaults__, "is_operator": True}
    return made


def unary(
    name: str,
    ufunc: AnyFunction,
    *,
    result: str = SAME,
    inplace_form: bool = True,
    computes: Computes = FLOATING,
    in_place: Callable[[Any], None] | None = None,
    **facts: object,
) -> AnyFunction:
    """Register `name(self)` and `name_(self)` over a ufunc; `in_place` is the kernel of `name_`, if it is another.

    The other facts are those of `describe`, and the gradient.
    """

    floating = "f" if "f" in computes.kinds else ""  # the kind that needs no look at what is refused
    refuse = computes.refuse(name)

    def kernel(self: Tensor) -> Array:
        if self.dtype.kind != floating:
            refuse(self.dtype)
            if result is FLOAT and self.dtype.kind in "biu":
                self = cast(self, dtypes.get_default_dtype().numpy)
        return ufunc(self)

    def inplace_kernel(self: Any) -> None:
        if self.dtype.kind != floating:
            refuse(self.dtype)
        if in_place is not None:
            in_place(self)
        elif result is SAME and self.dtype.kind in "fc" and type(ufunc) is np.ufunc:
            ufunc(self, out=self)
        else:
            store(self, asarray(kernel(self)))

    op = OPS[name] = describe(
        name,
        kernel,
        computes=ANY_DTYPE,  # the kernels refuse by themselves, which costs less
        inplace_kernel=inplace_kernel,
        out=OutRule(FOUND_DTYPE) if result is SAME and type(ufunc) is np.ufunc else ELEMENTWISE,
        **said(facts),
    )

    def call(self: Tensor = MISSING, *, out: Tensor | None = None) -> Any:
        if out is not None:
            return run_out(op, (self,), out)
        return functional(op, tls.state, (self,))

    call.op = op  # type: ignore[attr-defined]
    publish(name, call)
    if inplace_form:

        def call_(self: Tensor) -> Tensor:
            return inplace(op, tls.state, (self,))

        call_.op = op  # type: ignore[attr-defined]
        publish(name + "_", call_)
    return call


def binary_kernel(
    ufunc: AnyFunction,
    result: str,
    check: Callable[[Any, Any], None] | None,
    plain_scalars: bool = True,
) -> Callable[[Any, Any], Array]:
    def kernel(self: Any, other: Any) -> Array:
        if isinstance(self, ndarray) and self.dtype.kind == "f":
            kind = type(other)
            same = other.dtype is self.dtype if kind is ndarray else kind is float or kind is int
            if same and (kind is ndarray or plain_scalars):
                try:
                    return ufunc(self, other)
                except ValueError:
                    dtypes.broadcast_shapes(self.shape, np.shape(other))
                    raise
                except OverflowError:
                    pass
        if check is not None:
            check(self, other)
        common = computation_dtype(result, self, other)
        try:
            return ufunc(cast(self, common), cast(other, common))
        except ValueError:
            dtypes.broadcast_shapes(np.shape(self), np.shape(other))
            raise

    return kernel


def _scaling_kernel(plain: Any, result: str, check: Callable[[Any, Any], None] | None) -> Callable[..., Array]:
    """A kernel whose second operand may be scaled first."""

    def kernel(self: object, other: object, alpha: object = 1) -> Array:
        if alpha != 1:
            if check is not None:
                check(self, other)  # of the operands as they are: scaled, a bool is none any more
            common = computation_dtype(result, self, other)
            if common.kind in "biu" and isinstance(alpha, float):
                raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
            other = np.multiply(cast(other, common), asarray(alpha, common))
            if type(other) is not ndarray:
                other = asarray(other)
        return plain(self, other)

    return kernel


def _binary_in_place(
    ufunc: Any, kernel: Any, result: str, check: Callable[[Any, Any], None] | None, numbers: tuple[type, ...]
) -> Callable[..., None]:
    """The kernel that writes to its first operand; `numbers` are those that the ufunc takes beside floating ones."""

    def in_place(self: Any, other: Any, alpha: Any = 1) -> None:
        if type(ufunc) is np.ufunc and alpha == 1 and type(self) is ndarray and self.dtype.kind == "f":
            kind = type(other)
            if result is not BOOL and (
                kind in numbers or (kind is ndarray and other.dtype is self.dtype and other.shape == self.shape)
            ):
                try:
                    ufunc(self, other, out=self)
                    return
                except OverflowError:
                    pass
        if check is not None:
            check(self, other)
        if alpha != 1 or type(ufunc) is not np.ufunc:
            store(self, asarray(kernel(self, other) if alpha == 1 else kernel(self, other, alpha)))
            return
        if isinstance(other, ndarray) and other.shape != self.shape:
            shape = dtypes.broadcast_shapes(self.shape, other.shape)
            if shape != self.shape:
                raise RuntimeError(
                    f"output with shape {dtypes.sizes(self.shape)} doesn't match the broadcast shape "
                    f"{dtypes.sizes(shape)}"
                )
        common = computation_dtype(result, self, other)
        if result is not BOOL and not can_cast(common, self.dtype):
            raise cast_error(common, self.dtype)
        ufunc(cast(self, common), cast(other, common), out=self, casting="unsafe")

    return in_place


def _recorded_comparison(name: str, kernel: Any) -> tuple[Op, Op]:
    """A comparison has no gradient; the tensor that it is written to has a new one."""
    zero = {"self": lambda grad, self_shape: FUNCTIONS["zeros"](self_shape, dtype=grad.dtype)}
    other = {"other": lambda grad, other_shape: FUNCTIONS["zeros"](other_shape, dtype=grad.dtype)}
    return (
        describe_recording(name, kernel, zero, node=f"{name.capitalize()}Backward0"),
        describe_recording(name, kernel, {**zero, **other}, node=f"{name.capitalize()}Backward1"),
    )


def binary(
    name: str,
    ufunc: AnyFunction,
    *,
    result: str = SAME,
    inplace_form: bool = True,
    wraps: bool = False,
    check: Callable[[Any, Any], None] | None = None,
    alpha: bool = False,
    fast_scalar: bool = True,
    numbers: bool = False,
    computes: Computes = FLOATING,
    number_node: str | None = None,
    number_first: bool | None = None,
    number_first_form: Op | None = None,
    **facts: Any,
) -> AnyFunction:
    """Register `name(self, other)` and `name_` over a ufunc; with `alpha`, `other` may be scaled first.

    With `numbers`, either operand may be a Python number; with `wraps` as well, PyTorch makes a tensor of it.
    `number_first` says whether the function takes a number first; by default, all but comparisons do.
    `number_node` names the node of an overload for numbers, which does not make a tensor of them;
    `number_first_form` is the overload for a number and a tensor, if it has its own node. The other facts are those of
    `describe`, and the gradients.
    """
    plain = binary_kernel(ufunc, result, check, fast_scalar)
    kernel = _scaling_kernel(plain, result, check) if alpha else plain
    inplace_kernel = _binary_in_place(ufunc, kernel, result, check, (float, int) if fast_scalar and numbers else ())
    by_number, numbers_apart = None, number_node is not None
    if numbers_apart:
        by_number = describe(
            name,
            kernel,
            {"self": facts["self"]},
            node=number_node,
            numbers=None,
            computes=computes,
            inplace_kernel=inplace_kernel,
        )
    if result is BOOL and inplace_form:
        facts["recorded_in_place"] = _recorded_comparison(name, kernel)
    op = OPS[name] = describe(
        name,
        kernel,
        tensor_params=("self", "other"),
        numbers=("self", "other") if numbers else (),
        wraps=wraps and numbers,
        computes=computes,
        inplace_kernel=inplace_kernel,
        number_form=by_number,
        **said(facts),
    )
    without_tensor = by_number or op
    tensor_first = result is BOOL if number_first is None else not number_first

    def call(
        self: Tensor = MISSING,
        other: object = MISSING,
        *,
        alpha: object = 1,
        out: Tensor | None = None,
        is_operator: bool = False,
    ) -> Any:
        args = (self, other, alpha) if with_alpha else (self, other)
        if tensor_first and isinstance(self, NUMBERS):
            raise wrong_type(name, "self", 1, self)
        try:
            chosen = without_tensor if numbers_apart and isinstance(other, NUMBERS) and self._keys & AUTOGRAD else op
            if number_first_form is not None and isinstance(self, NUMBERS):
                chosen = number_first_form
            if out is not None:
                return run_out(chosen, args, out)
            return functional(chosen, tls.state, args)
        except TypeError:
            if is_operator:
                return result_beside_array(call, self, other) if name == "eq" else NotImplemented
            raise

    with_alpha = alpha
    call.op = op  # type: ignore[attr-defined]
    call.operator = as_operator(call, name)  # type: ignore[attr-defined]
    publish(name, call)
    if inplace_form:

        def call_(
            self: Tensor = MISSING, other: object = MISSING, *, alpha: object = 1, is_operator: bool = False
        ) -> object:
            try:
                numbered = numbers_apart and isinstance(other, NUMBERS) and self._keys & AUTOGRAD
                chosen = without_tensor if numbered else op
                return inplace(chosen, tls.state, (self, other, alpha) if with_alpha else (self, other))
            except TypeError:
                if is_operator:
                    return NotImplemented
                raise

        call_.op = op  # type: ignore[attr-defined]
        call_.operator = as_operator(call_, name + "_")  # type: ignore[attr-defined]
        publish(name + "_", call_)
    return call


def no_derivative(name: str) -> Callable[[Any], Tensor]:
    """What derivatives.yaml has as `not_implemented("name")`."""

    def refuse(grads: object) -> Tensor:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return refuse


def no_autograd_kernel(name: str) -> Callable[[Any], Tensor]:
    """The formula of an op that derivatives.yaml doesn't have; the node is called NotImplemented."""

    def refuse(grads: object) -> Tensor:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return refuse
