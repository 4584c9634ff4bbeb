"""`torch.jit.trace`: a module, or a function, as the TorchScript of what it did with example inputs.

The lines go into an archive that `jit.load` reads: a trace is run, saved and shown as any TorchScript is. The checks
and their words are those of torch/jit/_trace.py of 2.13.
"""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from ..core.error_texts import UnsupportedError
from ..core.function_table import AnyFunction
from ..core.tensor import Tensor
from ..nn.module import Module
from .archive_loader import load
from .archive_writer import _ANY, _Pickled, _plain
from .call_recorder import CallRecorder, TracerWarning, recording_calls
from .script_module import ArchiveModule
from .scripted_modules import RecursiveScriptModule, _copied
from .type_annotations import Type


class TracingCheckError(Exception):
    """A trace differs from one to the next."""

    def __init__(self, graph_diff_error: str | None, tensor_compare_error: str | None, extra_msg: str | None = None):
        self.message = "Tracing failed sanity checks!\n"
        if extra_msg is not None:
            self.message += extra_msg + "\n"
        if graph_diff_error is not None:
            self.message += f"ERROR: Graphs differed across invocations!\n{graph_diff_error}\n"
        if tensor_compare_error is not None:
            self.message += "ERROR: Tensor-valued Constant nodes differed in value across invocations!\n"
            self.message += tensor_compare_error
        super().__init__(self.message)


