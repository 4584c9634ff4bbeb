"""What drawn programs are made of: `{}` stands for a matrix."""

from __future__ import annotations

HEADER = """\
import contextlib
import functools
import torch
import torch.nn.functional as F
from torch import nn
"""

LIBRARY = {
    "quiet": """\
@contextlib.contextmanager
def quiet():
    with {guard}:
        yield
""",
    "Quietly": """\
class Quietly:
    def __enter__(self):
        self.guard = {guard}
        self.guard.__enter__()
        return self

    def __exit__(self, *error):
        self.guard.__exit__(*error)
""",
    "Holder": """\
class Holder:
    def __init__(self, kept):
        self.kept = kept
        self.cached = None

    def update(self, given):
        self.kept = given{operator}self.kept
        return self.kept

    {decorator}def fill(self, given):
        if self.cached is None:
            self.cached = given * 2
        return self.cached
""",
    "Net": """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.scale = nn.Parameter(torch.ones(2, 2))
        self.seen = None

    {decorator}def forward(self, x):
        x = {body}
        self.seen = x
        return x
""",
    "Double": """\
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result = {body}
        ctx.save_for_backward({saved})
        return result

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2
""",
    "pieces": """\
{decorator}def pieces(x):
    for part in (x, {body}):
        yield part
""",
}

OPERATORS = ["+", "-", "*", "/", "@"]
DECORATORS = [
    "torch.inference_mode()",
    "torch.inference_mode()",
    "torch.inference_mode",
    "torch.no_grad()",
    "torch.no_grad",
    "torch.enable_grad()",
    "torch.inference_mode(False)",
]
LAYERS = [
    "Linear(2, 2)",
    "Linear(2, 2, bias=False)",
    "ReLU()",
    "Sequential(nn.Linear(2, 2), nn.Tanh())",
    "LayerNorm(2)",
]
FACTORIES = [
    "torch.ones(2, 2)",
    "torch.zeros(2, 2)",
    "torch.rand(2, 2)",
    "torch.full((2, 2), 0.5)",
    "torch.tensor([[0.5, 1.0], [1.5, 2.0]])",
    "torch.ones(2, 2, requires_grad=True)",
    "torch.tensor([[0.5, 1.0], [1.5, 2.0]], requires_grad=True)",
    "torch.zeros_like({})",
    "torch.ones_like({}, requires_grad=True)",
    "torch.empty(2, 2).copy_({})",
    "nn.Parameter(torch.ones(2, 2))",
    "nn.Parameter({})",
    "nn.Parameter({}.detach())",
    "nn.Parameter({}.clone(), requires_grad=False)",
]
EXPRESSIONS = [
    "{} * {}",
    "{} + {}",
    "{} @ {}",
    "{} * 2",
    "{} + 1",
    "1 - {}",
    "{} ** 2",
    "-{}",
    "{}.clone()",
    "{}.detach()",
    "{}.detach().clone()",
    "{}.data",
    "{}.view(2, 2)",
    "{}.t()",
    "{}.T",
    "{}[:]",
    "{}[[0, 1]]",
    "{}.reshape(2, 2)",
    "{}.contiguous()",
    "{}.to(torch.float32)",
    "{}.float()",
    "{}.double().float()",
    "{}.expand(2, 2)",
    "{}.unsqueeze(0).squeeze(0)",
    "{}.sum() * {}",
    "{}.sum(0) + {}",
    "{}.mean() + {}",
    "torch.cat([{}, {}])[:2]",
    "torch.stack([{}, {}])[0]",
    "torch.stack([{}, {}]).mean(0)",
    "torch.where({} > 0, {}, {})",
    "torch.einsum('ij,jk->ik', {}, {})",
    "torch.addcmul({}, {}, {})",
    "torch.clamp({}, min=0)",
    "F.relu({})",
    "F.linear({}, {})",
    "F.softmax({}, dim=-1)",
    "F.mse_loss({}, {}) * {}",
    "F.l1_loss({}, {}) + {}",
    "F.kl_div({}, {}, reduction='none')",
    "F.binary_cross_entropy_with_logits({}, {}, reduction='none')",
    "F.dropout({}, training=False)",
    "{} if on else {}",
]
WRITES = [
    "{}.add_({})",
    "{}.mul_({})",
    "{}.mul_(2)",
    "{}.zero_()",
    "{}.copy_({})",
    "{}.fill_(1)",
    "{}.detach().add_(1)",
    "{}.data.mul_(2)",
    "{}.view(4).add_(1)",
    "{}.t().add_({})",
    "{}[0].add_(1)",
    "{}[0] = 1",
    "{}[0] = {}[1]",
    "{} += 1",
    "{} *= {}",
    "{}.data = {}",
    "{}.requires_grad_()",
    "{}.requires_grad = True",
    "{}.requires_grad_(False)",
    "torch.add({}, 1, out={})",
    "torch.mul({}, {}, out={})",
    "nn.init.zeros_({})",
]
DERIVATIVES = [
    "{}.sum().backward()",
    "({} * {}).sum().backward()",
    "({} + {}).sum().backward(retain_graph=True)",
    "F.mse_loss({}, {}).backward()",
    "torch.autograd.grad({}.sum(), [{}], allow_unused=True)",
    "torch.autograd.backward(({} * 2).sum())",
    "{}.backward(torch.ones(2, 2))",
]
CONDITIONS = [
    "on",
    "not on",
    "torch.is_grad_enabled()",
    "torch.is_inference_mode_enabled()",
    "{}.requires_grad",
    "{}.is_inference()",
    "not {}.is_inference()",
]
