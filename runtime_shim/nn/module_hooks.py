"""Hooks of modules: before and after forward and backward, of one module or of all."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar

from ..autograd.function import Function
from ..core.tensor import Tensor
from ..core.thread_state import tls
from ..tape.nodes import HookHandle

Hook = Callable[..., Any]


class GlobalHooks:
    """Those of every module; `torch.nn.modules.module.register_module_*` fill them."""

    forward: ClassVar[OrderedDict[int, tuple[Hook, bool, bool]]] = OrderedDict()
    forward_pre: ClassVar[OrderedDict[int, tuple[Hook, bool]]] = OrderedDict()
    backward: ClassVar[OrderedDict[int, Hook]] = OrderedDict()
    backward_pre: ClassVar[OrderedDict[int, Hook]] = OrderedDict()
    parameter: ClassVar[OrderedDict[int, Hook]] = OrderedDict()
    buffer: ClassVar[OrderedDict[int, Hook]] = OrderedDict()
    module: ClassVar[OrderedDict[int, Hook]] = OrderedDict()
    #: Whether the backward hooks of all modules are full ones; None while there is none.
    full: bool | None = None
    #: Whether there is any that a call must look at.
    called = False

    @classmethod
    def look(cls) -> None:
        cls.called = bool(cls.forward or cls.forward_pre or cls.backward or cls.backward_pre)


class GlobalHandle(HookHandle):
    def remove(self) -> None:
        super().remove()
        GlobalHooks.look()


def _looked_for(hooks: OrderedDict[int, Any], hook: Any) -> HookHandle:
    handle = GlobalHandle(hooks, hook)
    GlobalHooks.look()
    return handle


def _of_kind(hook: Hook, full: bool) -> HookHandle:
    """A backward hook, full or of the old kind; RuntimeError if there is one of the other."""
    if GlobalHooks.full is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only "
            "one of them."
        )
    GlobalHooks.full = full
    return _looked_for(GlobalHooks.backward, hook)


def register_module_forward_hook(hook: Hook, *, with_kwargs: bool = False, always_call: bool = False) -> HookHandle:
    """Call `hook(module, args, output)` after every module's forward."""
    return _looked_for(GlobalHooks.forward, (hook, with_kwargs, always_call))


def register_module_forward_pre_hook(hook: Hook) -> HookHandle:
    """Call `hook(module, args)` before every module's forward."""
    return _looked_for(GlobalHooks.forward_pre, (hook, False))


def register_module_full_backward_hook(hook: Hook) -> HookHandle:
    """Call `hook(module, grad_inputs, grad_outputs)` after every module's backward."""
    return _of_kind(hook, True)


def register_module_full_backward_pre_hook(hook: Hook) -> HookHandle:
    """Call `hook(module, grad_outputs)` before every module's backward."""
    return _looked_for(GlobalHooks.backward_pre, hook)


def register_module_backward_hook(hook: Hook) -> HookHandle:
    """The old kind of `register_module_full_backward_hook`, at the node that made the output."""
    return _of_kind(hook, False)


def register_module_parameter_registration_hook(hook: Hook) -> HookHandle:
    """Call `hook(module, name, parameter)` when a parameter is registered; what it returns is registered."""
    return HookHandle(GlobalHooks.parameter, hook)


def register_module_buffer_registration_hook(hook: Hook) -> HookHandle:
    """Call `hook(module, name, buffer)` when a buffer is registered; what it returns is registered."""
    return HookHandle(GlobalHooks.buffer, hook)


def register_module_module_registration_hook(hook: Hook) -> HookHandle:
    """Call `hook(module, name, submodule)` when a module is registered; what it returns is registered."""
    return HookHandle(GlobalHooks.module, hook)


def registered(hooks: OrderedDict[int, Hook], module: object, name: str, value: object) -> Any:
    """What is registered in the place of `value`, after the hooks saw it."""
    for hook in hooks.values():
        found = hook(module, name, value)
        if found is not None:
            value = found
    return value


