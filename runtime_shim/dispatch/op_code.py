"""Straight-line code for one op: what `functional_layers` does in loops over the arguments, written out.

Most of what the layers look at is the same in every call of an op: which arguments are tensors, which of them can have
a gradient, what is saved for which formula. So an op that has been called a few times gets functions of its own:

* `run(state, args)`: its call from checks to result, or what `general` makes of it where anything is unusual (a
  subclass, a tracer, hooks of saved tensors, tensors of the other kind, what has to be refused);
* `record(state, args, written)`: its node with the inputs saved, or None where that is unusual; `written` if the first
  argument is about to be written to.

* `view(state, self, array, args)`: of a view op the view `array` of `self` with its node, in normal mode, or None where
  that is unusual.

None of them is for callers inside a dispatch mode. Ops of the same pattern share one code object.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..core.tensor import DEFAULT, AutogradMeta, Tensor, allocate, ndarray, new_tensor, requires_grad
from ..core.thread_state import ADINPLACEORVIEW, INFERENCE_KEYS, NORMAL_KEYS
from ..tape.history import gradient_edge
from ..tape.nodes import Node, accumulator_of, node_class
from ..tape.saved_tensors import Saved, SavedNumber, saved_input, saved_result
from .layer_counts import COUNTS
from .op_description import Op
from .op_node import OpNode

_AFTER_CALLS = 4
"""How often an op goes the general way before it gets code of its own: to compile it takes as long as many calls."""

_UNCHANGED = frozenset((int, float, bool, str, type(None)))
"""Classes of arguments that kernels take as they are."""

Run = Callable[..., Any]


def compiled_run(op: Op, general: Callable[..., Any]) -> Run | None:
    """The op's own call, if it is time for one and its pattern allows it; `general` does what is unusual."""
    code = op.code
    if code.run is None and _is_due(op):
        code.run = _made(op, _Writer(op).run(), general)
    return code.run


def compiled_record(op: Op) -> Run | None:
    """The maker of the op's nodes, under the same conditions."""
    code = op.code
    if code.record is None and _is_due(op):
        code.record = _made(op, _Writer(op).record(), None)
    return code.record


def compiled_view(op: Op) -> Run | None:
    """The maker of a view and its node, given the state, the tensor, the array and the other arguments."""
    code = op.code
    if code.view is None and op.differentiable == (0,) and not op.lists and _is_due(op):
        code.view = _made(op, _Writer(op).view(), None)
    return code.view


def _is_due(op: Op) -> bool:
    code = op.code
    code.calls += 1
    return code.calls > _AFTER_CALLS and _is_usual(op)


def _is_usual(op: Op) -> bool:
    """Whether the code below says all that there is to say of such an op."""
    if not set(op.differentiable) <= set(op.tensor_positions):
        return False
    if op.lists and (op.tensor_positions != (0,) or op.differentiable not in ((), (0,))):
        return False
    return not (op.index_lists & set(op.differentiable)) and 0 not in op.index_lists and bool(op.tensor_positions)


def _made(op: Op, source: str, general: Any) -> Run:
    namespace: dict[str, Any] = {}
    exec(_compiled(source), _GLOBALS, namespace)
    found: Run = namespace["bind"](op, general, node_class(op.node_name, OpNode))
    return found


@functools.cache
def _compiled(source: str) -> Any:
    return compile(source, f"{__name__} (made for an op)", "exec")


def _as_kernels_take(value: Any) -> Any:
    """An argument that is in no tensor's place, as `arrays` gives it to the kernel."""
    if isinstance(value, Tensor):
        return value._array
    if type(value) in (list, tuple):
        if type(value) is tuple and _UNCHANGED.issuperset(map(type, value)):
            return value
        return [v._array if isinstance(v, Tensor) else v for v in value]
    return value


