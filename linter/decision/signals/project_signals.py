"""What the project as a whole says about a use for which nothing near it speaks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...analysis.project_summary import ProgramSummary, ProjectSummary
from ...facts import Form
from ...facts.file_summary import Topic
from ...findings import Side
from ...lazy_regex import lazy_regex
from ..signal_kinds import Asked, SignalMatch, Weight, signal
from ..use_context import Scene

_LEAST_FILES = 2
"""A project of one file is what was looked at anyway."""
_LEAST_SILENT_FILES = 4
"""That something appears nowhere says little where there are few files."""
_INITIALISES = lazy_regex(r"(?:re)?(?:set|init)")
"""Functions that may give a module the parameters with which it is trained."""
_HARDLY = 10
"""Gradients hardly appear where models are loaded and run at least so many times as often."""


@signal("project-runs-models", side=Side.INFERENCE, weight=Weight.STRONG, asked=Asked.LAST, asks_project=True)
def project_runs_models(scene: Scene) -> Iterator[SignalMatch]:
    """the project loads or runs models, defines no ops, and gradients hardly appear in it"""
    program = _program_without_ops(scene)
    if program is None:
        return
    load, run = program.place(Topic.LOAD), program.place(Topic.RUN)
    place = load or run
    if place is None or not _has_hardly_any_gradients(program):
        return
    what = "loads" if load else "runs"
    message = (
        f"the project {what} models (`{place.mention.text}`) and defines no ops: none of its {program.files} files "
        f"registers a kernel or writes an autograd Function, and {_gradients(program)}"
    )
    yield SignalMatch(message, place.mention.offset, None, "", place)


@signal(
    "project-without-gradients",
    side=Side.INFERENCE,
    weight=Weight.MODERATE,
    unless=[project_runs_models],
    asked=Asked.LAST,
    asks_project=True,
)
def project_without_gradients(scene: Scene) -> Iterator[SignalMatch]:
    """the project computes with tensors, defines no ops, and computes no gradients"""
    program = _program_without_ops(scene)
    if program is None or program.files < _LEAST_SILENT_FILES:
        return
    if program.count(Topic.GRADIENT) or program.count(Topic.BINDING):
        return
    place = program.place(Topic.TENSOR)
    if place is not None:
        message = f"none of the project's {program.files} files defines an op or computes a gradient"
        yield SignalMatch(message, place.mention.offset, None, "", place)


@signal(
    "project-is-engine",
    side=Side.INFERENCE,
    weight=Weight.STRONG,
    unless=[project_runs_models],
    asked=Asked.LAST,
    asks_project=True,
)
def project_is_engine(scene: Scene) -> Iterator[SignalMatch]:
    """its class or function is named as those of inference engines are, in a project whose ops have no gradients"""
    program = _program(scene)
    if program is None or not program.count(Topic.OP):
        return
    if program.files < _LEAST_SILENT_FILES or any(map(program.count, (Topic.AUTOGRAD, Topic.GRADIENT, Topic.BINDING))):
        return
    function = scene.chain[-1]
    name = next(filter(_OF_ENGINES.search, function.qualified[-2:]), None)
    if name is not None:
        message = (
            f"is in `{'::'.join(function.qualified[-2:])}` of an inference engine: none of the project's "
            f"{program.files} files defines or computes a gradient, though it has ops of its own"
        )
        yield SignalMatch(message, function.span.start)


_OF_ENGINES = lazy_regex(
    r"(?:Engine|Scheduler|Server|Service|Session|Executor|Runner|Worker|Decoder|Generator|Sampler|Pipeline|Predictor"
    r"|Inference)(?:Impl)?$|(?:^|_)(?:engine|scheduler|server|session|executor|runner|worker|decoder|predictor)(?:_|$)"
)


@signal(
    "file-runs-model",
    side=Side.INFERENCE,
    weight=Weight.MODERATE,
    unless=[project_runs_models],
    asked=Asked.LAST,
    asks_project=True,
)
def file_runs_model(scene: Scene) -> Iterator[SignalMatch]:
    """its file runs a model elsewhere and defines no op, and gradients hardly appear in the project"""
    summary = scene.project.summary
    if summary is None or not _is_local(scene) or _INITIALISES.match(scene.chain[-1].name):
        return
    mentions = summary.mentions_in(scene.facts.path)
    run = mentions.get(Topic.RUN)
    if run is not None and Topic.OP not in mentions and _has_hardly_any_gradients(_program_around(scene, summary)):
        yield SignalMatch(f"a model is run in the same file: `{run.text}`", run.offset)


def _program_without_ops(scene: Scene) -> ProgramSummary | None:
    program = _program(scene)
    return program if program is not None and program.files >= _LEAST_FILES and not program.count(Topic.OP) else None


def _program(scene: Scene) -> ProgramSummary | None:
    """What the project says, where it can speak about the use at all: its files that may be one program with it."""
    summary = scene.project.summary
    if summary is None or not summary.complete or not _is_local(scene):
        return None
    return _program_around(scene, summary)


class _Programs(dict[object, ProgramSummary]):
    """By the standing of a file, what may be one program with it says."""


def _program_around(scene: Scene, summary: ProjectSummary) -> ProgramSummary:
    programs, linkage, path = scene.project.memory(_Programs), scene.project.linkage, scene.facts.path
    standing = linkage.standing(path)
    if standing not in programs:
        programs[standing] = summary.program(partial(linkage.kinship, path))
    return programs[standing]


def _has_hardly_any_gradients(program: ProgramSummary) -> bool:
    return program.count(Topic.GRADIENT) * _HARDLY <= program.count(Topic.LOAD) + program.count(Topic.RUN)


def _is_local(scene: Scene) -> bool:
    """Whether the guard is a variable of a function: what others do with a type or a macro, the project can't say."""
    if any(macro.body.holds(scene.use.type_span) for macro in scene.facts.macros):
        return False
    return bool(scene.chain) and scene.use.macro is None and scene.use.form in (Form.DECLARATION, Form.AUTO)


def _gradients(program: ProgramSummary) -> str:
    count = program.count(Topic.GRADIENT)
    return f"gradients appear in {count} places only" if count else "no gradient is computed"
