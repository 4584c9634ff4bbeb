"""`decide`: what a use of the old guard is for, and so what should stand there instead.

Deciding knows nothing of text or edits. Every signal, for and against, ends up in the decision's evidence.
Where the signals conflict or are missing the context is `unknown`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from .. import guards
from ..analysis.project import Project
from ..facts import Facts, Form, Function, GuardUse
from ..facts.index import index_of
from ..findings import Confidence, Context, Decision
from .inference_signals import inference_signals, training_signals
from .kernel_signals import kernel_signals, registered_under_autograd
from .removal_signals import removal_signals
from .signals import Scene, Signal, Weight, scene_of

__all__ = ["REPLACEMENTS", "decide", "open_questions"]

REPLACEMENTS = {
    Context.INFERENCE: f"c10::{guards.INFERENCE_MODE}",
    Context.KERNEL: f"at::{guards.BELOW_ADINPLACEORVIEW}",
    Context.BELOW_AUTOGRAD: f"at::{guards.BELOW_AUTOGRAD}",
    Context.REMOVE: None,
    Context.UNKNOWN: None,
}

PYTHON_REPLACEMENTS = {
    Context.INFERENCE: f"torch.{guards.PYTHON_INFERENCE_MODE}()",
    Context.KERNEL: f"torch._C.{guards.C_BELOW_ADINPLACEORVIEW}()",
    Context.BELOW_AUTOGRAD: f"torch._C.{guards.C_BELOW_AUTOGRAD}()",
}

_DEPTH = 3
"""How many calls up a helper's callers are asked."""


def decide(use: GuardUse, facts: Facts, project: Project) -> Decision:
    """The context of one use of the old guard, with the evidence on every side."""
    key = (facts.path, use.type_span, use.form)
    decision = project.decided.get(key)
    if decision is None:
        decision = _decide(use, facts, project)
        if facts.language == "python":
            decision = replace(decision, replacement=PYTHON_REPLACEMENTS.get(decision.context))
        project.decided[key] = decision
    return decision


def _decide(use: GuardUse, facts: Facts, project: Project) -> Decision:
    scene = scene_of(project, facts, use)
    verdict = weigh(gather(scene, _DEPTH))
    name = _stands_for(scene)
    if name is None:
        return verdict
    contexts = {weigh(gather(place, _DEPTH - 1)).context for place in _places(scene, name)}
    if len(contexts - {Context.UNKNOWN}) > 1:
        # One class, macro or alias, and its users want different replacements.
        return Decision(Context.UNKNOWN, None, Confidence.LOW, verdict.evidence)
    if Context.UNKNOWN in contexts:
        # What the unclear places are for nobody knows: they get the same replacement as the clear ones.
        return replace(verdict, confidence=min_confidence(verdict.confidence, Confidence.MEDIUM))
    return verdict


def gather(scene: Scene, depth: int) -> list[Signal]:
    """All signals for a use: of the place itself, and of the places that reach it."""
    direct = [
        *kernel_signals(scene),
        *inference_signals(scene),
        *removal_signals(scene),
        *training_signals(scene),
    ]
    if depth == 0:
        return direct
    name = _stands_for(scene)
    if name is not None:
        return _dedupe([*direct, *_through(scene, name, depth)])
    if _settled(direct):
        return direct
    return _dedupe([*direct, *_callers(scene, depth)])


def _stands_for(scene: Scene) -> str | None:
    """The name through which other places use this guard: its class, its macro, its alias."""
    use = scene.use
    if use.macro is not None:
        return use.macro
    if use.form in (Form.MEMBER, Form.BASE) and use.class_ is not None:
        return scene.facts.classes[use.class_].name
    if use.form in (Form.ALIAS, Form.USING):
        return index_of(scene.facts).alias_names.get(use.span)
    return None


def _through(scene: Scene, name: str, depth: int) -> list[Signal]:
    """The signals of every place where the class, macro or alias is used."""
    found: list[Signal] = []
    for place in _places(scene, name):
        # A class that only passes the struct on (as member or base) is asked in turn.
        found += gather(place, depth - 1)
    return found


