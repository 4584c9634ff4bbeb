"""`torch.utils._pytree`: values in nested containers, taken out and put back.

Containers are dictionaries, lists, tuples, named tuples, OrderedDict, defaultdict, deque and what is registered;
everything else, None too, is a leaf. Source of the behaviour: torch/utils/_pytree.py of 2.13.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ..core.function_table import AnyFunction
from ..core.supported_names import refuses_missing

PyTree = Any
_Flatten = Callable[[Any], tuple[list[Any], Any]]
_Unflatten = Callable[[Iterable[Any], Any], Any]


class NodeDef(NamedTuple):
    """How a kind of container is taken apart and put together."""

    type: type
    flatten_fn: _Flatten
    unflatten_fn: _Unflatten


SUPPORTED_NODES: dict[Any, NodeDef] = {}


def register_pytree_node(cls: type, flatten_fn: _Flatten, unflatten_fn: _Unflatten, **more: Any) -> None:
    """Make a class a container. ValueError if it is one already."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn)


_register_pytree_node = register_pytree_node


def _keyed(made: Callable[[Any, Any], Any]) -> tuple[_Flatten, _Unflatten]:
    return (lambda d: (list(d.values()), list(d)), lambda values, keys: made(zip(keys, values, strict=True), keys))


register_pytree_node(dict, *_keyed(lambda items, _: dict(items)))
register_pytree_node(OrderedDict, *_keyed(lambda items, _: OrderedDict(items)))
register_pytree_node(
    defaultdict,
    lambda d: (list(d.values()), [d.default_factory, list(d)]),
    lambda values, context: defaultdict(context[0], zip(context[1], values, strict=True)),
)
register_pytree_node(list, lambda d: (d, None), lambda values, _: list(values))
register_pytree_node(tuple, lambda d: (list(d), None), lambda values, _: tuple(values))
register_pytree_node(deque, lambda d: (list(d), d.maxlen), lambda values, maxlen: deque(values, maxlen=maxlen))


class _Named:
    """Stands for all named tuples in the table of containers."""


register_pytree_node(_Named, lambda d: (list(d), type(d)), lambda values, kind: kind(*values))


def _node_type(tree: Any) -> Any:
    kind = type(tree)
    if kind not in SUPPORTED_NODES and isinstance(tree, tuple) and hasattr(kind, "_fields"):
        return _Named
    return kind


class TreeSpec:
    """The shape of a tree: its kind of container, what that knows beside its children, and their shapes."""

    def __init__(self, type: Any, context: Any, children_specs: list[TreeSpec]) -> None:
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_nodes: int = 1 + sum(child.num_nodes for child in children_specs)
        self.num_leaves: int = 1 if type is None else sum(child.num_leaves for child in children_specs)
        self.num_children = len(children_specs)

    def is_leaf(self) -> bool:
        return self.type is None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TreeSpec)
            and self.type is other.type
            and self.context == other.context
            and self.children_specs == other.children_specs
        )

    def __hash__(self) -> int:
        return hash((self.type, self.num_nodes))

    def __repr__(self) -> str:
        if self.is_leaf():
            return "*"
        return f"TreeSpec({self.type.__name__}, {self.context}, {self.children_specs})"

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        values = list(leaves)
        if len(values) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(values)} but the spec refers to a pytree that "
                f"holds {self.num_leaves} items ({self})."
            )
        return self._unflatten(values)

    def _unflatten(self, values: list[Any]) -> PyTree:
        if self.is_leaf():
            return values[0]
        made, start = [], 0
        for child in self.children_specs:
            made.append(child._unflatten(values[start : start + child.num_leaves]))
            start += child.num_leaves
        return SUPPORTED_NODES[self.type].unflatten_fn(made, self.context)


class LeafSpec(TreeSpec):
    """The shape of a leaf."""

    def __init__(self) -> None:
        super().__init__(None, None, [])


def _flatten(tree: PyTree, leaves: list[Any], is_leaf: Callable[[Any], bool] | None) -> TreeSpec:
    kind = _node_type(tree)
    if kind not in SUPPORTED_NODES or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return LeafSpec()
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten(child, leaves, is_leaf) for child in children])


def tree_flatten(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree from left to right, and its shape."""
    leaves: list[Any] = []
    spec = _flatten(tree, leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The tree of that shape. TypeError if `treespec` isn't a TreeSpec, ValueError if the number of leaves differs."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but got item of type "
            f"{type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_leaves(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    return tree_flatten(tree, is_leaf)[0]


tree_iter = tree_leaves


def tree_structure(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: AnyFunction, tree: PyTree, *rests: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> PyTree:
    """The tree of what `func` makes of each leaf, and of the leaves in its place in the others."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [_leaves_like(spec, rest) for rest in rests]
    return spec.unflatten(map(func, leaves, *others))


def _leaves_like(spec: TreeSpec, tree: PyTree) -> list[Any]:
    """What is in another tree where `spec` has leaves."""
    if spec.is_leaf():
        return [tree]
    if _node_type(tree) is not spec.type:
        raise ValueError(f"Node type mismatch; expected {spec.type!r}, but got {_node_type(tree)!r}.")
    children, context = SUPPORTED_NODES[spec.type].flatten_fn(tree)
    if len(children) != spec.num_children or context != spec.context:
        raise ValueError(f"Node arity mismatch; expected {spec.num_children}, but got {len(children)}.")
    return [
        leaf for child, kind in zip(children, spec.children_specs, strict=True) for leaf in _leaves_like(kind, child)
    ]


def _chosen(wanted: Any) -> Callable[[Any], bool]:
    if isinstance(wanted, type | tuple) or not callable(wanted):
        return lambda leaf: isinstance(leaf, wanted)
    chosen: Callable[[Any], bool] = wanted
    return chosen


def tree_map_only(
    type_or_types_or_pred: Any,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: Callable[[Any], bool] | None = None,
) -> PyTree:
    """`tree_map` for leaves of some types, or that a predicate holds for; the others stay."""
    chosen = _chosen(type_or_types_or_pred)
    return tree_map(lambda leaf: func(leaf) if chosen(leaf) else leaf, tree, is_leaf=is_leaf)


__getattr__ = refuses_missing("torch.utils._pytree")
