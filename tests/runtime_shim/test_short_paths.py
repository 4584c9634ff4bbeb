"""The short paths of the commonest ops do exactly what the layers do that they pass over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from guardfix import runtime_shim as torch
from guardfix.runtime_shim.core.thread_state import ThreadState, tls
from guardfix.runtime_shim.nn import functional as F
from guardfix.runtime_shim.tape.nodes import Node
from guardfix.runtime_shim.tape.saved_tensors import Saved, SavedNumber
from guardfix.runtime_shim.utils._python_dispatch import TorchDispatchMode

MODES: dict[str, Callable[[], Any]] = {
    "normal": torch.enable_grad,
    "no_grad": torch.no_grad,
    "inference": torch.inference_mode,
}


def _view_of_requiring() -> Any:
    return (torch.ones(2, 3, requires_grad=True) * 2).view(3, 2).t()


def _no_grad_view() -> Any:
    with torch.no_grad():
        return torch.ones(2, 3, requires_grad=True).view(2, 3)


def _inference() -> Any:
    with torch.inference_mode():
        return torch.ones(2, 3)


def _inference_view() -> Any:
    base = torch.ones(2, 3)
    with torch.inference_mode():
        return base[:]


#: The tensors that an op is called on.
MADE: dict[str, Callable[[], Any]] = {
    "plain": lambda: torch.ones(2, 3),
    "leaf": lambda: torch.ones(2, 3, requires_grad=True),
    "history": lambda: torch.ones(2, 3, requires_grad=True) * 2,
    "view": lambda: torch.ones(3, 2).t(),
    "view of one that requires grad": _view_of_requiring,
    "view made in no_grad": _no_grad_view,
    "view made in inference mode": _inference_view,
    "part of an unbind": lambda: torch.ones(2, 2, 3, requires_grad=True).unbind(0)[0],
    "inference": _inference,
    "detached": lambda: torch.ones(2, 3, requires_grad=True).detach(),
    "expanded": lambda: torch.ones(3).expand(2, 3),
    "integers": lambda: torch.arange(6).view(2, 3),
    "complex, seen as real": lambda: torch.view_as_real(torch.ones(3, 1, dtype=torch.complex64))[:, 0].t(),
}

STATEMENTS: dict[str, Callable[[Any], Any]] = {
    "a + a": lambda a: a + a,
    "a + 1": lambda a: a + 1,
    "a * one that requires grad": lambda a: a * torch.ones(2, 3, requires_grad=True),
    "a + inference": lambda a: a + _inference(),
    "a + row": lambda a: a + torch.ones(3),
    "a + wrong shape": lambda a: a + torch.ones(2, 2),
    "a == a": lambda a: a == a,
    "-a": lambda a: -a,
    "sum": lambda a: a.sum(),
    "sum(0)": lambda a: a.sum(0),
    "a @ a.t()": lambda a: a @ a.t(),
    "a @ a": lambda a: a @ a,
    "add_": lambda a: a.add_(torch.ones(2, 3)),
    "add_ itself": lambda a: a.add_(a),
    "add_ alpha": lambda a: a.add_(torch.ones(2, 3), alpha=2),
    "add_ one that requires grad": lambda a: a.add_(torch.ones(2, 3, requires_grad=True)),
    "add_ inference": lambda a: a.add_(_inference()),
    "add_ doubles": lambda a: a.add_(torch.ones(2, 3, dtype=torch.float64)),
    "add_ wrong shape": lambda a: a.add_(torch.ones(3, 2)),
    "mul_(2)": lambda a: a.mul_(2),
    "neg_": lambda a: a.neg_(),
    "zero_": lambda a: a.zero_(),
    "a[0] = 2": lambda a: (a.__setitem__(0, 2), a)[1],
    "a[-1] = 0.1": lambda a: (a.__setitem__(-1, 0.1), a)[1],
    "a[2] = 2": lambda a: (a.__setitem__(2, 2), a)[1],
    "view(-1)": lambda a: a.view(-1),
    "view(3, -1)": lambda a: a.view(3, -1),
    "view of the wrong size": lambda a: a.view(5),
    "a[0]": lambda a: a[0],
    "a[0][1:]": lambda a: a[0][1:],
    "t": lambda a: a.t(),
    "t, then zero_": lambda a: a.t().zero_(),
    "unsqueeze(0)": lambda a: a.unsqueeze(0),
    "unsqueeze(1)": lambda a: a.unsqueeze(1),
    "unsqueeze(-1)": lambda a: a.unsqueeze(-1),
    "unsqueeze(4)": lambda a: a.unsqueeze(4),
    "unsqueeze of no elements": lambda a: a[:0].unsqueeze(1),
    "unsqueeze, then select": lambda a: a.unsqueeze(0).select(1, 1),
    "exp": lambda a: a.exp(),
    "a * a": lambda a: a * a,
    "a * 2": lambda a: a * 2,
    "2 * a": lambda a: 2 * a,
    "a / one that requires grad": lambda a: a / torch.full((2, 3), 2.0, requires_grad=True),
    "a * inference": lambda a: a * _inference(),
    "pow(2)": lambda a: a.pow(2),
    "clone": lambda a: a.clone(),
    "clone, contiguous": lambda a: a.clone(memory_format=torch.contiguous_format),
    "mean": lambda a: a.mean(),
    "mean(1)": lambda a: a.mean(1),
    "mean(0, keepdim)": lambda a: a.mean(0, keepdim=True),
    "mean((0, -1))": lambda a: a.mean((0, -1)),
    "mean(2)": lambda a: a.mean(2),
    "sum(1, keepdim)": lambda a: a.sum(1, True),
    "max(1)": lambda a: a.max(1)[0],
    "softmax(1)": lambda a: a.softmax(1),
    "softmax(-2)": lambda a: torch.softmax(a, -2),
    "softmax(2)": lambda a: a.softmax(2),
    "log_softmax(1)": lambda a: a.log_softmax(1),
    "cat": lambda a: torch.cat((a, a)),
    "cat, 1": lambda a: torch.cat([a, torch.ones(2, 1, requires_grad=True)], 1),
    "cat with inference": lambda a: torch.cat((a, _inference())),
    "cat with nothing": lambda a: torch.cat((torch.ones(0), a)),
    "cat with doubles": lambda a: torch.cat((a, torch.ones(1, 3, dtype=torch.float64))),
    "cat of wrong shapes": lambda a: torch.cat((a, torch.ones(2, 2))),
    "cat of other ranks": lambda a: torch.cat((a, torch.ones(3))),
    "cat in a third dimension": lambda a: torch.cat((a, a), 2),
    "cat of none": lambda a: torch.cat(()),
    "cat of a number": lambda a: torch.cat((a, 1)),
    "stack": lambda a: torch.stack((a, a)),
    "stack, -1": lambda a: torch.stack((a, torch.ones(2, 3, requires_grad=True)), -1),
    "stack of wrong shapes": lambda a: torch.stack((a, torch.ones(3, 2))),
    "where": lambda a: torch.where(a > 0, a, torch.ones(2, 3, requires_grad=True)),
    "where, a number": lambda a: torch.where(a > 0, a, 0.5),
    "where, doubles": lambda a: torch.where(a > 0, a, torch.ones(2, 3, dtype=torch.float64)),
    "where, a column": lambda a: torch.where(torch.tensor([[True], [False]]), a, a),
    "where of wrong shapes": lambda a: torch.where(torch.tensor([True, False]), a, a),
    "layer_norm": lambda a: F.layer_norm(a, (3,)),
    "layer_norm, scaled": lambda a: F.layer_norm(a, [3], torch.full((3,), 2.0, requires_grad=True), torch.ones(3)),
    "layer_norm over all": lambda a: F.layer_norm(a, (2, 3)),
    "layer_norm of another shape": lambda a: F.layer_norm(a, (2,)),
    "linear": lambda a: F.linear(a, torch.ones(4, 3, requires_grad=True), torch.ones(4)),
    "linear without bias": lambda a: F.linear(a, torch.ones(4, 3, requires_grad=True)),
    "linear of a row": lambda a: F.linear(a[0], torch.ones(4, 3), torch.ones(4)),
    "linear of a wrong shape": lambda a: F.linear(a, torch.ones(4, 2), torch.ones(4)),
    "linear of doubles": lambda a: F.linear(a, torch.ones(4, 3, dtype=torch.float64), torch.ones(4)),
    "linear, a wrong bias": lambda a: F.linear(a, torch.ones(4, 3), torch.ones(3)),
    "addmm": lambda a: torch.addmm(torch.ones(2, 2), a, torch.ones(3, 2), beta=2, alpha=3),
    "conv1d": lambda a: F.conv1d(a, torch.ones(3, 2, 2, requires_grad=True)),
    "conv2d": lambda a: F.conv2d(a[None, None], torch.ones(2, 1, 2, 2), torch.ones(2, requires_grad=True), padding=1),
    "conv2d, strided": lambda a: F.conv2d(a[None, None], torch.ones(2, 1, 2, 2), stride=(1, 2), dilation=(1, 2)),
    "conv2d of wrong channels": lambda a: F.conv2d(a[None, None], torch.ones(2, 2, 2, 2)),
    "indexed by a tensor": lambda a: a[torch.tensor([1, 0, -1])],
    "indexed by two tensors": lambda a: a[torch.tensor([1, 0]), torch.tensor([[2], [1]])],
    "indexed by a mask": lambda a: a[torch.tensor([[True, False, True], [False, True, False]])],
    "indexed by a tensor behind a slice": lambda a: a[:, torch.tensor([2, 0])],
    "indexed out of bounds": lambda a: a[torch.tensor([2])],
    "indexed by floats": lambda a: a[torch.tensor([0.5])],
    "indexed by int32": lambda a: a[torch.tensor([1], dtype=torch.int32)],
    "indexed by nothing": lambda a: a[torch.tensor([], dtype=torch.int64)],
    "indexed by a single one": lambda a: a[torch.tensor(1)],
    "a[:1]": lambda a: a[:1],
    "a[-1]": lambda a: a[-1],
    "a[2]": lambda a: a[2],
    "a[5:]": lambda a: a[5:],
    "a[:, 1]": lambda a: a[:, 1],
    "a[::2]": lambda a: a[::2],
    "select(1, 0)": lambda a: a.select(1, 0),
    "detach": lambda a: a.detach(),
    "t, then matmul": lambda a: a.t() @ a,
    "clone, mul_(2)": lambda a: a.clone().mul_(2),
    "clone, mul_ one that requires grad": lambda a: a.clone().mul_(torch.full((2, 3), 2.0, requires_grad=True)),
    "clone, exp_": lambda a: a.clone().exp_(),
    "clone, add_": lambda a: a.clone().add_(a),
    "clone, a row of it written": lambda a: (it := a.clone(), it[0].mul_(3))[0],
}


@contextmanager
def _through_the_layers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No short path is taken inside."""

    def refresh(state: ThreadState) -> None:
        state.fast = state.plain = False

    with monkeypatch.context() as patch:
        patch.setattr(ThreadState, "refresh", refresh)
        patch.setattr(Node, "remembers_forward", 1)
        tls.state.refresh()
        yield
    tls.state.refresh()


