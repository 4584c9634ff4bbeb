"""Recurrent networks, their cells, and attention of many heads, as layers. Imported when one is asked for."""

from __future__ import annotations

import math
from typing import Any

from ..core.device import check_device
from ..core.function_table import FUNCTIONS
from ..core.tensor import Tensor
from . import functional as F
from . import init
from .layers import Linear, _parameter
from .module import Module
from .parameter import Parameter
from .recurrent_functions import check_attention_shapes, recurrent, recurrent_cell

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """What recurrent networks share. Input (time, batch, features), or (batch, time, features) with `batch_first`; one
    sequence may come without the batch.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: object = None,
        dtype: object = None,
    ) -> None:
        super().__init__()
        check_device(device)
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional, self.proj_size = float(dropout), bidirectional, proj_size
        rows, directions = _GATES[mode] * hidden_size, 2 if bidirectional else 1
        out = proj_size or hidden_size
        self._names: list[str] = []
        for layer in range(num_layers):
            width = input_size if layer == 0 else out * directions
            for suffix in ("", "_reverse")[:directions]:
                shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, width), "weight_hh": (rows, out)}
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    self._names.append(f"{name}_l{layer}{suffix}")
                    setattr(self, self._names[-1], _parameter(shape, dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing: weights need not lie side by side on the CPU."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of each layer and direction."""
        each = 2 + 2 * self.bias + bool(self.proj_size)
        found = [getattr(self, name) for name in self._names]
        return [found[i : i + each] for i in range(0, len(found), each)]

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}"]
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0}
        for name, value in {**usual, "bidirectional": False}.items():
            if getattr(self, name) != value:
                parts.append(f"{name}={getattr(self, name)}")
        return ", ".join(parts)

    def _initial(self, input: Tensor, batch: int) -> tuple[Tensor, ...]:
        directions = 2 if self.bidirectional else 1
        sizes = [self.proj_size or self.hidden_size] + ([self.hidden_size] if self.mode == "LSTM" else [])
        return tuple(FUNCTIONS["zeros"](self.num_layers * directions, batch, n, dtype=input.dtype) for n in sizes)

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        name = type(self).__name__
        if not isinstance(input, Tensor):
            return self._of_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )
        single = input.dim() == 2
        along = 0 if self.batch_first else 1
        batched = input.unsqueeze(along) if single else input
        if hx is None:
            state = self._initial(input, batched.size(along))
        else:
            given = hx if self.mode == "LSTM" else (hx,)
            state = tuple(part.unsqueeze(1) for part in given) if single else tuple(given)
            for part, wanted, what in zip(
                state, self._initial(input, batched.size(along)), ("hidden[0]", "hidden[1]"), strict=False
            ):
                if part.shape != wanted.shape:
                    label = what if self.mode == "LSTM" else "hidden"
                    raise RuntimeError(f"Expected {label} size {tuple(wanted.shape)}, got {list(part.shape)}")
        output, *last = self._run(batched, None, state)
        if single:
            output, last = output.squeeze(along), [part.squeeze(1) for part in last]
        return output, tuple(last) if self.mode == "LSTM" else last[0]

    def _run(self, input: Tensor, batch_sizes: list[int] | None, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return recurrent(
            self.mode.lower(),
            input,
            batch_sizes,
            state,
            [weight for layer in self.all_weights for weight in layer],
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
            self.batch_first,
            bool(self.proj_size),
        )

    def _of_packed(self, input: Tensor, hx: Any) -> Any:
        """Of a packed sequence: states come and go in the order that the sequences had before they were sorted."""
        if input.data.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.data.size(-1)}"
            )
        sizes = input.batch_sizes.tolist()
        if hx is None:
            state = self._initial(input.data, sizes[0])
        else:
            state = tuple(hx) if self.mode == "LSTM" else (hx,)
            if input.sorted_indices is not None:
                state = tuple(part.index_select(1, input.sorted_indices) for part in state)
        output, *last = self._run(input.data, sizes, state)
        if input.unsorted_indices is not None:
            last = [part.index_select(1, input.unsorted_indices) for part in last]
        return input._replace(data=output), tuple(last) if self.mode == "LSTM" else last[0]


