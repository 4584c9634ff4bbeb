"""`torch._library`: of PyTorch's own modules behind `torch.library`, what programs use."""

from __future__ import annotations

from types import SimpleNamespace

from .library import schema_parsing
from .library.custom_ops import ops, split_qualname
from .library.operator_schema import Schema
from .library.schema_parsing import parse


def is_functional_schema(schema: Schema | str) -> bool:
    """Whether an op of this schema writes to no input, returns no view of one, and returns something."""
    parsed = parse(schema) if isinstance(schema, str) else schema
    returns = [kind.text for kind, _ in parsed.returns]
    writes = schema_parsing.written_names(parsed.arguments)
    return bool(returns) and not writes and not any(text.startswith("Tensor(") for text in returns)


def _lookup_op(qualname: str) -> object:
    namespace, name = split_qualname(qualname)
    packet = getattr(getattr(ops, namespace), name.partition(".")[0])
    return getattr(packet, name.partition(".")[2] or "default")


utils = SimpleNamespace(is_functional_schema=is_functional_schema, lookup_op=_lookup_op, parse_namespace=split_qualname)
#: The module of that name.
infer_schema = schema_parsing

#: Its modules are found here by their names.
__path__: list[str] = []

__all__ = ["infer_schema", "utils"]
