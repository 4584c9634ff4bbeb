"""Custom autograd Functions. Source: torch/autograd/function.py, torch/csrc/autograd/custom_function.cpp."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from ..core import dtypes, error_texts
from ..core.function_table import FUNCTIONS, AnyFunction
from ..core.tensor import IN_CUSTOM_FUNCTION, MULTI_OUTPUT_NODE, Tensor, history, raw_is_leaf, requires_grad
from ..core.thread_state import tls
from ..dispatch.writing_layers import bump
from ..tape.history import gradient_edge, handle_view_on_rebase, rebase_history, set_gradient_edge
from ..tape.nodes import Edge, Grads, Node
from ..tape.saved_tensors import Saved, shown_raw

_LEGACY = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
    "with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
)


class _Context(Node):
    """Backward node of a custom Function; `forward` and `backward` see it as `ctx`."""

    def __init__(self) -> None:
        Node.__init__(self, [])
        self.to_save: tuple[Any, ...] | None = None
        self.saved: list[Saved | None] | None = None
        self.for_forward: tuple[Any, ...] = ()
        self.in_jvp = False
        self.dirty: tuple[Tensor, ...] = ()
        self.non_differentiable: tuple[Tensor, ...] = ()
        self._materialize = True
        self._materialize_non_diff_grads = True
        self.needs_input_grad: tuple[bool, ...] = ()
        self.tensor_inputs: tuple[bool, ...] = ()
        self.differentiable: set[int] = set()  # positions of outputs

    def save_for_backward(self, *tensors: object) -> None:
        """Keep tensors for backward; they are saved, and checked, when forward returns."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: object) -> None:
        """Keep tensors for `jvp`, which sees them as `saved_tensors`."""
        if any(not isinstance(t, Tensor) and t is not None for t in tensors):
            raise AssertionError(
                "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on "
                "ctx."
            )
        self.for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs forward wrote to; they must be returned."""
        self.dirty = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which outputs have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """With False, missing gradients reach backward as None instead of zeros."""
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), but expected (bool)"
            )
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        if self.in_jvp:
            return self.for_forward
        if self.saved is None:
            return ()
        found = []
        for s in self.saved:
            found.append(None if s is None else s.unpack(self))
        return tuple(found)

    @property
    def _raw_saved_tensors(self) -> tuple[object, ...]:
        found = self.saved or ()
        if any(s is not None and s.tensor is None for s in found):
            raise RuntimeError(error_texts.BACKWARD_TWICE)
        return tuple(map(shown_raw, found))

    @property
    def saved_variables(self) -> tuple[object, ...]:
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def apply(self, grads: Grads) -> Grads:
        function: Any = vars(type(self))["function"]
        if self._materialize:
            for i, g in enumerate(grads):
                shape, dtype = self.outputs[i]
                if g is None and dtype is not None and (self._materialize_non_diff_grads or i in self.differentiable):
                    grads[i] = FUNCTIONS["zeros"](shape, dtype=dtypes.BY_CHAR[dtype.char])
        backward = _backward_of(function)
        found = backward(self, *grads)
        if not isinstance(found, tuple):
            found = (found,)
        name = self.name()
        expected = len(self.needs_input_grad)
        if len(found) > expected and all(g is None for g in found[expected:]):
            found = found[:expected]
        if len(found) != expected:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {expected}, got {len(found)})"
            )
        result: Grads = []
        for i, (g, is_tensor) in enumerate(zip(found, self.tensor_inputs, strict=True)):
            if not is_tensor:
                if g is not None:
                    raise RuntimeError(
                        f"function {name} returned a gradient different than None at position {i + 1}, but the "
                        "corresponding forward input was not a Variable"
                    )
                continue
            if g is not None and not isinstance(g, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(g).__name__})")
            result.append(g)
        return result

    def release(self) -> None:
        for s in self.saved or ():
            if s is not None:
                s.release()


def _backward_of(function: Any) -> AnyFunction:
    if function.backward is not Function.backward and function.vjp is not Function.vjp:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
            "implement one of them."
        )
    for name in ("backward", "vjp"):
        found = getattr(function, name, None)
        if found is not None and found is not getattr(Function, name):
            return found
    raise NotImplementedError(
        "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
        "backward mode AD."
    )


class _FunctionMeta(type):
    """Gives each Function its backward node class, named `<Function>Backward`."""

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> None:
        super().__init__(name, bases, namespace)
        if name.startswith("torch::autograd::CppNode<"):  # one of C++, known only by its own name
            body = {"function": cls, "name": lambda node: name}
            cls._backward_cls = type("CppFunction", (_Context,), body)
        else:
            cls._backward_cls = type(name + "Backward", (_Context,), {"function": cls})


class Function(metaclass=_FunctionMeta):
    """Base of custom Functions: static `forward(ctx, ...)` and `backward(ctx, *grads)`, called through `apply`."""

    _backward_cls: type[Any]

    #: Whether vmap is to derive its own rule from forward and backward; the shim has no vmap.
    generate_vmap_rule = False

    def __init__(self, *args: object, **kwargs: object) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(_LEGACY)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: object, inputs: tuple[object, ...], output: object) -> Any:
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: object, *grads: Any) -> Any:
        raise NotImplementedError

    vjp = backward

    @staticmethod
    def jvp(ctx: object, *grad_inputs: object) -> Any:
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: object, in_dims: object, *args: object) -> Any:
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: object, **kwargs: object) -> Any:
        """Run forward without recording and make this Function's backward the history of what it returns."""
        separate = cls.setup_context is not Function.setup_context
        if separate:
            import inspect

            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, {}
        ctx: Any = cls._backward_cls()
        inputs = (*args, *kwargs.values())
        tensors = [a for a in inputs if isinstance(a, Tensor)]
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and requires_grad(a) for a in inputs)
        ctx.tensor_inputs = tuple(isinstance(a, Tensor) for a in inputs)
        state = tls.state
        executable = state.grad_mode and any(ctx.needs_input_grad)
        edges: list[Edge | None] = [gradient_edge(t) for t in tensors] if executable else []
        grad_mode, level = state.grad_mode, state.forward_level
        state.grad_mode = False
        if level is not None:
            level.enabled = False
        try:
            if separate:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, output)
            else:
                try:
                    output = cls.forward(ctx, *args, **kwargs)
                except TypeError as error:
                    # PyTorch calls forward from C++, where it goes by its bare name.
                    name = f"{cls.forward.__qualname__}()"
                    if kwargs and str(error).startswith(name):
                        raise TypeError("forward()" + str(error)[len(name) :]) from None
                    raise
        finally:
            state.grad_mode = grad_mode
            if level is not None:
                level.enabled = True
        if separate and ctx.to_save:
            _check_saved_as_is(ctx, output, tensors)
        found = _wrap(ctx, output, tensors, edges, executable)
        if level is not None:
            level.of_function(ctx, inputs, output, found)
        return found


