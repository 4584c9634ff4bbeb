"""Tensors that leave an inference-mode block and are used afterwards as inference tensors cannot be.

One function at a time, in the order of its statements. A name that is bound anew is forgotten, a `clone()` is a
normal tensor. What is not certain is left out. Reference: https://pytorch.org/docs/stable/notes/autograd.html
(section on inference mode).
"""

from __future__ import annotations

import ast
import heapq
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...named_tuples import NamedTuple
from .expected_failures import expects_failure
from .name_resolution import statements, statements_in
from .tensor_values import calls_in, changed_in_place, given_requires_grad, makes_tensor, root_of, saved_names, walk_own

Resolve = Callable[[ast.expr], str | None]


class Found(NamedTuple):
    variable: str
    made: ast.AST
    what: str
    where: ast.AST


_BACKWARD = frozenset({"backward", "manual_backward"})


_FARTHEST = 1000
"""Statements behind a block that are looked at: a notebook as one module has thousands, and many blocks."""
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class Stretch(NamedTuple):
    """A part of what runs behind a block: positions in the order of all statements around it."""

    start: int
    stop: int
    conditional: bool
    """Whether the block stands in an `if` there; then what another one holds may run only when the block has not."""


class StatementOrder:
    """All statements of a body, in order, with those inside them."""

    def __init__(self, body: Sequence[ast.stmt], known: Statements, resolve: Resolve) -> None:
        self.nodes = list(statements(body))
        self.position = {node: position for position, node in enumerate(self.nodes)}
        self.behind = list(range(1, len(self.nodes) + 1))
        """Where each ends."""
        self._in_branches = [-1] * len(self.nodes)
        self._named: dict[str, list[int]] = defaultdict(list)
        for position in reversed(range(len(self.nodes))):
            inside = [node for node in statements_in(self.nodes[position]) if node in self.position]
            if inside:
                self.behind[position] = self.behind[self.position[inside[-1]]]
        for position, node in enumerate(self.nodes):
            branch = position if isinstance(node, (ast.If, ast.Match)) else self._in_branches[position]
            for inner in statements_in(node) if self.behind[position] > position + 1 else ():
                self._in_branches[self.position[inner]] = branch
            names = known.names(node)
            if isinstance(node, ast.With) and known.is_passed_over(node, resolve):
                # Found by what it holds, so that it is passed over before that is.
                names = names.union(*map(known.names, statements(node.body)), known.assigned_in(node))
            for name in names:
                self._named[name].append(position)

    def next_named(self, name: str, start: int) -> int | None:
        """The position from `start` on of a statement that names a variable, or of a block to pass over that does."""
        positions = self._named.get(name, ())
        index = bisect_left(positions, start)
        return positions[index] if index < len(positions) else None

    def is_doubtful(self, position: int, stretch: Stretch) -> bool:
        """Whether the statement may run only when the block has not."""
        return stretch.conditional and self._in_branches[position] >= stretch.start


