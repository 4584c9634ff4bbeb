"""Whether a guard's name means PyTorch's class, or another library's class of the same name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .. import guards
from ..facts import Facts, Form, GuardUse
from ..facts.expressions import NamePath, is_unqualified
from ..guards import INFERENCE_MODE, Effect
from ..lazy_regex import lazy_regex
from .project import Project

_TORCH = frozenset({"at", "torch", "c10"})
_TORCH_HEADER = lazy_regex(r"^(?:torch|ATen|c10|caffe2|LibTorch|Libtorch)\b")


def is_gradient_guard(use: GuardUse, facts: Facts, project: Project) -> bool:
    """Whether the use is one of PyTorch's guards that switch gradients or autograd's dispatch keys."""
    guard = guards.CPP.get(use.guard)
    if guard is None or guard.effect is Effect.NEIGHBOUR:
        return False
    if use.alias is not None or is_qualified(use):
        return True
    if use.guard == INFERENCE_MODE and not _reaches_torch(use, facts):
        return False  # a name that many projects give to their own type
    return _sees_torch(use, facts) and not is_another_librarys(use, facts, project)


def unqualified_guards(facts: Facts) -> set[str]:
    """The guards that a file names in a way that a class of the project's own could be meant."""
    return {use.guard for use in facts.guard_uses if use.alias is None and _could_be_anothers(use)}


def _could_be_anothers(use: GuardUse) -> bool:
    if use.guard in guards.PYTHON and not guards.PYTHON[use.guard].namespaces:
        return True
    known = use.guard in guards.CPP or use.guard == guards.LEGACY_API
    return known and not is_qualified(use)


def is_qualified(use: GuardUse) -> bool:
    """Whether the guard's class is named with a qualifier in front: `at::`, `::`."""
    if use.form is Form.STATIC_CALL:
        return not isinstance(use.named, NamePath) or len(use.named.path) > 2 or use.named.absolute
    return not is_unqualified(use.named)


def class_definition(names: Iterable[bytes]) -> bytes:
    """An expression for the head of a class of one of these names."""
    return rb"\b(?:class|struct)\b[^;:{}()]*\b(?:" + b"|".join(map(re.escape, names)) + rb")\b"


def is_another_librarys(use: GuardUse, facts: Facts, project: Project) -> bool:
    """Whether an unqualified name means a class of that name that the project itself defines."""
    for where, class_ in project.defined_elsewhere(use.guard):
        if where.path == facts.path:
            return True
        if not project.linkage.of_type(where, class_.name, facts):
            continue
        space = class_.qualified[:-1]
        opened = _opened(facts)
        if space and (use.namespace[:1] == space[:1] or "::".join(space) in opened):
            return True
        if not space and not opened & _TORCH and _TORCH.isdisjoint(use.namespace[:1]):
            return True
    return False


def _opened(facts: Facts) -> set[str]:
    return {"::".join(alias.path) for alias in facts.aliases if alias.kind == "using-namespace"}


def _reaches_torch(use: GuardUse, facts: Facts) -> bool:
    """Whether an unqualified name can be looked up in PyTorch's namespaces: the file opens one, or is in it."""
    if not _TORCH.isdisjoint(use.namespace[:1]):
        return True
    namespaces = {alias.name: "::".join(alias.path) for alias in facts.aliases if alias.kind == "namespace"}
    for alias in facts.aliases:
        target = "::".join(alias.path)
        if alias.kind == "using-namespace" and namespaces.get(target, target) in _TORCH:
            return True
        if alias.kind == "using-declaration" and alias.name == use.guard:
            return namespaces.get(alias.path[0], alias.path[0]) in _TORCH
    return False


def _sees_torch(use: GuardUse, facts: Facts) -> bool:
    """Whether the file shows that PyTorch's names are meant: a header, a namespace, a call."""
    return (
        not _TORCH.isdisjoint(use.namespace[:1])
        or any(_TORCH_HEADER.match(include.header) for include in facts.includes)
        or any(alias.path and alias.path[0] in _TORCH for alias in facts.aliases)
        or any(call.path[0] in _TORCH for call in facts.calls if len(call.path) > 1)
    )
