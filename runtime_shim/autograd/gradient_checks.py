"""`torch.autograd.gradcheck` and `gradgradcheck`: gradients against finite differences.

Source of the behaviour: torch/autograd/gradcheck.py, its slow mode. Batched gradients are computed one by one, so to
check them as well says nothing more.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..core.dtypes import BY_CHAR, Array, Size
from ..core.function_table import AnyFunction
from ..core.tensor import Tensor, requires_grad
from ..core.thread_state import tls
from . import _as_tuple, grad

_GRADIENT = "f", "c", "V"
"""Kinds of dtypes that have gradients."""


class GradcheckError(RuntimeError):
    """A gradient is not what finite differences give."""


def gradcheck(
    func: Callable[..., object],
    inputs: object,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare backward of `func(*inputs)` with central differences, for each input that requires grad.

    Inputs should be of double precision. GradcheckError if a gradient is off by more than `atol + rtol * |value|`, or
    if two runs of backward differ by more than `nondet_tol`; with `raise_exception=False`, False instead.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    given = _as_tuple(inputs)
    try:
        checked = _inputs_to_check(given)
        if check_backward_ad:
            _check(func, given, checked, eps, atol, rtol, nondet_tol, check_grad_dtypes)
            if check_undefined_grad:
                _check_undefined_gradients(func, given)
        if check_forward_ad:
            _check_forward(func, given, checked, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: AnyFunction,
    inputs: object,
    grad_outputs: object = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare the gradients of gradients with central differences. `grad_outputs` are drawn when not given."""
    if check_fwd_over_rev:
        raise NotImplementedError(
            "the shim has no forward mode over backward; gradgradcheck without check_fwd_over_rev"
        )
    given = _as_tuple(inputs)
    outputs = _differentiable(func(*given))
    if grad_outputs is None:
        generator = np.random.default_rng(0)
        grads = [_drawn(output, generator) for output in outputs]
    else:
        grads = list(_as_tuple(grad_outputs))

    def gradients(*values: object) -> tuple[object, ...]:
        arguments, weights = values[: len(given)], values[len(given) :]
        targets = [t for t in arguments if isinstance(t, Tensor) and requires_grad(t)]
        found = grad(_differentiable(func(*arguments)), targets, weights, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None and requires_grad(g))

    return gradcheck(
        gradients,
        (*given, *grads),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
    )


def _drawn(output: Tensor, generator: np.random.Generator) -> Tensor:
    from ..core.function_table import FUNCTIONS

    drawn = FUNCTIONS["zeros_like"](output).detach()
    values = np.asarray(generator.standard_normal(output._array.shape))
    for index in np.ndindex(output._array.shape):
        drawn._array[index] = values[index]
    return drawn.requires_grad_()


def _differentiable(outputs: object) -> tuple[Tensor, ...]:
    return tuple(
        o for o in _as_tuple(outputs) if isinstance(o, Tensor) and o._array.dtype.kind in _GRADIENT and requires_grad(o)
    )


