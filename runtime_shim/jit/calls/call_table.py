"""The ops that code in an archive may use, over one backend."""

from __future__ import annotations

import difflib
import sys
from functools import cached_property
from typing import Any

from ...core.resource_budget import LimitReached, account_in_force
from . import network_calls, value_calls  # noqa: F401 - they register ops
from .call_costs import cost_of
from .call_registry import (
    LISTS,
    MAKES,
    RENAMED,
    VALUE_OPS,
    Arguments,
    CallFunction,
    plain_names,
    takes_the_same,
    value_kind,
)
from .tensor_calls import ADAPTERS, BackendLacks, backend_function
from .value_costs import pay_for

_MEANING_SINCE = {"div": 4, "div_": 4, "full": 5, "linspace": 8, "logspace": 9, "gelu": 10}
"""The file format since which an op of tensors has its present meaning (`torch/csrc/jit/operator_upgraders`).
An archive of an older format has the op with its old meaning, which is not kept here."""


_ITEM = 8
"""Bytes of an element, as estimates have them."""
_SECONDS = 1e-9
"""For one multiplication."""
_PARTS = 64
"""Tensors in a result that are looked at one by one."""


class UnknownOp(Exception):
    """No such op, or the backend cannot run it; `OpTable.alternatives` says what there is instead."""


class OpTable:
    """Finds the function of an op by its name in serialized code: `torch.add`, `ops.prim.min`.

    The table is closed: a name that is not in it is never looked up in the backend.
    """

    def __init__(self, backend: Any, backend_name: str) -> None:
        self.backend = backend
        self.arguments = Arguments(backend)
        self._backend_name = backend_name
        self.file_format = max(_MEANING_SINCE.values())
        self._found: dict[str, CallFunction] = {}

    def find(self, spelled: str) -> CallFunction:
        """Raises UnknownOp."""
        function = self._found.get(spelled)
        if function is None:
            function = self._found[spelled] = _paid(spelled, self._make(spelled), self.backend.Tensor)
        return function

    @cached_property
    def names(self) -> list[str]:
        """All names of the table as code spells them."""
        names = {*plain_names(), *LISTS, *RENAMED, *ADAPTERS, *VALUE_OPS}
        return sorted(_spelling(name) for name in names)

    def _make(self, spelled: str) -> CallFunction:
        name = _table_name(spelled)
        values = VALUE_OPS.get(name, {})
        if not (values or name in ADAPTERS or _is_plain(name)):
            raise UnknownOp(f"unknown op `{spelled}`")
        if _MEANING_SINCE.get(name, 0) > self.file_format:
            reason = f"`{spelled}` of tensors has another meaning in file format {self.file_format}, "
            reason += "which is not kept here (load and save the archive with PyTorch 2.13)"
            if not values:
                raise UnknownOp(reason)
            return _by_kind(spelled, values, _raise(reason), self.backend.Tensor)
        try:
            tensor = self._tensor_function(name)
        except BackendLacks as error:
            if not values:
                needs = f"op `{spelled}` needs {error}, which {self._backend_name} has not"
                raise UnknownOp(needs) from error
            tensor = None
        return _by_kind(spelled, values, tensor, self.backend.Tensor) if values else tensor or _refuse(spelled)

    def _tensor_function(self, name: str) -> CallFunction | None:
        if name in ADAPTERS:
            return ADAPTERS[name](self.arguments)
        if not _is_plain(name):
            return None
        python = RENAMED.get(name, name)
        places = [python, f"Tensor.{python}", f"nn.functional.{python}"]
        if name.endswith("_"):
            places = places[1:] + places[:1]
        function = backend_function(self.backend, *places)
        made = list if name in LISTS else None
        converted = self.arguments.keywords

        def call(*values: Any, **given: Any) -> Any:
            found = function(*values, **converted(given)) if given else function(*values)
            return found if made is None else made(found)

        return call

    def alternatives(self, spelled: str) -> str:
        """The supported ops whose names are nearest, in words."""
        usable = [name for name in difflib.get_close_matches(spelled, self.names, 8, 0.6) if name != spelled]
        usable = [name for name in usable if self._usable(name)][:4]
        if not usable:
            return f"{len(self.names)} ops are known, none with a name like it"
        return f"supported ops with a name like it: {', '.join(usable)}"

    def _usable(self, spelled: str) -> bool:
        name = _table_name(spelled)
        if name in VALUE_OPS:
            return True
        try:
            return self._tensor_function(name) is not None
        except BackendLacks:
            return False


def _is_plain(name: str) -> bool:
    """Whether an op is the Python function of its name, or of the one that it has there."""
    return takes_the_same(name) or name in LISTS or name in RENAMED or name in MAKES


def _table_name(spelled: str) -> str:
    """`torch.add` is "add", `ops.prim.min` is "prim.min", `ops.aten.add` is "add", others keep their namespace."""
    for prefix in ("torch.", "ops.aten."):
        if spelled.startswith(prefix):
            return spelled.removeprefix(prefix)
    return spelled.removeprefix("ops.") if spelled.startswith("ops.prim.") else spelled


def _spelling(name: str) -> str:
    if name.startswith("prim."):
        return f"ops.{name}"
    return name if name.startswith("ops.") else f"torch.{name}"


def _refuse(spelled: str) -> CallFunction:
    def refuse(*values: object, **given: object) -> object:
        kinds = ", ".join(type(value).__name__ for value in values)
        raise NotImplementedError(f"`{spelled}` of ({kinds}) is not supported here")

    return refuse


def _raise(reason: str) -> CallFunction:
    def refuse(*values: object, **given: object) -> object:
        raise NotImplementedError(reason)

    return refuse


def _paid(spelled: str, function: CallFunction, tensor_class: type) -> CallFunction:
    """The function, paid for by the account that is in force before it runs."""
    name = _table_name(spelled)
    makes_tensors = name in ADAPTERS or _is_plain(name)

    def call(*values: Any, **given: Any) -> Any:
        account = account_in_force()
        if account is None:
            return function(*values, **given)
        account.pay()
        if makes_tensors:
            cost = cost_of(name, (*values, *given.values()))
            try:
                account.afford(cost.elements * _ITEM, cost.work * _SECONDS)
            except LimitReached as error:
                raise LimitReached(f"`{spelled}` {error}") from None
        result = function(*values, **given)
        if isinstance(result, tensor_class):
            account.hold(getattr(result, "_array", None))
        elif isinstance(result, (list, tuple)):
            account.pay(len(result), 8 * len(result))
            for part in result[:_PARTS]:
                if isinstance(part, tensor_class):
                    account.hold(getattr(part, "_array", None))
        elif isinstance(result, str):
            account.pay(len(result) // 1000, sys.getsizeof(result))
        return result

    return call


def _by_kind(
    spelled: str, values: dict[str, CallFunction], tensor: CallFunction | None, tensor_class: type
) -> CallFunction:
    """One function that looks at its arguments, since the serialized code does not name the overload."""
    name = _table_name(spelled)
    of_tensor = values.get("tensor") or tensor or _refuse(spelled)
    of_any = values.get("any") or of_tensor

    def call(*arguments: Any, **given: Any) -> Any:
        first = arguments[0] if arguments else None
        if isinstance(first, tensor_class):
            return of_tensor(*arguments, **given)
        kind = value_kind(first)
        pay_for(name, kind, arguments)
        if kind == "number" and len(arguments) > 1 and isinstance(arguments[1], tensor_class):
            return of_tensor(*arguments, **given)
        return values.get(kind, of_any)(*arguments, **given)

    return call