class RNN(RNNBase):
    """A network of tanh or ReLU units."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh",
                 bias: bool = True, batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
                 device: object = None, dtype: object = None, **refused: object) -> None:  # fmt: skip
        if "proj_size" in refused:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if refused:
            raise TypeError(f"RNN.__init__() got an unexpected keyword argument '{next(iter(refused))}'")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self.__dict__["nonlinearity"] = nonlinearity
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(
            mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype
        )
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory; the state is a pair (hidden, cell)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """One step of a recurrent network on (batch, features) or (features,)."""

    _gates = 1

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: object = None,
                 dtype: object = None) -> None:  # fmt: skip
        super().__init__()
        check_device(device)
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = self._gates * hidden_size
        self.weight_ih = _parameter((rows, input_size), dtype)
        self.weight_hh = _parameter((rows, hidden_size), dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, _parameter((rows,), dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0.0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        more = f", nonlinearity={self.nonlinearity}" if getattr(self, "nonlinearity", "tanh") != "tanh" else ""
        return f"{self.input_size}, {self.hidden_size}{'' if self.bias else ', bias=False'}{more}"

    def _step(self, kind: str, input: Tensor, state: Any, parts: int) -> tuple[Tensor, ...]:
        if input.dim() not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        single = input.dim() == 1
        rows = input.unsqueeze(0) if single else input
        if state is None:
            given = tuple(FUNCTIONS["zeros"](rows.size(0), self.hidden_size, dtype=input.dtype) for _ in range(parts))
        else:
            given = tuple(part.unsqueeze(0) for part in state) if single else tuple(state)
        self._check_sizes(rows, given)
        found = recurrent_cell(kind, rows, given, [self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh])
        return tuple(part.squeeze(0) for part in found) if single else found

    def _check_sizes(self, rows: Tensor, given: tuple[Tensor, ...]) -> None:
        """RuntimeError unless the input and the states fit the weights and each other."""
        if rows.size(1) != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {rows.size(1)} expected {self.weight_ih.size(1)}"
            )
        for i, state in enumerate(given):
            if state.size(0) != rows.size(0):
                raise RuntimeError(
                    f"Input batch size {rows.size(0)} doesn't match hidden{i} batch size {state.size(0)}"
                )
            if state.size(1) != self.hidden_size:
                raise RuntimeError(
                    f"hidden{i} has inconsistent hidden_size: got {state.size(1)}, expected {self.hidden_size}"
                )


class RNNCell(RNNCellBase):
    """One step of an RNN."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
                 device: object = None, dtype: object = None) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(f"rnn_{self.nonlinearity}", input, None if hx is None else (hx,), 1)[0]


class LSTMCell(RNNCellBase):
    """One step of an LSTM: (hidden, cell)."""

    _gates = 4

    def forward(self, input: Tensor, hx: object = None) -> tuple[Tensor, ...]:
        return self._step("lstm", input, hx, 2)


class GRUCell(RNNCellBase):
    """One step of a GRU."""

    _gates = 3

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step("gru", input, None if hx is None else (hx,), 1)[0]


class NonDynamicallyQuantizableLinear(Linear):
    """What the output of attention goes through; named as in PyTorch."""


class MultiheadAttention(Module):
    """Attention of (targets, batch, features) to (sources, batch, features), or of (batch, …) with `batch_first`."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: object = None,
        dtype: object = None,
    ) -> None:
        super().__init__()
        check_device(device)
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim == self.vdim
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        if self._qkv_same_embed_dim:
            self.in_proj_weight = _parameter((3 * embed_dim, embed_dim), dtype)
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = _parameter((embed_dim, embed_dim), dtype)
            self.k_proj_weight = _parameter((embed_dim, self.kdim), dtype)
            self.v_proj_weight = _parameter((embed_dim, self.vdim), dtype)
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", _parameter((3 * embed_dim,), dtype) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        self.bias_k = _parameter((1, 1, embed_dim), dtype) if add_bias_kv else None
        self.bias_v = _parameter((1, 1, embed_dim), dtype) if add_bias_kv else None
        self.add_zero_attn = add_zero_attn
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        turned = self.batch_first and query.dim() == 3
        if turned:
            check_attention_shapes(query, key, value, key_padding_mask, attn_mask, self.num_heads)
            query, key, value = (t.transpose(1, 0) for t in (query, key, value))
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (output.transpose(1, 0) if turned else output), weights
