"""Scaled dot product attention: one op for four dimensions, as PyTorch's fused kernel for CPUs, other ops for the rest.

Which of the two runs is decided as in ATen/native/transformers/sdp_utils_cpp.cpp.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core import dtypes
from ...core.dtypes import Array
from ...core.function_table import FUNCTIONS
from ...core.memory_layout import blank_like
from ...core.tensor import Tensor, requires_grad
from ...dispatch.op_description import OPS
from ...dispatch.registration import inner_op
from ..elementwise import mul_scalar
from ..matrices.linalg import matmul
from ..ufunc_makers import no_autograd_kernel
from .backward_kernels import softmax_backward


@inner_op("_safe_softmax", self=lambda grad, result, dim: softmax_backward(grad, result, dim))
def safe_softmax(self: Array, dim: int) -> Array:
    """Softmax that is 0 in rows of negative infinities."""
    with np.errstate(invalid="ignore"):
        found = OPS["softmax_"].kernel(self, dim)
    barred = np.isneginf(self).all(dim, keepdims=True)
    return np.where(barred, found.dtype.type(0), found) if barred.any() else found


# -- the fused kernel


def _wide(array: Array) -> Array:
    """In the precision that PyTorch computes attention in."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def _for_heads(array: Array, heads: int) -> Array:
    """Keys or values of groups of heads, for each head."""
    return array if array.shape[1] == heads else np.repeat(array, heads // array.shape[1], 1)


def _of_groups(array: Array, like: Array) -> Array:
    """The sums over the heads of each group."""
    batch, heads = like.shape[:2]
    grouped = array.reshape(batch, heads, -1, *array.shape[2:]).sum(2) if array.shape[1] != heads else array
    return np.ascontiguousarray(grouped.astype(like.dtype, copy=False))


def _attention(query: Array, key: Array, is_causal: bool, attn_mask: Any, scale: float) -> Array:
    """How much each query attends to each key; nothing at all where every key is barred."""
    heads = query.shape[1]
    scores = np.matmul(_wide(query), _for_heads(_wide(key), heads).swapaxes(-2, -1)) * query.dtype.type(scale)
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:]) != 0, scores, -np.inf).astype(scores.dtype)
    if attn_mask is not None:
        scores = scores + _wide(attn_mask).astype(scores.dtype, copy=False)
    top = scores.max(-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = powers.sum(-1, keepdims=True)
    return np.asarray(powers / np.where(total == 0, 1, total), scores.dtype)


_NAME = "_scaled_dot_product_flash_attention_for_cpu"


@inner_op(
    _NAME,
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    query=lambda grad, query, key, value, is_causal, attn_mask, scale: _slope(
        grad, query, key, value, is_causal, attn_mask, scale, 0
    ),
    key=lambda grad, query, key, value, is_causal, attn_mask, scale: _slope(
        grad, query, key, value, is_causal, attn_mask, scale, 1
    ),
    value=lambda grad, query, key, value, is_causal, attn_mask, scale: _slope(
        grad, query, key, value, is_causal, attn_mask, scale, 2
    ),
)
def _fused(query: Array, key: Array, value: Array, is_causal: bool, attn_mask: Array, scale: float) -> Array:
    weights = _attention(query, key, is_causal, attn_mask, scale)
    found = blank_like(query, query.dtype)
    found[...] = np.matmul(weights, _for_heads(_wide(value), query.shape[1]))
    return found


_refuse = no_autograd_kernel(f"{_NAME}_backward")


@inner_op(f"{_NAME}_backward", node="NotImplemented", grad_output=_refuse, query=_refuse, key=_refuse, value=_refuse)
def _slope(
    grad_output: Array,
    query: Array,
    key: Array,
    value: Array,
    is_causal: bool,
    attn_mask: Array,
    scale: float,
    which: int,
) -> Array:
    """The gradient of the query, the key or the value."""
    heads = query.shape[1]
    weights, grad = _attention(query, key, is_causal, attn_mask, scale), _wide(grad_output)
    if which == 2:
        return _of_groups(np.matmul(weights.swapaxes(-2, -1), grad), value)
    of_weights = np.matmul(grad, _for_heads(_wide(value), heads).swapaxes(-2, -1))
    of_scores = weights * (of_weights - (of_weights * weights).sum(-1, keepdims=True)) * weights.dtype.type(scale)
    if which == 0:
        return _of_groups(np.matmul(of_scores, _for_heads(_wide(key), heads)), query)
    return _of_groups(np.matmul(of_scores.swapaxes(-2, -1), _wide(query)), key)


# -- the function


def _check(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None) -> None:
    if not query.dtype is key.dtype is value.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query.dtype.short} key.dtype: {key.dtype.short} and value.dtype: {value.dtype.short} instead."
        )
    if min(t.dim() for t in (query, key, value)) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{query.dim()} key.dim: {key.dim()} and value.dim: {value.dim()} instead."
        )
    if attn_mask is not None and attn_mask.dtype not in (dtypes.bool_, dtypes.float32, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{attn_mask.dtype.short} and  query.dtype: {query.dtype.short} instead."
        )


