"""Aliases of guards that other files use: what a name means there."""

from __future__ import annotations

from collections import defaultdict

from msgspec.structs import replace

from .. import guards
from ..facts import Facts, GuardUse
from ..facts.expressions import last_name
from .linkage import Linkage


def through_shared_aliases(files: dict[str, Facts], linkage: Linkage) -> dict[str, Facts]:
    """Files in which a name that another file defines as an alias of a guard is read as that guard.

    Where files differ in what the name means, what is included tells.
    """
    targets: dict[str, list[tuple[Facts, str]]] = defaultdict(list)
    for facts in files.values():
        for alias in facts.aliases:
            if alias.kind == "type":
                targets[alias.name].append((facts, last_name(alias.target)))
    shared = {name: to for name, to in targets.items() if any(target in guards.CPP for _, target in to)}
    if not shared:
        return files
    resolved = dict(files)
    for path, facts in files.items():
        meant = {}
        for name in shared.keys() & {use.guard for use in facts.guard_uses}:
            found = {target for where, target in shared[name] if linkage.of_type(where, name, facts)}
            if len(found) == 1 and (target := found.pop()) in guards.CPP:
                meant[name] = target
        if meant:
            resolved[path] = replace(facts, guard_uses=tuple(_resolved(use, meant) for use in facts.guard_uses))
    return resolved


def _resolved(use: GuardUse, shared: dict[str, str]) -> GuardUse:
    return replace(use, guard=shared[use.guard], alias=use.guard) if use.guard in shared else use
