"""Which expressions make tensors, which only look at one, and which cannot be differentiated through."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from ...lazy_regex import lazy_regex
from .syntax_walking import CHILD_FIELDS

_VIEWS = frozenset(
    """view view_as reshape squeeze unsqueeze transpose permute t expand expand_as narrow select detach alias contiguous
    to cpu cuda float half bfloat16 double type flatten unflatten movedim swapaxes diagonal unfold requires_grad_ chunk
    split unbind""".split()
)
"""Methods that can give back the very tensor, or a view of it."""

PLAIN_VALUES = frozenset(
    """item tolist numpy size dim numel ndimension stride element_size data_ptr get_device type_as is_contiguous
    state_dict parameters named_parameters keys values items decode batch_decode tokenize apply_chat_template
    get_device_name format join strip split lower upper count index encode_plus""".split()
)
"""Methods whose value is not a tensor, or not surely one."""

_NO_TENSORS = frozenset(
    """device Generator Size Stream Event load save manual_seed is_tensor is_grad_enabled is_inference_mode_enabled
    get_default_dtype set_default_dtype no_grad enable_grad inference_mode set_grad_enabled compile typename finfo iinfo
    initial_seed get_rng_state is_floating_point numel is_inference set_rng_state dtype""".split()
)
"""Functions of the torch namespace that make no tensor."""

MODEL = lazy_regex(
    r"(?:^|[._])\w*(?:[mM]odel|[mM]odule|[nN]et(?:work)?|[tT]eacher|[sS]tudent|[eE]ncoder|[dD]ecoder|[bB]ackbone"
    r"|[eE]xtractor|[vV]ae|[uU]net|[cC]ritic|[aA]ctor|[gG]enerator|[dD]iscriminator|forward)$"
)
_BUILTINS = frozenset("int float bool str len list tuple dict set range print repr isinstance type zip sorted".split())
IN_PLACE = lazy_regex(r"[a-z]\w*[a-z0-9]_$")


def calls_in(node: ast.AST) -> Iterator[ast.Call]:
    return (child for child in walk_own(node) if isinstance(child, ast.Call))


_OTHER_BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def walk_own(node: ast.AST) -> Iterator[ast.AST]:
    """Everything inside a node that runs with it: not the bodies of functions, lambdas and classes, nor contexts.

    That includes a lambda that is the node itself: it is made here, and runs when it is called.
    """
    if isinstance(node, _OTHER_BODIES):
        yield node
        return
    stack: list[ast.AST] = [node]
    while stack:
        current = stack.pop()
        kind = current.__class__
        fields = CHILD_FIELDS[kind]
        if fields is None or kind in _OTHER_BODIES:
            continue
        yield current
        for name in fields:
            child = getattr(current, name, None)
            if child.__class__ is list:
                stack.extend(child)
            elif child is not None:
                stack.append(child)


def root_of(node: ast.expr) -> str:
    """The variable of which an expression is the tensor itself or a view: `x` for `x[0].view(-1).detach()`."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
            node = node.func.value
        elif isinstance(node, ast.Attribute) and node.attr in ("data", "T", "mT", "H", "real"):
            node = node.value
        else:
            return node.id if isinstance(node, ast.Name) else ""


def is_tensor_function(name: str | None) -> bool:
    """`torch.zeros`, `torch.nn.functional.softmax`: a function of torch that makes a tensor."""
    if name is None or not name.startswith("torch."):
        return False
    module, _, last = name.rpartition(".")
    return module in ("torch", "torch.nn.functional", "torch.special", "torch.linalg", "torch.fft") and (
        last not in _NO_TENSORS and not last[0].isupper() and not last.startswith(("is_", "set_", "get_"))
    )


def makes_tensor(value: ast.expr, resolved: str | None, made: Container[str]) -> str:
    """`surely`, `likely` or nothing: whether a value assigned under inference mode is a new tensor.

    `resolved` is the dotted name of the function when the value is a call; `made` are names already made there.
    """
    if isinstance(value, ast.BinOp):
        return "surely" if any(root_of(side) in made for side in (value.left, value.right)) else ""
    if not isinstance(value, ast.Call):
        return "surely" if root_of(value) in made else ""
    if is_tensor_function(resolved):
        return "surely"
    func = value.func
    if isinstance(func, ast.Attribute):
        if func.attr == "clone":
            return "surely"
        if func.attr in _VIEWS:
            inner = root_of(value)
            if inner:
                return "surely" if inner in made else ""
            return (
                "surely"
                if isinstance(func.value, (ast.Call, ast.BinOp)) and makes_tensor(func.value, None, made)
                else ""
            )
        if func.attr in PLAIN_VALUES or func.attr.startswith(("get_", "is_", "load", "from_")):
            return ""
        if root_of(func.value) in made:
            return "surely"
        text = ".".join(_parts(func))
        return "likely" if MODEL.search(text) else ""
    if isinstance(func, ast.Name) and func.id not in _BUILTINS and MODEL.search(func.id):
        return "likely"
    return ""


def _parts(node: ast.expr) -> list[str]:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return parts[::-1]
