"""A Python file's text -> its facts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .. import guards
from ..facts import Facts
from ..sources import Source
from ..suppress import find_directives
from . import whole
from .comments import comments
from .facts import PythonFacts
from .look import LEGACY, may_matter
from .module import Module
from .parse import error_row, parse
from .program import read_program
from .walk import Walk


def extract(source: Source, watched: Iterable[str] = ()) -> Facts | None:
    """The facts of one Python file; None when nothing in it can matter.

    `watched` are further names under which other files of the project export guards.
    """
    watched = tuple(watched)
    if not may_matter(source.text, watched):
        return None
    text = source.text.decode("utf-8")
    tree = parse(text)
    directives = find_directives(source.text, source.row, comments)
    common = Facts(
        path=source.path,
        language="python",
        notes=(*source.notes, *directives.notes),
        suppressions=directives.suppressions,
        line_starts=source.line_starts,
    )
    if tree is None:
        return replace(common, partial=True, error_row=error_row(text), python=PythonFacts())
    module = Module(source, tree, watched)
    legacy = LEGACY in source.text
    walk = Walk(module, everything=legacy or bool(watched))
    walk.read()
    facts = replace(
        common,
        guard_uses=tuple(use.use for use in walk.uses),
        functions=tuple(walk.functions),
        classes=tuple(walk.classes),
        python=_python_facts(module, walk),
    )
    if legacy or watched:
        facts = read_program(facts, module, walk.nodes)
    if legacy:
        from .strings import embedded_cpp, with_pieces

        facts = with_pieces(facts, embedded_cpp(source, tree, facts))
    return facts


def _python_facts(module: Module, walk: Walk) -> PythonFacts:
    inference = any(use.use.guard == guards.PYTHON_INFERENCE_MODE for use in walk.uses)
    return PythonFacts(
        uses=tuple(walk.uses),
        gradient_calls=tuple(walk.gradient_calls),
        escapes=tuple(walk.escapes),
        lazy_caches=tuple(walk.lazy_caches),
        training=whole.training_signs(module) if inference else (),
        exports=tuple(whole.exports(module)),
        stars=tuple(module.scope.stars),
        torch_name=whole.torch_name(module),
        imports_end=whole.imports_end(module),
    )
