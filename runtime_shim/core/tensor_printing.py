"""Printing tensors as PyTorch does (torch/_tensor_str.py)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import dtypes
from .tensor import Tensor, attach, current_version, requires_grad
from .thread_state import AUTOGRAD, tls

OPTIONS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print; see torch.set_printoptions."""
    if profile is not None:
        presets: dict[str, tuple[int, float, int]] = {
            "default": (4, 1000, 3),
            "short": (2, 1000, 2),
            "full": (4, math.inf, 3),
        }
        OPTIONS["precision"], OPTIONS["threshold"], OPTIONS["edgeitems"] = presets[profile]  # type: ignore[assignment]
        OPTIONS["linewidth"] = 80
    for name, value in (
        ("precision", precision),
        ("threshold", threshold),
        ("edgeitems", edgeitems),
        ("linewidth", linewidth),
    ):
        if value is not None:
            OPTIONS[name] = value
    OPTIONS["sci_mode"] = sci_mode


class _Formatter:
    """Chooses one format for all elements of a tensor."""

    def __init__(self, array: Any) -> None:
        self.floating = array.dtype.kind == "f"
        self.int_mode, self.sci_mode = True, False
        self.max_width = 1
        values = array.reshape(-1)
        precision = OPTIONS["precision"]
        if not self.floating:
            self.max_width = max([1, *(len(str(v)) for v in values.tolist())])
            return
        finite = values[np.isfinite(values) & (values != 0)].astype(np.float64).tolist()
        if not finite:
            return
        high, low = max(map(abs, finite)), min(map(abs, finite))
        self.int_mode = all(v == math.ceil(v) for v in finite)
        wanted = OPTIONS["sci_mode"]
        self.sci_mode = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4 if wanted is None else bool(wanted)
        # The width is that of the finite numbers; nan and inf may stick out.
        if self.sci_mode:
            self.max_width = max(len(f"{v:.{precision}e}") for v in finite)
        elif self.int_mode:
            self.max_width = max(len(f"{v:.0f}") + 1 for v in finite)
        else:
            self.max_width = max(len(f"{v:.{precision}f}") for v in finite)

    def format(self, v: Any) -> str:
        if self.floating:
            if self.sci_mode:
                text = f"{{:{self.max_width}.{OPTIONS['precision']}e}}".format(v)
            elif self.int_mode:
                text = f"{v:.0f}"
                if not (math.isinf(v) or math.isnan(v)):
                    text += "."
            else:
                text = f"{{:.{OPTIONS['precision']}f}}".format(v)
        else:
            text = f"{v}"
        return (self.max_width - len(text)) * " " + text


