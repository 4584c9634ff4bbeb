"""What the old guard's constructor was given, and how it goes."""

from __future__ import annotations

import re
from functools import lru_cache

from guardfix.linter.facts import Call, Form, GuardUse, Span
from guardfix.linter.facts.expressions import last_name, truth_of
from guardfix.linter.facts.index import all_calls_where
from guardfix.linter.findings import Context
from guardfix.linter.lazy_regex import lazy_regex

from ..fix import Edit
from ..site import Site

_EXPRESSION = (Form.AUTO, Form.TEMPORARY, Form.HEAP, Form.OPTIONAL, Form.REFERENCE, Form.TEMPLATE_ARGUMENT)
"""Forms whose constructor call keeps its brackets: `at::G(true)` -> `at::G()`."""


def argument_edits(use: GuardUse, site: Site) -> list[Edit] | None:
    """The edits that drop the constructor's argument; None when the replacement cannot be built with it.

    `use` is the site's own, or one through an alias that the site is about.
    """
    argument = use.argument
    edits = list(_emplaced(use, site))
    if use.shared and use.form is Form.DECLARATION and _has_more_declarators(use, site.text):
        return None  # each of them may be built differently
    if use.form is Form.BASE and _is_initialised_elsewhere(use, site.text):
        return None
    inference = site.decision.context is Context.INFERENCE
    if any(not built.empty and built.value is not True for built in use.built):
        return None  # what the argument was for is not in the code
    if use.form is Form.OPTIONAL and not inference:
        # The replacements take nothing, and `std::optional<at::H> g{}` would hold none.
        declared = [built for built in use.built if use.span.holds(built.span)]
        edits += [Edit(built.span, "(std::in_place)") for built in declared if not built.empty]
    if argument is None:
        return edits
    if not argument.empty and argument.value is not True:
        if not inference or argument.value is False:
            return None  # only InferenceMode can be switched, and what `false` was for is not in the code
        between = Span(use.variable_spans[0].end, argument.span.start) if use.variable_spans else None
        if between is not None and use.form is Form.DECLARATION and b"=" in site.text[slice(*between)]:
            edits.append(Edit(between, ""))
        return edits
    if use.form is Form.TEMPORARY and not use.shared:
        return edits  # named and rebuilt by _form_edits
    if use.form in _EXPRESSION:
        inner = Span(argument.span.start + 1, argument.span.end - 1)
        return edits if argument.empty else [*edits, Edit(inner, "")]
    # `at::G g(true)`, `at::G g{true}` and `at::G g = at::G(true)` all become `at::H g`.
    start = use.variable_spans[0].end if use.variable_spans else argument.span.start
    if b'"' in site.text[start : argument.span.end]:
        return None  # a quotation mark that is lost there
    return [*edits, Edit(Span(start, argument.span.end), "")]


def _has_more_declarators(use: GuardUse, text: bytes) -> bool:
    """`at::G a(true), b(true);`"""
    end = use.argument.span.end if use.argument is not None else use.variable_spans[0].end
    return text[end : use.span.end].lstrip()[:1] == b","


def _is_initialised_elsewhere(use: GuardUse, text: bytes) -> bool:
    """Whether a constructor of the deriving class builds the base with an argument."""
    return _last_initialisation(text, last_name(use.named).encode()) >= use.type_span.end


@lru_cache(maxsize=4)
def _last_initialisation(text: bytes, written: bytes) -> int:
    """Where a base of that name is last built with an argument; -1 if it isn't."""
    found = [match.start() for match in re.finditer(rb"\b" + written + rb"\s*[({]\s*\w", text)]
    return found[-1] if found else -1


_INITIALISED = lazy_regex(rb"\s*[({]\s*true\s*[)}]")


def _emplaced(use: GuardUse, site: Site) -> list[Edit]:
    """`true` where a member, an optional or a base is initialised in another place of the file."""
    if use.form is Form.MEMBER:
        edits = []
        for place in use.variable_spans[1:]:
            match = _INITIALISED.match(site.text, place.end)
            if match is not None:
                edits.append(Edit(Span(place.end, match.end()), match.group().replace(b"true", b"").decode()))
        return edits
    if use.form in (Form.OPTIONAL, Form.HEAP):
        return [
            Edit(_inside_call(site.text, call.span), "")
            for call in all_calls_where(site.facts, _emplaces_true).within(use.scope)
            if str(call.receiver) == _declared_name(use, site.text)
        ]
    return []


def _emplaces_true(call: Call) -> bool:
    return call.name == "emplace" and [truth_of(argument) for argument in call.arguments] == [True]


_NAME_BEHIND_TEMPLATE = lazy_regex(rb"\s*>\s*([A-Za-z_]\w*)")


def _declared_name(use: GuardUse, text: bytes) -> str:
    """The variable of `std::optional<at::G> name;`."""
    match = _NAME_BEHIND_TEMPLATE.match(text, use.type_span.end)
    return match[1].decode() if match is not None else ""


def _inside_call(text: bytes, span: Span) -> Span:
    opening = text.rfind(b"(", span.start, span.end)
    return Span(opening + 1, span.end - 1)
