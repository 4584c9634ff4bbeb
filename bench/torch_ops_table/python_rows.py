"""The rows of what exists in Python only: functions of torch and its namespaces, methods, operators."""

from __future__ import annotations

import contextlib
import inspect
import re
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import op_findings
import torch
from op_probe import Call, Impossible, Path, Sample, probe, shown
from op_rows import Parameter, Row
from own_samples import OWN

_NAMESPACES = {
    "": torch,
    "nn.functional.": torch.nn.functional,
    "linalg.": torch.linalg,
    "special.": torch.special,
    "fft.": torch.fft,
    "nn.init.": torch.nn.init,
    "nn.utils.rnn.": torch.nn.utils.rnn,
}
_WITH_ALL = ("nn.init.", "nn.utils.rnn.")

_NO_OPS = re.compile(
    r"""_ | (?:is|set|get|use|are|sym|init|parse|prepare|assert|has)_ | .*(?:Storage|Tensor|Type|Error|Guard|Iterator)$
    | .*(?:seed|compile|cond|overload|export)$ | typename | while_loop | vmap | load$ | save$ | import_ir | merge_type
    | fork$ | wait$ | read_vitals | candidate | autocast | clear_autocast | unify_type | vitals | handle_torch_function
    | fbgemm | quantize | fake_quant | dequantize | q_ | cudnn | miopen | mkldnn | int_repr | boolean_dispatch
    | call_trampoline | classproperty | default_generator | nested_ | no_grad | enable_grad | inference_mode
    | thread_safe | .*_copy(?:_|$) | Block | Graph | Node | Value | fused_moving | choose_qparams | rowwise_prune
    | (?:eig|lstsq|matrix_rank|solve|symeig|lobpcg|pca_lowrank|svd_lowrank|invert_permutation)$ | profiler
    | calculate | scaled_mm | scaled_grouped_mm | grouped_mm | compiled_with | from_file
    """,
    re.VERBOSE,
)
"""Switches, types, other backends, and what runs whole programs."""

_ELSEWHERE = re.compile(
    r"(?:q_|int_repr|dequantize|to_mkldnn|to_padded|coalesce|is_coalesced|c?col_|crow_|row_|resize_as_sparse|sspaddmm"
    r"|values$|indices$|reinforce|module_load|record_stream|storage_type|const_data_ptr|map2_|.*_copy(?:_|$)|index_copy$"
    r"|eig$|lstsq$|is_neg$|resize_as$|index$|solve$|symeig$|to_sparse_coo|align_|refine_names|rename)"
)
"""Methods for other layouts and backends, and those that only say that they are gone."""

_SHARING = {
    **{f"Tensor.{name}": "self" for name in ("cpu", "cuda", "xpu", "ipu", "mtia", "to", "type", "pin_memory")},
    "from_numpy": "ndarray",
    "frombuffer": "buffer",
    "from_dlpack": "ext_tensor",
}
"""What moves a tensor hands it back when it is there already, which a build for CPUs can't show; the memory of an array
may be that of a tensor."""

_MOST = 16


class _Declared(NamedTuple):
    name: str
    annotation: str = ""
    default: Any = None
    optional: bool = False
    keyword_only: bool = False
    variadic: bool = False


def namespace_functions(aten: set[str]) -> Iterator[tuple[str, str | Callable[..., Any]]]:
    """Each path with the name of the aten op that it is, or the Python function."""
    for prefix, namespace in _NAMESPACES.items():
        for name in sorted(namespace.__all__ if prefix in _WITH_ALL else dir(namespace)):
            value = getattr(namespace, name)
            if prefix == "nn.init." and not name.endswith("_"):
                continue  # gone, or no op
            if not callable(value) or isinstance(value, (type, types.ModuleType)) or _NO_OPS.match(name):
                continue
            if isinstance(value, (types.BuiltinFunctionType, types.BuiltinMethodType)):
                if value.__name__ in aten:
                    yield prefix + name, value.__name__
                elif prefix or name in OWN:
                    yield prefix + name, value
            elif (getattr(value, "__module__", "") or "").startswith("torch"):
                yield prefix + name, value


