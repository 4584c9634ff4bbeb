"""GF405: a guard object that is kept becomes a `with` around the rest of its block."""

from __future__ import annotations

from guardfix.linter import guards

from ..fix import Fix
from ..fix_rule import FixRule
from ..site import Site

FIX = FixRule()


@FIX.fix
def enter_for_the_rest(site: Site) -> Fix | None:
    found, use = site.python_use, site.use
    if found is None or not found.local or use.class_ is not None:
        return None
    from ..edits.with_blocks import rest_of_block_under  # which imports libcst

    guard = _entered(site)
    edits = rest_of_block_under(site.text, use, guard)
    if edits is None:
        return None
    return site.fix(f"move the rest of the block into `with {guard}:`; the guard then ends with the block", edits)


def _entered(site: Site) -> str:
    """What `with` enters instead: the public guard where this file has a name for torch, else the guard itself."""
    use, written = site.use, site.source.slice(site.use.type_span)
    if use.guard != guards.C_INFERENCE_MODE:
        return f"{written}()"
    module, _, _ = written.rpartition(f"._C.{use.guard}")
    torch = module or (site.facts.python.torch_name if site.facts.python is not None else "")
    argument = "" if use.argument is None else site.source.slice(use.argument.span)[1:-1]
    if not torch:
        return f"{written}({argument})"
    on = use.argument is None or use.argument.value is True
    return f"{torch}.{guards.PYTHON_INFERENCE_MODE}({'' if on else argument})"
