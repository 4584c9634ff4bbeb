"""Matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes, error_texts
from ...core.dtypes import Array, sizes
from ...core.error_texts import require_tensors, wrong_type
from ...core.tensor import Tensor, attach, ndarray, requires_grad
from ...core.thread_state import tls
from ...dispatch.op_description import EXPECTED_OUT, RESIZED, Computes, OutRule, same_dtype
from ...dispatch.registration import composite, op
from ...dispatch.writing_layers import resize_output
from ..elementwise import conj
from ..views import expand_array


def _same_dtype(name: str, a: Any, b: Any) -> None:
    if a.dtype != b.dtype:
        if name == "addmm":
            names = f"{dtypes.of(a).scalar_name} and {dtypes.of(b).scalar_name}"
            raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {names}")
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {dtypes.of(a).short} != {dtypes.of(b).short}"
        )


def check_addmv_dtypes(self: Any, mat: Any, vec: Any) -> None:
    """RuntimeError unless a matrix, a vector and what their product is added to have one dtype."""
    if not self.dtype == mat.dtype == vec.dtype:
        mine, matrix, vector = (dtypes.of(a).scalar_name for a in (self, mat, vec))
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {mine}, {matrix}, and {vector}")


def _cannot_multiply(a: Any, b: Any) -> RuntimeError:
    return RuntimeError(
        f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})"
    )


def _left(grad: Tensor, mat2: Tensor, alpha: object, shape: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
    """Gradient of the left factor, in that factor's memory layout, as PyTorch gives it."""
    if strides[0] == 1 and strides[1] == shape[0]:
        return _times(conj(mat2).mm(grad.t()).t(), alpha)
    return _times(grad.mm(conj(mat2.t())), alpha)


def _right(grad: Tensor, mat1: Tensor, alpha: object, shape: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
    if strides[0] == 1 and strides[1] == shape[0]:
        return _times(grad.t().mm(conj(mat1)).t(), alpha)
    return _times(conj(mat1.t()).mm(grad), alpha)


@op(
    "mm",
    computes=Computes("ifc", "addmm_impl_cpu_"),
    out=OutRule(EXPECTED_OUT, resized_first=True),
    self=lambda grad, mat2, self_shape, self_strides: _left(grad, mat2, 1, self_shape, self_strides),
    mat2=lambda grad, self, mat2_shape, mat2_strides: _right(grad, self, 1, mat2_shape, mat2_strides),
)
def mm(self: Array, mat2: Array) -> Array:
    if self.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    if self.shape[1] != mat2.shape[0]:
        raise _cannot_multiply(self, mat2)
    _same_dtype("mm", self, mat2)
    return _matrix_product(self, mat2)


def _matrix_product(left: Array, right: Array) -> Array:
    """`left @ right`; of dense floating matrices `dot` makes the same call of BLAS in a third of the time."""
    if (
        left.dtype.kind == "f"
        and left.itemsize > 2
        and left is not right
        and 1 not in left.shape
        and 1 not in right.shape
    ):
        mine, other = left.flags, right.flags
        if (mine.c_contiguous and other.c_contiguous) or (
            (mine.c_contiguous or mine.f_contiguous)
            and (other.c_contiguous or other.f_contiguous)
            and _root(left) is not _root(right)
        ):
            plain = left if type(left) is ndarray else left.view(ndarray)
            return plain.dot(right if type(right) is ndarray else right.view(ndarray))  # the function takes longer
    return np.matmul(left, right)


def _root(array: Array) -> Any:
    return array if array.base is None else array.base


@op(
    "mv",
    computes=Computes("ifc", "addmv_impl_cpu"),
    out=RESIZED,
    leak=1,
    refuses="saved",
    self=lambda grad, vec: grad.outer(conj(vec)),
    vec=lambda grad, self: conj(self.t()).mv(grad),
)
def mv(self: Array, vec: Array) -> Array:
    if self.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {1}, {self.ndim}, {vec.ndim}")
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({self.shape[0]}), mat ({self.shape[0]}x{self.shape[1]}), vec ({vec.shape[0]})"
        )
    check_addmv_dtypes(vec, self, vec)
    return np.matmul(self, vec)


DOT_OUT = OutRule(
    same_dtype("result dtype {got.scalar_name} does not match input dtype {want.scalar_name}"), resized_first=True
)


def check_dot(self: Array, other: Array) -> None:
    if self.ndim != 1 or other.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {other.ndim}D tensors")
    if self.dtype != other.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {dtypes.of(self).scalar_name} and "
            f"{dtypes.of(other).scalar_name}"
        )
    if self.shape != other.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {sizes(self.shape)} and src {sizes(other.shape)} to have the "
            f"same number of elements, but got {self.size} and {other.size} elements respectively"
        )


