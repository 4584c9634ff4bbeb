"""`torch._custom_op.impl`: custom ops as PyTorch had them before `torch.library.custom_op`, and keeps them still.

An op is declared by a schema or by annotations, and gets its kernels and its gradient one by one. Source of the
behaviour and of the words: torch/_custom_op/impl.py and torch/_custom_op/autograd.py of 2.13. Tensors without memory
aren't there, so that what is registered for them never runs.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn

from ..core.thread_state import AUTOGRAD, BACKEND
from . import Library
from .custom_op_gradients import gradient_kernel, without_gradient
from .custom_ops import AUTOGRAD_ALIAS, COMPOSITE, REGISTRY, OpOverload, entry
from .operator_schema import REQUIRED, Schema
from .schema_inference import infer_schema, written_names
from .schema_parsing import parse

__all__ = ["CustomOp", "custom_op", "get_op", "infer_schema"]

SUPPORTED_DEVICE_TYPE_TO_KEY = {"cpu": "CPU", "cuda": "CUDA"}
RESERVED_NS = {"prim", "prims", "aten", "at", "torch", "pytorch"}

#: The ops of this interface by qualified name. They live until they are destroyed.
global_registry: dict[str, CustomOp] = {}


class Registered(NamedTuple):
    """A function that was registered for an op, and where."""

    func: Callable[..., Any]
    location: str


class CustomOp:
    """An op of this interface; `custom_op` makes them. Calling it goes through the dispatcher."""

    def __init__(
        self,
        lib: Any,
        cpp_ns: Any,
        schema: Any,
        operator_name: Any,
        ophandle: Any,
        *,
        _private_access: bool = False,
    ) -> None:
        warnings.warn(
            "torch._custom_op is deprecated and will be removed in PyTorch 2.6, please use the equivalent "
            "torch.library API instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        if not _private_access:
            raise RuntimeError(
                "The CustomOp constructor is private and we do not guarantee BC for it. Please use custom_op(...) to "
                "create a CustomOp object"
            )
        self._lib: Library | None = lib
        self._cpp_ns: str = cpp_ns
        self._schema: Schema = schema
        self._opname: str = operator_name
        self._ophandle: OpOverload = ophandle
        self._qualname = f"{cpp_ns}::{operator_name}"
        self._impls: dict[str, Registered] = {}
        self._output_differentiability: list[bool] | None = None
        self._has_autograd_kernel = False
        global_registry[self._qualname] = self

    def __repr__(self) -> str:
        return f'<CustomOp(op="{self._qualname}")>'

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._ophandle(*args, **kwargs)

    def _destroy(self) -> None:
        """Take the op back."""
        if self._lib is not None:
            self._lib._destroy()
        self._lib = None
        del global_registry[self._qualname]

    def _has_impl(self, kind: str) -> bool:
        return kind in self._impls

    def _get_impl(self, kind: str) -> Registered:
        return self._impls[kind]

    def _register_impl(self, kind: str, func: Callable[..., Any]) -> None:
        if kind in self._impls:
            raise RuntimeError(
                f"Attempting to register a {kind} impl for operator {self._qualname} that already has a {kind} impl "
                f"registered from Python at {self._impls[kind].location}. This is not supported."
            )
        self._impls[kind] = Registered(func, _caller())

    # -- kernels

    def impl(self, device_types: str | Iterable[str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorate the kernel for one type of device, or for several."""
        types = [device_types] if isinstance(device_types, str) else list(device_types)
        for kind in types:
            if kind not in SUPPORTED_DEVICE_TYPE_TO_KEY:
                raise ValueError(
                    f"CustomOp.impl(device_types=[{kind}, ...]): we only support device_type in "
                    f"{SUPPORTED_DEVICE_TYPE_TO_KEY.keys()}."
                )

        def register(func: Callable[..., Any]) -> Callable[..., Any]:
            for kind in dict.fromkeys(types):
                key = SUPPORTED_DEVICE_TYPE_TO_KEY[kind]
                if kind not in self._impls and self._has_kernel_of(key):
                    raise RuntimeError(
                        f"impl(..., device_types={kind}): the operator {self._qualname} already has an implementation "
                        "for this device type via a pre-existing torch.library or TORCH_LIBRARY registration."
                    )
                self._register_impl(kind, func)
                self._library().impl(self._opname, func, key)
            return func

        return register

    def _library(self) -> Library:
        assert self._lib is not None
        return self._lib

    def _has_kernel_of(self, key: str) -> bool:
        """Whether a kernel serves a device: its own, or one that stands for all of them."""
        op = self._ophandle
        own = op._kernel(BACKEND) is not None if key == "CPU" else key in op.elsewhere or "for all" in op.elsewhere
        return own or bool(op.kernels.get(COMPOSITE))

    # -- gradients

    def impl_save_for_backward(self) -> Callable[[Callable[..., Any]], None]:
        """Decorate the function of (inputs, output) that says what to save for backward."""
        return self._gradient_part("save_for_backward")

    def impl_backward(self, output_differentiability: list[bool] | None = None) -> Callable[[Callable[..., Any]], None]:
        """Decorate the function of (ctx, saved, *grads) that gives the gradients of the inputs by their names.

        `output_differentiability` says of each output whether it has a gradient.
        """
        given = output_differentiability
        if given is not None and not (
            isinstance(given, list)
            and all(isinstance(flag, bool) for flag in given)
            and len(given) == len(self._schema.returns)
        ):
            raise RuntimeError(
                "impl_backward(output_differentiability): expected output_differentiability to be a list of bools with "
                f"length equal to the number of outputs of this CustomOp got: {given}"
            )
        return self._gradient_part("backward", given)

    def _gradient_part(
        self, kind: str, differentiability: list[bool] | None = None
    ) -> Callable[[Callable[..., Any]], None]:
        def register(func: Callable[..., Any]) -> None:
            self._check_can_have_gradient()
            self._check_has_no_other_gradient()
            self._add_autograd_kernel()
            self._register_impl(kind, func)
            if kind == "backward":
                self._output_differentiability = differentiability
            if {"save_for_backward", "backward"} <= set(self._impls):
                self._impls["autograd"] = Registered(gradient_kernel(self), "")

        return register

    def _add_autograd_kernel(self) -> None:
        if not self._has_autograd_kernel:
            self._has_autograd_kernel = True
            self._library().impl(self._opname, self._run_autograd, "Autograd")

    def _run_autograd(self, *args: Any, **kwargs: Any) -> Any:
        if "autograd" in self._impls:
            return self._impls["autograd"].func(*args, **kwargs)
        for found, missing in (("backward", "save_for_backward"), ("save_for_backward", "backward")):
            if found in self._impls:
                raise RuntimeError(
                    f"We found a '{found}' registration for {self} at {self._impls[found].location} but were unable to "
                    f"find a '{missing}' registration. To use the CustomOp API to register a backward formula, please "
                    "provide us both a backward function and a 'save for backward' function via `impl_backward` and "
                    "`impl_save_for_backward` respectively."
                )
        return without_gradient(self._ophandle, args, kwargs)

    def _check_can_have_gradient(self) -> None:
        if written_names(self._schema.arguments):
            self._no_gradient_for("non-functional operator")
        if not self._schema.returns:
            self._no_gradient_for("operator with no returns")
        if any(_is_alias(kind.text) for kind, _ in self._schema.returns):
            self._no_gradient_for("operator that returns views")
        allowed = ["int", "SymInt", "bool", "float", "Tensor", "List[Tensor]"]
        for kind, _ in self._schema.returns:
            if kind.text not in (*allowed[:-1], "Tensor[]"):
                self._no_gradient_for(f"operator with return not in {allowed} (got {kind})")

    def _no_gradient_for(self, what: str) -> NoReturn:
        schema = str(replace(self._schema, namespace="")).removeprefix("::")
        raise RuntimeError(
            f"Cannot use torch._custom_ops APIs to register backward formula for {what}. Got operator {self._qualname} "
            f"with schema: {schema}"
        )

    def _check_has_no_other_gradient(self) -> None:
        if self._has_autograd_kernel:
            return
        op = self._ophandle
        if op.kernels.get(COMPOSITE):
            raise RuntimeError(
                f"impl_backward/impl_save_for_backward: the operator {self._qualname} already has an implementation "
                "for this device type via a pre-existing registration to DispatchKey::CompositeImplicitAutograd."
                "CompositeImplicitAutograd operators do not need an autograd formula; instead, the operator will "
                "decompose into its constituents and those can have autograd formulas defined on them."
            )
        there = {"Autograd": op.kernels.get(AUTOGRAD_ALIAS), "AutogradCPU": op.kernels.get(AUTOGRAD)}
        for key in ("Autograd", "AutogradCPU", "AutogradCUDA"):
            if there.get(key) or key in op.elsewhere:
                raise RuntimeError(
                    f"impl_backward/impl_save_for_backward: the operator {self._qualname} already has an Autograd "
                    f"kernel registered to DispatchKey::{key} vi a pre-existing torch.library or TORCH_LIBRARY "
                    "registration. Please either remove those registrations or don't use the torch._custom_ops APIs"
                )

    def _report_missing(self, key: str) -> NoReturn:
        """Raise what is said of a call that no kernel is there for."""
        if key == "Undefined":
            raise NotImplementedError(
                f"{self}: There were no Tensor inputs to this operator (e.g. you passed an empty list of Tensors). If "
                "your operator is a factory function (that is, it takes no Tensors and constructs a new one), then "
                "please use CustomOp.impl_factory to register an implementation for it"
            )
        device = key.lower()
        raise NotImplementedError(
            f"{self}: when running with device='{device}' tensors: there is no {device} impl registered for this "
            f"CustomOp. Please register one via CustomOp.impl(device_type='{device}')"
        )


