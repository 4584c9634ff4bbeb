"""Functions that were checked as TorchScript: what it refuses is refused, the rest runs as the Python that it is.

A scripted function is checked when it is scripted, with all that it calls, and each call is checked against its
annotations. Inside, `is_scripting()` is true. Source of the words: torch/jit/frontend.py and
torch/csrc/jit/frontend/ir_emitter.cpp of 2.13.
"""

from __future__ import annotations

import ast
import builtins
import collections.abc
import functools
import inspect
import textwrap
import threading
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn
from weakref import WeakValueDictionary

from ..core.device import device, layout, memory_format
from ..core.dtypes import dtype
from ..core.error_texts import UnsupportedError
from ..core.function_table import AnyFunction
from ..core.tensor import Tensor
from ..library.operator_schema import REQUIRED, Schema, SchemaArgument, SchemaType
from .script_running import PREAMBLE
from .script_statements import class_of, decided
from .script_values import Error

_NAMES: dict[Any, str] = {
    Tensor: "Tensor",
    int: "int",
    float: "float",
    bool: "bool",
    str: "str",
    complex: "complex",
    device: "Device",
    dtype: "ScalarType",
}
_LISTS = list, collections.abc.Sequence
_UNIONS = typing.Union, types.UnionType


def schema_of(function: Callable[..., object], definition: ast.FunctionDef) -> Schema:
    """The types, names and defaults of a function's parameters; its type comments win, as in PyTorch.

    RuntimeError for a comment that has another number of types than there are parameters, or an unknown type.
    """
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # a string that isn't a type in this scope
        hints = {}
    hints |= _comments(function, definition)
    arguments = []
    for parameter in inspect.signature(function).parameters.values():
        default = REQUIRED if parameter.default is parameter.empty else parameter.default
        kind = type_of(hints.get(parameter.name, Tensor))
        arguments.append(SchemaArgument(parameter.name, kind, default, parameter.kind is parameter.KEYWORD_ONLY))
    returned = type_of(hints.get("return", Tensor))
    return Schema("", function.__name__, "", tuple(arguments), ((returned, ""),))


def _comments(function: Callable[..., object], definition: ast.FunctionDef) -> dict[str, object]:
    """The types that comments give to parameters (`x,  # type: Tensor`) and to the whole (`# type: (int) -> int`)."""
    given = definition.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    found = {each.arg: each.type_comment for each in parameters if each.type_comment}
    signature = (definition.type_comment or "").strip()
    if signature and "->" not in signature:
        signature += " -> Tensor"  # PyTorch infers it
    if signature:
        whole = ast.parse(signature, mode="func_type")
        types = [] if signature.startswith("(...)") else [ast.unparse(each) for each in whole.argtypes]
        if types and len(types) != len(parameters):
            raise RuntimeError(
                f"Number of type annotations ({len(types)}) did not match the number of function parameters "
                f"({len(parameters)}):\n  # type: {definition.type_comment}"
            )
        found |= dict(zip([each.arg for each in parameters], types, strict=False))
        found["return"] = ast.unparse(whole.returns)
    names = {**_TYPING, **getattr(inspect.unwrap(function), "__globals__", {})}
    return {name: _named(text, names) for name, text in found.items()}


_TYPING = {"Tensor": Tensor, **{name: getattr(typing, name) for name in ("Any", "Dict", "List", "Optional", "Tuple")}}
"""What comments may name without an import."""


def _named(text: str, names: dict[str, object]) -> object:
    try:
        return eval(text, names)  # as typing.get_type_hints does with annotations that are strings
    except NameError as error:
        raise RuntimeError(f"Unknown type name '{error.name}':\n# type: {text}") from error


