"""Optimizer: parameter groups and their state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from ..aten import FUNCTIONS
from ..core.gradient_modes import enable_grad, set_grad_enabled
from ..core.tensor import Tensor


class _RequiredParameter:
    """The default of an option that has none, in optimizers that were written before they could do without."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


class Optimizer:
    """Base of optimizers; a subclass gives defaults and `update(parameter, grad, group, state)`.

    `step` runs with gradients off and writes in place, so the rules of in-place writes hold: state made in
    inference mode cannot be written to outside it.
    """

    state: defaultdict[Any, dict[str, Any]]

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"torch.{params.dtype.scalar_name}Tensor"
            )
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        self.defaults = defaults
        self.state = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Optimize more parameters, with options of their own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        parameters = param_group["params"]
        if isinstance(parameters, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in "
                "sets will change between runs. Please use a list instead."
            )
        listed = [parameters] if isinstance(parameters, Tensor) else list(parameters)
        named = listed and isinstance(listed[0], tuple)
        names = [pair[0] for pair in listed] if named else None
        if named:
            listed = [pair[1] for pair in listed]
        for p in listed:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {_typename(p)}")
            if not (self.defaults.get("differentiable") or p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        seen = {id(p) for group in self.param_groups for p in group["params"]}
        if seen & {id(p) for p in listed}:
            raise ValueError("some parameters appear in more than one parameter group")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
        made = {**param_group, "params": listed}
        if names is not None:
            made["param_names"] = names
        for key, value in self.defaults.items():
            made.setdefault(key, value)
        self.param_groups.append(made)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients, or with `set_to_none=False` fill them with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if set_to_none:
                    p.grad = None
                else:
                    if p.grad.grad_fn is not None:
                        p.grad.detach_()
                    else:
                        p.grad.requires_grad_(False)
                    p.grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters that have a gradient; return what `closure`, run with gradients on, gives."""
        loss = None
        with set_grad_enabled(bool(self.defaults.get("differentiable"))):
            if closure is not None:
                with enable_grad():
                    loss = closure()
            for group in self.param_groups:
                ready = [(p, self.state.get(p, {})) for p in group["params"] if p.grad is not None]
                for p, state in ready:
                    self.prepare(p, group, state)
                for p, state in ready:
                    self.update(p, p.grad, group, state)
                    if state:
                        self.state[p] = state
        return loss

    def _patch_step_function(self) -> None:
        """What optimizers around another one call: PyTorch wraps `step` for its profiler, which is not here."""

    def prepare(self, p: Tensor, group: dict[str, object], state: dict[str, object]) -> None:
        """Make the state that `update` needs, if there is none yet."""

    def update(self, p: Tensor, grad: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """State and options, with parameters numbered in the order of the groups."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            packed = {k: v for k, v in group.items() if k != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {numbers[id(p)] if isinstance(p, Tensor) else p: s for p, s in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned; ValueError if the groups do not match."""
        saved = deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        pairs = list(zip(self.param_groups, saved, strict=True))
        if any(len(own["params"]) != len(other["params"]) for own, other in pairs):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        parameters = {
            number: p for own, other in pairs for p, number in zip(own["params"], other["params"], strict=True)
        }
        self.state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in parameters:
                self.state[parameters[key]] = _cast(parameters[key], value)
            else:
                self.state[key] = value
        self.param_groups = [{**other, "params": own["params"]} for own, other in pairs]

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += [""] * bool(i) + [f"Parameter Group {i}"]
            lines.extend(f"    {key}: {group[key]}" for key in sorted(group) if key != "params")
        return "\n".join([*lines, ")"])


def _typename(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _cast(p: Tensor, value: object, key: str | None = None) -> Any:
    """Loaded state in the dtype of the parameter; `step` counts keep theirs."""
    if isinstance(value, Tensor):
        return value if key == "step" or not p.is_floating_point() else value.to(p.dtype)
    if isinstance(value, dict):
        return {k: _cast(p, v, k) for k, v in value.items()}
    return value


def chosen(arguments: dict[str, object], names: str) -> dict[str, object]:
    """Options of a group, in PyTorch's order, out of what a constructor was given."""
    return {name: arguments[name] for name in names.split()}


def check_learning_rate(lr: Any) -> None:
    if isinstance(lr, Tensor):
        raise NotImplementedError("the shim has no learning rates that are tensors; supported: numbers")
    if not lr >= 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")


def check_options(**options: object) -> None:
    """NotImplementedError for options that choose implementations the shim does not have."""
    for name, value in options.items():
        if value:
            raise NotImplementedError(f"the shim has no {name}={value!r} in optimizers; supported: {name}=False")


def check_at_least_zero(**values: float) -> None:
    """ValueError, with its name, for a negative number or NaN."""
    for name, value in values.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {name} value: {value}")


def check_betas(betas: tuple[float, float]) -> None:
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def start(p: Tensor, state: dict[str, object], *names: str) -> None:
    """A new state: the count of steps, and zeros of the parameter's shape under each name."""
    state["step"] = FUNCTIONS["tensor"](0.0)
    for name in names:
        state[name] = FUNCTIONS["zeros_like"](p)


def count(state: dict[str, Any]) -> float:
    """Counts a step; returns its number, from 1 on."""
    state["step"] += 1
    return float(state["step"].item())


def largest_of(kept: Tensor, other: Tensor, group: dict[str, Any]) -> Tensor:
    """The larger elements, written to what is kept; without `out=` where the step is to be differentiated."""
    if group["differentiable"]:
        return kept.copy_(FUNCTIONS["maximum"](kept.clone(), other))
    found: Tensor = FUNCTIONS["maximum"](kept, other, out=kept)
    return found


def with_decay(p: Tensor, grad: Tensor, group: dict[str, object]) -> Tensor:
    """The gradient that is followed: negated to maximize, and with the weight decay added."""
    if group["maximize"]:
        grad = -grad
    return grad.add(p, alpha=group["weight_decay"]) if group["weight_decay"] else grad


def decayed(p: Tensor, grad: Tensor, group: dict[str, Any]) -> Tensor:
    """The gradient as `with_decay` gives it, or the weights themselves decayed at once."""
    if not group["decoupled_weight_decay"]:
        return with_decay(p, grad, group)
    if group["weight_decay"]:
        p.mul_(1 - group["lr"] * group["weight_decay"])
    return -grad if group["maximize"] else grad
