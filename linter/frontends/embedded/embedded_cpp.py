"""C++ in Python string literals, given to the C++ front end.

The C++ is laid out as long as its literal: what is between the pieces is blank, an escape is decoded in its place and
padded, a placeholder becomes a name of its own length. So an offset in the C++, moved to where the literal begins, is
an offset in the file.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace

from ... import guards
from ...facts import Call, Facts, Form, GuardUse, Span, Suppression
from ...facts.embedded_paths import path_of_piece
from ...facts.expressions import CallExpression, NamePath
from ...facts.intents import Intent
from ...facts.moving import moved
from ...facts.spans import Nested
from ...files.intent_comments import find_intents
from ...files.sources import Source
from ...files.suppressions import find_directives
from ...lazy_regex import lazy_regex
from .built_together import BuiltTogether
from .template_context import template_of

_LEGACY = guards.LEGACY.encode()
_START = lazy_regex(rb"([A-Za-z]{0,2})(\"\"\"|'''|\"|')")
_BETWEEN = lazy_regex(rb"(?:[ \t\r\n\f()]|\\\r?\n|#[^\r\n]*)*")
_ESCAPE = lazy_regex(
    rb"\\(?:N\{[^{}]{1,100}\}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[0-7]{1,3}|\r\n|.)", re.DOTALL
)
_DOLLAR = lazy_regex(rb"\$(?:\{(\w+(?:,)?)\}|\{,(\w+)\}|(\w+))")
_PERCENT = lazy_regex(rb"%(?:\((\w+)\))?[sdrif]")
_BRACED = lazy_regex(rb"\{(\w*)(?:![rsa])?(?::[^{}\n]*)?\}")
_HEAD = b"void f(){"
_CODE_FORMS = frozenset(
    {Form.DECLARATION, Form.AUTO, Form.MEMBER, Form.BASE, Form.HEAP, Form.OPTIONAL, Form.STATIC, Form.TEMPORARY}
)
_PROSE = lazy_regex(r"\b[A-Za-z]+(?: [A-Za-z]+){2,}\b")


class Piece(Struct, frozen=True):
    """One literal of a string, which may be made of several that are side by side."""

    span: Span
    content: Span
    raw: bool
    formatted: bool
    """An f-string: braces are doubled, and single ones hold expressions."""
    quote: bytes


class Literal(Struct, frozen=True):
    """A string expression: its pieces, and whether it is a template of `str.format` or `%`."""

    span: Span
    pieces: tuple[Piece, ...]
    format_template: bool = False
    percent_template: bool = False

    def piece_at(self, span: Span) -> Piece | None:
        index = bisect_right(self.pieces, span.start, key=lambda piece: piece.content.start) - 1
        return self.pieces[index] if index >= 0 and self.pieces[index].content.holds(span) else None


def find_literals(source: Source, tree: ast.Module) -> Iterator[Literal]:
    """The string literals that hold the old guard's name, or say what is registered with the dispatcher.

    Docstrings and strings that are alone are prose; a string that another text is compared with, or searched for, is
    no program.
    """
    skipped: set[int] = set()
    formatted: set[int] = set()
    percent: set[int] = set()
    starts = source.line_starts
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, (ast.Constant, ast.JoinedStr)):
            skipped.add(id(node.value))
        elif isinstance(node, (ast.Call, ast.Compare, ast.Dict)):
            skipped.update(id(text) for text in _searched_for(node))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            formatted.add(id(node.func.value))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            percent.add(id(node.left))
        if isinstance(node, ast.JoinedStr):
            skipped.update(id(child) for child in ast.walk(node) if child is not node)
        if id(node) in skipped or not (
            isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))
        ):
            continue
        span = Span(
            starts[node.lineno - 1] + node.col_offset,
            starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0),
        )
        text = source.text[span.start : span.end]
        if _LEGACY not in text and b"TORCH_LIBRARY" not in text:
            continue
        pieces = tuple(find_pieces(source.text, span))
        is_format = id(node) in formatted or (b"{{" in text and b"}}" in text and _BRACED.search(text) is not None)
        if pieces and not any(piece.formatted for piece in pieces):
            yield Literal(span, pieces, is_format, id(node) in percent or b"%(" in text)
        elif pieces:
            yield Literal(span, pieces)


_SEARCHES = frozenset(
    """replace count find rfind index rindex startswith endswith split rsplit partition rpartition removeprefix
    removesuffix""".split()
)
"""Methods of `str` whose first argument is looked for."""
_EXPECTS = lazy_regex(r"assert[A-Z]\w*|check(?:_(?:not|same|next|count|dag|regex|source_highlighted))?")
"""Methods of `unittest` and of PyTorch's `FileCheck`, which say what another text should hold."""


