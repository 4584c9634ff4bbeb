"""What is known of an op: its kernel, its parameters, its derivatives; and the node that is made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..tape.nodes import Edge, Grads, Node, node_class
from ..tape.saved_tensors import Saved, SavedNumber

OPS: dict[str, Op] = {}


class Op:
    """What is known of an op: its kernel, its parameters, its derivatives."""

    def __init__(self, name: str, kernel: Callable[..., Any], node: str | None, formulas: dict[str, Any]) -> None:
        self.name = name
        self.inplace_kernel: Callable[..., None] | None = None
        code = kernel.__code__
        self.kernel = kernel  # takes all its parameters by position
        if code.co_kwonlyargcount:
            count, keywords = code.co_argcount, self.keyword_only(code)
            self.kernel = lambda *args: kernel(*args[:count], **dict(zip(keywords, args[count:], strict=True)))
        self.params = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.positional = code.co_argcount
        self.index = {p: i for i, p in enumerate(self.params)}
        defaults = dict(
            zip(
                self.params[code.co_argcount - len(kernel.__defaults__ or ()) : code.co_argcount],
                kernel.__defaults__ or (),
                strict=True,
            )
        )
        defaults.update(kernel.__kwdefaults__ or {})
        self.defaults = defaults
        self.optional = {self.index[p] for p, value in defaults.items() if value is None}
        self.node_name = node or "".join(part.capitalize() for part in name.split("_")) + "Backward0"
        self.node_type: type[Node] | None = None  # made when the op is first recorded
        self.formulas: list[tuple[int, Any, tuple[str, ...]]] = []
        self.differentiable: list[int] = []
        uses: dict[str, list[int]] = {}
        for slot, (param, formula) in enumerate(formulas.items()):
            names = formula.__code__.co_varnames[: formula.__code__.co_argcount] if formula is not None else ()
            self.formulas.append((self.index[param], formula, names))
            self.differentiable.append(self.index[param])
            for n in names:
                uses.setdefault(n, []).append(slot)
        #: (name, index of the parameter, slot of the only formula that needs it or -1), in order of name
        self.saved_inputs: list[tuple[str, int, int]] = []
        self.saved_shapes: list[tuple[str, int]] = []
        self.saved_strides: list[tuple[str, int]] = []
        self.saves_result = -2  # -2 never, -1 always, else the slot that needs it
        for n in sorted(uses):
            slots = uses[n]
            guard = slots[0] if len(slots) == 1 and len(self.formulas) > 1 else -1
            if n == "result":
                self.saves_result = guard
            elif n in self.index:
                self.saved_inputs.append((n, self.index[n], guard))
            elif n.endswith("_shape"):
                self.saved_shapes.append((n, self.index[n[: -len("_shape")]]))
            elif n.endswith("_strides"):
                self.saved_strides.append((n, self.index[n[: -len("_strides")]]))
            elif n not in ("grad", "grads"):
                raise TypeError(f"derivative of {name} asks for {n!r}, which is no parameter of it")
        self.tensor_positions: Sequence[int] = ()
        self.leak: int | Callable[..., int] = 0  # versions left on a fresh result where no autograd kernel wraps the op
        self.refuses: str | None = None  # name of the op whose out= form refuses inputs that require grad
        self.below: Callable[..., Any] | None = None  # what the op is made of, where no autograd kernel wraps it
        self.wraps = False  # Python numbers become tensors, with a normal tensor's keys
        self.outputs: Callable[..., Any] | None = None  # type of a multiple result
        self.nondifferentiable: tuple[int, ...] = ()
        self.checks_overlap = True
        self.only_tensors: tuple[int, ...] = ()  # positions at which a number will not do
        self.keeps_dtype = False  # whether out= must have the dtype of the input
        self.check_out: Callable[[Any, Any], None] | None = None  # raises if out= has not the dtype that it must have
        self.recorded_in_place: tuple[Op, Op] | None = None  # what the in-place form is recorded as: number, tensor
        self.reshapes = False  # in place it changes how memory is seen, not what is in it
        self.elementwise = False  # out= is checked before it is resized
        self.stands_apart = False  # what is written to may share no memory with an input
        self.number_form: Op | None = None  # the overload for a number, where it is another op
        self.public = True  # else the shim itself passes the arguments, None among them
        self.title = name  # what messages call the op
        self.rebases_integers = True  # an in-place op gives even an integer tensor a history, copy_ does not

    @staticmethod
    def keyword_only(code: Any) -> tuple[str, ...]:
        first = code.co_argcount
        return code.co_varnames[first : first + code.co_kwonlyargcount]

    def make_node(self, edges: list[Edge | None], saved: dict[Any, Any]) -> OpNode:
        if self.node_type is None:
            self.node_type = node_class(self.node_name, OpNode)
        node: Any = self.node_type(edges)
        node.op = self
        node.saved = saved
        return node

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All parameters in order, defaults filled in; TypeError as PyTorch's argument parser gives it."""
        params = self.params
        given = len(args)
        if given > self.positional:
            raise TypeError(f"{self.name}() takes {self.positional} positional arguments but {given} were given")
        if given == len(params) and not kwargs:
            return args
        bound = list(args)
        for i, p in enumerate(params[given:], given):
            if p in kwargs:
                bound.append(kwargs.pop(p))
            elif p == "self" and "input" in kwargs:
                bound.append(kwargs.pop("input"))
            elif p in self.defaults:
                bound.append(self.defaults[p])
            else:
                from ..core.argument_errors import MISSING, wrong_type

                raise wrong_type(self.title, p, i + 1, MISSING)
        if kwargs:
            raise TypeError(f"{self.name}() got an unexpected keyword argument '{next(iter(kwargs))}'")
        return tuple(bound)


class OpNode(Node):
    """Backward of a registered op: evaluates the formulas of the inputs that need a gradient."""

    op: Op
    saved: dict[Any, Any]

    def apply(self, grads: Grads) -> Grads:
        op: Op = self.op
        if len(grads) == 1:
            grad: Any = grads[0]
            if grad is None:
                return [None] * len(self.next_edges)
        else:
            grad = None
            if all(g is None for g in grads):
                return [None] * len(self.next_edges)
        environment: dict[Any, Any] = {}
        for name, value in self.saved.items():
            if type(value) is Saved or type(value) is SavedNumber:
                environment[name] = value.unpack(self)
            elif type(value) is list:
                environment[name] = [v.unpack(self) if type(v) is Saved else v for v in value]
            else:
                environment[name] = value
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

    def __getattr__(self, name: str) -> Any:
        """`grad_fn._saved_self` and the like."""
        if name.startswith("_saved_"):
            value = self.saved.get(name[len("_saved_") :], self)
            if value is not self:
                return value.unpack(self) if type(value) in (Saved, SavedNumber) else value
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
