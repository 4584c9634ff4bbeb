"""GF202: a guard that is alone in a branch becomes one that the branch's condition switches."""

from __future__ import annotations

import re

from guardfix.linter import guards
from guardfix.linter.facts import Form, Span

from ..edits.statements import line_end
from ..fix import Edit, Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()
_IF = re.compile(rb"\bif[ \t]*\(([\w \t!.&|<>=:\->]*(?:\(\))?[\w \t!.&|<>=:\->]*)\)\s*\Z")
"""An `if` with a condition that can be in brackets elsewhere as it is."""
_HEAD = re.compile(rb"(?:[):]|\belse|\bdo)\s*\Z")
"""Of a statement whose branch or body the `if` is, so that nothing follows it there."""
_DECLARED_ALONE = re.compile(rb"[^,;]*;\Z")
"""Without another variable; and where the parser was lost, the end of the declaration may be missing."""
_COMMENT = re.compile(rb"//[^\r\n]*")
_SIMPLE = re.compile(r"!?[\w.:]+(?:->\w+)*(?:\(\))?\Z")
_LONGEST = 300


@FIX.fix
def switch_by_the_condition(site: Site) -> Fix | None:
    use, text = site.use, site.text
    if use.form is not Form.DECLARATION or use.macro is not None or not use.variable:
        return None
    if not _DECLARED_ALONE.match(text[slice(*use.span)]) if use.is_branch else use.shared:
        return None
    switched = _switched(site)
    if switched is None or (use.under_error and not use.is_branch):
        return None
    block = use.span if use.is_branch else use.scope
    comment = ""
    if not use.is_branch:
        inside = text[block.start : use.span.start] + text[use.span.end : block.end]
        after = _COMMENT.findall(inside)
        if re.sub(rb"\s", b"", _COMMENT.sub(b"", inside)) != b"{}" or len(after) > 1:
            return None
        if after and (after[0].rstrip().endswith(b"\\") or text[block.end : line_end(text, block.end)].strip()):
            return None  # the comment would take in what follows it on its new line
        comment = f"  {after[0].decode('utf-8', 'replace').rstrip()}" if after else ""
    found = _IF.search(text, max(0, block.start - _LONGEST), block.start)
    if found is None or _HEAD.search(_COMMENT.sub(b"", text[max(0, found.start() - _LONGEST) : found.start()])):
        return None
    if text[block.end : block.end + _LONGEST].lstrip().startswith(b"else"):
        return None
    if text[block.end : block.end + _LONGEST].lstrip()[:1] in (b"}", b""):
        return None  # nothing follows that it could cover
    condition = found[1].decode().strip()
    new = f"{switched[0]} {use.variable}({_argument(condition, negated=switched[1])});"
    return site.fix(
        f"switch the guard by the condition, for the rest of the scope: `{new}`",
        [Edit(Span(found.start(), block.end), new + comment)],
        doubts=[
            "what follows runs under the guard then",
            "and if the condition doesn't hold, it records, also under a guard of the caller",
        ],
    )


def _switched(site: Site) -> tuple[str, bool] | None:
    """The guard that takes a condition, and whether that is the contrary of the branch's."""
    use = site.use
    space = use.written.rpartition("::")[0]
    lead = f"{space}::" if space else ""
    if use.argument is not None and not use.argument.empty and use.argument.value is None:
        return None
    value = use.argument.value if use.argument is not None and not use.argument.empty else None
    if use.guard == guards.INFERENCE_MODE and value is not False:
        return f"{lead}{guards.INFERENCE_MODE}", False
    if use.guard == "NoGradGuard":
        return f"{lead}AutoGradMode", True
    if use.guard == "AutoGradMode" and value is False:
        return f"{lead}AutoGradMode", True
    return None


def _argument(condition: str, *, negated: bool) -> str:
    if not negated:
        return condition
    if _SIMPLE.match(condition):
        return condition[1:] if condition.startswith("!") else f"!{condition}"
    return f"!({condition})"
