# Long because each form of a guard has its reader.
"""The syntactic form of a guard: climbs from the guard's token."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ... import guards
from ...facts import Form, GuardUse, Span
from ...facts.model import MOST_AROUND
from ...facts.use_model import MOST_NAMED
from ...lazy_regex import lazy_regex
from .control_flow import runs_after
from .first_work import first_work
from .guard_arguments import BLOCKS, built_in_declaration, cpp_argument
from .guard_holders import SMART, holder_of
from .own_guard_names import means_own_guard
from .places_in_text import is_outside_functions, variable_spans

if TYPE_CHECKING:
    from tree_sitter import Node

    from .node_parents import NodeParents
    from .tree_reading import Reading

_CONTROL = frozenset(
    {
        "if_statement",
        "for_statement",
        "while_statement",
        "for_range_loop",
        "switch_statement",
        "else_clause",
        "do_statement",
    }
)
_NAMESPACES = frozenset({"at", "torch", "c10"})
_COVERS = (Form.DECLARATION, Form.AUTO)
_NEVER_A_USE = frozenset({"destructor_name", "friend_declaration", "class_specifier", "struct_specifier", "comment"})


def names_in(code: str) -> list[str]:
    """The words of a type or a macro's body: what it is, or wraps."""
    return re.findall(r"\w+", code)


def classify(reading: Reading, token: Node, name: str, resolve: dict[str, str]) -> GuardUse | None:
    """The use that a guard's token belongs to; None where the token is not a use of the guard."""
    if token.type in ("comment", "string_content", "raw_string_content", "char_literal", "preproc_arg"):
        return None
    top = token
    while (outer := reading.parents.of(top)) is not None and outer.type == "qualified_identifier":
        if outer.child_by_field_name("name") != top:
            return _static_call(reading, outer, name, resolve)
        top = outer
    guard = resolve.get(name, name)
    written = reading.written(top)
    if not _is_torchs(reading, top, written, name, resolve):
        return None
    parent = reading.parents.of(top)
    if parent is None:
        return None
    finder = _FORMS.get(parent.type)
    if parent.type in _NEVER_A_USE:
        return None
    use = finder(reading, top, parent) if finder else _other(reading, top, parent)
    if use is None:
        return None
    alias = name if name in resolve else None
    return _complete(reading, use, guard, top, alias)


def _complete(
    reading: Reading,
    use: tuple[Form, Node, Node | None, Node | None, bool],
    guard: str,
    top: Node,
    alias: str | None,
) -> GuardUse:
    form, statement, declarator, argument, shared = use
    block = _block_of(reading.parents, statement)
    scope = reading.span(block)
    type_span = reading.span(top)
    under_error = reading.is_under_error(statement)
    variable: str | None = None
    spans: tuple[Span, ...] = ()
    if declarator is not None:
        variable = reading.slice(reading.span(declarator))
        # A member can be named above its declaration, in a constructor's initialisers.
        first = scope if form is Form.MEMBER else reading.span(declarator)
        spans = variable_spans(reading, variable, first, scope, None if form is Form.MEMBER else MOST_NAMED)
        own = reading.span(declarator)
        if spans[:1] != (own,):
            spans = (own, *(span for span in spans if span != own))
    if under_error and form is Form.DECLARATION and reading.parents.type_of(statement) in _CONTROL:
        # The grammar has no branch that is a declaration, and takes the guard's name for a statement.
        block, scope = statement, reading.span(statement)
    holder = holder_of(reading, top, statement) if form in (Form.HEAP, Form.OPTIONAL) else None
    covers = form in _COVERS or (holder is not None and holder.declared and not holder.raw)
    work = first_work(reading.parents, statement, block, reading.first_works) if covers else None
    after: tuple[Span, ...] = ()
    if guard == guards.INFERENCE_MODE and form in _COVERS:
        after = tuple(
            Span(start + reading.shift, end + reading.shift) for start, end in runs_after(reading.parents, block)
        )
    return GuardUse(
        guard=guard,
        form=form,
        span=_with_keyword(reading, reading.span(statement)),
        type_span=type_span,
        named=reading.expressions.read(top),
        alias=alias,
        variable=variable,
        variable_spans=spans,
        argument=cpp_argument(reading, argument),
        built=built_in_declaration(reading, top) if form is Form.OPTIONAL else (),
        holder=holder,
        scope=scope,
        first_work=reading.span(work) if work is not None else None,
        after=after,
        class_=reading.class_at(type_span) if form in (Form.MEMBER, Form.BASE) else None,
        namespace=reading.namespace(top),
        under_error=under_error,
        shared=shared,
    )


