"""The texts of errors that the shim shares with PyTorch, errors about arguments, and warnings given once.

Source: torch/csrc/utils/python_arg_parser.cpp. For a function with one signature, the error says what is wrong
with an argument; one with several is shown what it got. Positions count from 1, of a method without `self`.
"""

from __future__ import annotations

import sys
import warnings
from functools import cache, partial, wraps
from types import CodeType, FrameType
from typing import Any

from guardfix.pytorch_messages.message_table import wording
from guardfix.torch_ops.op_lookup import writes_out
from guardfix.torch_ops.op_table import Op, ops

INPLACE_ON_INFERENCE = wording("inference-tensor-written")
SAVED_INFERENCE = wording("inference-tensor-saved")
NO_VERSION = wording("inference-tensor-version")
REQUIRES_GRAD_ON_INFERENCE = wording("inference-tensor-requires-grad")
NOT_RECORDED = wording("nothing-recorded")
INPUT_NOT_RECORDED = wording("input-requires-no-grad")
NOT_IN_GRAPH = wording("not-used-in-graph")
LEAF_INPLACE = wording("leaf-written")
LEAF_VIEW_INPLACE = wording("leaf-written", 1)
LEAF_DIRTY = wording("leaf-written", 2)
_AMBIGUOUS = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
    "moving "
    "both the view and the inplace either both inside the {block} block (if you don't want the inplace to be "
    "tracked) or both outside (if you want the inplace to be tracked)."
)
TAIL_NO_GRAD = _AMBIGUOUS.format(block="no_grad")
TAIL_INFERENCE = _AMBIGUOUS.format(block="inference_mode")
TAIL_MULTI_OUTPUT = (
    "This view is the output of a function that returns multiple views. Such functions do not allow the output views "
    "to be modified inplace. You should replace the inplace operation by an out-of-place one."
)
TAIL_CUSTOM = (
    "This view was created inside a custom Function (or because an input was returned as-is) and the autograd logic "
    "to handle view+inplace would override the custom backward associated with the custom Function, leading to "
    "incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom Function."
)
HINT_ANOMALY_OFF = (
    "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
HINT_ANOMALY_ON = (
    "Hint: the backtrace further above shows the operation that failed to compute its gradient. The variable in "
    "question was changed in there or anywhere later. Good luck!"
)
SAVED_HOOKS_TWICE = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is "
    "allowed at a time."
)
SAVED_HOOKS_FREED = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are "
    "freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through "
    "the graph a second time or if you need to access saved variables after calling backward."
)
BACKWARD_TWICE = wording("graph-freed")
DETACH_VIEW = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, "
    "and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be "
    "called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
    "torch/optim/optimizer.py as the solution."
)
SAVED_DETACHED = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
    "This is not supported, please use out-of-place `.detach()` instead"
)
WRITE_OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please "
    "clone() the tensor before performing the operation."
)
PARTIAL_OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation."
)
PACK_HOOK_WRITES = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
    "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need "
    "to perform in-place operations on the input to a pack hook."
)
NON_LEAF_FLAG = wording("flag-of-computed-tensor")
DEEPCOPY_NON_LEAF = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you "
    "were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
    "https://github.com/pytorch/pytorch/pull/103001"
)


class UnsupportedError(NotImplementedError, AttributeError):
    """A name that PyTorch has and the shim has not.

    Also an AttributeError, so that `hasattr` and the copy, pickle and numpy protocols can probe for it.
    """


def out_requires_grad(name: str) -> RuntimeError:
    return RuntimeError(
        f"{name}(): functions with out=... arguments don't support automatic differentiation, "
        "but one of the arguments requires grad."
    )


DEEPCOPY_SUBCLASS = (
    "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass types that "
    "implement new_empty() and for which that function returns another instance of the same subclass. You should "
    "either properly implement new_empty() for your subclass or override __deepcopy__() if it is intended behavior for "
    "new_empty() to return an instance of a different type."
)


