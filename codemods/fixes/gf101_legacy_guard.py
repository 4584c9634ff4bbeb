"""GF101: the decision is carried out, whatever form the old guard takes."""

from __future__ import annotations

from guardfix.linter import guards
from guardfix.linter.analysis.dispatcher_bypass import bypasses_dispatcher
from guardfix.linter.analysis.redundancy import inference_mode_in_force
from guardfix.linter.facts import Form
from guardfix.linter.findings import Applicability, Context

from ..edits.guard_aliases import retargeted_alias
from ..edits.guard_removal import guard_removal
from ..edits.intent_edits import preserving
from ..edits.legacy_replacement import replacement
from ..edits.replacement_doubts import doubts_about
from ..fix import Edit, Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix_in("cpp")
def migrate_cpp(site: Site) -> Fix | None:
    site = preserving(site)
    context, form = site.decision.context, site.use.form
    if context is Context.UNKNOWN:
        return None
    removed = _removal(site)
    if context is Context.REMOVE:
        message = "remove the guard: it doesn't cover what it should; this changes what runs below it"
        return site.fix(message, removed, at_most=Applicability.UNSAFE) if removed else None
    if (
        removed
        and context is Context.KERNEL
        and site.choice.remove_redundant
        and bypasses_dispatcher(site.use, site.facts, site.project)
    ):
        message = "remove the guard: autograd is off in `forward`, and the called functions bypass the dispatcher"
        return site.fix(message, removed, at_most=Applicability.UNSAFE)
    if form in (Form.ALIAS, Form.USING):
        return retargeted_alias(site)
    if (
        removed
        and context is Context.INFERENCE
        and (there := inference_mode_in_force(site.use, site.facts)) is not None
    ):
        # What the replacement would be is there already; removing is as safe as replacing would be.
        row = site.facts.row(there.span.start)
        message = (
            f"remove the guard: the {guards.INFERENCE_MODE} of line {row} already does what its replacement would do"
        )
        return site.fix(message, removed, doubts=doubts_about(site))
    return replacement(site)


def _removal(site: Site) -> list[Edit] | None:
    """The edits that take the guard out; None where it is not its own plain declaration."""
    if site.use.form not in (Form.DECLARATION, Form.AUTO) or site.use.macro is not None:
        return None
    return guard_removal(site)


@FIX.fix_in("python")
def migrate_python(site: Site) -> Fix | None:
    from ..edits.python_replacement import python_replacement  # which imports libcst

    # The old guard's Python name is there with every torch, the new ones' with none before 1.9.
    return None if site.choice.compat else python_replacement(preserving(site))
