"""Functions of an archive as closures: one walk over the syntax tree at load, none of it handed to Python's compiler.

What a node may be is a closed set; whatever else is in the code is refused with its file and line before anything
runs. Names reach local variables, ops reach the table of ops, attributes reach the slots of script objects, and nothing
reaches a Python object's own attributes.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ..core.resource_budget import account_in_force, brief, pay
from .calls.call_costs import parts_of
from .calls.call_table import OpTable, UnknownOp
from .script_builtins import Builtins
from .script_running import ACTIVATION, LINE, ScriptRaise
from .script_source import CompilationUnit, Lacking, ParsedFunction, ScriptStatement, SourceError, literal, qualified
from .script_statements import (
    Env,
    ScriptExpression,
    assigning_name,
    assigning_names,
    assigning_slot,
    class_constant,
    evaluating,
    field_of,
    for_loop,
    has_one_of,
    returning,
    run_block,
    while_loop,
)
from .script_values import UNINITIALIZED, ArchiveError, Enumerator, ForkedTask, ScriptObject
from .type_annotations import NotAType, Type, World, dotted_name, type_of_annotation

_LONGEST = 4000
"""Letters of a message that an archive raises."""
_LITERALS = {"inf": float("inf"), "nan": float("nan"), "infj": complex(0, float("inf"))}


def compile_function(
    function: ParsedFunction, unit: CompilationUnit, table: OpTable, constants: Sequence[object], world: World
) -> None:
    """Fills the body of a function. Raises ArchiveError for anything that is not TorchScript."""
    try:
        function.body = _FunctionCompiler(function, unit, table, constants, world).compile()
    except SourceError as error:
        raise ArchiveError(str(error), record=function.record, line=error.line) from error
    except RecursionError as error:
        raise ArchiveError("nests too deep", record=function.record, line=function.node.lineno) from error


def _as_list(tensor: Any) -> Any:
    pay(int(tensor.numel()), 40 * int(tensor.numel()))
    return tensor.tolist()


def _as_key(value: object) -> object:
    if isinstance(value, (list, tuple, dict)):
        raise RuntimeError(f"a {type(value).__name__} is not a key of a dict")
    return value


class _FunctionCompiler:
    def __init__(
        self,
        function: ParsedFunction,
        unit: CompilationUnit,
        table: OpTable,
        constants: Sequence[Any],
        world: World,
    ) -> None:
        self._function = function
        self._unit = unit
        self._table = table
        self._constants = constants
        self._world = world
        self._builtins = Builtins(world.tensor)
        self._names = {parameter.name for parameter in function.parameters}
        self._aliases: dict[str, ParsedFunction] = {}
        self._tasks: dict[str, tuple[ScriptStatement, ...]] = {}
        self._branches = 0

    def compile(self) -> tuple[ScriptStatement, ...]:
        return self._block(self._function.node.body)

    # Statements. Each returns None, or the value of a `return` in a tuple.

    def _block(self, nodes: Sequence[ast.stmt]) -> tuple[ScriptStatement, ...]:
        compiled = [self._statement(node) for node in nodes]
        return tuple(statement for statement in compiled if statement is not None)

    def _statement(self, node: ast.stmt) -> ScriptStatement | None:
        pay()
        match node:
            case ast.Pass():
                return None
            case ast.Assign(targets=[target], value=value):
                return self._assign(node, target, value)
            case ast.AnnAssign(target=target, annotation=annotation, value=ast.expr() as value):
                self._type(annotation)
                return self._assign(node, target, value)
            case ast.Expr(value=ast.Call() as call):
                return evaluating(node.lineno, self._expression(call))
            case ast.Return(value=None):
                return lambda env: (None,)
            case ast.Return(value=ast.expr() as value):
                return returning(node.lineno, self._expression(value))
            case ast.If():
                return self._if(node)
            case ast.While(orelse=[]):
                test = self._expression(node.test)
                return while_loop(node.lineno, test, self._block(node.body))
            case ast.For(
                target=ast.Name(id=name),
                iter=ast.Call(func=ast.Name(id="range"), args=[count], keywords=[]),
                orelse=[],
            ):
                iterations = self._expression(count)
                self._names.add(name)
                return for_loop(node.lineno, name, iterations, self._block(node.body))
            case ast.With(items=[ast.withitem(context_expr=context, optional_vars=target)]):
                return self._with(node, context, target)
            case ast.FunctionDef(decorator_list=[]) if not (node.args.args or node.args.vararg or node.args.kwarg):
                self._tasks[node.name] = self._block(node.body)
                return None
        raise SourceError(f"`{ast.unparse(node).splitlines()[0][:80]}` is not TorchScript; nothing was run", node)

    def _assign(self, node: ast.stmt, target: ast.expr, value: ast.expr) -> ScriptStatement | None:
        name = qualified(value)
        if name is not None and isinstance(target, ast.Name) and not self._enumerator(name):
            self._aliases[target.id] = self._named_function(name, value)
            return None
        expression = self._expression(value)
        if isinstance(target, ast.Name):
            return assigning_name(node.lineno, self._new_name(target), expression)
        if isinstance(target, ast.Tuple) and all(isinstance(item, ast.Name) for item in target.elts):
            names = [self._new_name(item) for item in target.elts if isinstance(item, ast.Name)]
            return assigning_names(node.lineno, names, expression)
        if isinstance(target, ast.Attribute):
            self._attribute_name(target)
            return assigning_slot(node.lineno, self._expression(target.value), target.attr, expression)
        raise SourceError(f"`{ast.unparse(target)[:60]}` cannot be assigned to", target)

    def _new_name(self, node: ast.Name) -> str:
        if node.id in self._aliases:
            raise SourceError(f"`{node.id}` is both a function and a variable", node)
        self._names.add(node.id)
        return node.id

    def _if(self, node: ast.If) -> ScriptStatement:
        test = self._expression(node.test)
        self._branches += 1
        then, otherwise = self._block(node.body), self._block(node.orelse)
        self._branches -= 1
        line = node.lineno

        def run(env: Env) -> tuple[Any] | None:
            env[LINE] = line
            for statement in then if test(env) else otherwise:
                result = statement(env)
                if result is not None:
                    return result
            return None

        return run

    def _with(self, node: ast.With, context: ast.expr, target: ast.expr | None) -> ScriptStatement:
        manager = self._expression(context)
        name = self._new_name(target) if isinstance(target, ast.Name) else None
        if target is not None and name is None:
            raise SourceError("`with ... as` needs a name", node)
        body = self._block(node.body)
        line = node.lineno
        call = self._call_method

        def run(env: Env) -> tuple[Any] | None:
            env[LINE] = line
            entered = manager(env)
            value = call(entered, "__enter__", [], env)
            if name is not None:
                env[name] = value
            try:
                return run_block(body, env)
            finally:
                call(entered, "__exit__", [None, None, None], env)

        return run

    # Expressions.

    def _expression(self, node: ast.expr) -> ScriptExpression:
        pay()
        match node:
            case ast.Constant(value=value) if value is None or isinstance(value, (bool, int, float, complex, str)):
                return lambda env: value
            case ast.Name():
                return self._name(node)
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript(value=container, slice=index):
                return self._subscript(self._expression(container), self._expression(index))
            case ast.List(elts=items):
                values = self._expressions(items)
                return lambda env: [value(env) for value in values]  # as many as there are in the code
            case ast.Tuple(elts=items):
                values = self._expressions(items)
                return lambda env: tuple([value(env) for value in values])
            case ast.Dict(keys=keys, values=items) if None not in keys:
                pairs = list(
                    zip(self._expressions([key for key in keys if key]), self._expressions(items), strict=True)
                )
                return lambda env: {_as_key(key(env)): value(env) for key, value in pairs}
            case ast.IfExp():
                test, then = self._expression(node.test), self._expression(node.body)
                otherwise = self._expression(node.orelse)
                return lambda env: then(env) if test(env) else otherwise(env)
            case ast.UnaryOp() | ast.BinOp():
                constant = literal(node)
                return lambda env: constant
        raise SourceError(f"`{ast.unparse(node)[:80]}` is not TorchScript; nothing was run", node)

    def _expressions(self, nodes: Sequence[ast.expr]) -> list[ScriptExpression]:
        return [self._expression(node) for node in nodes]

    def _name(self, node: ast.Name) -> ScriptExpression:
        name = node.id
        if name in self._names:
            return lambda env: env[name]
        if name in _LITERALS:
            constant = _LITERALS[name]
            return lambda env: constant
        raise SourceError(f"the name `{name}` is not known here", node)

    def _attribute_name(self, node: ast.Attribute) -> str:
        name = node.attr
        if name.startswith("__") and name.endswith("__"):
            classes = self._unit.classes.values()
            pay(len(classes))
            if name not in self._unit.method_names and not any(name in found.attributes for found in classes):
                raise SourceError(
                    f"`{ast.unparse(node)[:60]}`: `{name}` is an attribute of Python, not of the model", node
                )
        return name

    def _attribute(self, node: ast.Attribute) -> ScriptExpression:
        if isinstance(node.value, ast.Name) and node.value.id == "CONSTANTS":
            return self._constant(node)
        path = qualified(node)
        if path is not None:
            member = self._enumerator(path)
            if member is None:
                raise SourceError(f"`{path}` is not a value", node)
            return lambda env: member
        name = self._attribute_name(node)
        value = self._expression(node.value)

        def read(env: Env) -> object:
            instance = value(env)
            if isinstance(instance, ScriptObject):
                slots = instance.slots
                return slots[name] if name in slots else class_constant(instance, name)
            return field_of(instance, name)

        return read

    def _constant(self, node: ast.Attribute) -> ScriptExpression:
        number = node.attr.removeprefix("c")
        if not (number.isascii() and number.isdigit() and int(number) < len(self._constants)):
            raise SourceError(f"CONSTANTS.{node.attr} is not in constants.pkl", node)
        constant = self._constants[int(number)]
        return lambda env: constant

    def _enumerator(self, path: str) -> Enumerator | None:
        owner, _, name = path.rpartition(".")
        declared = self._unit.classes.get(owner)
        return declared.members.get(name) if declared is not None else None

    def _subscript(self, container: ScriptExpression, index: ScriptExpression) -> ScriptExpression:
        tensor = self._world.tensor

        def read(env: Env) -> object:
            values = container(env)
            if isinstance(values, (list, tuple, dict, str)):
                return values[index(env)]
            if isinstance(values, tensor):
                return values.select(0, index(env))  # type: ignore[attr-defined]
            raise RuntimeError(f"a {type(values).__name__} has no items")

        return read

    # Calls.

    def _call(self, node: ast.Call) -> ScriptExpression:
        function = node.func
        if isinstance(function, ast.Name):
            return self._call_name(node, function.id)
        if not isinstance(function, ast.Attribute):
            raise SourceError(f"`{ast.unparse(function)[:60]}` cannot be called", node)
        path = dotted_name(function)
        root = path.partition(".")[0] if path else ""
        if path is not None and root in ("torch", "ops") and root not in self._names:
            return self._call_op(node, path)
        if path is not None and root == "__torch__":
            return self._call_qualified(node, path)
        return self._call_attribute(node, function)

    def _arguments(self, node: ast.Call) -> tuple[list[ScriptExpression], list[tuple[str, ScriptExpression]]]:
        keywords = []
        for keyword in node.keywords:
            if keyword.arg is None:
                raise SourceError("`**` in a call is not TorchScript", node)
            keywords.append((keyword.arg, self._expression(keyword.value)))
        return self._expressions(node.args), keywords

    def _positional(self, node: ast.Call) -> list[ScriptExpression]:
        arguments, keywords = self._arguments(node)
        if keywords:
            raise SourceError("keyword arguments here are not TorchScript", node)
        return arguments

    def _call_name(self, node: ast.Call, name: str) -> ScriptExpression:
        if name in self._aliases:
            return self._call_function(self._aliases[name], self._positional(node), node)
        match name, node.args:
            case (("annotate" | "unchecked_cast"), [annotation, value]):
                return self._annotated(self._type(annotation), self._expression(value))
            case "uninitialized", [annotation]:
                self._type(annotation)
                return lambda env: UNINITIALIZED
            case "isinstance", [value, annotation]:
                return self._isinstance(self._expression(value), annotation)
            case "getattr", [value, ast.Constant(value=str(attribute))]:
                read = ast.copy_location(ast.Attribute(value, attribute, ast.Load()), node)
                return self._attribute(read)
            case "fork", [ast.Name(id=task)] if task in self._tasks:
                body = self._tasks[task]
                return lambda env: ForkedTask((run_block(body, env) or (None,))[0])
        builtin = self._builtins.get(name)
        if builtin is None:
            raise SourceError(f"unknown function `{name}`; nothing was run", node)
        arguments = self._positional(node)

        def call(env: Env) -> Any:
            values = [argument(env) for argument in arguments]
            if account_in_force() is not None:
                pay(sum(map(parts_of, values)), 16 * sum(len(value) for value in values if isinstance(value, list)))
            return builtin(*values)

        return call

    def _annotated(self, type_: Type, value: ScriptExpression) -> ScriptExpression:
        if type_.name not in ("int", "float", "complex", "number", "bool"):
            return value
        # So is an implicit conversion of a tensor to a number written.
        number = self._builtins.number
        return lambda env: number(value(env))

    def _isinstance(self, value: ScriptExpression, annotation: ast.expr) -> ScriptExpression:
        items = annotation.elts if isinstance(annotation, (ast.Tuple, ast.List)) else [annotation]
        types = [self._type(item) for item in items]
        world = self._world
        return lambda env: has_one_of(value(env), types, world)

    def _type(self, annotation: ast.expr) -> Type:
        try:
            return type_of_annotation(annotation)
        except NotAType as error:
            raise SourceError(str(error), annotation) from error

    def _call_op(self, node: ast.Call, path: str) -> ScriptExpression:
        if path == "torch.device":
            make = self._table.arguments.device
            devices = self._positional(node)
            return lambda env: make(*[argument(env) for argument in devices])
        if path == "ops.prim.RaiseException":
            return self._raise(self._positional(node))
        arguments, keywords = self._arguments(node)
        try:
            function = self._table.find(path)
        except UnknownOp as error:
            return self._lacking(path, str(error), node)
        if keywords:
            return lambda env: function(
                *[argument(env) for argument in arguments], **{name: value(env) for name, value in keywords}
            )
        if len(arguments) == 1:
            (only,) = arguments
            return lambda env: function(only(env))
        if len(arguments) == 2:
            left, right = arguments
            return lambda env: function(left(env), right(env))
        return lambda env: function(*[argument(env) for argument in arguments])

    def _raise(self, arguments: list[ScriptExpression]) -> ScriptExpression:
        def raise_exception(env: Env) -> object:
            values = [argument(env) for argument in arguments]
            short = [value if isinstance(value, str) and len(value) <= _LONGEST else brief(value) for value in values]
            text, *name = short
            raise ScriptRaise(text, name[0] if name else None)

        return raise_exception

    def _lacking(self, path: str, reason: str, node: ast.Call) -> ScriptExpression:
        def alternatives() -> str:
            return self._table.alternatives(path)

        conditional = self._branches > 0
        lacking = Lacking(reason, alternatives, self._function.record, node.lineno, conditional)
        self._function.lacking.append(lacking)

        def refuse(env: Env) -> object:
            raise lacking.error()

        return refuse

    def _call_qualified(self, node: ast.Call, path: str) -> ScriptExpression:
        owner, _, name = path.rpartition(".")
        declared = self._unit.classes.get(path)
        if declared is not None and declared.kind == "NamedTuple":
            make = self._unit.named_tuples[path]
            fields = self._positional(node)
            return lambda env: make(*[argument(env) for argument in fields])
        if name == "__new__" and owner in self._unit.classes:
            created = self._unit.classes[owner]
            if created.kind != "Class" or [qualified(argument) for argument in node.args] != [owner]:
                raise SourceError(f"`{path}` makes no instance here", node)
            return lambda env: ScriptObject(created)
        return self._call_function(self._named_function(path, node), self._positional(node), node)

    def _named_function(self, path: str, node: ast.AST) -> ParsedFunction:
        owner, _, name = path.rpartition(".")
        declared = self._unit.classes.get(owner)
        found = self._unit.functions.get(path) or (declared.methods.get(name) if declared else None)
        if found is None:
            raise SourceError(f"`{path}` is not in the archive", node)
        return found

    def _call_function(
        self, function: ParsedFunction, arguments: list[ScriptExpression], node: ast.AST
    ) -> ScriptExpression:
        if len(arguments) > len(function.parameters):
            raise SourceError(f"`{function.qualified_name}` takes {len(function.parameters)} arguments", node)
        self._function.calls.add((function.qualified_name, self._branches > 0))

        def call(env: Env) -> Any:
            runtime = function.runtime
            if runtime is None:
                raise ArchiveError("code ran before the archive was whole")
            return runtime.run(function, [argument(env) for argument in arguments], env[ACTIVATION])

        return call

    def _call_attribute(self, node: ast.Call, function: ast.Attribute) -> ScriptExpression:
        name = function.attr
        value = self._expression(function.value)
        arguments = self._positional(node)
        if name == "tolist" and not arguments:
            return lambda env: _as_list(value(env))
        if name not in self._unit.method_names:
            self._attribute_name(function)
            raise SourceError(f"no class of the archive has a method `{name}`; nothing was run", node)
        call = self._call_method
        return lambda env: call(value(env), name, [argument(env) for argument in arguments], env)

    @staticmethod
    def _call_method(instance: object, name: str, arguments: list[object], env: Env) -> object:
        if not isinstance(instance, ScriptObject):
            raise RuntimeError(f"a {type(instance).__name__} has no method {name}")
        method = instance.script_class.methods.get(name)
        if method is None or method.runtime is None:
            raise RuntimeError(f"{instance.script_class.qualified_name} has no method {name}")
        return method.runtime.run(method, [instance, *arguments], env[ACTIVATION])