class BackwardHookFunction(Function):
    """Passes tensors on: its node is where a module's gradients go in and out."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: object, *args: Tensor) -> tuple[Tensor, ...]:
        return args


def _tuple_of(found: object, expected: int, which: str) -> tuple[Any, ...]:
    """What a hook returned instead of so many gradients."""
    made = found if isinstance(found, tuple) else (found,)
    if len(made) != expected:
        hook, values = which.split(", ")
        raise RuntimeError(
            f"Backward {hook} returned an invalid number of {values}, got {len(made)}, but expected {expected}"
        )
    return made


class FullBackward:
    """The full backward hooks of one call of a module, between a node at its inputs and one at its outputs."""

    def __init__(self, module: object, hooks: list[Hook], pre_hooks: list[Hook]) -> None:
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.grad_outputs: Any = None
        self.n_outputs = -1
        self.output_index: list[int] = []
        self.n_inputs = -1
        self.input_index: list[int] | None = None

    @staticmethod
    def _pack(index: list[int], values: Any, size: int) -> tuple[Any, ...]:
        found: list[Any] = [None] * size
        for i, value in zip(index, values, strict=True):
            found[i] = value
        return tuple(found)

    @staticmethod
    def _unpack(index: list[int], values: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(values[i] for i in index)

    def _through_node(
        self, set_up: Callable[[Any], None], args: tuple[Any, ...]
    ) -> tuple[tuple[Any, ...], list[int]] | None:
        index = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        tensors = [args[i] for i in index]
        if not (tls.state.grad_mode and any(t.requires_grad for t in tensors)):
            return None
        made = BackwardHookFunction.apply(*tensors)
        nodes = [t.grad_fn for t in made if t.grad_fn is not None]
        if not nodes:
            raise RuntimeError("Error while setting up backward hooks: the graph of the inputs is lost.")
        set_up(nodes[0])
        values = list(args)
        for i, t in zip(index, made, strict=True):
            values[i] = t
        return tuple(values), index

    def before(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The inputs as forward takes them."""

        def set_up(node: Any) -> None:
            def hook(grad_inputs: object, _: object) -> Any:
                if self.grad_outputs is None:
                    return None  # no gradient came through the outputs
                assert self.input_index is not None
                given = self._pack(self.input_index, grad_inputs, self.n_inputs)
                changed = None
                for user in self.hooks:
                    found = user(self.module, given, self.grad_outputs)
                    if found is not None:
                        given = changed = _tuple_of(found, len(given), "hook, grad_input")
                self.grad_outputs = None
                return None if changed is None else self._unpack(self.input_index, changed)

            node.register_hook(hook)

        made = self._through_node(set_up, args)
        if made is None:
            self.n_inputs, self.input_index = len(args), None
            return args
        self.n_inputs, self.input_index = len(args), made[1]
        return made[0]

    def after(self, result: object) -> Any:
        """The outputs as the caller gets them."""
        outputs = result if isinstance(result, tuple) else (result,)

        def set_up(node: Any) -> None:
            def hook(_: object, grad_outputs: object) -> Any:
                given = self._pack(self.output_index, grad_outputs, self.n_outputs)
                self.grad_outputs = given
                for user in self.pre_hooks:
                    found = user(self.module, given)
                    if found is not None:
                        given = self.grad_outputs = _tuple_of(found, len(given), "pre hook, grad_output")
                changed = self._unpack(self.output_index, self.grad_outputs) if self.pre_hooks else None
                if self.input_index is None:  # no input requires grad: the hooks run here
                    seen = self._pack([], [], self.n_inputs)
                    for user in self.hooks:
                        found = user(self.module, seen, self.grad_outputs)
                        if found is not None and not (
                            isinstance(found, tuple) and all(value is None for value in found)
                        ):
                            raise RuntimeError(
                                "Backward hook for Modules where no input requires gradient should always return None "
                                "or None for all gradients."
                            )
                    self.grad_outputs = None
                return changed

            node.register_hook(hook)

        made = self._through_node(set_up, outputs)
        if made is None:
            return result
        self.n_outputs, self.output_index = len(outputs), made[1]
        if not isinstance(result, tuple):
            return made[0][0]
        return type(result)(*made[0]) if hasattr(result, "_fields") else made[0]


def hook_the_old_way(module: object, inputs: tuple[object, ...], result: Tensor, hooks: list[Hook]) -> None:
    """Attach non-full backward hooks to the node that made the first tensor of a result."""
    found = result
    while not isinstance(found, Tensor):
        found = (
            next((v for v in found.values() if isinstance(v, Tensor)), None) if isinstance(found, dict) else found[0]
        )
    node = found.grad_fn
    if node is not None:
        what = _missed(inputs, result, node)
        if what is not None:
            warnings.warn(what, FutureWarning, stacklevel=4)
        for hook in hooks:
            node.register_hook(lambda grad_inputs, grad_outputs, hook=hook: hook(module, grad_inputs, grad_outputs))


def _missed(inputs: tuple[Any, ...], result: Any, node: Any) -> str | None:
    """Why hooks on one node don't see all gradients of a call, in PyTorch's words; None where they do."""
    results = (result,) if isinstance(result, Tensor) else result
    start = "Using non-full backward hooks on a Module that does not "
    end = "Please use register_full_backward_hook to get the documented behavior."
    later = " is deprecated and will be removed in future versions. This hook will be missing "
    if not (isinstance(results, tuple) and all(isinstance(r, Tensor) for r in results)):
        return f"{start}return a single Tensor or a tuple of Tensors{later}some of the grad_output. {end}"
    if not all(isinstance(i, Tensor) for i in inputs):
        return f"{start}take as input a single Tensor or a tuple of Tensors{later}some of the grad_input. {end}"
    start = "Using a non-full backward hook when "
    made_by = {r.grad_fn for r in results if r.grad_fn is not None}
    if not made_by or (len(made_by) == 1 and node not in made_by):
        return f"{start}outputs are nested in python data structure{later}some grad_output."
    if len(made_by) > 1:
        return f"{start}outputs are generated by different autograd Nodes{later}some grad_output. {end}"
    if {i.grad_fn for i in inputs if i.grad_fn is not None} != {n for n, _ in node.next_functions}:
        return f"{start}the forward contains multiple autograd Nodes{later}some grad_input. {end}"
    return None
