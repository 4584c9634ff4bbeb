"""A guard use as libcst's tree has it: from the name that `ast` found, by the nodes around it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import libcst as cst
from msgspec.structs import replace

from ...facts import Argument, Form, GuardUse, Span
from ...facts.expressions import Expression
from ...facts.python_model import Decorated, Following, Kind, PythonUse, SuspensionPoint
from .guard_names import mode_of_values
from .libcst_tree import LibcstTree
from .python_expressions import attributes_of, dotted_path

_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp)


def read_use(tree: LibcstTree, proposed: PythonUse, around: Sequence[PythonUse]) -> PythonUse | None:
    """The use whose name is where the proposed one's does; None when no name is there.

    `around` are the uses that `proposed.around` gives as indices. What follows from names alone (which guard it is,
    whether its variable is entered) is taken over: scopes are not libcst's business.
    """
    if proposed.use.form is Form.IMPORT:
        return _import(tree, proposed)
    name = _name_at(tree, proposed.use.type_span)
    if name is None:
        return None
    call = tree.parent(name)
    call = call if isinstance(call, cst.Call) and call.func is name else None
    top = call or name
    use = replace(
        proposed.use,
        named=_name_as_written(tree, name),
        type_span=tree.span(name),
        argument=_argument(tree, call, proposed.use.argument) if call is not None else None,
    )
    holder = tree.parent(top)
    read = replace(
        proposed,
        use=use,
        called=call is not None,
        call_span=tree.display_span(top),
        mode=mode_of_values(use.guard, _literals(call)) if call is not None else None,
        around=tuple(i for i, one in zip(proposed.around, around, strict=True) if use_covers(tree, one, top)),
        local=tree.is_in_function(top),
        decorated=None,
        following=None,
        items=1,
        target_span=None,
        suspension_points=(),
        async_with=False,
        sole=False,
    )
    if isinstance(holder, cst.WithItem):
        return _with_item(tree, read, holder, around)
    if isinstance(holder, cst.Decorator):
        return _decorator(tree, read, holder, proposed)
    if isinstance(holder, cst.Expr):
        form = Form.TEMPORARY if call is not None else Form.REFERENCE
        return replace(_formed(read, form, tree.span(holder)), following=_following(tree, holder, proposed.following))
    if call is not None and isinstance(holder, (cst.Assign, cst.AnnAssign)):
        target = _only_target(holder, top)
        if isinstance(target, cst.Name):
            return _formed(read, Form.AUTO, tree.span(holder), target.value)
        if isinstance(target, cst.Attribute):
            return _formed(read, Form.MEMBER, tree.span(holder), tree.written(target))
    expression = _expression(tree, top, proposed.use.span)
    return _formed(read, Form.ARGUMENT, expression) if expression is not None else None


def use_covers(tree: LibcstTree, cover: PythonUse, node: cst.CSTNode) -> bool:
    """Whether a node runs under a guard: in the body of its `with`, in a later item, or in the function below it."""
    holder, owner = _holder(tree, cover.use.type_span)
    if isinstance(holder, cst.Decorator):
        return isinstance(owner, cst.FunctionDef) and tree.definition(node) is owner
    if isinstance(holder, cst.Arg) and owner is not None:
        return _is_behind(tree, owner, node)
    if not isinstance(holder, cst.WithItem) or not isinstance(owner, cst.With):
        return False
    if tree.definition(node) is not tree.definition(owner):
        return False
    child = next((child for ancestor, child in tree.path(node) if ancestor is owner), None)
    if child is holder and child.asname is not None:
        return any(ancestor is child.asname for ancestor, _ in tree.path(node))
    if isinstance(child, cst.WithItem):
        return owner.items.index(child) > owner.items.index(holder)
    return child is owner.body


def _is_behind(tree: LibcstTree, entering: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether a node follows `stack.enter_context(…)`, in the same block or in one inside it."""
    block, line = next(((a, c) for a, c in tree.path(entering) if isinstance(a, cst.IndentedBlock)), (None, None))
    child = next((child for ancestor, child in tree.path(node) if ancestor is block), None)
    if (
        not isinstance(block, cst.IndentedBlock)
        or child is None
        or tree.definition(node) is not tree.definition(entering)
    ):
        return False
    return block.body.index(child) > block.body.index(line)


def _holder(tree: LibcstTree, name_span: Span) -> tuple[cst.CSTNode | None, cst.CSTNode | None]:
    """(what holds a guard that is named there, called or not: an item, a decorator; the statement that this is of)."""
    name = _name_at(tree, name_span)
    call = tree.parent(name) if name is not None else None
    holder = tree.parent(call) if isinstance(call, cst.Call) and call.func is name else call
    return holder, tree.parent(holder) if holder is not None else None