_KEYWORD = lazy_regex(rb"\b(?:class|struct)\s+$")


def _with_keyword(reading: Reading, span: Span) -> Span:
    """The statement with the `struct` of an elaborated type, which the parser was not shown."""
    before = max(0, span.start - 20)
    match = _KEYWORD.search(reading.text[before : span.start])
    return span if match is None else span._replace(start=before + match.start())


# -- whose class is it


def _is_torchs(reading: Reading, top: Node, written: str, name: str, resolve: dict[str, str]) -> bool:
    """Whether the name, as qualified here, is PyTorch's class and not another library's of that name."""
    if name in guards.CPP and guards.CPP[name].like:
        return means_own_guard(reading, top, written, guards.CPP[name])
    if name in resolve or (name not in guards.CPP and name != guards.LEGACY_API):
        return True  # an alias or a watched name of the project's own
    parts = written.lstrip(":").split("::")[:-1]
    if parts:
        namespaces = reading.namespaces
        first = parts[0]
        for _ in range(8):
            if first not in namespaces:
                break
            first = namespaces[first].lstrip(":").split("::")[0]
        if first in _NAMESPACES or (name in guards.CPP and "::".join(parts) in guards.CPP[name].namespaces):
            return True
        # `impl::ExcludeDispatchKeyGuard` inside namespace c10, `autograd::AutoGradMode` inside torch.
        around = reading.namespace(top)[:1]
        return not _NAMESPACES.isdisjoint(around) or (first in ("autograd", "jit", "impl") and _opens_torch(reading))
    span = reading.span(top)
    if reading.is_inside_class(name, span):
        return False  # the class itself: its constructors, its copies
    first_class = reading.classes_named.get(name)
    if first_class is not None and first_class.span.start <= span.start:
        return first_class.qualified[0] in _NAMESPACES
    return True


def _opens_torch(reading: Reading) -> bool:
    return any(path[:1] and path[0] in _NAMESPACES for path in reading.opened_namespaces)


def _static_call(reading: Reading, qualified: Node, name: str, resolve: dict[str, str]) -> GuardUse | None:
    """`at::NonVariableTypeMode::is_enabled()`: the class as a qualifier; also of a function that is not called here."""
    top = qualified
    while (outer := reading.parents.of(top)) is not None and outer.type == "qualified_identifier":
        top = outer
    guard = resolve.get(name, name)
    if (guard not in guards.CPP and guard != guards.LEGACY_API) or not _means_torchs(reading, top, name, guard):
        return None
    call = outer
    if (
        call is None
        or _never(reading.parents, call)
        or call.type in ("declaration", "field_declaration", "function_declarator")
    ):
        return None  # `Class::Type name;` and `Class::method() {`
    called = call.type == "call_expression" and call.child_by_field_name("function") == top
    argument = call.child_by_field_name("arguments") if called else None
    use = (Form.STATIC_CALL, _statement_of(reading.parents, call), None, argument, False)
    return _complete(reading, use, guard, top, name if name in resolve else None)


def _means_torchs(reading: Reading, top: Node, name: str, guard: str) -> bool:
    """Whether `…::name::function` is of PyTorch's class, as it is written or by the alias's target."""
    written = reading.written(top).split(f"{name}::")[0] + name
    if name == guard:
        return _is_torchs(reading, top, written, name, {})
    aliases = reading.type_aliases
    target, seen = name, {name}
    while target in aliases and (meant := str(aliases[target].target)) not in seen and len(seen) <= MOST_AROUND:
        target = meant
        seen.add(target)
    return _is_torchs(reading, top, target, guard, {})


# -- forms; each gives (form, statement, variable's node, argument's node, shared)

_Found = tuple[Form, "Node", "Node | None", "Node | None", bool]


