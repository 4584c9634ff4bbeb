"""A Python file's text -> its facts."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from ... import guards
from ...facts import Facts, Form
from ...facts.bodies import Body
from ...facts.python_model import PythonFacts
from ...files.intent_comments import find_intents
from ...files.search_terms import SearchTerms, recorded
from ...files.sources import Source
from ...files.suppressions import find_directives
from . import module_prescan
from .parsed_module import Module
from .python_body_pruning import bring_back, is_enough, without_idle_bodies
from .python_comments import python_comments, with_python_comments
from .python_expressions import PythonExpressionReader
from .python_look import may_matter, name_places, standing
from .python_parsing import error_row, parse_or_none, parse_python
from .python_program import read_program
from .python_reach import PythonReach
from .python_reading import ModuleReading
from .python_statements import BodyReading


def extract_python(
    source: Source,
    watched: Iterable[str] = (),
    terms: SearchTerms | None = None,
    *,
    named: Collection[str] = (),
) -> Facts | None:
    """The facts of one Python file; None when nothing in it can matter.

    `watched` are further names under which other files of the project export guards; `terms` is what the rules look
    for, when that is not what is recorded. Functions and classes with one of the names `named`, and those that mention
    one, are among the bodies with what belongs to them, whether they have to do with a guard or not.
    """
    watched = tuple(watched)
    terms = terms or recorded("python")
    if not named and not may_matter(source.text, watched, always=terms.always, shapes=terms.shapes, words=terms.words):
        return None
    legacy = guards.LEGACY_API.encode() in source.text
    texts = standing(terms.texts, terms.shapes, source.text)
    whole = legacy or bool(watched) or bool(texts)
    reading = None if whole or named else _read_in_part(source)
    text = source.text.decode("utf-8")
    if reading is None:
        tree = parse_python(text)
        reading = _read(source, tree, watched, whole=whole) if tree is not None else None
    directives = find_directives(source.text, source.row, python_comments)
    declared = find_intents(source.text, source.row, python_comments)
    common = Facts(
        path=source.path,
        language="python",
        notes=(*source.notes, *directives.notes, *declared.notes),
        suppressions=directives.suppressions,
        intents=declared.intents,
        line_starts=source.line_starts,
    )
    if reading is None:
        return replace(common, partial=True, error_row=error_row(text), python=PythonFacts())
    module, walk = reading
    uses = (use.use for use in walk.uses)
    facts = replace(
        common,
        guard_uses=tuple(with_python_comments(uses, source) if b"def backward(" in source.text else uses),
        functions=tuple(walk.functions),
        classes=tuple(walk.classes),
        python=python_facts(module, walk, bool(named), terms.training, whole=whole),
    )
    reader = PythonExpressionReader(module, remembers=whole)
    facts = replace(facts, bodies=_bodies(module, walk, reader, named, texts))
    if whole:
        facts = read_program(facts, module, walk.nodes, reader)
    if legacy:
        from ..embedded.embedded_cpp import embedded_cpp, with_pieces

        facts = with_pieces(facts, embedded_cpp(source, module.tree, facts))
    module.scope.forget_inner()
    return facts


def _read(
    source: Source, tree: ast.Module, watched: Iterable[str] = (), *, whole: bool = False
) -> tuple[Module, ModuleReading]:
    module = Module(source, tree, watched)
    walk = ModuleReading(module, everything=whole)
    walk.read()
    return module, walk


def _bodies(
    module: Module,
    walk: ModuleReading,
    reader: PythonExpressionReader,
    names: Collection[str],
    texts: Iterable[bytes],
) -> tuple[Body, ...]:
    """The module's body, if it has guards or other things that rules look for, or if some of it is asked for."""
    text = module.source.text
    places = [use.use.span.start for use in walk.uses if use.use.form is not Form.IMPORT]
    places += (match.start() for piece in texts for match in re.finditer(re.escape(piece), text))
    asked = [name for name in names if next(name_places(text, (name,)), None) is not None]
    overrides = list(_defined_again(walk, text))
    if not (places or asked) or module.source.path.endswith(".pyi"):
        return ()
    reach = PythonReach(module, places, (*asked, *overrides))
    if not reach and not asked:
        return ()
    bring_back(text, module.tree, reach.functions())
    functions: dict[ast.stmt, int] = {node: index for index, node in enumerate(walk.nodes)}
    return (BodyReading(module, reader, functions, reach).read(),)


def _defined_again(walk: ModuleReading, text: bytes) -> Iterator[str]:
    """The functions below a guard of whose name the file has another: a method that overrides it."""
    names = {use.decorated.name for use in walk.uses if use.decorated is not None}
    defined = Counter(re.findall(rb"def ([^\s(]+)\(", text)) if names else {}
    yield from (name for name in names if defined.get(name.encode(), 0) > 1)


def _read_in_part(source: Source) -> tuple[Module, ModuleReading] | None:
    """What a large file's functions with guards say; None where the file is to be read whole."""
    text = without_idle_bodies(source.text, guards.PYTHON)
    tree = parse_or_none(text) if text is not None else None
    if tree is None:
        return None
    module, walk = _read(source, tree)
    if module.words == {*guards.PYTHON} and is_enough(walk.uses):
        return module, walk
    module.scope.forget_inner()
    return None


def python_facts(
    module: Module,
    walk: ModuleReading,
    following: bool = False,
    with_training: bool = False,
    *,
    whole: bool = False,
) -> PythonFacts:
    asked = with_training and (following or any(use.use.guard == guards.PYTHON_INFERENCE_MODE for use in walk.uses))
    signs, trains = module_prescan.training_signs(module) if asked else ((), False)
    return PythonFacts(
        uses=tuple(walk.uses),
        training=signs if trains else (),
        wraps=signs,
        exports=tuple(module_prescan.exports(module)),
        stars=tuple(module.scope.stars),
        torch_name=module_prescan.torch_name(module),
        imports_end=module_prescan.imports_end(module),
        is_script=(whole or bool(walk.uses)) and module_prescan.is_script(module),
    )
