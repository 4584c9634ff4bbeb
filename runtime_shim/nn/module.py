# Long because it is one class: all that a module can be asked.
"""Module: parameters, buffers, submodules, hooks. Checks and messages as in torch/nn/modules/module.py."""

from __future__ import annotations

import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from ..core.function_table import AnyFunction
from ..core.gradient_modes import no_grad
from ..core.tensor import Tensor
from ..tape.nodes import HookHandle
from .module_hooks import FullBackward, GlobalHooks, hook_the_old_way, registered
from .module_state import COMPLEX_MODULE, IncompatibleKeys, LoadHook, collect, load_into, parsed_target, save_own
from .module_state import load_own as _load_own
from .parameter import Buffer, Parameter

_TABLES = ("_parameters", "_buffers", "_modules")


def shown_type(value: object) -> str:
    """The type as messages print it."""
    if isinstance(value, Tensor) and type(value) is Tensor:
        return f"torch.{value.dtype.scalar_name}Tensor"
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _no_hooks() -> dict[str, Any]:
    """The tables of hooks that few modules have."""
    return {
        "_hooked": False,  # whether there ever was one that a call must look at
        "_is_full_backward_hook": None,
        "_backward_hooks": OrderedDict(),
        "_backward_pre_hooks": OrderedDict(),
        "_state_dict_hooks": OrderedDict(),
        "_state_dict_pre_hooks": OrderedDict(),
        "_load_state_dict_pre_hooks": OrderedDict(),
        "_load_state_dict_post_hooks": OrderedDict(),
    }


