"""Signals of programs that write C++: what a template is called, and what the other branch of an `if` writes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...facts import Call, Template
from ...findings import Side
from ...guards import BELOW_ADINPLACEORVIEW, BELOW_AUTOGRAD
from ...lazy_regex import lazy_regex
from ..signal_kinds import SignalMatch, Weight, signal
from ..use_context import Scene

_IN_PLACE_OR_VIEW = lazy_regex(r"in_?place|view|modif|mutat|factor(?:y|ies)", re.IGNORECASE)
_KERNEL = lazy_regex(r"dispatch|kernel|autograd|derivative|use_derived|non_var|variable_type|base_type", re.IGNORECASE)
_WORKLOAD = lazy_regex(r"infer|predict|serv(?:e|ing)|model|benchmark|(?:^|_)main(?:_|$)", re.IGNORECASE)


@signal("chosen-beside-guard-below-autograd", side=Side.KERNEL, weight=Weight.STRONG)
def chosen_beside_guard_below_autograd(scene: Scene) -> Iterator[SignalMatch]:
    """in a program that writes C++, the other branch of an `if` on in-place or view ops has the guard below autograd"""
    yield from _chosen_beside(BELOW_AUTOGRAD, scene)


@signal("chosen-beside-kernel-guard", side=Side.BELOW_AUTOGRAD, weight=Weight.STRONG)
def chosen_beside_kernel_guard(scene: Scene) -> Iterator[SignalMatch]:
    """in a program that writes C++, the other branch of an `if` on in-place or view ops has the kernel guard"""
    yield from _chosen_beside(BELOW_ADINPLACEORVIEW, scene)


def _chosen_beside(guard: str, scene: Scene) -> Iterator[SignalMatch]:
    template = scene.facts.template
    if template is not None and template.other_guards == (guard,) and _IN_PLACE_OR_VIEW.search(template.condition):
        message = f"`if {template.condition}` chooses between it and {guard}"
        yield SignalMatch(message, template.place.start)


@signal("template-of-kernels", side=Side.KERNEL, weight=Weight.MODERATE)
def template_of_kernels(scene: Scene) -> Iterator[SignalMatch]:
    """the name of the template around it is like that of kernels (`DISPATCH_…`, `KERNEL`)"""
    name = _name_of(scene.facts.template)
    if _KERNEL.search(name) and not _IN_PLACE_OR_VIEW.search(name):
        yield _named(scene, name, "an op's kernel")


@signal("template-of-calls", side=Side.KERNEL, weight=Weight.MODERATE)
def template_of_calls(scene: Scene) -> Iterator[SignalMatch]:
    """a template leaves open what is called below the guard, and the name of the function around it"""
    if scene.facts.template is None or scene.outermost is None or not scene.outermost.name.startswith("__"):
        return
    call = scene.first_below(_any_call)
    if call is not None and _PLACEHOLDER.match(call.callee):
        yield SignalMatch("the template writes functions that call anything below the guard", call.span.start)


_PLACEHOLDER = lazy_regex(r"[{$%]")


def _any_call(call: Call) -> bool:
    return True


@signal("template-of-in-place-or-view", side=Side.BELOW_AUTOGRAD, weight=Weight.MODERATE)
def template_of_in_place_or_view(scene: Scene) -> Iterator[SignalMatch]:
    """the name of the template around it is like that of kernels of in-place or view ops, or of factories"""
    name = _name_of(scene.facts.template)
    if _KERNEL.search(name) and _IN_PLACE_OR_VIEW.search(name):
        yield _named(scene, name, "the kernel of an in-place or view op, or of a factory")


@signal("template-of-workloads", side=Side.INFERENCE, weight=Weight.MODERATE)
def template_of_workloads(scene: Scene) -> Iterator[SignalMatch]:
    """the name of the template around it is like that of programs that run a model"""
    name = _name_of(scene.facts.template)
    if _WORKLOAD.search(name) and not _KERNEL.search(name):
        yield _named(scene, name, "an inference workload")


def _name_of(template: Template | None) -> str:
    return template.name if template is not None else ""


def _named(scene: Scene, name: str, what: str) -> SignalMatch:
    return SignalMatch(f"the template is called `{name}`, which suggests {what}", scene.use.type_span.start)