class Statements:
    """What statements say themselves; each is read once, however many blocks it stands behind."""

    def __init__(self) -> None:
        self._names: dict[ast.stmt, frozenset[str]] = {}
        self._passed_over: dict[ast.With, bool] = {}
        self._assigned_in: dict[ast.With, frozenset[str]] = {}
        self._ends: dict[int, list[int]] = {}
        self._last: dict[int, int] = {}
        self._orders: dict[int, StatementOrder] = {}

    def order_of(self, body: Sequence[ast.stmt], resolve: Resolve) -> StatementOrder:
        order = self._orders.get(id(body))
        if order is None:
            order = self._orders[id(body)] = StatementOrder(body, self, resolve)
        return order

    def names(self, node: ast.stmt) -> frozenset[str]:
        names = self._names.get(node)
        if names is None:
            found = (child for part in _header(node) for child in walk_own(part))
            names = frozenset({*(child.id for child in found if isinstance(child, ast.Name)), *_bound_by(node)})
            self._names[node] = names
        return names

    def end_of(self, body: Sequence[ast.stmt], start: int) -> int:
        """Index of the first statement of `body` from `start` on that leaves it; past the last when none does."""
        ends = self._ends.get(id(body))
        if ends is None:
            ends = [index for index, node in enumerate(body) if isinstance(node, _ENDS)]
            self._ends[id(body)] = ends
        position = bisect_left(ends, start)
        return ends[position] if position < len(ends) else len(body)

    def last_that_may_raise(self, body: Sequence[ast.stmt], resolve: Resolve) -> int:
        """Index of the last statement of `body` in which anything could raise; -1 when there is none."""
        last = self._last.get(id(body))
        if last is None:
            last = next((index for index in reversed(range(len(body))) if self._may_raise(body[index], resolve)), -1)
            self._last[id(body)] = last
        return last

    def _may_raise(self, node: ast.stmt, resolve: Resolve) -> bool:
        return any(_may_raise(inner, resolve) for inner in statements([node]))

    def is_passed_over(self, node: ast.With, resolve: Resolve) -> bool:
        """Whether the block is under inference mode again, or one that a test expects to fail."""
        passed = self._passed_over.get(node)
        if passed is None:
            passed = expects_failure(node) or any(
                isinstance(item.context_expr, ast.Call)
                and (resolve(item.context_expr.func) or "").endswith("inference_mode")
                for item in node.items
            )
            self._passed_over[node] = passed
        return passed

    def assigned_in(self, node: ast.With) -> frozenset[str]:
        """Names that statements of the block give a value."""
        names = self._assigned_in.get(node)
        if names is None:
            names = frozenset(name for inner in statements(node.body) for name in _assigned(inner))
            self._assigned_in[node] = names
        return names


class _Origins(NamedTuple):
    """Places whose tensors a value was computed from: its own, and those of the values that went into it."""

    own: Sequence[Found]
    before: tuple[_Origins, ...]


