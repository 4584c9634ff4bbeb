"""What an op is described by: its kernel, its gradients, and what it takes. Everything else it refuses.

A description is made once, where the op is registered, and never changes. What it doesn't say has the strict value of
PyTorch's structured elementwise ops: floating tensors alone, converted to the dtype that they promote to; no Python
number and no list in a tensor's place; `out=` of a dtype that the result can be cast to, overlapping no input in part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.dtypes import NumpyDtype
from ..core.error_texts import MISSING, wrong_type
from .kernel_forms import by_position, numpy_name, widen

KernelFunction = Callable[..., Any]
Refuses = str | None | Callable[..., str | None]
Leak = int | Callable[..., int | tuple[int, ...]]

OPS: dict[str, Op] = {}


# -- dtypes


@dataclass(frozen=True)
class DtypeRefusal:
    """Kinds of dtype (b, i, f, c) that an op refuses, and in what words; `{}` in `text` is the dtype's name."""

    kinds: str
    error: type[Exception]
    text: str
    shapes_first: bool = False
    """Whether errors about shapes come first, as where a loop over the elements refuses."""


@dataclass(frozen=True)
class Computes:
    """The dtypes that an op computes in: `kinds` of bool (b), integer (i), floating (f) and complex (c) numbers.

    Other kinds are refused in the words of `refusals`, or as a kernel of PyTorch called `label` (by default that of
    the op, `hypot_cpu`) refuses them. With `promotes`, the kernel is given tensors of one dtype, that which they
    promote to; else it sees to that itself.
    """

    kinds: str = "f"
    label: str | None = None
    refusals: tuple[DtypeRefusal, ...] = ()
    promotes: bool = False

    def of(self, title: str) -> tuple[DtypeRefusal, ...]:
        """All that is refused, the special words first."""
        special = "".join(r.kinds for r in self.refusals)
        rest = "".join(kind for kind in "bifc" if kind not in self.kinds and kind not in special)
        if not rest:
            return self.refusals
        text = f"\"{self.label or title + '_cpu'}\" not implemented for '{{}}'"
        return (*self.refusals, DtypeRefusal(rest, NotImplementedError, text, shapes_first=True))

    def refuse(self, title: str) -> Callable[[NumpyDtype], None]:
        """A function that raises for a dtype that is refused."""
        refusals = self.of(title)

        def check(dtype: NumpyDtype) -> None:
            kind = "i" if dtype.kind == "u" else dtype.kind
            for refusal in refusals:
                if kind in refusal.kinds:
                    raise refusal.error(refusal.text.format(dtypes.BY_CHAR[dtype.char].scalar_name))

        return check


FLOATING_ALONE = Computes(promotes=True)
"""What an op computes in that says nothing."""
FLOATING = Computes()
"""As before, by a kernel that promotes its operands by itself."""
ANY_DTYPE = Computes("bifc")
"""The kernel takes every dtype, or refuses by itself."""


def not_for_complex(text: str) -> DtypeRefusal:
    return DtypeRefusal("c", NotImplementedError, text)


def checked(
    kernel: KernelFunction, computes: Computes, title: str, operands: tuple[int, ...], shapes: bool = True
) -> KernelFunction:
    """`kernel` behind its checks of dtype; the kernel itself where it takes all. `operands` are positions whose dtypes
    count; without `shapes`, the dtype is refused whatever the shapes are."""
    refusals = computes.of(title)
    if not refusals and not computes.promotes:
        return kernel
    one_dtype = "f" in computes.kinds and not computes.promotes
    general = found = _checked(kernel, computes, refusals, operands, shapes)
    if operands == (0,) and one_dtype:

        def call_of_one(self: object, *args: object) -> object:
            if isinstance(self, np.ndarray) and self.dtype.kind == "f":
                return kernel(self, *args)
            return general(self, *args)

        found = call_of_one
    elif operands == (0, 1) and one_dtype:

        def call_of_two(self: Any, other: Any, *args: Any) -> Any:
            of_arrays = isinstance(self, np.ndarray) and isinstance(other, np.ndarray)
            if of_arrays and self.dtype is other.dtype and self.dtype.kind == "f":
                return kernel(self, other, *args)
            return general(self, other, *args)

        found = call_of_two
    elif operands == (0, 1, 2) and one_dtype:

        def call_of_three(a: Any, b: Any, c: Any, *args: Any) -> Any:
            of_arrays = isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and isinstance(c, np.ndarray)
            if of_arrays and a.dtype is b.dtype is c.dtype and a.dtype.kind == "f":
                return kernel(a, b, c, *args)
            return general(a, b, c, *args)

        found = call_of_three
    found.__module__, found.__qualname__ = kernel.__module__, kernel.__qualname__
    return found