def _declaration(reading: Reading, top: Node, parent: Node) -> _Found | None:
    if parent.child_by_field_name("type") != top:
        return None
    declarators = parent.children_by_field_name("declarator")
    declarator = declarators[0] if declarators else None
    if declarator is None:
        return Form.REFERENCE, parent, None, None, True
    name, argument, vexing = _declared(declarator, top)
    at_namespace = _block_of(reading.parents, parent).type in ("translation_unit", "declaration_list")
    if name is None:
        return Form.REFERENCE, parent, None, None, True
    if vexing and (at_namespace or _is_empty(argument)):
        form = Form.REFERENCE if at_namespace else Form.VEXING_PARSE
        return form, parent, name, argument, True
    words = {
        reading.written(child)
        for child in parent.children
        if child.type in ("storage_class_specifier", "type_qualifier")
    }
    form = Form.DECLARATION
    if {"static", "thread_local"} & words and not at_namespace:
        form = Form.STATIC
    elif "extern" in words:
        form = Form.REFERENCE
    elif at_namespace:
        form = Form.GLOBAL if is_outside_functions(reading, parent) else Form.REFERENCE
    lonely = reading.parents.type_of(parent) in _CONTROL | {
        "init_statement",
        "condition_clause",
        "case_statement",
    }
    return form, parent, name, argument, len(declarators) > 1 or lonely


def _is_empty(parameters: Node | None) -> bool:
    """`()`; with something in it, `at::G g(a && b);` is a guard that the grammar reads as a function."""
    return parameters is None or all(
        child.type == "comment" or child.text == b"void" for child in parameters.named_children
    )


def _last_name(node: Node) -> bytes:
    return (node.text or b"").rsplit(b"::", 1)[-1].strip()


def _declared(declarator: Node, type_: Node) -> tuple[Node | None, Node | None, bool]:
    """(name, constructor argument, is a function declaration) of one declarator."""
    if declarator.type in ("identifier", "field_identifier"):
        return declarator, None, False
    if declarator.type == "init_declarator":
        name, value = declarator.child_by_field_name("declarator"), declarator.child_by_field_name("value")
        if name is None or name.type not in ("identifier", "field_identifier"):
            return None, None, False
        if value is not None and value.type in ("argument_list", "initializer_list"):
            return name, value, False
        if value is not None and value.type in ("call_expression", "compound_literal_expression"):
            built = value.child_by_field_name("function") or value.child_by_field_name("type")
            if built is None or _last_name(built) != _last_name(type_):
                return None, None, False  # `at::G guard = make_guard();`
            inner = value.child_by_field_name("arguments") or value.child_by_field_name("value")
            return name, inner, False
        if value is not None and value.type in ("true", "false"):
            return name, value, False  # `at::G guard = true;`
        return None, None, False
    if declarator.type == "function_declarator":
        name = declarator.child_by_field_name("declarator")
        parameters = declarator.child_by_field_name("parameters")
        if name is None or name.type not in ("identifier", "field_identifier"):
            return None, None, False
        if _is_empty(parameters):
            return name, parameters, True
        given = parameters.named_children if parameters is not None else []
        # `at::G guard(enabled);` parses as a function with a nameless parameter of type `enabled`.
        names = [child for child in given if child.type == "parameter_declaration" and child.named_child_count == 1]
        if given and len(names) == len(given):
            return name, parameters, False
        return name, parameters, True
    return None, None, False


def _field(reading: Reading, top: Node, parent: Node) -> _Found | None:
    declarators = parent.children_by_field_name("declarator")
    if parent.child_by_field_name("type") != top:
        return None
    if not declarators:
        return Form.REFERENCE, parent, None, None, True
    if declarators[0].type != "field_identifier":
        kind = declarators[0].type
        if kind == "function_declarator":
            return None if _encloses_class(reading, top) else (Form.REFERENCE, parent, None, None, True)
        return Form.REFERENCE, parent, None, None, True
    value = parent.child_by_field_name("default_value")
    words = {reading.written(child) for child in parent.children if child.type == "storage_class_specifier"}
    form = Form.STATIC if "static" in words else Form.MEMBER
    argument = value
    if value is not None and value.type in ("call_expression", "compound_literal_expression"):
        argument = value.child_by_field_name("arguments") or value.child_by_field_name("value")
    return form, parent, declarators[0], argument, len(declarators) > 1


def _encloses_class(reading: Reading, top: Node) -> bool:
    index = reading.class_at(reading.span(top))
    return index is not None and reading.classes[index].name == reading.written(top)


