"""Reads what a Python file does with models; what several files do with the same one, the join of all files knows."""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from ...facts import Span
from ...facts.model_flow import BuiltModel, HandedModel, LazyFill, ModelFlow, ModelFunction, ModelRun
from ...lazy_regex import lazy_regex
from ...named_tuples import NamedTuple
from .lazy_caches import TRAINS, ResolveIn, calls_from, lazy_fills
from .name_resolution import Scope, dotted, resolve, statements
from .parsed_module import Module
from .syntax_walking import walk
from .tensor_values import walk_own

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_IsInference = Callable[[ast.expr, _Function | ast.Module], bool]
_RUN_BY_CALL = ("forward", "__call__")
_DIFFERENTIATES = frozenset({"backward", "manual_backward", "backward_pass"})
_SAME_MODEL = frozenset({"to", "cuda", "cpu", "half", "float", "bfloat16", "double", "train", "eval", "requires_grad_"})
"""Methods of a model that give back the model."""


class _Body(NamedTuple):
    """A function, or the module itself, with what its names are looked up in."""

    node: _Function | ast.Module
    owner: str
    scope: Scope
    own: list[ast.stmt]
    """Its statements, without those of functions and classes in it."""
    text: bytes
    """What of the module's text it is."""


def read_model_flow(module: Module, is_inference: _IsInference, resolve_in: ResolveIn) -> ModelFlow:
    """The models of one module. `is_inference` and `resolve_in` are asked about an expression in a function."""
    bodies = list(_bodies(module))
    classes = [node for node in statements(module.tree.body, into_scopes=True) if isinstance(node, ast.ClassDef)]
    built = [one for body in bodies for one in _built(body)]
    built += [one for body in bodies for one in _handed_back(body, built)]
    functions = [_function(body, module, is_inference) for body in bodies]
    held = (one.holder for one in built), (attribute for one in functions for attribute, _ in one.stores)
    shared = dict.fromkeys(chain(*held))
    runs: list[ModelRun] = []
    handed: list[HandedModel] = []
    for index, (body, function) in enumerate(zip(bodies, functions, strict=True)):
        models = ChainMap(dict.fromkeys(function.parameters), shared)
        # Outside of ASCII two spellings may be one name.
        if body.text.isascii() and not any(name in models for name in _names_in(body.text)):
            continue
        for call, inside in _calls(body, function.inside, is_inference):
            if _run_object(call) in models:
                runs.append(ModelRun(_run_object(call), index, inside, module.span(call.func)))
            given = tuple(name if (name := _last(value)) in models else "" for value in call.args)
            by_name = ((one.arg, _last(one.value)) for one in call.keywords)
            named = tuple((parameter, name) for parameter, name in by_name if parameter and name in models)
            if any(given) or named:
                callee = _dotted(call.func, body.scope)
                handed.append(HandedModel(callee, given, named, index, inside, module.span(call.func)))
    return ModelFlow(
        functions=tuple(functions),
        runs=tuple(runs),
        handed=tuple(handed),
        built=tuple(dict.fromkeys(built)),
        fills=tuple(
            LazyFill(node.name, attribute, module.span(assignment), method)
            for node in classes
            for attribute, assignment, method in _fills(node, resolve_in)
        ),
        bases=tuple(
            (node.name, name)
            for node in classes
            for base in node.bases
            if (name := _dotted(base, module.scope)) and not name.startswith("torch.")
        ),
        imports=tuple(
            (name, bindings[0])
            for name, bindings in module.scope.bound.items()
            if isinstance(bindings[0], str) and "." in bindings[0]
        ),
    )


def _names_in(text: bytes) -> Iterator[str]:
    """All words of a text in ASCII, each as often as it stands there."""
    return (match.group().decode() for match in _WORD.finditer(text))


def _bodies(module: Module) -> Iterator[_Body]:
    """The module itself and its functions and methods; functions in functions are part of these."""
    own = list(statements(module.tree.body))
    yield _Body(module.tree, "", module.scope, own, module.source.text)
    for node in own:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield _body(node, "", module.scope, module)
        elif isinstance(node, ast.ClassDef):
            scope = module.scope.inside(node)
            for method in statements(node.body):
                if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield _body(method, node.name, scope, module)


def _body(node: _Function, owner: str, around: Scope, module: Module) -> _Body:
    own = list(statements(node.body))
    # A function's names are looked up among its own only where it imports some.
    imports = any(isinstance(one, (ast.Import, ast.ImportFrom)) for one in own)
    text = module.source.text[module.start_of(node) : module.span(node).end]
    return _Body(node, owner, around.inside(node) if imports else module.scope, own, text)


def _function(body: _Body, module: Module, is_inference: _IsInference) -> ModelFunction:
    node = body.node
    differentiates = b"backward" in body.text and _differentiates(body)
    if isinstance(node, ast.Module):
        return ModelFunction("", "", (), False, differentiates, differentiates, Span(0, len(module.source.text)))
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    is_static = any(_last(decorator) == "staticmethod" for decorator in node.decorator_list)
    parameters = names[1:] if body.owner and not is_static else names
    parameters += [argument.arg for argument in node.args.kwonlyargs]
    return ModelFunction(
        name=node.name,
        owner=body.owner,
        parameters=tuple(parameters),
        inside=any(is_inference(decorator, node) for decorator in node.decorator_list),
        trains=differentiates or TRAINS.search(node.name) is not None,
        differentiates=differentiates,
        span=Span(module.start_of(node), module.span(node).end),
        stores=tuple(_stores(body, set(parameters))) if body.owner else (),
    )


