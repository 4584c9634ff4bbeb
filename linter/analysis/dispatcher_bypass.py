"""Whether what runs under a guard in `Function<T>::forward` provably never enters the dispatcher by name.

Inside `forward` grad mode is off already, so a guard there matters only when the op is called back through the
dispatcher: then, without it, the op's autograd kernel would run again, for ever.
"""

from __future__ import annotations

from ..facts import Call, Facts, Function, GuardUse, Span
from ..facts.expressions import chain_words, is_named
from ..facts.index import index_of
from ..lazy_regex import lazy_regex
from .calls import computes_nothing
from .project import Project

_DEPTH = 4
_DISPATCHES = lazy_regex(r"redispatch|callBoxed|findSchema|Dispatcher|^typed$|^_ops$|^apply$")


def bypasses_dispatcher(use: GuardUse, facts: Facts, project: Project) -> bool:
    """Whether every call below the guard goes to a function whose body is known and calls no op by its schema."""
    method = next((f for f in facts.enclosing(use.function) if project.autograd_method(facts, f)), None)
    if method is None or project.autograd_method(facts, method) != "forward":
        return False
    calls = [call for call in index_of(facts).calls.within(use.live) if not computes_nothing(call)]
    return bool(calls) and all(_is_plain(call, facts, _DEPTH, frozenset()) for call in calls)


def _enters_dispatcher(call: Call) -> bool:
    """`op.redispatch(…)`, `Dispatcher::singleton().callBoxed(…)`, `torch::ops::add(…)`, `op.call(…)`."""
    if call.path[:2] == ("torch", "ops") or (call.name == "call" and is_named(call.receiver, "op")):
        return True
    return any(_DISPATCHES.search(word) for word in chain_words(call.called))


def _is_plain(call: Call, facts: Facts, depth: int, seen: frozenset[tuple[str, ...]]) -> bool:
    """A call of a function of this file that stays off the dispatcher, as far down as it can be followed."""
    if depth == 0 or _enters_dispatcher(call) or not call.path or call.path[0] in ("at", "torch"):
        return False
    if call.path in seen:
        return True  # a recursion that was looked at
    definitions = _definitions(call, facts)
    if not definitions:
        return False
    return all(_body_is_plain(function, facts, depth, seen | {call.path}) for function in definitions)


def _definitions(call: Call, facts: Facts) -> list[Function]:
    return [one for one in index_of(facts).functions_named.get(call.name, ()) if not one.is_lambda]


def _body_is_plain(function: Function, facts: Facts, depth: int, seen: frozenset[tuple[str, ...]]) -> bool:
    """Ordinary ops inside (`at::add`, methods) are fine: each has its own kernel. Calls by schema are not."""
    for call in _calls_in(function.body, facts):
        if _enters_dispatcher(call):
            return False
        own = bool(_definitions(call, facts))
        if own and not call.receiver and not _is_plain(call, facts, depth - 1, seen):
            return False
        if not own and not call.receiver and not _is_library_call(call):
            return False  # a function of another file: unknown
    return True


def _is_library_call(call: Call) -> bool:
    return call.path[:1] in _LIBRARIES or computes_nothing(call) or call.name.isupper()


_LIBRARIES = (("at",), ("torch",), ("c10",), ("std",))


def _calls_in(span: Span, facts: Facts) -> list[Call]:
    return list(index_of(facts).calls.within(span))