def type_of(annotation: object) -> SchemaType:
    """The type that an annotation names; "Any" for one that schemas have no type for."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in _NAMES:
        name = _NAMES[annotation]
        return SchemaType(name, (), "int" if name == "ScalarType" else name)
    if annotation is None or annotation is type(None):
        return SchemaType("Any", (), "NoneType")
    if origin in _UNIONS and len(inner) == 2 and type(None) in inner:
        (kind,) = (each for each in inner if each is not type(None))
        found = type_of(kind)
        return found if found.name == "Any" else SchemaType(found.name, (*found.suffixes, "?"), f"{found.text}?")
    if origin in _LISTS and len(inner) == 1:
        found = type_of(inner[0])
        if found.name in _NAMES.values():
            return SchemaType(found.name, (*found.suffixes, "[]"), f"{found.text}[]")
    if origin is tuple:
        return SchemaType("Tuple", (), f"({', '.join(type_of(each).text for each in inner)})")
    if origin is dict and len(inner) == 2:
        return SchemaType("Dict", (), f"Dict({', '.join(type_of(each).text for each in inner)})")
    return SchemaType("Any", (), getattr(annotation, "__name__", str(annotation)))


_CONTEXT = 3
"""Lines shown around the one that an error is about."""

_REFUSED = {
    ast.AsyncFor: "async for loops",
    ast.AsyncFunctionDef: "async function definitions",
    ast.AsyncWith: "async with statements",
    ast.ClassDef: "class definitions",
    ast.FunctionDef: "function definitions",
    ast.GeneratorExp: "generator expressions",
    ast.Global: "global variables",
    ast.Import: "import statements",
    ast.ImportFrom: "import statements",
    ast.Lambda: "lambda functions",
    ast.NamedExpr: "NamedExpr",
    ast.Nonlocal: "nonlocal variables",
    ast.Set: "set literals",
    ast.SetComp: "set comprehensions",
    ast.Try: "try blocks",
    ast.Yield: "yield statements",
    ast.YieldFrom: "yield from statements",
}
"""What TorchScript has not, as its error calls it."""

_BUILTINS = frozenset(
    "abs all any bin bool chr complex delattr dict divmod enumerate float getattr hasattr hash hex id int isinstance "
    "len list max min oct ord pow print range reversed round setattr slice sorted str sum super tuple zip "
    "NotImplemented Ellipsis None True False".split()
)
ATTRIBUTES = bool, int, float, complex, str, tuple, type(None), dtype, device, layout, memory_format
"""Kinds of attributes of modules that code may read; of global variables it may read none."""

_state = threading.local()
_sources: WeakValueDictionary[int, FunctionSource] = WeakValueDictionary()
"""The functions that were checked, by the identity of their code, which they keep alive."""


class NotSupportedError(RuntimeError):
    """A function is not TorchScript."""


def is_scripting() -> bool:
    """Whether a scripted function is running."""
    return getattr(_state, "depth", 0) > 0


@contextmanager
def _scripting() -> Iterator[None]:
    _state.depth = getattr(_state, "depth", 0) + 1
    try:
        yield
    finally:
        _state.depth -= 1


class ScriptFunction:
    """A function that `torch.jit.script` has checked; a call is checked against its schema."""

    def __init__(self, function: AnyFunction, source: FunctionSource, schema: Schema) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._source = source
        self.schema = schema
        self.name = self.qualified_name = function.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values, keywords = self.schema.bind(args, kwargs)
        return run_scripted(self._function, self._source, values, keywords)

    @property
    def code(self) -> str:
        """The source. PyTorch prints what it compiled."""
        return self._source.text

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnsupportedError(f"the shim has no torch.jit.ScriptFunction.{name}: a scripted function runs as Python")

    def __repr__(self) -> str:
        return f"<torch.jit.ScriptFunction object {self.name}>"


def run_scripted(function: AnyFunction, source: FunctionSource, values: Sequence[Any], keywords: Any) -> Any:
    """Calls a checked function; what it raises becomes an error of TorchScript's interpreter, with the line."""
    with _scripting():
        if _state.depth > 1:  # the outermost call says where it failed
            return function(*values, **keywords)
        try:
            return function(*values, **keywords)
        except Exception as error:
            raise _translated(error, source) from error


def scripted_function(function: Callable[..., object], callers: tuple[Callable[..., object], ...]) -> ScriptFunction:
    """The function, checked; kept with it, so that it is checked once."""
    found = vars(function).get("__torch_script__")
    if not isinstance(found, ScriptFunction):
        source = FunctionSource(function)
        FunctionChecker(function, source, (*callers, function)).check()
        found = ScriptFunction(function, source, schema_of(function, source.node))
        function.__torch_script__ = found  # type: ignore[attr-defined]
    return found