def _differentiates(body: _Body) -> bool:
    """Whether gradients are computed in a function; of a module, in the statements that it runs itself."""
    own = (part for statement in body.own for part in _own_nodes(statement))
    parts = own if isinstance(body.node, ast.Module) else walk(body.node)
    return any(isinstance(part, ast.Call) and _last(part.func) in _DIFFERENTIATES for part in parts)


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _stores(body: _Body, parameters: set[str]) -> Iterator[tuple[str, str]]:
    for statement in body.own:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
            for target in statement.targets:
                if isinstance(target, ast.Attribute) and statement.value.id in parameters:
                    yield target.attr, statement.value.id


def _built(body: _Body) -> Iterator[BuiltModel]:
    """The variables and attributes that are given an object, one in a wrapper, or a list of some."""
    for node in body.own:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            holders = list(filter(None, map(_last, node.targets)))
            if holders:
                for name in _classes_in(node.value, body.scope):
                    yield from (BuiltModel(holder, name, body.owner) for holder in holders)


_IN_ORDER = frozenset({"setup", "setup_module", "prepare", "prepare_model"})
_WORD = lazy_regex(rb"[A-Za-z_]\w*")
_PREPARES = lazy_regex(r"(?i)^(?:fabric|accelerator)$")


def _handed_back(body: _Body, built: Sequence[BuiltModel]) -> Iterator[BuiltModel]:
    """The variables that are given what Fabric, Accelerate or DeepSpeed has made of a model."""
    for node in body.own:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            target = node.targets[0]
            holders = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            for holder, given in zip(map(_last, holders), _models_given(node.value), strict=False):
                if holder and isinstance(given, ast.Call):
                    yield from (BuiltModel(holder, name, body.owner) for name in _classes_in(given, body.scope))
                elif holder and (name := _last(given)):
                    classes = [one.class_ for one in built if one.holder == name and one.class_]
                    yield from (BuiltModel(holder, class_, body.owner) for class_ in classes or [""])


def _models_given(call: ast.Call) -> list[ast.expr]:
    """What a call gives back with a wrapper around, in the order of what it gives; nothing for other calls."""
    if not isinstance(call.func, ast.Attribute):
        return []
    owner = _last(call.func.value).strip("_")
    if call.func.attr in _IN_ORDER and _PREPARES.match(owner):
        return call.args
    if call.func.attr == "initialize" and owner == "deepspeed":
        return [keyword.value for keyword in call.keywords if keyword.arg == "model"] or call.args[1:2]
    return []


def _classes_in(call: ast.Call, scope: Scope) -> Iterator[str]:
    """The classes of which an expression builds objects: `Net` of `FSDP(Net(size).to(device))`."""
    while isinstance(call.func, ast.Attribute) and call.func.attr in _SAME_MODEL:
        if not isinstance(call.func.value, ast.Call):
            return
        call = call.func.value
    name = _dotted(call.func, scope)
    if name and name.rpartition(".")[2].lstrip("_")[:1].isupper():
        yield name
    for argument in call.args:
        for inner in walk_own(argument):
            if isinstance(inner, ast.Call) and _last(inner.func).lstrip("_")[:1].isupper():
                yield _dotted(inner.func, scope)


def _calls(body: _Body, decorated: bool, is_inference: _IsInference) -> Iterator[tuple[ast.Call, bool]]:
    """(call, whether it is made under inference mode) of a function's own statements, lambdas left out."""
    function = body.node
    blocks: set[ast.stmt] = set()
    into_scopes = not isinstance(function, ast.Module)
    holds_scopes = into_scopes and any(isinstance(node, _DEFINITIONS) for node in body.own)
    for node in statements(function.body, into_scopes=True) if holds_scopes else body.own:
        if isinstance(node, ast.With) and any(is_inference(item.context_expr, function) for item in node.items):
            blocks.update(statements(node.body, into_scopes=into_scopes))
        for part in _own_nodes(node):
            if isinstance(part, ast.Call):
                yield part, decorated or node in blocks


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """What a statement evaluates itself, not what the statements inside it do."""
    if isinstance(statement, _DEFINITIONS):
        return
    for part in ast.iter_child_nodes(statement):
        if isinstance(part, (ast.expr, ast.withitem)):
            yield from walk_own(part)


def _fills(node: ast.ClassDef, resolve_in: ResolveIn) -> list[tuple[str, ast.stmt, str]]:
    """(attribute, assignment, method) of each cache that `forward`, or a method that it calls, fills."""
    methods = {child.name: child for child in node.body if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))}
    reached = [name for name in _RUN_BY_CALL if name in methods]
    for name in reached:
        reached += [called for called in calls_from(methods[name]) if called in methods and called not in reached]
    found: dict[str, tuple[str, ast.stmt, str]] = {}
    for name in reached:
        for attribute, assignment in lazy_fills(methods[name], resolve_in):
            found.setdefault(attribute, (attribute, assignment, name))
    return list(found.values())


def _run_object(call: ast.Call) -> str:
    """What a call runs: `net` of `self.net(x)` and `net.forward(x)`."""
    func = call.func
    if isinstance(func, ast.Attribute) and func.attr == "forward":
        return _last(func.value)
    return _last(func)


def _dotted(node: ast.expr, scope: Scope) -> str:
    """A name in full where the imports tell it, otherwise as written; empty if the node isn't a name."""
    parts = dotted(node)
    return resolve(node, scope) or ".".join(parts) if parts is not None else ""


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
