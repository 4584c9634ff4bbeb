"""The `code/` of an archive, declared: classes with their attributes and methods, functions, and where they are.

TorchScript's serialized source is Python syntax (`torch/csrc/jit/serialization/python_print.cpp`), so the standard
parser reads it. Nothing here is executed: a file is a list of classes and functions, and anything else in it ends the
load.
"""

from __future__ import annotations

import ast
import collections
import keyword
import re
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .script_printing import to_text
from .script_values import ArchiveError, Enumerator
from .type_annotations import NotAType, Type, dotted_name, type_of_annotation

_Runtime = Any
"""`script_runtime.Runtime`, which is on this."""

ScriptStatement = Callable[[dict[Any, Any]], "tuple[Any] | None"]

_BASES = {"Module", "NamedTuple", "Enum", "Interface", "ModuleInterface"}
_NOT_WRITTEN = object()
NO_DEFAULT: Any = _NOT_WRITTEN


@dataclass(frozen=True)
class ScriptParameter:
    name: str
    type: Type
    default: Any = NO_DEFAULT


@dataclass(eq=False)
class ParsedFunction:
    """A function or method of the archive. `body` is filled by the compiler, `runtime` when the archive is whole."""

    qualified_name: str
    record: str
    source: str
    node: ast.FunctionDef
    parameters: tuple[ScriptParameter, ...]
    returns: Type
    body: tuple[ScriptStatement, ...] = ()
    runtime: _Runtime | None = None
    lacking: list[Lacking] = field(default_factory=list)
    calls: set[tuple[str, bool]] = field(default_factory=set)
    """Functions called by name, and whether every call of this function makes the call."""

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def schema(self) -> str:
        """As in PyTorch's messages: `forward(__torch__.M self, Tensor x, float f=1.) -> Tensor`."""
        written = []
        for parameter in self.parameters:
            text = f"{parameter.type.schema} {parameter.name}"
            if parameter.default is not NO_DEFAULT:
                text += f"={to_text(parameter.default, quote=True)}"
            written.append(text)
        return f"{self.name}({', '.join(written)}) -> {self.returns.schema}"

    def bound(self, instance: object) -> Method:
        return Method(self, instance)


@dataclass(frozen=True)
class Lacking:
    """An op in the code that cannot be run, met when the code was compiled."""

    reason: str
    alternatives: Callable[[], str]
    record: str
    line: int
    conditional: bool

    def error(self) -> ArchiveError:
        return ArchiveError(f"{self.reason}: {self.alternatives()}", record=self.record, line=self.line)


@dataclass(eq=False)
class ScriptClass:
    """A class of the archive: a module, a plain class, a named tuple, an enumeration or an interface."""

    qualified_name: str
    kind: str
    record: str
    attributes: dict[str, Type] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()
    buffers: tuple[str, ...] = ()
    constants: dict[str, Any] = field(default_factory=dict)
    methods: dict[str, ParsedFunction] = field(default_factory=dict)
    hooks: tuple[str, ...] = ()
    pre_hooks: tuple[str, ...] = ()
    members: dict[str, Enumerator] = field(default_factory=dict)
    interface_methods: frozenset[str] = frozenset()
    unit: CompilationUnit | None = None

    @property
    def name(self) -> str:
        return self.qualified_name.rpartition(".")[2]

    def implements(self, qualified_name: str) -> bool:
        """Whether this class has the methods of the interface of that name."""
        interface = self.unit.classes.get(qualified_name) if self.unit else None
        return (
            interface is not None
            and interface.kind in ("Interface", "ModuleInterface")
            and interface.interface_methods <= self.methods.keys()
        )


@dataclass(eq=False)
class CompilationUnit:
    """Everything that `code/` declares, by qualified name."""

    classes: dict[str, ScriptClass] = field(default_factory=dict)
    functions: dict[str, ParsedFunction] = field(default_factory=dict)
    named_tuples: dict[str, type] = field(default_factory=dict)
    runtime: _Runtime | None = None

    @cached_property
    def method_names(self) -> frozenset[str]:
        """The methods that some class has. To be asked when all files are read."""
        return frozenset(name for declared in self.classes.values() for name in declared.methods)

    @cached_property
    def functions_by_name(self) -> dict[str, ParsedFunction]:
        """Functions and methods by qualified name. To be asked when all files are read."""
        return {function.qualified_name: function for function in self.all_functions()}

    def all_functions(self) -> Iterator[ParsedFunction]:
        yield from self.functions.values()
        for declared in self.classes.values():
            yield from declared.methods.values()


class SourceError(Exception):
    """A construct that is not TorchScript; becomes an ArchiveError with file and line."""

    def __init__(self, reason: str, node: ast.AST | None = None) -> None:
        super().__init__(reason)
        self.line: int | None = getattr(node, "lineno", None)


_LITERAL_NAMES = {"inf": float("inf"), "nan": float("nan"), "infj": complex(0, float("inf")), "None": None}