def _checked(
    kernel: KernelFunction,
    computes: Computes,
    refusals: tuple[DtypeRefusal, ...],
    operands: tuple[int, ...],
    shapes: bool,
) -> KernelFunction:
    takes_floating = "f" in computes.kinds
    promotes = computes.promotes
    if promotes:
        kernel = _broadcasting(kernel)

    def call(*args: Any) -> Any:
        first = None
        for i in operands:
            if i >= len(args) or not isinstance(args[i], np.ndarray):
                break
            dtype = args[i].dtype
            if dtype is not first:
                if (promotes and first is not None) or dtype.kind != "f":
                    break
                first = dtype
        else:  # the usual case, at little cost
            if takes_floating:
                return kernel(*args)
        given = [args[i] for i in operands if i < len(args) and args[i] is not None]
        if given and all(isinstance(a, (np.ndarray, np.generic, int, float, complex)) for a in given):
            common = dtypes.result_type(*given)
            kind = "i" if common.kind == "u" else common.kind
            for refusal in refusals:
                if kind in refusal.kinds:
                    if refusal.shapes_first and shapes:
                        _check_shapes(kernel, args)
                    raise refusal.error(refusal.text.format(dtypes.BY_CHAR[common.char].scalar_name))
            if promotes:
                args = tuple(
                    a.astype(common) if i in operands and isinstance(a, np.ndarray) and a.dtype is not common else a
                    for i, a in enumerate(args)
                )
        return kernel(*args)

    return call


def _broadcasting(kernel: KernelFunction) -> KernelFunction:
    """`kernel`, with PyTorch's words for shapes that do not go together."""

    def call(*args: object) -> Any:
        try:
            return kernel(*args)
        except ValueError:
            shape: tuple[int, ...] = ()
            for a in args:
                if isinstance(a, np.ndarray):
                    shape = dtypes.broadcast_shapes(shape, a.shape)
            raise

    return call


def _check_shapes(kernel: KernelFunction, args: tuple[object, ...]) -> None:
    """Raise what the kernel says of the operands' shapes; what numpy says of their dtype is not asked for."""
    try:
        kernel(*args)
    except NotImplementedError:
        pass
    except (RuntimeError, IndexError):
        raise
    except Exception:
        pass


# -- out=

CheckDtype = Callable[[str, NumpyDtype, NumpyDtype], None]
"""Given the op's title and the dtypes of the result and of `out`; raises if they don't go together."""


def castable(title: str, want: NumpyDtype, got: NumpyDtype) -> None:
    """RuntimeError if the result can't be cast to the dtype of `out`."""
    if not dtypes.can_cast(want, got):
        raise dtypes.cast_error(want, got)


def same_dtype(text: str) -> CheckDtype:
    """A check that `out` has the dtype of the result; `text` may name `{title}`, `{want}` and `{got}`."""

    def check(title: str, want: NumpyDtype, got: NumpyDtype) -> None:
        if want != got:
            names = {"want": dtypes.BY_CHAR[want.char], "got": dtypes.BY_CHAR[got.char]}
            raise RuntimeError(text.format(title=title, **names))

    return check


def any_dtype(title: str, want: NumpyDtype, got: NumpyDtype) -> None:
    """The op was computed in the dtype of `out`, so nothing can be wrong with it."""


EXPECTED_OUT = same_dtype("Expected out tensor to have dtype {want.short}, but got {got.short} instead")
FOUND_DTYPE = same_dtype("Found dtype {got.scalar_name} but expected {want.scalar_name}")
SAME_SCALAR = same_dtype("{title}(): self and result must have the same scalar type")


@dataclass(frozen=True)
class OutRule:
    """What `out=` may be."""

    dtype: CheckDtype = castable
    resized_first: bool = False
    """Whether `out` is resized before it is checked for overlap with itself, and not compared with the inputs."""
    apart: bool = False
    """Whether `out` may share no memory with an input at all, not even the same."""
    computed_in: bool = False  # whether the op computes in the dtype of `out`, unless its last argument says another


ELEMENTWISE = OutRule()
"""What `out=` may be of an op that says nothing."""
RESIZED = OutRule(resized_first=True)


# -- the description

Formula = tuple[int, "Callable[..., Any] | None", "tuple[str, ...]"]
"""Index of the parameter, its gradient, what the gradient asks for by name."""