def _is_fused(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout_p: float, enable_gqa: bool
) -> bool:
    shapes = [tuple(t.shape) for t in (query, key, value)]
    if dropout_p > 0 or any(len(s) != 4 for s in shapes) or not query.is_floating_point():
        return False
    (batch, heads, length, size), k, v = shapes
    same = k[:2] == v[:2] == (batch, heads)
    grouped = enable_gqa and k[0] == v[0] == batch and k[1] == v[1] != 0 and heads % k[1] == 0
    if not (same or grouped) or not size == k[3] == v[3] or 0 in (batch, length, k[2], v[2]):
        return False
    if any(t.stride(-1) != 1 for t in (query, key, value)):
        return False
    if attn_mask is None:
        return True
    mask = tuple(attn_mask.shape)
    if requires_grad(attn_mask) or len(mask) not in (2, 4) or mask[-2] not in (1, length) or mask[-1] not in (1, k[2]):
        return False
    return len(mask) == 2 or (mask[0] in (1, batch) and mask[1] in (1, heads))


def _added(mask: Tensor, dtype: dtypes.dtype) -> Tensor:
    """A mask of bools as numbers that are added."""
    if mask.dtype is not dtypes.bool_:
        return mask
    zeros = FUNCTIONS["zeros"](mask.shape, dtype=dtype)
    made: Tensor = zeros.masked_fill(~mask, -math.inf)
    return made


def _repeated(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    heads, k, v = (t.size(-3) for t in (query, key, value))
    if heads == k == v:
        return key, value
    if heads % k or heads % v:
        raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
    return key.repeat_interleave(heads // k, -3), value.repeat_interleave(heads // v, -3)


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query @ key.mT * scale + mask) @ value"""
    _check(query, key, value, attn_mask)
    if not query.numel() or not key.numel() or not value.numel():
        zeros = FUNCTIONS["zeros"](*query.shape[:-1], value.size(-1), dtype=query.dtype)
        nothing: Tensor = zeros + mul_scalar(query.sum() + key.sum() + value.sum(), 0.0)
        return nothing
    factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    fused = _is_fused(query, key, value, attn_mask, dropout_p, enable_gqa)
    mask = None if attn_mask is None else _added(attn_mask, query.dtype)
    if fused:
        made: Tensor = _fused(query, key, value, is_causal, mask, factor)
        return made
    wide = query.dtype in (dtypes.float16, dtypes.bfloat16)
    q, k, v = (t.to(dtypes.float32) if wide else t for t in (query, key, value))
    root = math.sqrt(abs(factor))
    scaled = mul_scalar(q, -root if factor < 0 else root)
    if is_causal:
        if mask is not None:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
            )
        ones = FUNCTIONS["ones"](query.size(-2), key.size(-2), dtype=dtypes.bool_)
        mask = _added(ones.tril(), q.dtype)
    if enable_gqa:
        k, v = _repeated(scaled, k, v)
    scores = matmul(scaled, mul_scalar(k.transpose(-2, -1), root))
    if mask is not None:
        scores.add_(mask)
    weights = safe_softmax(scores, -1)
    if dropout_p > 0:
        weights = FUNCTIONS["dropout"](weights, dropout_p, True)
    return matmul(weights, v).to(query.dtype)