def _seen(t: Any) -> tuple[Any, ...]:
    """All that can be told of a tensor."""
    meta = t._meta
    return (
        t.tolist(),
        t.dtype,
        tuple(t.shape),
        t.stride(),
        t.storage_offset(),
        t._keys,
        None if t._version_counter is None else t._version_counter[0],
        t._storage[0],
        t.requires_grad,
        t.is_inference(),
        t._is_view(),
        meta and (meta.creation_meta, meta.attr_version, meta.view_fn is None, _recorded(meta.grad_fn)),
    )


def _recorded(node: Any) -> Any:
    """All that can be told of a node and those behind it."""
    if node is None:
        return None
    saved = {name: _saved(value) for name, value in getattr(node, "saved", {}).items()}
    edges = [None if edge is None else (_recorded(edge[0]), edge[1]) for edge in node.next_edges]
    return node.name(), edges, node.outputs, saved


def _saved(value: Any) -> Any:
    if isinstance(value, list):
        return [_saved(v) for v in value]
    if type(value) is Saved:
        return value.tensor.tolist(), value.version, value.is_leaf, value.is_output, value.original, value.output_nr
    return value.value if type(value) is SavedNumber else value


def _gradients(a: Any, found: Any) -> Any:
    """What backward gives to the leaves, and how often it can be asked."""
    told: list[Any] = []
    for _ in range(2):
        try:
            found.sum().backward()
            told.append(a.grad.tolist() if a.is_leaf and a.grad is not None else None)
        except RuntimeError as error:
            told.append(str(error))
    return told


