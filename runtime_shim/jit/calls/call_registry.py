"""How calls in archives find their functions: the registry, the conversion of arguments, the ops that need none.

TorchScript gives one name to several functions (`aten::add` of tensors, of numbers, of strings, of lists),
and the serialized code does not say which; the first argument does.

In serialized code a dtype, a layout and a memory format are integers, `None` stands for a keyword that was
not given, and reductions of losses are integers.

Schemas: `aten/src/ATen/native/native_functions.yaml`. An op is looked up as a function of the backend, as
a method of its tensors (first of all, when it ends with an underscore), then in its `nn.functional`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guardfix.torch_ops.op_table import ops

from ...dispatch.op_description import OPS
from ..archived_tensors import DTYPE_CODES

CallFunction = Callable[..., Any]

VALUE_OPS: dict[str, dict[str, CallFunction]] = {}
"""Op name, then kind of the first argument ("number", "str", "list", "dict", "tuple" or "any")."""


def script_op(kind: str, *names: str) -> Callable[[CallFunction], CallFunction]:
    """Registers a function for ops of these names when the first argument is of this kind."""

    def register(function: CallFunction) -> CallFunction:
        for name in names:
            VALUE_OPS.setdefault(name, {})[kind] = function
        return function

    return register


_KINDS: dict[type, str] = {
    int: "number",
    float: "number",
    bool: "number",
    complex: "number",
    str: "str",
    list: "list",
    dict: "dict",
    tuple: "tuple",
}


def value_kind(value: object) -> str:
    return _KINDS.get(type(value), "any")


REDUCTION_NAMES = ("none", "mean", "sum")
_MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
_STRIDED = 0


class Arguments:
    """Conversions that need the backend."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        self._dtypes = {code: getattr(backend, name, None) for code, name in DTYPE_CODES.items()}
        self._codes = {dtype: code for code, dtype in self._dtypes.items() if dtype is not None}

    def dtype(self, code: Any) -> Any:
        """The backend's dtype for TorchScript's integer. NotImplementedError when the backend has none."""
        found = self._dtypes.get(code)
        if found is None:
            raise NotImplementedError(f"dtype {DTYPE_CODES.get(code, code)} is not supported here")
        return found

    def code(self, dtype: object) -> int:
        return self._codes[dtype]

    def device(self, text: str, index: int | None = None) -> Any:
        """A device of the backend; the text itself where it has no devices."""
        make = getattr(self.backend, "device", None)
        name = text if index is None else f"{text}:{index}"
        return name if make is None else make(name)

    def keywords(self, given: dict[str, Any]) -> dict[str, Any]:
        """Keyword-only arguments as the backend wants them; what is at its default is left out."""
        out: dict[str, Any] = {}
        for name, value in given.items():
            if value is None or (name in ("pin_memory", "non_blocking", "copy") and value is False):
                continue
            if name == "dtype":
                out[name] = self.dtype(value)
            elif name == "layout":
                if value != _STRIDED:
                    raise NotImplementedError("only strided tensors are supported")
            elif name == "memory_format":
                if value > 1:
                    out[name] = self.memory_format(value)
            elif name == "device":
                if not is_cpu(value):
                    out[name] = value
            else:
                out[name] = value
        return out

    def memory_format(self, code: int) -> Any:
        found = getattr(self.backend, _MEMORY_FORMATS[code], None)
        if found is None:
            raise NotImplementedError(f"torch.{_MEMORY_FORMATS[code]} is not supported here")
        return found


def is_cpu(device: object) -> bool:
    return str(device) in ("cpu", "cpu:0")


_COMPOSITE = """
    __and__ __lshift__ __or__ __rshift__ __xor__ absolute adaptive_avg_pool1d adaptive_avg_pool2d
    adaptive_avg_pool3d adjoint allclose arccos arccosh arcsin arcsinh arctan arctan2 arctanh backward bernoulli
    bernoulli_ bilinear bucketize cdist cholesky clip clip_ concat
    concatenate contiguous conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d copy_
    cosine_similarity cpu cross det detach detach_ diag diagflat diff dim divide divide_ dropout_
    element_size elu elu_ equal expand_as exponential_ feature_dropout_ fill_diagonal_ fix flatten fliplr flipud
    float_power gelu get_device glu greater greater_equal hardsigmoid hardswish hardtanh hardtanh_ hstack
    imag inner inverse is_complex is_conj is_contiguous is_floating_point is_grad_enabled is_inference is_leaf
    is_neg is_nonzero is_same_size is_signed isclose leaky_relu leaky_relu_ less less_equal linear
    log_softmax logdet mH mT manual_seed matmul max mean median min mish moveaxis movedim
    multinomial multiply multiply_ nanmean nanmedian nanquantile narrow negative negative_ normal normal_
    not_equal numel one_hot outer pad pairwise_distance poisson positive pow pow_ prelu prod quantile
    random_ real relu6 repeat_interleave requires_grad_ reshape reshape_as resize_ resize_as_ resolve_conj
    resolve_neg retain_grad rms_norm scaled_dot_product_attention selu selu_ set_ silu slogdet softmax
    softplus softshrink square square_ squeeze squeeze_ storage_offset subtract subtract_ sum swapaxes swapaxes_
    swapdims take_along_dim tensordot tile tril_indices triu_indices true_divide type_as unflatten uniform_
    view_as vstack zero_ gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell
"""

_LISTS = """
    chunk dsplit hsplit nonzero_numpy split split_with_sizes tensor_split unbind unsafe_chunk
    unsafe_split vsplit
"""

_MAKES = """
    zeros ones empty full rand randn randint randperm arange linspace logspace eye scalar_tensor empty_strided complex
    polar
    zeros_like ones_like empty_like full_like rand_like randn_like randint_like new_zeros new_ones new_empty new_full
    hann_window hamming_window bartlett_window blackman_window
"""

MAKES = frozenset(_MAKES.split())
"""Ops that make tensors, by the Python function of that name; traced are the calls of some of them alone."""

SAME = frozenset(_COMPOSITE.split())
"""Ops whose schema and Python API agree in order and meaning of the arguments, beside those that have a kernel of their
own, whose parameters are the schema.
"""


def takes_the_same(name: str) -> bool:
    """Whether an op's arguments are, in this order, those of the Python function of that name."""
    return name in SAME or name.removesuffix("_") in OPS


def plain_names() -> set[str]:
    """Those names of PyTorch's: kernels and derivatives have others, which no backend has a function for."""
    known = (name for name in OPS if any(ops(name, mark) for mark in "fm") or ops(f"nn.functional.{name}", "p"))
    return {*SAME, *MAKES, *known} - {"alias"}  # a method in C++ alone


LISTS = frozenset(_LISTS.split())
"""The same, for ops whose result is a list in TorchScript and a tuple in Python."""

_LINALG = "cholesky cross det eigh inv inv_ex matrix_norm norm pinv"
_LINALG += " qr slogdet solve solve_triangular svd svdvals"
_SPECIAL = "digamma erf erfc erfinv exp2 expit expm1 gammaln log1p logit softmax xlogy zeta"

RENAMED = {
    "log_sigmoid": "logsigmoid",
    "nonzero_numpy": "nonzero",
    **{f"linalg_{name}": f"linalg.{name}" for name in _LINALG.split()},
    **{f"special_{name}": f"special.{name}" for name in _SPECIAL.split()},
}
"""Ops whose Python name is another."""
