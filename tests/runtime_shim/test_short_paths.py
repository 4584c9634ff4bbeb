"""The short paths of the commonest ops do exactly what the layers do that they pass over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from guardfix import runtime_shim as torch
from guardfix.runtime_shim.core.thread_state import ThreadState, tls
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
}


@contextmanager
def _through_the_layers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No short path is taken inside."""

    def refresh(state: ThreadState) -> None:
        state.fast = state.plain = False

    with monkeypatch.context() as patch:
        patch.setattr(ThreadState, "refresh", refresh)
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
        meta and (meta.creation_meta, meta.attr_version, meta.view_fn is None, type(meta.grad_fn).__name__),
    )


def _outcome(mode: str, made: str, statement: str) -> tuple[Any, ...]:
    a = MADE[made]()
    with MODES[mode]():
        try:
            found = STATEMENTS[statement](a)
        except (RuntimeError, IndexError) as error:
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
