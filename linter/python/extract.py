"""A Python file's text -> its facts.

The syntax tree is walked statement by statement, and only where a guard's name stands on a row of the statement: the
rest of a file costs nothing but its parsing.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from .. import guards
from ..facts import Argument, Class, Facts, Form, Function, GuardUse, Span
from ..sources import Source
from ..suppress import find_directives
from .comments import comments
from .escapes import find_escapes
from .facts import (
    Decorated,
    Escape,
    Following,
    GradientCall,
    Kind,
    LazyCache,
    Pause,
    PythonFacts,
    PythonUse,
    Training,
)
from .lazy import find_lazy_caches
from .look import WORDS, may_matter, places_of
from .names import Scope, canonical, dotted, resolve, resolve_name, statements
from .parse import error_row, parse
from .program import read_program
from .tensors import calls_in, walk_own

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_MEANT_TO_PAUSE = ("contextmanager", "asynccontextmanager", "fixture", "hookimpl", "hookwrapper", "impl")
_MODES = {guards.PYTHON_INFERENCE_MODE, guards.C_INFERENCE_MODE}
_TRAINING = {
    "FullyShardedDataParallel": "FSDP",
    "fully_shard": "FSDP",
    "torch_xla": "XLA",
    "torch.compile": "torch.compile",
}
_OPTIMIZER = re.compile(r"(?:^|[._])(?:optim(?:izer)?s?|opt|optimizer_\w+|\w+_optim(?:izer)?|\w+_opt)$", re.IGNORECASE)
_ENTERS = frozenset({"__enter__", "__exit__", "enter_context", "push", "enter_async_context"})


def extract(source: Source, watched: Iterable[str] = ()) -> Facts | None:
    """The facts of one Python file; None when nothing in it can matter.

    `watched` are further names under which other files of the project export guards.
    """
    watched = tuple(watched)
    if not may_matter(source.text, watched):
        return None
    text = source.text.decode("utf-8")
    tree = parse(text)
    directives = find_directives(source.text, source.row, comments)
    common = Facts(
        path=source.path,
        language="python",
        notes=(*source.notes, *directives.notes),
        suppressions=directives.suppressions,
        line_starts=source.line_starts,
    )
    if tree is None:
        return replace(common, partial=True, error_row=error_row(text), python=PythonFacts())
    reading = _Reading(source, tree, watched)
    reading.read()
    facts = replace(
        common,
        guard_uses=tuple(use.use for use in reading.uses),
        functions=tuple(reading.functions),
        classes=tuple(reading.classes),
        python=reading.python_facts(),
    )
    if reading.everything:
        facts = read_program(facts, reading)
    if b"NonVariableTypeMode" in source.text:
        from .strings import embedded_cpp, with_pieces

        facts = with_pieces(facts, embedded_cpp(source, tree, facts))
    return facts


@dataclass(frozen=True)
class _Place:
    """Where the walk is."""

    scope: Scope
    block: Span
    function: int | None = None
    node: _FunctionNode | None = None
    class_: int | None = None
    around: tuple[int, ...] = ()
    after: tuple[tuple[Sequence[ast.stmt], int], ...] = ()
    """For each block from the function's own to the innermost, (its statements, index of the one being read)."""
    resumes: str = ""
    namespace: str = ""
    prefix: int | None = None
    """The use whose block this is."""
    probing: bool = False
    """Stands in `try:`, where a name alone asks whether it exists."""