def _outcome(mode: str, made: str, statement: str) -> tuple[Any, ...]:
    a = MADE[made]()
    with MODES[mode]():
        try:
            found = STATEMENTS[statement](a)
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            return type(error), str(error), _seen(a)
        base = found._base
        return (
            _seen(found),
            _seen(a),
            found is a,
            found._version_counter is a._version_counter,
            found._storage is a._storage,
            base is a,
            base is not None and base is a._base,
            _gradients(a, found) if found.requires_grad else None,
        )


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("mode", MODES)
def test_short_paths_do_what_the_layers_do(mode: str, statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    short = {made: _outcome(mode, made, statement) for made in MADE}
    with _through_the_layers(monkeypatch):
        long = {made: _outcome(mode, made, statement) for made in MADE}
    assert short == long


@pytest.mark.parametrize(("mode", "plain"), [("normal", True), ("no_grad", True), ("inference", False)])
def test_short_path_of_normal_tensors_is_open(mode: str, plain: bool) -> None:
    with MODES[mode]():
        assert (tls.state.plain, tls.state.fast) == (plain, not plain)


def test_short_path_is_closed_while_writes_are_watched() -> None:
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        assert not tls.state.plain
    assert tls.state.plain


@pytest.mark.parametrize(
    "statement", ["a + a", "sum", "a @ a.t()", "add_", "zero_", "view(-1)", "a[0]", "unsqueeze(0)"]
)
def test_a_dispatch_mode_sees_every_op(statement: str) -> None:
    seen: list[str] = []

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    a = torch.ones(2, 3)
    with torch.no_grad(), Log():
        STATEMENTS[statement](a)
        once = len(seen)
        STATEMENTS[statement](a)
    assert once
    assert seen[:once] == seen[once:]