class Module:
    """Base of layers and models; assign Parameters and Modules to attributes, define `forward`."""

    training: bool
    _version: int = 1
    call_super_init: bool = False

    def __init__(self, *args: object, **kwargs: object) -> None:
        name = type(self).__name__
        further = self.call_super_init
        if kwargs and not further:
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
        if args and not further:
            raise TypeError(f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _modules={},
            _non_persistent_buffers_set=set(),
            _forward_hooks={},
            _forward_pre_hooks={},
            _forward_hook_options={},
            **_no_hooks(),
        )
        if further:
            super().__init__(*args, **kwargs)

    # -- calling
    # -----------------------------------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._forward_hooks and not self._forward_pre_hooks and not self._hooked and not GlobalHooks.called:
            return self.forward(*args, **kwargs)
        return self._call_with_hooks(args, kwargs)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        own = self._backward_hooks
        full = [*GlobalHooks.backward.values()] if GlobalHooks.full else []
        old = [] if GlobalHooks.full else [*GlobalHooks.backward.values()]
        (full if self._is_full_backward_hook else old).extend(own.values())
        pre = [*GlobalHooks.backward_pre.values(), *self._backward_pre_hooks.values()]
        called: set[tuple[bool, int]] = set()
        result: Any = None
        try:
            before = [(hook, self._options_of(key)[0]) for key, hook in self._forward_pre_hooks.items()]
            for hook, with_kwargs in [*GlobalHooks.forward_pre.values(), *before]:
                found = hook(self, args, kwargs) if with_kwargs else hook(self, args)
                if found is None:
                    continue
                if with_kwargs:
                    if not (isinstance(found, tuple) and len(found) == 2):
                        raise RuntimeError(
                            f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {found}."
                        )
                    args, kwargs = found
                else:
                    args = found if isinstance(found, tuple) else (found,)
            backward = FullBackward(self, full, pre) if full or pre else None
            if backward is not None:
                args = backward.before(args)
            result = self.forward(*args, **kwargs)
            for is_own, table in ((False, GlobalHooks.forward), (True, self._forward_hooks_with_options)):
                for key, (hook, with_kwargs, always) in list(table.items()):
                    if always:
                        called.add((is_own, key))
                    found = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
                    if found is not None:
                        result = found
            if backward is not None:
                if not isinstance(result, Tensor | tuple):
                    warnings.warn(
                        "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                        f"received {type(result)}",
                        stacklevel=2,
                    )
                result = backward.after(result)
            if old:
                hook_the_old_way(self, args, result, old)
            return result
        except Exception:
            self._call_always(called, args, kwargs, result)
            raise

    def _call_always(self, called: set[tuple[bool, int]], args: object, kwargs: object, result: object) -> None:
        """Forward hooks that run even where forward raised."""
        for is_own, table in ((False, GlobalHooks.forward), (True, self._forward_hooks_with_options)):
            for key, (hook, with_kwargs, always) in list(table.items()):
                if always and (is_own, key) not in called:
                    try:
                        hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
                    except Exception as error:
                        which = "module" if is_own else "global module"
                        warnings.warn(
                            f"{which} forward hook with ``always_call=True`` raised an exception that was silenced as "
                            f"another error was raised in forward: {error}",
                            stacklevel=3,
                        )

    def _options_of(self, key: int) -> tuple[bool, bool]:
        """Of a forward hook: whether it takes keywords, and whether it is called even if forward raises."""
        found: tuple[bool, bool] = self.__dict__.get("_forward_hook_options", {}).get(key, (False, False))
        return found

    @property
    def _forward_hooks_with_options(self) -> dict[int, tuple[AnyFunction, bool, bool]]:
        return {key: (hook, *self._options_of(key)) for key, hook in self._forward_hooks.items()}

    @property
    def _forward_hooks_with_kwargs(self) -> dict[int, bool]:
        return {key: True for key in self._forward_hooks if self._options_of(key)[0]}

    @property
    def _forward_hooks_always_called(self) -> dict[int, bool]:
        return {key: True for key in self._forward_hooks if self._options_of(key)[1]}

    @property
    def _forward_pre_hooks_with_kwargs(self) -> dict[int, bool]:
        return {key: True for key in self._forward_pre_hooks if self._options_of(key)[0]}

    def register_forward_hook(
        self,
        hook: AnyFunction,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> HookHandle:
        """Call `hook(module, args, output)` after forward; what it returns, unless None, is the output.

        With `always_call` it is called even if forward raises.
        """
        handle = _register(self._forward_hooks, hook, prepend)
        if with_kwargs or always_call:
            self.__dict__.setdefault("_forward_hook_options", {})[handle.id] = with_kwargs, always_call
        return handle

    def register_forward_pre_hook(
        self, hook: AnyFunction, *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookHandle:
        """Call `hook(module, args)` before forward; what it returns, unless None, are the arguments."""
        handle = _register(self._forward_pre_hooks, hook, prepend)
        if with_kwargs:
            self.__dict__.setdefault("_forward_hook_options", {})[handle.id] = True, False
        return handle

    def register_full_backward_hook(self, hook: AnyFunction, prepend: bool = False) -> HookHandle:
        """Call `hook(module, grad_inputs, grad_outputs)` in backward; what it returns replaces grad_inputs."""
        if self._is_full_backward_hook is False:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only "
                "one of them."
            )
        self.__dict__.update(_is_full_backward_hook=True, _hooked=True)
        return _register(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: AnyFunction, prepend: bool = False) -> HookHandle:
        """Call `hook(module, grad_outputs)` before the module's backward; what it returns replaces them."""
        self.__dict__["_hooked"] = True
        return _register(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook: AnyFunction) -> HookHandle:
        """The old kind of `register_full_backward_hook`, at the node that made the output."""
        if self._is_full_backward_hook is True:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only "
                "one of them."
            )
        self.__dict__.update(_is_full_backward_hook=False, _hooked=True)
        return _register(self._backward_hooks, hook, False)

    def register_state_dict_post_hook(self, hook: AnyFunction) -> HookHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after `state_dict`."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        return HookHandle(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: AnyFunction) -> HookHandle:
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return HookHandle(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: AnyFunction) -> HookHandle:
        """Call `hook(module, prefix, keep_vars)` before `state_dict`."""
        return HookHandle(self._state_dict_pre_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: AnyFunction) -> HookHandle:
        """Call `hook(module, state_dict, prefix, …)` before the module's own state is loaded."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: AnyFunction, with_module: bool = False) -> HookHandle:
        return HookHandle(self._load_state_dict_pre_hooks, LoadHook(hook, self if with_module else None))

    def register_load_state_dict_post_hook(self, hook: AnyFunction) -> HookHandle:
        """Call `hook(module, incompatible_keys)` after a module's state was loaded; it may change the keys."""
        return HookHandle(self._load_state_dict_post_hooks, hook)

    # -- attributes
    # --------------------------------------------------------------------------------------------

    def _table(self, table: str, kind: str) -> dict[str, Any]:
        found = self.__dict__.get(table)
        if found is None:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        return found

    def _forget(self, name: str, keep: str) -> None:
        self.__dict__.pop(name, None)
        for table in _TABLES:
            if table != keep:
                self.__dict__.get(table, {}).pop(name, None)
        if keep != "_buffers":
            self.__dict__.get("_non_persistent_buffers_set", set()).discard(name)

    def __setattr__(self, name: str, value: object) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            self._table("_parameters", "parameters")
            self._forget(name, "_parameters")
            self.register_parameter(name, value)
        elif name in own.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{shown_type(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            own["_parameters"][name] = None
        elif isinstance(value, Module):
            modules = self._table("_modules", "module")
            self._forget(name, "_modules")
            modules[name] = registered(GlobalHooks.module, self, name, value) if GlobalHooks.module else value
        elif name in own.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{shown_type(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            own["_modules"][name] = None
        elif isinstance(value, Buffer):
            self._table("_buffers", "buffers")
            self._register_assigned(name, value)
        elif name in own.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{shown_type(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or "
                    "None expected)"
                )
            own["_buffers"][name] = value
        else:
            super().__setattr__(name, value)

    def _register_assigned(self, name: str, buffer: Buffer) -> None:
        """Register a buffer by the class's own method, which may know nothing of `persistent`."""
        register = self.register_buffer
        if (
            getattr(register, "__func__", None) is Module.register_buffer
            or "persistent" in inspect.signature(register).parameters
        ):
            register(name, buffer, buffer.persistent)
        elif not buffer.persistent:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements register_buffer() without "
                "the persistent argument is not allowed."
            )
        else:
            register(name, buffer)

    def __getattr__(self, name: str) -> Any:
        for table in _TABLES:
            found = self.__dict__.get(table)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for table in _TABLES:
            if name in self.__dict__[table]:
                del self.__dict__[table][name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__}
        for table in _TABLES:
            names.update(self.__dict__.get(table, ()))
        return sorted(n for n in names if not n[:1].isdigit())

    def _check_name(self, name: str, kind: str, table: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {shown_type(name)}")
        if kind == "module" and hasattr(self, name) and name not in self.__dict__[table]:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            got = f", got: {name}" if kind == "module" else ""
            raise KeyError(f'{kind} name can\'t contain "."{got}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[table]:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter; None stands for one that the module might have had."""
        parameters = self._table("_parameters", "parameter")
        self._check_name(name, "parameter", "_parameters")
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{shown_type(param)}' object to parameter '{name}' (torch.nn.Parameter or "
                    "None required)"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                    f"explicitly. To express '{name}' as a function of another Tensor, compute the value in "
                    "the forward() method."
                )
        parameters[name] = registered(GlobalHooks.parameter, self, name, param) if GlobalHooks.parameter else param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but no parameter; only persistent ones are in the state dict."""
        buffers = self._table("_buffers", "buffer")
        self._check_name(name, "buffer", "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{shown_type(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        buffers[name] = registered(GlobalHooks.buffer, self, name, tensor) if GlobalHooks.buffer else tensor
        change = self._non_persistent_buffers_set
        (change.discard if persistent else change.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule under a name."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{shown_type(module)} is not a Module subclass")
        self._check_name(name, "module", "_modules")
        self._modules[name] = registered(GlobalHooks.module, self, name, module) if GlobalHooks.module else module

    def register_module(self, name: str, module: Module | None) -> None:
        self.add_module(name, module)

    # -- walking
    # -----------------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        memo = set() if memo is None else memo
        if self not in memo:
            if remove_duplicate:
                memo.add(self)
            yield prefix, self
            for name, module in self._modules.items():
                if module is not None:
                    inner = f"{prefix}.{name}" if prefix else name
                    yield from module.named_modules(memo, inner, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        for _, module in self.named_children():
            yield module

    def _named_members(
        self, table: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in module.__dict__[table].items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield (f"{path}.{name}" if path else name), value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> Module:
        """The submodule at a path like `layers.0.linear`; AttributeError if there is none."""
        found: Any = self
        for part in target.split(".") if target else ():
            if not hasattr(found, part):
                raise AttributeError(f"{type(found).__name__} has no attribute `{part}`")
            found = getattr(found, part)
            if not isinstance(found, Module):
                raise AttributeError(f"`{part}` is not an nn.Module")
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module at a path; with `strict` only in the place of another."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def _get_member(self, target: str, table: str, kind: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in module.__dict__[table]:
            raise AttributeError(f"`{name}` is not {kind}")
        return module.__dict__[table][name]

    def get_parameter(self, target: str) -> Parameter:
        return self._get_member(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        return self._get_member(target, "_buffers", "a buffer")

    # -- changing all of it
    # ------------------------------------------------------------------------------------

    def apply(self, fn: Callable[[Module], Any]) -> Module:
        """Call `fn` with every submodule, innermost first, then with this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Module:
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Module:
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                if parameter.grad.grad_fn is not None:
                    parameter.grad.detach_()
                else:
                    parameter.grad.requires_grad_(False)
                parameter.grad.zero_()

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Module:
        if recurse:
            for module in self.children():
                module._apply(fn, recurse)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with no_grad():
                parameter.data = fn(parameter)
            if parameter.grad is not None:
                with no_grad():
                    parameter.grad.data = fn(parameter.grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: object, **kwargs: object) -> Module:
        """Convert parameters and buffers of floating dtype, in place of the tensors' data."""
        dtype, memory_format = parsed_target(args, kwargs)
        if memory_format is not None:
            rank = 5 if memory_format == "channels_last_3d" else 4
            self._apply(lambda t: t.to(memory_format=memory_format) if t.dim() in (rank, 4) else t)
        if dtype is None:
            return self
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )
        if dtype.is_complex:
            warnings.warn(COMPLEX_MODULE, stacklevel=2)
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() or t.is_complex() else t)

    def type(self, dst_type: object) -> Module:
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Module:
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Module:
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Module:
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Module:
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cpu(self) -> Module:
        return self

    def share_memory(self) -> Module:
        return self._apply(lambda t: t.share_memory_())

    # -- state
    # -------------------------------------------------------------------------------------------------

    def state_dict(self, *args: object, destination: object = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Parameters and persistent buffers by name, detached but sharing memory."""
        return collect(self, destination, prefix, keep_vars)

    def get_extra_state(self) -> Any:
        """What a class adds to its state, beside parameters and buffers; `set_extra_state` is given it again."""
        raise RuntimeError(_NO_EXTRA_STATE.format("get"))

    def set_extra_state(self, state: object) -> None:
        raise RuntimeError(_NO_EXTRA_STATE.format("set"))

    def _save_to_state_dict(self, destination: object, prefix: str, keep_vars: bool) -> None:
        save_own(self, destination, prefix, keep_vars)

    def _load_from_state_dict(
        self,
        state_dict: object,
        prefix: str,
        local_metadata: object,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        _load_own(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    def load_state_dict(self, state_dict: object, strict: bool = True, assign: bool = False) -> IncompatibleKeys:
        """Copy values into parameters and buffers; RuntimeError listing all that did not fit.

        With `assign` the given tensors take the places of the module's.
        """
        return load_into(self, state_dict, strict, assign)

    # -- printing
    # ----------------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        children = [f"({name}): " + repr(module).replace("\n", "\n  ") for name, module in self._modules.items()]
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join([*lines, *children]) + "\n)"

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**_no_hooks(), **state})


_NO_EXTRA_STATE = (
    "Reached a code path in Module.{}_extra_state() that should never be called. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
)


def _register(table: dict[int, Any], hook: object, prepend: bool) -> HookHandle:
    handle = HookHandle(table, hook)
    if prepend:
        rest = {key: value for key, value in table.items() if key != handle.id}
        table.clear()
        table[handle.id] = hook
        table.update(rest)
    return handle
