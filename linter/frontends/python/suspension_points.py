"""Where a function stops half-way and other code runs: `yield`, `await`, `async for`, `async with`."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence

from ... import guards
from ...answered_once import answered_once
from ...facts import Span
from ...facts.python_model import Kind, SuspensionPoint
from ...guards import canonical_name
from ...named_tuples import NamedTuple
from .name_resolution import Scope, dotted, resolve, statements
from .parsed_module import Module
from .syntax_walking import walk, walk_own

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
_MEANT_TO_SUSPEND = ("contextmanager", "asynccontextmanager", "fixture", "hookimpl", "hookwrapper", "impl")


def kind_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Kind:
    """What a decorator gets when it decorates this definition."""
    if isinstance(node, ast.ClassDef):
        return Kind.CLASS
    yields = any(
        isinstance(child, (ast.Yield, ast.YieldFrom))
        for statement in statements(node.body)
        for part in run_by(statement)
        for child in walk_own(part)
    )
    if isinstance(node, ast.AsyncFunctionDef):
        return Kind.ASYNC_GENERATOR if yields else Kind.ASYNC_FUNCTION
    return Kind.GENERATOR if yields else Kind.FUNCTION


def suspension_points_in(body: Sequence[ast.stmt], module: Module) -> Iterator[SuspensionPoint]:
    """The pauses of a body, those of functions defined in it left out."""
    for statement in statements(body):
        if isinstance(statement, (ast.AsyncFor, ast.AsyncWith)):
            word = "async for" if isinstance(statement, ast.AsyncFor) else "async with"
            start = module.span(statement).start
            yield SuspensionPoint(word, Span(start, start + len(word)))
        for child in run_by(statement):
            later = _run_later(child)
            for inner in walk_own(child):
                if id(inner) in later:
                    continue
                if isinstance(inner, (ast.Yield, ast.YieldFrom)):
                    yield SuspensionPoint("yield", module.span(inner))
                elif isinstance(inner, ast.Await):
                    yield SuspensionPoint("await", module.span(inner))
                elif isinstance(inner, _COMPREHENSIONS) and any(part.is_async for part in inner.generators):
                    yield SuspensionPoint("async for", module.span(inner))


def run_by(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions that a statement evaluates itself, not those of statements inside it."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from statement.decorator_list
        yield from statement.args.defaults
        yield from (default for default in statement.args.kw_defaults if default is not None)
    elif isinstance(statement, ast.ClassDef):
        yield from (*statement.decorator_list, *statement.bases)
        yield from (keyword.value for keyword in statement.keywords)
    else:
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, (ast.expr, ast.withitem)):
                yield child
            elif isinstance(child, ast.ExceptHandler) and child.type is not None:
                yield child.type
            elif isinstance(child, ast.match_case) and child.guard is not None:
                yield child.guard


def _run_later(node: ast.AST) -> set[int]:
    """The ids of what generator expressions in `node` run only when somebody asks them for a value."""
    later: set[int] = set()
    for expression in walk_own(node):
        if isinstance(expression, ast.GeneratorExp):
            first, *others = expression.generators
            for part in (expression.elt, *first.ifs, *others):
                later.update(id(inner) for inner in walk(part))
    return later


def why_it_suspends(node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, module: Module) -> str:
    """Why a `yield` under a guard is meant in this function; empty when nothing says so.

    Its decorator makes a context manager or a fixture of it, or guards its steps; or the module makes
    one by a call: `quiet = contextmanager(_quiet)`.
    """
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = resolve(called, scope)
        for parts in (dotted(called), name.split(".") if name is not None else None):
            if parts and (parts[-1] in _MEANT_TO_SUSPEND or any("fixture" in part for part in parts)):
                return ".".join(parts)
        # On an `async def` a guard does nothing (GF401).
        if (
            isinstance(node, ast.FunctionDef)
            and name is not None
            and guards.python_guard(canonical_name(name)) is not None
        ):
            return name
    if node.name in module.managed:
        return "contextmanager"
    return ""


def is_only_read(node: ast.FunctionDef | ast.AsyncFunctionDef, module: Module) -> bool:
    """Whether the file steps the generator, and every loop that does so only keeps what it yields.

    `for sample in self.sample_progressive(): last = sample` computes nothing while the generator is suspended.
    """
    steps = _steps(module)
    calls = steps.calls.get(node.name, [])
    return bool(calls) and all(id(call) in steps.only_kept for call in calls)


class _Steps(NamedTuple):
    """Who steps the generators that are called in a file."""

    calls: dict[str, list[ast.Call]]
    """By the called function's name."""
    only_kept: set[int]
    """The ids of those calls of which all that is yielded is only kept."""


@answered_once
def _steps(module: Module) -> _Steps:
    steps = _Steps(defaultdict(list), set())
    for node in walk(module.tree):
        if isinstance(node, ast.Call):
            steps.calls[_called(node)].append(node)
        stepped = _kept_by(node)
        if stepped is not None:
            steps.only_kept.add(id(stepped))
    return steps


_COLLECTS = frozenset({"list", "tuple", "deque"})
_HANDS_ON = frozenset({"enumerate", "iter", "tqdm", "track"})
"""Functions that step what they are given when somebody steps them."""


def _kept_by(node: ast.AST) -> ast.expr | None:
    """What a node steps to the end, if it computes nothing with what is yielded."""
    stepped: ast.expr | None = None
    if isinstance(node, ast.For) and not node.orelse and all(map(_only_keeps, node.body)):
        stepped = node.iter
    elif isinstance(node, ast.Call) and _called(node) in _COLLECTS and node.args:
        stepped = node.args[0]
    elif isinstance(node, ast.ListComp) and len(node.generators) == 1 and not node.generators[0].is_async:
        generator = node.generators[0]
        if not any(map(_computes, (node.elt, *generator.ifs))):
            stepped = generator.iter
    elif isinstance(node, ast.Assign) and any(map(_takes_all, node.targets)):
        stepped = node.value
    while isinstance(stepped, ast.Call) and _called(stepped) in _HANDS_ON and stepped.args:
        stepped = stepped.args[0]
    return stepped


def _takes_all(target: ast.expr) -> bool:
    """Whether a target is given all that an iterator yields: `*_, last = self.sample_progressive()`."""
    return isinstance(target, (ast.Tuple, ast.List)) and any(isinstance(one, ast.Starred) for one in target.elts)


def _computes(value: ast.expr) -> bool:
    return any(isinstance(part, (ast.Call, ast.BinOp, ast.Await)) for part in walk(value))


def _called(call: ast.Call) -> str:
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


_KEEPS = frozenset({"append", "add", "update", "put", "put_nowait", "set_description", "set_postfix"})


def _only_keeps(statement: ast.stmt) -> bool:
    """Whether a statement computes nothing: it gives names to what is there, or puts it into a container."""
    if isinstance(statement, (ast.Pass, ast.Break, ast.Continue)):
        return True
    if isinstance(statement, ast.If):
        parts = [*statement.body, *statement.orelse]
        return not any(isinstance(part, ast.Call) for part in walk(statement.test)) and all(map(_only_keeps, parts))
    if isinstance(statement, ast.Assign):
        return not _computes(statement.value)
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.value, ast.Constant)  # a counter
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        kept = isinstance(call.func, ast.Attribute) and call.func.attr in _KEEPS
        return kept and not any(map(_computes, call.args))
    return False
