"""`torch.jit.save`: a loaded module as an archive again, with the values that it has by now.

The code is written as it was read; tensors, lists and dicts as TorchScript's pickler lays them out
(`torch/csrc/jit/serialization/pickler.cpp`), with their types, so that PyTorch loads them as well.
"""

from __future__ import annotations

import copy
import io
import os
import struct
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from ..core.resource_budget import Account, LimitReached, account_in_force, brief, pay, paying_into, weight
from .archived_tensors import STORAGES
from .calls.call_costs import LARGEST
from .script_running import ACTIVATION, LINE, Activation, ScriptFailure, ScriptFrame
from .script_source import NO_DEFAULT, CompilationUnit, ParsedFunction
from .script_values import ArchiveError, Enumerator, ScriptObject
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

    def invoke(
        self, function: ParsedFunction, instance: object, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Any:
        """One call from Python: arguments are matched with the schema and converted, errors are PyTorch's."""
        arguments = self._bind(function, [instance, *args], kwargs)
        account = account_in_force() or Account(self.limits.of_a_run(self.size + sum(map(_bytes_of, arguments))))
        with paying_into(account):
            return self._outside(self.run_outermost(function, arguments))

    def run_outermost(self, function: ParsedFunction, arguments: Sequence[object]) -> Any:
        """A call that no code of the archive makes, paid by the account that is in force."""
        try:
            return self._run_checked(function, arguments)
        except ScriptFailure as failure:
            error = failure.translated()
            if isinstance(error, ArchiveError) and error.archive is None:
                error.archive = self.archive
            raise error from failure.cause

    def _run_checked(self, function: ParsedFunction, arguments: Sequence[object]) -> Any:
        result = self.run(function, arguments, Activation())
        try:
            pay(weight(result, LARGEST))
        except LimitReached as error:
            raise ScriptFailure(error, [ScriptFrame(function, function.node.lineno)]) from error
        return result

    def _bind(self, function: ParsedFunction, given: list[object], kwargs: Mapping[str, object]) -> list[object]:
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

    def _converted(self, function: ParsedFunction, name: str, type_: Type, value: object, position: int) -> Any:
        try:
            return convert(value, type_, self.world)
        except Mismatch as error:
            raise RuntimeError(
                f"{function.name}() Expected a value of type '{type_}' for argument '{name}' but instead found type "
                f"'{type(value).__name__}'.\nPosition: {position}\nValue: {brief(value)}\nDeclaration: "
                f"{function.schema}"
            ) from error

    def _outside(self, value: object) -> Any:
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


def _bytes_of(value: object) -> int:
    """How much of memory an argument has: that of tensors, in containers too."""
    if isinstance(value, (list, tuple)):
        return sum(map(_bytes_of, value))
    if isinstance(value, dict):
        return sum(map(_bytes_of, value.values()))
    return int(getattr(value, "nbytes", 0) or 0)


_ANY = Type("Any")
_TYPED_LISTS = {"int": "intlist", "float": "doublelist", "bool": "boollist", "Tensor": "tensorlist"}
_STORAGE_OF = {dtype: kind for kind, (dtype, _) in STORAGES.items()}


def save(m: ScriptObject, f: str | os.PathLike[str] | IO[bytes], _extra_files: Mapping[str, Any] | None = None) -> None:
    """Write a module that `load` gave, to a path or a binary file object.

    `_extra_files` are further files to put in, texts or bytes by their names. Raises TypeError for anything else than
    such a module, RuntimeError when it holds what TorchScript doesn't save, OSError when the path can't be written.
    """
    if hasattr(m, "_archive") or type(m).__name__ == "RecursiveScriptModule":  # of torch.jit.trace or torch.jit.script
        m.save(f, _extra_files)
        return
    if not (isinstance(m, ScriptObject) and m.script_class.kind == "Module"):
        raise TypeError(f"jit.save of the shim takes a module of jit.load, not a {type(m).__name__}")
    if not isinstance(f, (str, os.PathLike)):
        f.write(_archive(m, "archive", _extra_files or {}))
        return
    data = _archive(m, Path(f).stem or "archive", _extra_files or {})
    Path(f).write_bytes(data)


def _archive(module: ScriptObject, folder: str, extra_files: Mapping[str, Any]) -> bytes:
    runtime = runtime_of(module)
    model, constants = _Pickled(runtime), _Pickled(runtime)
    records = {"data.pkl": model.bytes_of(module, _ANY), **dict(model.records("data")), **runtime.code}
    for name, text in extra_files.items():
        records[f"extra/{name}"] = text.encode() if isinstance(text, str) else bytes(text)
    records["constants.pkl"] = constants.bytes_of(runtime.constants, _ANY)
    records.update(constants.records("constants"))
    records.update({"version": f"{runtime.file_format}\n".encode(), "byteorder": b"little"})
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, data in records.items():
            archive.writestr(zipfile.ZipInfo(f"{folder}/{name}"), data)
    return out.getvalue()


class _Pickled:
    """One pickle and the storages that it refers to."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._out = bytearray(b"\x80\x02")
        self._written: dict[int, tuple[int, Any]] = {}
        """By identity: the number in the pickle's memo, and the value, which must not be freed meanwhile."""
        self._storages: dict[tuple[int, str], tuple[str, Any]] = {}
        """By address and dtype: the key of the record, and a flat tensor of all elements."""

    def bytes_of(self, value: object, declared: Type) -> bytes:
        """The whole pickle."""
        self._value(value, declared)
        return bytes(self._out + b".")

    def records(self, folder: str) -> Iterable[tuple[str, bytes]]:
        """The storages, by the names of their records."""
        for key, flat in self._storages.values():
            yield f"{folder}/{key}", flat.view(self._runtime.backend.uint8).numpy().tobytes() if len(flat) else b""

    def _value(self, value: Any, declared: Type) -> None:
        while declared.name in ("Optional", "Final"):
            declared = declared.args[0]
        known = self._written.get(id(value))
        if known is not None:
            self._out += b"j" + struct.pack("<I", known[0])
        elif isinstance(value, (ScriptObject, list, dict)) or self._is_tensor(value):
            self._shared(value, declared)
            self._written[id(value)] = len(self._written), value
            self._out += b"r" + struct.pack("<I", self._written[id(value)][0])
        elif isinstance(value, tuple):
            types = declared.args if len(declared.args) == len(value) else (_ANY,) * len(value)
            self._tuple(value, types)
        elif isinstance(value, complex):
            self._call("builtins", "complex", (value.real, value.imag))
        elif isinstance(value, Enumerator):
            self._name(*value.type.rsplit(".", 1))
            self._value(value.value, _ANY)
            self._out += b"R"
        elif isinstance(value, self._runtime.backend.device):
            self._call("torch", "device", (str(value),))
        elif opcode := _plain(value):
            self._out += opcode
        else:
            raise RuntimeError(f"a {type(value).__name__} can't be saved in a TorchScript archive")

    def _shared(self, value: object, declared: Type) -> None:
        """What may be referred to twice."""
        if isinstance(value, ScriptObject):
            self._object(value)
        elif isinstance(value, list):
            self._list(value, _argument(declared, "List", 0, value))
        elif isinstance(value, dict):
            types = _argument(declared, "Dict", 0, value), _argument(declared, "Dict", 1, value.values())
            self._name("torch.jit._pickle", "restore_type_tag")
            self._out += b"("
            self._dict(value, types)
            self._out += _plain(str(Type("Dict", types))) + b"tR"
        else:
            self._tensor(value)

    def _object(self, instance: ScriptObject) -> None:
        declared = instance.script_class
        self._name(*declared.qualified_name.rsplit(".", 1))
        self._out += b")\x81"
        state = declared.methods.get("__getstate__")
        if state is not None:
            self._value(self._runtime.run_outermost(state, [instance]), state.returns)
        else:
            self._out += b"}("
            for name, type_ in declared.attributes.items():
                self._out += _plain(name)
                self._value(instance.slots[name], type_)
            self._out += b"u"
        self._out += b"b"

    def _list(self, values: list[object], element: Type) -> None:
        kind = _TYPED_LISTS.get(element.name)
        self._name("torch.jit._pickle", f"build_{kind}" if kind else "restore_type_tag")
        self._out += b"(]("
        for value in values:
            self._value(value, element)
        self._out += b"e"
        if not kind:
            self._out += _plain(str(Type("List", (element,))))
        self._out += b"tR"

    def _dict(self, values: Mapping[object, object], types: tuple[Type, Type]) -> None:
        self._out += b"}("
        for key, value in values.items():
            self._value(key, types[0])
            self._value(value, types[1])
        self._out += b"u"

    def _tensor(self, tensor: Any) -> None:
        dtype = str(tensor.dtype).removeprefix("torch.")
        kind = _STORAGE_OF.get(dtype)
        if kind is None:
            raise RuntimeError(f"a tensor of {tensor.dtype} can't be saved in a TorchScript archive")
        storage = tensor.untyped_storage()
        count = storage.nbytes() // tensor.element_size()
        # An empty storage has no address that would distinguish it from another.
        address = storage.data_ptr() if count else -1 - len(self._storages)
        if (address, dtype) not in self._storages:
            flat = tensor.detach().as_strided([count], [1], 0)
            self._storages[address, dtype] = str(len(self._storages)), flat
        key = self._storages[address, dtype][0]
        self._name("torch._utils", "_rebuild_tensor_v2")
        self._out += b"((" + _plain("storage")
        self._name("torch", kind)
        self._out += _plain(key) + _plain("cpu") + _plain(count) + b"tQ" + _plain(tensor.storage_offset())
        self._tuple(tuple(tensor.size()), (_ANY,) * tensor.dim())
        self._tuple(tuple(tensor.stride()), (_ANY,) * tensor.dim())
        self._out += _plain(tensor.requires_grad)
        self._call("collections", "OrderedDict", ())
        self._out += b"tR"

    def _tuple(self, values: tuple[object, ...], types: tuple[Type, ...]) -> None:
        self._out += b"("
        for value, type_ in zip(values, types, strict=True):
            self._value(value, type_)
        self._out += b"t"

    def _call(self, module: str, name: str, arguments: tuple[object, ...]) -> None:
        self._name(module, name)
        self._tuple(arguments, (_ANY,) * len(arguments))
        self._out += b"R"

    def _name(self, module: str, name: str) -> None:
        self._out += f"c{module}\n{name}\n".encode()

    def _is_tensor(self, value: Any) -> bool:
        return isinstance(value, self._runtime.backend.Tensor)


def _plain(value: object) -> bytes:
    """The opcode of a number, text or None; nothing for other values."""
    match value:
        case None:
            return b"N"
        case bool():
            return b"\x88" if value else b"\x89"
        case int():
            return (
                b"J" + struct.pack("<i", value)
                if -(1 << 31) <= value < 1 << 31
                else b"\x8a\x08" + struct.pack("<q", value)
            )
        case float():
            return b"G" + struct.pack(">d", value)
        case str():
            text = value.encode("utf-8", "surrogatepass")
            return b"X" + struct.pack("<I", len(text)) + text
    return b""


def _argument(declared: Type, container: str, position: int, values: Iterable[object]) -> Type:
    """The type of a container's elements: as declared, or else of the first of them."""
    if declared.name == container:
        return declared.args[position]
    first = next(iter(values), None)
    found = type(first).__name__
    return Type(found) if found in ("int", "float", "bool", "str", "complex", "Tensor") else _ANY
