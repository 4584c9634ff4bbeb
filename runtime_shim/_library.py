"""`torch._library`: of PyTorch's own modules behind `torch.library`, what programs use."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .library import schema_inference
from .library.custom_ops import ops
from .library.early_custom_ops import is_functional_schema


def _parse_namespace(qualname: str) -> tuple[str, str]:
    namespace, separator, name = qualname.partition("::")
    if not separator:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The qualname passed to the '
            "torch.library APIs must consist of a namespace and a name, e.g. aten::sin"
        )
    return namespace, name


def _lookup_op(qualname: str) -> Any:
    namespace, name = _parse_namespace(qualname)
    packet = getattr(getattr(ops, namespace), name.partition(".")[0])
    return getattr(packet, name.partition(".")[2] or "default")


utils = SimpleNamespace(
    is_functional_schema=is_functional_schema, lookup_op=_lookup_op, parse_namespace=_parse_namespace
)
#: The module of that name.
infer_schema = schema_inference

#: Its modules are found here by their names.
__path__: list[str] = []

__all__ = ["infer_schema", "utils"]