def _check_saved_as_is(ctx: Any, output: Any, inputs: list[Tensor]) -> None:
    """RuntimeError if an input that forward returned, without writing to it, is to be saved by setup_context."""
    returned = {id(o) for o in (output if isinstance(output, tuple) else (output,))} - {id(t) for t in ctx.dirty}
    if returned & {id(t) for t in inputs} & {id(t) for t in ctx.to_save}:
        raise RuntimeError(
            "An input that has been returned as-is as output is being saved for backward. This is not supported if "
            "you override setup_context. You should return and save a view of the input instead, e.g. with "
            "x.view_as(x) or setup ctx inside the forward function itself."
        )


def _check_marked(ctx: Any) -> None:
    for marked, text in (
        (ctx.non_differentiable, "mark_non_differentiable only accepts variable arguments, but got "),
        (ctx.dirty, "mark_dirty can only accept variables, but argument "),
    ):
        if not all(isinstance(t, Tensor) for t in marked):
            raise RuntimeError(text)  # PyTorch's message ends here


def _wrap(ctx: Any, output: Any, inputs: list[Tensor], edges: list[Edge | None], executable: bool) -> Any:
    """Make `ctx` the history of the outputs (_wrap_outputs), then save what forward asked to save."""
    single = not isinstance(output, tuple)
    outputs = (output,) if single else output
    if executable:
        ctx.next_edges = edges
    state = tls.state
    if ctx.dirty or ctx.non_differentiable:
        _check_marked(ctx)
    for t in ctx.dirty:
        bump(t, state)
    if ctx.dirty:
        _check_dirty(ctx, inputs)
    dirty = {id(t) for t in ctx.dirty}
    if dirty - {id(o) for o in outputs}:
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function."
        )
    input_ids = {id(t) for t in inputs}
    non_differentiable = {id(t) for t in ctx.non_differentiable}
    count = sum(isinstance(o, Tensor) for o in outputs)
    wrapped: list[Any] = []
    differentiable_count = 0
    for nr, o in enumerate(outputs):
        if not isinstance(o, Tensor):
            ctx.outputs.append(((), None))
            wrapped.append(o)
            continue
        is_input, modified = id(o) in input_ids, id(o) in dirty
        differentiable = executable and id(o) not in non_differentiable and o._array.dtype.kind in "fcV"
        if modified and differentiable and o._is_view() and count > 1:
            raise RuntimeError(
                "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot "
                "return more than one Tensor. This is not supported by the current autograd engine. You should either "
                "make sure the input is not a view (using .clone() for example) or make your Function only return one "
                "Tensor (or not a tuple with one Tensor)."
            )
        ctx.outputs.append((o._array.shape, o._array.dtype))
        if differentiable:
            ctx.differentiable.add(nr)
        made = _set_history(ctx, o, nr, is_input, modified, differentiable)
        if made._meta is not None and made._meta.base is not None and not (is_input and modified):
            made._meta.creation_meta = IN_CUSTOM_FUNCTION
        differentiable_count += differentiable
        wrapped.append(made)
    if differentiable_count > 1:
        for made in wrapped:
            if isinstance(made, Tensor) and made._meta is not None and made._meta.base is not None:
                made._meta.creation_meta = MULTI_OUTPUT_NODE
    if executable:
        _save(ctx)
    else:
        ctx.to_save = None
    return wrapped[0] if single else tuple(wrapped)