def _inputs_to_check(inputs: Sequence[object]) -> list[Tensor]:
    found = [t for t in inputs if isinstance(t, Tensor) and requires_grad(t)]
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have "
            "requires_grad=True."
        )
    for i, t in enumerate(inputs):
        if not isinstance(t, Tensor) or not requires_grad(t):
            continue
        if t._array.dtype.char not in "dD":
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=4,
            )
        if any(stride == 0 and n > 1 for stride, n in zip(t.stride(), t._array.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
        t.retain_grad()
    return found


def _check(
    func: AnyFunction,
    inputs: Sequence[Any],
    checked: list[Tensor],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
    dtypes: bool,
) -> None:
    outputs = _differentiable(func(*inputs))
    if not outputs:
        _check_constant(func, inputs, checked, eps)
        return
    if not any(o.is_complex() for o in outputs):
        _check_real_outputs(func, inputs, checked, outputs, eps, atol, rtol, nondet_tol, dtypes, "")
        return
    of_complex = [o.is_complex() for o in outputs]
    for part, name in (("imaginary", "imag"), ("real", "real")):

        def one_part(*values: object, name: str = name) -> tuple[object, ...]:
            return tuple(getattr(o, name) if o.is_complex() else o for o in _differentiable(func(*values)))

        prefix = f"While considering the {part} part of complex outputs only, "
        prefixes = [prefix if is_complex else "" for is_complex in of_complex]
        _check_real_outputs(
            one_part,
            inputs,
            checked,
            _differentiable(one_part(*inputs)),
            eps,
            atol,
            rtol,
            nondet_tol,
            dtypes,
            *prefixes,
        )


def _check_real_outputs(
    func: Callable[..., object],
    inputs: Sequence[object],
    checked: list[Tensor],
    outputs: tuple[Tensor, ...],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
    dtypes: bool,
    *prefixes: str,
) -> None:
    """Check a function whose outputs are real; `prefixes` say what of the outputs they are, one for each or for all."""
    analytical = [_analytical(output, checked, dtypes) for output in outputs]
    again = [_analytical(output, checked, dtypes) for output in outputs]
    for first, second in zip(analytical, again, strict=True):
        for one, two in zip(first, second, strict=True):
            if one.size and float(np.max(np.abs(one - two))) > nondet_tol:
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
                    "gives different values, although analytical gradient matches numerical gradient."
                    f"The tolerance for nondeterminism was {nondet_tol}."
                )
    for j, t in enumerate(checked):
        numerical = _numerical(func, inputs, t, outputs, eps)
        for i, (found, expected) in enumerate(zip(analytical, numerical, strict=True)):
            if not np.allclose(found[j], expected, rtol, atol):
                raise GradcheckError(
                    f"{prefixes[i if len(prefixes) > 1 else 0]}Jacobian mismatch for output {i} with respect to input "
                    f"{j},\nnumerical:{_shown(expected)}\nanalytical:{_shown(found[j])}\n"
                )


def _check_forward(
    func: AnyFunction, inputs: Sequence[Any], checked: list[Tensor], eps: float, atol: float, rtol: float
) -> None:
    """Compare the tangents of the outputs with central differences, along each element of each input."""
    plain = [t.detach() if isinstance(t, Tensor) else t for t in inputs]
    places = [n for n, t in enumerate(inputs) if any(t is one for one in checked)]
    for j, place in enumerate(places):
        elements = plain[place]._array
        for part, step in (("imaginary", 1j), ("real", 1)) if elements.dtype.kind == "c" else (("", 1),):
            tangents, differences = [], []
            for index in np.ndindex(elements.shape):
                tangents.append(_tangents(func, plain, places, place, index, step))
                differences.append(_differences(func, plain, elements, index, eps * step))
            for i, rows in enumerate(zip(zip(*tangents, strict=True), zip(*differences, strict=True), strict=True)):
                found, expected = np.array(rows[0]), np.array(rows[1]) / (2 * eps)
                if not np.allclose(found, expected, rtol, atol):
                    prefix = f"While considering the {part} part of complex inputs only, " if part else ""
                    raise GradcheckError(
                        f"{prefix}Jacobian computed with forward mode mismatch for output {i} with respect to input "
                        f"{j},\nnumerical:{_shown(expected)}\nanalytical:{_shown(found)}\n"
                    )


def _tangents(
    func: AnyFunction, inputs: list[Any], places: list[int], place: int, index: tuple[int, ...], step: complex
) -> list[Array]:
    """The tangents of the outputs, where one element of an input has a tangent and the others' are zero."""
    from .forward_ad import dual_level, make_dual, unpack_dual

    with dual_level():
        given = list(inputs)
        for n in places:
            direction = inputs[n].new_zeros(inputs[n].shape)
            if n == place:
                direction._array[index] = step
            given[n] = make_dual(inputs[n], direction)
        outputs = _as_tuple(func(*given))
        pairs = [unpack_dual(o) for o in outputs if isinstance(o, Tensor) and o._array.dtype.kind in _GRADIENT]
        return [np.zeros(o._array.size) if t is None else t._array.reshape(-1) for o, t in pairs]


def _differences(
    func: AnyFunction, inputs: list[Any], elements: Array, index: tuple[int, ...], step: complex
) -> list[Array]:
    found = []
    before = elements[index].copy()
    for value in (before + step, before - step):
        elements[index] = value
        outputs = [o for o in _as_tuple(func(*inputs)) if isinstance(o, Tensor) and o._array.dtype.kind in _GRADIENT]
        found.append([np.array(o._array).reshape(-1) for o in outputs])
    elements[index] = before
    return [above - below for above, below in zip(*found, strict=True)]


def _check_undefined_gradients(func: Callable[..., object], inputs: Sequence[object]) -> None:
    """GradcheckError unless backward copes with gradients that aren't there: all of them, and each alone."""
    from .python_nodes import UndefinedGrad

    targets = [t for t in inputs if isinstance(t, Tensor) and requires_grad(t)]
    count = len(_differentiable(func(*inputs)))
    without: list[Sequence[int]] = [range(count)] if count else []
    if count > 1:
        without += [(i,) for i in range(count)]
    for missing in without:
        outputs = [UndefinedGrad()(o) if i in missing else o for i, o in enumerate(_differentiable(func(*inputs)))]
        weights = [o.detach().new_zeros(o.shape) for o in outputs]
        try:
            found = grad(outputs, targets, weights, allow_unused=True)
        except RuntimeError as error:
            _warn_of_new_check()
            raise GradcheckError(
                "Expected backward function to handle undefined output grads. Please look at "
                '"Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
            ) from error
        if any(g is not None and np.any(g._array != 0) for g in found):
            _warn_of_new_check()
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are undefined or zero. Please "
                'look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
            )


