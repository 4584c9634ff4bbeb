"""`torch._library`: of PyTorch's own modules behind `torch.library`, what programs use."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .library import schema_inference
from .library.custom_ops import ops, split_qualname
from .library.early_custom_ops import is_functional_schema


def _lookup_op(qualname: str) -> Any:
    namespace, name = split_qualname(qualname)
    packet = getattr(getattr(ops, namespace), name.partition(".")[0])
    return getattr(packet, name.partition(".")[2] or "default")


utils = SimpleNamespace(is_functional_schema=is_functional_schema, lookup_op=_lookup_op, parse_namespace=split_qualname)
#: The module of that name.
infer_schema = schema_inference

#: Its modules are found here by their names.
__path__: list[str] = []

__all__ = ["infer_schema", "utils"]