def _check_dirty(ctx: Any, inputs: list[Tensor]) -> None:
    given = {id(t) for t in inputs}
    if any(id(t) not in given for t in ctx.dirty):
        warnings.warn(
            "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, there is no need to "
            "pass it to mark_dirty().",
            stacklevel=4,
        )


def _set_history(ctx: Any, t: Tensor, nr: int, is_input: bool, modified: bool, differentiable: bool) -> Tensor:
    if not differentiable:
        if not requires_grad(t):
            return _view_as_self(t) if is_input and not modified else t
        # An alias instead of the input itself, whose flag must not change.
        if is_input:
            return t.detach()
        return t if t._is_view() else t.detach_()
    if modified:
        if raw_is_leaf(t) and requires_grad(t):
            raise RuntimeError(error_texts.LEAF_DIRTY)
        if t._meta is not None and t._meta.base is not None:
            handle_view_on_rebase(t._meta)
            if raw_is_leaf(t._meta.base) and requires_grad(t):
                raise RuntimeError(error_texts.LEAF_VIEW_INPLACE)
        if t._meta is not None:
            t._meta.grad = None
        outputs = ctx.outputs
        rebase_history(t, ctx)
        ctx.outputs = outputs
        if t._meta is not None:
            t._meta.output_nr = nr if t._meta.base is None else 0
        return t
    made = _view_as_self(t) if is_input else t
    if made._meta is None:
        made._meta = history(ctx, nr)
    else:
        set_gradient_edge(made, ctx, nr)
    return made


def _view_as_self(t: Tensor) -> Tensor:
    """What `t.view_as(t)` gives in no_grad mode."""
    state = tls.state
    grad_mode, state.grad_mode = state.grad_mode, False
    try:
        return t.view_as(t)
    finally:
        state.grad_mode = grad_mode


def _save(ctx: Any) -> None:
    to_save, ctx.to_save = ctx.to_save, None
    if to_save is None:
        return
    saved: list[Saved | None] = []
    for i, t in enumerate(to_save):
        if t is None:
            saved.append(None)
        elif isinstance(t, Tensor):
            saved.append(Saved(t, t._meta is not None and t._meta.grad_fn is ctx))
        else:
            raise TypeError(
                f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}"
            )
    ctx.saved = saved


def once_differentiable(function: AnyFunction) -> AnyFunction:
    """For `backward`: run it without recording; differentiating its result again raises RuntimeError."""

    @functools.wraps(function)
    def wrapper(ctx: object, *args: object) -> Any:
        from ..tape.history import set_history
        from ..tape.nodes import Error, accumulator_of

        state = tls.state
        grad_mode = state.grad_mode
        state.grad_mode = False
        try:
            outputs = function(ctx, *args)
        finally:
            state.grad_mode = grad_mode
        if not grad_mode or not any(isinstance(a, Tensor) and requires_grad(a) for a in args):
            return outputs
        single = not isinstance(outputs, tuple)
        found: list[Any] = []
        node = Error([], "trying to differentiate twice a function that was marked with @once_differentiable")
        for nr, o in enumerate((outputs,) if single else outputs):
            if o is None:
                node.next_edges.append(None)
                node.outputs.append(((), None))
                found.append(None)
                continue
            node.next_edges.append((accumulator_of(o.detach()), 0))
            made = o.detach()
            set_history(made, node, nr)
            found.append(made)
        return found[0] if single else tuple(found)

    return wrapper


class NestedIOFunction(Function):
    def __init__(self, *args: object, **kwargs: object) -> None:
        raise NotImplementedError("the shim has no torch.autograd.function.NestedIOFunction; supported: Function")


FunctionCtx = BackwardCFunction = _Context


class InplaceFunction(Function):
    """A Function that may write to its inputs; the name is all that is left of it."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace
