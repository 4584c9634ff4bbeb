"""GF506: the tensor is cloned before it is used as no inference tensor can be; a buffer that a loop fills keeps its
place, and is written under the mode."""

from __future__ import annotations

from guardfix.linter.facts import Facts, Span
from guardfix.linter.facts.bodies import Assign, Loop
from guardfix.linter.facts.expressions import simple_name
from guardfix.linter.facts.statement_walk import all_statements, bodies_around

from ..fix import Edit, Fix, insertion
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()
_MODE = "c10::InferenceMode guard;"


@FIX.fix
def clone_before(site: Site) -> Fix | None:
    finding, name = site.finding, site.finding.variable
    if not name:  # `make(x).add_(1)`: there is nothing to assign the clone to
        return None
    written = bool(finding.steps) and "in place" in finding.steps[-1].message
    if written and _is_kept_through_a_loop(name, finding.span, site.facts):
        end = finding.span.end
        end += site.text[end : end + 1] == b";"
        message = f"keep the buffer, and write to it under the mode: `{{ {_MODE} … }}`"
        return site.fix(message, [insertion(finding.span.start, f"{{ {_MODE} "), Edit(Span(end, end), " }")])
    clone = f"{name} = {name}.clone();"
    message = f"make it an ordinary tensor first: `{clone}`"
    return site.fix(message, [insertion(finding.span.start, f"{clone} ")])


def _is_kept_through_a_loop(name: str, span: Span, facts: Facts) -> bool:
    """Whether the place is in a loop that gives the variable no other tensor.

    A clone there would be made each time, and whoever holds the buffer would keep the old one.
    """
    for body in bodies_around(span, facts):
        for loop in all_statements(body.statements):
            if isinstance(loop, Loop):
                inside = list(all_statements(loop.block))
                if any(one.span.holds(span) for one in inside):
                    given = (target for one in inside if isinstance(one, Assign) for target in one.targets)
                    return all(simple_name(target) != name for target in given)
    return False