def _base(reading: Reading, top: Node, parent: Node) -> _Found | None:
    return Form.BASE, parent, None, None, True


def _construction(reading: Reading, top: Node, parent: Node) -> _Found | None:
    """`T(true)` and `T{true}`."""
    if parent.type == "call_expression" and parent.child_by_field_name("function") != top:
        return Form.REFERENCE, _statement_of(reading.parents, parent), None, None, True
    argument = parent.child_by_field_name("arguments") or parent.child_by_field_name("value")
    outer = reading.parents.of(parent)
    if outer is not None and outer.type == "field_declaration":
        kind = outer.child_by_field_name("type")
        if kind is not None and _last_name(kind) == _last_name(top):
            return None  # `at::G guard = at::G(true);` was met at its type
    while outer is not None and outer.type in (
        "initializer_list",
        "parenthesized_expression",
        "argument_list",
    ):
        above = reading.parents.of(outer)
        if above is None or above.type not in ("init_declarator", "initializer_list", "parenthesized_expression"):
            break
        outer = above
    if outer is not None and outer.type == "init_declarator":
        declaration = reading.parents.of(outer)
        name = outer.child_by_field_name("declarator")
        while name is not None and name.type == "reference_declarator":
            name = name.named_children[0] if name.named_children else None
        if declaration is None or name is None or name.type != "identifier":
            return Form.REFERENCE, _statement_of(reading.parents, parent), None, argument, True
        kind = declaration.child_by_field_name("type")
        if kind is not None and reading.written(kind).rsplit("::", 1)[-1] == reading.written(top).rsplit("::", 1)[-1]:
            return None  # `at::G g = at::G(true);` was met at its type
        words = {reading.written(c) for c in declaration.children if c.type == "storage_class_specifier"}
        if _block_of(reading.parents, declaration).type in ("translation_unit", "declaration_list"):
            form = Form.GLOBAL if is_outside_functions(reading, declaration) else Form.REFERENCE
        else:
            form = Form.STATIC if {"static", "thread_local"} & words else Form.AUTO
        return form, declaration, name, argument, False
    if outer is not None and outer.type == "expression_statement":
        return Form.TEMPORARY, outer, None, argument, False
    while outer is not None and outer.type == "parenthesized_expression":
        outer = reading.parents.of(outer)
    if outer is not None and outer.type == "conditional_expression" and _is_statement(reading.parents, outer):
        return Form.TEMPORARY, _statement_of(reading.parents, parent), None, argument, False
    if outer is not None and outer.type in ("cast_expression", "comma_expression", "argument_list"):
        return Form.TEMPORARY, _statement_of(reading.parents, parent), None, argument, True
    return Form.REFERENCE, _statement_of(reading.parents, parent), None, argument, True


def _is_statement(parents: NodeParents, node: Node) -> bool:
    """Whether a conditional expression is all that its statement evaluates: `inference ? G() : G(false);`."""
    outer = parents.of(node)
    while outer is not None and outer.type in ("conditional_expression", "parenthesized_expression"):
        outer = parents.of(outer)
    return outer is not None and outer.type == "expression_statement"


def _new(reading: Reading, top: Node, parent: Node) -> _Found | None:
    return Form.HEAP, _statement_of(reading.parents, parent), None, parent.child_by_field_name("arguments"), True


def _descriptor(reading: Reading, top: Node, parent: Node) -> _Found | None:
    outer = reading.parents.of(parent)
    if outer is None:
        return None
    if outer.type == "alias_declaration":
        return Form.ALIAS, outer, None, None, True
    if outer.type == "new_expression":
        return _new(reading, top, outer)
    if outer.type != "template_argument_list":
        return Form.REFERENCE, _statement_of(reading.parents, outer), None, None, True
    template = reading.parents.of(outer)
    name = template.child_by_field_name("name") if template is not None else None
    form = SMART.get(reading.written(name).rsplit("::", 1)[-1] if name is not None else "", Form.TEMPLATE_ARGUMENT)
    whole = template
    while whole is not None and reading.parents.type_of(whole) == "qualified_identifier":
        whole = reading.parents.of(whole)
    call = reading.parents.of(whole) if whole is not None else None
    argument = None
    if call is not None and call.type == "call_expression":
        argument = call.child_by_field_name("arguments")
    return form, _statement_of(reading.parents, parent), None, argument, True


