"""What must be known of other files before a use is decided: the names whose places there could change the decision."""

from __future__ import annotations

from ..analysis.declared_types import mentions_tensor
from ..analysis.hidden_autograd import names_of_ops
from ..analysis.project import Project
from ..analysis.registrations import is_kernel_of_backend
from ..facts import Facts, Function, GuardUse
from ..findings import Context
from ..frontends.frontend import frontend_named
from .guard_wrappers import scenes_of_wrapper, wrapper_of
from .policy import POLICY, Policy
from .signal_gathering import signals_of
from .signal_registry import direct_signals
from .use_context import Scene, scene_of
from .weighing import is_declared, is_settled, weigh

# Bodies that no other file names: of tests, and those that autograd itself calls.
_NEVER_NAMED = frozenset({"main", "TEST_F", "TEST_P", "forward", "backward"})


def open_questions(use: GuardUse, facts: Facts, project: Project, policy: Policy = POLICY) -> frozenset[str]:
    """Functions, classes, macros and aliases to look for in other files; none when this file settles the use."""
    scene = scene_of(project, facts, use)
    name = wrapper_of(scene)
    if is_declared(direct_signals(scene)):
        return frozenset()
    if name is not None:
        return _names_of_wrapper(scene, name, policy)
    function = scene.outermost
    if function is None or not _has_callers_elsewhere(function):
        return frozenset()
    if function.name in project.asked and not project.unseen:
        return frozenset({function.name})  # whatever its places say: they are known
    signals = signals_of(scene, policy.calls_up, policy, runs=False)
    # What another file says may be about another thing of that name: a third one can show it. And what its callers
    # here are it needn't be elsewhere.
    own = [signal for signal in signals if signal.path == facts.path and not signal.kind.is_of_callers]
    if is_settled(own, policy):
        # A workload that another file registers under Autograd is a kernel all the same.
        asked = weigh(signals, policy).context is Context.INFERENCE and _could_be_an_op(function)
        return frozenset({function.name}) if asked else frozenset()
    if function.name == "operator()":
        # A functor is registered by its class.
        return frozenset(function.qualified[-2:-1])
    if is_kernel_of_backend(scene.chain, facts, project):
        return names_of_ops(function, use.live, facts) | {function.name}
    return frozenset({function.name})


def _names_of_wrapper(scene: Scene, name: str, policy: Policy) -> frozenset[str]:
    # What a source file defines is seen in that file alone; only headers share.
    shared = {name} if frontend_named(scene.facts.language).is_header(scene.facts.path) else set()
    places = scenes_of_wrapper(scene, name)
    functions = [place.outermost for place in places if not is_settled(direct_signals(place), policy)]
    return frozenset(shared | {f.name for f in functions if f is not None and _has_callers_elsewhere(f)})


def _could_be_an_op(function: Function) -> bool:
    """Whether another file could register the function: a free one that takes or gives tensors."""
    if function.class_ is not None or len(function.declared_as) > 1:
        return False
    return any(map(mentions_tensor, (function.returns, *(p.type for p in function.parameters))))


def _has_callers_elsewhere(function: Function) -> bool:
    """Whether another file could name the function: it has external linkage and isn't the body of a test or program."""
    if not function.name or function.name.isupper():
        return False
    return function.name not in _NEVER_NAMED and not function.is_static
