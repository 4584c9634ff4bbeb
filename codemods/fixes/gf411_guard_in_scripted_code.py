"""GF411: the guard changes places with `@torch.jit.script` above it."""

from __future__ import annotations

from guardfix.linter.facts import Form, Span

from ..edits.statements import line_end, line_start
from ..fix import Edit, Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def change_places(site: Site) -> Fix | None:
    use = site.finding.use
    if use is None or use.form is not Form.DECORATOR:
        return site.suggestion("use `with torch.no_grad():` inside, which TorchScript compiles")
    text = site.text
    own = Span(line_start(text, use.span.start), line_end(text, use.span.end))
    above = Span(line_start(text, max(0, own.start - 1)), own.start)
    lines = [text[slice(*span)].decode("utf-8") for span in (above, own)]
    if not lines[0].strip().startswith("@") or "script" not in lines[0] or text.count(b"\n", *own) != 1:
        return None
    edits = [Edit(above, lines[1]), Edit(own, lines[0])]
    return site.fix(f"put `@{use.written}()` above `@torch.jit.script`, where Python enters it", edits)
