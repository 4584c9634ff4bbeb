"""`torch._classes`: what follows `torch.classes`, which extensions import to make their own namespace."""

from __future__ import annotations

from .library.script_classes import ClassNamespace, classes

__all__ = ["_ClassNamespace", "classes"]


def _ClassNamespace(name: str) -> ClassNamespace:
    """`torch.classes.<name>`: all namespaces of one name have the same classes."""
    namespace: ClassNamespace = getattr(classes, name)
    return namespace
