"""The layers of torch.nn, run on the wheel's own samples (ModuleInfo) with an inference input."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import torch
from op_probe import Probe, Sample, Seen
from torch.testing._internal.common_modules import module_db

_SAVED = "Inference tensors cannot be saved for backward"


def _inference(value: Any) -> Any:
    """The same arguments, made under inference mode."""
    if isinstance(value, torch.Tensor):
        with torch.inference_mode():
            return value.detach().clone()
    if isinstance(value, (list, tuple)):
        return type(value)(_inference(item) for item in value)
    return value


def _ways(made: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, set[str]]:
    """Whether an inference input raises, and what the result is."""
    given = _inference(args)
    named = {key: _inference(value) for key, value in kwargs.items()}
    try:
        made(*given, **named)
        saved = False
    except RuntimeError as error:
        saved = _SAVED in str(error)
    tensors = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor)]
    result = made(*args, **kwargs)
    if not isinstance(result, torch.Tensor):
        return saved, {"other"}
    shared = any(
        result is one or result.untyped_storage()._cdata == one.untyped_storage()._cdata
        for one in tensors
        if one.layout == torch.strided
    )
    return saved, {"shared" if shared else "new"}


def _line(name: str, infos: list[Any]) -> str:
    parameters = False
    raised: dict[bool, list[bool]] = {True: [], False: []}
    results: set[str] = set()
    for info in infos:
        for training in (True, False):
            torch.manual_seed(0)
            inputs = info.module_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=False, training=training
            )
            for sample in inputs:
                made = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs)
                made.train(training)
                parameters = parameters or any(True for _ in made.parameters())
                if sample.forward_input is None:
                    continue
                try:
                    made(*sample.forward_input.args, **sample.forward_input.kwargs)
                except Exception:
                    continue
                saved, result = _ways(made, sample.forward_input.args, sample.forward_input.kwargs)
                if any(True for _ in made.parameters()):
                    raised[training].append(saved)
                results |= result
    return "\t".join((name, "p" if parameters else "", _all(raised[True]), _all(raised[False]), _result(results)))


def _all(raised: list[bool]) -> str:
    if not raised or not any(raised):
        return "no"
    return "yes" if all(raised) else "?"


def _result(results: set[str]) -> str:
    if not results or "other" in results:
        return "other"
    return "maybe" if "shared" in results else "new"


def layer_lines() -> Iterator[str]:
    """A line for each layer: name, whether it has parameters, what is raised in training and in evaluation, result."""
    by_name: dict[str, list[Any]] = {}
    for info in module_db:
        by_name.setdefault(info.module_cls.__name__, []).append(info)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sorted(by_name):
            yield _line(name, by_name[name])


_ = Probe, Sample, Seen