def _searched_for(node: ast.Call | ast.Compare | ast.Dict) -> Iterator[ast.expr]:
    """What is looked for in other texts, or compared with them: operands, patterns, keys of replacements."""
    if isinstance(node, ast.Compare):
        for operand in (node.left, *node.comparators):
            yield operand
            if isinstance(operand, (ast.Tuple, ast.List, ast.Set)):
                yield from operand.elts
    elif isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key is not None)
    else:
        yield from (keyword.value for keyword in node.keywords if keyword.arg == "match")
        function = node.func
        if not isinstance(function, ast.Attribute):
            return
        is_pattern = isinstance(function.value, ast.Name) and function.value.id in ("re", "regex")
        if function.attr in _SEARCHES or is_pattern:
            yield from node.args[:1]
        elif _EXPECTS.fullmatch(function.attr):
            yield from node.args


def find_pieces(text: bytes, span: Span) -> Iterator[Piece]:
    """The literals of a string expression, in order."""
    position = span.start
    while position < span.end:
        between = _BETWEEN.match(text, position)
        position = between.end() if between else position
        opening = _START.match(text, position, span.end)
        if opening is None:
            return
        prefix, quote = opening[1].lower(), opening[2]
        end = _closing(text, opening.end(), quote, b"f" in prefix or b"t" in prefix)
        if end is None or end > span.end:
            return
        content = Span(opening.end(), end - len(quote))
        yield Piece(Span(position, end), content, b"r" in prefix, b"f" in prefix or b"t" in prefix, quote)
        position = end


def _closing(text: bytes, position: int, quote: bytes, formatted: bool) -> int | None:
    """Behind the quote that ends a literal. In an f-string an expression may hold the same quotes (Python 3.12)."""
    depth = 0
    while position < len(text):
        if text.startswith(b"\\", position):
            position += 2
            continue
        if formatted and depth == 0 and text.startswith((b"{{", b"}}"), position):
            position += 2
            continue
        character = text[position : position + 1]
        if formatted and character == b"{":
            depth += 1
        elif formatted and character == b"}" and depth:
            depth -= 1
        elif text.startswith(quote, position):
            if depth == 0:
                return position + len(quote)
            inner = _closing(text, position + len(quote), quote, False)
            position = inner if inner is not None else position + len(quote)
            continue
        position += 1
    return None


def lay_out(text: bytes, literal: Literal) -> bytes:
    """A text as long as the literal, blank but for its C++."""
    begin = literal.span.start
    laid = bytearray(b" " * (literal.span.end - begin))
    for piece in literal.pieces:
        start, end = piece.content
        content = text[start:end]
        if not piece.raw:
            content = _ESCAPE.sub(_decoded, content)
        if piece.formatted or literal.format_template:
            content = _unbraced(content)
        content = _DOLLAR.sub(lambda match: _name(match, next(filter(None, match.groups()), b"")), content)
        if literal.percent_template:
            content = _PERCENT.sub(lambda match: _name(match, match[1] or b""), content)
        laid[start - begin : end - begin] = _without_lone_names(content)
    return bytes(laid)


_BEFORE_WORK = lazy_regex(rb"(?:\breturn|[=;{}]|\A)\s*(?:\w+::)*\Z")
_NAME_BEHIND = lazy_regex(rb"[ \t]*(?:[A-Za-z_]|::)|\w")


def placeholders_for_work(text: bytes, literal: Literal) -> list[Span]:
    """The placeholders that are where a statement or a value is expected: what will be called there is unknown.

    `${call}` on its own line, `return at::{dispatch};`, `auto out = {expression};`, but neither the type in
    `{type} out;` nor the name in `at::Tensor {name} = …`.
    """
    found = []
    for piece in literal.pieces:
        start, end = piece.content
        content = text[start:end]
        if not piece.raw:
            content = _ESCAPE.sub(_decoded, content)
        patterns = [_DOLLAR]
        patterns.append(_SINGLE_BRACES if piece.formatted or literal.format_template else _OF_TEMPLATE_FILES)
        if literal.percent_template:
            patterns.append(_PERCENT)
        for match in (match for pattern in patterns for match in pattern.finditer(content)):
            before = content[max(0, match.start() - _BEFORE) : match.start()]
            after = _NAME_BEHIND.match(content, match.end())
            if _BEFORE_WORK.search(before) and (after is None or b"\n" in after.group()):
                found.append(Span(start + match.start(), start + match.end()))
    return sorted(set(found))