class _Reported:
    """The places where a tensor raises, each once; origins that many values share are walked through once."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, int], Found] = {}
        self._walked: dict[int, _Origins] = {}

    def add(self, found: Iterable[Found]) -> None:
        for one in found:
            self._found.setdefault((one.where.lineno, one.where.col_offset), one)  # type: ignore[attr-defined]

    def add_all(self, origins: _Origins) -> None:
        waiting = [origins]
        while waiting:
            here = waiting.pop()
            if id(here) not in self._walked:
                self._walked[id(here)] = here
                self.add(here.own)
                waiting += reversed(here.before)

    def all(self) -> list[Found]:
        return list(self._found.values())


def find_escapes(
    block: ast.With,
    levels: Sequence[tuple[Sequence[ast.stmt], int]],
    resolve: Resolve,
    known: Statements,
    handed: ast.Name | None = None,
) -> list[Found]:
    """Places behind the block where a tensor made in it raises.

    `levels` are the statement lists around the block, outermost first, each with the index of what holds the block.
    `handed` is the name that the block's own context manager gives a tensor.
    """
    if isinstance(block.body[-1], _ENDS):
        return []
    made = _made_in(block.body, resolve)
    if handed is not None and not any(handed.id in _assigned(node) for node in statements(block.body)):
        made[handed.id] = _Made(handed, False)
    return _follow(made, levels, resolve, known) if made else []


def _trail(
    levels: Sequence[tuple[Sequence[ast.stmt], int]], order: StatementOrder, resolve: Resolve, known: Statements
) -> Iterator[Stretch]:
    """What runs behind a block, in order."""
    # What stands behind all that may raise need not be followed.
    first = next(
        (number for number, (body, index) in enumerate(levels) if known.last_that_may_raise(body, resolve) > index),
        len(levels),
    )
    conditional = False
    for body, index in reversed(levels[first:]):
        conditional = conditional or isinstance(body[index], (ast.If, ast.Match))
        last = known.last_that_may_raise(body, resolve) + 1 if body is levels[first][0] else len(body)
        end = known.end_of(body, index + 1)
        stop = min(end + 1, last)
        if stop > index + 1:
            inside = order.behind[order.position[body[stop - 1]]]
            yield Stretch(order.position[body[index + 1]], inside, conditional)
        if end < last:
            return


def _resolved(node: ast.AST, resolve: Resolve) -> dict[ast.Call, str | None]:
    return {call: resolve(call.func) for call in calls_in(node)}


class _Made(NamedTuple):
    node: ast.AST
    surely: bool


def _made_in(body: Sequence[ast.stmt], resolve: Resolve) -> dict[str, _Made]:
    made: dict[str, _Made] = {}
    for node in statements(body):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            value, targets = node.value, node.targets[0]
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            value, targets = node.value, node.target
        else:
            for name in _bound_by(node):
                made.pop(name, None)
            continue
        names = [targets] if isinstance(targets, ast.Name) else getattr(targets, "elts", [])
        resolved = resolve(value.func) if isinstance(value, ast.Call) else None
        sure = makes_tensor(value, resolved, made)
        for target in names:
            if isinstance(target, ast.Name):
                if sure:
                    made[target.id] = _Made(target, sure == "surely" and len(names) == 1)
                else:
                    made.pop(target.id, None)
    return made


def _assigned(node: ast.stmt) -> Iterator[str]:
    """Names that a statement gives a value, in whatever way."""
    for target in getattr(node, "targets", None) or [getattr(node, "target", None)]:
        for child in ast.walk(target) if target is not None else ():
            if isinstance(child, ast.Name):
                yield child.id
    yield from _bound_by(node)


def _bound_by(node: ast.stmt) -> Iterator[str]:
    targets: list[ast.expr] = []
    if isinstance(node, (ast.For, ast.AsyncFor)):
        targets = [node.target]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        targets = [item.optional_vars for item in node.items if item.optional_vars is not None]
    elif isinstance(node, ast.Delete):
        targets = node.targets
    for target in targets:
        for child in ast.walk(target):
            if isinstance(child, ast.Name):
                yield child.id


def _follow(
    made: dict[str, _Made], levels: Sequence[tuple[Sequence[ast.stmt], int]], resolve: Resolve, known: Statements
) -> list[Found]:
    found = _Reported()
    derived: dict[str, _Origins] = {}
    for node, is_doubtful in _in_normal_mode(levels, made, derived, resolve, known):
        if is_doubtful:
            for name in _assigned(node):
                made.pop(name, None)
                derived.pop(name, None)
            continue
        header = _header(node)
        calls = [call for part in header for call in calls_in(part)]
        found.add(_mutations(node, calls, made))
        names = set(made)
        saved = [
            Found(name, made[name].node, "used in a loss that is differentiated", where)
            for part in header
            for name, where in saved_names(part, _resolved(part, resolve), names)
        ]
        inherited = {
            child.id: derived[child.id]
            for part in header
            for child in walk_own(part)
            if isinstance(child, ast.Name) and child.id in derived
        }
        origins = _Origins(saved, tuple(inherited.values())) if saved or inherited else None
        if origins is not None and any(_differentiates(call, resolve) for call in calls):
            found.add_all(origins)
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            _assign(node, made, derived, origins)
        for name in _bound_by(node):
            made.pop(name, None)
            derived.pop(name, None)
    return found.all()


def _in_normal_mode(
    levels: Sequence[tuple[Sequence[ast.stmt], int]],
    made: dict[str, _Made],
    derived: dict[str, _Origins],
    resolve: Resolve,
    known: Statements,
) -> Iterator[tuple[ast.stmt, bool]]:
    """The statements in order that name what is followed, each with whether it is doubtful that it runs.

    Not those under inference mode again, nor those that a test expects to fail; what these give a value is forgotten.
    """
    order = known.order_of(levels[0][0], resolve)
    left = _FARTHEST
    for stretch in _trail(levels, order, resolve, known):
        stop = min(stretch.stop, stretch.start + left)
        left -= stop - stretch.start
        ahead = _Ahead(order, stop)
        ahead.add((*made, *derived), stretch.start)
        start = stretch.start
        while (position := ahead.next(start)) is not None:
            node, start = order.nodes[position], position + 1
            names = known.names(node)
            if not (names.isdisjoint(made) and names.isdisjoint(derived)):
                yield node, order.is_doubtful(position, stretch)
            if isinstance(node, ast.With) and known.is_passed_over(node, resolve):
                start = order.behind[position]
                for name in known.assigned_in(node):
                    made.pop(name, None)
                    derived.pop(name, None)
            ahead.add((name for name in names if name in made or name in derived), start)


class _Ahead:
    """The statements ahead that name what is followed, found without looking at the others."""

    def __init__(self, order: StatementOrder, stop: int) -> None:
        self._order = order
        self._stop = stop
        self._waiting: list[tuple[int, str]] = []

    def add(self, names: Iterable[str], start: int) -> None:
        for name in names:
            position = self._order.next_named(name, start)
            if position is not None and position < self._stop:
                heapq.heappush(self._waiting, (position, name))

    def next(self, start: int) -> int | None:
        """The next position from `start` on."""
        while self._waiting:
            position, name = heapq.heappop(self._waiting)
            if position >= start:
                return position
            self.add([name], start)
        return None


def _header(node: ast.stmt) -> list[ast.expr]:
    """The expressions that a statement evaluates itself, not those of statements inside it."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    return [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)] + [
        item.context_expr for item in getattr(node, "items", ())
    ]


