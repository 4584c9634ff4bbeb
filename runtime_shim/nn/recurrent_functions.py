"""Recurrent networks and attention of many heads, step by step out of other ops.

An input is (time, batch, features). A layer's weights come in the order of PyTorch: input to hidden, hidden to hidden,
then the two biases if there are any, first forwards, then backwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..core import dtypes
from ..core.function_table import FUNCTIONS
from ..core.late_modules import late_module
from ..core.tensor import Tensor

State = tuple[Tensor, ...]


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    found = input.matmul(weight.t())
    return found if bias is None else found + bias


def _lstm_step(gates: Tensor, hidden_gates: Tensor, state: State) -> State:
    i, f, g, o = (gates + hidden_gates).chunk(4, -1)
    cell = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * cell.tanh(), cell


def _gru_step(gates: Tensor, hidden_gates: Tensor, state: State) -> State:
    r, z, n = gates.chunk(3, -1)
    hr, hz, hn = hidden_gates.chunk(3, -1)
    update = (z + hz).sigmoid()
    new = (n + (r + hr).sigmoid() * hn).tanh()
    return (new + update * (state[0] - new),)


def _tanh_step(gates: Tensor, hidden_gates: Tensor, state: State) -> State:
    return ((gates + hidden_gates).tanh(),)


def _relu_step(gates: Tensor, hidden_gates: Tensor, state: State) -> State:
    return ((gates + hidden_gates).relu(),)


_STEPS: dict[str, Callable[[Tensor, Tensor, State], State]] = {
    "lstm": _lstm_step,
    "gru": _gru_step,
    "rnn_tanh": _tanh_step,
    "rnn_relu": _relu_step,
}


def recurrent_cell(
    kind: str, input: Tensor, state: Sequence[Tensor], weights: Sequence[Tensor | None]
) -> tuple[Tensor, ...]:
    """One step of a cell: the new hidden state, and for "lstm" the cell state.

    `weights` are w_ih, w_hh, b_ih and b_hh; the biases may be None.
    """
    w_ih, w_hh, b_ih, b_hh = weights
    assert w_ih is not None
    assert w_hh is not None
    return _STEPS[kind](_linear(input, w_ih, b_ih), _linear(state[0], w_hh, b_hh), tuple(state))


def _direction(
    kind: str, inputs: Sequence[Tensor], state: State, weights: Sequence[Tensor | None], reverse: bool
) -> tuple[list[Tensor], State]:
    """The outputs in the order of time, and the last state. Steps may have fewer and fewer rows (packed sequences)."""
    w_ih, w_hh, b_ih, b_hh, projection = weights
    assert w_ih is not None
    assert w_hh is not None
    outputs: list[Tensor] = []
    step = _STEPS[kind]
    rows = state[0].size(0)
    ended: list[State] = []
    current = state
    if reverse:
        current = tuple(part[: inputs[-1].size(0)] for part in state)
    for input in reversed(inputs) if reverse else inputs:
        size = input.size(0)
        now = current[0].size(0)
        if size < now:
            ended.append(tuple(part[size:] for part in current))
            current = tuple(part[:size] for part in current)
        elif size > now:
            current = tuple(
                FUNCTIONS["cat"]([part, first[now:size]]) for part, first in zip(current, state, strict=True)
            )
        current = step(_linear(input, w_ih, b_ih), _linear(current[0], w_hh, b_hh), current)
        if projection is not None:
            current = (current[0].matmul(projection.t()), *current[1:])
        outputs.append(current[0])
    if ended:
        current = tuple(FUNCTIONS["cat"]([one[i] for one in [current, *reversed(ended)]]) for i in range(len(current)))
    assert current[0].size(0) == rows
    return (outputs[::-1] if reverse else outputs), current


def recurrent(
    kind: str,
    input: Tensor,
    batch_sizes: Sequence[int] | None,
    state: Sequence[Tensor],
    weights: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    has_projections: bool = False,
) -> tuple[Tensor, ...]:
    """All layers of a recurrent network: the output, the last hidden states, and for "lstm" the cell states.

    With `batch_sizes` the input is packed: the rows of all steps one after the other.
    """
    if batch_sizes is not None:
        inputs = list(input.split([int(n) for n in batch_sizes], 0))
    else:
        inputs = list(input.unbind(1 if batch_first else 0))
    if not inputs:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    directions = 2 if bidirectional else 1
    count = 2 + (2 if has_biases else 0) + (1 if has_projections else 0)
    last: list[State] = []
    for layer in range(num_layers):
        found = []
        for direction in range(directions):
            number = layer * directions + direction
            own: list[Tensor | None] = list(weights[number * count : (number + 1) * count])
            projection = own.pop() if has_projections else None
            own = [*own, *[None] * (4 - len(own)), projection]
            first = tuple(part[number] for part in state)
            outputs, end = _direction(kind, inputs, first, own, direction == 1)
            found.append(outputs)
            last.append(end)
        inputs = [FUNCTIONS["cat"](list(pair), -1) for pair in zip(*found, strict=True)] if bidirectional else found[0]
        if dropout and train and layer + 1 < num_layers:
            inputs = [FUNCTIONS["dropout"](one, dropout, True) for one in inputs]
    output = FUNCTIONS["cat"](inputs, 0) if batch_sizes is not None else FUNCTIONS["stack"](
        inputs, 1 if batch_first else 0
    )  # fmt: skip
    return (output, *(FUNCTIONS["stack"]([one[i] for one in last]) for i in range(len(state))))


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
    _as_in_cpp: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of (targets, batch, features) to (sources, batch, features), or without the batch: the output and the
    mean weights. PyTorch's C++ frontend fills where a mask hides, Python's adds the mask, or attends in one op.
    """
    if not check_attention_shapes(query, key, value, key_padding_mask, attn_mask, num_heads):
        batched = (query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1))
        hidden = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        output, weights = multi_head_attention_forward(
            *batched, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
            dropout_p, out_proj_weight, out_proj_bias, training, hidden, need_weights, attn_mask,
            use_separate_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, static_k, static_v,
            average_attn_weights, is_causal, _as_in_cpp,
        )  # fmt: skip
        return output.squeeze(1), None if weights is None else weights.squeeze(0)
    _check_attention_sizes(
        query, key, value, embed_dim_to_check, num_heads, attn_mask, use_separate_proj_weight, is_causal
    )
    targets, batch, features = query.size()
    head = features // num_heads
    biases = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3, 0)
    if use_separate_proj_weight:
        matrices: Sequence[Any] = (q_proj_weight, k_proj_weight, v_proj_weight)
    else:
        assert in_proj_weight is not None
        matrices = in_proj_weight.chunk(3, 0)
    q, k, v = (_linear(x, w, b) for x, w, b in zip((query, key, value), matrices, biases, strict=True))
    if bias_k is not None and bias_v is not None:
        k = FUNCTIONS["cat"]([k, bias_k.repeat(1, batch, 1)])
        v = FUNCTIONS["cat"]([v, bias_v.repeat(1, batch, 1)])
        attn_mask = None if attn_mask is None else FUNCTIONS["constant_pad_nd"](attn_mask, [0, 1], 0)
        key_padding_mask = _one_more(key_padding_mask)
    q = q.contiguous().view(targets, batch * num_heads, head).transpose(0, 1)
    k = static_k if static_k is not None else k.contiguous().view(k.size(0), batch * num_heads, head).transpose(0, 1)
    v = static_v if static_v is not None else v.contiguous().view(v.size(0), batch * num_heads, head).transpose(0, 1)
    if key_padding_mask is not None and list(key_padding_mask.size()) != [batch, k.size(1)]:
        raise RuntimeError(f"key_padding_mask must have the shape {[batch, k.size(1)]}")
    if add_zero_attn:
        k = FUNCTIONS["cat"]([k, FUNCTIONS["zeros"](k.size(0), 1, head, dtype=k.dtype)], 1)
        v = FUNCTIONS["cat"]([v, FUNCTIONS["zeros"](v.size(0), 1, head, dtype=v.dtype)], 1)
        attn_mask = None if attn_mask is None else FUNCTIONS["constant_pad_nd"](attn_mask, [0, 1], 0)
        key_padding_mask = _one_more(key_padding_mask)
    dropout_p = dropout_p if training else 0.0
    if _as_in_cpp or need_weights:
        product = q * (1 / math.sqrt(head)), k.transpose(1, 2)
    if _as_in_cpp:
        scores = _filled(FUNCTIONS["bmm"](*product), attn_mask, key_padding_mask, batch)
    elif need_weights:
        mask = _merged(attn_mask, key_padding_mask, num_heads, q.dtype)
        scores = FUNCTIONS["bmm"](*product) if mask is None else FUNCTIONS["baddbmm"](mask, *product)
    else:
        causal = is_causal and key_padding_mask is None
        mask = None if causal else _merged(attn_mask, key_padding_mask, num_heads, q.dtype)
        if mask is not None:
            mask = mask.view(*((1, 1) if mask.size(0) == 1 else (batch, num_heads)), *mask.size()[1:])
        q, k, v = (t.view(batch, num_heads, t.size(1), head) for t in (q, k, v))
        attend = late_module("nn.functional").scaled_dot_product_attention  # a trace watches the name there
        mixed = attend(q, k, v, mask, dropout_p, causal).permute(2, 0, 1, 3)
        return _linear(mixed.reshape(targets, batch, features), out_proj_weight, out_proj_bias), None
    weights = scores.softmax(-1)
    if dropout_p:
        weights = FUNCTIONS["dropout"](weights, dropout_p, True)
    mixed = weights.bmm(v).transpose(0, 1).contiguous().view(targets, batch, features)
    output = _linear(mixed, out_proj_weight, out_proj_bias)
    if not need_weights:
        return output, None
    each = weights.view(batch, num_heads, targets, weights.size(-1))
    return output, each.mean(1) if average_attn_weights else each


