"""What every program may use beside `torch`: custom Functions, hooks and small functions, defined over the
given module.

Each definition stands by itself (and names the others it uses), so that a script can be printed with only
those it needs. `marked_functions` has those of the profile "long".
"""

# Function.forward and .backward take the arguments that each Function is about: no common signature to keep.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, disallow-subclassing-any=False
from __future__ import annotations

from typing import Any

from . import marked_functions


def define(torch: Any) -> dict[str, Any]:
    """The names that a program sees, `torch` among them. `seen` is where hooks and Functions write what they
    met.
    """
    F = torch.nn.functional
    seen = []

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    class Exponential(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = x.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            seen.append(ctx.needs_input_grad)
            return g * y, g * x

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None

    class Modes(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append((torch.is_grad_enabled(), torch.is_inference_mode_enabled(), x.requires_grad))
            return x + 1

        @staticmethod
        def backward(ctx, g):
            seen.append((torch.is_grad_enabled(), torch.is_inference_mode_enabled(), g.requires_grad))
            return g * 3

    class AddsOne(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class AddsOneUnmarked(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class DirtyNotReturned(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    class WithMask(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            mask = x > 0
            ctx.mark_non_differentiable(mask)
            return x * 2, mask

        @staticmethod
        def backward(ctx, g, _):
            return g * 2

    class WithConstant(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            constant = x * 0 + 1
            ctx.mark_non_differentiable(constant)
            return x * 2, constant

        @staticmethod
        def backward(ctx, g, g_constant):
            seen.append(None if g_constant is None else g_constant.tolist())
            return g * 2

    class AsIs(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 5

    class Flat(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.shape = x.shape
            return x.view(-1)

        @staticmethod
        def backward(ctx, g):
            return g.view(ctx.shape) * 5

    class TwoResults(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            seen.append((g.tolist(), h.tolist()))
            return g * 2 + h * 3

    class Unmaterialized(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            seen.append((g is None, h is None))
            if g is None or h is None:
                return h * 3 if g is None else g * 2
            return g * 2 + h * 3

    class OnceOnly(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

    class TooManyGradients(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g, g

    class WrongShape(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return torch.ones(7)

    class NoGradient(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return None

    class NoBackward(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

    class SavesNumber(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(3)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    class InferenceInside(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch.inference_mode():
                return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class SavesInference(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch.inference_mode():
                kept = x * 2
            ctx.save_for_backward(kept)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    class Truncated(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.long()

        @staticmethod
        def backward(ctx, g):
            return g

    def doubled(gradient):
        return gradient * 2

    def noted(gradient):
        seen.append((gradient.tolist(), gradient.is_inference(), gradient.requires_grad))

    def halved_in_place(gradient):
        gradient.mul_(0.5)

    def modes(_=None):
        return torch.is_grad_enabled(), torch.is_inference_mode_enabled()

    def doubles(tensor):
        return tensor * 2

    def tripled_in_place(tensor):
        return tensor.mul_(3)

    def powers(tensor):
        result = tensor
        while True:
            seen.append(modes())
            yield result
            result = result * tensor

    def in_thread(function):
        import threading

        results = []

        def call():
            try:
                results.append(function())
            except Exception as error:
                results.append(f"{type(error).__name__}: {error}")

        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        return results[0]

    def pickled(value):
        import pickle

        return pickle.loads(pickle.dumps(value))

    def saved(value):
        import io

        stream = io.BytesIO()
        torch.save(value, stream)
        stream.seek(0)
        return torch.load(stream)

    def copied(value):
        import copy

        return copy.deepcopy(value)

    def settled(module):
        with torch.no_grad():
            for number, parameter in enumerate(module.parameters()):
                size = parameter.numel()
                parameter.copy_(torch.linspace(-0.5, 1.0 + number, size).reshape(parameter.shape))
        return module

    return {**(names := locals()), **marked_functions.define(torch, names)}