#: With one signature and another that is deprecated and not shown.
_HIDDEN = {
    "add": "Tensor other, *, Number alpha = 1",
    "sub": "Tensor other, *, Number alpha = 1",
    "addcmul": "Tensor tensor1, Tensor tensor2, *, Number value = 1",
    "addcdiv": "Tensor tensor1, Tensor tensor2, *, Number value = 1",
    "addmm": "Tensor mat1, Tensor mat2, *, Number beta = 1, Number alpha = 1",
    "baddbmm": "Tensor batch1, Tensor batch2, *, Number beta = 1, Number alpha = 1",
}


@cache
def is_one_of_many(name: str, method: bool, given: int) -> bool:
    """Whether PyTorch can't tell which of several signatures a call with so many arguments means.

    It can if one alone takes so many. What one signature has and a shorter one has not must be given, though it may be
    None (but for `all` and `any`).
    """
    found = ops(name, "m" if method else "f")
    with_out = {_taken(op) for op in found if writes_out(op)}
    plain = {_taken(op, keywords=True): op for op in found if not writes_out(op)}
    if name.rstrip("_") in ("add", "sub", "mul", "div"):  # one signature takes numbers and tensors
        plain = {taken: op for taken, op in plain.items() if ("other", "number") not in taken}
    fits = 0
    for taken, op in plain.items():
        needed = {argument[:2] for argument in op.arguments if not argument.optional}
        more = name not in ("all", "any") and any({*other} < {*taken} and needed <= {*other} for other in plain)
        fewest = len(needed) + more
        fits += fewest <= given <= len(taken) + (_taken(op) in with_out)
    return len(plain) > 1 and fits != 1


def _taken(op: Op, keywords: bool = False) -> tuple[tuple[str, str], ...]:
    return tuple((argument.name, argument.kind) for argument in op.arguments if keywords or not argument.keyword_only)


#: The code of each public function and method, by its id: the code itself (so that it lives as long as its id is
#: here), "torch" or "Tensor", the name, and the defaults of the last positional parameters, after how many without.
#: Code objects that differ in nothing but their place compare equal.
PUBLIC_CODE: dict[int, tuple[CodeType, str, str, int, tuple[Any, ...]]] = {}