def _places(scene: Scene, name: str) -> list[Scene]:
    """Where the class, macro or alias is used."""
    if scene.use.macro is not None and scene.chain:
        return [_generated(scene, invocation.arguments) for invocation in scene.project.invocations(name)]
    if scene.use.form is not Form.USING:
        return [scene_of(scene.project, facts, use) for facts, use in scene.project.mentions(name)]
    return [
        scene_of(scene.project, scene.facts, other)
        for other in scene.facts.guard_uses
        if other.guard == scene.use.guard and other.written == name and other.form is not Form.USING
    ]


def _generated(scene: Scene, arguments: tuple[str, ...]) -> Scene:
    """The guard in the functions that one invocation of its macro defines."""
    from ..facts.macro_substitution import pasted

    macro = next(macro for macro in scene.facts.macros if macro.name == scene.use.macro)
    chain = tuple(
        function._replace(
            name=pasted(function.name, macro.parameters, arguments),
            qualified=pasted(function.qualified, macro.parameters, arguments),
            macro=None,
        )
        for function in scene.chain
    )
    return replace(scene, use=replace(scene.use, macro=None), chain=chain)


def _settled(signals: Iterable[Signal]) -> bool:
    return any(signal.weight is Weight.DECISIVE for signal in signals) or weigh(signals).confidence is Confidence.HIGH


def _callers(scene: Scene, depth: int) -> list[Signal]:
    """A helper is what its callers are, when all of them are the same."""
    function = scene.outermost
    if function is None or not function.name or function.name == "main":
        return []
    known = scene.project.asked_callers
    key = (scene.facts.path, function.span, depth)
    if key not in known:
        known[key] = _signals_of_callers(scene, function, depth)
    return known[key]


def _signals_of_callers(scene: Scene, function: Function, depth: int) -> list[Signal]:
    callers = scene.project.callers_of(scene.facts, function)
    if not callers or len(callers) > 50:
        return []
    verdicts: Counter[Context] = Counter()
    first: dict[Context, Signal] = {}
    for facts, call in callers:
        stand_in = GuardUse(
            guard=scene.use.guard,
            form=Form.REFERENCE,
            span=call.span,
            type_span=call.span,
            written=call.callee,
            scope=call.span,
            function=call.function,
        )
        caller = scene_of(scene.project, facts, stand_in)
        signals = [*kernel_signals(caller), *inference_signals(caller)]
        if depth > 1 and not _settled(signals):
            signals += _callers(caller, depth - 1)
        verdict = weigh(signals)
        context = verdict.context
        verdicts[context] += 1
        if context not in first:
            name = caller.outermost.name if caller.outermost else "namespace scope"
            kind = {
                Context.KERNEL: "an autograd kernel",
                Context.BELOW_AUTOGRAD: "an autograd kernel of an in-place or view op",
                Context.INFERENCE: "an inference workload",
            }.get(context, "")
            message = f"`{function.name}` is called from `{name}`, {kind}"
            # A caller that is itself uncertain says little about whom it calls.
            weight = Weight.WEAK if verdict.confidence is Confidence.LOW else Weight.STRONG
            first[context] = scene.signal(context, weight, message, call.span.start, facts)
    known = [context for context in verdicts if context is not Context.UNKNOWN]
    if len(known) != len(verdicts):
        return []
    return [first[context] for context in known]


def _dedupe(signals: Iterable[Signal]) -> list[Signal]:
    return list(dict.fromkeys(signals))


_KERNELS = (Context.KERNEL, Context.BELOW_AUTOGRAD)