def _is_alias(text: str) -> bool:
    return text.startswith("Tensor(")


def is_functional_schema(schema: Schema | str) -> bool:
    """Whether an op of this schema writes to no input, returns no view of one, and returns something."""
    parsed = parse(schema) if isinstance(schema, str) else schema
    returns = [kind.text for kind, _ in parsed.returns]
    return bool(returns) and not written_names(parsed.arguments) and not any(map(_is_alias, returns))


def _caller() -> str:
    """file:line of the code outside the shim that is running."""
    frame: Any = sys._getframe(1)
    inside = __name__.partition(".library")[0]
    while frame.f_globals.get("__name__", "").startswith(inside) and frame.f_back is not None:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


# -- making and finding them


def parse_qualname(qualname: str) -> tuple[str, str]:
    """Namespace and name; ValueError without a namespace, or with an overload."""
    namespace, separator, name = qualname.partition("::")
    if not separator:
        raise ValueError(
            f"Expected there to be a namespace in {qualname}, i.e. The operator name should look something like ns::foo"
        )
    if "." in name:
        raise ValueError(
            "The torch.custom_ops APIs do not handle overloads, i.e. operator names with '.' in them. Please name your "
            f"operator something like ns::foo. Got: {qualname}"
        )
    return namespace, name


def validate_namespace(ns: str) -> None:
    """ValueError for a namespace with dots, or one that is PyTorch's own."""
    if "." in ns:
        raise ValueError(f'custom_op(..., ns="{ns}"): expected ns to not contain any . (and be a valid variable name)')
    if ns in RESERVED_NS:
        raise ValueError(f"custom_op(..., ns='{ns}'): '{ns}' is a reserved namespace, please choose something else. ")