@dataclass(frozen=True, eq=False, slots=True)
class Op:
    """All that is known of an op. Made by `describe`."""

    name: str
    title: str  # what messages call the op
    kernel: KernelFunction  # takes all its parameters by position
    inplace_kernel: Callable[..., None] | None
    params: tuple[str, ...]
    positional: int
    defaults: Mapping[str, Any]
    optional: frozenset[int]  # positions at which None will do
    public: bool  # else the shim itself passes the arguments, None among them

    tensor_positions: tuple[int, ...]
    one_tensor: bool  # the first parameter is a tensor and the only one
    only_tensors: frozenset[int]  # positions at which a number will not do
    lists: frozenset[int]  # positions of lists of tensors
    index_lists: frozenset[int]  # positions of lists some elements of which are tensors
    empty_list: tuple[type[Exception], str] | None  # the error for an empty list
    wraps: bool  # Python numbers become tensors, with a normal tensor's keys

    out: OutRule
    checks_overlap: bool  # whether a write refuses what overlaps in part
    outputs: Callable[..., Any] | None  # type of a multiple result
    nondifferentiable: tuple[int, ...]
    reshapes: bool  # in place it changes how memory is seen, not what is in it
    rebases_integers: bool  # an in-place op gives even an integer tensor a history, copy_ does not
    number_form: Op | None  # the overload for a number, where it is another op
    recorded_in_place: tuple[Op, Op] | None  # what the in-place form is recorded as: number, tensor

    leak: Leak  # versions left on fresh results where no autograd kernel wraps the op
    refuses: Refuses  # name of the op whose out= form refuses inputs that require grad
    below: Callable[..., Any] | None  # what the op is made of, where no autograd kernel wraps it
    special_when_unwrapped: bool  # whether there is any of the three

    node_name: str
    formulas: tuple[Formula, ...]
    differentiable: tuple[int, ...]
    saved_inputs: tuple[tuple[str, int, int], ...]
    saved_shapes: tuple[tuple[str, int], ...]
    saved_strides: tuple[tuple[str, int], ...]
    saves_result: bool
    saved_results: tuple[int, ...]  # those of several that formulas ask for one by one: `result0`

    omitted: tuple[tuple[Any, ...] | None, ...]  # by the number of arguments given: the defaults of the others

    def bind(self, args: tuple[object, ...], kwargs: dict[str, object]) -> tuple[object, ...]:
        """All parameters in order, defaults filled in; TypeError as PyTorch's argument parser gives it."""
        params = self.params
        given = len(args)
        if given > self.positional:
            takes = f"{self.positional} positional argument{'s' * (self.positional != 1)}"
            raise TypeError(f"{self.name}() takes {takes} but {given} were given")
        if not kwargs:
            omitted = self.omitted[given]
            if omitted is not None:
                return args + omitted
        bound = list(args)
        for i, p in enumerate(params[given:], given):
            if p in kwargs:
                bound.append(kwargs.pop(p))
            elif (other := numpy_name(p, kwargs)) is not None:
                bound.append(kwargs.pop(other))
            elif p in self.defaults:
                bound.append(self.defaults[p])
            else:
                raise wrong_type(self.title, p, i + 1, MISSING)
        if kwargs:
            raise TypeError(f"{self.name}() got an unexpected keyword argument '{next(iter(kwargs))}'")
        return tuple(bound)


def _check_options(
    name: str,
    params: tuple[str, ...],
    computes: object,
    derivatives: Mapping[str, object],
    options: Mapping[str, tuple[str, ...] | None],
) -> None:
    """TypeError unless they name the op's parameters."""
    if not isinstance(computes, Computes):
        raise TypeError(f"{name}: `computes` is a Computes, such as ANY_DTYPE")
    for option, named in options.items():
        if named is not None and not (isinstance(named, tuple) and set(named) <= set(params)):
            raise TypeError(f"{name}: `{option}` is a tuple of the op's parameters, which are {', '.join(params)}")
    for param in derivatives:
        if param not in params:
            raise TypeError(
                f"{name}: {param!r} is neither an option of op() nor a parameter, which are {', '.join(params)}"
            )


