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

    def code(self, dtype: Any) -> int:
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

    def factory(self, values: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
        """Keywords of a function that makes a tensor."""
        if values:
            raise TypeError(f"{len(values)} positional arguments too many")
        return self.keywords(given)


def is_cpu(device: Any) -> bool:
    return str(device) in ("cpu", "cpu:0")


_FUNCTIONAL = """
    __and__ __lshift__ __or__ __rshift__ __xor__ abs absolute acos acosh adaptive_avg_pool1d
    adaptive_avg_pool2d adaptive_avg_pool3d add addbmm addcdiv addcmul addmm addmv addr adjoint all
    allclose amax amin aminmax angle any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax
    argmin argsort as_strided asin asinh atan atan2 atanh backward baddbmm bernoulli bilinear bincount
    bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor block_diag bmm
    bucketize cartesian_prod cat cdist ceil celu channel_shuffle cholesky clamp clamp_max clamp_min clip
    clone column_stack combinations concat concatenate conj contiguous conv1d conv2d conv3d
    conv_transpose1d conv_transpose2d conv_transpose3d copysign cos cosh cosine_similarity count_nonzero cpu
    cross cummax cummin cumprod
    cumsum deg2rad det detach diag diag_embed diagflat diagonal diff digamma dim dist div divide dot
    dstack element_size elu eq equal erf erfc erfinv exp exp2 expand expand_as expm1 fill fix flatten
    flip fliplr flipud float_power floor floor_divide fmax fmin fmod frac gather ge gelu ger get_device
    glu greater greater_equal gru gru_cell gt hardshrink hardsigmoid hardswish hardtanh heaviside histc
    hstack hypot i0 imag index_add index_copy index_fill index_select inner inverse is_complex is_conj
    is_contiguous is_floating_point is_grad_enabled is_inference is_leaf is_neg is_nonzero is_same_size
    is_signed isclose isfinite isin isinf isnan isneginf isposinf kron kthvalue ldexp le leaky_relu lerp
    less less_equal lgamma linear log log10 log1p log2 log_sigmoid log_softmax logaddexp logaddexp2
    logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logsumexp lstm lstm_cell lt
    mH mT manual_seed masked_fill masked_scatter masked_select matmul matrix_power max maximum mean
    median min minimum mish mm mode moveaxis movedim msort mul multinomial multiply mv nan_to_num
    nanmean nanmedian nanquantile nansum narrow ne neg negative nextafter nonzero norm normal not_equal
    numel numpy_T one_hot outer pad pairwise_distance permute pinverse pixel_shuffle pixel_unshuffle
    poisson positive pow prelu prod quantile rad2deg real reciprocal relu relu6 remainder repeat
    repeat_interleave reshape reshape_as resolve_conj resolve_neg retain_grad rms_norm rnn_relu
    rnn_relu_cell rnn_tanh rnn_tanh_cell roll rot90 round row_stack rrelu rsqrt rsub
    scaled_dot_product_attention scatter scatter_add scatter_reduce searchsorted select selu sgn sigmoid
    sign signbit silu sin sinc sinh slogdet softmax softplus softshrink sort sqrt square squeeze stack
    std std_mean storage_offset sub subtract sum swapaxes swapdims t take take_along_dim tan tanh
    tensordot threshold tile topk trace transpose tril tril_indices triu triu_indices true_divide trunc
    type_as unflatten unfold unique_consecutive unsqueeze var var_mean vdot view view_as view_as_complex
    view_as_real vstack where xlogy
"""

_IN_PLACE = """
    abs_ acos_ add_ addbmm_ addcdiv_ addcmul_ addmm_ addmv_ alpha_dropout_ as_strided_ asin_ atan2_
    atan_ baddbmm_ bernoulli_ bitwise_and_ bitwise_not_ bitwise_or_ bitwise_xor_ ceil_ celu_ clamp_
    clamp_max_ clamp_min_ clip_ copy_ cos_ cosh_ cumprod_ cumsum_ deg2rad_ detach_ div_ divide_ dropout_
    elu_ eq_ erf_ erfinv_ exp2_ exp_ expm1_ exponential_ feature_dropout_ fill_ fill_diagonal_ floor_
    floor_divide_ fmod_ frac_ ge_ gt_ hardsigmoid_ hardswish_ hardtanh_ index_add_ index_copy_
    index_fill_ le_ leaky_relu_ lerp_ log10_ log1p_ log2_ log_ logical_and_ logical_not_ logical_or_
    logical_xor_ logit_ lt_ masked_fill_ masked_scatter_ mish_ mul_ multiply_ nan_to_num_ ne_ neg_
    negative_ normal_ pow_ rad2deg_ random_ reciprocal_ relu6_ relu_ remainder_ requires_grad_ resize_
    resize_as_ round_ rsqrt_ scatter_ scatter_add_ scatter_reduce_ selu_ set_ sigmoid_ sign_ silu_ sin_
    sinh_ sqrt_ square_ squeeze_ sub_ subtract_ swapaxes_ t_ tan_ tanh_ threshold_ transpose_ tril_
    triu_ trunc_ uniform_ unsqueeze_ xlogy_ zero_
"""

_LISTS = """
    chunk dsplit hsplit nonzero_numpy split split_with_sizes tensor_split unbind unsafe_chunk
    unsafe_split vsplit
"""

SAME = frozenset(_FUNCTIONAL.split()) | frozenset(_IN_PLACE.split())

LISTS = frozenset(_LISTS.split())
"""The same, for ops whose result is a list in TorchScript and a tuple in Python."""

_LINALG = "cholesky cross det eig eigh inv inv_ex lstsq matrix_exp matrix_norm matrix_power matrix_rank norm pinv"
_LINALG += " qr slogdet solve solve_triangular svd svdvals"
_SPECIAL = "digamma erf erfc erfinv exp2 expit expm1 gammaln i0 log1p logit softmax xlogy zeta"

RENAMED = {
    "log_sigmoid": "logsigmoid",
    "nonzero_numpy": "nonzero",
    **{f"linalg_{name}": f"linalg.{name}" for name in _LINALG.split()},
    **{f"special_{name}": f"special.{name}" for name in _SPECIAL.split()},
}
"""Ops whose Python name is another."""