def check_named(func: Any, qualname: str) -> None:
    """ValueError unless `func` is a function that is called as the op."""
    if not inspect.isfunction(func):
        raise ValueError(f"custom_op(...)(func): Expected `func` to be a Python function, got: {type(func)}")
    name = parse_qualname(qualname)[1]
    if func.__name__ != name:
        raise ValueError(
            f"custom_op(qualname='{qualname}', ...)(func): expected `func` to have name '{name}' but got "
            f"'{func.__name__}'. Please either change the name of `func` or the qualname that is passed to `custom_op`"
        )


def define_op(qualname: str, schema: str) -> CustomOp:
    """Declare an op by a schema without its name.

    AssertionError if it can't be parsed, ValueError if it isn't that of a functional op.
    """
    namespace, name = qualname.split("::")
    text = f"{name}{schema}"
    try:
        parsed = parse(text)
    except RuntimeError:
        raise AssertionError(f"Invalid function schema: {text}") from None
    if not is_functional_schema(parsed):
        raise ValueError(
            "custom_op only supports functional operators (ops that do not mutate any inputs, do not return views of "
            f"the inputs, and has at least one return). Got the following non-functional schema: {text}"
        )
    if any(argument.name == "self" for argument in parsed.arguments):
        raise ValueError(f"custom_op does not support arguments named 'self'. Please rename your argument. Got: {text}")
    library = Library(namespace, "FRAGMENT")
    library.define(text)
    return _made(library, namespace, entry(namespace, name))


