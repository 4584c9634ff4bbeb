"""Signals that the guard is in what an op does itself, where no registration is in sight."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.calls import computes_tensors
from ...analysis.declared_types import mentions_tensor
from ...analysis.linkage import Link
from ...analysis.model_runs import runs_or_loads
from ...analysis.ops import is_factory
from ...facts import Call
from ...facts.expressions import Expression, NamePath
from ...facts.index import calls_where
from ...findings import Side
from ..signal_kinds import SignalMatch, Weight, shown, signal
from ..use_context import Scene
from .kernel_signals import below_tracer

_OF_TRACER = frozenset(
    """isTracing getTracingState recordSourceLocation getValueTrace setValueTrace getNestedValueTrace
    ensureUniqueIfOutOfPlaced""".split()
)
_DATA = frozenset({"data_ptr", "mutable_data_ptr", "const_data_ptr"})


@signal("records-trace", side=Side.KERNEL, weight=Weight.STRONG, unless=[below_tracer])
def records_trace(scene: Scene) -> Iterator[SignalMatch]:
    """its function records what it does in the graph of the JIT's tracer"""
    outermost = scene.outermost
    if outermost is None or scene.first_below(runs_or_loads) is not None:
        return
    call = calls_where(scene.facts, outermost.span, _records_trace).first(outermost.span)
    if call is not None:
        message = f"records ops in the tracer's graph, as the tracer's own kernels do: `{shown(call.callee)}`"
        yield SignalMatch(message, call.span.start)


def _records_trace(call: Call) -> bool:
    return call.name in _OF_TRACER


@signal("fills-raw-memory", side=Side.KERNEL, weight=Weight.MODERATE)
def fills_raw_memory(scene: Scene) -> Iterator[SignalMatch]:
    """its function takes tensors, and below the guard new ones are made and raw pointers taken, but no op is run"""
    if not any(mentions_tensor(parameter.type) for function in scene.chain for parameter in function.parameters):
        return
    data = scene.first_below(_takes_data)
    if data is None or scene.first_below(is_factory) is None or scene.first_below(_computes) is not None:
        return
    yield SignalMatch(f"makes its results and fills them through raw pointers: `{shown(data.callee)}`", data.span.start)


def _takes_data(call: Call) -> bool:
    return call.name in _DATA and call.receiver is not None


def _computes(call: Call) -> bool:
    return runs_or_loads(call) or (computes_tensors(call) and not is_factory(call))


@signal("writes-in-process-group", side=Side.BELOW_AUTOGRAD, weight=Weight.STRONG, asks_project=True)
def writes_in_process_group(scene: Scene) -> Iterator[SignalMatch]:
    """its function is a method of a `ProcessGroup`, and writes to tensors in place, which is counted"""
    write = scene.first_below(_writes)
    if write is not None:
        for match in _in_process_group(scene):
            yield match._replace(message=f"{match.message}, and writes to tensors: `{shown(write.callee)}`")


def _writes(call: Call) -> bool:
    return call.receiver is not None and call.name.endswith("_") and not call.name.endswith("__")


@signal("in-process-group", side=Side.KERNEL, weight=Weight.STRONG, unless=[writes_in_process_group], asks_project=True)
def in_process_group(scene: Scene) -> Iterator[SignalMatch]:
    """its function is a method of a `ProcessGroup`, or of the work that one gives out"""
    yield from _in_process_group(scene)


def _in_process_group(scene: Scene) -> Iterator[SignalMatch]:
    for function in scene.chain:
        classes = []
        if function.class_ is not None:
            classes = [scene.facts.classes[function.class_]]
        elif len(function.declared_as) > 1:
            classes = scene.project.classes_called(function.declared_as[-2], scene.facts, Link.SHOWN)
        # Of several classes with the name any may be meant.
        bases = [next(filter(_is_of_group, class_.bases), None) for class_ in classes]
        if bases and all(bases):
            message = f"`{function.name}` is a method of a {bases[0]}, which works below autograd"
            yield SignalMatch(message, function.span.start)
            return


def _is_of_group(base: Expression) -> bool:
    """`ProcessGroup`, `c10d::Backend`, `ProcessGroup::Work`."""
    path = base.path if isinstance(base, NamePath) else ()
    return "c10d" in path[:-1] or any(part.endswith("ProcessGroup") for part in path)
