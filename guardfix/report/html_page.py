"""The page: a template, a style sheet and a script, with the findings written into it."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from .report_content import FIX_KINDS, PICKED_PURPOSES, ReportContent

_TEMPLATES = "templates"


def html_page(content: ReportContent) -> str:
    """The whole page. It loads nothing: its policy allows only the script and the style that are in it."""
    environment = Environment(
        loader=PackageLoader(__package__, _TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script, style = _text("report_page.js"), _text("report_page.css")
    return environment.get_template("report_page.html").render(
        content=content,
        data=_for_script({"findings": content.findings, "purposes": PICKED_PURPOSES, "fixKinds": FIX_KINDS}),
        script=Markup(script),
        style=Markup(style),
        policy=f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; base-uri 'none'",
    )


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
