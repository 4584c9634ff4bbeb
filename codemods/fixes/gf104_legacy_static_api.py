"""GF104: `NonVariableTypeMode::is_enabled()` becomes a question about the excluded dispatch keys."""

from __future__ import annotations

from guardfix.linter.facts.expressions import last_name

from ..fix import Edit, Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()

_ASK = "c10::impl::tls_is_dispatch_keyset_excluded(c10::autograd_dispatch_keyset)"


@FIX.fix
def ask_the_key_set(site: Site) -> Fix | None:
    use = site.use
    # Without an argument list the function's address is taken, and an expression has none.
    if use.argument is None or last_name(use.named) != "is_enabled":
        return None
    return site.fix(f"ask `{_ASK}`", [Edit(use.type_span._replace(end=use.argument.span.end), _ASK)])
