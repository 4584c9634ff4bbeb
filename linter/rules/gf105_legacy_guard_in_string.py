"""GF105 legacy-guard-in-string: C++ code in a Python string or a document uses `AutoNonVariableTypeMode`.

What it flags: the old guard in C++ code inside a Python string literal: code templates with `${…}`, `%` or `{…}`
placeholders, f-strings, arguments of `load_inline`. With `--include-docs`, also in C++ code blocks of Markdown and
reStructuredText.

Why it is bad: it is the same code as in a .cpp file and ends up being compiled; see GF101. Code generators copy the
old guard into every file that they write.

Example:

    KERNEL = CodeTemplate(\"\"\"
    Tensor ${name}(${formals}) {
      at::AutoNonVariableTypeMode non_var_type_mode(true);
      return at::redispatch::${name}(${arguments});
    }
    \"\"\")

Use instead: the same as for GF101, depending on what the C++ code does.

Fix: the same as for GF101, written with the literal's own escapes and doubled braces. Unsafe if the template's
placeholders hide part of the code. In documents, it is only shown.

Not flagged: docstrings and strings that are statements of their own, comments, prose, the name alone in a string,
and strings that are searched for or compared (`text.replace(old, …)`, `re.sub(old, …)`, `old in text`, a key of a
dict of replacements). A guard that an `if` on torch's version keeps for old ones, with a new guard in the other branch.

Limits: C++ that a program only puts together at run time isn't seen.

References: https://pytorch.org/cppdocs/notes/inference_mode.html (migration guide).
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.project import Project
from ..analysis.version_gates import has_new_counterpart
from ..decision import decide
from ..facts import Facts
from ..findings import Applicability, Finding
from ..frontends.frontend import frontend_named
from ..guards import deprecated_guards
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup
from .gf101_legacy_guard import message_for

RULE = Rule(
    "GF105",
    "legacy-guard-in-string",
    group=RuleGroup.DEPRECATED,
    since="0.1.0",
    fix=RuleFix(Applicability.SAFE),
    languages=("python", "docs"),
    guards=deprecated_guards,
    keeps_results=True,
)


@RULE.check_file
def in_strings(facts: Facts, project: Project) -> Iterator[Finding]:
    where = frontend_named(facts.language).embeds_in
    for piece in facts.embedded:
        for use in piece.guard_uses:
            if use.guard != guards.LEGACY or has_new_counterpart(use, piece, project) or _is_for_old_torch(piece):
                continue
            decision = decide(use, piece, project)
            message = f"in C++ inside {where}: {message_for(decision)}"
            yield RULE.at(facts, use.type_span, message, use=use, decision=decision)


def _is_for_old_torch(piece: Facts) -> bool:
    """Whether the program asks for torch's version, and writes a new guard for newer ones."""
    template = piece.template
    return template is not None and "version" in template.condition.lower() and bool(set(template.other_guards) & _NEW)


_NEW = {guards.INFERENCE_MODE, guards.BELOW_AUTOGRAD, guards.BELOW_ADINPLACEORVIEW}