class FunctionSource:
    """The text of a function, and its tree with the lines of its file."""

    def __init__(self, function: AnyFunction) -> None:
        plain = inspect.unwrap(function)
        try:
            lines, first = inspect.getsourcelines(plain)
        except OSError as error:
            raise OSError(
                f"Can't get source for {function}. TorchScript requires source access in order to carry out "
                "compilation, make sure original .py files are available."
            ) from error
        self.file = inspect.getsourcefile(plain) or "<unknown>"
        self.text = textwrap.dedent("".join(lines))
        self.code = plain.__code__
        try:
            (node,) = ast.parse(self.text, type_comments=True).body
        except SyntaxError:  # a comment that begins like one of types
            (node,) = ast.parse(self.text).body
        if not isinstance(node, ast.FunctionDef):
            raise NotSupportedError(f"Expected a single top-level function: {self.file}:{first}")
        self.node = node
        self.offset = first - 1
        _sources[id(self.code)] = self

    def marked(self, node: ast.AST) -> str:
        """The lines around a node, which is underlined."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        lines = self.text.split("\n")
        last = getattr(node, "end_lineno", line)
        end = getattr(node, "end_col_offset", column + 1) if last == line else len(lines[line - 1])
        shown = lines[max(0, line - 1 - _CONTEXT) : line]
        after = lines[line : line + _CONTEXT]
        marker = " " * column + "~" * max(1, end - column) + " <--- HERE"
        body = "\n".join([*shown, marker, *after]).rstrip("\n")
        return f'  File "{self.file}", line {line + self.offset}\n{body}\n'

    def statement(self, line: int) -> ast.stmt | None:
        """The innermost statement on a line of the file."""
        found = None
        for node in ast.walk(self.node):
            if isinstance(node, ast.stmt) and node.lineno + self.offset <= line <= (node.end_lineno or 0) + self.offset:
                found = node if found is None or node.lineno >= found.lineno else found
        return found


class FunctionChecker(ast.NodeVisitor):
    """Walks a function and refuses what TorchScript refuses. What it calls is scripted on the way."""

    def __init__(self, function: AnyFunction, source: FunctionSource, callers: tuple[AnyFunction, ...]) -> None:
        self.source = source
        self.callers = callers
        plain: Any = inspect.unwrap(function)
        closure = dict(zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True))
        self.outside: dict[str, Any] = {
            **plain.__globals__,
            **{name: cell.cell_contents for name, cell in closure.items()},
        }
        arguments = source.node.args
        parameters = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        self.local = {a.arg for a in parameters}
        self.classes = {a.arg: known for a in parameters if (known := class_of(a.annotation)) is not None}
        for node in ast.walk(source.node):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.local.add(node.id)

    def check(self) -> None:
        arguments = self.source.node.args
        if arguments.vararg or arguments.kwarg:
            self.refuse(
                arguments.vararg or arguments.kwarg or self.source.node,
                "Compiled functions can't take variable number of arguments or use keyword-only arguments with "
                "defaults",
            )
        for statement in self.source.node.body:
            self.read(statement)
        self.block(self.source.node.body)

    def block(self, statements: Sequence[ast.stmt]) -> bool:
        """Whether control always leaves these statements. What is after that is not compiled."""
        return any(self.visit(statement) is True for statement in statements)

    def refuse(self, node: ast.AST, what: str) -> NoReturn:
        raise NotSupportedError(f"{what}:\n{self.source.marked(node)}")

    def read(self, node: ast.AST) -> None:
        """Refuses what TorchScript can't read, also where it isn't compiled."""
        refused = _REFUSED.get(type(node))
        if refused is not None:
            self.refuse(node, f"{refused} aren't supported")
        for child in ast.iter_child_nodes(node):
            self.read(child)

    def visit_Return(self, node: ast.Return) -> bool:
        self.generic_visit(node)
        return True

    def visit_Break(self, node: ast.Break) -> bool:
        return True

    def visit_Continue(self, node: ast.Continue) -> bool:
        return True

    def visit_If(self, node: ast.If) -> bool:
        self.visit(node.test)
        holds = decided(node.test, self.classes, self.value)
        if holds is not None:
            return self.block(node.body if holds else node.orelse)
        leaves = [self.block(branch) for branch in (node.body, node.orelse)]
        return all(leaves)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        holds = decided(node.test, self.classes, self.value)
        if holds is not False:
            self.visit(node.body)
        if holds is not True:
            self.visit(node.orelse)

    def visit_With(self, node: ast.With) -> bool:
        for item in node.items:
            self.visit(item)
        return self.block(node.body)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        # The second argument of isinstance, and the first of annotate, are types: any name may be in them.
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        skipped = {"isinstance": 1, "annotate": 0}.get(name)
        self.visit(node.func)
        for i, argument in enumerate(node.args):
            if i != skipped:
                self.visit(argument)
        for keyword in node.keywords:
            if keyword.arg is None:
                self.refuse(node, "keyword-arg expansion is not supported")
            self.visit(keyword.value)

    def visit_Raise(self, node: ast.Raise) -> bool:
        if isinstance(node.exc, ast.Call):
            for argument in node.exc.args:
                self.visit(argument)
        return True

    def visit_Attribute(self, node: ast.Attribute) -> None:
        found = self.value(node)
        if found is _LOCAL:
            self.visit(node.value)
        else:
            self.use(found, node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id not in self.local:
            self.use(self.value(node), node, ())

    def value(self, node: ast.expr) -> Any:
        """What a name, or names joined by dots, stand for outside of the function; `_LOCAL` for all else."""
        if isinstance(node, ast.Name):
            if node.id in self.local:
                return _LOCAL
            if node.id in self.outside:
                return self.outside[node.id]
            if not hasattr(builtins, node.id):
                raise RuntimeError(f"\nundefined value {node.id}:\n{self.source.marked(node)}")
            found = getattr(builtins, node.id)
            if node.id not in _BUILTINS and not (inspect.isclass(found) and issubclass(found, BaseException)):
                raise RuntimeError(
                    f"\nPython builtin {found!r} is currently not supported in Torchscript:\n{self.source.marked(node)}"
                )
            return found
        if not isinstance(node, ast.Attribute):
            return _LOCAL
        owner = self.value(node.value)
        if owner is _LOCAL:
            return _LOCAL
        try:
            return getattr(owner, node.attr)
        except NotImplementedError:
            raise
        except AttributeError:
            kind = type(owner).__name__
            raise RuntimeError(
                f"\n{kind} '{getattr(owner, '__name__', kind)}' has no attribute {node.attr} :\n"
                f"{self.source.marked(node)}"
            ) from None

    def refuse_recursion(self, function: Callable[..., object], name: str, node: ast.expr) -> None:
        """RuntimeError if the function is being checked already; `name` is what PyTorch calls it."""
        if function in self.callers:
            raise RuntimeError(
                f"\n{name} is called recursively. Recursive calls are not supported:\n{self.source.marked(node)}"
            )

    def use(self, found: object, node: ast.expr, values: tuple[type, ...] = ATTRIBUTES) -> None:
        """Scripts a function of Python; refuses a value, but those of the types that attributes of modules may have."""
        if inspect.isfunction(found):
            if is_ours(found) or hasattr(found, "_torchscript_modifier"):
                return
            self.refuse_recursion(found, f"function '{found.__name__}'", node)
            scripted_function(found, self.callers)
        elif not (callable(found) or isinstance(found, (*values, types.ModuleType)) or is_ours(type(found))):
            raise RuntimeError(
                f"\npython value of type '{type(found).__name__}' cannot be used as a value. Perhaps it is a closed "
                "over global variable? If so, please consider passing it in as an argument or use a local variable "
                f"instead.:\n{self.source.marked(node)}"
            )


_LOCAL: Any = object()


def is_ours(found: object) -> bool:
    """Whether something is PyTorch's here; a tensor in a global variable is refused as every value is."""
    from ..core.tensor import Tensor

    return str(getattr(found, "__module__", "")).partition(".")[0] in ("guardfix", "torch") and found is not Tensor


def _translated(error: Exception, outermost: FunctionSource) -> Exception:
    """The error as the interpreter of TorchScript raises it: with the line, and as `Error` where the code raised it."""
    trace = error.__traceback__
    scripted: tuple[FunctionSource, int] = (outermost, outermost.node.lineno + outermost.offset)
    last = None
    while trace is not None:
        code = trace.tb_frame.f_code
        source = outermost if code is outermost.code else _sources.get(id(code))
        if source is not None:
            scripted = source, trace.tb_lineno
        last = source
        trace = trace.tb_next
    source, line = scripted
    statement = source.statement(line)
    shown = source.marked(statement) if statement is not None else ""
    head = f"{PREAMBLE}Traceback of TorchScript (most recent call last):\n{shown}"
    raised = last is source and isinstance(statement, ast.Raise | ast.Assert)
    if raised:
        name = "AssertionError" if isinstance(error, AssertionError) else f"builtins.{type(error).__name__}"
        return Error(f"{head}{name}: {error}\n")
    kind = NotImplementedError if isinstance(error, NotImplementedError) else RuntimeError
    return kind(f"{head}RuntimeError: {error}\n")
