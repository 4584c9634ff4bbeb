"""What the wheel declares: native_functions.yaml and derivatives.yaml, read by its own torchgen."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torchgen
from op_rows import Parameter, Row
from torchgen.api.autograd import match_differentiability_info
from torchgen.gen import parse_native_yaml
from torchgen.model import Variant
from torchgen.packaged.autograd.load_derivatives import load_derivatives

_PACKAGED = Path(torchgen.__file__).parent / "packaged"
_NATIVE = str(_PACKAGED / "ATen/native/native_functions.yaml")
_TAGS = str(_PACKAGED / "ATen/native/tags.yaml")
_DERIVATIVES = str(_PACKAGED / "autograd/derivatives.yaml")

_INTERNAL = re.compile(
    r"""_(?!_) | quantized_ | quantize_per | fake_quantize | q_(?:scale|zero|per) | qscheme | mkldnn_ | miopen_ | cudnn_
    | fbgemm_ | sym_ | int_repr | dequantize | (?:to_)?mkldnn | is_mkldnn | .*_backward(?:_|$) | .*_jvp$ | .*_copy$
    | .*backward_(?:input|weight|reduce) | nested_to_padded | sparse_(?!mask|resize|dim|sampled) | slow_conv | .*thnn_
    | .*_(?:batch_rule|symint)$ | conv_depthwise3d | convolution_overrideable | batch_norm_(?:stats|elemt|gather|update)
    | (?:c|cr)ol_indices | rowwise_prune | choose_qparams | record_stream | cufft_ | retains_grad$ | lift(?:_fresh)?$
    | resize_as_sparse | sspaddmm | hspmm | smm | rename | align_ | refine_names | to_padded_tensor | values$
    | indices$ | coalesce | is_coalesced | is_vulkan | is_neg$ | embedding_renorm | native_group_norm_ | ccol_ | row_ind
    | crow_
    | native_norm | empty_quantized | fused_moving_avg | copy_sparse_to_sparse | sparse_resize | slice_inverse
    | from_file | linalg__powsum | is_distributed | (?:un)?flatten_dense | can_cast | promote_types
    """,
    re.VERBOSE,
)
"""Parts of other ops, other backends, and layouts that autograd's guards have little to do with."""


def _kind(of: Any) -> str:
    text = str(of)
    if "Tensor" in text:
        return "tensors" if "[" in text else "tensor"
    return "number" if text.rstrip("?") in {"Scalar", "int", "SymInt", "float", "bool"} else "other"


def _result(of: Any, aliases: dict[str, str]) -> str:
    kind = _kind(of.type)
    if kind in {"tensor", "tensors"}:
        several = kind == "tensors"
        if of.annotation is None:
            return "tensors" if several else "new"
        source = aliases.get(of.annotation.alias_set[0], "self")
        if of.annotation.is_write:
            return f"alias:{source}"
        return f"views:{source}" if several else f"view:{source}"
    return kind


def _parameters(function: Any) -> tuple[Parameter, ...]:
    declared = function.func.arguments
    keyword_only = {argument.name for argument in (*declared.flat_kwarg_only, *declared.out)}
    return tuple(
        Parameter(
            argument.name,
            _kind(argument.type),
            optional=argument.default is not None or str(argument.type).endswith("?"),
            keyword_only=argument.name in keyword_only,
            default=_value(argument.default),
            variadic=Variant.method in function.variants
            and len(declared.flat_positional) == 2
            and argument is declared.flat_positional[1]
            and str(argument.type) in {"int[]", "SymInt[]"},  # `x.view(2, 3)`
        )
        for argument in declared.flat_all
    )


def _value(default: str | None) -> Any:
    """A default as Python has it."""
    if default is None:
        return None
    if default == "Mean":
        return 1
    try:
        return ast.literal_eval(default.replace("=", ""))
    except (SyntaxError, ValueError):
        return default


def _saves(row: Row, info: Any) -> None:
    """Fills in what the derivative formulas say."""
    kinds = {parameter.name: parameter.kind for parameter in row.parameters}
    in_place = {result.partition(":")[2] for result in row.results if result.startswith("alias:")}
    pairs: set[tuple[str, str]] = set()
    result = False
    for derivative in info.derivatives:
        for saved in derivative.saved_inputs:
            # "self_scalar_type" and the like only describe an argument; what is written is copied before.
            if kinds.get(saved.nctype.name, "").startswith("tensor") and saved.nctype.name not in in_place:
                pairs.update((saved.nctype.name, because) for because in derivative.var_names)
        result = result or any("Tensor" in str(saved.nctype.type) for saved in derivative.saved_outputs)
    row.saves = tuple(pairs)
    row.saves_result = result
    row.saves_known = True
    differentiable = not (info.output_differentiability and not info.output_differentiability[0])
    if differentiable:
        row.differentiable = tuple(binding.name for binding in info.args_with_derivatives)


def declared_rows() -> Iterator[Row]:
    """A row for each op that a user can reach, in the order of native_functions.yaml."""
    functions = parse_native_yaml(_NATIVE, _TAGS).native_functions
    infos, _ = load_derivatives(_DERIVATIVES, _NATIVE, _TAGS)
    for matched in match_differentiability_info(functions, infos):
        function = matched.func
        name = str(function.func.name.name)
        if "generated" in function.tags or _INTERNAL.match(name) or "Dimname" in str(function.func):
            continue
        row = Row(name, function.func.name.overload_name, _parameters(function), ())
        aliases = {
            argument.annotation.alias_set[0]: argument.name
            for argument in function.func.arguments.flat_all
            if argument.annotation is not None
        }
        row.results = tuple(_result(of, aliases) for of in function.func.returns) or ("none",)
        row.writes = tuple(
            argument.name
            for argument in function.func.arguments.flat_all
            if argument.annotation is not None and argument.annotation.is_write
        )
        tensors = tuple(parameter.name for parameter in row.parameters if parameter.kind.startswith("tensor"))
        if function.func.is_out_fn():
            row.saves_known, row.saves_result = True, False
        elif matched.info:
            _saves(row, matched.info["Default"])
        elif function.has_composite_implicit_autograd_kernel:
            row.differentiable = tensors
        if Variant.function in function.variants:
            row.spelled.add("c")
        if Variant.method in function.variants:
            row.spelled.add("m")
        yield row