class Missing:
    """Default of a parameter that has none, so that leaving it out reaches the shim's own error."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = Missing()


def public_call() -> tuple[str, bool, tuple[Any, ...]] | None:
    """(name, whether as a method, positional arguments) of the op that the program called, if any."""
    frame: FrameType | None = sys._getframe(1)
    found: FrameType | None = None
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if not module.startswith("guardfix.runtime_shim.") or module.startswith("guardfix.runtime_shim.nn"):
            break
        if id(frame.f_code) in PUBLIC_CODE:
            found = frame
        frame = frame.f_back
    if found is None:
        return None
    code = found.f_code
    _, owner, name, required, defaults = PUBLIC_CODE[id(code)]
    values = [found.f_locals[p] for p in code.co_varnames[: code.co_argcount] if p in found.f_locals]
    if code.co_flags & 4:
        values += found.f_locals[code.co_varnames[code.co_argcount + code.co_kwonlyargcount]]
    while values and values[-1] is MISSING:
        values.pop()
    while required < len(values) <= required + len(defaults) and values[-1] is defaults[len(values) - required - 1]:
        values.pop()  # not given, as far as one can tell
    method = owner == "Tensor"
    return name, method, tuple(values[1:] if method else values)


def require_tensors(op_name: str, **arguments: object) -> None:
    """TypeError unless all arguments, which are given in their order from the first on, are tensors."""
    for i, (param, value) in enumerate(arguments.items(), 1):
        if not hasattr(value, "_array"):
            raise wrong_type(op_name, param, i, value)


def type_names(values: tuple[Any, ...]) -> str:
    return ", ".join(type_name(v) for v in values)


def type_name(value: object) -> str:
    """The type of an argument as PyTorch prints it: `list of [int, Tensor]`."""
    if type(value) is tuple:
        inner = ", ".join(type(v).__name__ for v in value)
        return f"tuple of ({inner}{',' if len(value) == 1 else ''})"
    if type(value) is list:
        return f"list of [{', '.join(type(v).__name__ for v in value)}]"
    return _plain_name(value)


def _plain_name(value: object) -> str:
    kind = type(value)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def invalid_combination(name: str, values: tuple[Any, ...], expected: str | None = None) -> TypeError:
    tail = "expected one of:" if expected is None else f"expected ({expected})"
    return TypeError(f"{name}() received an invalid combination of arguments - got ({type_names(values)}), but {tail}")


def wrong_type(op_name: str, param: str, position: int, value: object, wanted: str = "Tensor") -> TypeError:
    """The error for an argument that should be a tensor. `position` counts from 1, with self."""
    kind = type(value)
    if hasattr(kind, "__torch_function__") and not hasattr(kind, "_array"):  # is no tensor
        raise UnsupportedError(
            f"the shim didn't see that {kind.__name__} has a __torch_function__; supported: subclasses of Tensor, and "
            "classes that are made after torch.overrides was imported"
        )
    called = public_call()
    name, method, given = called or (op_name, False, ())
    count = len(given) + method if called else position
    if wanted == "Tensor" and is_one_of_many(name, method, count):
        return invalid_combination(name, given)
    if value is MISSING:
        return missing_argument(name, param, method, given)
    if param == "self":
        param = "input"
    return TypeError(
        f"{name}(): argument '{param}' (position {position - method}) must be {wanted}, not {_plain_name(value)}"
    )


def missing_argument(name: str, param: str, method: bool, given: tuple[Any, ...]) -> TypeError:
    if name in _HIDDEN or name.rstrip("_") in _HIDDEN:
        expected = _HIDDEN[name.rstrip("_")]
        if not method:
            expected = f"Tensor input, {expected}, Tensor out = None"
        return invalid_combination(name, given, expected)
    if param == "self":
        param = "input"
    return TypeError(f'{name}() missing 1 required positional arguments: "{param}"')


def not_an_int(value: object, param: str = "dim") -> TypeError:
    """The error for an argument that should be an integer; its place is looked up in the call."""
    name, method, given = public_call() or ("op", False, (value,))
    if is_one_of_many(name, method, len(given) + method):
        return invalid_combination(name, given)
    position = next((i for i, v in enumerate(given, 1) if v is value), 1)
    return TypeError(f"{name}(): argument '{param}' (position {position}) must be int, not {type(value).__name__}")


CREATE_GRAPH = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
    "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
    "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break the "
    "cycle and avoid the leak."
)
TO_NUMBER = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)

_given: set[str] = set()
_always = False


def set_warn_always(b: bool) -> None:
    """Whether such warnings are given each time."""
    global _always
    _always = b


def is_warn_always_enabled() -> bool:
    return _always


def warn_once(text: str, stacklevel: int = 3) -> None:
    """A UserWarning with that text, unless there was one. `stacklevel` counts from here, as that of `warn` does."""
    if _always or text not in _given:
        _given.add(text)
        warnings.warn(text, UserWarning, stacklevel=stacklevel)


def silence_arithmetic() -> None:
    """Silence numpy's warnings of overflow, division by zero and the like in the shim's modules: PyTorch has none.

    A program, or pytest, that changes the filters doesn't bring them back.
    """
    silence = partial(warnings.filterwarnings, "ignore", category=RuntimeWarning, module=r"guardfix\.runtime_shim")

    def then_silent(change: Any) -> Any:
        @wraps(change)
        def changed(*args: Any, **kwargs: Any) -> None:
            change(*args, **kwargs)
            silence()

        return changed

    for name in ("filterwarnings", "simplefilter", "resetwarnings"):
        setattr(warnings, name, then_silent(getattr(warnings, name)))
    silence()