def check_attention_shapes(
    query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Any, attn_mask: Any, num_heads: int
) -> bool:
    """Whether there is a batch. AssertionError where the tensors don't go together."""
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor")
    start = f"For {'batched' if dims == 3 else 'unbatched'} ({dims}-D) `query`, expected"
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"{start} `key` and `value` to be {dims}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(
            f"{start} `key_padding_mask` to be `None` or {dims - 1}-D but found {key_padding_mask.dim()}-D tensor "
            "instead"
        )
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"{start} `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None and dims == 2 and attn_mask.dim() == 3:
        wanted = (num_heads, query.size(0), key.size(0))
        if attn_mask.size() != wanted:
            raise AssertionError(f"Expected `attn_mask` shape to be {wanted} but got {attn_mask.size()}")
    return dims == 3


def _check_attention_sizes(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_heads: int,
    attn_mask: Tensor | None,
    separate_weights: bool,
    is_causal: bool,
) -> None:
    """AssertionError or RuntimeError where the sizes don't go together, or there is no mask of what is causal."""
    targets, batch, features = query.size()
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if features != embed_dim:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim}, but got {features}")
    if features % num_heads:
        raise AssertionError(f"embed_dim {features} not divisible by num_heads {num_heads}")
    if separate_weights:
        if key.size()[:2] != value.size()[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.size()[:2]} do not match value's {value.size()[:2]}"
            )
    elif key.size() != value.size():
        raise AssertionError(f"key shape {key.size()} does not match value shape {value.size()}")
    if attn_mask is not None:
        wanted = (targets, key.size(0)) if attn_mask.dim() == 2 else (batch * num_heads, targets, key.size(0))
        if attn_mask.size() != wanted:
            raise RuntimeError(
                f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.size()}, but should be {wanted}."
            )