@op(
    "dot",
    computes=Computes("ifc", "dot"),
    out=DOT_OUT,
    leak=1,
    self=lambda grad, tensor: grad * conj(tensor),
    tensor=lambda grad, self: grad * conj(self),
)
def dot(self: Array, tensor: Array) -> Array:
    check_dot(self, tensor)
    return np.dot(self, tensor)


@op(
    "bmm",
    computes=Computes("ifc", "bmm"),
    out=OutRule(EXPECTED_OUT, resized_first=True),
    self=lambda grad, mat2: grad.bmm(conj(mat2.transpose(1, 2))),
    mat2=lambda grad, self: conj(self.transpose(1, 2)).bmm(grad),
)
def bmm(self: Array, mat2: Array) -> Array:
    for name, array in (("batch1", self), ("batch2", mat2)):
        if array.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if self.shape[0] != mat2.shape[0] or self.shape[2] != mat2.shape[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {sizes((self.shape[0], self.shape[2]))} "
            f"but got: {sizes(mat2.shape[:2])}."
        )
    if self.dtype != mat2.dtype:
        raise RuntimeError(
            f"expected scalar type {dtypes.of(self).scalar_name} but found {dtypes.of(mat2).scalar_name}"
        )
    return np.matmul(self, mat2)


@op(
    "addmm",
    computes=Computes("ifc", "addmm_impl_cpu_"),
    out=OutRule(EXPECTED_OUT, resized_first=True),
    inplace=True,
    leak=1,
    self=lambda grad, beta: grad if beta == 1 else grad * beta,
    mat1=lambda grad, mat2, alpha, mat1_shape, mat1_strides: _left(grad, mat2, alpha, mat1_shape, mat1_strides),
    mat2=lambda grad, mat1, alpha, mat2_shape, mat2_strides: _right(grad, mat1, alpha, mat2_shape, mat2_strides),
)
def addmm(self: Array, mat1: Array, mat2: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    dtype = self.dtype
    if (
        beta == 1 == alpha
        and self.ndim == 1
        and mat1.ndim == mat2.ndim == 2
        and dtype is mat1.dtype is mat2.dtype
        and mat1.shape[1] == mat2.shape[0]
        and self.shape[0] == mat2.shape[1] > 1 < mat1.shape[0]
        and dtype.kind == "f"
    ):  # a linear layer: the operands go together, and so do the results of numpy's
        found: Array = _matrix_product(mat1, mat2)
        found += self
        return found
    if self.dtype != mat2.dtype:
        raise RuntimeError(
            "self and mat2 must have the same dtype, but got "
            f"{dtypes.of(self).scalar_name} and {dtypes.of(mat2).scalar_name}"
        )
    _same_dtype("addmm", mat1, mat2)
    if mat1.ndim != 2:
        raise RuntimeError(f"mat1 must be a matrix, got {mat1.ndim}-D tensor")
    if mat2.ndim != 2:
        raise RuntimeError(f"mat2 must be a matrix, got {mat2.ndim}-D tensor")
    if mat1.shape[1] != mat2.shape[0]:
        raise _cannot_multiply(mat1, mat2)
    product = np.matmul(mat1, mat2)
    if alpha != 1:
        product = product * product.dtype.type(alpha)
    self = expand_array(self, product.shape)
    return product + (self if beta == 1 else self * self.dtype.type(beta))


def _times(t: Tensor, factor: object) -> Tensor:
    return t if factor == 1 else t * factor


@composite("outer", out=RESIZED)
def outer(self: Tensor, vec2: Tensor) -> Tensor:
    require_tensors("outer", self=self, vec2=vec2)
    for name, operand in (("self", self), ("vec2", vec2)):
        if operand._array.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {operand._array.ndim}-D")
    return self.reshape(self.numel(), 1) * vec2


@composite("matmul")
def matmul(self: Tensor, other: object, *, out: Tensor | None = None, is_operator: bool = False) -> Any:
    """Product with the shapes and broadcasting of torch.matmul, made of dot, mv, mm and bmm as there."""
    if not isinstance(other, Tensor):
        if is_operator:
            return NotImplemented
        raise wrong_type("matmul", "other", 2, other)
    require_tensors("matmul", self=self)
    if out is not None:
        if not isinstance(out, Tensor):
            raise TypeError(f"matmul(): argument 'out' must be Tensor, not {type(out).__name__}")
        return _into(self, other, out)
    left, right = self._array, other._array
    a, b = left.ndim, right.ndim
    _check_dimensions(a, b)
    if a == 1 and b == 1:
        return dot(self, other)
    if a == 2 and b == 1:
        return mv(self, other)
    if a == 1 and b == 2:
        return mm(self.unsqueeze(0), other).squeeze_(0)
    if a == 2 and b == 2:
        return mm(self, other)
    if ((a >= 3 and b <= 2) or (a <= 2 and b >= 3)) and _should_fold(self, other, a, b):
        return _folded(self, other, a, b)
    return _batched(self, other)


def _check_dimensions(a: int, b: int) -> None:
    if a == 0 or b == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D")


def _into(self: Tensor, other: Tensor, out: Tensor) -> Tensor:
    """matmul(out=): what gives a tensor of the right shape has no history, so only flags are checked here."""
    _check_dimensions(self._array.ndim, other._array.ndim)
    state = tls.state
    if state.grad_mode and any(map(requires_grad, (self, other, out))):  # below Autograd, too
        raise error_texts.out_requires_grad("matmul")
    vectors = self._array.ndim == other._array.ndim == 1
    if vectors:
        if self._array.dtype != out._array.dtype:
            want, got = self.dtype.scalar_name, out.dtype.scalar_name
            raise RuntimeError(f"result dtype {got} does not match input dtype {want}")
        resize_output(out, ())  # which may be one of the vectors
    grad_mode, state.grad_mode = state.grad_mode, False
    try:
        found = dot(self, other) if vectors else matmul(self, other)
    finally:
        state.grad_mode = grad_mode
    if self._array.dtype != out._array.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {self.dtype.short}, but got {out.dtype.short} instead")
    resize_output(out, found._array.shape)
    return out.copy_(found)


def _should_fold(self: Tensor, other: Tensor, a: int, b: int) -> bool:
    """Whether one big product of matrices stands for a batched one (should_fold in LinearAlgebra.cpp)."""
    smaller = other if a >= b else self
    if requires_grad(smaller):  # whatever grad mode is
        return True
    if a == 2:
        return False
    larger = self._array if a >= b else other._array.swapaxes(-1, -2)
    if not larger.size:
        return True
    shape, strides = larger.shape, [s // larger.itemsize for s in larger.strides]
    return all(strides[i] == strides[i + 1] * shape[i + 1] for i in range(len(shape) - 2))


def _folded(self: Tensor, other: Tensor, a: int, b: int) -> Tensor:
    """One operand is a batch, the other a matrix or vector: one big product of matrices."""
    if a >= 3:
        batch, plain, transposed = self, other, False
    else:
        batch = other.transpose(-1, -2)
        plain = self.t() if a == 2 else self
        transposed = True
    shape = batch._array.shape
    folded = batch.reshape(-1, shape[-1])
    if plain._array.ndim == 2:
        product = mm(folded, plain)
        result = unsafe(product, (*shape[:-1], product._array.shape[-1]))
        return result.mT.contiguous() if transposed else result
    return unsafe(mv(folded, plain), shape[:-1])


def unsafe(t: Tensor, shape: tuple[int, ...]) -> Tensor:
    from ..views import unsafe_view

    return unsafe_view(t, shape)


def _batched(self: Tensor, other: Tensor) -> Tensor:
    sa, sb = self._array.shape, other._array.shape
    batch = dtypes.broadcast_shapes(sa[:-2], sb[:-2])
    count = 1
    for n in batch:
        count *= n
    sa = sa if len(sa) > 1 else (1, *sa)
    vector = len(sb) == 1
    sb = (*sb, 1) if vector else sb
    left = self.expand((*batch, *sa[-2:])).reshape(count, *sa[-2:])
    if vector:
        other = other.unsqueeze(1)
    right = other.expand((*batch, *sb[-2:])).reshape(count, *sb[-2:])
    shape: tuple[int, ...] = (*batch, sa[-2], sb[-1])
    if len(self._array.shape) == 1:
        shape = (*batch, sb[-1])
    elif vector:
        shape = (*batch, sa[-2])
    return unsafe(bmm(left, right), shape)


def _rmatmul(self: Tensor, other: object) -> Any:
    return matmul(other, self) if isinstance(other, Tensor) else NotImplemented


def _matmul_operator(self: Tensor, other: object) -> Any:
    return matmul(self, other, is_operator=True)


attach("__matmul__", _matmul_operator)
attach("__rmatmul__", _rmatmul)
