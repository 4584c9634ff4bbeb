"""Tensors that share their memory: views, and what an op may have handed back.

`t.contiguous()` is `t` itself or a copy, by what isn't known here; `t.reshape(-1)` may be a view besides. What is done
to one of them may hold for the others, so that nothing is certain of those any more.
"""

from __future__ import annotations

from collections.abc import Iterator

from .state import State
from .values import CERTAIN, Grad, Ref, Tensor

_MOST = 16
"""Of the tensors that share with one, those that are remembered, the last ones made."""


def share(state: State, source: Ref, made: Ref, *, perhaps: bool) -> None:
    """Note that `made` is a view of the source or, perhaps, the source itself."""
    first = state.tensor(source)
    if first is None:
        return
    root = first.root if first.root is not None else source.number
    held = state.tensor(Ref(root))
    if held is not None:
        state.change(Ref(root), sharing=(*held.sharing[1 - _MOST :], made.number))
        state.change(made, root=root, perhaps=perhaps, sharing=())


def same(state: State, ref: Ref) -> None:
    """What autograd knows of the tensor has been set: whether also of those that may be the same object isn't known."""
    perhaps = (tensor := state.tensor(ref)) is not None and tensor.perhaps
    for other, thing in _others(state, ref):
        if perhaps or thing.perhaps:
            unknown = frozenset((other.number, *(thing.grad - {CERTAIN})))
            state.change(other, grad=unknown, leaf=None, unrecorded=())


def written(state: State, ref: Ref, sources: Grad) -> None:
    """Something that may require grad was written to the tensor: the graph of the others changes too."""
    for other, thing in _others(state, ref) if sources else ():
        if sources - thing.grad:
            state.change(other, grad=thing.grad | (sources - {CERTAIN}) | {other.number}, leaf=None)


def _others(state: State, ref: Ref) -> Iterator[tuple[Ref, Tensor]]:
    tensor = state.tensor(ref)
    if tensor is None:
        return
    root = tensor.root if tensor.root is not None else ref.number
    first = state.tensor(Ref(root))
    for number in (root, *(first.sharing if first is not None else ())):
        other = state.tensor(Ref(number))
        if other is not None and number != ref.number:
            yield Ref(number), other