def _added(mask: Tensor, name: str, dtype: dtypes.dtype) -> Tensor:
    """A mask as what is added to scores: a new tensor where it has bools."""
    if mask.is_floating_point():
        return mask
    if mask.dtype is not dtypes.bool_:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    made: Tensor = FUNCTIONS["zeros_like"](mask, dtype=dtype).masked_fill_(mask, -math.inf)
    return made


def _merged(
    attn_mask: Tensor | None, key_padding_mask: Tensor | None, heads: int, dtype: dtypes.dtype
) -> Tensor | None:
    """Both masks as one of (1 or batch * heads, 1 or targets, sources)."""
    mask = None if attn_mask is None else _added(attn_mask, "attn_mask", dtype)
    if mask is not None and mask.dim() == 2:
        mask = mask.unsqueeze(0)
    if key_padding_mask is None:
        return mask
    hidden = _added(key_padding_mask, "key_padding_mask", dtype)
    batch, sources = hidden.size()
    hidden = hidden.view(batch, 1, 1, sources).expand(-1, heads, -1, -1).reshape(batch * heads, 1, sources)
    return hidden if mask is None else mask + hidden


def _filled(scores: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, batch: int) -> Tensor:
    """The scores (batch * heads, targets, sources), -inf or less where a mask hides a source."""
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask, -math.inf) if attn_mask.dtype is dtypes.bool_ else scores + attn_mask
    if key_padding_mask is not None:
        shape = scores.size()
        scores = scores.view(batch, -1, *shape[1:])
        scores = scores.masked_fill(key_padding_mask.unsqueeze(1).unsqueeze(2), -math.inf).view(shape)
    return scores


def _one_more(mask: Tensor | None) -> Tensor | None:
    """The mask with a column that hides nothing."""
    if mask is None:
        return None
    return FUNCTIONS["cat"]([mask, FUNCTIONS["zeros"](mask.size(0), 1, dtype=mask.dtype)], 1)


__all__ = [
    "multi_head_attention_forward",
    "recurrent",
    "recurrent_cell",
]
