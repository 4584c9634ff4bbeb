"""What all pages are made by: templates, style sheets and scripts, with what they show written into them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import ascii_letters, digits
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from guardfix.foreign_text import printed_page
from guardfix.output.json_text import json_text

_TEMPLATES = "templates"


def rendered(
    template: str, styles: Sequence[str], scripts: Sequence[str], content: Any, data: Any = None, connects: str = ""
) -> str:
    """A page from its parts and those that all pages share. Its policy allows no script, style or network but its own.

    `connects` is what the policy lets scripts ask, `'self'` for the server that the page comes from.
    """
    script = "\n".join(map(_text, ("page_theme.js", *scripts)))
    style = "\n".join(map(_text, ("page.css", *styles)))
    policy = f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; base-uri 'none'"
    if connects:
        policy += f"; connect-src {connects}; form-action {connects}"
    parts = {"script": Markup(script), "style": Markup(style), "data": None if data is None else _for_script(data)}
    return printed_page(_environment().get_template(template).render(content=content, policy=policy, **parts))


def fragment(template: str, **values: Any) -> str:
    """A part of a page, for a page that is there already."""
    return printed_page(_environment().get_template(template).render(values))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, _TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"spoken": spoken, "colored": colored}
    return environment


def colored(line: Sequence[str]) -> Markup:
    """A line of code with its parts (`HighlightedLine`) as elements."""
    text, parts = line
    made, at = [], 0
    for part in parts.split(",") if parts else ():
        length = int(part.rstrip(ascii_letters))
        piece, kind = text[at : at + length], part.lstrip(digits)
        made.append(Markup('<span class="{}">{}</span>').format(kind, piece) if kind else escape(piece))
        at += length
    return Markup("").join([*made, escape(text[at:])])


def spoken(text: str) -> Markup:
    """A message, in which backticks mark code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one that is alone
        return escape(text)
    made = [Markup("<code>{}</code>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)]
    return Markup("").join(made)


def has_template(name: str) -> bool:
    """Whether a part that is made only at a release is there."""
    return files(__package__).joinpath(_TEMPLATES, name).is_file()


def _text(name: str) -> str:
    """A part of the page; nothing in it may look like the end of its element."""
    return files(__package__).joinpath(_TEMPLATES, name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
    return f"'sha256-{digest}'"


def _for_script(value: Any) -> Markup:
    """JSON that can be in a script element: nothing in it ends the element, or begins a comment."""
    text = json_text(value, compact=True)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
