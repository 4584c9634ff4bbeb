"""Reductions and cumulative ops. Derivatives as in derivatives.yaml and FunctionsManual.cpp."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import Array, wrap_dim
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor, new_tensor
from ..dispatch.inplace_layers import store
from ..dispatch.op_description import (
    ANY_DTYPE,
    EXPECTED_OUT,
    OPS,
    RESIZED,
    Computes,
    OutRule,
    Refusal,
    any_dtype,
    same_dtype,
)
from ..dispatch.registration import composite, op
from .elementwise import conj

Dims = tuple[int, ...]

# numpy's stubs do not know `axis` as a tuple.
_add: Any = np.add
_multiply: Any = np.multiply
_maximum: Any = np.maximum
_minimum: Any = np.minimum


EXTREME_OUT = OutRule(
    same_dtype(
        "Expected the dtype for input and out to match, but got {want.scalar_name} for input's dtype and "
        "{got.scalar_name} for out's dtype."
    ),
    resized_first=True,
)


def dims_of(dim: Any, ndim: int) -> Dims:
    """Dimensions to reduce, counted from the front; all of them for None and ()."""
    if dim is None:
        return tuple(range(ndim))
    if isinstance(dim, int):
        return (wrap_dim(dim, ndim),) if ndim else (wrap_dim(dim, 0),)[:0]
    if isinstance(dim, str | float):
        from .views import flatten_ints

        flatten_ints((dim,))
    found = tuple(wrap_dim(int(d), ndim) for d in dim)
    if len(set(found)) != len(found):
        repeated = next(d for d in found if found.count(d) > 1)
        raise RuntimeError(f"dim {repeated} appears multiple times in the list of dims")
    return found if found and ndim else tuple(range(ndim))


def restore(t: Tensor, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Tensor:
    """A reduced tensor with the reduced dimensions put back as 1."""
    if not keepdim and shape:
        for d in sorted(dims_of(dim, len(shape))):
            t = t.unsqueeze(d)
    return t


def _sum_dtype(array: Any, dtype: dtypes.dtype | None) -> Any:
    if dtype is not None:
        return dtype.numpy
    return np.int64 if array.dtype.kind in "biu" else None


def _in_dtype(array: Any, dtype: dtypes.dtype | None) -> Any:
    """The operand of a reduction that computes in `dtype`, where numpy would not convert by itself."""
    return array if dtype is None or array.dtype == dtype.numpy else array.astype(dtype.numpy)


def _expanded(grad: Tensor, self_shape: tuple[int, ...], dim: Any, keepdim: bool) -> Tensor:
    return restore(grad, self_shape, dim, keepdim).expand(self_shape)


@op(
    "sum_all",
    computes=ANY_DTYPE,
    out=OutRule(any_dtype, resized_first=True),
    title="sum",
    node="SumBackward0",
    method=False,
    function=False,
    leak=1,
    self=lambda grad, self_shape: grad.expand(self_shape),
)
def sum_all(self: Any, dtype: dtypes.dtype | None = None) -> Array:
    return _add.reduce(_in_dtype(self, dtype), axis=None, dtype=_sum_dtype(self, dtype))


@op(
    "sum_dim",
    computes=ANY_DTYPE,
    out=OutRule(any_dtype, resized_first=True),
    title="sum",
    node="SumBackward1",
    method=False,
    function=False,
    leak=1,
    self=_expanded,
)
def sum_dim(self: Any, dim: Any, keepdim: bool = False, dtype: dtypes.dtype | None = None) -> Array:
    axes = dims_of(dim, self.ndim)
    return _add.reduce(_in_dtype(self, dtype), axis=axes, keepdims=keepdim, dtype=_sum_dtype(self, dtype))


@composite("sum")
def sum_(
    self: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
    axis: Any = None,
    out: Tensor | None = None,
) -> Any:
    dim = axis if dim is None else dim
    if out is not None:
        return sum_dim(self, dim, keepdim, dtype or out.dtype, out=out)
    return sum_all(self, dtype) if dim is None and not keepdim else sum_dim(self, dim, keepdim, dtype)


def _mean_kernel(self: Any, axes: Any, keepdim: bool, dtype: dtypes.dtype | None) -> Array:
    if dtype is not None:
        self = self.astype(dtype.numpy)
    if self.dtype.kind not in "fc":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex "
            "dtype. Got: "
            f"{dtypes.of(self).scalar_name}"
        )
    axes = None if axes is None else dims_of(axes, self.ndim)
    count = self.size if axes is None else int(np.prod([self.shape[a] for a in axes], dtype=np.int64))
    total = _add.reduce(self, axis=axes, keepdims=keepdim)
    return np.true_divide(total, np.asarray(count, self.dtype)) if count else np.full_like(total, np.nan)


def elements_reduced(shape: tuple[int, ...], dim: Any) -> int:
    n = 1
    for d in dims_of(dim, len(shape)):
        n *= shape[d]
    return n


@op(
    "mean_all",
    computes=ANY_DTYPE,
    out=RESIZED,
    title="mean",
    node="MeanBackward0",
    method=False,
    function=False,
    leak=2,
    refuses="sum",
    self=lambda grad, self_shape: grad.expand(self_shape) / elements_reduced(self_shape, None),
)
def mean_all(self: Any, dtype: dtypes.dtype | None = None) -> Array:
    return _mean_kernel(self, None, False, dtype)


@op(
    "mean_dim",
    computes=ANY_DTYPE,
    out=RESIZED,
    title="mean",
    node="MeanBackward1",
    method=False,
    function=False,
    leak=2,
    refuses="sum",
    self=lambda grad, self_shape, dim, keepdim: (
        _expanded(grad, self_shape, dim, keepdim) / elements_reduced(self_shape, dim)
    ),
)
def mean_dim(self: Any, dim: Any, keepdim: bool = False, dtype: dtypes.dtype | None = None) -> Array:
    return _mean_kernel(self, dim, keepdim, dtype)


@composite("mean", out=RESIZED, computed_in_out=lambda self, *_: self._array.dtype.kind in "fc")
def mean(
    self: Tensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: dtypes.dtype | None = None,
    axis: Any = None,
) -> Any:
    dim = axis if dim is None else dim
    return mean_all(self, dtype) if dim is None and not keepdim else mean_dim(self, dim, keepdim, dtype)


def _prod_back(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    if self._array.ndim == 0:
        return grad.clone()
    zeros = int((self._array == 0).sum())
    if zeros == 0:
        return grad * conj(result / self)
    flat = self.reshape(-1)
    others = [FUNCTIONS["cat"]([flat[:i], flat[i + 1 :]]).prod() for i in range(flat.numel())]
    return (grad * conj(FUNCTIONS["stack"](others))).reshape(self._array.shape)


@op(
    "prod_all",
    computes=ANY_DTYPE,
    out=RESIZED,
    title="prod",
    node="ProdBackward0",
    method=False,
    function=False,
    leak=1,
    self=_prod_back,
)
def prod_all(self: Any, dtype: dtypes.dtype | None = None) -> Array:
    return _multiply.reduce(_in_dtype(self, dtype), axis=None, dtype=_sum_dtype(self, dtype))


def _prod_dim_back(grad: Tensor, self: Tensor, result: Tensor, dim: int, keepdim: bool) -> Tensor:
    if not keepdim and self._array.ndim:
        grad, result = grad.unsqueeze(dim), result.unsqueeze(dim)
    if not (self._array == 0).any():
        return grad * conj(result / self)
    parts = []
    n = self._array.shape[dim]
    for i in range(n):
        rest = FUNCTIONS["cat"]([self.narrow(dim, 0, i), self.narrow(dim, i + 1, n - i - 1)], dim)
        parts.append(rest.prod(dim, True))
    return grad * conj(FUNCTIONS["cat"](parts, dim))


@op(
    "prod_dim",
    computes=ANY_DTYPE,
    out=RESIZED,
    title="prod",
    node="ProdBackward1",
    method=False,
    function=False,
    leak=1,
    self=_prod_dim_back,
)
def prod_dim(self: Any, dim: int, keepdim: bool = False, dtype: dtypes.dtype | None = None) -> Array:
    axes, computed = dims_of(dim, self.ndim), _sum_dtype(self, dtype)
    return _multiply.reduce(_in_dtype(self, dtype), axis=axes, keepdims=keepdim, dtype=computed)


@composite("prod", out=RESIZED, computed_in_out=lambda *_: True)
def prod(self: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: dtypes.dtype | None = None) -> Any:
    return prod_all(self, dtype) if dim is None else prod_dim(self, dim, keepdim, dtype)


# -- extremes
# ---------------------------------------------------------------------------------------------------


def _evenly(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """The gradient shared evenly among the elements equal to the extreme."""
    mask = self.isnan() if bool(result.isnan()) else self == result
    return FUNCTIONS["zeros_like"](self).masked_fill_(mask, grad / mask.sum())


def _check_nonempty(self: Any, name: str) -> None:
    if self.size == 0:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the "
            "'dim' argument."
        )


def _check_dims(self: Any, dim: Any, name: str) -> None:
    """Extremes of nothing: all dimensions that are reduced must have elements."""
    if self.size == 0 and self.ndim:
        if dim is None or (isinstance(dim, tuple | list) and not dim):
            _check_nonempty(self, name)
        for d in dims_of(dim, self.ndim):
            if self.shape[d] == 0:
                raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")


@op(
    "max_all",
    computes=Computes("bif", "max_all"),
    out=RESIZED,
    node="MaxBackward1",
    method=False,
    function=False,
    leak=1,
    self=_evenly,
)
def max_all(self: Any) -> Array:
    _check_nonempty(self, "max")
    return _maximum.reduce(self, axis=None)


@op(
    "min_all",
    computes=Computes("bif", "min_all"),
    out=RESIZED,
    node="MinBackward1",
    method=False,
    function=False,
    leak=1,
    self=_evenly,
)
def min_all(self: Any) -> Array:
    _check_nonempty(self, "min")
    return _minimum.reduce(self, axis=None)


def _at_index(grads: list[Any], self_shape: tuple[int, ...], dim: int, keepdim: bool, result: list[Tensor]) -> Tensor:
    return value_selecting_backward(grads[0], result[1], self_shape, dim, keepdim)


def value_selecting_backward(grad: Tensor, indices: Tensor, shape: tuple[int, ...], dim: int, keepdim: bool) -> Tensor:
    if not shape:
        return grad
    if not keepdim:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    # zero_() counts as a write, as filling does in PyTorch here
    return FUNCTIONS["zeros"](shape, dtype=grad.dtype).zero_().scatter_(dim, indices, grad)


def pair(name: str) -> Any:
    make: Any = namedtuple  # as torch.return_types has them
    made = make(name, ["values", "indices"])
    made.__module__ = "torch.return_types"
    made.__repr__ = lambda pair: f"torch.return_types.{name}(\nvalues={pair[0]!r},\nindices={pair[1]!r})"
    return lambda results: made(*results)


def _extreme(self: Any, dim: int, keepdim: bool, name: str, arg: Any) -> tuple[Array, Array]:
    if self.ndim == 0:
        wrap_dim(dim, 0)
        return self.copy(), np.zeros((), np.int64)
    d = wrap_dim(dim, self.ndim)
    if self.shape[d] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")
    indices = np.expand_dims(arg(self, axis=d), d)
    values = np.take_along_axis(self, indices, d)
    if not keepdim:
        indices, values = indices.squeeze(d), values.squeeze(d)
    return values, indices.astype(np.int64)


def _register_extremes() -> None:
    """max, min with a dim, and sort and topk like them: values with the indices they come from."""
    for name, arg in (("max", np.argmax), ("min", np.argmin)):

        def kernel(self: Any, dim: int, keepdim: bool = False, _name: str = name, _arg: Any = arg) -> Any:
            return _extreme(self, dim, keepdim, _name, _arg)

        op(
            f"{name}_dim",
            computes=Computes(
                "bif",
                refusals=(Refusal("c", RuntimeError, f"{name}(): does not support complex input", shapes_first=True),),
            ),
            out=RESIZED,
            node=f"{name.capitalize()}Backward0",
            method=False,
            function=False,
            leak=lambda self, dim, keepdim=False, *rest: 0 if keepdim else 2,
            outputs=pair(name),
            nondifferentiable=(1,),
            self=_at_index,
        )(kernel)

        def call(
            self: Tensor,
            *args: Any,
            dim: Any = None,
            keepdim: bool = False,
            other: Any = None,
            _name: str = name,
        ) -> Any:
            if args and isinstance(args[0], Tensor):
                other, args = args[0], args[1:]
            if other is not None:
                both = FUNCTIONS["maximum" if _name == "max" else "minimum"]
                return both(self, other)
            if args:
                dim, keepdim = args[0], (args[1] if len(args) > 1 else keepdim)
            if dim is None:
                return (max_all if _name == "max" else min_all)(self)
            return _by_name(f"{_name}_dim")(self, dim, keepdim)

        composite(name, out=OutRule(EXPECTED_OUT))(call)


def _by_name(name: str) -> Any:
    from ..core.thread_state import tls
    from ..dispatch.functional_layers import functional

    chosen = OPS[name]
    return lambda *args: functional(chosen, tls.state, chosen.bind(args, {}))


_register_extremes()


def _scaled_evenly(grad: Tensor, self: Tensor, result: Tensor, dim: Any, keepdim: bool) -> Tensor:
    shape = self._array.shape
    grad, result = restore(grad, shape, dim, keepdim), restore(result, shape, dim, keepdim)
    mask = self == result
    count = mask.sum(dims_of(dim, len(shape)), keepdim=True) if shape else 1
    return mask * (grad / count)


@op("amax", computes=Computes("bif", "max_values_cpu"), out=EXTREME_OUT, leak=1, self=_scaled_evenly)
def amax(self: Any, dim: Any = (), keepdim: bool = False) -> Array:
    _check_dims(self, dim, "amax")
    return _maximum.reduce(self, axis=dims_of(dim, self.ndim), keepdims=keepdim)


@op("amin", computes=Computes("bif", "min_values_cpu"), out=EXTREME_OUT, leak=1, self=_scaled_evenly)
def amin(self: Any, dim: Any = (), keepdim: bool = False) -> Array:
    _check_dims(self, dim, "amin")
    return _minimum.reduce(self, axis=dims_of(dim, self.ndim), keepdims=keepdim)


def _arg(self: Any, dim: Any, keepdim: bool, function: Any) -> Array:
    if dim is None:
        if self.size == 0:
            raise IndexError(f"{function.__name__}(): Expected reduction dim to be specified for input.numel() == 0.")
        found = np.asarray(function(self))
        return found.reshape((1,) * self.ndim) if keepdim else found
    if self.ndim == 0:
        wrap_dim(dim, 0)
        return np.zeros((), np.int64)
    _check_dims(self, dim, function.__name__)
    return function(self, axis=wrap_dim(dim, self.ndim), keepdims=keepdim)


def over_one(self: Tensor, dim: Any = None, keepdim: bool = False) -> int:
    """1 where the reduced dimensions have one element each: PyTorch then copies or fills."""
    shape = self._array.shape
    return 1 if dim is not None and shape and all(shape[d] == 1 for d in dims_of(dim, len(shape))) else 0


@op(
    "argmax",
    computes=Computes(
        "if",
        refusals=(
            Refusal("b", RuntimeError, "argmax(): does not support bool input"),
            Refusal("c", RuntimeError, "argmax(): does not support complex input"),
        ),
    ),
    out=OutRule(EXPECTED_OUT, resized_first=True),
    leak=lambda self, dim=None, keepdim=False: over_one(self, dim),
)
def argmax(self: Any, dim: int | None = None, keepdim: bool = False) -> Array:
    return _arg(self, dim, keepdim, np.argmax)


@op(
    "argmin",
    computes=Computes(
        "if",
        refusals=(
            Refusal("b", RuntimeError, "argmin(): does not support bool input"),
            Refusal("c", RuntimeError, "argmin(): does not support complex input"),
        ),
    ),
    out=OutRule(EXPECTED_OUT, resized_first=True),
    leak=lambda self, dim=None, keepdim=False: over_one(self, dim),
)
def argmin(self: Any, dim: int | None = None, keepdim: bool = False) -> Array:
    return _arg(self, dim, keepdim, np.argmin)


# -- logic and counting
# -----------------------------------------------------------------------------------------


def _logic(name: str, ufunc: Any) -> None:
    def kernel(self: Any, dim: Any = None, keepdim: bool = False) -> Array:
        found = ufunc.reduce(self.astype(bool), axis=dims_of(dim, self.ndim), keepdims=keepdim)
        return found.astype(np.uint8) if self.dtype == np.uint8 else found

    op(
        name,
        computes=ANY_DTYPE,
        out=RESIZED,
        leak=lambda self, dim=None, keepdim=False: 0 if self._array.dtype == np.uint8 else 1,
    )(kernel)


_logic("all", np.logical_and)
_logic("any", np.logical_or)


def _count_below(self: Tensor, dim: Any = None) -> Tensor:
    if dim is not None:
        return (self != 0).sum(dim)
    return new_tensor(np.asarray(np.count_nonzero(self._array), np.int64))


@op("count_nonzero", computes=ANY_DTYPE, out=RESIZED, below=_count_below)
def count_nonzero(self: Any, dim: Any = None) -> Array:
    return np.asarray(np.count_nonzero(self, axis=None if dim is None else dims_of(dim, self.ndim)), np.int64)


# -- cumulative
# -------------------------------------------------------------------------------------------------


def _cumulative_in_place(name: str) -> Callable[..., None]:
    def kernel(self: Any, dim: int, dtype: dtypes.dtype | None = None) -> None:
        if dtype is not None and dtype.numpy != self.dtype:
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {dtypes.of(self).short} and output tensor dtype {dtype.short} "
                "should match"
            )
        if self.dtype.kind == "b":
            raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'")
        store(self, np.asarray(OPS[name].kernel(self, dim, dtypes.of(self))))

    return kernel


@op(
    "cumsum",
    computes=ANY_DTYPE,
    out=RESIZED,
    inplace_kernel=_cumulative_in_place("cumsum"),
    inplace=True,
    self=lambda grad, dim: grad.flip(dim).cumsum(dim).flip(dim) if grad._array.ndim else grad,
)
def cumsum(self: Any, dim: int, *, dtype: dtypes.dtype | None = None) -> Array:
    if self.ndim == 0:
        wrap_dim(dim, 0)
        return self.copy()
    return _add.accumulate(_in_dtype(self, dtype), axis=wrap_dim(dim, self.ndim), dtype=_sum_dtype(self, dtype))


def _cumprod_back(grad: Tensor, self: Tensor, dim: int, result: Tensor) -> Tensor:
    n = self._array.shape[dim]
    found = []
    for i in range(n):
        terms = []
        for j in range(i, n):
            head = FUNCTIONS["cat"]([self.narrow(dim, 0, i), self.narrow(dim, i + 1, j - i)], dim).prod(dim, True)
            terms.append(grad.narrow(dim, j, 1) * conj(head))
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        found.append(total)
    return FUNCTIONS["cat"](found, dim)


@op(
    "cumprod",
    computes=ANY_DTYPE,
    out=RESIZED,
    inplace_kernel=_cumulative_in_place("cumprod"),
    inplace=True,
    self=_cumprod_back,
)
def cumprod(self: Any, dim: int, *, dtype: dtypes.dtype | None = None) -> Array:
    if self.ndim == 0:
        wrap_dim(dim, 0)
        return self.copy()
    return _multiply.accumulate(self, axis=wrap_dim(dim, self.ndim), dtype=_sum_dtype(self, dtype))


@op(
    "logsumexp",
    computes=ANY_DTYPE,
    out=RESIZED,
    leak=1,
    refuses="logsumexp",
    self=lambda grad, self, result, dim, keepdim: (
        restore(grad, self._array.shape, dim, keepdim)
        * conj((self - restore(result, self._array.shape, dim, keepdim)).exp())
    ),
)
def logsumexp(self: Any, dim: Any, keepdim: bool = False) -> Array:
    if self.dtype.kind in "biu":
        self = self.astype(dtypes.get_default_dtype().numpy)
    axes = dims_of(dim, self.ndim)
    top = _maximum.reduce(self, axis=axes, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0).astype(self.dtype)
    found = np.log(_add.reduce(np.exp(self - top), axis=axes, keepdims=True)) + top
    return found if keepdim else found.squeeze(axes)