def literal(node: ast.expr) -> Any:
    """The value of a constant expression, as defaults and class constants are. Raises SourceError."""
    match node:
        case ast.Constant(value=value) if value is None or isinstance(value, (bool, int, float, complex, str)):
            return value
        case ast.Name(id=name) if name in _LITERAL_NAMES:
            return _LITERAL_NAMES[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = literal(operand)
            if isinstance(value, (int, float, complex)):
                return -value
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            real, imaginary = literal(left), literal(right)
            if isinstance(real, (int, float)) and isinstance(imaginary, complex):
                return real + imaginary if isinstance(op, ast.Add) else real - imaginary
        case ast.List(elts=items):
            return [literal(item) for item in items]
        case ast.Tuple(elts=items):
            return tuple(literal(item) for item in items)
        case ast.Dict(keys=keys, values=values):
            return {literal(key): literal(value) for key, value in zip(keys, values, strict=True) if key is not None}
        case ast.Call(func=ast.Name(id="annotate"), args=[_, value], keywords=[]):
            return literal(value)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr="device"), args=[ast.Constant(value=str())]):
            return literal(node.args[0])
    raise SourceError(f"`{ast.unparse(node)[:80]}` is not a constant", node)


#: Python 3.10's parser recurses without its own limit. Up to so many operators a file is parsed as usual; with
#: more, on a thread whose stack has so many bytes for each; with still more, it is refused.
_SHORT_CHAIN, _STACK_PER_LINK, _LONGEST_CHAIN = 4_000, 1024, 1_000_000


def _parsed(text: str) -> ast.Module:
    """The tree of a file. RecursionError where it nests deeper than the parser goes."""
    if sys.version_info >= (3, 11):
        return ast.parse(text)
    links = sum(map(text.count, ".([+-*/%<>&|^~"))
    if links < _SHORT_CHAIN:
        return ast.parse(text)
    if links > _LONGEST_CHAIN:
        raise RecursionError("too much code for the parser of Python 3.10")
    found: list[object] = []

    def parse() -> None:
        try:
            found.append(ast.parse(text))
        except BaseException as error:
            found.append(error)

    before = threading.stack_size((_SHORT_CHAIN + links) * _STACK_PER_LINK)
    try:
        thread = threading.Thread(target=parse)
        thread.start()
    except RuntimeError as error:
        raise MemoryError("no stack for the parser") from error
    finally:
        threading.stack_size(before)
    thread.join()
    if isinstance(found[0], BaseException):
        raise found[0]
    level: list[ast.AST] = found
    for _ in range(sys.getrecursionlimit()):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return found[0]
    raise RecursionError("nests deeper than the compiler goes")


def parse_file(unit: CompilationUnit, record: str, data: bytes) -> None:
    """Adds what `code/a/b.py` declares to the unit, as `a.b.<name>`. Raises ArchiveError."""
    try:
        text = data.decode("utf-8")
        tree = _parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise ArchiveError(f"is not TorchScript source: {error}", record=record, line=line) from error
    prefix = record.removeprefix("code/").removesuffix(".py").replace("/", ".")
    reader = _FileReader(unit, record, text, prefix)
    try:
        for node in tree.body:
            reader.declare(node)
    except SourceError as error:
        raise ArchiveError(str(error), record=record, line=error.line) from error
    except RecursionError as error:
        raise ArchiveError("nests too deep", record=record) from error


