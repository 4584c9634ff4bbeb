"""The rows of PyTorch's own ops: each overload is called by itself, on the samples that fit its signature."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import op_findings
import torch
from op_probe import Call, Impossible, Path, Sample, probe, shown
from op_rows import Parameter, Row
from op_samples import Samples
from own_samples import OWN, is_rare

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
_MOST = 16


def probe_row(row: Row, samples: Samples) -> list[str]:
    """Calls the row's op, and writes into the row what was seen; the differences, or why no call was possible."""
    packet = getattr(torch.ops.aten, row.name)
    function = getattr(packet, row.overload or "default")
    is_out = any(parameter.keyword_only and f"alias:{parameter.name}" in row.results for parameter in row.parameters)
    calls: list[Call] = []
    failed: list[str] = []
    for bound, strided in _samples(row, samples):
        arguments = _with_outputs(row, packet, bound) if is_out else bound
        if arguments is None or (is_out and strided):
            continue
        try:
            call = probe(function, Sample((), arguments, strided), _name_of)
        except Impossible as impossible:
            failed.append(str(impossible))
            if len(failed) == 2 * _MOST:
                break
            continue
        call.options = _options(row, arguments)
        calls.append(call)
        if len(calls) == (4 if is_out else _MOST):
            break
    if not calls:
        return [f"{row.name}.{row.overload}: {failed[0].splitlines()[0]}"] if failed else []
    return op_findings.apply(row, calls, declared=True)


def _name_of(path: Path) -> str:
    return str(path[0])


def _samples(row: Row, samples: Samples) -> Iterator[tuple[dict[str, Any], bool]]:
    for sample in (*OWN.get(row.name, ()), *samples.of(row.name)):
        if is_rare(row.name, sample):
            continue
        bound = _bound(row, sample)
        if bound is not None:
            yield bound, sample.strided


def _bound(row: Row, sample: Sample) -> dict[str, Any] | None:
    """The sample's arguments by name, if they fit."""
    positional = [parameter for parameter in row.parameters if not parameter.keyword_only]
    by_name = {parameter.name: parameter for parameter in row.parameters}
    if len(sample.args) > len(positional):
        return None
    bound = {parameter.name: value for parameter, value in zip(positional, sample.args, strict=False)}
    for name, value in sample.kwargs.items():
        known = "self" if name == "input" and "self" in by_name else name
        if known not in by_name or known in bound:
            return None
        bound[known] = value
    for name, value in bound.items():
        if name == "reduction" and isinstance(value, str):
            bound[name] = _REDUCTIONS.get(value, value)
        elif by_name[name].kind == "number" and isinstance(value, torch.Tensor) and value.layout == torch.strided:
            bound[name] = value.reshape(-1)[0].item()  # the overload for a number instead
        elif not _fits(by_name[name], value):
            return None
    return bound


def _fits(parameter: Parameter, value: Any) -> bool:
    if value is None:
        return parameter.optional
    if parameter.kind == "tensor":
        return isinstance(value, torch.Tensor)
    if parameter.kind == "tensors":
        return isinstance(value, (list, tuple)) and all(
            item is None or isinstance(item, torch.Tensor) for item in value
        )
    if parameter.kind == "number":
        return isinstance(value, (bool, int, float, complex))
    return not isinstance(value, torch.Tensor)


def _options(row: Row, arguments: dict[str, Any]) -> dict[str, str]:
    by_name = {parameter.name: parameter for parameter in row.parameters}
    return {
        name: shown(value)
        for name, value in arguments.items()
        if by_name[name].optional and (isinstance(value, torch.Tensor) or not _is(value, by_name[name].default))
    }


def _is(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _with_outputs(row: Row, packet: Any, bound: dict[str, Any]) -> dict[str, Any] | None:
    """For `out=`, tensors like those that the op gives without it."""
    outputs = [parameter.name for parameter in row.parameters if f"alias:{parameter.name}" in row.results]
    if any(bound.get(name) is not None for name in outputs):
        return bound
    try:
        made = packet(**bound)
    except Exception:
        return None
    tensors = [made] if isinstance(made, torch.Tensor) else list(made) if isinstance(made, tuple) else []
    if len(tensors) != len(outputs) or not all(isinstance(one, torch.Tensor) for one in tensors):
        return None
    return {**bound, **{name: torch.empty_like(one) for name, one in zip(outputs, tensors, strict=True)}}
