"""The pages: templates, style sheets and scripts, with the findings or the steps written into them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from .report_content import FIX_KINDS, PICKED_PURPOSES, ReportContent

_TEMPLATES = "templates"


def html_page(content: ReportContent) -> str:
    """The whole page of a report. It loads nothing."""
    data = {"findings": content.findings, "purposes": PICKED_PURPOSES, "fixKinds": FIX_KINDS}
    return rendered("report_page.html", ("report_page.css",), ("page_theme.js", "report_page.js"), content, data)


def rendered(
    template: str, styles: Sequence[str], scripts: Sequence[str], content: Any, data: Any = None, connects: str = ""
) -> str:
    """A page from its parts. Its policy allows only the scripts and the styles that are in it, and no network.

    `connects` is what the policy lets scripts ask, `'self'` for the server that the page comes from.
    """
    environment = Environment(
        loader=PackageLoader(__package__, _TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["spoken"] = spoken
    script, style = ("\n".join(map(_text, names)) for names in (scripts, styles))
    policy = f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; base-uri 'none'"
    if connects:
        policy += f"; connect-src {connects}; form-action {connects}"
    return environment.get_template(template).render(
        content=content, data=_for_script(data), script=Markup(script), style=Markup(style), policy=policy
    )


def spoken(text: str) -> Markup:
    """A message, in which backticks mark code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one that stands alone
        return escape(text)
    made = [Markup("<code>{}</code>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)]
    return Markup("").join(made)


def _text(name: str) -> str:
    """A part of the page; nothing in it may look like the end of its element."""
    return files(__package__).joinpath(_TEMPLATES, name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
    return f"'sha256-{digest}'"


def _for_script(value: Any) -> Markup:
    """JSON that can stand in a script element: nothing in it ends the element, or begins a comment."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
