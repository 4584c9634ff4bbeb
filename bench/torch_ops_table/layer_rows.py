"""The layers of torch.nn, run on the wheel's own samples (ModuleInfo) and a few more, with an inference input."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from op_probe import SAVED, Sample
from op_samples import call, f, i
from torch import nn
from torch.testing._internal.common_modules import module_db

_IMAGE = call(f(2, 4, 6, 6))
_OWN: dict[str, list[tuple[Sample, Sample]]] = {
    "AdaptiveLogSoftmaxWithLoss": [(call(4, 6, [2, 4]), call(f(3, 4), i(3)))],
    "AlphaDropout": [(call(), call(f(3)))],
    "ChannelShuffle": [(call(2), _IMAGE)],
    "CosineSimilarity": [(call(), call(f(2, 3), f(2, 3)))],
    "CrossMapLRN2d": [(call(2), _IMAGE)],
    "Dropout": [(call(), call(f(3))), (call(0.0), call(f(3)))],
    "Dropout1d": [(call(), call(f(2, 3, 4)))],
    "Dropout2d": [(call(), _IMAGE)],
    "Dropout3d": [(call(), call(f(2, 3, 4, 4, 4)))],
    "EmbeddingBag": [(call(5, 3), call(i(2, 4)))],
    "FeatureAlphaDropout": [(call(), _IMAGE)],
    "Flatten": [(call(), _IMAGE)],
    "Fold": [(call((4, 4), (2, 2)), call(f(2, 8, 9)))],
    "Hardsigmoid": [(call(), call(f(3)))],
    "Identity": [(call(), call(f(3)))],
    "MaxUnpool1d": [(call(2), call(f(2, 3, 2), i(2, 3, 2)))],
    "MaxUnpool2d": [(call(2), call(f(2, 3, 2, 2), i(2, 3, 2, 2)))],
    "MaxUnpool3d": [(call(2), call(f(2, 3, 2, 2, 2), i(2, 3, 2, 2, 2)))],
    "PairwiseDistance": [(call(), call(f(2, 3), f(2, 3)))],
    "PixelShuffle": [(call(2), _IMAGE)],
    "PixelUnshuffle": [(call(2), _IMAGE)],
    "RReLU": [(call(), call(f(3)))],
    "SyncBatchNorm": [],
    "TripletMarginLoss": [(call(), call(f(2, 3), f(2, 3), f(2, 3)))],
    "TripletMarginWithDistanceLoss": [(call(), call(f(2, 3), f(2, 3), f(2, 3)))],
    "Unflatten": [(call(1, (2, 2)), _IMAGE)],
    "Unfold": [(call(2), _IMAGE)],
    "Upsample": [(call(scale_factor=2), _IMAGE)],
    "UpsamplingBilinear2d": [(call(scale_factor=2), _IMAGE)],
    "UpsamplingNearest2d": [(call(scale_factor=2), _IMAGE)],
    "LazyLinear": [(call(3), call(f(2, 4)))],
    "LazyBatchNorm1d": [(call(), call(f(2, 4)))],
    "LazyBatchNorm2d": [(call(), _IMAGE)],
    "LazyBatchNorm3d": [(call(), call(f(2, 3, 4, 4, 4)))],
    "LazyInstanceNorm1d": [(call(affine=True), call(f(2, 3, 4)))],
    "LazyInstanceNorm2d": [(call(affine=True), _IMAGE)],
    "LazyInstanceNorm3d": [(call(affine=True), call(f(2, 3, 4, 4, 4)))],
    # usual calls, beside ModuleInfo's of rare options
    "Conv1d": [(call(4, 2, 3), call(f(2, 4, 6)))],
    "Conv2d": [(call(4, 2, 3), _IMAGE)],
    "Conv3d": [(call(3, 2, 2), call(f(2, 3, 4, 4, 4)))],
}
"""How a layer is made, and called: those that ModuleInfo leaves out."""


class _Run(NamedTuple):
    """One call of a layer in one mode."""

    parameters: bool
    refused: bool
    result: str


def layer_lines() -> Iterator[str]:
    """A line for each layer: name, parameters and inplace, what training and evaluation refuse, result."""
    infos: dict[str, list[Any]] = {}
    for info in module_db:
        if info.module_cls.__module__.startswith("torch.nn.modules"):
            infos.setdefault(info.module_cls.__name__, []).append(info)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sorted({*infos, *_OWN}):
            runs = {training: [*_runs(name, infos.get(name, []), training)] for training in (True, False)}
            yield _line(name, runs)


def _line(name: str, runs: dict[bool, list[_Run]]) -> str:
    every = runs[True] + runs[False]
    results = {run.result for run in every} or {"other"}
    result = "other" if "other" in results else "maybe" if "shared" in results else "new"
    marks = "p" if any(run.parameters for run in every) else ""
    if "inplace" in inspect.signature(getattr(nn, name)).parameters:
        marks += "i"
    return "\t".join((name, marks, _refused(runs[True]), _refused(runs[False]), result))


def _refused(runs: list[_Run]) -> str:
    with_parameters = [run.refused for run in runs if run.parameters]
    if not runs or (any(with_parameters) and not all(with_parameters)):
        return "?"
    return "yes" if any(with_parameters) else "no"


def _runs(name: str, infos: list[Any], training: bool) -> Iterator[_Run]:
    made: list[tuple[nn.Module, Sample]] = []
    torch.manual_seed(0)
    for info in infos:
        for sample in info.module_inputs_func(
            info, device="cpu", dtype=torch.float32, requires_grad=False, training=training
        ):
            if sample.forward_input is not None:
                module = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs)
                made.append((module, Sample(tuple(sample.forward_input.args), dict(sample.forward_input.kwargs))))
    for constructor, forward in _OWN.get(name, ()):
        made.append((getattr(nn, name)(*constructor.args, **constructor.kwargs), forward))
    for module, forward in made:
        module.train(training)
        try:
            result = module(*forward.args, **forward.kwargs)
        except Exception:
            continue
        yield _Run(any(True for _ in module.parameters()), _refuses(module, forward), _relation(result, forward))


def _refuses(module: nn.Module, forward: Sample) -> bool:
    try:
        module(*_inference(forward.args), **_inference(forward.kwargs))
    except RuntimeError as error:
        return SAVED in str(error)
    return False


def _inference(value: Any) -> Any:
    """The same arguments, made under inference mode."""
    if isinstance(value, torch.Tensor):
        with torch.inference_mode():
            return value.detach().clone()
    if isinstance(value, (list, tuple)):
        return type(value)(_inference(item) for item in value)
    if isinstance(value, dict):
        return {key: _inference(item) for key, item in value.items()}
    return value


def _relation(result: Any, forward: Sample) -> str:
    if not isinstance(result, torch.Tensor):
        return "other"
    given = [one for one in (*forward.args, *forward.kwargs.values()) if isinstance(one, torch.Tensor)]
    shared = any(result.untyped_storage()._cdata == one.untyped_storage()._cdata for one in given)
    return "shared" if shared else "new"
