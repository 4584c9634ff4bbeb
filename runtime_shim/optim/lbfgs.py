"""L-BFGS: steps by an estimate of the inverse Hessian that is kept as a few pairs of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..aten import FUNCTIONS
from ..core.gradient_modes import enable_grad, no_grad
from ..core.tensor import Tensor
from .optimizer import Optimizer, check_learning_rate


class LBFGS(Optimizer):
    """Minimizes what `step(closure)` evaluates again and again (Liu and Nocedal 1989).

    `line_search_fn="strong_wolfe"` raises NotImplementedError.
    """

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
        if line_search_fn is not None:
            raise NotImplementedError(f"the shim has no line_search_fn={line_search_fn!r} in LBFGS; supported: None")
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
            self._move(state["d"], length)
            if iteration == group["max_iter"]:
                break
            before, loss = loss, float(evaluate())
            gradient, evaluated = self._gradient(), evaluated + 1
            if evaluated >= group["max_eval"] or gradient.abs().max() <= group["tolerance_grad"]:
                break
            moved = state["d"].mul(length).abs().max() <= group["tolerance_change"]
            if moved or abs(loss - before) < group["tolerance_change"]:
                break
        for name in ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss"):
            state[name] = state.pop(name)  # the order in which PyTorch saves them
        return first