_BEFORE = 80
"""How far in front of a placeholder is looked."""
_OF_TEMPLATE_FILES = lazy_regex(
    rb"\{\{[-+]?\s*[A-Za-z_](?:[^{}(),;]|\((?:[^{}()]|\([^{}()]*\))*\))*\}\}|\{%[^{}]*%\}|@\w+@"
)
"""Jinja's placeholders and statements, and those of CMake's `configure_file`; `{{1, 2}}` and `{{a, b}}` are C++."""
_SINGLE_BRACES = lazy_regex(rb"(?<!\{)\{(?!\{)[^{}]*\}(?!\})")


def _with_work(facts: Facts, places: Iterable[Span], text: bytes) -> Facts:
    """The facts with a call wherever a placeholder stands for work in a function."""
    bodies = Nested(((function.body, number) for number, function in enumerate(facts.functions)), itemgetter(0))
    called = Nested((call.span for call in facts.calls), lambda span: span)
    calls = list(facts.calls)
    for place in places:
        innermost = next(bodies.around(place), None)
        call = next(called.around(place), None)
        # The call of a lambda that is invoked at once is around all that is in it.
        if innermost is not None and (call is None or call.holds(innermost[0])):
            written = NamePath((text[place.start : place.end].decode("utf-8", "replace"),))
            calls.append(Call(CallExpression(written), place, innermost[1]))
    return replace(facts, calls=tuple(sorted(calls, key=lambda call: (call.span.start, -call.span.end))))


_SIMPLE = {
    b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v",
    b"\n": b"\n", b"\\": b"\\", b"'": b"'", b'"': b'"',
}  # fmt: skip


def _decoded(match: re.Match[bytes]) -> bytes:
    """An escape's character, padded in front to the length of the escape."""
    escape = match.group()
    value = _SIMPLE.get(escape[1:2])
    if value is None:
        try:
            value = _character(escape.decode("ascii")).encode("utf-8")
        except (KeyError, ValueError):
            return escape
    if escape[1:2] in b"\r\n" and escape[1:]:
        return b" " * len(escape)  # a continued line
    if len(value) > len(escape):
        return b" " * len(escape)
    return b" " * (len(escape) - len(value)) + value


def _character(escape: str) -> str:
    """The character that an escape stands for; one that Python doesn't know stands for itself.

    Raises ValueError for a number that isn't a code point, and KeyError for an unknown name.
    """
    kind, digits = escape[1:2], escape[2:]
    if kind == "N" and digits:
        return unicodedata.lookup(digits[1:-1])
    if kind in "xuU" and digits:
        return chr(int(digits, 16))
    return chr(int(escape[1:], 8)) if kind.isdigit() and kind not in "89" else escape


def _unbraced(content: bytes) -> bytes:
    """`{{` and `}}` become ` {` and ` }`, `{expression}` a name."""
    out = bytearray()
    position = 0
    while position < len(content):
        pair = content[position : position + 2]
        if pair in (b"{{", b"}}"):
            out += b" " + pair[:1]
            position += 2
        elif pair[:1] == b"{":
            end = _expression_end(content, position)
            inside = re.match(rb"\s*(\w+)", content[position + 1 : end])
            out += _placeholder(content[position:end], inside[1] if inside else b"")
            position = end
        else:
            out += pair[:1]
            position += 1
    return bytes(out)


def _expression_end(content: bytes, position: int) -> int:
    depth = 0
    for index in range(position, len(content)):
        if content[index : index + 1] == b"{":
            depth += 1
        elif content[index : index + 1] == b"}":
            depth -= 1
            if depth == 0:
                return index + 1
    return len(content)


def _name(match: re.Match[bytes], name: bytes) -> bytes:
    return _placeholder(match.group(), name)


_MARK = b"_"


def _placeholder(written: bytes, name: bytes) -> bytes:
    """A name as long as the placeholder; one that stands for a call is called, as no program writes it."""
    length = len(written)
    if b"\n" in written:
        return re.sub(rb"[^\r\n]", b" ", written)
    if b"call" in name and length >= 7:
        return b"$p." + name[: length - 5].ljust(length - 5, b"_") + b"()"
    # No `_` at the end: that would be an in-place op's name.
    return (name or b"x")[-(length - 1) :].rjust(length, _MARK)


_LONE = lazy_regex(rb"(?m)^([ \t]*)(_\w*)([ \t]*)$")


