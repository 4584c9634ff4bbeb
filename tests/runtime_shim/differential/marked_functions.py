"""What programs of the profile "long" may use beside what `prelude` defines: Functions with all marks, guards entered by
functions and generators, libraries of ops.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, disallow-subclassing-any=False
from __future__ import annotations

from typing import Any


def define(torch: Any, known: dict[str, Any]) -> dict[str, Any]:
    """`known` has what `prelude.define` made. `libraries` holds what must be taken back after the program."""
    Square, Exponential, seen, modes = (known[name] for name in ("Square", "Exponential", "seen", "modes"))
    libraries = []

    class WithSetup(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0], output)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[1]

    class DirtyView(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x.view_as(x)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class DirtyTwice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x, y)
            return x.add_(1), y.mul_(2)

        @staticmethod
        def backward(ctx, g, h):
            return g, h * 2

    class DirtyNonDifferentiable(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)
            ctx.mark_non_differentiable(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    class ViewOfInput(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1] if x.dim() else x.view(1)

        @staticmethod
        def backward(ctx, g):
            return g.sum()

    class InsideAnother(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            seen.append(Square.apply(x).requires_grad)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return Exponential.apply(ctx.saved_tensors[0]) * g

    class SavesResult(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = x.tanh()
            ctx.save_for_backward(x, result)
            return result

        @staticmethod
        def backward(ctx, g):
            return g * (1 - ctx.saved_tensors[1] ** 2)

    class SavesIntermediate(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            half = x / 2
            ctx.half = half
            ctx.save_for_backward(half, None)
            return half * 2

        @staticmethod
        def backward(ctx, g):
            half, nothing = ctx.saved_tensors
            seen.append((half.requires_grad, half is ctx.half, nothing))
            return g + half * 0

    class GradientsInside(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                inner = x.detach().requires_grad_()
                result = (inner * inner).sin()
            ctx.save_for_backward(inner)
            return result.detach()

        @staticmethod
        def backward(ctx, g):
            (inner,) = ctx.saved_tensors
            with torch.enable_grad():
                result = (inner * inner).sin()
            return torch.autograd.grad(result, inner, g)

    class ReturnsNone(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, None, 5

        @staticmethod
        def backward(ctx, *gs):
            seen.append([None if g is None else g.tolist() for g in gs])
            return gs[0]

    class MixedResults(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            whole = x.long()
            return x * 2, whole, x.detach()

        @staticmethod
        def backward(ctx, g, w, d):
            seen.append((w is None, d is None))
            return g * 2

    class MarksAll(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            x.add_(y.detach())
            ctx.mark_dirty(x)
            order = y.argsort(0)
            ctx.mark_non_differentiable(order)
            return x, order, y * 2

        @staticmethod
        def backward(ctx, g, o, h):
            seen.append((g is None, o is None, h is None, ctx.needs_input_grad))
            return g, h

    class InputAndResult(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x, x * 2

        @staticmethod
        def backward(ctx, g, h):
            return g + 2 * h

    class Detached(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.detach()

        @staticmethod
        def backward(ctx, g):
            return g * 4

    class SwapsSaved(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_backward(x * 2)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(len(ctx.saved_tensors))
            return g * ctx.saved_tensors[0]

    def raising(*values):
        raise ValueError("raised on purpose")

    def within(guards, function):
        """Calls the function inside the guards, the first outermost."""
        import contextlib

        with contextlib.ExitStack() as opened:
            for guard in guards:
                opened.enter_context(guard)
            return function()

    def interrupted(guards, function):
        """The same, and the guards are left by an exception."""
        import contextlib

        result = None
        try:
            with contextlib.ExitStack() as opened:
                for guard in guards:
                    opened.enter_context(guard)
                result = function()
                raise ValueError
        except ValueError:
            seen.append(modes())
        return result

    def stepping(guards, function):
        for guard in guards:
            with guard:
                seen.append(modes())
                yield function()
        seen.append(modes())

    def shallow(value):
        import copy

        return copy.copy(value)

    def noting(key, kernel):
        def noted_kernel(x):
            seen.append((key, x.requires_grad, x.is_inference(), modes()))
            return kernel(x)

        return noted_kernel

    def registered(op, schema, **kernels):
        """Defines torch.ops.drawn.<op>; `libraries` holds what must be taken back after the program."""
        library = torch.library.Library("drawn", "FRAGMENT")
        libraries.append(library)
        library.define(f"{op}{schema}")
        for key, kernel in kernels.items():
            library.impl(op, kernel, key)

    return {name: value for name, value in locals().items() if name not in ("torch", "known")}
