"""L-BFGS: steps by an estimate of the inverse Hessian that is kept as a few pairs of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..aten import FUNCTIONS
from ..core.gradient_modes import enable_grad, no_grad
from ..core.tensor import Tensor
from .optimizer import Optimizer, check_learning_rate


class _Point(NamedTuple):
    """A point along a direction."""

    length: Any
    value: Any
    gradient: Tensor
    slope: Any


def _cubic_interpolate(
    x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: tuple[Any, Any] | None = None
) -> Any:
    """Where the cubic through two points with their slopes is least, within bounds."""
    least, most = bounds or ((x1, x2) if x1 <= x2 else (x2, x1))
    mean = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = mean**2 - g1 * g2
    if square < 0:
        return (least + most) / 2.0
    root = square.sqrt()
    if x1 <= x2:
        found = x2 - (x2 - x1) * ((g2 + root - mean) / (g2 - g1 + 2 * root))
    else:
        found = x1 - (x1 - x2) * ((g1 + root - mean) / (g1 - g2 + 2 * root))
    return min(max(found, least), most)


def _between(one: _Point, other: _Point, bounds: tuple[Any, Any] | None = None) -> Any:
    return _cubic_interpolate(one.length, one.value, one.slope, other.length, other.value, other.slope, bounds)


def _strong_wolfe(
    obj_func: Callable[[Any, Any, Tensor], tuple[Any, Tensor]],
    x: Any,
    t: Any,
    d: Tensor,
    f: Any,
    g: Tensor,
    gtd: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[Any, Tensor, Any, int]:
    """How far to go along `d`, by the strong Wolfe conditions (Nocedal and Wright, Numerical Optimization, 3.5, 3.6).

    Returns the value and the gradient there, the length, and how often it evaluated.
    """

    def at(length: Any) -> _Point:
        value, gradient = obj_func(x, length, d)
        return _Point(length, value, gradient.clone(), gradient.dot(d))

    def falls_too_little(point: _Point) -> bool:
        return bool(point.value > f + c1 * point.length * gtd)

    def is_flat(point: _Point) -> bool:
        return bool(abs(point.slope) <= -c2 * gtd)

    start = _Point(0, f, g.clone(), gtd)
    before, point, steps = start, at(t), 0
    # Further and further, until two points enclose the one that is sought.
    while steps < max_ls:
        if falls_too_little(point) or (steps > 1 and point.value >= before.value):
            break
        if is_flat(point):
            return point.value, point.gradient, point.length, steps + 1
        if point.slope >= 0:
            break
        further = point.length + 0.01 * (point.length - before.length), point.length * 10
        before, point = point, at(_between(before, point, further))
        steps += 1
    ends = [start if steps == max_ls else before, point]
    low = 0 if ends[0].value <= ends[1].value else 1
    # Closer and closer.
    stalled, reach = False, d.abs().max()
    while steps < max_ls and not abs(ends[1].length - ends[0].length) * reach < tolerance_change:
        length = _between(ends[0], ends[1])
        least, most = sorted(end.length for end in ends)
        margin = 0.1 * (most - least)
        near = min(most - length, length - least) < margin
        if near and (stalled or length >= most or length <= least):
            length = most - margin if abs(length - most) < abs(length - least) else least + margin
            near = False
        stalled = near
        point, steps = at(length), steps + 1
        if falls_too_little(point) or point.value >= ends[low].value:
            ends[1 - low] = point
            low = 0 if ends[0].value <= ends[1].value else 1
            continue
        found = is_flat(point)
        if not found and point.slope * (ends[1 - low].length - ends[low].length) >= 0:
            ends[1 - low] = ends[low]
        ends[low] = point
        if found:
            break
    return ends[low].value, ends[low].gradient, ends[low].length, steps + 1


class LBFGS(Optimizer):
    """Minimizes what `step(closure)` evaluates again and again (Liu and Nocedal 1989)."""

    def __init__(
        self,
        params: object,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_learning_rate(lr)
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
            },
        )
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def _gradient(self) -> Tensor:
        """All gradients as one vector; zeros where there is none."""
        zeros = FUNCTIONS["zeros_like"]
        parts = [(zeros(p) if p.grad is None else p.grad).reshape(-1) for p in self.param_groups[0]["params"]]
        return FUNCTIONS["cat"](parts)

    def _move(self, direction: Tensor, length: Any) -> None:
        done = 0
        for p in self.param_groups[0]["params"]:
            p.add_(direction[done : done + p.numel()].view_as(p), alpha=float(length))
            done += p.numel()

    @staticmethod
    def _direction(gradient: Tensor, state: dict[str, Any], history_size: int) -> Tensor:
        """Where to go from here: minus the gradient, times the estimate, which the last step improves."""
        changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
        change, step = gradient.sub(state["prev_flat_grad"]), state["d"].mul(state["t"])
        curvature = change.dot(step)
        if curvature > 1e-10:
            if len(changes) == history_size:
                for kept in (changes, steps, inverses):
                    kept.pop(0)
            changes.append(change)
            steps.append(step)
            inverses.append(1.0 / curvature)
            state["H_diag"] = curvature / change.dot(change)
        direction, weights = gradient.neg(), state.setdefault("al", [None] * history_size)
        kept = list(enumerate(zip(changes, steps, inverses, strict=True)))
        for i, (change, step, inverse) in reversed(kept):
            weights[i] = step.dot(direction) * inverse
            direction.sub_(change * weights[i])
        direction = direction.mul(state["H_diag"])
        for i, (change, step, inverse) in kept:
            direction.add_(step * (weights[i] - change.dot(direction) * inverse))
        return direction

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Up to `max_iter` iterations; returns the loss from before the first."""
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        evaluate: Callable[[], Any] = closure
        with no_grad():
            return self._minimize(evaluate)

    def _search(self, closure: Callable[[], Any], loss: float, gradient: Tensor, slope: Tensor, most: int) -> Any:
        """What `_strong_wolfe` says of the direction, from where the parameters are."""
        group = self.param_groups[0]
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        state = self.state[group["params"][0]]

        def evaluate(start: list[Tensor], length: Any, direction: Tensor) -> tuple[float, Tensor]:
            self._move(direction, length)
            with enable_grad():
                value = float(closure())
            found = self._gradient()
            for p, kept in zip(group["params"], start, strict=True):
                p.copy_(kept)
            return value, found

        start = [p.clone() for p in group["params"]]
        return _strong_wolfe(evaluate, start, state["t"], state["d"], loss, gradient, slope, max_ls=most)

    def _minimize(self, closure: Callable[[], Any]) -> Any:
        def evaluate() -> Any:
            state["func_evals"] += 1
            with enable_grad():
                return closure()

        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = evaluate()
        loss, evaluated, gradient = float(first), 1, self._gradient()
        if gradient.abs().max() <= group["tolerance_grad"]:
            return first
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                state.update(d=gradient.neg(), old_dirs=[], old_stps=[], ro=[], H_diag=1)
                length: Any = min(1.0, 1.0 / gradient.abs().sum()) * group["lr"]
            else:
                state["d"] = self._direction(gradient, state, group["history_size"])
                length = group["lr"]
            state["prev_flat_grad"], state["prev_loss"], state["t"] = gradient.clone(), loss, length
            slope = gradient.dot(state["d"])
            if slope > -group["tolerance_change"]:
                break
            before = loss
            if group["line_search_fn"] is not None:
                loss, gradient, length, count = self._search(
                    closure, loss, gradient, slope, group["max_eval"] - evaluated
                )
                state["t"] = length
                state["func_evals"] += count
                evaluated += count
            self._move(state["d"], length)
            if iteration == group["max_iter"]:
                break
            if group["line_search_fn"] is None:
                loss, gradient, evaluated = float(evaluate()), self._gradient(), evaluated + 1
            if evaluated >= group["max_eval"] or gradient.abs().max() <= group["tolerance_grad"]:
                break
            moved = state["d"].mul(length).abs().max() <= group["tolerance_change"]
            if moved or abs(loss - before) < group["tolerance_change"]:
                break
        for name in ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss"):
            state[name] = state.pop(name)  # the order in which PyTorch saves them
        return first
