"""The rows of what exists in Python only: functions of torch and its namespaces, methods, operators."""

from __future__ import annotations

import contextlib
import inspect
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

import op_findings
import torch
from op_probe import Path, Probe, Sample, Seen
from op_rows import Parameter, Row
from own_samples import OWN

NAMESPACES = {
    "": torch,
    "nn.functional.": torch.nn.functional,
    "linalg.": torch.linalg,
    "special.": torch.special,
    "fft.": torch.fft,
    "nn.init.": torch.nn.init,
    "nn.utils.rnn.": torch.nn.utils.rnn,
}

_NO_OPS = re.compile(
    r"""_ | (?:is|set|get|use|are)_ | .*(?:Storage|Tensor|Type|Error|Guard)$ | manual_seed | seed$ | initial_seed | typename
    | compile$ | cond$ | while_loop | vmap | load$ | save$ | import_ir | parse_ | merge_type | fork$ | wait$ | read_vitals
    | init_num | candidate | autocast | clear_autocast | prepare_ | unify_type | vitals | sym_ | export | fbgemm | quantize
    | fake_quant | dequantize | q_ | cudnn | miopen | mkldnn | int_repr | handle_torch_function | has_torch_function
    | boolean_dispatch | assert_int | call_trampoline | classproperty | default_generator | nested_ | no_grad | enable_grad
    | inference_mode | thread_safe | .*_copy(?:_|$) | Block | .*Iterator | Graph | Node | Value
    | lobpcg | pca_lowrank | svd_lowrank | fused_moving | choose_qparams | rowwise_prune | profiler | overload$ | calculate
    """,
    re.VERBOSE,
)


def _signature(function: Any, title: str) -> list[tuple[str, str, bool, bool, bool]] | None:
    """Name, annotation, optional, keyword only, variadic: of the function, or as its documentation has them."""
    bare = getattr(function, "__wrapped__", function)
    with contextlib.suppress(ValueError, TypeError):
        found = inspect.signature(bare)
        parameters = [*found.parameters.values()]
        if not all(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters) or not parameters:
            return [
                (
                    p.name,
                    "" if p.annotation is p.empty else str(p.annotation),
                    p.default is not p.empty,
                    p.kind is p.KEYWORD_ONLY,
                    p.kind is p.VAR_POSITIONAL,
                )
                for p in parameters
                if p.kind is not p.VAR_KEYWORD
            ]
    written = re.search(
        r"\b" + re.escape(title.rpartition(".")[2]) + r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)", function.__doc__ or ""
    )
    if written is None:
        return None
    made: list[tuple[str, str, bool, bool, bool]] = []
    keyword_only = False
    for part in re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "0", written[1]).split(","):
        text = part.strip()
        if text in {"*", "/"}:
            keyword_only = keyword_only or text == "*"
        elif matched := re.match(r"(\*?)(\w+)(?::([^=]*))?(=)?", text):
            made.append((matched[2], matched[3] or "", bool(matched[4]), keyword_only, bool(matched[1])))
    return made


def _kind(values: list[Any], annotation: str) -> str:
    if any(isinstance(value, torch.Tensor) for value in values):
        return "tensor"
    if any(
        isinstance(value, (list, tuple)) and value and any(isinstance(item, torch.Tensor) for item in value)
        for value in values
    ):
        return "tensors"
    if any(isinstance(value, (bool, int, float, complex)) for value in values):
        return "number"
    bare = annotation.replace("torch.", "").replace("typing.", "").strip("'\"")
    if re.fullmatch(r"Optional\[Tensor\]|Tensor( \| None)?|<class 'Tensor'>|<class '_tensor.Tensor'>", bare):
        return "tensor"
    if re.fullmatch(r"(?:Optional\[)?(?:<class ')?(int|float|bool)(?:'>)?\]?(?: \| None)?", bare):
        return "number"
    if "Tensor" in bare and re.match(r"list|List|tuple|Tuple|Sequence", bare):
        return "tensors"
    return "other"


def _named(name: str, position: int, signature: list[tuple[str, str, bool, bool, bool]]) -> str:
    positional = [p for p in signature if not p[3]]
    for place, parameter in enumerate(positional):
        if place == position or parameter[4]:
            return parameter[0]
    return name


def python_row(
    title: str, overload: str, function: Callable[..., Any], samples: list[Sample], lists: bool, method: bool
) -> Row:
    """The row of one function, called on its samples."""
    signature = _signature(function, title) or []
    if method and (not signature or signature[0][0] not in {"self", "input"}):
        signature = [("self", "Tensor", False, False, False), *signature]

    seen = Seen()
    tried = 0
    values: dict[str, list[Any]] = {}
    for sample in samples:
        if tried >= 10:
            break

        def named(path: Path, sample: Sample = sample) -> str:
            if path[0] == len(sample.args):
                return str(path[1])
            return _named(f"argument{path[0]}", path[0], signature)

        if Probe(function, sample, named, seen).run():
            tried += 1
            for position, value in enumerate(sample.args):
                values.setdefault(_named(f"argument{position}", position, signature), []).append(value)
            for name, value in sample.kwargs.items():
                values.setdefault(name, []).append(value)
    known = {p[0] for p in signature}
    signature += [(name, "", False, False, False) for name in values if name not in known]
    parameters = tuple(
        Parameter(
            name,
            "tensors"
            if variadic and _kind(values.get(name, []), annotation) == "tensor"
            else _kind(values.get(name, []), annotation),
            optional or (name in values and None in [v for v in values[name] if v is None]),
            keyword_only,
            variadic,
        )
        for name, annotation, optional, keyword_only, variadic in signature
    )
    row = Row(title, overload, parameters, ("other",), spelled={"p"})
    if seen.results:
        op_findings.apply(row, seen, lists)
    return row


def _is_op(name: str, value: Any) -> bool:
    return callable(value) and not isinstance(value, (type, types.ModuleType)) and not _NO_OPS.match(name)


def namespace_functions(aten: set[str]) -> Iterator[tuple[str, str | Callable[..., Any]]]:
    """Each path with the aten op that it is, or the Python function."""
    for prefix, namespace in NAMESPACES.items():
        public = getattr(namespace, "__all__", None) if prefix in {"nn.init.", "nn.utils.rnn."} else None
        for name in sorted(public or dir(namespace)):
            value = getattr(namespace, name)
            if not _is_op(name, value):
                continue
            if isinstance(value, (types.BuiltinFunctionType, types.BuiltinMethodType)):
                if value.__name__ in aten:
                    yield prefix + name, value.__name__
                    continue
                if prefix == "" and name not in OWN:
                    continue
            elif not (getattr(value, "__module__", "") or "").startswith("torch"):
                continue
            yield prefix + name, value


def methods(aten_methods: set[str]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Methods of Tensor that aren't simply an aten op."""
    for name in sorted(dir(torch.Tensor)):
        value = getattr(torch.Tensor, name)
        if not callable(value) or isinstance(value, type):
            continue
        if name.startswith("_") and not (name.startswith("__") and f"Tensor.{name}" in OWN):
            continue
        if name in aten_methods and not isinstance(value, types.FunctionType):
            continue
        yield name, value
