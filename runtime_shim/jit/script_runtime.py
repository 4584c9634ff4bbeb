"""Runs the functions of an archive: calls from code to code, and calls from Python with their checks."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.account import Account, LimitReached, account_in_force, brief, pay, paying_into, weight
from .calls.call_costs import LARGEST
from .script_errors import ArchiveError
from .script_running import ACTIVATION, LINE, Activation, ScriptFailure, ScriptFrame
from .script_source import NO_DEFAULT, CompilationUnit, ParsedFunction
from .script_values import ScriptObject
from .torchscript_archive import ArchiveLimits
from .type_annotations import Mismatch, Type, World, convert


class Runtime:
    """Runs the functions of one archive on one backend."""

    def __init__(self, backend: Any, unit: CompilationUnit, archive: str, limits: ArchiveLimits, size: int) -> None:
        self.archive = archive
        self.limits = limits
        self.size = size
        """Bytes of the archive."""
        self.code: dict[str, bytes] = {}
        """The records of the archive's code."""
        self.constants: tuple[Any, ...] = ()
        self.file_format = 3
        self.backend = backend
        self.unit = unit
        self.world = World(backend.Tensor, unit.named_tuples)

    def run(self, function: ParsedFunction, arguments: Sequence[Any], caller: Activation) -> Any:
        """One call from code to code: positional arguments, no conversion. Raises Failure."""
        parameters = function.parameters
        env: dict[Any, Any] = {LINE: function.node.lineno, ACTIVATION: caller}
        try:
            env[ACTIVATION] = caller.deeper()
            pay(1 + len(function.body))
            for parameter, argument in zip(parameters, arguments, strict=False):
                env[parameter.name] = argument
            for parameter in parameters[len(arguments) :]:
                if parameter.default is NO_DEFAULT:
                    raise RuntimeError(f"{function.name}() is missing value for argument '{parameter.name}'")
                env[parameter.name] = copy.copy(parameter.default)
            for statement in function.body:
                result = statement(env)
                if result is not None:
                    return result[0]
            return None
        except ScriptFailure as failure:
            failure.frames.append(ScriptFrame(function, env[LINE]))
            raise
        except Exception as error:
            raise ScriptFailure(error, [ScriptFrame(function, env[LINE])]) from error

    def invoke(self, function: ParsedFunction, instance: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """One call from Python: arguments are matched with the schema and converted, errors are PyTorch's."""
        arguments = self._bind(function, [instance, *args], kwargs)
        account = account_in_force() or Account(self.limits.of_a_run(self.size + sum(map(_bytes_of, arguments))))
        with paying_into(account):
            return self._outside(self.run_outermost(function, arguments))

    def run_outermost(self, function: ParsedFunction, arguments: Sequence[Any]) -> Any:
        """A call that no code of the archive makes, paid by the account that is in force."""
        try:
            return self._run_checked(function, arguments)
        except ScriptFailure as failure:
            error = failure.translated()
            if isinstance(error, ArchiveError) and error.archive is None:
                error.archive = self.archive
            raise error from failure.cause

    def _run_checked(self, function: ParsedFunction, arguments: Sequence[Any]) -> Any:
        result = self.run(function, arguments, Activation())
        try:
            pay(weight(result, LARGEST))
        except LimitReached as error:
            raise ScriptFailure(error, [ScriptFrame(function, function.node.lineno)]) from error
        return result

    def _bind(self, function: ParsedFunction, given: list[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        parameters = function.parameters
        if len(given) > len(parameters):
            raise RuntimeError(
                f"{function.name}() expected at most {len(parameters)} argument(s) but received {len(given)} "
                f"argument(s). Declaration: {function.schema}"
            )
        bound = []
        left = dict(kwargs)
        for position, parameter in enumerate(parameters):
            if position < len(given):
                value = given[position]
            elif parameter.name in left:
                value = left.pop(parameter.name)
            elif parameter.default is not NO_DEFAULT:
                bound.append(copy.copy(parameter.default))
                continue
            else:
                raise RuntimeError(
                    f"{function.name}() is missing value for argument '{parameter.name}'. "
                    f"Declaration: {function.schema}"
                )
            bound.append(
                value if position == 0 else self._converted(function, parameter.name, parameter.type, value, position)
            )
        if left:
            raise RuntimeError(
                f"Unknown keyword argument '{next(iter(left))}' for operator '{function.name}'. "
                f"Schema: {function.schema}"
            )
        return bound

    def _converted(self, function: ParsedFunction, name: str, type_: Type, value: Any, position: int) -> Any:
        try:
            return convert(value, type_, self.world)
        except Mismatch as error:
            raise RuntimeError(
                f"{function.name}() Expected a value of type '{type_}' for "
                f"argument '{name}' but instead found type '{type(value).__name__}'.\n"
                f"Position: {position}\nValue: {brief(value)}\n"
                f"Declaration: {function.schema}"
            ) from error

    def _outside(self, value: Any) -> Any:
        """A result as Python gets it: containers copied, so that code and caller share none."""
        if isinstance(value, list):
            return [self._outside(item) for item in value]
        if isinstance(value, dict):
            return {key: self._outside(item) for key, item in value.items()}
        if isinstance(value, tuple):
            items = [self._outside(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        return value


def runtime_of(module: ScriptObject) -> Runtime:
    """What runs the code of a module's archive."""
    unit = module.script_class.unit
    runtime = unit.runtime if unit else None
    if runtime is None:
        raise ArchiveError("the archive is not whole")
    return runtime


def _bytes_of(value: Any) -> int:
    """How much of memory an argument has: that of tensors, in containers too."""
    if isinstance(value, (list, tuple)):
        return sum(map(_bytes_of, value))
    if isinstance(value, dict):
        return sum(map(_bytes_of, value.values()))
    return int(getattr(value, "nbytes", 0) or 0)