def _initialised_base(reading: Reading, top: Node, parent: Node) -> _Found | None:
    """`: at::G(true)`, where a class's constructor builds its base."""
    children = parent.named_children
    return Form.REFERENCE, parent, None, children[-1] if len(children) == 2 else None, True


def _alias_name(reading: Reading, top: Node, parent: Node) -> _Found | None:
    return None  # the name that an alias gives


def _typedef(reading: Reading, top: Node, parent: Node) -> _Found | None:
    if parent.child_by_field_name("type") != top:
        return None
    return Form.ALIAS, parent, None, None, True


def _using(reading: Reading, top: Node, parent: Node) -> _Found | None:
    if any(child.type == "namespace" for child in parent.children):
        return None
    return Form.USING, parent, None, None, True


def _macro_statement(reading: Reading, top: Node, parent: Node) -> _Found | None:
    """`GUARD_MACRO;`, or a name as a whole statement."""
    if parent.has_error:
        return _error(reading, top, parent)
    return Form.REFERENCE, parent, None, None, True


def _function(reading: Reading, top: Node, parent: Node) -> _Found | None:
    """A declarator named like the guard (the class's own constructor), or a function that returns one."""
    if parent.child_by_field_name("type") == top:
        return Form.REFERENCE, parent, None, None, True
    return None


_ERROR_DECLARATION = lazy_regex(
    rb"\s*(?P<name>[A-Za-z_]\w*)?\s*(?P<argument>\([^(){};]*\)|\{[^(){};]*\})?\s*(?P<end>;)?"
)


def _error(reading: Reading, top: Node, parent: Node) -> _Found | None:
    """`if (x) at::G g(true);` and other places where the grammar lost a declaration: read its text."""
    match = _ERROR_DECLARATION.match(reading.code, top.end_byte)
    if match is None or match["name"] is None or match["end"] is None:
        return _other(reading, top, parent)
    root = reading.parents.root
    name = root.descendant_for_byte_range(*match.span("name"))
    argument = root.descendant_for_byte_range(*match.span("argument")) if match["argument"] else None
    if argument is not None and (argument.start_byte, argument.end_byte) != match.span("argument"):
        return _other(reading, top, parent)
    return Form.DECLARATION, parent, name, argument, True


def _other(reading: Reading, top: Node, parent: Node) -> _Found | None:
    if _never(reading.parents, parent):
        return None
    return Form.REFERENCE, _statement_of(reading.parents, parent), None, None, True


def _never(parents: NodeParents, node: Node | None) -> bool:
    if node is None:
        return False
    found = parents.first("never", node, lambda one, _: one.type in BLOCKS or one.type in _NEVER_A_USE)
    return found is not None and found.type in _NEVER_A_USE


_FORMS = {
    "declaration": _declaration,
    "field_declaration": _field,
    "base_class_clause": _base,
    "field_initializer": _initialised_base,
    "call_expression": _construction,
    "compound_literal_expression": _construction,
    "new_expression": _new,
    "type_descriptor": _descriptor,
    "type_definition": _typedef,
    "alias_declaration": _alias_name,
    "namespace_alias_definition": _alias_name,
    "using_declaration": _using,
    "expression_statement": _macro_statement,
    "function_definition": _function,
    "function_declarator": _function,
    "ERROR": _error,
}


# -- related files


def _block_of(parents: NodeParents, node: Node) -> Node:
    """The block at whose end what `node` declares is destroyed."""
    outer = parents.of(node)
    in_head = node.type == "declaration"
    while outer is not None and (above := parents.of(outer)) is not None:
        if outer.type in BLOCKS:
            return outer
        if in_head and outer.type in _CONTROL:
            return outer
        in_head = in_head and outer.type in ("init_statement", "condition_clause")  # `if (at::G guard; flag)`
        outer = above
    return outer if outer is not None else node


def _statement_of(parents: NodeParents, node: Node) -> Node:
    """The statement or declaration that holds an expression."""
    return parents.first("statement", node, _ends_statement) or node


def _ends_statement(node: Node, outer: Node | None) -> bool:
    if outer is None or outer.type in BLOCKS:
        return True
    return node.type.endswith(("_statement", "declaration")) and node.type != "parameter_declaration"