def _without_lone_names(content: bytes) -> bytes:
    """A placeholder that has a line for itself stands for statements: nothing is there for the grammar."""
    return _LONE.sub(lambda match: b" " * len(match.group()), content)


def embedded_cpp(source: Source, tree: ast.Module, facts: Facts) -> Iterator[Facts]:
    """The facts of the C++ in each literal that holds the old guard."""
    together = BuiltTogether(source, tree)
    for literal in find_literals(source, tree):
        found = read_embedded(source, literal.span, lay_out(source.text, literal), facts)
        if found is not None:
            found = _with_work(found, placeholders_for_work(source.text, literal), source.text)
            yield replace(found, template=template_of(literal.span, source, tree), built=together.of(literal.span))


_OLD = guards.GuardNames(guards.CPP, guards.deprecated_guards)


def read_embedded(
    source: Source, span: Span, laid: bytes, facts: Facts, wanted: Collection[str] = _OLD
) -> Facts | None:
    """The facts of the C++ that is laid out for `span`; None when it is prose, or no wanted guard is in it."""
    found, begin = _read(source, span, laid), span.start
    loose = [use for use in found.guard_uses if use.guard in wanted and use.function is None]
    if any(use.form not in (Form.MEMBER, Form.BASE) for use in loose) and span.start >= len(_HEAD):
        # Statements without a function around them.
        again = _read(source, span, _HEAD + laid[:-1] + b"}")
        if any(use.guard in wanted and use.function is not None for use in again.guard_uses):
            functions = tuple(f._replace(name="", qualified=()) if f.span.start == 0 else f for f in again.functions)
            found, begin = replace(again, functions=functions), span.start - len(_HEAD)
    found = moved(found, begin)
    uses = tuple(use for use in found.guard_uses if use.guard not in wanted or _is_code(use, laid, span.start))
    if not found.registrations and not any(use.guard in wanted for use in uses):
        return None
    return replace(
        found,
        guard_uses=uses,
        language="embedded",
        linked=False,
        suppressions=_suppressions(laid, span, facts),
        intents=_intents(laid, span, facts),
        line_starts=facts.line_starts,
    )


def with_pieces(facts: Facts, pieces: Iterable[Facts]) -> Facts:
    """The facts of a file with those of the C++ inside it, whose comments silence findings there as well."""
    pieces = tuple(pieces)
    own = (suppression for piece in pieces for suppression in piece.suppressions)
    return replace(facts, embedded=pieces, suppressions=tuple(dict.fromkeys((*facts.suppressions, *own))))


def _suppressions(laid: bytes, span: Span, facts: Facts) -> tuple[Suppression, ...]:
    """What the piece's own comments silence, and the comment after it: inside a string a comment can't be written."""
    from ..cpp.cpp_masking import cpp_comments

    first, last = facts.row(span.start), facts.row(span.end)
    rows = range(first, last + 1)
    after = (given._replace(rows=rows) for given in facts.suppressions if first < last and last in given.rows)
    own = find_directives(laid, lambda offset: facts.row(span.start + offset), cpp_comments).suppressions
    return (*(_shifted(one, span.start) for one in own), *after)


def _shifted(suppression: Suppression, by: int) -> Suppression:
    """A suppression of a piece with its places in the file."""
    return suppression._replace(places=tuple(Span(at.start + by, at.end + by) for at in suppression.places))


def _intents(laid: bytes, span: Span, facts: Facts) -> tuple[Intent, ...]:
    """What the piece's own comments declare."""
    from ..cpp.cpp_masking import cpp_comments

    return moved(find_intents(laid, lambda offset: facts.row(span.start + offset), cpp_comments).intents, span.start)


def _read(source: Source, span: Span, laid: bytes) -> Facts:
    from ..cpp.cpp_extraction import extract_cpp

    row = source.position(span.start).row
    return extract_cpp(Source(path_of_piece(source.path, row, span.start), laid), whole=True)


def _is_code(use: GuardUse, laid: bytes, begin: int) -> bool:
    """Whether a use is in code: a form that declares something, and no sentence around it on its line."""
    if use.form not in _CODE_FORMS or use.under_error:
        return False
    place = use.type_span.start - begin
    start = laid.rfind(b"\n", 0, place) + 1
    end = laid.find(b"\n", place)
    line = laid[start : end if end >= 0 else len(laid)].decode("utf-8", "replace")
    code = re.sub(r"//.*|/\*.*?\*/", "", line)
    return not _PROSE.search(re.sub(r"^\s*(?:static|const|auto)\b.*", "", code))