@dataclass(frozen=True)
class _Traced:
    """One method: its name, its parameters with their types, its lines, result and type, and the constants."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]
    result: str
    returns: str
    constants: tuple[Tensor, ...]

    def code(self, own: str) -> str:
        given = "".join(f",\n    {name}: {kind}" for name, kind in self.parameters)
        body = [*self.lines, f"return {self.result}"]
        return f"  def {self.name}(self: {own}{given}) -> {self.returns}:\n" + "".join(f"    {line}\n" for line in body)


class TracedModule(RecursiveScriptModule):
    """What tracing gives: parameters and buffers of the original, and the TorchScript of the trace.

    The methods are those of the whole: a submodule has its tensors, and no forward of its own.
    """

    def __init__(self, python: Module, archive: ArchiveModule) -> None:
        children = {
            name: None if child is None else TracedModule(child, archive.slots[name])
            for name, child in python._modules.items()
        }
        super().__init__(_copied(python), {})
        self.__dict__["_archive"] = archive
        self._modules.update(children)

    def _with_present_tensors(self) -> ArchiveModule:
        """The module of the archive, with the tensors that this one has by now."""
        archive: ArchiveModule = self.__dict__["_archive"]
        for table in (self._parameters, self._buffers):
            archive.slots.update((name, tensor) for name, tensor in table.items() if name in archive.slots)
        if "training" in archive.slots:
            archive.slots["training"] = self.training
        for child in self._modules.values():
            if isinstance(child, TracedModule):
                child._with_present_tensors()
        return archive

    @property
    def code(self) -> str:
        """The TorchScript of `forward`."""
        archive: ArchiveModule = self.__dict__["_archive"]
        return archive.code

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the trace. RuntimeError if a submodule is called by itself."""
        return self._with_present_tensors().get_method("forward")(*args, **kwargs)

    def save(self, f: Any, _extra_files: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        """Writes the trace with the present values: `torch.jit.save`."""
        self._with_present_tensors().save(f, _extra_files)

    def __getattr__(self, name: str) -> Any:
        archive = self.__dict__.get("_archive")
        if archive is not None and name in archive.script_class.methods:
            return self._with_present_tensors().get_method(name)
        return super().__getattr__(name)


class TracedFunction:
    """What tracing gives for a function."""

    def __init__(self, function: AnyFunction, archive: ArchiveModule) -> None:
        self.__name__ = getattr(function, "__name__", "forward")
        self.__doc__ = function.__doc__
        self._archive = archive

    @property
    def code(self) -> str:
        return self._archive.code

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._archive(*args, **kwargs)

    def save(self, f: Any, _extra_files: Mapping[str, Any] | None = None) -> None:
        """Writes the trace as a module whose `forward` it is."""
        self._archive.save(f, _extra_files)


def traced(
    func: Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_kwarg_inputs: Mapping[str, Any] | None = None,
    _store_inputs: bool = True,
) -> Any:
    """The TorchScript of what `func`, a module or a function, does with the example inputs.

    With `check_trace`, it is traced and run again, with `check_inputs` if there are any: TracingCheckError if it does
    something else then, a TracerWarning if the results differ. UnsupportedError for what the shim can't trace.
    """
    if isinstance(func, RecursiveScriptModule):
        return func
    if example_kwarg_inputs is not None:
        raise UnsupportedError("the shim's torch.jit.trace takes inputs by position; example_kwarg_inputs it doesn't")
    if example_inputs is None:
        raise RuntimeError(
            "example_kwarg_inputs should be a dict" if example_inputs else "example_inputs must be given"
        )
    if isinstance(func, Module):
        return trace_module(
            func, {"forward": example_inputs}, None, check_trace, _checks(check_inputs), check_tolerance, strict
        )
    name = getattr(func, "__name__", "forward")
    owner = getattr(func, "__self__", None)
    if isinstance(owner, Module):
        if name != "forward":
            raise AttributeError(
                "trace doesn't support compiling individual module's functions.\nPlease use trace_module"
            )
        return traced(owner, example_inputs, optimize, check_trace, check_inputs, check_tolerance, strict)
    holder = _FunctionHolder()
    methods = {"forward": _trace(func, _inputs(example_inputs), holder, "forward", strict=strict)}
    found = TracedFunction(func, _archive(holder, methods))
    if check_trace:
        for inputs in check_inputs or [example_inputs]:
            _check(func, found, _inputs(inputs), holder, methods["forward"], check_tolerance)
    return found


def _checks(check_inputs: Any) -> list[dict[str, Any]]:
    return [{"forward": inputs} for inputs in check_inputs or ()]


class _FunctionHolder(Module):
    """The module that a traced function becomes."""


def trace_module(
    mod: Module,
    inputs: Mapping[str, object],
    optimize: object = None,
    check_trace: bool = True,
    check_inputs: Sequence[Mapping[str, object]] | None = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    *_: object,
    **__: object,
) -> TracedModule:
    """As `traced`, of several methods of a module: their names with the inputs of each."""
    if not isinstance(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not isinstance(inputs, Mapping):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    methods = {}
    for name, given in inputs.items():
        function = mod if name == "forward" else getattr(mod, name)
        methods[name] = _trace(function, _inputs(given), mod, name, strict=strict)
    found = TracedModule(mod, _archive(mod, methods))
    if check_trace:
        for checked in check_inputs or [inputs]:
            for name, given in checked.items():
                function = mod if name == "forward" else getattr(mod, name)
                again = found if name == "forward" else getattr(found, name)
                _check(function, again, _inputs(given), mod, methods[name], check_tolerance)
    return found


def _inputs(given: Any) -> tuple[Any, ...]:
    if isinstance(given, (Tensor, dict)):
        return (given,)
    return tuple(given)


# ---- recording


def _trace(function: AnyFunction, inputs: tuple[Any, ...], module: Module, name: str, *, strict: bool) -> _Traced:
    codes: dict[int, str] = {}
    kept: list[Any] = []
    for path, child in module.named_modules():
        prefix = _attribute("self", path)
        for key, tensor in (*child._parameters.items(), *child._buffers.items()):
            if tensor is not None:
                codes.setdefault(id(tensor), _attribute(prefix, key))
    parameters = []
    given = []
    for number, value in enumerate(inputs):
        parameter = f"x{number}" if len(inputs) > 1 else "x"
        value = _apart(value)
        parameters.append((parameter, _type_of(value, "input")))
        _know(value, parameter, codes)
        given.append(value)
    kept.append(given)
    recorder = CallRecorder(codes, kept)
    with recording_calls(recorder):
        result = function(*given)
    code = recorder.code
    if not _tensors(result):
        raise RuntimeError(
            "The traced function didn't return any values! Side-effects are not captured in traces, so it would be a "
            "no-op."
        )
    returns = _type_of(result, "output" if strict else "any output")
    return _Traced(
        name, tuple(parameters), tuple(recorder.lines), _result(result, code), returns, tuple(recorder.constants)
    )


def _attribute(owner: str, path: str) -> str:
    for part in filter(None, path.split(".")):
        owner = f"{owner}.{part}" if part.isidentifier() else f'getattr({owner}, "{part}")'
    return owner


def _apart(value: object) -> Any:
    """An input as another object, for one tensor may be given twice."""
    if isinstance(value, Tensor):
        found = value.detach()
        return found.requires_grad_() if value.requires_grad else found
    if isinstance(value, (list, tuple)):
        return type(value)(map(_apart, value))
    if isinstance(value, dict):
        return {key: _apart(part) for key, part in value.items()}
    return value


def _know(value: object, code: str, codes: dict[int, str]) -> None:
    if isinstance(value, Tensor):
        codes[id(value)] = code
    elif isinstance(value, (list, tuple)):
        for number, part in enumerate(value):
            _know(part, f"{code}[{number}]", codes)
    elif isinstance(value, dict):
        for key, part in value.items():
            _know(part, f'{code}["{key}"]', codes)


def _type_of(value: object, what: str) -> str:
    if isinstance(value, Tensor):
        return "Tensor"
    if isinstance(value, tuple) and value:
        return f"Tuple[{', '.join(_type_of(part, what) for part in value)}]"
    if isinstance(value, list) and value:
        return f"List[{_type_of(value[0], what)}]"
    if isinstance(value, dict) and value and all(isinstance(key, str) for key in value):
        if what == "output":  # PyTorch's words; with strict=False, it asks for "any output"
            raise RuntimeError(
                "Encountering a dict at the output of the tracer might cause the trace to be incorrect, this is only "
                "valid if the container structure does not change based on the module's inputs. Consider using a "
                "constant container instead (e.g. for `list`, use a `tuple` instead. for `dict`, use a `NamedTuple` "
                "instead). If you absolutely need this and know the side effects, pass strict=False to trace() to "
                "allow this behavior."
            )
        return f"Dict[str, {_type_of(next(iter(value.values())), what)}]"
    if what == "input":
        raise RuntimeError(
            f"Type '{type(value).__name__}' cannot be traced. Only Tensors and (possibly nested) Lists, Dicts, and "
            "Tuples of Tensors can be traced"
        )
    raise RuntimeError(
        "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions"
    )


def _tensors(value: object) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [found for part in value for found in _tensors(part)] if isinstance(value, (list, tuple)) else []


def _result(value: object, code: Callable[[object], str]) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(_result(part, code) for part in value)}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(_result(part, code) for part in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{code(key)}: {_result(part, code)}' for key, part in value.items())}}}"
    return code(value)


# ---- checking


def _check(
    function: AnyFunction,
    traced: AnyFunction,
    inputs: tuple[Any, ...],
    module: Module,
    first: _Traced,
    tolerance: float,
) -> None:
    import guardfix.runtime_shim as shim

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracerWarning)
        before = [tensor.clone() for tensor in module.buffers()]
        again = _trace(function, inputs, module, first.name, strict=False)
        _put_back(module, before)
        if (again.lines, again.result) != (first.lines, first.result):
            differing = next(
                (f"- {old}\n+ {new}" for old, new in zip(first.lines, again.lines, strict=False) if old != new),
                f"{len(first.lines)} and {len(again.lines)} lines",
            )
            raise TracingCheckError(differing, None)
        if any(op in line for line in first.lines for op in _RANDOM) or any(
            "dropout" in line and line.endswith("True)") for line in first.lines
        ):
            return  # PyTorch warns of nodes that are not deterministic where results differ
        expected = function(*map(_apart, inputs))
        _put_back(module, before)
        found = traced(*map(_apart, inputs))
        _put_back(module, before)
    for number, (one, other) in enumerate(zip(_tensors(expected), _tensors(found), strict=True), 1):
        try:
            shim.testing.assert_close(other.double(), one.double(), rtol=tolerance, atol=tolerance, equal_nan=True)
        except AssertionError as error:
            warnings.warn(
                f"Output nr {number}. of the traced function does not match the corresponding output of the Python "
                f"function. Detailed error:\n{error}",
                TracerWarning,
                stacklevel=4,
            )


_RANDOM = ("torch.rand", "torch.bernoulli", "torch.normal", "torch.multinomial", "torch.poisson", "torch.empty")


def _put_back(module: Module, buffers: Iterable[Tensor]) -> None:
    import guardfix.runtime_shim as shim

    with shim.no_grad():
        for tensor, value in zip(module.buffers(), buffers, strict=True):
            tensor.copy_(value)


# ---- the archive


class _Classes:
    """The classes of a tree of modules, one for each module."""

    def __init__(self, root: Module, methods: Mapping[str, _Traced]) -> None:
        self.methods = methods
        self.files: dict[str, str] = {}
        self.names: dict[int, str] = {}
        self.memo: dict[int, int] = {}
        self._declare(root, top=True)

    def _declare(self, module: Module, *, top: bool = False) -> str:
        if id(module) in self.names:
            return self.names[id(module)]
        kind = type(module).__name__
        folder = "__torch__" if top else f"__torch__.___torch_mangle_{len(self.names)}"
        name = self.names[id(module)] = f"{folder}.{kind}"
        children = {key: self._declare(child) for key, child in _children(module)}
        parameters, buffers = (
            [key for key, tensor in table.items() if tensor is not None]
            for table in (module._parameters, module._buffers)
        )
        lines = [f"class {kind}(Module):", f"  __parameters__ = [{_listed(parameters)}]"]
        lines.append(f"  __buffers__ = [{_listed(buffers)}]")
        lines += [_declared(key, "Tensor") for key in (*parameters, *buffers)]
        lines.append("  training : bool")
        lines += [_declared(key, child) for key, child in children.items()]
        code = "\n".join(lines) + "\n"
        if top:
            number = 0
            for method in self.methods.values():
                # The constants of all methods are in one tuple.
                text = method.code(name)
                for old in reversed(range(len(method.constants))):
                    text = text.replace(f"CONSTANTS.c{old}", f"CONSTANTS.c{old + number}") if number else text
                number += len(method.constants)
                code += text
        self.files[f"code/{folder.replace('.', '/')}.py"] = code
        return name

    def pickled(self, module: Module) -> bytes:
        """The module as an object, its tensors None: they are put in when it is loaded."""
        known = self.memo.get(id(module))
        if known is not None:
            return b"j" + struct.pack("<I", known)
        folder, _, kind = self.names[id(module)].rpartition(".")
        out = f"c{folder}\n{kind}\n".encode() + b")\x81}("
        for table in (module._parameters, module._buffers):
            for key, tensor in table.items():
                if tensor is not None:
                    out += _plain(key) + b"N"
        out += _plain("training") + _plain(bool(module.training))
        for key, child in _children(module):
            out += _plain(key) + self.pickled(child)
        self.memo[id(module)] = len(self.memo)
        return out + b"ub" + b"r" + struct.pack("<I", self.memo[id(module)])


def _children(module: Module) -> list[tuple[str, Module]]:
    return [(key, child) for key, child in module._modules.items() if child is not None]


def _listed(names: Iterable[str]) -> str:
    return "".join(f'"{name}", ' for name in names)


def _declared(name: str, kind: str) -> str:
    return f"  {name} : {kind}" if name.isidentifier() else f'  __annotations__["{name}"] = {kind}'


def _archive(module: Module, methods: Mapping[str, _Traced]) -> ArchiveModule:
    import guardfix.runtime_shim as shim

    classes = _Classes(module, methods)
    constants = _Pickled(SimpleNamespace(backend=shim))  # type: ignore[arg-type]
    values = tuple(tensor for method in methods.values() for tensor in method.constants)
    records: dict[str, bytes] = {
        "data.pkl": b"\x80\x02" + classes.pickled(module) + b".",
        **{name: text.encode() for name, text in classes.files.items()},
        "constants.pkl": constants.bytes_of(values, Type("Tuple", (_ANY,) * len(values)) if values else _ANY),
        **dict(constants.records("constants")),
        "version": b"10\n",
        "byteorder": b"little",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, data in records.items():
            archive.writestr(zipfile.ZipInfo(f"traced/{name}"), data)
    found = load(io.BytesIO(out.getvalue()))
    _fill(found, module)
    return found


def _fill(archive: ArchiveModule, module: Module) -> None:
    for table in (module._parameters, module._buffers):
        archive.slots.update((key, tensor) for key, tensor in table.items() if tensor is not None)
    for key, child in _children(module):
        _fill(archive.slots[key], child)
