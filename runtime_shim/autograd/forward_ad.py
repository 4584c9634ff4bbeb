"""`torch.autograd.forward_ad`: dual tensors, and the tangents that each op inside a level gives its results.

A level asks every function as a mode of `__torch_function__` does. A view's tangent is the same view of the tangent.
Any other function is called once more, recorded, and the tangent follows from its gradient: the derivative of J^T v by
v, applied to the tangents of the arguments. So what can be differentiated twice backward can be once forward.
Source: torch/autograd/forward_ad.py, and _process_forward_mode_AD in torch/csrc/autograd/custom_function.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ContextDecorator
from typing import Any, NamedTuple

from ..core.function_table import FUNCTIONS, AnyFunction
from ..core.gradient_modes import enable_grad
from ..core.late_modules import late_module
from ..core.supported_names import refuses_missing
from ..core.tensor import Tensor
from ..core.thread_state import tls
from ..dispatch.function_overrides import REPLACEMENTS, name_of
from . import grad

_trees: Any = late_module("utils._pytree")

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

_NO_FORWARD = (
    "Trying to use forward AD with {} that does not support it because it has not been implemented yet.\nPlease file "
    "an issue to PyTorch at https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can "
    "prioritize its implementation or submit a PR adding the implementation to derivatives.yaml"
)
_NO_FORWARD_OUT = "Trying to use forward AD with {}_out that does not support it because it is an out= function"
_OF_CONSTANT = (
    "Function's jvp returned a gradient at position {}, but  the corresponding forward output is not a differentiable "
    "Tensor.You should return None at that position instead."
)
_NOT_IN_PLACE = (
    "An inplace custom Function is not {} the forward mode gradients {}. If the forward is modifying an input inplace, "
    "then the jvp function must modify the {}."
)
_NO_VIEW = "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
_OTHER_VIEW = "A custom Function is returning a view but the jvp is not returning a view of {}."

#: Their results share the memory of a dual tensor, and have no tangent.
_WITHOUT_TANGENT = ("detach", "detach_", "data")


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` gives: an alias of the tensor without its tangent, and the tangent, None if it has none."""

    primal: Tensor
    tangent: Tensor | None


