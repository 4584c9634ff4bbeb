"""The walk over a module, statement by statement: guard uses, and the functions and classes they are in."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ... import guards
from ...facts import Class, Form, Function, GuardUse, Span
from ...facts.expressions import Expression
from ...facts.python_model import Decorated, Following, PythonUse
from ...guards import canonical_name
from .guard_names import guard_named, mode_of, named, python_argument
from .guard_variables import GuardVariables
from .name_resolution import Scope, dotted, is_definition, is_descriptor, resolve, resolve_name
from .parsed_module import Module
from .python_expressions import PythonExpressionReader, dotted_path, name_as_written
from .suspension_points import is_only_read, kind_of, suspension_points_in, why_it_suspends
from .syntax_walking import calls_in, walk_own

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

_EXPECTING = frozenset(
    "raises warns deprecated_call assertRaises assertRaisesRegex assertWarns assertWarnsRegex".split()
)


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
    namespace: tuple[str, ...] = ()
    prefix: int | None = None
    """The use whose block this is."""
    probing: bool = False
    """It is in `try:`, where a name alone asks whether it exists."""
    expecting: bool = False
    """It is in a block of a test that expects a failure."""
    stack: str = ""
    """The variable that holds the `ExitStack` whose block this is in."""


def _few(around: tuple[int, ...]) -> tuple[int, ...]:
    """Of very many guards around a place the first and the last."""
    # Python compiles no more than some 20 blocks in each other.
    return around if len(around) <= 64 else (*around[:32], *around[-32:])


class ModuleReading:
    """One walk over a module, and what it has found."""

    def __init__(self, module: Module, *, everything: bool) -> None:
        self.module = module
        self.uses: list[PythonUse] = []
        self.functions: list[Function] = []
        self.classes: list[Class] = []
        self.nodes: list[_FunctionNode] = []
        self._everything = everything
        """Functions and classes without a guard are facts too."""
        self._taken: set[int] = set()
        self._variables = GuardVariables(module)

    # -- the walk

    def read(self) -> None:
        whole = Span(0, len(self.module.source.text))
        self._block(self.module.tree.body, _Place(self.module.scope, whole))

    def _block(self, body: Sequence[ast.stmt], place: _Place) -> None:
        # A chain of `elif` is as deep a tree as it is long: a stack, no recursion.
        for index, node in enumerate(body):
            if not self.module.matters(node) and not (self._everything and is_definition(node)):
                continue
            here = replace(place, after=(*place.after, (body, index)))
            self._statement(node, here, body[index + 1] if index + 1 < len(body) else None)
            entered = self._entered_on(node, place) if place.stack else None
            if entered is not None:
                place = self._entered_on_stack(entered, body[index + 1 :], place)

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
            self._block(body, replace(place, block=self.module.body_span(body), prefix=None))

    # -- functions and classes

    def _function(self, node: _FunctionNode, place: _Place) -> None:
        index = len(self.functions)
        span = Span(self.module.start_of(node), self.module.span(node).end)
        body = self.module.body_span(node.body)
        qualified = (*place.namespace, node.name)
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
        scope = place.scope.inside(node)
        resumes = why_it_suspends(node, place.scope, self.module)
        inner = _Place(scope, body, index, node, None, (), (), resumes, qualified)
        around = self._decorators(node, place, inner)
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
            self._expressions(default, place)
        self._block(node.body, replace(inner, around=around))

    def _class(self, node: ast.ClassDef, place: _Place) -> None:
        qualified = (*place.namespace, node.name)
        bases = tuple(self._base(base, place.scope) for base in node.bases)
        index = len(self.classes)
        span = Span(self.module.start_of(node), self.module.span(node).end)
        self.classes.append(Class(node.name, qualified, span, bases, has_methods=True))
        scope = place.scope.inside(node)
        self._decorators(node, place, place)
        inner = _Place(scope, self.module.body_span(node.body), place.function, None, index, namespace=qualified)
        self._block(node.body, inner)

    def _base(self, base: ast.expr, scope: Scope) -> Expression:
        """A base class, by its full name where that is known."""
        name = resolve(base, scope)
        if name is None:
            return PythonExpressionReader(self.module).read(base, scope)
        return dotted_path(canonical_name(name))

    # -- guards

    def _is_guard(self, node: ast.expr, scope: Scope) -> bool:
        return guard_named(node, scope, self.module)[0] is not None

    def _add(self, expression: ast.expr, place: _Place, form: Form, statement: Span, **more: object) -> int | None:
        """Record a use when the expression is a guard, called or not."""
        call = expression if isinstance(expression, ast.Call) else None
        callee = named(expression)
        if not isinstance(callee, (ast.Name, ast.Attribute)):
            return None
        guard, origin = guard_named(callee, place.scope, self.module)
        if guard is None:
            return None
        self._taken.add(id(callee))
        parts = dotted(callee) or []
        scope = more.pop("scope", place.block)
        use = GuardUse(
            guard=guard,
            form=form,
            span=statement,
            type_span=self.module.span(callee),
            named=name_as_written(self.module, callee),
            alias=parts[-1] if parts and parts[-1] != guard.rpartition(".")[2] else None,
            variable=more.pop("variable", None),  # type: ignore[arg-type]
            variable_spans=more.pop("variable_spans", ()),  # type: ignore[arg-type]
            argument=python_argument(call, place.scope, self.module) if call is not None else None,
            scope=scope,  # type: ignore[arg-type]
            function=more.pop("function", place.function),  # type: ignore[arg-type]
            class_=place.class_ if form is Form.MEMBER else None,
        )
        self.uses.append(
            PythonUse(
                use,
                call is not None,
                self.module.span(expression),
                mode_of(guard, call) if call is not None else None,
                around=place.around,
                resumes=place.resumes,
                local=place.function is not None,
                origin=origin,
                expected=place.expecting,
                **more,  # type: ignore[arg-type]
            )
        )
        return len(self.uses) - 1

    def _decorators(self, node: _FunctionNode | ast.ClassDef, place: _Place, inner: _Place) -> tuple[int, ...]:
        """Reads what is above a definition; the indices of the guards there, from above."""
        around: list[int] = []
        decorated: Decorated | None = None
        for position, decorator in enumerate(node.decorator_list):
            if not self._is_guard(named(decorator), place.scope):
                self._expressions(decorator, place)
                continue
            decorated = (decorated or self._decorated(node, place))._replace(position=position)
            span = self.module.span(decorator)
            line = Span(self.module.source.text.rfind(b"@", 0, span.start), span.end)
            use = self._add(
                decorator,
                place,
                Form.DECORATOR,
                line,
                scope=inner.block if not isinstance(node, ast.ClassDef) else self.module.body_span(node.body),
                function=inner.function if not isinstance(node, ast.ClassDef) else place.function,
                decorated=decorated,
            )
            if use is not None:
                around.append(use)
        return _few(tuple(around))

    def _decorated(self, node: _FunctionNode | ast.ClassDef, place: _Place) -> Decorated:
        return Decorated(
            node.name,
            kind_of(node),
            Span(self.module.start_of(node), self.module.span(node).end),
            self.module.span(node).start,
            tuple(self._decorator_name(other, place.scope) for other in node.decorator_list),
            0,
            not isinstance(node, ast.ClassDef) and any(suspension_points_in(node.body, self.module)),
        )

    def _decorator_name(self, decorator: ast.expr, scope: Scope) -> str:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        return canonical_name(resolve(called, scope) or ".".join(dotted(called) or ["?"]))

    def _with(self, node: ast.With | ast.AsyncWith, place: _Place) -> None:
        block = self.module.body_span(node.body)
        header = self.module.with_header(node)
        around = place.around
        guarded = any(self._is_guard(named(item.context_expr), place.scope) for item in node.items)
        suspension_points = (
            sorted(suspension_points_in(node.body, self.module), key=lambda pause: pause.span) if guarded else []
        )
        for item in node.items:
            expression, target = item.context_expr, item.optional_vars
            target_span, target_used = None, False
            if target is not None and guarded:
                target_span = self.module.target_span(item)
                target_used = (
                    isinstance(target, ast.Name)
                    and self._variables.count(target.id, place.node or self.module.tree) > 1
                )
            use = self._add(
                expression,
                replace(place, around=around),
                Form.WITH,
                header,
                scope=block,
                variable=target.id if isinstance(target, ast.Name) else None,
                variable_spans=(self.module.span(target),) if isinstance(target, ast.Name) else (),
                target_span=target_span,
                target_used=target_used,
                items=len(node.items),
                suspension_points=tuple(suspension_points),
                only_read=bool(suspension_points) and place.node is not None and is_only_read(place.node, self.module),
                async_with=isinstance(node, ast.AsyncWith),
                sole=place.prefix is not None and len(place.after[-1][0]) == 1,
            )
            if use is None:
                self._expressions(expression, place)
                continue
            around = _few((*around, use))
        last = around[-1] if around != place.around else None
        expecting = place.expecting or _expects_failure(node)
        stacks = (item.optional_vars for item in node.items if self._is_stack(item.context_expr, place.scope))
        stack = next((target.id for target in stacks if isinstance(target, ast.Name)), place.stack)
        inner = replace(place, block=block, around=around, prefix=last, expecting=expecting, stack=stack)
        self._block(node.body, inner)

    def _is_stack(self, expression: ast.expr, scope: Scope) -> bool:
        called = expression.func if isinstance(expression, ast.Call) else None
        return called is not None and (self._known(called, scope) or "") == "contextlib.ExitStack"

    def _entered_on(self, statement: ast.stmt, place: _Place) -> ast.Call | None:
        """`torch.inference_mode()` of `stack.enter_context(torch.inference_mode())`, switched on."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or len(call.args) != 1:
            return None
        holder, given = call.func.value, call.args[0]
        on = call.func.attr == "enter_context" and isinstance(holder, ast.Name) and holder.id == place.stack
        if not on or not isinstance(given, ast.Call):
            return None
        guard, _ = guard_named(given.func, place.scope, self.module)
        is_mode = guard == guards.PYTHON_INFERENCE_MODE and mode_of(guard, given) is True
        return given if is_mode else None

    def _entered_on_stack(self, entered: ast.Call, rest: Sequence[ast.stmt], place: _Place) -> _Place:
        """The place after `stack.enter_context(torch.inference_mode())`: what follows in the block is under it."""
        span = self.module.span(entered)
        last = len(self.uses) - 1
        use = next((index for index in range(last, -1, -1) if self.uses[index].call_span == span), None)
        if use is None or not rest:
            return place
        return replace(place, around=_few((*place.around, use)))

    def _known(self, expression: ast.expr, scope: Scope) -> str | None:
        name = resolve(expression, scope)
        return canonical_name(name) if name is not None else None

    def _expression_statement(self, node: ast.Expr, place: _Place, following: ast.stmt | None) -> None:
        form = Form.TEMPORARY if isinstance(node.value, ast.Call) else Form.REFERENCE
        if place.probing and form is Form.REFERENCE:
            return
        if not self._is_guard(named(node.value), place.scope):
            self._expressions(node.value, place)
            return
        behind = None
        if isinstance(following, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            behind = Following(kind_of(following), self.module.start_of(following), is_descriptor(following))
        if self._add(node.value, place, form, self.module.span(node), following=behind) is None:
            self._expressions(node.value, place)

    def _assignment(self, node: ast.Assign | ast.AnnAssign, place: _Place) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value
        if value is None:
            return
        target = targets[0] if len(targets) == 1 else None
        if not isinstance(value, ast.Call):
            # `guard = torch.inference_mode` is another name for it, no use.
            if isinstance(value, (ast.Name, ast.Attribute)) and guard_named(value, place.scope, self.module)[0]:
                self._taken.add(id(value))
                return
            self._expressions(value, place)
            return
        use: int | None = None
        if not self._is_guard(value.func, place.scope):
            self._expressions(value, place)
            return
        if isinstance(target, ast.Name):
            function = place.node or self.module.tree
            spans, entered = self._variables.find(target.id, function)
            use = self._add(
                value,
                place,
                Form.AUTO,
                self.module.span(node),
                variable=target.id,
                variable_spans=spans,
                entered=entered,
                released=self._variables.is_released(target.id, function),
            )
        elif isinstance(target, ast.Attribute):
            use = self._add(
                value,
                place,
                Form.MEMBER,
                self.module.span(node),
                variable=self.module.written(target),
                entered=self._variables.attribute_is_entered(target.attr),
                released=self._variables.attribute_is_released(target.attr, node),
            )
        if use is None:
            self._expressions(value, place)

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
                        span=self.module.span(node),
                        type_span=self.module.span(alias),
                        named=dotted_path(alias.name),
                        alias=alias.asname,
                        variable=bound,
                        scope=place.block,
                        function=place.function,
                        shared=len(node.names) > 1,
                    ),
                    False,
                    self.module.span(alias),
                    local=place.function is not None,
                    origin=resolve_name(bound, place.scope) or "",
                )
            )

    # -- expressions

    def _expressions(self, expression: ast.expr, place: _Place) -> None:
        """Guards anywhere inside an expression."""
        if not self.module.expression_matters(expression):
            return
        for node in walk_own(expression):
            if isinstance(node, ast.Call) and id(node.func) not in self._taken:
                self._add(node, place, Form.ARGUMENT, self.module.span(expression))
        for node in ast.walk(expression):
            if isinstance(node, ast.Lambda):
                self._expressions_of_lambda(node, place)
            if (
                isinstance(node, (ast.Name, ast.Attribute))
                and isinstance(node.ctx, ast.Load)
                and id(node) not in self._taken
            ):
                self._add(node, place, Form.ARGUMENT, self.module.span(expression))

    def _expressions_of_lambda(self, node: ast.Lambda, place: _Place) -> None:
        outside = replace(place, around=())
        for call in calls_in(node.body):
            if id(call.func) not in self._taken:
                self._add(call, outside, Form.ARGUMENT, self.module.span(node))


def _expects_failure(node: ast.With | ast.AsyncWith) -> bool:
    """Whether the block is `with pytest.raises(…):`, `with self.assertWarns(…):` or the like."""
    calls = (item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call))
    return any((dotted(call.func) or [""])[-1] in _EXPECTING for call in calls)