def _made(library: Library, namespace: str, op: OpOverload) -> CustomOp:
    assert op._schema is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return CustomOp(library, namespace, op._schema, op._opname, op, _private_access=True)


def declare(qualname: str, schema: str) -> CustomOp:
    """Declare an op that has no gradient until one is registered."""
    made = define_op(qualname, schema)
    made._add_autograd_kernel()
    made._ophandle.report_missing = made._report_missing
    return made


def custom_op(qualname: str, manual_schema: str | None = None) -> Callable[[Callable[..., Any]], CustomOp]:
    """Decorate a function that names the op and, by its annotations or by `manual_schema`, says its schema."""

    def define(func: Callable[..., Any]) -> CustomOp:
        namespace, _ = parse_qualname(qualname)
        validate_namespace(namespace)
        check_named(func, qualname)
        schema = infer_schema(func, mutates_args=()) if manual_schema is None else manual_schema
        if manual_schema is not None:
            _check_signature(func, parse(func.__name__ + manual_schema))
        made = declare(qualname, schema)
        made.__name__ = func.__name__  # type: ignore[attr-defined]
        made.__module__, made.__doc__ = func.__module__, func.__doc__
        return made

    return define


def _check_signature(func: Callable[..., Any], schema: Schema) -> None:
    """ValueError unless the parameters of `func`, which have no annotations, are those of the schema."""
    signature = inspect.signature(func)
    parameters = list(signature.parameters.values())
    where = "custom_op(..., manual_schema)(func)"
    if any(p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters):
        raise ValueError(
            f"{where}: positional-only args, varargs, and kwargs are not supported. Please rewrite `func` to not have "
            f"them. Got `func` with signature: {signature}"
        )
    annotations = [p.annotation for p in parameters] + [signature.return_annotation]
    if any(annotation is not inspect.Parameter.empty for annotation in annotations):
        raise ValueError(
            f"{where}: When passing in a manual schema, we expect `func` to have no type annotations to avoid "
            f"ambiguity. Got `func` with signature: {signature}"
        )
    shown = str(replace(schema, namespace="")).removeprefix("::")
    for keyword_only in (False, True):
        mine = [p for p in parameters if (p.kind == p.KEYWORD_ONLY) is keyword_only]
        theirs = [a for a in schema.arguments if a.keyword_only is keyword_only]
        if [p.name for p in mine] != [a.name for a in theirs]:
            raise ValueError(
                f"{where}: When passing in a manual schema, we expect `func`'s signature to match `manual_schema` "
                f"(aside from type annotations). func's signature: {signature}, manual_schema: {shown}"
            )
        if any(p.default is not p.empty for p in mine) or any(a.default is not REQUIRED for a in theirs):
            raise ValueError(
                f"{where}: neither func nor manual_schema should have default arguments. Got func's signature: "
                f"{signature}, manual_schema: {shown}"
            )


def get_op(qualname: str) -> OpOverload:
    """The op `namespace::name` itself. ValueError if there is none."""
    namespace, name = parse_qualname(qualname)
    found = REGISTRY.get(namespace, {}).get(name)
    if found is None or found._schema is None:
        raise ValueError(
            f"Could not find the operator {qualname}. Please make sure you have already registered the operator and "
            "(if registered from C++) loaded it via torch.ops.load_library."
        )
    return found


def find_custom_op(qualname: str, also_check_torch_library: bool = False) -> CustomOp:
    """The op of this interface that has this name, made of an op of torch.library if need be.

    RuntimeError or ValueError if there is none.
    """
    if qualname in global_registry:
        return global_registry[qualname]
    if not also_check_torch_library:
        raise RuntimeError(f'Could not find custom op "{qualname}". Did you register it via the torch._custom_ops API?')
    op = get_op(qualname)
    return _made(Library(op.namespace, "FRAGMENT"), op.namespace, op)


#: `torch._custom_op`, a package with this module in it.
_custom_op = SimpleNamespace(impl=sys.modules[__name__], __name__="torch._custom_op", __path__=[])