class ForwardLevel:
    """The tangents of a level's tensors, by the tensors' ids; the tensors live as long."""

    def __init__(self) -> None:
        self.enabled = True
        self.known: dict[int, tuple[Tensor, Tensor]] = {}

    def tangent(self, value: object) -> Tensor | None:
        found = self.known.get(id(value))
        return None if found is None else found[1]

    def give(self, t: Tensor, tangent: Tensor) -> None:
        self.known[id(t)] = t, tangent

    def write(self, t: Tensor, tangent: Tensor | None) -> None:
        """The tangent after a write to `t`: it is written to as well, and that of the tensor that `t` is a view of."""
        own = self.tangent(t)
        base = t._base
        if own is None and base is not None and tangent is not None:
            whole = self.tangent(base)
            if whole is None:
                self.give(base, whole := FUNCTIONS["zeros_like"](base))
            own = whole.as_strided(t.size(), t.stride(), t.storage_offset() - base.storage_offset())
            self.give(t, own)
        if own is None:
            if tangent is not None:
                self.give(t, tangent)
        elif tangent is None:
            own.zero_()
        else:
            own.copy_(tangent)

    def __torch_function__(self, function: Any, types: object, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given, form = _trees.tree_flatten((args, kwargs))
        duals = [t for t in given if self.tangent(t) is not None]
        if not duals or not self.enabled or tls.state.inference_mode:
            return function(*args, **kwargs)
        if kwargs.get("out") is not None:
            raise NotImplementedError(_NO_FORWARD_OUT.format(_short_name(function)))
        recorded = _Again(self, given)
        random, versions = FUNCTIONS["get_rng_state"](), [_version(t) for t in given]
        result = function(*args, **kwargs)
        written = next((n for n, v in enumerate(versions) if v != _version(given[n])), None)
        outputs = _trees.tree_flatten(result)[0]
        results = [r for r in outputs if isinstance(r, Tensor) and self.tangent(r) is None]
        views = [r for r in results if any(r._storage is t._storage for t in duals)]
        if written is None and views:
            if _short_name(function) not in _WITHOUT_TANGENT:
                self._views(function, given, form, outputs)
        elif written is not None or results:
            after = FUNCTIONS["get_rng_state"]()
            FUNCTIONS["set_rng_state"](random)
            recorded.call(function, form)
            FUNCTIONS["set_rng_state"](after)
            if written is not None:
                self.write(given[written], recorded.tangent(recorded.values[written]))
            else:
                self._results(outputs, recorded)
        return result

    def _views(self, function: AnyFunction, given: Sequence[Any], form: Any, outputs: Sequence[Any]) -> None:
        args, kwargs = _trees.tree_unflatten([t if (own := self.tangent(t)) is None else own for t in given], form)
        along = _trees.tree_flatten(function(*args, **kwargs))[0]
        for r, tangent in zip(outputs, along, strict=True):
            self.give(r, tangent)

    def _results(self, outputs: Sequence[Any], recorded: _Again) -> None:
        for r, again in zip(outputs, _trees.tree_flatten(recorded.result)[0], strict=True):
            if isinstance(r, Tensor) and self.tangent(r) is None:
                tangent = recorded.tangent(again)
                if tangent is not None:
                    self.give(r, tangent)

    def of_function(self, ctx: Any, inputs: Sequence[Any], raw: Any, found: Any) -> None:
        """The tangents of what a custom Function returned as `raw`, from what its `jvp` gives.

        RuntimeError where those don't alias as the outputs do, or are too few.
        """
        own = [self.tangent(t) for t in inputs]
        if not self.enabled or all(t is None for t in own):
            return
        before = [None if t is None else t._version for t in own]
        along = [_materialized(t, value, ctx) for t, value in zip(own, inputs, strict=True)]
        ctx.in_jvp, self.enabled = True, False
        try:
            tangents = vars(type(ctx))["function"].jvp(ctx, *along)
        finally:
            ctx.in_jvp, self.enabled = False, True
        single = not isinstance(raw, tuple)
        raws, outputs = ((raw,), (found,)) if single else (raw, found)
        tangents = tangents if isinstance(tangents, tuple) else (tangents,)
        if len(tangents) != len(outputs):
            raise RuntimeError(
                "Function's jvp returned an invalid number of forward gradients (expected "
                f"{len(outputs)} but got {len(tangents)})"
            )
        for nr, (plain, out, tangent) in enumerate(zip(raws, outputs, tangents, strict=True)):
            if not isinstance(out, Tensor):
                continue
            if any(plain is t for t in ctx.non_differentiable) or not (out.is_floating_point() or out.is_complex()):
                if tangent is not None:
                    raise RuntimeError(_OF_CONSTANT.format(nr))
                continue
            if any(plain is t for t in ctx.dirty):
                place = next(n for n, value in enumerate(inputs) if value is plain)
                if own[place] is None:
                    self.write(out, tangent)
                elif tangent._version == before[place]:
                    raise RuntimeError(_NOT_IN_PLACE.format("modifying", "inplace", "corresponding gradient inplace"))
                elif tangent is not own[place]:
                    raise RuntimeError(
                        _NOT_IN_PLACE.format("returning", "as-is", "gradient inplace and return it as-is")
                    )
                continue
            self._check_view(out, tangent, inputs)
            if tangent is not None:
                self.give(out, tangent)

    def _check_view(self, out: Tensor, tangent: Any, inputs: Sequence[Any]) -> None:
        base = out._base
        for t in inputs if base is not None else ():
            if isinstance(t, Tensor) and (t is base or t._base is base) and (own := self.tangent(t)) is not None:
                if tangent is None or tangent._base is None:
                    raise RuntimeError(_NO_VIEW)
                if own._base is not None and tangent._base is not own._base:
                    raise RuntimeError(_OTHER_VIEW.format("the same base as the given grad input"))
                if own._base is None and tangent._base is not own:
                    raise RuntimeError(_OTHER_VIEW.format("the given grad input"))


class _Again:
    """A second call of a function, recorded for the sake of its gradient, on copies of its arguments."""

    def __init__(self, level: ForwardLevel, given: Sequence[Any]) -> None:
        self.sources: list[Tensor] = []
        self.tangents: list[Tensor] = []
        records = tls.state.grad_mode
        self.kept = records and any(
            isinstance(t, Tensor) and (t.requires_grad or getattr(level.tangent(t), "requires_grad", False))
            for t in given
        )
        self.values = [self._copy(level, t) if isinstance(t, Tensor) else t for t in given]

    def _copy(self, level: ForwardLevel, t: Tensor) -> Tensor:
        tangent = level.tangent(t)
        with enable_grad():
            if not self.kept or not t.requires_grad:
                t = t.detach().clone()
            if tangent is None:
                return t if t.grad_fn is None and not t.requires_grad else t.clone()
            source = t.view_as(t) if t.requires_grad else t.requires_grad_()
            self.sources.append(source)
            self.tangents.append(tangent)
            return source.clone()  # may be written to, as a leaf mayn't

    def call(self, function: AnyFunction, form: Any) -> None:
        args, kwargs = _trees.tree_unflatten(self.values, form)
        with enable_grad():
            self.result = function(*args, **kwargs)
        self.name = _short_name(function)

    def tangent(self, output: Any) -> Tensor | None:
        """The tangent of an output of the call; None if no gradient goes through it."""
        if not isinstance(output, Tensor) or not output.requires_grad:
            return None
        with enable_grad():
            vector = FUNCTIONS["zeros_like"](output).requires_grad_()
            try:
                products = grad(output, self.sources, vector, create_graph=True, allow_unused=True)
            except NotImplementedError:
                raise NotImplementedError(_NO_FORWARD.format(self.name)) from None
            pairs = [(g, t) for g, t in zip(products, self.tangents, strict=True) if g is not None and g.requires_grad]
            found = None
            if pairs:
                firsts, along = [g for g, _ in pairs], [t.to(g.dtype) for g, t in pairs]
                (found,) = grad(firsts, vector, along, create_graph=self.kept, allow_unused=True)
        if found is None:
            return FUNCTIONS["zeros_like"](output).detach()
        if any(found._storage is t._storage for t in self.tangents):
            found = found.clone()  # may be written to, as that of the argument is not
        return found if self.kept else found.detach()


def _materialized(tangent: Tensor | None, value: object, ctx: Any) -> Tensor | None:
    if tangent is None and ctx._materialize and isinstance(value, Tensor) and value._array.dtype.kind in "fcV":
        return FUNCTIONS["zeros_like"](value).detach()
    return tangent


def _version(value: object) -> int:
    counter = getattr(value, "_version_counter", None)
    return -1 if counter is None else counter[0]


def _short_name(function: object) -> str:
    return name_of(function).removesuffix(".__get__").rpartition(".")[2]


def _level() -> Any:
    return tls.state.forward_level


def __getattr__(name: str) -> Any:
    if name == "_current_level":
        return -1 if _level() is None else 0
    return _missing(name)


_missing = refuses_missing("torch.autograd.forward_ad")


def enter_dual_level() -> int:
    """Begin a level, and give its number, which is 0. RuntimeError inside another one."""
    state = tls.state
    if state.forward_level is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    state.forward_level = ForwardLevel()
    REPLACEMENTS.begin()
    state.function_modes.append(state.forward_level)
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level and forget its tangents. RuntimeError if `level` is another one."""
    state = tls.state
    current = -1 if state.forward_level is None else 0
    if level is not None and level != current:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    if current < 0:
        raise RuntimeError("Dual level must be a positive number.")
    state.function_modes.remove(state.forward_level)
    REPLACEMENTS.end()
    state.forward_level = None


class dual_level(ContextDecorator):
    """A context manager, and a decorator, for a level."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """An alias of `tensor` with a tangent of the same sizes, which is copied where its strides are others.

    RuntimeError outside a level, if the sizes differ, or if `tensor` has a tangent; ValueError if one isn't floating.
    """
    forward = _level()
    if (level is None and forward is None) or (level is not None and level < 0):
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    for what, t in (("primal", tensor), ("tangent", tangent)):
        if not (t.is_floating_point() or t.is_complex()):
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {t.dtype}")
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )
    if forward.tangent(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not "
            "supported."
        )
    dual: Tensor = tensor.view_as(tensor)
    if tensor.stride() != tangent.stride():
        copied = FUNCTIONS["empty_strided"](tensor.shape, tensor.stride(), dtype=tangent.dtype)
        tangent = copied.copy_(tangent)
    forward.give(dual, tangent)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """An alias of the tensor without its tangent, and the tangent; outside a level, the tensor and None."""
    forward = _level()
    if forward is None or (level is not None and level < 0):
        return UnpackedDualTensor(tensor, None)
    enabled, forward.enabled = forward.enabled, False
    try:
        return UnpackedDualTensor(tensor.view_as(tensor), forward.tangent(tensor))
    finally:
        forward.enabled = enabled


def _is_fwd_grad_enabled() -> bool:
    """Whether ops give their results tangents."""
    return _level() is None or bool(_level().enabled)
