"""What becomes of a variable or attribute that holds a guard: where it is, whether it is entered or let go of."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cached_property

from ...facts import Span
from ...facts.use_model import MOST_NAMED
from ...lazy_regex import lazy_regex
from .name_resolution import TRY_STATEMENTS, statements
from .parsed_module import Module
from .syntax_walking import walk

_ENTERED = lazy_regex(rb"\b(\w+)\s*\.\s*__(?:enter|exit)__")
_USED_IN_WITH = lazy_regex(rb"(?:with|enter_context\()(?=\s*([\w.]*))")


class GuardVariables:
    """Answers for one file; each of its functions, and the module, is walked once."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._variables: dict[ast.AST, _Variables] = {}

    def _of(self, root: ast.AST) -> _Variables:
        found = self._variables.get(root)
        if found is None:
            found = self._variables[root] = _Variables(root)
        return found

    def count(self, name: str, root: ast.AST) -> int:
        """How often a variable's name is in a function or module."""
        return len(self._of(root).named.get(name, ()))

    def find(self, name: str, root: ast.AST) -> tuple[tuple[Span, ...], bool]:
        """(where a variable is in its function, whether it is used for anything but `del`).

        Of very many places the first.
        """
        inside = self._of(root)
        if name not in inside.found:
            named = inside.named.get(name, ())
            spans = tuple(sorted(map(self._module.span, named))[:MOST_NAMED])
            used = any(isinstance(child.ctx, ast.Load) and child not in inside.deleted for child in named)
            inside.found[name] = spans, used or name in inside.shared
        return inside.found[name]

    def is_released(self, name: str, root: ast.AST) -> bool:
        """Whether a `finally` of the function lets go of the variable."""
        return name in self._of(root).released

    def attribute_is_entered(self, attribute: str) -> bool:
        """Whether `self.attribute` is entered, left or used as a context manager anywhere in the file."""
        return attribute.encode() in self._entered

    @cached_property
    def _entered(self) -> frozenset[bytes]:
        text = self._module.source.text
        used = (name for path in _USED_IN_WITH.findall(text) for name in path.split(b"."))
        return frozenset((*_ENTERED.findall(text), *used))

    def attribute_is_released(self, attribute: str, assignment: ast.stmt) -> bool:
        """Whether the file lets go of `self.attribute` anywhere else."""
        return any(node is not assignment for node in self._released_attributes.get(attribute, ()))

    @cached_property
    def _released_attributes(self) -> dict[str, list[ast.stmt]]:
        found: dict[str, list[ast.stmt]] = defaultdict(list)
        for node in walk(self._module.tree):
            if isinstance(node, (ast.Delete, ast.Assign)):
                for target in _let_go_of(node):
                    if isinstance(target, ast.Attribute):
                        found[target.attr].append(node)
        return found


class _Variables:
    """The names in a function or module."""

    def __init__(self, root: ast.AST) -> None:
        self.named: dict[str, list[ast.Name]] = defaultdict(list)
        self.deleted: set[ast.AST] = set()
        self.shared: set[str] = set()
        """Those that a `global` or `nonlocal` names."""
        self.released: set[str] = set()
        """Those that a `finally` lets go of."""
        self.found: dict[str, tuple[tuple[Span, ...], bool]] = {}
        """What `GuardVariables.find` says."""
        for node in walk(root):
            if isinstance(node, ast.Name):
                self.named[node.id].append(node)
            elif isinstance(node, ast.Delete):
                self.deleted.update(node.targets)
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                self.shared.update(node.names)
            elif isinstance(node, TRY_STATEMENTS):
                targets = [target for inner in statements(node.finalbody) for target in _let_go_of(inner)]
                self.released.update(target.id for target in targets if isinstance(target, ast.Name))


def _let_go_of(node: ast.stmt) -> list[ast.expr]:
    """The variables that a statement deletes or sets to None."""
    if isinstance(node, ast.Delete):
        return node.targets
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is None:
        return node.targets
    return []