def weigh(signals: Iterable[Signal]) -> Decision:
    """Weigh the signals. A side wins when the others together are at most a third of it."""
    signals = list(signals)
    evidence = tuple(signal.evidence() for signal in sorted(signals, key=lambda signal: -signal.weight))
    # Many places can say the same thing about one use: each kind of reason counts twice at most.
    scores: Counter[Context] = Counter()
    for context in Context:
        weights = sorted((signal.weight for signal in signals if signal.context is context), reverse=True)
        scores[context] = sum(weights[:2]) + sum(min(weight, Weight.WEAK) for weight in weights[2:5])
    kernel = scores[Context.KERNEL] + scores[Context.BELOW_AUTOGRAD]
    inference, remove, against = scores[Context.INFERENCE], scores[Context.REMOVE], scores[Context.UNKNOWN]
    decisive = {signal.context for signal in signals if signal.weight is Weight.DECISIVE}

    if Context.REMOVE in decisive and not inference:
        # In forward and backward the guard's place says what it does; that it is a kernel is no objection.
        return Decision(Context.REMOVE, None, Confidence.MEDIUM, evidence)
    if decisive & set(_KERNELS):
        # A model elsewhere in the file is no objection; one that runs here is.
        confidence = Confidence.HIGH if inference < Weight.STRONG and not remove else Confidence.MEDIUM
        return _decision(_kernel_context(signals), confidence, evidence)
    sides = {"kernel": kernel, "inference": inference, "remove": remove}
    winner = max(sides, key=lambda side: sides[side])
    score = sides[winner]
    others = sum(sides.values()) - score + (against if winner == "inference" else 0)
    if score < 2 or others * 3 > score:
        return Decision(Context.UNKNOWN, None, Confidence.LOW, evidence)
    if others:
        confidence = Confidence.LOW
    elif score >= 6:
        confidence = Confidence.HIGH if winner == "inference" else Confidence.MEDIUM
    else:
        confidence = Confidence.MEDIUM if score >= 3 else Confidence.LOW
    if winner == "remove":
        return Decision(Context.REMOVE, None, min_confidence(confidence, Confidence.LOW), evidence)
    context = Context.INFERENCE if winner == "inference" else _kernel_context(signals)
    return _decision(context, confidence, evidence)


def _kernel_context(signals: Iterable[Signal]) -> Context:
    """Kernel or below_autograd: the heaviest signal says, and of equals the first."""
    family = [signal for signal in signals if signal.context in _KERNELS]
    return max(family, key=lambda signal: signal.weight).context


def _decision(context: Context, confidence: Confidence, evidence: tuple[object, ...]) -> Decision:
    return Decision(context, REPLACEMENTS[context], confidence, evidence)  # type: ignore[arg-type]


_ORDER = (Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)


def min_confidence(a: Confidence, b: Confidence) -> Confidence:
    return min(a, b, key=_ORDER.index)


def open_questions(use: GuardUse, facts: Facts, project: Project) -> frozenset[str]:
    """Names whose places in other files could change the decision: functions, classes, macros, aliases.

    Empty when this file settles the use.
    """
    scene = scene_of(project, facts, use)
    name = _stands_for(scene)
    if name is not None:
        # What a source file defines is seen in that file alone; only headers share.
        shared = {name} if is_header(facts.path) else set()
        made = _places(scene, name) if use.macro is not None and scene.chain else []
        functions = [place.outermost for place in made]
        return frozenset(shared | {f.name for f in functions if f is not None and _has_callers_elsewhere(f)})
    signals = gather(scene, _DEPTH)
    function = scene.outermost
    if _settled(signals):
        # A workload that another file registers under Autograd is a kernel all the same.
        asked = weigh(signals).context is Context.INFERENCE and function is not None and _could_be_an_op(function)
        return frozenset({function.name}) if asked and function is not None else frozenset()
    if function is None or not _has_callers_elsewhere(function):
        return frozenset()
    if function.name == "operator()":
        # A functor is registered by its class.
        return frozenset({function.qualified.rpartition("::")[0].rpartition("::")[2]}) - {""}
    return frozenset({function.name})


def _could_be_an_op(function: Function) -> bool:
    """Whether another file could register the function: a free one that takes or gives tensors."""
    if function.class_ is not None or "::" in function.declared_as or not _has_callers_elsewhere(function):
        return False
    return any("Tensor" in type_ for type_ in (function.returns, *(p.type for p in function.parameters)))


def is_header(path: str) -> bool:
    """Whether other files can include this one."""
    return path.endswith((".h", ".hh", ".hpp", ".hxx", ".h++", ".cuh", ".inl", ".ipp", ".tpp"))


def _has_callers_elsewhere(function: Function) -> bool:
    """Whether another file could name the function: it has external linkage, and is no test's or program's body."""
    if not function.name or function.name == "main" or function.name.isupper():
        return False
    return function.name not in ("TEST_F", "TEST_P", "forward", "backward") and not function.is_static


# Re-exported for rules that ask the same question of other guards.
is_autograd_registration = registered_under_autograd
