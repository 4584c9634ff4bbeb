"""Types of objects that are models, or hold one."""

from __future__ import annotations

from ..facts.expressions import Expression, NamePath, nodes_of
from ..lazy_regex import lazy_regex

_MODULE_SPACES = frozenset({"jit", "script", "mobile", "nn", "extension", "executorch"})
_MODEL_CLASS = lazy_regex(
    r"^(?:Module|ScriptModule|StaticRuntime|StaticModule|AOTIModel(?:ContainerRunner|PackageLoader)\w*"
    r"|ReplicatedObj|InterpreterSession|LiteInterpreter\w*|GraphExecutor|CompilationUnit|CUDAGraph)$"
)
_METHODS = (("jit", "Method"), ("script", "Method"), ("jit", "Function"))
_LOADED_BY_CONSTRUCTOR = lazy_regex(r"^AOTIModel(?:ContainerRunner|PackageLoader)\w*$")

MODULES_GIVE_THEMSELVES = frozenset(
    "eval train to cuda cpu half float double bfloat16 requires_grad_ type apply compile".split()
)
"""Methods of torch.nn.Module that give the module; the table knows what tensors' methods of these names do."""


def is_model_type(type_: Expression) -> bool:
    """Whether it is a model, or holds one: `torch::jit::Module`, `std::shared_ptr<torch::nn::Module>`, `nn::Linear`."""
    return any(
        any(map(_MODEL_CLASS.search, node.path))
        or (node.name.endswith("Module") and not _MODULE_SPACES.isdisjoint(node.path[:-1]))
        or node.path[-2:] in _METHODS
        or (node.path[-2:-1] == ("nn",) and node.name[:1].isupper() and not node.name.endswith("Options"))
        for node in nodes_of(type_)
        if isinstance(node, NamePath)
    )


def loads_by_construction(type_: Expression) -> bool:
    """Whether an object of the type loads its model when it is made: the runners of AOTInductor do."""
    return any(
        _LOADED_BY_CONSTRUCTOR.match(node.name) is not None for node in nodes_of(type_) if isinstance(node, NamePath)
    )