class _Reading:
    """Walks one module."""

    def __init__(self, source: Source, tree: ast.Module, watched: Sequence[str]) -> None:
        self.source = source
        self.tree = tree
        self.starts = source.line_starts
        self.module = Scope(tree, None)
        self.watched = frozenset(watched)
        self.uses: list[PythonUse] = []
        self.functions: list[Function] = []
        self.classes: list[Class] = []
        self.nodes: list[_FunctionNode] = []
        self.gradient_calls: list[GradientCall] = []
        self.escapes: list[Escape] = []
        self.lazy_caches: list[LazyCache] = []
        self.everything = b"NonVariableTypeMode" in source.text or bool(watched)
        self._words = {*WORDS, guards.LEGACY, *self.watched}
        self._rows = self._rows_with(self._words)
        aliases = set(self._aliases()) - self._words
        if aliases:
            self._words |= aliases
            self._rows = sorted({*self._rows, *self._rows_with(aliases)})
        self._taken: set[int] = set()

    # -- places

    def offset(self, row: int, column: int) -> int:
        return self.starts[row - 1] + column

    def span(self, node: ast.AST) -> Span:
        return Span(
            self.offset(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            self.offset(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def written(self, node: ast.AST) -> str:
        return self.source.slice(self.span(node))

    def _body_span(self, body: Sequence[ast.stmt]) -> Span:
        return Span(self.start_of(body[0]), self.span(body[-1]).end)

    def start_of(self, node: ast.stmt) -> int:
        """Where a statement begins, its decorators included."""
        decorators = getattr(node, "decorator_list", None)
        if not decorators:
            return self.span(node).start
        first = self.span(decorators[0]).start
        return self.source.text.rfind(b"@", 0, first)

    # -- which rows can matter

    def _aliases(self) -> Iterator[str]:
        """Names that this file gives to guards: `import … as`, `guard = torch.no_grad`."""
        stack: list[ast.stmt] = list(self.tree.body)
        while stack:
            node = stack.pop()
            if not self._matters(node):
                continue  # an alias of a guard names the guard
            yield from self._aliases_of(node)
            for name in ("body", "handlers", "orelse", "finalbody", "cases"):
                for child in getattr(node, name, ()):
                    stack.extend([child] if isinstance(child, ast.stmt) else child.body)

    def _aliases_of(self, node: ast.stmt) -> Iterator[str]:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.asname and alias.name in self._words:
                    yield alias.asname
        elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.Name, ast.Attribute)):
            last = node.value.attr if isinstance(node.value, ast.Attribute) else node.value.id
            if last in self._words:
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        yield target.id

    def _rows_with(self, words: Iterable[str]) -> list[int]:
        starts = self.starts
        return sorted({bisect_right(starts, at) for at in places_of(self.source.text, words)})

    def _matters(self, node: ast.stmt) -> bool:
        """Whether a guard's name stands on one of the statement's rows."""
        decorators = getattr(node, "decorator_list", None)
        first = min([node.lineno, *(decorator.lineno for decorator in decorators)]) if decorators else node.lineno
        index = bisect_left(self._rows, first)
        return index < len(self._rows) and self._rows[index] <= (node.end_lineno or node.lineno)

    # -- the walk

    def read(self) -> None:
        whole = Span(0, len(self.source.text))
        self._block(self.tree.body, _Place(self.module, whole))

    def _block(self, body: Sequence[ast.stmt], place: _Place) -> None:
        # A chain of `elif` is as deep a tree as it is long: a stack, no recursion.
        for index, node in enumerate(body):
            inside = self._inference_use(place) is not None
            if not inside and not self._matters(node) and not (self.everything and _is_definition(node)):
                continue
            here = replace(place, after=(*place.after, (body, index)))
            self._statement(node, here, body[index + 1] if index + 1 < len(body) else None)

    def _statement(self, node: ast.stmt, place: _Place, following: ast.stmt | None) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._function(node, place)
        elif isinstance(node, ast.ClassDef):
            self._class(node, place)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self._with(node, place)
        elif isinstance(node, ast.Expr):
            self._expression_statement(node, place, following)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            self._assignment(node, place)
        elif isinstance(node, ast.ImportFrom):
            self._import(node, place)
        elif isinstance(node, ast.If):
            chain: ast.stmt = node
            while isinstance(chain, ast.If):
                self._expressions(chain.test, place)
                self._inner(chain.body, place)
                if len(chain.orelse) == 1 and isinstance(chain.orelse[0], ast.If):
                    chain = chain.orelse[0]
                else:
                    self._inner(chain.orelse, place)
                    break
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._expressions(child, place)
            for name in ("body", "orelse", "finalbody"):
                probing = isinstance(node, ast.Try) and name == "body"
                self._inner(getattr(node, name, ()), replace(place, probing=probing))
            for name in ("handlers", "cases"):
                for part in getattr(node, name, ()):
                    self._inner(part.body, place)

    def _inner(self, body: Sequence[ast.stmt], place: _Place) -> None:
        if body:
            self._block(body, replace(place, block=self._body_span(body), prefix=None))

    # -- functions and classes

    def _function(self, node: _FunctionNode, place: _Place) -> None:
        index = len(self.functions)
        span = Span(self.start_of(node), self.span(node).end)
        body = self._body_span(node.body)
        qualified = "::".join(filter(None, [place.namespace, node.name]))
        self.functions.append(
            Function(
                name=node.name,
                qualified=qualified,
                span=span,
                body=body,
                parent=place.function,
                class_=place.class_,
            )
        )
        self.nodes.append(node)
        scope = Scope(node, place.scope)
        inner = _Place(scope, body, index, node, None, (), (), self._why_it_pauses(node, place.scope), qualified)
        around: list[int] = []
        for position, decorator in enumerate(node.decorator_list):
            use = self._decorator(decorator, position, node, place, inner)
            if use is not None:
                around.append(use)
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
            self._expressions(default, place)
        self._block(node.body, replace(inner, around=tuple(around)))

    def _why_it_pauses(self, node: _FunctionNode, scope: Scope) -> str:
        """The decorator for which a `yield` under a guard is meant: context managers, fixtures, guards themselves."""
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            parts = dotted(called)
            if parts and (parts[-1] in _MEANT_TO_PAUSE or any("fixture" in part for part in parts)):
                return ".".join(parts)
            name = resolve(called, scope)
            if name is not None and guards.python_guard(canonical(name)) is not None:
                return name
        return ""

    def _class(self, node: ast.ClassDef, place: _Place) -> None:
        qualified = "::".join(filter(None, [place.namespace, node.name]))
        bases = tuple(self._base(base, place.scope) for base in node.bases)
        index = len(self.classes)
        span = Span(self.start_of(node), self.span(node).end)
        self.classes.append(Class(node.name, qualified, span, bases, has_methods=True))
        scope = Scope(node, place.scope)
        for position, decorator in enumerate(node.decorator_list):
            self._decorator(decorator, position, node, place, place)
        inner = _Place(scope, self._body_span(node.body), place.function, None, index, namespace=qualified)
        self._block(node.body, inner)
        if not any(use.use.guard == guards.PYTHON_INFERENCE_MODE and span.holds(use.use.span) for use in self.uses):
            return
        for cache in find_lazy_caches(
            node,
            lambda expression, function: self._is_inference(expression, scope, function),
            lambda expression, function: self._known(expression, Scope(function, scope)),
        ):
            self.lazy_caches.append(
                LazyCache(cache.attribute, self.span(cache.node), cache.method, cache.reader, self.span(cache.reading))
            )

    def _base(self, base: ast.expr, scope: Scope) -> str:
        """A base class, spelled as the C++ front end spells it, so that a decision reads one form."""
        name = resolve(base, scope)
        if name is None:
            return self.written(base)[:200]
        name = canonical(name)
        if name in ("torch.autograd.Function", "torch.autograd.function.Function"):
            return "torch::autograd::Function<>"
        return name.lstrip(".").replace(".", "::")

    def _is_inference(self, expression: ast.expr, scope: Scope, function: _FunctionNode) -> bool:
        inner = Scope(function, scope)
        called = expression.func if isinstance(expression, ast.Call) else expression
        if self._guard_named(called, inner)[0] != guards.PYTHON_INFERENCE_MODE:
            return False
        return not isinstance(expression, ast.Call) or self._mode(guards.PYTHON_INFERENCE_MODE, expression) is True

    # -- guards

    def _guard_named(self, node: ast.expr, scope: Scope) -> tuple[str | None, str]:
        """(guard, dotted name): what an expression of names and dots names, when that is or may be a guard."""
        last = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if last not in self._words:
            return None, ""
        name = resolve(node, scope)
        if name is None:
            return (guards.LEGACY, last) if last == guards.LEGACY and isinstance(node, ast.Attribute) else (None, "")
        guard = guards.python_guard(name)
        if guard is not None:
            return guard, name
        # A name of the project's own: what it is, the join of all files knows.
        if not name.startswith("torch.") and "." in name:
            return name, name
        return None, ""

    def _is_guard(self, node: ast.expr, scope: Scope) -> bool:
        return self._guard_named(node, scope)[0] is not None

    def _mode(self, guard: str, call: ast.Call) -> bool | None:
        takes = guards.PYTHON[guard].takes if guard in guards.PYTHON else guards.Takes.OPTIONAL_BOOL
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        if not values:
            return True if takes in (guards.Takes.NOTHING, guards.Takes.OPTIONAL_BOOL) else None
        value = values[0]
        return value.value if isinstance(value, ast.Constant) and isinstance(value.value, bool) else None

    def _argument(self, call: ast.Call) -> Argument:
        opening = self.span(call.func).end
        text = self.source.text
        while text[opening : opening + 1] != b"(":
            opening += 1
        span = Span(opening, self.span(call).end)
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        value = values[0].value if len(values) == 1 and isinstance(values[0], ast.Constant) else None
        return Argument(span, self.source.slice(span), value if isinstance(value, bool) else None, not values)

    def _add(self, expression: ast.expr, place: _Place, form: Form, statement: Span, **more: object) -> int | None:
        """Record a use when the expression is a guard, called or not."""
        call = expression if isinstance(expression, ast.Call) else None
        named = call.func if call is not None else expression
        if not isinstance(named, (ast.Name, ast.Attribute)):
            return None
        guard, origin = self._guard_named(named, place.scope)
        if guard is None:
            return None
        self._taken.add(id(named))
        parts = dotted(named) or []
        scope = more.pop("scope", place.block)
        use = GuardUse(
            guard=guard,
            form=form,
            span=statement,
            type_span=self.span(named),
            written=self.written(named),
            alias=parts[-1] if parts and parts[-1] != guard.rpartition(".")[2] else None,
            variable=more.pop("variable", None),  # type: ignore[arg-type]
            variable_spans=more.pop("variable_spans", ()),  # type: ignore[arg-type]
            argument=self._argument(call) if call is not None else None,
            scope=scope,  # type: ignore[arg-type]
            function=more.pop("function", place.function),  # type: ignore[arg-type]
            class_=place.class_ if form is Form.MEMBER else None,
        )
        self.uses.append(
            PythonUse(
                use,
                call is not None,
                self.span(expression),
                self._mode(guard, call) if call is not None else None,
                around=place.around,
                resumes=place.resumes,
                local=place.function is not None,
                origin=origin,
                **more,  # type: ignore[arg-type]
            )
        )
        return len(self.uses) - 1

    def _decorator(
        self, decorator: ast.expr, position: int, node: _FunctionNode | ast.ClassDef, place: _Place, inner: _Place
    ) -> int | None:
        if not self._is_guard(_named(decorator), place.scope):
            self._expressions(decorator, place)
            return None
        below = tuple(self._decorator_name(other, place.scope) for other in node.decorator_list[position + 1 :])
        pauses = [] if isinstance(node, ast.ClassDef) else list(self._pauses(node.body))
        decorated = Decorated(
            node.name,
            _kind(node),
            Span(self.start_of(node), self.span(node).end),
            below,
            bool(pauses),
        )
        span = self.span(decorator)
        line = Span(self.source.text.rfind(b"@", 0, span.start), span.end)
        function = inner.function if not isinstance(node, ast.ClassDef) else place.function
        scope = inner.block if not isinstance(node, ast.ClassDef) else self._body_span(node.body)
        return self._add(decorator, place, Form.DECORATOR, line, scope=scope, function=function, decorated=decorated)

    def _decorator_name(self, decorator: ast.expr, scope: Scope) -> str:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        return canonical(resolve(called, scope) or ".".join(dotted(called) or ["?"]))

    def _with(self, node: ast.With | ast.AsyncWith, place: _Place) -> None:
        block = self._body_span(node.body)
        header = Span(self.span(node).start, self.source.text.rfind(b":", 0, block.start) + 1)
        around = place.around
        guarded = any(self._is_guard(_named(item.context_expr), place.scope) for item in node.items)
        pauses = list(self._pauses(node.body)) if guarded else []
        for item in node.items:
            expression, target = item.context_expr, item.optional_vars
            target_span, target_used = None, False
            if target is not None and guarded:
                target_span = Span(self.span(expression).end, self.span(target).end)
                target_used = isinstance(target, ast.Name) and self._names(target.id, place) > 1
            use = self._add(
                expression,
                replace(place, around=around),
                Form.WITH,
                header,
                scope=block,
                variable=target.id if isinstance(target, ast.Name) else None,
                variable_spans=(self.span(target),) if isinstance(target, ast.Name) else (),
                target_span=target_span,
                target_used=target_used,
                items=len(node.items),
                pauses=tuple(pauses),
                async_with=isinstance(node, ast.AsyncWith),
                sole=place.prefix is not None and len(place.after[-1][0]) == 1,
            )
            if use is None:
                self._expressions(expression, place)
                continue
            around = (*around, use)
            found = self.uses[use]
            if (
                isinstance(node, ast.With)
                and found.mode is True
                and found.use.guard.rpartition(".")[2] in (guards.PYTHON_INFERENCE_MODE, guards.LEGACY)
            ):
                self._escapes(node, place, use)
        last = around[-1] if around != place.around else None
        self._block(node.body, replace(place, block=block, around=around, prefix=last))

    def _escapes(self, node: ast.With, place: _Place, use: int) -> None:
        after = [statement for body, index in reversed(place.after) for statement in body[index + 1 :]]
        for found in find_escapes(node, after, lambda expression: self._known(expression, place.scope)):
            self.escapes.append(Escape(use, found.variable, self.span(found.made), found.what, self.span(found.where)))

    def _known(self, expression: ast.expr, scope: Scope) -> str | None:
        name = resolve(expression, scope)
        return canonical(name) if name is not None else None

    def _pauses(self, body: Sequence[ast.stmt]) -> Iterator[Pause]:
        for statement in statements(body):
            if isinstance(statement, (ast.AsyncFor, ast.AsyncWith)):
                word = "async for" if isinstance(statement, ast.AsyncFor) else "async with"
                start = self.span(statement).start
                yield Pause(word, Span(start, start + len(word)))
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            for child in ast.iter_child_nodes(statement):
                if not isinstance(child, (ast.expr, ast.withitem)):
                    continue
                for inner in walk_own(child):
                    if isinstance(inner, (ast.Yield, ast.YieldFrom)):
                        yield Pause("yield", self.span(inner))
                    elif isinstance(inner, ast.Await):
                        yield Pause("await", self.span(inner))

    def _expression_statement(self, node: ast.Expr, place: _Place, following: ast.stmt | None) -> None:
        form = Form.TEMPORARY if isinstance(node.value, ast.Call) else Form.REFERENCE
        if place.probing and form is Form.REFERENCE:
            return
        if not self._is_guard(_named(node.value), place.scope):
            self._expressions(node.value, place)
            return
        behind = None
        if isinstance(following, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            behind = Following(_kind(following), self.start_of(following))
        if self._add(node.value, place, form, self.span(node), following=behind) is None:
            self._expressions(node.value, place)

    def _assignment(self, node: ast.Assign | ast.AnnAssign, place: _Place) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value
        if value is None:
            return
        target = targets[0] if len(targets) == 1 else None
        if not isinstance(value, ast.Call):
            # `guard = torch.inference_mode` is another name for it, no use.
            if isinstance(value, (ast.Name, ast.Attribute)) and self._guard_named(value, place.scope)[0]:
                self._taken.add(id(value))
                return
            self._expressions(value, place)
            return
        use: int | None = None
        if not self._is_guard(value.func, place.scope):
            self._expressions(value, place)
            return
        if isinstance(target, ast.Name):
            spans, entered = self._variable(target.id, place, node)
            use = self._add(
                value, place, Form.AUTO, self.span(node), variable=target.id, variable_spans=spans, entered=entered
            )
        elif isinstance(target, ast.Attribute):
            entered = self._attribute_is_entered(target.attr)
            use = self._add(value, place, Form.MEMBER, self.span(node), variable=self.written(target), entered=entered)
        if use is None:
            self._expressions(value, place)

    def _names(self, name: str, place: _Place) -> int:
        root: ast.AST = place.node or self.tree
        return sum(1 for child in ast.walk(root) if isinstance(child, ast.Name) and child.id == name)

    def _variable(self, name: str, place: _Place, assignment: ast.stmt) -> tuple[tuple[Span, ...], bool]:
        """(where a variable stands in its function, whether it is used for anything but `del`)."""
        root: ast.AST = place.node or self.tree
        spans: list[Span] = []
        deleted = {id(t) for d in ast.walk(root) if isinstance(d, ast.Delete) for t in d.targets}
        used = False
        for child in ast.walk(root):
            if isinstance(child, ast.Name) and child.id == name:
                spans.append(self.span(child))
                used = used or (isinstance(child.ctx, ast.Load) and id(child) not in deleted)
            elif isinstance(child, (ast.Global, ast.Nonlocal)) and name in child.names:
                used = True
        return tuple(sorted(spans)), used

    def _attribute_is_entered(self, attribute: str) -> bool:
        """Whether `self.attribute` is entered, left or used as a context manager anywhere in the file."""
        name = re.escape(attribute.encode())
        text = self.source.text
        return (
            re.search(
                rb"\b" + name + rb"\s*\.\s*__(?:enter|exit)__|(?:with|enter_context\()\s*[\w.]*\b" + name + rb"\b", text
            )
            is not None
        )

    def _import(self, node: ast.ImportFrom, place: _Place) -> None:
        for alias in node.names:
            if alias.name != guards.LEGACY:
                continue
            bound = alias.asname or alias.name
            self.uses.append(
                PythonUse(
                    GuardUse(
                        guard=guards.LEGACY,
                        form=Form.IMPORT,
                        span=self.span(node),
                        type_span=self.span(alias),
                        written=alias.name,
                        alias=alias.asname,
                        variable=bound,
                        scope=place.block,
                        function=place.function,
                        shared=len(node.names) > 1,
                    ),
                    False,
                    self.span(alias),
                    local=place.function is not None,
                    origin=resolve_name(bound, place.scope) or "",
                )
            )

    # -- expressions

    def _expressions(self, expression: ast.expr, place: _Place) -> None:
        """Guards anywhere inside an expression, and gradients computed under inference mode."""
        inference = self._inference_use(place)
        first, last = expression.lineno, expression.end_lineno or expression.lineno
        index = bisect_left(self._rows, first)
        holds_guard = index < len(self._rows) and self._rows[index] <= last
        if not holds_guard and inference is None:
            return
        for node in walk_own(expression):
            if isinstance(node, ast.Call):
                if inference is not None:
                    self._gradient_call(node, place, inference)
                if holds_guard and id(node.func) not in self._taken:
                    self._add(node, place, Form.ARGUMENT, self.span(expression))
        if not holds_guard:
            return
        for node in ast.walk(expression):
            if isinstance(node, ast.Lambda):
                self._expressions_of_lambda(node, place)
            if (
                isinstance(node, (ast.Name, ast.Attribute))
                and isinstance(node.ctx, ast.Load)
                and id(node) not in self._taken
            ):
                self._add(node, place, Form.ARGUMENT, self.span(expression))

    def _expressions_of_lambda(self, node: ast.Lambda, place: _Place) -> None:
        outside = replace(place, around=())
        for call in calls_in(node.body):
            if id(call.func) not in self._taken:
                self._add(call, outside, Form.ARGUMENT, self.span(node))

    def _inference_use(self, place: _Place) -> int | None:
        """The use that puts this place under inference mode; None where none does, or one may switch it off."""
        found: int | None = None
        for index in place.around:
            use = self.uses[index]
            if use.use.guard.rpartition(".")[2] in _MODES:
                on = use.mode is True or (use.use.form is Form.DECORATOR and not use.called)
                found = index if on else None
        return found

    def _gradient_call(self, call: ast.Call, place: _Place, use: int) -> None:
        what = ""
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in ("backward", "manual_backward"):
            receiver = func.value
            if not (
                isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Name) and receiver.func.id == "super"
            ):
                what = f"{self.written(func)}()"
        elif isinstance(func, ast.Attribute) and func.attr == "step":
            if _OPTIMIZER.search(self.written(func.value)):
                what = f"{self.written(func)}()"
        elif isinstance(func, (ast.Name, ast.Attribute)) and (
            func.attr if isinstance(func, ast.Attribute) else func.id
        ) in (
            "grad",
            "backward",
        ):
            name = self._known(func, place.scope)
            if name in ("torch.autograd.grad", "torch.autograd.backward"):
                what = f"{self.written(func)}()"
        if what:
            self.gradient_calls.append(GradientCall(" ".join(what.split()), self.span(call), use))

    # -- the file as a whole

    def python_facts(self) -> PythonFacts:
        inference = any(use.use.guard == guards.PYTHON_INFERENCE_MODE for use in self.uses)
        names = self.module.bound
        torch_name = next((n for n in ("torch", *names) if n in names and self._is_torch(n)), "")
        return PythonFacts(
            uses=tuple(self.uses),
            gradient_calls=tuple(self.gradient_calls),
            escapes=tuple(self.escapes),
            lazy_caches=tuple(self.lazy_caches),
            training=tuple(self._training()) if inference else (),
            trains=b".backward(" in self.source.text or b"Trainer" in self.source.text,
            exports=tuple(self._exports()),
            stars=tuple(self.module.stars),
            torch_name=torch_name,
            imports_end=self._imports_end(),
        )

    def _is_torch(self, name: str) -> bool:
        return resolve_name(name, self.module) in guards.PYTHON_MODULES

    def _exports(self) -> Iterator[tuple[str, str]]:
        for name, bindings in self.module.bound.items():
            for binding in bindings:
                last = binding.rpartition(".")[2] if isinstance(binding, str) else ""
                if isinstance(binding, (ast.Name, ast.Attribute)):
                    last = binding.attr if isinstance(binding, ast.Attribute) else binding.id
                if last in self._words:
                    meaning = resolve_name(name, self.module)
                    if meaning is not None:
                        yield name, meaning
                    break

    def _training(self) -> Iterator[Training]:
        text = self.source.text
        for word, what in _TRAINING.items():
            pattern = rb"\b" + re.escape(word.encode()) + (rb"\s*\(|@" + word.encode() if "compile" in word else rb"\b")
            match = re.search(pattern, text)
            if match is not None and b"#" not in text[text.rfind(b"\n", 0, match.start()) + 1 : match.start()]:
                yield Training(what, Span(*match.span()))

    def _imports_end(self) -> int:
        """Where a further import can be written: behind the last import at the top, or the module's docstring."""
        row = 0
        for index, node in enumerate(self.tree.body):
            is_docstring = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if isinstance(node, (ast.Import, ast.ImportFrom)) or is_docstring:
                row = node.end_lineno or node.lineno
            elif row:
                break
        return self.starts[row] if row < len(self.starts) else len(self.source.text)


def _named(expression: ast.expr) -> ast.expr:
    """What an expression calls, or the expression itself."""
    return expression.func if isinstance(expression, ast.Call) else expression


def _kind(node: ast.stmt) -> Kind:
    if isinstance(node, ast.ClassDef):
        return Kind.CLASS
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    yields = any(
        isinstance(child, (ast.Yield, ast.YieldFrom))
        for statement in statements(node.body)
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        for part in ast.iter_child_nodes(statement)
        if isinstance(part, ast.expr)
        for child in walk_own(part)
    )
    if isinstance(node, ast.AsyncFunctionDef):
        return Kind.ASYNC_GENERATOR if yields else Kind.ASYNC_FUNCTION
    return Kind.GENERATOR if yields else Kind.FUNCTION


def _is_definition(node: ast.stmt) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