def tensor_methods(aten: set[str]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Methods of Tensor that aren't simply an aten op."""
    for name in sorted(dir(torch.Tensor)):
        value = getattr(torch.Tensor, name)
        known = f"Tensor.{name}" in OWN
        if not callable(value) or isinstance(value, type) or (name.startswith("_") and not known):
            continue
        if _ELSEWHERE.match(name) or (name in aten and not isinstance(value, types.FunctionType) and not known):
            continue
        yield name, value


def python_rows(path: str, function: Callable[..., Any], samples: Sequence[Sample], lists: bool) -> Iterator[Row]:
    """The rows of one function or method; with an option `inplace`, one for calls that leave it out, and one."""
    if path == "Tensor.__iter__":
        yield _row(path, "", lambda self: [*self], samples, lists)
    elif any(parameter.name == "inplace" for parameter in _signature(function, path)):
        plain = [sample for sample in samples if "inplace" not in sample.kwargs]
        either = [Sample(one.args, {**one.kwargs, "inplace": value}) for one in plain for value in (True, False)]
        row = _row(path, "", function, plain, lists)
        yield replace(row, parameters=tuple(one for one in row.parameters if one.name != "inplace"))
        row = _row(path, "inplace", function, either, lists)
        yield replace(
            row,
            parameters=tuple(replace(one, optional=False) if one.name == "inplace" else one for one in row.parameters),
        )
    else:
        yield _row(path, "", function, samples, lists)


def _row(path: str, overload: str, function: Callable[..., Any], samples: Sequence[Sample], lists: bool) -> Row:
    """The row of one function, called on its samples."""
    is_method = path.startswith("Tensor.")
    declared = _signature(function, path)
    if is_method and (not declared or declared[0].name not in {"self", "input"}):
        declared.insert(0, _Declared("self", "Tensor"))
    calls: list[Call] = []
    values: dict[str, list[Any]] = {}
    for sample in samples:
        positions = [_named(position, declared) for position in range(len(sample.args))]

        def name_of(where: Path, positions: Sequence[str] = positions) -> str:
            return positions[where[0]] if isinstance(where[0], int) else str(where[0])

        try:
            call = probe(function, sample, name_of)
        except Impossible:
            continue
        given = [*zip(positions, sample.args, strict=True), *sample.kwargs.items()]
        call.options = dict(_options(given, declared))
        calls.append(call)
        for name, value in given:
            values.setdefault(name, []).append(value)
        if len(calls) == _MOST:
            break
    known = {parameter.name for parameter in declared}
    declared += [_Declared(name) for name in values if name not in known]
    parameters = tuple(_parameter(one, values.get(one.name, [])) for one in declared)
    row = Row(path, overload, parameters, ("other",), spelled={"p"})
    if calls:
        op_findings.apply(row, calls, declared=False, lists=lists)
    if path in _SHARING:
        row.results = (f"maybe:{_SHARING[path]}",)
        row.differentiable = row.differentiable or (("self",) if is_method else ())
    return row


def _options(given: Sequence[tuple[str, Any]], declared: Sequence[_Declared]) -> Iterator[tuple[str, str]]:
    by_name = {parameter.name: parameter for parameter in declared}
    for name, value in given:
        parameter = by_name.get(name)
        if parameter is None or not parameter.optional:
            continue
        if isinstance(value, torch.Tensor) or type(value) is not type(parameter.default) or value != parameter.default:
            yield name, shown(value)


def _named(position: int, declared: Sequence[_Declared]) -> str:
    positional = [parameter for parameter in declared if not parameter.keyword_only]
    for place, parameter in enumerate(positional):
        if place == position or parameter.variadic:
            return parameter.name
    return f"argument{position}"


def _signature(function: Any, path: str) -> list[_Declared]:
    """The parameters of the function, or as its documentation has them."""
    with contextlib.suppress(ValueError, TypeError):
        parameters = [*inspect.signature(getattr(function, "__wrapped__", function)).parameters.values()]
        variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        if not parameters or not all(parameter.kind in variable for parameter in parameters):
            return [
                _Declared(
                    parameter.name,
                    "" if parameter.annotation is parameter.empty else inspect.formatannotation(parameter.annotation),
                    None if parameter.default is parameter.empty else parameter.default,
                    parameter.default is not parameter.empty,
                    parameter.kind is parameter.KEYWORD_ONLY,
                    parameter.kind is parameter.VAR_POSITIONAL,
                )
                for parameter in parameters
                if parameter.kind is not parameter.VAR_KEYWORD
            ]
    bare = re.escape(path.rpartition(".")[2])
    written = re.search(rf"\b{bare}\(([^()]*(?:\([^()]*\)[^()]*)*)\)", function.__doc__ or "")
    found: list[_Declared] = []
    keyword_only = False
    for part in re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "0", written[1]).split(",") if written else ():
        text = part.strip()
        if text in {"*", "/"}:
            keyword_only = keyword_only or text == "*"
        elif matched := re.match(r"(\*?)(\w+)\s*(?::([^=]*))?(=)?", text):
            star, name, annotation, default = matched.groups()
            found.append(_Declared(name, (annotation or "").strip(), None, bool(default), keyword_only, bool(star)))
    return found


def _parameter(declared: _Declared, values: Sequence[Any]) -> Parameter:
    kind = _kind(values, declared.annotation)
    if declared.variadic and kind == "tensor":
        kind = "tensors"
    optional = declared.optional or declared.annotation.startswith("Optional") or any(one is None for one in values)
    return Parameter(declared.name, kind, optional, declared.keyword_only, declared.variadic)


def _kind(values: Sequence[Any], annotation: str) -> str:
    bare = re.sub(r"torch\.|typing\.|_tensor\.|['\"]", "", annotation)
    bare = re.sub(r"^Optional\[(.*)\]$|^(.*?) \| None$", r"\1\2", bare)
    if any(isinstance(value, torch.Tensor) for value in values) and bare != "object":
        return "tensor"
    if any(isinstance(item, torch.Tensor) for one in values if isinstance(one, (list, tuple)) for item in one):
        return "tensors"
    if any(isinstance(value, (bool, int, float, complex)) for value in values) or bare in {"int", "float", "bool"}:
        return "number"
    if "Tensor" in bare:
        return "tensors" if re.match(r"list|List|tuple|Tuple|Sequence", bare) else "tensor"
    return "other"