def describe(
    name: str,
    kernel: KernelFunction,
    derivatives: Mapping[str, Callable[..., object] | None],
    *,
    node: str | None = None,
    title: str | None = None,
    public: bool = True,
    tensor_params: tuple[str, ...] | None = None,
    numbers: tuple[str, ...] | None = (),
    lists: tuple[str, ...] = (),
    index_lists: tuple[str, ...] = (),
    empty_list: tuple[type[Exception], str] | None = None,
    wraps: bool = False,
    computes: Computes = FLOATING_ALONE,
    inplace_kernel: Callable[..., None] | None = None,
    out: OutRule = ELEMENTWISE,
    checks_overlap: bool = True,
    outputs: Callable[..., object] | None = None,
    nondifferentiable: tuple[int, ...] = (),
    reshapes: bool = False,
    views: bool = False,
    rebases_integers: bool = True,
    number_form: Op | None = None,
    recorded_in_place: tuple[Op, Op] | None = None,
    leak: Leak = 0,
    refuses: Refuses = None,
    below: Callable[..., object] | None = None,
) -> Op:
    """The description of an op, from its kernel and its gradients by parameter.

    `tensor_params` are the parameters that may be tensors (by default those with a gradient, or `self`), `numbers`
    those of them at which a Python number will do (None: all), `lists` those that are lists of tensors, `index_lists`
    those that are tensors, or lists with tensors among other things. TypeError if a gradient asks for what the op
    doesn't have.
    """
    code = kernel.__code__
    params = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    index = {p: i for i, p in enumerate(params)}
    without = code.co_argcount - len(kernel.__defaults__ or ())
    defaults = dict(zip(params[without : code.co_argcount], kernel.__defaults__ or (), strict=True))
    defaults.update(kernel.__kwdefaults__ or {})

    _check_options(
        name,
        params,
        computes,
        derivatives,
        {"tensor_params": tensor_params, "numbers": numbers, "lists": lists, "index_lists": index_lists},
    )
    formulas: list[Formula] = []
    uses: dict[str, list[int]] = {}
    for slot, (param, formula) in enumerate(derivatives.items()):
        names = formula.__code__.co_varnames[: formula.__code__.co_argcount] if formula is not None else ()
        formulas.append((index[param], formula, names))
        for n in names:
            uses.setdefault(n, []).append(slot)
    saved_inputs: list[tuple[str, int, int]] = []
    saved_shapes: list[tuple[str, int]] = []
    saved_strides: list[tuple[str, int]] = []
    saved_results = []
    given = (tuple(derivatives) or ("self",)) if tensor_params is None else tensor_params
    positions = tuple(index[n] for n in given)
    for n in sorted(uses):
        alone = len(uses[n]) == 1 and len(formulas) > 1 and "backward" not in name  # as PyTorch's generator has it
        if n in index:
            guard = uses[n][0] if alone and index[n] in positions else -1
            saved_inputs.append((n, index[n], guard))
        elif n.startswith("result"):
            saved_results += [int(n[len("result") :])] if n != "result" else []
        elif n.endswith("_shape"):
            saved_shapes.append((n, index[n[: -len("_shape")]]))
        elif n.endswith("_strides"):
            saved_strides.append((n, index[n[: -len("_strides")]]))
        elif n not in ("grad", "grads"):
            raise TypeError(f"the gradient of {name} asks for {n!r}, which is not a parameter of the op")

    title = title or name
    refusing = numbers is not None and not wraps
    # A number beside a tensor counts in promotion although it is never recorded.
    operands = (*positions, 1) if params[1:2] == ("other",) and 1 not in positions else positions
    listed = frozenset(index[n] for n in lists)
    made = Op(
        name=name,
        title=title,
        kernel=checked(by_position(kernel), computes, title, operands),
        inplace_kernel=inplace_kernel and checked(inplace_kernel, computes, title, operands, shapes=False),
        params=params,
        positional=code.co_argcount,
        defaults=defaults,
        optional=frozenset(index[p] for p, value in defaults.items() if value is None),
        public=public,
        tensor_positions=positions,
        one_tensor=positions == (0,) and 0 not in listed,
        only_tensors=frozenset(index[params[i]] for i in positions if params[i] not in (numbers or ()))
        if refusing
        else frozenset(),
        lists=listed,
        index_lists=frozenset(index[n] for n in index_lists),
        empty_list=empty_list,
        wraps=wraps,
        out=out,
        checks_overlap=checks_overlap,
        outputs=outputs,
        nondifferentiable=nondifferentiable,
        reshapes=reshapes,
        rebases_integers=rebases_integers,
        number_form=number_form,
        recorded_in_place=recorded_in_place,
        leak=leak,
        refuses=refuses,
        below=below,
        special_when_unwrapped=bool(leak or refuses or below),
        node_name=node or "".join(part.capitalize() for part in name.split("_")) + "Backward0",
        formulas=tuple(formulas),
        differentiable=tuple(i for i, _, _ in formulas),
        saved_inputs=tuple(saved_inputs),
        saved_shapes=tuple(saved_shapes),
        saved_strides=tuple(saved_strides),
        saves_result="result" in uses,
        saved_results=tuple(saved_results),
        omitted=tuple(
            tuple([defaults[p] for p in params[n:]]) if all(p in defaults for p in params[n:]) else None
            for n in range(len(params) + 1)
        ),
    )
    if not views:
        DESCRIBED.append(made)
        if dtypes.bfloat16.in_use:
            widen(made)
    return made


def said(facts: Mapping[str, object]) -> dict[str, Any]:
    """Keyword arguments that aren't options of `describe` are the op's gradients."""
    options = describe.__kwdefaults__ or {}
    gradients = {fact: value for fact, value in facts.items() if fact not in options}
    return {"derivatives": gradients, **{fact: value for fact, value in facts.items() if fact in options}}


#: Every op that computes, those too that have no name of their own.
DESCRIBED: list[Op] = []


def _widen_all() -> None:
    for op in DESCRIBED:
        widen(op)


dtypes.WHEN_LATE_TYPES.append(_widen_all)
