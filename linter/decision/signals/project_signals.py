"""What the project as a whole says about a use for which nothing near it speaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...analysis.survey import Survey
from ...facts import Form
from ...facts.sketch import Topic
from ...findings import Side
from ...lazy_regex import lazy_regex
from ..scene import Scene
from ..signal_kinds import Asked, Sighting, Weight, signal

_LEAST_FILES = 2
"""A project of one file is what was looked at anyway."""
_LEAST_SILENT_FILES = 4
"""That something appears nowhere says little where there are few files."""
_INITIALISES = lazy_regex(r"(?:re)?(?:set|init)")
"""Functions that may give a module the parameters with which it is trained."""
_HARDLY = 10
"""Gradients hardly appear where models are loaded and run at least so many times as often."""


@signal("project-runs-models", side=Side.INFERENCE, weight=Weight.STRONG, asked=Asked.LAST, asks_project=True)
def project_runs_models(scene: Scene) -> Iterator[Sighting]:
    """the project loads or runs models, defines no ops, and gradients hardly appear in it"""
    survey = _survey_for(scene)
    if survey is None:
        return
    load, run = (survey.place_among(topic, _same_program(scene)) for topic in (Topic.LOAD, Topic.RUN))
    place = load or run
    if place is None or not _has_hardly_gradients(survey):
        return
    what = "loads" if load else "runs"
    message = (
        f"the project {what} models (`{place.mention.text}`) and defines no ops: none of its {survey.files} files "
        f"registers a kernel or writes an autograd Function, and {_gradients(survey)}"
    )
    yield Sighting(message, place.mention.offset, None, "", place)


@signal(
    "project-without-gradients",
    side=Side.INFERENCE,
    weight=Weight.MODERATE,
    unless=[project_runs_models],
    asked=Asked.LAST,
    asks_project=True,
)
def project_without_gradients(scene: Scene) -> Iterator[Sighting]:
    """the project computes with tensors, defines no ops, and computes no gradients"""
    survey = _survey_for(scene)
    if survey is None or survey.files < _LEAST_SILENT_FILES:
        return
    if survey.count(Topic.GRADIENT) or survey.count(Topic.BINDING):
        return
    place = survey.place_among(Topic.TENSOR, _same_program(scene))
    if place is not None:
        message = f"none of the project's {survey.files} files defines an op or computes a gradient"
        yield Sighting(message, place.mention.offset, None, "", place)


@signal(
    "project-is-engine",
    side=Side.INFERENCE,
    weight=Weight.STRONG,
    unless=[project_runs_models],
    asked=Asked.LAST,
    asks_project=True,
)
def project_is_engine(scene: Scene) -> Iterator[Sighting]:
    """its class or function is named as those of inference engines are, in a project whose ops have no gradients"""
    survey = scene.project.survey
    if survey is None or not survey.complete or not survey.count(Topic.OP) or not _is_local(scene):
        return
    if survey.files < _LEAST_SILENT_FILES or any(map(survey.count, (Topic.AUTOGRAD, Topic.GRADIENT, Topic.BINDING))):
        return
    function = scene.chain[-1]
    name = next(filter(_OF_ENGINES.search, function.qualified[-2:]), None)
    if name is not None:
        message = (
            f"is in `{'::'.join(function.qualified[-2:])}` of an inference engine: none of the project's "
            f"{survey.files} files defines or computes a gradient, though it has ops of its own"
        )
        yield Sighting(message, function.span.start)


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
def file_runs_model(scene: Scene) -> Iterator[Sighting]:
    """its file runs a model elsewhere and defines no op, and gradients hardly appear in the project"""
    survey = scene.project.survey
    if survey is None or not _is_local(scene) or _INITIALISES.match(scene.chain[-1].name):
        return
    mentions = survey.mentions_in(scene.facts.path)
    run = mentions.get(Topic.RUN)
    if run is not None and Topic.OP not in mentions and _has_hardly_gradients(survey):
        yield Sighting(f"a model is run in the same file: `{run.text}`", run.offset)


def _survey_for(scene: Scene) -> Survey | None:
    """What the project says, where it can speak about the use at all."""
    survey = scene.project.survey
    if survey is None or not survey.complete or survey.files < _LEAST_FILES or survey.count(Topic.OP):
        return None
    return survey if _is_local(scene) else None


def _same_program(scene: Scene) -> Callable[[str], bool]:
    """Whether a file (a path) may be a part of the program that the use is in: what tests load, the library needn't."""
    return lambda path: not scene.project.linkage.are_strangers(scene.facts.path, path)


def _has_hardly_gradients(survey: Survey) -> bool:
    return survey.count(Topic.GRADIENT) * _HARDLY <= survey.count(Topic.LOAD) + survey.count(Topic.RUN)


def _is_local(scene: Scene) -> bool:
    """Whether the guard is a variable of a function: what others do with a type or a macro, the project can't say."""
    if any(macro.body.holds(scene.use.type_span) for macro in scene.facts.macros):
        return False
    return bool(scene.chain) and scene.use.macro is None and scene.use.form in (Form.DECLARATION, Form.AUTO)


def _gradients(survey: Survey) -> str:
    count = survey.count(Topic.GRADIENT)
    return f"gradients appear in {count} places only" if count else "no gradient is computed"
