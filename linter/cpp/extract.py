"""A C++ file's text -> its facts.

Everything is read off one syntax tree by one query (the tree walk then runs in C), and the guards by working
upward from their tokens, so that an ERROR node elsewhere in the file loses no guard.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from .. import guards
from ..facts import (
    Alias,
    Argument,
    Assignment,
    Call,
    Class,
    Facts,
    Form,
    Function,
    GuardUse,
    Include,
    Invocation,
    Macro,
    Member,
    Parameter,
    Registration,
    Return,
    Span,
)
from ..sources import Source
from ..suppress import find_directives
from .conditionals import find_conditionals, without_dead_branches
from .focus import focused, guard_places, needs_all
from .forms import classify, constructor_argument, is_named_like
from .mask import code_only, comments, mask_block_comments, mask_macros, with_line_feeds
from .parse import error_count, grammar_for, is_objective_c, language, masked_text, parse, parse_sparse
from .words import any_of, line_before

if TYPE_CHECKING:
    from tree_sitter import Node, Query

_QUERY = """
(function_definition) @function
(lambda_expression) @lambda
(class_specifier body: (_)) @class
(struct_specifier body: (_)) @class
(enum_specifier name: (_)) @class
(call_expression) @call
(assignment_expression) @assignment
(init_declarator) @declarator
(declaration declarator: [(identifier) (array_declarator) (pointer_declarator) (reference_declarator)] @plain)
(expression_statement . (identifier) @bare .)
(declaration declarator: (function_declarator)) @vexing
(return_statement) @return
(delete_expression) @delete
(field_initializer) @initializer
(alias_declaration) @alias
(type_definition) @typedef
(namespace_alias_definition) @namespace_alias
(using_declaration) @using
(preproc_def) @macro
(preproc_function_def) @macro
"""

_INCLUDE = re.compile(rb"#[ \t]*(?:include|import)[ \t]*(?P<header>[<\"][^>\"\n]+[>\"])")
_LONG = 200
"""Texts of arguments and values are kept up to so many characters: enough to recognise, cheap to send."""

NAMES = (guards.LEGACY, guards.LEGACY_API, *(name for name in guards.CPP if name != guards.LEGACY))


@cache
def _query(grammar: str) -> Query:
    from tree_sitter import Query

    return Query(language(grammar), _QUERY)


def extract(source: Source, watched: Iterable[str] = (), *, whole: bool = False) -> Facts:
    """The facts of one C++, CUDA or Objective-C++ file.

    `watched` are further names whose places are reported like guards': types made of guards, macros and
    aliases that other files define. `whole` reads also the functions that hold no guard, for a text that is
    one piece of several: another piece may ask what stands here.
    """
    grammar = grammar_for(source.path)
    if (text := with_line_feeds(source.text)) is not source.text:
        source = replace(source, text=text)
    left_out: tuple[Function, ...] = ()
    bare = code_only(source.text)
    live = without_dead_branches(source.text)
    live_code = bare if live == source.text else code_only(live)
    if is_objective_c(source.path, source.text):
        masked = masked_text(source.path, source.text)
        code = code_only(masked)
    else:
        code = live_code
        if not watched and not whole:
            places = guard_places(code)
            if not places:
                return _without_guards(source)
            if not needs_all(code):
                code, left_out = focused(code, places)
        masked = code = mask_macros(code)
    tree = parse_sparse(masked, grammar) if left_out else parse(masked, grammar)
    root = tree.root_node
    reading = _Reading(source.text, masked, code, 0, None)
    reading.collect(root, grammar)
    watched_names = {*watched, *reading.wrappers()}
    uses = list(reading.guard_uses(root, watched_names))
    macro_uses, macro_functions, macro_calls = _macro_bodies(source, reading, grammar, watched_names)
    uses += macro_uses
    makers = {use.macro for use in macro_uses if use.macro is not None and use.function is not None}
    reading.functions += macro_functions
    reading.calls += macro_calls
    partial = root.has_error
    directives = find_directives(source.text, source.row, comments)
    return Facts(
        path=source.path,
        language="cpp",
        notes=(*source.notes, *directives.notes),
        partial=partial,
        error_row=_first_error_row(root, source) if partial else 0,
        guard_uses=tuple(sorted(uses, key=lambda use: use.type_span)),
        functions=(*reading.functions, *left_out),
        classes=tuple(reading.classes),
        calls=tuple(reading.calls),
        registrations=_registrations(live, live_code),
        assignments=tuple(reading.assignments),
        returns=tuple(reading.returns),
        deletes=tuple(reading.deletes),
        conditionals=find_conditionals(bare),
        aliases=tuple(reading.aliases),
        macros=tuple(reading.macros),
        invocations=_invocations(live, live_code, frozenset(makers.union(watched))),
        includes=find_includes(live, live_code),
        suppressions=directives.suppressions,
        line_starts=source.line_starts,
    )


def _first_error_row(root: Node, source: Source) -> int:
    node = root
    while not (node.is_error or node.is_missing):
        inner = next((child for child in node.children if child.has_error or child.is_missing), None)
        if inner is None:
            break
        node = inner
    return source.position(node.start_byte).row


def _without_guards(source: Source) -> Facts:
    """The facts of a file that names guards in comments and strings only."""
    directives = find_directives(source.text, source.row, comments)
    return Facts(
        path=source.path,
        language="cpp",
        notes=(*source.notes, *directives.notes),
        suppressions=directives.suppressions,
        line_starts=source.line_starts,
    )


def _registrations(text: bytes, code: bytes) -> tuple[Registration, ...]:
    if not any(hint in text for hint in (b"TORCH_LIBRARY", b"RegisterOperators", b"torch::Library", b"::import")):
        return ()
    from .registrations import find_registrations

    return find_registrations(text, code)


def _invocations(text: bytes, code: bytes, wanted: frozenset[str]) -> tuple[Invocation, ...]:
    if not wanted:
        return ()
    from .expansion import definitions, invocations

    return invocations(text, code, wanted, definitions(text, code))


def find_includes(text: bytes, code: bytes | None = None) -> tuple[Include, ...]:
    """The `#include` and `#import` directives that stand outside comments; `code` is `text` without these, if known."""
    if code is None:
        text = with_line_feeds(text)
        code = text = mask_block_comments(text) if b"/*" in text else text
    found = []
    for match in _INCLUDE.finditer(text):
        line = line_before(text, match.start())
        if line is not None and code[match.start()] == 0x23:  # '#'
            header = match["header"]
            span = Span(line, match.end())
            found.append(Include(header[1:-1].decode("utf-8", "replace"), span, header[:1] == b"<"))
    return tuple(found)


class _Reading:
    """Reads one tree. `shift` is what to add to the tree's offsets to get the file's."""

    def __init__(self, text: bytes, masked: bytes, code: bytes, shift: int, macro: str | None) -> None:
        self.text = text
        self.masked = masked
        self.code = code
        self.shift = shift
        self.macro = macro
        self.functions: list[Function] = []
        self.classes: list[Class] = []
        self.calls: list[Call] = []
        self.assignments: list[Assignment] = []
        self.returns: list[Return] = []
        self.deletes: list[str] = []
        self.aliases: list[Alias] = []
        self.macros: list[Macro] = []
        self.initializers: list[tuple[str, Node]] = []
        """(member, arguments) of constructors' initialisers."""
        self.emplacements: list[tuple[str, Node]] = []
        """(receiver, arguments) of `emplace`."""
        self._starts: list[int] = []

    # -- offsets and texts

    def span(self, node: Node) -> Span:
        return Span(node.start_byte + self.shift, node.end_byte + self.shift)

    def slice(self, span: Span) -> str:
        return self.text[span.start : span.end].decode("utf-8", "replace")

    def written(self, node: Node, limit: int = _LONG) -> str:
        """The node's text without white space around tokens that need none."""
        return squeeze(self.text[node.start_byte + self.shift : node.end_byte + self.shift][: limit * 2])[:limit]

    # -- functions, classes, calls

    def collect(self, root: Node, grammar: str) -> None:
        from tree_sitter import QueryCursor

        # Nodes come in no order of theirs; facts must be the same on every run.
        found = QueryCursor(_query(grammar)).captures(root)
        captures = {name: sorted(nodes, key=_in_text_order) for name, nodes in found.items()}
        self._read_classes(captures.get("class", ()))
        self._read_functions([*captures.get("function", ()), *captures.get("lambda", ())])
        for node in captures.get("call", ()):
            call = self._call(node)
            if call is not None:
                self.calls.append(call)
                arguments = node.child_by_field_name("arguments")
                if call.name == "emplace" and arguments is not None:
                    self.emplacements.append((call.receiver.removeprefix("this->"), arguments))
        for node in captures.get("initializer", ()):
            children = node.named_children
            if len(children) == 2 and children[0].type == "field_identifier":
                self.initializers.append((self.written(children[0]), children[1]))
        self._read_bare_macros(captures.get("bare", ()))
        self._read_assignments(captures)
        for node in captures.get("return", ()):
            value = node.named_children[0] if node.named_children else None
            text = self.written(value) if value is not None else ""
            self.returns.append(Return(text, self.span(node), self.function_at(node.start_byte + self.shift)))
        for node in captures.get("delete", ()):
            self.deletes += [self.written(child) for child in node.named_children]
        self._read_aliases(captures)
        for node in captures.get("macro", ()):
            name, body = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is None or body is None:
                continue
            parameters = node.child_by_field_name("parameters")
            names = [self.written(child) for child in parameters.named_children] if parameters else []
            self.macros.append(Macro(self.written(name), tuple(names), self.span(node), self.span(body)))

    def _read_classes(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            written = self.written(name) if name is not None else ""
            bases = next((child for child in node.children if child.type == "base_class_clause"), None)
            members, methods = self._members(body, written) if body is not None else ((), False)
            self.classes.append(
                Class(
                    re.sub(r"<.*", "", written),
                    "::".join(filter(None, [self.namespace(node), written])),
                    self.span(node),
                    tuple(
                        self.written(base)
                        for base in (bases.named_children if bases else ())
                        if base.type in ("type_identifier", "qualified_identifier", "template_type")
                    ),
                    members,
                    methods,
                )
            )

    def _members(self, body: Node, class_name: str) -> tuple[tuple[Member, ...], bool]:
        members, methods = [], False
        for child in body.named_children:
            if child.type == "function_definition":
                declarator = _function_declarator(child)
                name = declarator.child_by_field_name("declarator") if declarator else None
                text = self.written(name) if name is not None else ""
                methods = methods or text.lstrip("~") != class_name
            elif child.type == "field_declaration":
                kind, declarator = child.child_by_field_name("type"), child.child_by_field_name("declarator")
                if declarator is not None and declarator.type == "function_declarator":
                    methods = True
                elif kind is not None and declarator is not None:
                    members.append(Member(self.written(kind), self.written(declarator), self.span(child)))
        return tuple(members), methods

    def _read_functions(self, nodes: Sequence[Node]) -> None:
        stack: list[int] = []
        for node in sorted(nodes, key=_in_text_order):
            body = node.child_by_field_name("body")
            if body is None:
                continue
            span = self.span(node)
            while stack and self.functions[stack[-1]].span.end < span.end:
                stack.pop()
            parent = stack[-1] if stack else None
            build = self._lambda if node.type == "lambda_expression" else self._function
            self.functions.append(build(node, body, parent))
            self._starts.append(span.start)
            stack.append(len(self.functions) - 1)

    def _function(self, node: Node, body: Node, parent: int | None) -> Function:
        declarator = _function_declarator(node)
        name = declarator.child_by_field_name("declarator") if declarator is not None else None
        # Of an Objective-C method the masked text has the name, as a C++ function's.
        written = squeeze(self.masked[name.start_byte : name.end_byte]) if name is not None else ""
        if self.macro is not None and name is not None:
            # `op##_kernel` is masked too; what it is called depends on the macro's arguments.
            written = re.sub(r"\s|\\", "", self.slice(self.span(name)))
        returns = node.child_by_field_name("type")
        parameters = declarator.child_by_field_name("parameters") if declarator is not None else None
        returned = self.written(returns) if returns is not None else ""
        if declarator is not None and returns is not None:
            # `Tensor &` and `Tensor*`: the reference belongs to the declarator in the grammar.
            between = self.text[returns.end_byte + self.shift : declarator.start_byte + self.shift]
            returned += "".join(character for character in between.decode("utf-8", "replace") if character in "&*")
        span = self.span(node)
        return Function(
            name=_unqualified(written),
            qualified="::".join(filter(None, [self.namespace(node), written])),
            span=span,
            body=self.span(body),
            declared_as=written,
            parent=parent,
            class_=self._class_at(span),
            parameters=self._parameters(parameters),
            returns=returned,
            is_static=_is_static(node),
            macro=self.macro,
        )

    def _lambda(self, node: Node, body: Node, parent: int | None) -> Function:
        declarator = node.child_by_field_name("declarator")
        parameters = declarator.child_by_field_name("parameters") if declarator is not None else None
        outer = node.parent
        while outer is not None and outer.type == "parenthesized_expression":
            outer = outer.parent
        invoked, passed_to, assigned_to = False, "", ""
        if outer is not None and outer.type == "call_expression":
            invoked = True
        elif outer is not None and outer.type in ("argument_list", "initializer_list"):
            call = outer.parent
            callee = call.child_by_field_name("function") if call is not None else None
            if call is not None and call.type == "init_declarator" and call.parent is not None:
                callee = call.parent.child_by_field_name("type")  # `std::thread worker([] { … });`
            elif call is not None and call.type in ("new_expression", "compound_literal_expression"):
                callee = call.child_by_field_name("type")
            passed_to = self.written(callee) if callee is not None else ""
        elif outer is not None and outer.type in ("init_declarator", "assignment_expression"):
            target = outer.child_by_field_name("declarator") or outer.child_by_field_name("left")
            assigned_to = self.written(target) if target is not None else ""
        return Function(
            name="",
            qualified=self.namespace(node),
            span=self.span(node),
            body=self.span(body),
            parent=parent,
            parameters=self._parameters(parameters),
            is_lambda=True,
            immediately_invoked=invoked,
            passed_to=passed_to,
            assigned_to=assigned_to,
            macro=self.macro,
        )

    def _parameters(self, node: Node | None) -> tuple[Parameter, ...]:
        if node is None:
            return ()
        found = []
        for child in node.named_children:
            if "parameter" not in child.type:
                continue
            kind, declarator = child.child_by_field_name("type"), child.child_by_field_name("declarator")
            whole = self.written(child)
            name = ""
            if declarator is not None:
                match = re.search(r"(\w+)\W*$", self.written(declarator))
                name = match[1] if match else ""
            written = self.written(kind) if kind is not None else whole
            marks = "".join(sorted({mark for mark in "&*" if mark in whole.split("=")[0]}))
            prefix = "const " if re.match(r"const\b", whole) else ""
            found.append(Parameter(prefix + written + marks, name))
        return tuple(found)

    def _call(self, node: Node) -> Call | None:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return None
        receiver = ""
        if function.type == "field_expression":
            argument, field = function.child_by_field_name("argument"), function.child_by_field_name("field")
            receiver = self.written(argument) if argument is not None else ""
            name = self.written(field) if field is not None else ""
        else:
            name = self.written(function)
            if function.type in ("lambda_expression", "parenthesized_expression"):
                name = ""
        name = name.partition("<")[0].rsplit("::", 1)[-1]
        return Call(
            name=name.removeprefix("template "),
            callee=self.written(function) if name else "",
            receiver=receiver,
            arguments=tuple(self.written(child) for child in arguments.named_children if child.type != "comment"),
            span=self.span(node),
            function=self.function_at(node.start_byte + self.shift),
        )

    def _read_bare_macros(self, nodes: Iterable[Node]) -> None:
        """`LAUNCH_KERNEL;`: a macro that runs something is a call as good as any."""
        for node in nodes:
            name = self.written(node)
            if name.isupper():
                self.calls.append(
                    Call(name, name, "", (), self.span(node), self.function_at(node.start_byte + self.shift))
                )

    def _read_assignments(self, captures: dict[str, list[Node]]) -> None:
        for node in captures.get("assignment", ()):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            operator = node.child_by_field_name("operator")
            if left is not None and right is not None and operator is not None:
                self._add_assignment(node, left, right, False, self.written(operator))
        for node in captures.get("declarator", ()):
            left, right = node.child_by_field_name("declarator"), node.child_by_field_name("value")
            if left is not None and right is not None:
                self._add_assignment(node, left, right, True, "=")

        for node in captures.get("plain", ()):
            # `Tensor out;` and `float data[3];` give a name without a value.
            match = re.match(r"[&*]*(\w+)", self.written(node))
            if match is not None:
                function = self.function_at(node.start_byte + self.shift)
                self.assignments.append(Assignment(match[1], True, "=", "", self.span(node), function))
        for node in captures.get("vexing", ()):
            # `at::Tensor z(x * y);` in a body is read as a function that takes an `x*`.
            declarator = node.child_by_field_name("declarator")
            name = declarator.child_by_field_name("declarator") if declarator is not None else None
            given = declarator.child_by_field_name("parameters") if declarator is not None else None
            in_body = node.parent is not None and node.parent.type == "compound_statement"
            if name is not None and given is not None and given.named_children and in_body:
                self._add_assignment(node, name, given, True, "=")

    def _add_assignment(self, node: Node, left: Node, right: Node, declares: bool, operator: str) -> None:
        function = self.function_at(node.start_byte + self.shift)
        self.assignments.append(
            Assignment(
                self.written(left).lstrip("&*"),
                declares,
                operator,
                self.written(right),
                self.span(node),
                function,
            )
        )

    def _read_aliases(self, captures: dict[str, list[Node]]) -> None:
        for node in captures.get("alias", ()):
            name, target = node.child_by_field_name("name"), node.child_by_field_name("type")
            if name is not None and target is not None:
                self.aliases.append(Alias(self.written(name), self.written(target), self.span(node), "type"))
        for node in captures.get("typedef", ()):
            name, target = node.child_by_field_name("declarator"), node.child_by_field_name("type")
            if name is not None and target is not None:
                self.aliases.append(Alias(self.written(name), self.written(target), self.span(node), "type"))
        for node in captures.get("namespace_alias", ()):
            name = node.child_by_field_name("name")
            target = node.named_children[-1]
            if name is not None:
                self.aliases.append(Alias(self.written(name), self.written(target), self.span(node), "namespace"))
        for node in captures.get("using", ()):
            target = node.named_children[-1] if node.named_children else None
            if target is not None:
                keyword = any(child.type == "namespace" for child in node.children)
                kind = "using-namespace" if keyword else "using-declaration"
                written = self.written(target)
                brought = "" if keyword else written.rsplit("::", 1)[-1]
                self.aliases.append(Alias(brought, written, self.span(node), kind))

    # -- where things are

    def function_at(self, offset: int) -> int | None:
        """The innermost function around a file offset."""
        index = bisect_right(self._starts, offset) - 1
        current: int | None = index if index >= 0 else None
        while current is not None and self.functions[current].span.end <= offset:
            current = self.functions[current].parent
        return current

    def _class_at(self, span: Span) -> int | None:
        around = [index for index, class_ in enumerate(self.classes) if class_.span.holds(span)]
        return max(around, key=lambda index: self.classes[index].span.start) if around else None

    def namespace(self, node: Node) -> str:
        """The namespaces and classes around a node, `a::b::C`."""
        names: list[str] = []
        outer = node.parent
        while outer is not None:
            if outer.type in ("namespace_definition", "class_specifier", "struct_specifier"):
                name = outer.child_by_field_name("name")
                if name is not None:
                    names.append(self.written(name))
            outer = outer.parent
        return "::".join(reversed(names))

    # -- guards

    def wrappers(self) -> set[str]:
        """Names in this file that stand for guards: aliases, types made of guards, macros with a guard in them."""
        names: set[str] = set()
        size = -1
        while size != len(names):
            size = len(names)
            known = names | {guards.LEGACY}
            for alias in self.aliases:
                if (
                    alias.kind == "type"
                    and alias.target.rsplit("::", 1)[-1] in {*guards.CPP, guards.LEGACY_API} | names
                ):
                    names.add(alias.name)
            for class_ in self.classes:
                if any(is_named_like(member.type, known) for member in class_.members):
                    names.add(class_.name)
                if any(base.rsplit("::", 1)[-1] in known for base in class_.bases):
                    names.add(class_.name)
            for macro in self.macros:
                body = self.slice(macro.body)
                if any(re.search(rf"\b{re.escape(name)}\b", body) for name in known):
                    names.add(macro.name)
        return names - {""}

    def guard_uses(self, root: Node, watched: set[str]) -> Iterator[GuardUse]:
        """Every place where a guard, or a watched name, stands in this tree."""
        resolve = self._resolver()
        bodies = [macro.span for macro in self.macros]
        for start, name in any_of({*NAMES, *watched}, self.code):
            end = start + len(name.encode())
            span = Span(start + self.shift, end + self.shift)
            if any(body.holds(span) for body in bodies):
                continue
            node = root.descendant_for_byte_range(start, end)
            if node is None:
                continue
            use = classify(self, node, name, resolve)
            if use is not None:
                built = (*use.built, *self._built_elsewhere(use))
                yield replace(use, macro=self.macro, function=self._function_of(use), built=built)

    def _built_elsewhere(self, use: GuardUse) -> Iterator[Argument]:
        """What constructors' initialisers and calls of `emplace` give a member or an optional."""
        if use.form is Form.MEMBER:
            name, places = use.variable, self.initializers
        elif use.form in (Form.OPTIONAL, Form.HEAP) and use.holder is not None and use.holder.declared:
            name, places = use.holder.name, [*self.initializers, *self.emplacements]
        else:
            return
        index, around = self._class_at(use.type_span), self.function_at(use.type_span.start)
        if index is not None and around is not None and self.classes[index].span.holds(self.functions[around].span):
            index = None  # a variable of a method
        for given, node in places:
            if given != name or not (use.scope.holds(self.span(node)) or self._is_of_class(node, index)):
                continue
            argument = constructor_argument(self, node)
            if argument is not None:
                yield argument

    def _is_of_class(self, node: Node, index: int | None) -> bool:
        """Whether a node stands in a method of the class, wherever that is defined."""
        around = self.function_at(node.start_byte + self.shift)
        if index is None or around is None:
            return False
        function = self.functions[around]
        owner = function.declared_as.rpartition("::")[0].rpartition("::")[2]
        return function.class_ == index or owner == self.classes[index].name

    def _function_of(self, use: GuardUse) -> int | None:
        return self.function_at(use.type_span.start)

    def _resolver(self) -> dict[str, str]:
        """Type alias -> the name in the guard table that it stands for."""
        table = {alias.name: alias.target.rsplit("::", 1)[-1] for alias in self.aliases if alias.kind == "type"}
        resolved = {}
        for name in table:
            target, seen = name, {name}
            while target in table and table[target] not in seen:
                target = table[target]
                seen.add(target)
            resolved[name] = target
        return resolved


def _in_text_order(node: Node) -> tuple[int, int]:
    """An outer node before the inner one that begins with it."""
    return node.start_byte, -node.end_byte


def _is_static(node: Node) -> bool:
    """Whether a function is seen in its own file alone. (A class's static method is not.)"""
    outer = node.parent
    in_class = False
    while outer is not None:
        if outer.type == "namespace_definition" and outer.child_by_field_name("name") is None:
            return True
        in_class = in_class or outer.type == "field_declaration_list"
        outer = outer.parent
    return not in_class and any(
        child.type == "storage_class_specifier" and child.text == b"static" for child in node.children
    )


def _function_declarator(node: Node) -> Node | None:
    """The function_declarator below pointers and references."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            inner = next((child for child in declarator.named_children if child.type.endswith("declarator")), None)
        declarator = inner
    return declarator


def _unqualified(written: str) -> str:
    return re.sub(r"<.*>$", "", written).rsplit("::", 1)[-1]


_LOOSE = re.compile(r" (?=::|->|[.,<>()\[\]{}&*=])|(?<=::) |(?<=[.,<>()\[\]{}&*=]) ")


@lru_cache(maxsize=4096)
def squeeze(text: bytes) -> str:
    """White space only where two words would run together; comments dropped."""
    if not (b" " in text or b"\n" in text or b"/" in text or b"\t" in text):
        return text.decode("utf-8", "replace")
    if b"/" in text:
        text = re.sub(rb"//[^\n]*|/\*.*?\*/", b" ", text, flags=re.DOTALL)
    return _LOOSE.sub("", b" ".join(text.split()).decode("utf-8", "replace")).strip()


def _macro_bodies(
    source: Source, file: _Reading, grammar: str, watched: set[str]
) -> tuple[list[GuardUse], list[Function], list[Call]]:
    """Guards inside `#define` bodies: each body is parsed on its own, as statements or as declarations."""
    uses: list[GuardUse] = []
    functions: list[Function] = []
    calls: list[Call] = []
    for macro in file.macros:
        body = file.code[macro.body.start : macro.body.end]
        if not any_of({*NAMES, *watched}, body):
            continue
        readable = _readable_macro_body(body)
        head = b"void f(){"
        statements = parse(head + readable + b";}", grammar)
        declarations = parse(readable, grammar)
        as_statements = error_count(statements.root_node) <= error_count(declarations.root_node)
        tree, shift = (statements, macro.body.start - len(head)) if as_statements else (declarations, macro.body.start)
        code = (head + readable + b";}") if as_statements else readable
        reading = _Reading(source.text, code, code, shift, macro.name)
        reading.collect(tree.root_node, grammar)
        found = list(reading.guard_uses(tree.root_node, watched - {macro.name}))
        offset = len(file.functions) + len(functions)
        # The wrapper `f` around statements is no function of the file.
        dropped = 1 if as_statements else 0

        def renumber(index: int | None, dropped: int = dropped, offset: int = offset) -> int | None:
            return None if index is None or index < dropped else index - dropped + offset

        for use in found:
            scope = Span(max(use.scope.start, macro.body.start), min(use.scope.end, macro.body.end))
            uses.append(replace(use, function=renumber(use.function), scope=scope, class_=None))
        functions += [f._replace(parent=renumber(f.parent), class_=None) for f in reading.functions[dropped:]]
        calls += [call._replace(function=renumber(call.function)) for call in reading.calls]
    return uses, functions, calls


def _readable_macro_body(body: bytes) -> bytes:
    """Line continuations, `#` and `##` overwritten, so that the body reads as ordinary code."""
    body = re.sub(rb"\\(\r?\n)", lambda m: b" " + m[1], body)
    body = re.sub(rb"\s*##\s*", lambda m: b"_" * len(m[0]), body)
    return re.sub(rb"(?<![\w#])#(?=\s*[A-Za-z_])", b" ", body)
