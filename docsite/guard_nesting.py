"""What guards do inside each other, as the shim computes it: the data of the page "The guards explained"."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

RECORDED = Path(__file__).with_name("pytorch_nestings.json")
"""PyTorch's own answers, and its version; `record_pytorch_nestings.py` writes the file."""
DEEPEST = 3
"""Guards inside each other on the page."""


class NestableGuard(NamedTuple):
    """A guard that can be picked on the page."""

    key: str
    cpp: str
    """As C++ declares it."""
    python: str
    """As Python enters it; empty where only C++ has it."""
    make: Callable[[Any], AbstractContextManager[Any]]
    """Makes it, given the module `torch`: the shim, or PyTorch itself."""


GUARDS = (
    NestableGuard("n", "c10::NoGradGuard", "torch.no_grad()", lambda torch: torch.no_grad()),
    NestableGuard("g", "c10::AutoGradMode guard(true)", "torch.enable_grad()", lambda torch: torch.enable_grad()),
    NestableGuard("i", "c10::InferenceMode", "torch.inference_mode()", lambda torch: torch.inference_mode()),
    NestableGuard(
        "j", "c10::InferenceMode guard(false)", "torch.inference_mode(False)", lambda torch: torch.inference_mode(False)
    ),
    NestableGuard("a", "at::AutoDispatchBelowAutograd", "", lambda torch: torch._C._AutoDispatchBelowAutograd()),
    NestableGuard(
        "v", "at::AutoDispatchBelowADInplaceOrView", "", lambda torch: torch._C._AutoDispatchBelowADInplaceOrView()
    ),
)


class Inside(NamedTuple):
    """What holds inside of nested guards, for operations on tensors that were made outside of them."""

    grad_mode: bool
    inference_mode: bool
    autograd_key: bool
    """Operations pass the Autograd keys."""
    view_key: bool
    """Operations pass ADInplaceOrView."""
    recorded: bool
    """An operation on a tensor that requires gradients is recorded."""
    view_tracked: bool
    """A view knows what it is a view of."""
    version_counted: bool
    """A change in place bumps the version counter."""
    new_is_inference: bool
    """New tensors are inference tensors."""


def inside(guards: tuple[NestableGuard, ...], torch: Any) -> Inside:
    """What `torch` does inside of these guards, the first of which is the outermost."""
    _C = torch._C
    leaf, normal = torch.ones(2, requires_grad=True), torch.ones(2)
    with ExitStack() as stack:
        for guard in guards:
            stack.enter_context(guard.make(torch))
        included, excluded = _C._dispatch_tls_local_include_set(), _C._dispatch_tls_local_exclude_set()
        keys = (_C._dispatch_keys(normal) | included) - excluded
        grad_mode, inference_mode = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
        recorded = (leaf * 2).requires_grad
        view, new = normal[:1], torch.ones(1)
        before = normal._version
        normal.add_(1)
        return Inside(
            grad_mode,
            inference_mode,
            keys.has(_C.DispatchKey.AutogradCPU),
            keys.has(_C.DispatchKey.ADInplaceOrView),
            recorded,
            view._is_view(),
            normal._version > before,
            new.is_inference(),
        )


def nestings(torch: Any) -> Iterator[tuple[str, Inside]]:
    """Every way to put up to `DEEPEST` guards into each other, by their keys, the outermost first."""
    for depth in range(DEEPEST + 1):
        for guards in product(GUARDS, repeat=depth):
            yield "".join(guard.key for guard in guards), inside(guards, torch)


def page_data() -> dict[str, Any]:
    """What the page's script reads: the guards, and for each nesting its answers as ones and zeros."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    return {
        "pytorch": recorded,
        "guards": [[guard.key, guard.cpp, guard.python] for guard in GUARDS],
        "nestings": written(_shim()),
    }


def written(torch: Any) -> dict[str, str]:
    """The answers of `torch` to each nesting, as ones and zeros."""
    return {keys: "".join(str(int(answer)) for answer in answers) for keys, answers in nestings(torch)}


def _shim() -> Any:
    from guardfix import runtime_shim  # not at the top: PyTorch's answers are recorded without guardfix

    return runtime_shim


def table() -> str:
    """What each guard does by itself, as a table in Markdown."""
    yes = {True: "yes", False: "no"}
    head = "| guard | grad mode | recorded | views tracked | versions counted | new tensors |"
    rows = [head, "|---|---|---|---|---|---|"]
    for guards in ((), *((guard,) for guard in GUARDS)):
        found = inside(guards, _shim())
        name = f"`{guards[0].cpp}`" if guards else "none"
        if guards and guards[0].python:
            name += f" / `{guards[0].python}`"
        rows.append(
            f"| {name} | {'on' if found.grad_mode else 'off'} | {yes[found.recorded]} | {yes[found.view_tracked]} "
            f"| {yes[found.version_counted]} | {'inference' if found.new_is_inference else 'normal'} |"
        )
    return "\n".join(rows)
