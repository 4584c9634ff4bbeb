"""A struct of guards, a macro or an alias stands in for its guard: where it is used decides what it is for."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from ..analysis.alias_scopes import mentions_of_wrapper
from ..analysis.linkage import Link
from ..facts import Facts, Form, GuardUse
from ..facts.expressions import is_named
from ..facts.index import index_of
from ..facts.macro_substitution import pasted
from .use_context import Scene, scene_of


def wrapper_of(scene: Scene) -> str | None:
    """The name through which other places use this guard: its class, its macro, its alias. None for a plain guard."""
    use = scene.use
    if use.macro is not None:
        return use.macro
    if use.form in (Form.MEMBER, Form.BASE) and use.class_ is not None:
        return scene.facts.classes[use.class_].name
    if use.form in (Form.ALIAS, Form.USING):
        return index_of(scene.facts).alias_names.get(use.span)
    return None


def scenes_of_wrapper(scene: Scene, name: str) -> list[Scene]:
    """Where the class, macro or alias of that name is used."""
    if scene.use.macro is not None and scene.chain:
        invoked = scene.project.invocations_of(name, scene.facts)
        return [_generated(scene, one.arguments, _link(scene, name, facts)) for facts, one in invoked]
    if scene.use.form is not Form.USING:
        places = mentions_of_wrapper(scene.use, name, scene.facts, scene.project)
        return [scene_of(scene.project, facts, use, _link(scene, name, facts)) for facts, use in places]
    # The name is known in the block of the using-declaration, and in others of the same namespace.
    here = index_of(scene.facts)
    uses = _named(name, scene.use, here.uses.within(scene.use.scope)) or _named(name, scene.use, scene.facts.guard_uses)
    return [scene_of(scene.project, scene.facts, other) for other in uses]


def _named(name: str, declared: GuardUse, among: Iterable[GuardUse]) -> list[GuardUse]:
    """The uses of the guard under the name that a using-declaration gives it."""
    return [
        other
        for other in among
        if other.guard == declared.guard and is_named(other.named, name) and other.form is not Form.USING
    ]


def _link(scene: Scene, name: str, facts: Facts) -> Link:
    """How a file that names the stand-in is linked to the one with the guard itself."""
    return scene.project.linkage.of_type(scene.facts, name, facts)


def _generated(scene: Scene, arguments: tuple[str, ...], link: Link) -> Scene:
    """The guard in the functions that one invocation of its macro defines."""
    macro = next(macro for macro in scene.facts.macros if macro.name == scene.use.macro)
    chain = tuple(
        function._replace(
            name=pasted(function.name, macro.parameters, arguments),
            qualified=tuple(pasted(part, macro.parameters, arguments) for part in function.qualified),
            macro=None,
        )
        for function in scene.chain
    )
    return replace(scene, use=replace(scene.use, macro=None), chain=chain, link=link)