def _mutations(node: ast.stmt, calls: Sequence[ast.Call], made: dict[str, _Made]) -> Iterator[Found]:
    for call in calls:
        for name, what in (
            (changed_in_place(call), "changed in place"),
            (given_requires_grad(call), "given requires_grad"),
        ):
            if name in made:
                yield Found(name, made[name].node, what, call)
    targets: list[ast.expr] = []
    if isinstance(node, ast.AugAssign):
        targets = [node.target]
    elif isinstance(node, ast.Assign):
        targets = [target for target in node.targets if isinstance(target, (ast.Subscript, ast.Attribute))]
    for target in targets:
        if isinstance(target, ast.Attribute):
            name = root_of(target.value)
            switched_on = isinstance(node, ast.Assign) and not (
                isinstance(node.value, ast.Constant) and node.value.value is False
            )
            if target.attr == "requires_grad" and name in made and switched_on:
                yield Found(name, made[name].node, "given requires_grad", target)
            continue
        name = root_of(target)
        if name in made and made[name].surely:
            yield Found(name, made[name].node, "changed in place", target)


def _assign(
    node: ast.Assign | ast.AnnAssign | ast.AugAssign,
    made: dict[str, _Made],
    derived: dict[str, _Origins],
    origins: _Origins | None,
) -> None:
    if isinstance(node, ast.AugAssign):
        if isinstance(node.target, ast.Name) and origins is not None:
            before = derived.get(node.target.id)
            derived[node.target.id] = origins if before is None else _Origins((), (before, origins))
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        for child in [target, *getattr(target, "elts", [])]:
            if isinstance(child, ast.Name):
                made.pop(child.id, None)
                derived.pop(child.id, None)
                if origins is not None:
                    derived[child.id] = origins


def _may_raise(node: ast.stmt, resolve: Resolve) -> bool:
    """Whether a statement could change a tensor in place, give it `requires_grad`, or compute gradients."""
    if isinstance(node, ast.AugAssign):
        return True
    if isinstance(node, ast.Assign) and any(isinstance(t, (ast.Subscript, ast.Attribute)) for t in node.targets):
        return True
    calls = (call for part in _header(node) for call in calls_in(part))
    return any(changed_in_place(c) or given_requires_grad(c) or _differentiates(c, resolve) for c in calls)


def _differentiates(call: ast.Call, resolve: Resolve) -> bool:
    """`loss.backward()`, `scaler.scale(loss).backward()`, `accelerator.backward(loss)`, `autograd.grad(loss, …)`."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in _BACKWARD:
        return True
    return resolve(call.func) in ("torch.autograd.grad", "torch.autograd.backward")