def _warn_of_new_check() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
        "break existing callers of this function. If this is true for you, you can call this function with "
        '"check_undefined_grad=False" to disable the feature',
        stacklevel=2,
    )


def _check_constant(func: Callable[..., object], inputs: Sequence[object], checked: list[Tensor], eps: float) -> None:
    outputs = tuple(o for o in _as_tuple(func(*inputs)) if isinstance(o, Tensor) and o._array.dtype.kind in _GRADIENT)
    for t in checked:
        if any(np.any(numerical != 0) for numerical in _numerical(func, inputs, t, outputs, eps)):
            raise GradcheckError("Numerical gradient for function expected to be zero")


def _analytical(output: Tensor, inputs: list[Tensor], dtypes: bool) -> list[Array]:
    """For each input the Jacobian, a row for each of its elements and a column for each of the output's."""
    from ..core.function_table import FUNCTIONS

    size = output._array.size
    found = [np.zeros((t._array.size, size), dtype=np.promote_types(t._array.dtype, np.float64)) for t in inputs]
    for column in range(size):
        weights = FUNCTIONS["zeros_like"](output).detach()
        weights._array[np.unravel_index(column, output._array.shape)] = 1
        for jacobian, t, gradient in zip(
            found, inputs, grad(output, inputs, weights, retain_graph=True, allow_unused=True), strict=True
        ):
            if gradient is None:
                continue
            if gradient._array.shape != t._array.shape:
                raise GradcheckError("Analytical gradient has incorrect size")
            if dtypes and gradient._array.dtype != t._array.dtype:
                raise GradcheckError("Analytical gradient has dtype mismatch")
            jacobian[:, column] = gradient._array.reshape(-1)
    return found


def _numerical(
    func: AnyFunction, inputs: Sequence[Any], t: Tensor, outputs: Sequence[Tensor], eps: float
) -> list[Array]:
    """The same by central differences. The elements of `t` are changed and put back, and no version counts it."""
    wanted = [i for i, o in enumerate(_as_tuple(func(*inputs))) if _is_among(o, outputs)]
    kinds = np.promote_types(t._array.dtype, np.float64)
    found = [np.zeros((t._array.size, o._array.size), dtype=kinds) for o in outputs]

    def results() -> list[Array]:
        given = _as_tuple(func(*inputs))  # with a history: it may be of gradients
        return [np.array(given[i]._array) for i in wanted]

    elements = t._array
    steps = [(eps, 1)] if elements.dtype.kind != "c" else [(eps, 1), (eps * 1j, 1j)]
    tracer = tls.state.tracer
    with nullcontext() if tracer is None else tracer.repeating():
        for row, index in enumerate(np.ndindex(elements.shape)):
            before = elements[index].copy()
            for step, direction in steps:
                t._array[index] = before - step
                low = results()
                t._array[index] = before + step
                high = results()
                t._array[index] = before
                for jacobian, above, below in zip(found, high, low, strict=True):
                    _check_alike(below, above, index, step)
                    jacobian[row] += (above - below).reshape(-1) / (2 * eps) * direction
    return found


def _check_alike(below: Array, above: Array, index: tuple[int, ...], step: complex) -> None:
    """AssertionError if an output depends on the input's values in its shape or dtype."""
    dtypes: tuple[object, object] = BY_CHAR[below.dtype.char], BY_CHAR[above.dtype.char]
    for what, one, two in (("shape", Size(below.shape), Size(above.shape)), ("dtype", *dtypes)):
        if one != two:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {what} when inputs are perturbed on index {index} by "
                f"{step}, but got: {what}s {one} and {two}."
            )


def _is_among(output: object, outputs: Sequence[Tensor]) -> bool:
    """Whether an output is of the kind that is checked."""
    if not isinstance(output, Tensor) or output._array.dtype.kind not in _GRADIENT:
        return False
    return requires_grad(output) or not any(map(requires_grad, outputs))


def _shown(jacobian: Array) -> str:
    from ..core.tensor import new_tensor

    return str(new_tensor(jacobian))
