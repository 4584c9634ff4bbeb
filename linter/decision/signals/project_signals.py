"""What the project as a whole says about a use for which nothing near it speaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...analysis.project_summary import ProjectSummary
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
    summary = _summary_for(scene)
    if summary is None:
        return
    load, run = (summary.place_among(topic, _same_program(scene)) for topic in (Topic.LOAD, Topic.RUN))
    place = load or run
    if place is None or not _has_hardly_gradients(summary):
        return
    what = "loads" if load else "runs"
    message = (
        f"the project {what} models (`{place.mention.text}`) and defines no ops: none of its {summary.files} files "
        f"registers a kernel or writes an autograd Function, and {_gradients(summary)}"
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
    summary = _summary_for(scene)
    if summary is None or summary.files < _LEAST_SILENT_FILES:
        return
    if summary.count(Topic.GRADIENT) or summary.count(Topic.BINDING):
        return
    place = summary.place_among(Topic.TENSOR, _same_program(scene))
    if place is not None:
        message = f"none of the project's {summary.files} files defines an op or computes a gradient"
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
    summary = scene.project.summary
    if summary is None or not summary.complete or not summary.count(Topic.OP) or not _is_local(scene):
        return
    if summary.files < _LEAST_SILENT_FILES or any(map(summary.count, (Topic.AUTOGRAD, Topic.GRADIENT, Topic.BINDING))):
        return
    function = scene.chain[-1]
    name = next(filter(_OF_ENGINES.search, function.qualified[-2:]), None)
    if name is not None:
        message = (
            f"is in `{'::'.join(function.qualified[-2:])}` of an inference engine: none of the project's "
            f"{summary.files} files defines or computes a gradient, though it has ops of its own"
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
    if run is not None and Topic.OP not in mentions and _has_hardly_gradients(summary):
        yield SignalMatch(f"a model is run in the same file: `{run.text}`", run.offset)


def _summary_for(scene: Scene) -> ProjectSummary | None:
    """What the project says, where it can speak about the use at all."""
    summary = scene.project.summary
    if summary is None or not summary.complete or summary.files < _LEAST_FILES or summary.count(Topic.OP):
        return None
    return summary if _is_local(scene) else None


def _same_program(scene: Scene) -> Callable[[str], bool]:
    """Whether a file (a path) may be a part of the program that the use is in: what tests load, the library needn't."""
    return lambda path: not scene.project.linkage.are_strangers(scene.facts.path, path)


def _has_hardly_gradients(summary: ProjectSummary) -> bool:
    return summary.count(Topic.GRADIENT) * _HARDLY <= summary.count(Topic.LOAD) + summary.count(Topic.RUN)


def _is_local(scene: Scene) -> bool:
    """Whether the guard is a variable of a function: what others do with a type or a macro, the project can't say."""
    if any(macro.body.holds(scene.use.type_span) for macro in scene.facts.macros):
        return False
    return bool(scene.chain) and scene.use.macro is None and scene.use.form in (Form.DECLARATION, Form.AUTO)


def _gradients(summary: ProjectSummary) -> str:
    count = summary.count(Topic.GRADIENT)
    return f"gradients appear in {count} places only" if count else "no gradient is computed"