def pauses_below(tree: LibcstTree, body: cst.CSTNode, definition: cst.CSTNode | None) -> tuple[SuspensionPoint, ...]:
    """The pauses inside `body` that pause `definition`, the function around it."""
    found = [
        pause
        for node in tree.nodes_within(tree.span(body), cst.Yield, cst.Await, cst.For, cst.With, *_COMPREHENSIONS)
        if any(ancestor is body for ancestor, _ in tree.path(node)) and tree.definition(node) is definition
        for pause in _pause(tree, node)
    ]
    return tuple(sorted(found, key=lambda pause: pause.span))


def _pause(tree: LibcstTree, node: cst.CSTNode) -> Iterator[SuspensionPoint]:
    if isinstance(node, (cst.For, cst.With)):
        if node.asynchronous is not None:
            word = "async for" if isinstance(node, cst.For) else "async with"
            start = tree.span(node).start
            yield SuspensionPoint(word, Span(start, start + len(word)))
    elif _runs_later(tree, node):
        return
    elif isinstance(node, cst.Yield):
        yield SuspensionPoint("yield", tree.span(node))
    elif isinstance(node, cst.Await):
        yield SuspensionPoint("await", tree.span(node))
    elif isinstance(node, _COMPREHENSIONS):
        part: cst.CompFor | None = node.for_in
        while part is not None:
            if part.asynchronous is not None:
                yield SuspensionPoint("async for", tree.span(node))
                return
            part = part.inner_for_in


def _runs_later(tree: LibcstTree, node: cst.CSTNode) -> bool:
    """Whether a node runs only when somebody asks a generator expression for a value."""
    inner: cst.CSTNode = node
    for ancestor, child in tree.path(node):
        if isinstance(ancestor, cst.GeneratorExp) and not (child is ancestor.for_in and inner is ancestor.for_in.iter):
            return True
        inner = child if isinstance(ancestor, cst.GeneratorExp) else inner
        if isinstance(ancestor, cst.CompFor):
            inner = child
        if isinstance(ancestor, (cst.BaseStatement, cst.BaseSmallStatement)):
            return False
    return False


def kind_of_definition(tree: LibcstTree, node: cst.FunctionDef | cst.ClassDef) -> Kind:
    """What a decorator gets when it decorates this definition."""
    if isinstance(node, cst.ClassDef):
        return Kind.CLASS
    yields = any(tree.definition(found) is node for found in tree.nodes_within(tree.span(node.body), cst.Yield))
    if node.asynchronous is not None:
        return Kind.ASYNC_GENERATOR if yields else Kind.ASYNC_FUNCTION
    return Kind.GENERATOR if yields else Kind.FUNCTION


def _name_at(tree: LibcstTree, span: Span) -> cst.Name | cst.Attribute | None:
    return tree.node_at(span, cst.Attribute) or tree.node_at(span, cst.Name)


def _formed(
    read: PythonUse, form: Form, span: Span, variable: str | None = None, scope: Span | None = None
) -> PythonUse:
    use: GuardUse = replace(
        read.use, form=form, span=span, variable=variable, scope=read.use.scope if scope is None else scope
    )
    if form is not Form.MEMBER:
        use = replace(use, class_=None)
    return replace(read, use=use)


# -- forms


def _import(tree: LibcstTree, proposed: PythonUse) -> PythonUse | None:
    alias = tree.node_at(proposed.use.type_span, cst.ImportAlias)
    statement = tree.parent(alias) if alias is not None else None
    if alias is None or not isinstance(statement, cst.ImportFrom) or isinstance(statement.names, cst.ImportStar):
        return None
    new_name = alias.asname.name if alias.asname is not None else None
    renamed = new_name.value if isinstance(new_name, cst.Name) else None
    written = tree.written(alias.name)
    use = replace(
        proposed.use,
        span=tree.span(statement),
        type_span=tree.span(alias),
        named=dotted_path(written),
        alias=renamed,
        variable=renamed or written,
        shared=len(statement.names) > 1,
    )
    return replace(proposed, use=use, called=False, call_span=tree.span(alias), local=tree.is_in_function(alias))


def _with_item(tree: LibcstTree, read: PythonUse, item: cst.WithItem, around: Sequence[PythonUse]) -> PythonUse | None:
    statement = tree.parent(item)
    if not isinstance(statement, cst.With):
        return None
    target = item.asname.name if item.asname is not None else None
    colon = tree.span(statement.whitespace_before_colon).end
    header = Span(tree.span(statement).start, colon + 1)
    formed = _formed(
        read,
        Form.WITH,
        header,
        target.value if isinstance(target, cst.Name) else None,
        tree.body_span(statement.body),
    )
    return replace(
        formed,
        items=len(statement.items),
        target_span=tree.span(item.asname) if item.asname is not None else None,
        suspension_points=pauses_below(tree, statement.body, tree.definition(statement)),
        async_with=statement.asynchronous is not None,
        sole=_is_sole_statement(tree, statement, around),
    )


