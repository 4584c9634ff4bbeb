"""The nodes of recorded ops, which evaluate their gradients in backward, also of ops that pass their layers by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core.function_table import AnyFunction
from ..core.tensor import Tensor, new_tensor
from ..core.thread_state import NORMAL_KEYS, tls
from ..tape.nodes import Edge, Grads, Node, node_class
from ..tape.saved_tensors import Saved, SavedNumber, shown_raw
from .op_description import ANY_DTYPE, KernelFunction, Op, describe

_types: dict[Op, Any] = {}


def make_node(op: Op, edges: list[Edge | None], saved: dict[object, object]) -> OpNode:
    """A node for one call of `op`; its class is made when the op is first recorded."""
    node_type = _types.get(op)
    if node_type is None:
        node_type = _types[op] = node_class(op.node_name, OpNode)
    node: Any = node_type(edges)
    node.op = op
    node.saved = saved
    return node  # an OpNode


class OpNode(Node):
    """Backward of a registered op: evaluates the formulas of the inputs that need a gradient."""

    op: Op
    saved: dict[Any, Any]
    of_self_alone = False
    """Whether it has no edge for its second operand, a number, as in C++."""

    @property
    def edges_of_needed(self) -> bool:
        """So it is where PyTorch has no derivative, other than one that says that there is none."""
        return self.op.node_name == "NotImplemented" and self.op.name != "set"

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        found = super().next_functions
        return found[:1] if self.of_self_alone else found

    def apply(self, grads: Grads) -> Grads:
        op: Op = self.op
        environment: dict[object, object] = {}
        for name, value in self.saved.items():
            if type(value) is Saved or type(value) is SavedNumber:
                environment[name] = value.unpack(self)
            elif type(value) is list:
                environment[name] = [v.unpack(self) if type(v) is Saved else v for v in value]
            else:
                environment[name] = value
        grad: Any = grads[0] if len(grads) == 1 else None
        if grad is None and all(g is None for g in grads):  # what was saved has been unpacked, or was freed
            return [None] * len(self.next_edges)
        environment["grad"] = grad
        environment["grads"] = grads
        found: Grads = []
        edge = 0
        for position, formula, names in op.formulas:
            count = self.saved.get(("list", position))
            if count is not None:
                edges = self.next_edges[edge : edge + count]
                edge += count
                if formula is None or not any(e is not None for e in edges):
                    found.extend([None] * count)
                else:
                    found.extend(formula(*[environment[n] for n in names]))
                continue
            if self.next_edges[edge] is None or formula is None:
                found.append(None)
            else:
                found.append(formula(*[environment[n] for n in names]))
            edge += 1
        return found

    def release(self) -> None:
        for value in self.saved.values():
            if type(value) is Saved or type(value) is SavedNumber:
                value.release()
            elif type(value) is list:
                for v in value:
                    if type(v) is Saved:
                        v.tensor = None

    def _shown(self) -> dict[str, object]:
        """What is saved, by the names that PyTorch's generator gives it: those of results and sizes differ."""
        shown: dict[str, object] = {}
        for name, value in self.saved.items():
            if name == "result" and type(value) is list:
                fields = getattr(getattr(self.op.outputs, "__self__", None), "_fields", None)
                names = fields or [f"result{nr}" for nr in range(len(value))]
                shown.update((n, v) for n, v in zip(names, value, strict=True) if v is not None)
            elif isinstance(name, str):
                for ours, theirs in (("_shape", "_sym_sizes"), ("_strides", "_sym_strides")):
                    name = name.removesuffix(ours) + theirs if name.endswith(ours) else name
                shown[name] = value
        return shown

    def __dir__(self) -> list[str]:
        shown = self._shown().items()
        raw = [n for n, v in shown if type(v) in (Saved, list) or v is None]
        return [*super().__dir__(), *(f"_saved_{n}" for n, _ in shown), *(f"_raw_saved_{n}" for n in raw)]

    def __getattr__(self, name: str) -> object:
        """`grad_fn._saved_self` and the like."""
        if name.startswith("_raw_saved_"):
            value = self._shown().get(name[len("_raw_saved_") :], self)
            if type(value) is Saved or value is None:
                return shown_raw(value)
            if type(value) is list:
                return tuple(shown_raw(v if type(v) is Saved else None) for v in value)
        if name.startswith("_saved_"):
            value = self._shown().get(name[len("_saved_") :], self)
            if value is not self:
                if type(value) is list:
                    return tuple(v.unpack(self) if type(v) is Saved else v for v in value)
                if type(value) is SavedNumber:
                    return new_tensor(np.array(value.unpack(self)))
                return value.unpack(self) if type(value) is Saved else value
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


def describe_recording(
    name: str, parameters: KernelFunction, derivatives: Mapping[str, AnyFunction | None], **facts: Any
) -> Op:
    """The description of what an op is recorded as that passes its layers by hand; `parameters` only names them."""
    return describe(name, parameters, derivatives, computes=ANY_DTYPE, numbers=None, **facts)


def recorded_write(
    name: str, node: str, parameters: KernelFunction, **derivatives: Callable[..., object]
) -> tuple[Op, Op]:
    """What an in-place form is recorded as that has its own node, whatever its second argument is."""
    made = describe_recording(name, parameters, derivatives, node=node)
    return made, made


def arguments_of(op: Op, args: tuple[Any, ...]) -> tuple[list[Tensor], int]:
    """The tensors among the arguments, and the union of their keys."""
    found: list[Tensor] = []
    keys = 0
    for i in op.tensor_positions:
        value = args[i]
        if isinstance(value, Tensor):
            if i in op.lists:
                _not_a_tensor(op, args, i)
            found.append(value)
            keys |= value._keys
        elif type(value) in (list, tuple):
            if i not in op.lists and i not in op.index_lists:
                _not_a_tensor(op, args, i)
            for nr, v in enumerate(value):
                if isinstance(v, Tensor):
                    found.append(v)
                    keys |= v._keys
                elif i in op.lists:
                    raise TypeError(f"expected Tensor as element {nr} in argument 0, but got {type(v).__name__}")
        elif value is None and (i in op.optional or not op.public):
            continue
        elif not isinstance(value, NUMBERS) or i in op.only_tensors:
            _not_a_tensor(op, args, i)
        elif op.wraps and tls.state.wrap_scalars and not tls.state.inference_mode:
            keys |= NORMAL_KEYS
    if not found:
        _not_a_tensor(op, args)
    return found, keys


#: What may be given where a Python number will do.
NUMBERS = (int, float, complex, np.generic)


def _not_a_tensor(op: Op, args: tuple[object, ...], position: int | None = None) -> None:
    from ..core.error_texts import wrong_type

    if position is None:
        position = op.tensor_positions[0]
    value = args[position]
    if op.empty_list is not None and type(value) in (list, tuple) and not value:
        kind, message = op.empty_list
        raise kind(message)
    wanted = "tuple of Tensors" if position in op.lists else "Tensor"
    raise wrong_type(op.title, op.params[position], position + 1, value, wanted)


def arrays(args: tuple[Any, ...]) -> list[Any]:
    """The arguments as kernels take them."""
    return [
        a._array
        if isinstance(a, Tensor)
        else [v._array if isinstance(v, Tensor) else v for v in a]
        if type(a) in (list, tuple)
        else a
        for a in args
    ]
