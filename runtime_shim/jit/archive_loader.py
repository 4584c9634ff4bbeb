"""From a file to a module: the order in which an archive is read, checked and put together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..core.late_modules import late_module
from ..core.pickle_machine import Builder
from ..core.resource_budget import Account, LimitReached, brief, pay, paying_into, weight
from .archive_writer import Runtime
from .archived_tensors import TensorReader
from .calls.call_costs import LARGEST
from .calls.call_table import OpTable
from .script_compiler import compile_function
from .script_module import ArchiveModule, make_instance
from .script_source import CompilationUnit, ParsedFunction, parse_file
from .script_values import ArchiveError, ScriptObject
from .torchscript_archive import Archive, ArchiveLimits, ArchiveSource, open_archive, unpickle
from .type_annotations import Mismatch, Type, convert, has_type

FORMATS = range(3, 11)
"""File formats that are read. PyTorch writes the lowest in which every op of the model has its present
meaning (`caffe2/serialize/versions.h`): 3 for most models, 4 to 10 for a few ops."""


def load(
    f: ArchiveSource,
    map_location: object = None,
    _extra_files: dict[str, Any] | None = None,
    *,
    backend: Any = None,
    limits: ArchiveLimits | None = None,
) -> ArchiveModule:
    """Loads a TorchScript archive as `torch.jit.save` of PyTorch 2.13 writes it, without PyTorch.

    `f` is a path or a binary file object. `map_location` may be "cpu", for archives saved on another device.
    `_extra_files` is a dict whose keys name extra files; their contents are put in. `backend` is the module whose ops
    run the code (default: the shim); `limits` bounds what the archive may ask for.

    Parameters and buffers are made by the backend's ops, so guards in force here apply to them: loaded in inference
    mode they are inference tensors.

    Raises ArchiveError when the file is not such an archive, is damaged, asks for more than `limits`, or
    unconditionally calls an op that cannot be run; nothing of it has run then. OSError when a path cannot be opened.
    """
    if map_location is not None and str(map_location) not in ("cpu", "cpu:0"):
        raise ValueError(f"map_location={map_location!r}: only 'cpu' is supported")
    if backend is None:
        backend = late_module()
    with open_archive(f, limits or ArchiveLimits()) as archive:
        try:
            with paying_into(Account(archive.limits.of_a_load(archive.length))):
                return _Loader(archive, backend, None if map_location is None else "cpu").load(_extra_files)
        except ArchiveError as error:
            if error.archive is None:
                error.archive = archive.name
            raise
        except (LimitReached, MemoryError) as error:
            raise ArchiveError(str(error) or "asks for more memory than there is", archive=archive.name) from error


_TREE = 100
"""Bytes of the syntax tree and of the closures made of it, for each byte of source code."""
_MOST_WAYS = 100_000


@contextmanager
def placed(record: str, line: int | None = None) -> Iterator[None]:
    """Limits that are reached meanwhile are reached there."""
    try:
        yield
    except LimitReached as error:
        raise ArchiveError(str(error), record=record, line=line) from error


class _Loader:
    def __init__(self, archive: Archive, backend: Any, map_location: str | None) -> None:
        self._archive = archive
        self._backend = backend
        self._map_location = map_location
        self._unit = CompilationUnit()
        self._runtime = Runtime(backend, self._unit, archive.name, archive.limits, archive.length)
        self._unit.runtime = self._runtime
        self._table = OpTable(backend, getattr(backend, "__name__", "the backend"))
        self._without_state: dict[int, ScriptObject] = {}
        self._modules: dict[str, ScriptObject] = {}

    def load(self, extra_files: dict[str, Any] | None) -> ArchiveModule:
        self._table.file_format = self._runtime.file_format = self._checked_format()
        self._byte_order = self._read_byte_order()
        for record in self._archive.names():
            if record.startswith("code/") and record.endswith(".py"):
                data = self._archive.read(record)
                with placed(record):
                    pay(1, _TREE * len(data))
                parse_file(self._unit, record, data)
                self._runtime.code[record] = data
        constants = self._unpickle("constants")
        if not isinstance(constants, tuple):
            raise ArchiveError("is not a tuple", record="constants.pkl")
        self._runtime.constants = constants
        for function in self._unit.all_functions():
            with placed(function.record, function.node.lineno):
                compile_function(function, self._unit, self._table, constants, self._runtime.world)
            function.runtime = self._runtime
        module = self._unpickle("data")
        if not isinstance(module, ArchiveModule):
            raise ArchiveError(f"holds a {type(module).__name__}, not a module", record="data.pkl")
        for instance in self._without_state.values():
            name = instance.script_class.qualified_name
            raise ArchiveError(f"has an object of {name} without its state", record="data.pkl")
        self._check_tree(module)
        self._check_ops()
        for name in extra_files or {}:
            if extra_files is not None and f"extra/{name}" in self._archive:
                extra_files[name] = self._archive.read(f"extra/{name}")
        return module

    def _checked_format(self) -> int:
        archive = self._archive
        missing = [record for record in ("data.pkl", "constants.pkl") if record not in archive]
        if missing:
            reason = f"is not a TorchScript archive: it has no {missing[0]}"
            if "data.pkl" in archive:
                reason += "; it looks like a file of torch.save, which guardfix.runtime_shim.load reads"
            elif "model.json" in archive:
                reason += "; it is of PyTorch before 1.1: load and save it with a newer one"
            elif "archive_format" in archive:
                reason += "; it is of torch.export, not of torch.jit.save"
            raise ArchiveError(reason)
        record = next((name for name in (".data/version", "version") if name in archive), None)
        if record is None:
            raise ArchiveError("has no version record")
        text = archive.read(record)[:20].strip()
        if not text.isdigit() or int(text) not in FORMATS:
            raise ArchiveError(
                f"has file format {text!r}; {FORMATS[0]} to {FORMATS[-1]} are read: load and save it with PyTorch 2.13",
                record=record,
            )
        return int(text)

    def _read_byte_order(self) -> str:
        if "byteorder" not in self._archive:
            return "little"
        text = self._archive.read("byteorder")[:20]
        if text not in (b"little", b"big"):
            raise ArchiveError(f"is {text!r}, neither little nor big", record="byteorder")
        return text.decode()

    def _unpickle(self, name: str) -> object:
        reader = TensorReader(self._archive, name, self._backend, self._byte_order, self._map_location)
        record = f"{name}.pkl"
        return unpickle(self._archive.read(record), record, self._builders(reader), reader.storage, self)

    def _builders(self, reader: TensorReader) -> dict[str, Builder]:
        return {
            "torch._utils _rebuild_tensor_v2": reader.rebuild,
            "collections OrderedDict": dict,
            "torch device": self._device,
            "builtins complex": _complex,
            "torch.jit._pickle restore_type_tag": _restore_type_tag,
            **{f"torch.jit._pickle build_{kind}list": _build_list for kind in ("int", "double", "bool", "tensor")},
        }

    def _device(self, name: object, index: object = None) -> object:
        if name != "cpu" and self._map_location is None:
            raise ArchiveError(f"a device {brief(name)}; pass map_location='cpu' to load it here")
        return self._table.arguments.device("cpu")

    # Instances for the pickle.

    def new(self, name: str) -> ScriptObject:
        declared = self._unit.classes.get(name)
        if declared is None or declared.kind not in ("Module", "Class"):
            raise ArchiveError(f"an object of class {name}, which code/ does not declare")
        instance = make_instance(declared)
        self._without_state[id(instance)] = instance
        return instance

    def enumerator(self, name: str, value: object) -> object:
        declared = self._unit.classes.get(name)
        for member in declared.members.values() if declared else ():
            if type(member.value) is type(value) and member.value == value:
                return member
        raise ArchiveError(f"{name} has no member with value {brief(value)}")

    def build(self, instance: object, state: object) -> None:
        if not isinstance(instance, ScriptObject):
            raise ArchiveError(f"state for a {type(instance).__name__}")
        if self._without_state.pop(id(instance), None) is None:
            raise ArchiveError(f"state twice for an object of {instance.script_class.qualified_name}")
        restore = instance.script_class.methods.get("__setstate__")
        if restore is not None:
            self._set_state(restore, instance, state)
        elif isinstance(state, dict):
            instance.slots.update(state)
        else:
            raise ArchiveError(f"{instance.script_class.qualified_name} has a state that is not a dict")
        self._check_slots(instance)

    def _set_state(self, restore: ParsedFunction, instance: ScriptObject, state: object) -> None:
        for owner in (restore, *self._reached(restore)):
            for lacking in owner.lacking:
                if not lacking.conditional:
                    raise lacking.error()
        try:
            self._runtime.run_outermost(restore, [instance, state])
        except ArchiveError:
            raise
        except Exception as error:
            raise ArchiveError(
                f"__setstate__ of {instance.script_class.qualified_name} failed: {error}",
                record=restore.record,
            ) from error

    def _check_slots(self, instance: ScriptObject) -> None:
        declared = instance.script_class
        for name, type_ in declared.attributes.items():
            if name not in instance.slots:
                if type_.name in ("NoneType", "Optional"):
                    instance.slots[name] = None
                    continue
                raise ArchiveError(f"{declared.qualified_name} has no value for {name}")
            value = instance.slots[name]
            if value is None and name in declared.parameters + declared.buffers:
                continue
            if not self._fits(value, type_):
                raise ArchiveError(f"{declared.qualified_name}.{name} is a {type(value).__name__}, declared as {type_}")
        surplus = instance.slots.keys() - declared.attributes.keys()
        if surplus:
            raise ArchiveError(f"{declared.qualified_name} has a value for {min(surplus)!r}, which is not declared")

    def _fits(self, value: object, type_: Type) -> bool:
        pay(weight(value, LARGEST))
        try:
            if has_type(value, type_, self._runtime.world):
                return True
            # A named tuple is pickled as a plain one.
            convert(value, type_, self._runtime.world)
            return any(name in str(type_) for name in self._unit.named_tuples)
        except (Mismatch, RecursionError):
            return False

    # The whole.

    def _check_tree(self, root: ArchiveModule) -> None:
        """No module contains itself or is reached on too many ways; remembers which classes have instances."""
        finished: set[int] = set()
        ways: dict[int, int] = {}
        path: list[tuple[ArchiveModule, Iterator[ArchiveModule]]] = [(root, root.children())]
        open_ids = {id(root)}
        while path:
            module, children = path[-1]
            self._modules[module.script_class.qualified_name] = module
            child = next(children, None)
            if child is None:
                path.pop()
                open_ids.discard(id(module))
                finished.add(id(module))
                ways[id(module)] = 1 + sum(ways[id(inner)] for inner in module.children())
                if ways[id(module)] > _MOST_WAYS:
                    raise ArchiveError(f"modules share others so often that more than {_MOST_WAYS} names lead to them")
            elif id(child) in open_ids:
                raise ArchiveError(
                    f"a module of {child.script_class.qualified_name} contains itself", record="data.pkl"
                )
            elif id(child) not in finished:
                if len(path) > 200:
                    raise ArchiveError("modules nest more than 200 deep", record="data.pkl")
                open_ids.add(id(child))
                path.append((child, child.children()))

    def _check_ops(self) -> None:
        """Every op that a call of some method must reach can be run. What is in a branch is left to its call."""
        for name in self._modules:
            pay()
            for method in self._unit.classes[name].methods.values():
                for function in (method, *self._reached(method)):
                    for lacking in function.lacking:
                        if not lacking.conditional:
                            raise lacking.error()

    def _reached(self, start: ParsedFunction) -> Iterator[ParsedFunction]:
        """The functions that every call of `start` calls."""
        by_name = self._unit.functions_by_name
        seen: set[str] = set()
        pending = [start]
        while pending:
            for called, conditional in pending.pop().calls:
                pay()
                if not conditional and called not in seen and called in by_name:
                    seen.add(called)
                    pending.append(by_name[called])
                    yield by_name[called]


def _complex(real: object, imaginary: object) -> complex:
    if not (isinstance(real, (int, float)) and isinstance(imaginary, (int, float))):
        raise ArchiveError("a complex number that is not made of two numbers")
    return complex(real, imaginary)


def _build_list(values: object) -> list[object]:
    if not isinstance(values, list):
        raise ArchiveError("a typed list that is not a list")
    return values


def _restore_type_tag(value: object, type_: object) -> object:
    """A container with its type, which the declaration of the attribute repeats."""
    if not isinstance(type_, str):
        raise ArchiveError("a type tag that is not a string")
    return value