def _is_sole_statement(tree: LibcstTree, statement: cst.With, around: Sequence[PythonUse]) -> bool:
    """Whether a `with` is all that is in the block of a guard around it."""
    block = tree.parent(statement)
    outer = tree.parent(block) if block is not None else None
    if not isinstance(block, cst.IndentedBlock) or not isinstance(outer, cst.With) or len(block.body) > 1:
        return False
    return any(_holder(tree, one.use.type_span)[1] is outer for one in around)


def _decorator(tree: LibcstTree, read: PythonUse, decorator: cst.Decorator, proposed: PythonUse) -> PythonUse | None:
    definition = tree.parent(decorator)
    if not isinstance(definition, (cst.FunctionDef, cst.ClassDef)):
        return None
    # What the decorators' names resolve to is taken over, if there are as many.
    known = proposed.decorated.decorators if proposed.decorated is not None else ()
    names = known if len(known) == len(definition.decorators) else ("?",) * len(definition.decorators)
    decorated = Decorated(
        definition.name.value,
        kind_of_definition(tree, definition),
        tree.statement_span(definition),
        tree.span(definition).start,
        names,
        bisect_left(definition.decorators, tree.span(decorator).start, key=lambda one: tree.span(one).start),
        isinstance(definition, cst.FunctionDef) and bool(pauses_below(tree, definition.body, definition)),
    )
    formed = _formed(read, Form.DECORATOR, tree.span(decorator), None, tree.body_span(definition.body))
    return replace(formed, decorated=decorated)


def _only_target(holder: cst.Assign | cst.AnnAssign, value: cst.CSTNode) -> cst.BaseExpression | None:
    """What a statement assigns `value` to, when that is one thing."""
    if holder.value is not value:
        return None
    if isinstance(holder, cst.AnnAssign):
        return holder.target
    return holder.targets[0].target if len(holder.targets) == 1 else None


def _following(tree: LibcstTree, statement: cst.Expr, proposed: Following | None) -> Following | None:
    """The definition after a statement; where none is proposed the region can end with the statement."""
    if proposed is None:
        return None
    line = tree.parent(statement)
    block = tree.parent(line) if line is not None else None
    if not isinstance(line, cst.SimpleStatementLine) or not isinstance(block, (cst.Module, cst.IndentedBlock)):
        return None
    if line.body[-1] is not statement:
        return None
    index = list(block.body).index(line) + 1
    after = block.body[index] if index < len(block.body) else None
    if not isinstance(after, (cst.FunctionDef, cst.ClassDef)):
        return None
    return Following(kind_of_definition(tree, after), tree.statement_span(after).start, proposed.descriptor)


def _expression(tree: LibcstTree, node: cst.BaseExpression, wanted: Span) -> Span | None:
    """The expression around a guard that is at `wanted`."""
    for ancestor in (node, *(ancestor for ancestor, _ in tree.path(node))):
        if isinstance(ancestor, cst.BaseExpression) and tree.display_span(ancestor) == wanted:
            return wanted
    return None


# -- arguments


def _values(call: cst.Call) -> list[cst.Arg]:
    """The arguments by position, then those by name, as `ast` has them."""
    by_position = [arg for arg in call.args if arg.keyword is None and arg.star != "**"]
    return by_position + [arg for arg in call.args if arg not in by_position]


def _literals(call: cst.Call) -> list[bool | None]:
    return [_literal(arg) for arg in _values(call)]


def _literal(arg: cst.Arg) -> bool | None:
    if not arg.star and isinstance(arg.value, cst.Name) and arg.value.value in ("True", "False"):
        return arg.value.value == "True"
    return None


def _name_as_written(tree: LibcstTree, node: cst.Name | cst.Attribute) -> Expression:
    attributes: list[str] = []
    start: cst.BaseExpression = node
    while isinstance(start, cst.Attribute):
        attributes.append(start.attr.value)
        start = start.value
    return attributes_of(tree.written(start), isinstance(start, cst.Name), attributes[::-1])


def _argument(tree: LibcstTree, call: cst.Call, proposed: Argument | None) -> Argument | None:
    """The brackets of a call; the tree of what is in them is taken over, since names are resolved in it."""
    if proposed is None:
        return None
    end = tree.display_span(call).end
    span = Span(tree.span(call.whitespace_after_func).end, end)
    values = _values(call)
    value = _literal(values[0]) if len(values) == 1 else None
    return Argument(span, proposed.expression, value)