class _FileReader:
    def __init__(self, unit: CompilationUnit, record: str, text: str, prefix: str) -> None:
        self._unit = unit
        self._record = record
        self._lines = text.splitlines()
        self._prefix = prefix

    def declare(self, node: ast.stmt) -> None:
        if isinstance(node, ast.FunctionDef):
            function = self.function(node, self._prefix)
            self._new_name(function.qualified_name, node)
            self._unit.functions[function.qualified_name] = function
        elif isinstance(node, ast.ClassDef):
            self._class(node)
        else:
            raise SourceError(
                f"`{ast.unparse(node)[:60]}`: a file of an archive declares classes and functions only; "
                "nothing of it was run",
                node,
            )

    def _new_name(self, name: str, node: ast.AST) -> None:
        if name in self._unit.classes or name in self._unit.functions:
            raise SourceError(f"{name} is declared twice", node)

    def function(self, node: ast.FunctionDef, prefix: str, self_type: Type | None = None) -> ParsedFunction:
        arguments = node.args
        if node.decorator_list or arguments.vararg or arguments.kwarg or arguments.posonlyargs:
            raise SourceError(f"`{node.name}`: decorators, *args and **kwargs are not TorchScript", node)
        plain = arguments.args
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults)) + [*arguments.defaults]
        names = [
            *zip(plain, defaults, strict=True),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        parameters = []
        for index, (argument, default) in enumerate(names):
            own = index == 0 and self_type is not None and argument.annotation is None
            type_ = self_type if own and self_type else _type(argument.annotation)
            value = NO_DEFAULT if default is None else literal(default)
            parameters.append(ScriptParameter(argument.arg, type_, value))
        if len({parameter.name for parameter in parameters}) != len(parameters):
            raise SourceError(f"`{node.name}` names a parameter twice", node)
        source = "\n".join(self._lines[node.lineno - 1 : node.end_lineno])
        return ParsedFunction(
            f"{prefix}.{node.name}", self._record, source, node, tuple(parameters), _type(node.returns)
        )

    def _class(self, node: ast.ClassDef) -> None:
        qualified_name = f"{self._prefix}.{node.name}"
        self._new_name(qualified_name, node)
        bases = [base.id if isinstance(base, ast.Name) else "" for base in node.bases]
        if len(bases) > 1 or node.keywords or node.decorator_list or any(base not in _BASES for base in bases):
            raise SourceError(f"class {node.name} has a base that TorchScript does not have", node)
        declared = ScriptClass(qualified_name, bases[0] if bases else "Class", self._record, unit=self._unit)
        self._unit.classes[qualified_name] = declared
        for statement in node.body:
            self._class_statement(declared, statement)
        unknown = {*declared.parameters, *declared.buffers} - declared.attributes.keys()
        if unknown:
            raise SourceError(f"class {node.name} names {sorted(unknown)[0]!r} but does not declare it", node)
        missing = {*declared.hooks, *declared.pre_hooks} - declared.methods.keys()
        if missing:
            raise SourceError(f"class {node.name} has no hook {sorted(missing)[0]!r}", node)
        if declared.kind == "NamedTuple":
            self._unit.named_tuples[qualified_name] = _named_tuple(declared, node)

    def _class_statement(self, declared: ScriptClass, node: ast.stmt) -> None:
        match node:
            case ast.Pass():
                return
            case ast.AnnAssign(
                target=ast.Name(id=name),
                annotation=ast.Subscript(value=ast.Name(id="Final")),
                value=ast.expr() as value,
            ):
                declared.constants[name] = literal(value)
                return
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=None):
                declared.attributes[name] = _type(annotation)
                return
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if declared.kind == "Enum":
                declared.members[name] = Enumerator(declared.qualified_name, name, literal(value))
                return
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.List(elts=items)):
                names = tuple(literal(item) for item in items)
                if name == "__parameters__":
                    declared.parameters = names
                elif name == "__buffers__":
                    declared.buffers = names
                elif name == "__forward_hooks__":
                    declared.hooks = names
                elif name == "__forward_pre_hooks__":
                    declared.pre_hooks = names
                elif name not in ("__annotations__", "__constants__"):
                    raise SourceError(f"class {declared.name} assigns {name}", node)
                return
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id="__annotations__"), slice=ast.Constant(value=str(name)))],
                value=annotation,
            ):
                declared.attributes[name] = _type(annotation)
                return
            case ast.FunctionDef():
                if declared.kind in ("Interface", "ModuleInterface"):
                    declared.interface_methods |= {node.name}
                    return
                if node.name in declared.methods:
                    raise SourceError(f"class {declared.name} declares {node.name} twice", node)
                function = self.function(node, declared.qualified_name, Type(declared.qualified_name))
                if not function.parameters:
                    raise SourceError(f"method {node.name} has no self", node)
                declared.methods[node.name] = function
                return
        raise SourceError(f"`{ast.unparse(node)[:60]}` cannot stand in a class", node)


def _type(annotation: ast.expr | None) -> Type:
    try:
        return type_of_annotation(annotation)
    except NotAType as error:
        raise SourceError(str(error), annotation) from error


def _named_tuple(declared: ScriptClass, node: ast.AST) -> type:
    fields = list(declared.attributes)
    if not all(name.isidentifier() and not keyword.iskeyword(name) and name[0] != "_" for name in fields):
        raise SourceError(f"class {declared.name} has a field that is not a plain name", node)
    make: Any = collections.namedtuple  # a name and fields that are known only here are beyond static types
    named: type = make(declared.name, fields)
    named.__qualified_name__ = declared.qualified_name  # type: ignore[attr-defined]
    named.__field_types__ = tuple(declared.attributes.values())  # type: ignore[attr-defined]
    return named


def qualified(node: ast.expr) -> str | None:
    """The dotted name below `__torch__` that an expression is; None for any other expression."""
    name = dotted_name(node)
    return name if name is not None and name.startswith("__torch__.") else None


class Method:
    """A method bound to its object. Calling it runs it."""

    def __init__(self, function: ParsedFunction, instance: object) -> None:
        self._function = function
        self._instance = instance

    @property
    def name(self) -> str:
        return self._function.name

    @property
    def schema(self) -> str:
        return self._function.schema

    @property
    def code(self) -> str:
        """The source as it is in the archive, but for indentation and the type of `self`."""
        node = self._function.node
        lines = self._function.source.split("\n")
        body = node.body[0].lineno - node.lineno
        lines[0] = re.sub(r"^( *def \w+\(\w+): __torch__\.[\w.]+", r"\1", lines[0]).lstrip()
        rest = textwrap.indent(textwrap.dedent("\n".join(lines[body:])), "  ")
        return "\n".join([*lines[:body], rest, ""])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        runtime = self._function.runtime
        if runtime is None:
            raise ArchiveError("code ran before the archive was whole")
        return runtime.invoke(self._function, self._instance, args, kwargs)

    def __repr__(self) -> str:
        return f"<script method {self.schema}>"