def _vector(array: Any, indent: int, summarize: bool, formatters: list[_Formatter]) -> str:
    width = sum(f.max_width for f in formatters) + 2 + (2 if len(formatters) == 2 else 0)
    per_line = max(1, math.floor((OPTIONS["linewidth"] - indent) / width))  # type: ignore[operator]

    def show(v: Any) -> str:
        if len(formatters) == 2:
            real, imaginary = formatters[0].format(v.real), formatters[1].format(v.imag).lstrip()
            if imaginary[0] in "+-":
                return real + imaginary + "j"
            return real + "+" + imaginary + "j"
        return formatters[0].format(v)

    edge: int = OPTIONS["edgeitems"]  # type: ignore[assignment]
    if summarize and not OPTIONS["edgeitems"]:
        data = ["..."]
    elif summarize and array.shape[0] > 2 * edge:
        data = [show(v) for v in array[:edge].tolist()] + [" ..."] + [show(v) for v in array[-edge:].tolist()]
    else:
        data = [show(v) for v in array.tolist()]
    lines = [data[i : i + per_line] for i in range(0, len(data), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(", ".join(line) for line in lines) + "]"


def _nested(array: Any, indent: int, summarize: bool, formatters: list[_Formatter]) -> str:
    if array.ndim == 0:
        value = array.item()
        if len(formatters) == 2:
            real, imaginary = formatters[0].format(value.real), formatters[1].format(value.imag).lstrip()
            return real + ("" if imaginary[0] in "+-" else "+") + imaginary + "j"
        return formatters[0].format(value)
    if array.ndim == 1:
        return _vector(array, indent, summarize, formatters)
    edge: int = OPTIONS["edgeitems"]  # type: ignore[assignment]
    if summarize and array.shape[0] > 2 * edge:
        rows = (
            [_nested(array[i], indent + 1, summarize, formatters) for i in range(edge)]
            + ["..."]
            + [_nested(array[i], indent + 1, summarize, formatters) for i in range(len(array) - edge, len(array))]
        )
    else:
        rows = [_nested(row, indent + 1, summarize, formatters) for row in array]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(rows) + "]"


def _summarized(array: Any) -> Any:
    """The part of a large tensor that is shown: its edges."""
    edge: int = OPTIONS["edgeitems"]  # type: ignore[assignment]
    for axis in range(array.ndim):
        if array.shape[axis] > 2 * edge:
            lead = (slice(None),) * axis
            first, last = (*lead, slice(None, edge)), (*lead, slice(-edge, None))
            array = np.concatenate([array[first], array[last]], axis)
    return array


def _contents(array: Any, indent: int) -> str:
    summarize = array.size > OPTIONS["threshold"]
    if array.dtype.kind == "V":
        array = array.astype("float32")
    shown = _summarized(array) if summarize else array
    if array.dtype.kind == "c":
        formatters = [_Formatter(shown.real), _Formatter(shown.imag)]
    else:
        formatters = [_Formatter(shown)]
    return _nested(array, indent, summarize, formatters)


def _with_suffixes(text: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    parts = [text]
    last = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or last + len(suffix) + 2 > OPTIONS["linewidth"]:  # type: ignore[operator]
            parts.append(",\n" + " " * indent + suffix)
            last = indent + len(suffix)
            force_newline = False
        else:
            parts.append(", " + suffix)
            last += len(suffix) + 2
    parts.append(")")
    return "".join(parts)


def _node_name(node: Any) -> str:
    """The name of a node's class; nodes of C++ without a class of their own go by their name."""
    name = type(node).__name__
    return node.name().rpartition("::")[2] if name == "CppFunction" else name


def tensor_str(t: Tensor, contents: object = None) -> str:
    """`repr` of a tensor, with `contents` in the place of its elements. A view whose history is not allowed shows
    `grad_fn=<Invalid>`.
    """
    if t._keys & AUTOGRAD:
        current_version(t)
    name = type(t).__name__
    plain = name in ("Tensor", "Parameter")
    prefix = opening = "tensor(" if plain else f"{name}("
    if name == "Parameter":
        prefix = "Parameter containing:\ntensor("
    array = t._array
    suffixes: list[str] = []
    default = {
        dtypes.get_default_dtype(),
        dtypes.int64,
        dtypes.bool_,
        dtypes.get_default_dtype().to_complex(),
    }
    if contents is not None:
        text = str(contents)
        if t.dtype not in default and array.size:
            suffixes.append(f"dtype={t.dtype}")
    elif array.size == 0:
        if array.ndim != 1:
            suffixes.append(f"size={tuple(array.shape)}")
        if t.dtype is not dtypes.get_default_dtype():
            suffixes.append(f"dtype={t.dtype}")
        text = "[]"
    else:
        if t.dtype not in default:
            suffixes.append(f"dtype={t.dtype}")
        text = _contents(array, len(opening))
    invalid = False
    grad_fn = None
    try:
        grad_fn = t.grad_fn
    except RuntimeError:
        invalid = True
    if invalid:
        suffixes.append("grad_fn=<Invalid>")
    elif grad_fn is not None:
        suffixes.append(f"grad_fn=<{_node_name(grad_fn)}>")
    elif requires_grad(t):
        suffixes.append("requires_grad=True")
    level = tls.state.forward_level
    tangent = None if level is None else level.tangent(t)
    if tangent is not None:
        suffixes.append(f"tangent={tensor_str(tangent)}")
    shown = _with_suffixes(prefix + text, suffixes, len(opening), False)
    return shown if plain or not getattr(t, "_is_param", False) else f"Parameter({shown})"


def _repr(self: Tensor, *, tensor_contents: object = None) -> str:
    return tensor_str(self, tensor_contents)


attach("__repr__", _repr)