@functools.lru_cache(maxsize=256)
def _in_elements(strides: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    return tuple([stride // itemsize for stride in strides])


def _saved_other(value: Any, wrapped: bool) -> Any:
    """What is saved of an input that is not a tensor."""
    if isinstance(value, Tensor):
        return saved_input(value)
    if (
        type(value) in (list, tuple)
        and not _UNCHANGED.issuperset(map(type, value))
        and any(isinstance(v, Tensor) for v in value)
    ):
        return [Saved(v) if isinstance(v, Tensor) else v for v in value]
    return SavedNumber(value) if wrapped else value


_GLOBALS = {
    "__name__": __name__,
    "ADINPLACEORVIEW": ADINPLACEORVIEW,
    "AutogradMeta": AutogradMeta,
    "COUNTS": COUNTS,
    "DEFAULT": DEFAULT,
    "INFERENCE_KEYS": INFERENCE_KEYS,
    "NORMAL_KEYS": NORMAL_KEYS,
    "Node": Node,
    "Tensor": Tensor,
    "UNCHANGED": _UNCHANGED,
    "accumulator_of": accumulator_of,
    "allocate": allocate,
    "asanyarray": np.asanyarray,
    "as_kernels_take": _as_kernels_take,
    "gradient_edge": gradient_edge,
    "in_elements": _in_elements,
    "ndarray": ndarray,
    "new_tensor": new_tensor,
    "requires_grad": requires_grad,
    "saved_input": saved_input,
    "saved_other": _saved_other,
    "saved_result": saved_result,
}


def _indented(lines: Iterable[str], by: int = 1) -> list[str]:
    return ["    " * by + line for line in lines]


class _Writer:
    """The source of an op's functions. `p0` is the first argument, `a0` its array, `k0` its keys, `m0` its meta, `e0`
    its edge."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self.count = len(op.params)
        self.positions = [i for i in op.tensor_positions if i not in op.index_lists]
        self.listed = bool(op.lists)

    # -- the two functions

    def run(self) -> str:
        op, tensors = self.op, self.positions
        body = [f"if len(args) != {self.count}:", "    return general(op, state, args)", self._unpacking()]
        for i in range(self.count):
            body += self._argument(i)
        keys = [f"k{i}" for i in tensors]
        body.append("if state.fast:")
        if op.special_when_unwrapped:
            body += [f"    if ({' | '.join(keys)}) & ADINPLACEORVIEW:", "        return general(op, state, args)"]
        normal = "".join(f" and {key} == NORMAL_KEYS" for key in keys)
        if op.index_lists:
            normal += " and indices_are_normal"
        body += ["    inference = True", f"elif state.plain{normal}:"]
        if op.differentiable:
            having = " or ".join(f"m{i} is not None" for i in tensors)
            body += [f"    if state.grad_mode and ({having}):"]
            body += _indented(self._needing(), 2)
        body += ["    inference = False", "else:", "    return general(op, state, args)"]
        body += self._kernel_call()
        if op.outputs is not None:
            body += ["if type(found) is tuple:", "    return op.outputs([new_tensor(r) for r in found])"]
        body += self._fresh("inference")
        body += ["return t"]
        return self._function("run", body)

    def record(self) -> str:
        body = [
            "if state.tracer is not None or state.saved_tensor_hooks or Node.remembers_forward:",
            "    return None",
            f"if len(args) != {self.count}:",
            "    return None",
            self._unpacking(),
        ]
        for i in self.op.differentiable:
            if not self.listed:
                body += [f"if type(p{i}) is not Tensor:"]
                body += [f"    if isinstance(p{i}, Tensor) or type(p{i}) is list or type(p{i}) is tuple:"]
                body += ["        return None", f"    m{i} = None", "else:", f"    m{i} = p{i}._meta"]
        body += [*self._node(writes=True), "node.outputs = []", "return node"]
        return self._function("record", body)

    def view(self) -> str:
        others = "".join(f"p{i}, " for i in range(1, self.count)).rstrip()
        body = [
            "m0 = p0._meta",
            "dtype = array.dtype",
            "if m0 is None or m0.view_fn is not None or dtype is not p0._array.dtype or dtype.kind not in 'fc':",
            "    return None",
            "if state.saved_tensor_hooks or Node.remembers_forward:",
            "    return None",
            "root = m0.base",
            "if root is None:",
            "    root = p0",
            "    if m0.grad_fn is not None:",
            "        e0 = m0.grad_fn, m0.output_nr",
            "    elif m0.requires_grad:",
            "        e0 = accumulator_of(p0), 0",
            "    else:",
            "        return None",
            "elif requires_grad(p0):",
            "    e0 = gradient_edge(p0)",
            "else:",
            "    return None",
            "counter = root._version_counter",
            "if counter is None:",
            "    return None",
            *([f"{others} = args"] if others else []),
            *self._node(has_edges=True),
            "node.outputs = [(array.shape, dtype)]",
            "meta = AutogradMeta()",
            "meta.grad_fn = node",
            "meta.base = root",
            "if root is not p0 and m0.creation_meta != DEFAULT:",
            "    meta.creation_meta = m0.creation_meta",
            "meta.attr_version = counter[0]",
            "t = allocate(Tensor)",
            "t._array = array",
            "t._storage = p0._storage",
            "t._meta = meta",
            "t._keys = NORMAL_KEYS",
            "t._version_counter = counter",
            "COUNTS['view_records'] += 1",
            "return t",
        ]
        return self._function("view", body)

    def _function(self, name: str, body: list[str]) -> str:
        parameters = {"record": "state, args, written=False", "view": "state, p0, array, args"}.get(name, "state, args")
        lines = ["def bind(op, general, node_type):", "    direct = op.code.direct"]
        lines += [f"    def {name}({parameters}):", *_indented(body, 2)]
        return "\n".join([*lines, f"    return {name}", ""])

    def _unpacking(self) -> str:
        return "".join(f"p{i}, " for i in range(self.count)).rstrip() + " = args"

    # -- checks

    def _argument(self, i: int) -> list[str]:
        """An argument's array (or what the kernel takes in its place), keys and meta; the general way for others."""
        op = self.op
        give_up = "return general(op, state, args)"
        if i in op.lists:
            return [
                f"if (type(p{i}) is not tuple and type(p{i}) is not list) or not p{i}:",
                f"    {give_up}",
                f"a{i} = []",
                f"k{i} = type(p{i}[0]) is Tensor and p{i}[0]._keys",
                f"m{i} = None",
                f"for v in p{i}:",
                f"    if type(v) is not Tensor or v._keys != k{i}:",
                f"        {give_up}",
                "    if v._meta is not None:",
                f"        m{i} = v._meta",
                f"    a{i}.append(v._array)",
            ]
        if i in op.index_lists and i in op.tensor_positions:
            return [
                f"if type(p{i}) is not tuple and type(p{i}) is not list:",
                f"    {give_up}",
                "indices_are_normal = True",
                f"a{i} = []",
                f"for v in p{i}:",
                "    if type(v) is Tensor:",
                "        if v._meta is not None:",
                f"            {give_up}",
                "        if v._keys != NORMAL_KEYS:",
                "            indices_are_normal = False",
                f"        a{i}.append(v._array)",
                "    elif v is None:",
                f"        a{i}.append(None)",
                "    else:",
                f"        {give_up}",
            ]
        if i not in op.tensor_positions:
            given = f"p{i}._array if type(p{i}) is Tensor else as_kernels_take(p{i})"
            return [f"a{i} = p{i} if type(p{i}) in UNCHANGED else {given}"]
        taken = [f"if type(p{i}) is Tensor:", f"    a{i}, k{i}, m{i} = p{i}._array, p{i}._keys, p{i}._meta"]
        first = self.positions[0]
        if i != first:
            others = []
            if i in op.optional or not op.public:
                others.append(f"p{i} is None")
            if i not in op.only_tensors:
                others.append(f"type(p{i}) is float or type(p{i}) is int")
            if others:
                taken += [f"elif {' or '.join(others)}:", f"    a{i}, k{i}, m{i} = p{i}, k{first}, None"]
        return [*taken, "else:", f"    {give_up}"]

    def _kernel_call(self) -> list[str]:
        """The result of the kernel; of a ufunc at once, where the kernel would only call it."""
        general = f"found = op.kernel({', '.join(f'a{i}' for i in range(self.count))})"
        if self.op.code.direct is None:
            return [general]
        if self.count == 1:
            return ["if a0.dtype.kind == 'f':", "    found = direct(a0)", "else:", f"    {general}"]
        unscaled = " and a2 == 1" if self.count == 3 else ""
        of_one_dtype = "type(p0) is Tensor and type(a1) is ndarray and a1.dtype is a0.dtype and a0.dtype.kind == 'f'"
        return [
            f"if {of_one_dtype}{unscaled}:",
            "    try:",
            "        found = direct(a0, a1)",
            "    except ValueError:",  # the kernel says what doesn't go together
            f"        {general}",
            "else:",
            f"    {general}",
        ]

    # -- recording

    def _needing(self) -> list[str]:
        """Where autograd is on and some input has a meta: the call with its node, if one of them requires grad."""
        op = self.op
        edges_first = not self.listed and op.outputs is None and set(self.positions) == set(op.differentiable)
        if self.listed:
            condition = "any([requires_grad(v) for v in p0])"
        elif edges_first:
            condition = " or ".join(f"e{i} is not None" for i in op.differentiable)
            # A view of what requires grad has no edge if it was made in no_grad.
            condition += "".join(
                f" or (m{i} is not None and m{i}.base is not None and requires_grad(p{i}))" for i in op.differentiable
            )
        else:
            condition = " or ".join(
                f"(m{i} is not None and (m{i}.requires_grad or m{i}.grad_fn is not None"
                f" or (m{i}.base is not None and requires_grad(p{i}))))"
                for i in self.positions
            )
        lines = [f"if {condition}:"]
        if edges_first:
            lines = [line for i in self.op.differentiable for line in self._edges(i)] + lines
        if self.op.outputs is not None:
            return [*lines, "    return general(op, state, args)"]
        body = ["if state.saved_tensor_hooks or Node.remembers_forward:", "    return general(op, state, args)"]
        body += [
            *self._node(has_edges=edges_first),
            *self._kernel_call(),
            *self._fresh("False"),
        ]
        body += ['if found.dtype.kind in "fcV":', "    t._meta = meta = AutogradMeta()", "    meta.grad_fn = node"]
        body += ["    node.outputs = [(found.shape, found.dtype)]"]
        if self.op.saves_result:
            body.append('    saved["result"] = saved_result(t)')
        return [*lines, *_indented([*body, "return t"])]

    def _node(self, writes: bool = False, has_edges: bool = False) -> list[str]:
        """The node, with the edges of what can have a gradient and what the formulas ask for. If the op `writes`, a
        copy of its first argument may have to be saved.
        """
        op = self.op
        lines = [] if has_edges else [line for i in op.differentiable for line in self._edges(i)]
        lines += [
            "node = allocate(node_type)",
            "node.sequence = state.sequence",
            "state.sequence += 1",
            "node.op = op",
        ]
        edges = "edges" if self.listed and op.differentiable else f"[{', '.join(f'e{i}' for i in op.differentiable)}]"
        lines.append(f"node.next_edges = {edges}")
        saved = ['("list", 0): len(p0)'] if self.listed and op.differentiable else []
        for name, i, guard in op.saved_inputs:
            if i in op.tensor_positions and i not in op.index_lists and i not in op.lists:
                of = "p0.clone() if written else p0" if writes and i == 0 else f"p{i}"
                value = f"(saved_input({of}) if type(p{i}) is Tensor else saved_other(p{i}, {op.wraps}))"
            else:
                value = f"(p{i} if type(p{i}) in UNCHANGED else saved_other(p{i}, False))"
            needed = "" if guard < 0 else f" if {self._edge(guard)} is not None else None"
            saved.append(f"{name!r}: {value}{needed}")
        for name, i in op.saved_shapes:
            if i in op.lists:
                saved.append(f"{name!r}: [v._array.shape for v in p{i}]")
            else:
                saved.append(f"{name!r}: p{i}._array.shape if isinstance(p{i}, Tensor) else ()")
        saved += [
            f"{name!r}: in_elements(p{i}._array.strides, p{i}._array.itemsize) if p{i}._array.size else p{i}.stride()"
            for name, i in op.saved_strides
        ]
        lines.append(f"node.saved = saved = {{{', '.join(saved)}}}")
        return lines

    def _edges(self, i: int) -> list[str]:
        if self.listed:
            return [f"edges = [gradient_edge(v) for v in p{i}]"]
        return [
            f"if m{i} is None:",
            f"    e{i} = None",
            f"elif m{i}.base is not None:",
            f"    e{i} = gradient_edge(p{i})",
            f"elif m{i}.grad_fn is not None:",
            f"    e{i} = m{i}.grad_fn, m{i}.output_nr",
            "else:",
            f"    e{i} = (accumulator_of(p{i}), 0) if m{i}.requires_grad else None",
        ]

    def _edge(self, slot: int) -> str:
        return f"e{self.op.differentiable[slot]}"

    # -- the result

    def _fresh(self, inference: str) -> list[str]:
        lines = ["if type(found) is not ndarray:", "    found = asanyarray(found)", "t = allocate(Tensor)"]
        lines += ["t._array = found", "t._storage = [0, found]", "t._meta = None"]
        normal = ["t._keys = NORMAL_KEYS", "t._version_counter = [0]"]
        if inference == "False":
            return [*lines, *normal]
        other = ["t._keys = INFERENCE_KEYS", "t._version_counter = None"]
        return [*lines, f"if {inference}:", *_indented(other), "else:", *_indented(normal)]
