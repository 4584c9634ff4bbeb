"""The encoder and decoder of a transformer (Vaswani and others 2017) as layers. Imported when one is asked for."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from ..core import dtypes
from ..core.device import check_device
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from ..core.thread_state import tls
from . import functional as F
from . import init
from .containers import ModuleList
from .layers import LayerNorm, Linear
from .module import Module
from .recurrent_layers import MultiheadAttention
from .weightless_layers import Dropout

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}


def _activation(named: object) -> Any:
    if not isinstance(named, str):
        return named
    if named not in _ACTIVATIONS:
        raise RuntimeError(f"activation should be relu/gelu, not {named}")
    return _ACTIVATIONS[named]


class _TransformerLayer(Module):
    """What both kinds of layer have: attention to themselves, a network of two linear layers, norms and dropouts."""

    _attentions: tuple[str, ...] = ("self_attn",)

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        for name in self._attentions:
            made = MultiheadAttention(
                d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, device=device, dtype=dtype
            )
            setattr(self, name, made)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, device=device, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, device=device, dtype=dtype)
        self.norm_first = norm_first
        numbers = range(1, len(self._attentions) + 2)
        for i in numbers:
            setattr(self, f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype))
        for i in numbers:
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _activation(activation)

    def _added(self, x: Tensor, number: int, part: Callable[[Tensor], Tensor]) -> Tensor:
        """`x` plus what a part makes of it, normed before or after."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        if self.norm_first:
            return x + dropout(part(norm(x)))
        return norm(x + dropout(part(x)))

    def _attend(
        self, name: str, to: Tensor | None, mask: Tensor | None, padding: Tensor | None, is_causal: bool
    ) -> Any:
        attention = getattr(self, name)

        def attend(x: Tensor) -> Tensor:
            other = x if to is None else to
            return attention(x, other, other, padding, False, mask, is_causal=is_causal)[0]

        return attend

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_TransformerLayer):
    """Attention to itself, then two linear layers. Input (time, batch, d_model), or (batch, time, d_model) with
    `batch_first`."""

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        mask, padding = _mask(src_mask, src), _mask(src_key_padding_mask, src)
        x = self._added(src, 1, self._attend("self_attn", None, mask, padding, is_causal))
        return self._added(x, 2, self._feed_forward)


class TransformerDecoderLayer(_TransformerLayer):
    """As the encoder's, with attention to the encoder's output between the two."""

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        to_itself = self._attend("self_attn", None, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        x = self._added(tgt, 1, to_itself)
        masks = memory_mask, memory_key_padding_mask
        x = self._added(x, 2, self._attend("multihead_attn", memory, *masks, memory_is_causal))
        return self._added(x, 3, self._feed_forward)


def _mask(mask: Tensor | None, like: Tensor) -> Tensor | None:
    """The mask as numbers to add: -inf where it hides something. RuntimeError for a dtype that is neither."""
    if mask is None or mask.is_floating_point():
        return mask
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError("only bool and floating types of mask are supported")
    return FUNCTIONS["zeros_like"](mask, dtype=like.dtype).masked_fill_(mask, -math.inf)


def _is_causal(mask: Tensor | None, said: bool | None, input: Tensor, layer: Module) -> bool:
    """Whether the mask hides what comes later and no more, unless the caller says so."""
    if said is not None or mask is None:
        return bool(said)
    length = input.size(1 if input.dim() == 3 and layer.self_attn.batch_first else 0)
    causal = Transformer.generate_square_subsequent_mask(length, dtype=mask.dtype)
    return mask.size() == causal.size() and bool((mask == causal).all())


class TransformerEncoder(Module):
    """Copies of an encoder layer in a row, and a norm at the end if given."""

    def __init__(
        self,
        encoder_layer: Any,
        num_layers: int,
        norm: Any = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check

    def _leaves_padding_out(self, src: Tensor, mask: Tensor | None, padding: Tensor | None) -> bool:
        """Whether PyTorch computes without the padded places, at which the layers' output then is 0."""
        first = self.layers[0]
        if not self.enable_nested_tensor or not isinstance(first, TransformerEncoderLayer):
            return False
        attention = first.self_attn
        if first.training or src.dim() != 3 or padding is None or mask is not None or first.norm_first:
            return False
        if not attention.batch_first or attention.in_proj_bias is None or attention.num_heads % 2:
            return False
        if first.activation not in (F.relu, F.gelu) and type(first.activation).__name__ not in ("ReLU", "GELU"):
            return False
        if tls.state.grad_mode and any(t.requires_grad for t in (src, *first.parameters())):
            return False
        hidden = padding.to(dtypes.bool_) if padding.dtype is dtypes.bool_ else padding == -math.inf
        hidden = hidden.long()
        return bool((hidden[:, 1:] >= hidden[:, :-1]).all()) or not self.mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        mask, padding = _mask(mask, src), _mask(src_key_padding_mask, src)
        without_padding = self._leaves_padding_out(src, mask, padding)
        is_causal = _is_causal(mask, is_causal, src, self.layers[0])
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=is_causal, src_key_padding_mask=padding)
        if without_padding and padding is not None:
            output = output.masked_fill((padding == -math.inf).unsqueeze(-1), 0.0)
        return output if self.norm is None else self.norm(output)


class TransformerDecoder(Module):
    """Copies of a decoder layer in a row, and a norm at the end if given."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        output = tgt
        tgt_is_causal = _is_causal(tgt_mask, tgt_is_causal, tgt, self.layers[0])
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=tgt_is_causal,
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """An encoder and a decoder, of 6 layers each by default."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shared = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)

        def norm() -> LayerNorm:
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)

        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            layer = TransformerEncoderLayer(*shared, device, dtype)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, norm())
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            self.decoder = TransformerDecoder(
                TransformerDecoderLayer(*shared, device, dtype), num_decoder_layers, norm()
            )
        for weight in self.parameters():
            if weight.dim() > 1:
                init.xavier_uniform_(weight)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        along = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(along) != tgt.size(along):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        padding = src_key_padding_mask
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=padding, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: object = None, dtype: object = None) -> Tensor:
        """The (sz, sz) mask that hides what comes later: -inf above the diagonal, 0 elsewhere."""
        check_device(device)
        full = FUNCTIONS["full"]((sz, sz), -math.inf, dtype=dtype or dtypes.get_default_dtype())
        return full.triu(1)
