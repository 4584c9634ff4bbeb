"""What happens where, by small programs: those that the machine and concrete runs disagreed on first."""

from __future__ import annotations

import textwrap

import pytest

from guardfix.linter.flow.events import EventKind
from tests.linter.flow.drawn.watching import run_abstractly

SAVED = EventKind.INFERENCE_SAVED
WRITTEN = EventKind.INFERENCE_WRITTEN
UNRECORDED = EventKind.NOT_RECORDED
LEAF = EventKind.LEAF_WRITTEN
VIEW = EventKind.VIEW_WRITTEN
VERSION = EventKind.INFERENCE_VERSION

_BEGIN = """
import torch
import torch.nn.functional as F
from torch import nn
w = torch.ones(2, 2, requires_grad=True)
with torch.inference_mode():
    t = torch.ones(2, 2)
"""

CASES = [
    # views of which nothing is recorded
    *(
        pytest.param(
            f"a = torch.ones(4)\n{made}\n{then}",
            {row: [(VIEW, True)]} if row else {},
            id=f"{made}; {then}".replace("\n   ", ""),
        )
        for made, then, row in (
            ("with torch.no_grad():\n    x = w.view(4)", "x.requires_grad_()\nx.add_(1)", 12),
            ("with torch.no_grad():\n    x = a.view(4)", "x.requires_grad_()\nx.add_(1)", 12),
            ("with torch.inference_mode():\n    x = a.view(4)", "x.requires_grad_()\nx.add_(1)", 12),
            ("with torch.no_grad():\n    x = w.view(4)", "y = x[0]\ny.add_(1)", 12),
            ("with torch.no_grad():\n    x = w * 2", "y = x[0]\ny.add_(w[0])", 0),
            ("with torch.no_grad():\n    x = a.view(4)", "x.requires_grad_()\na.add_(1)", 0),
        )
    ),
    # generators that end, and defaults that would raise
    pytest.param(
        "c = None\ndef f(x, d=c.dtype):\n    with torch.no_grad():\n        return x * 2\nf(w).sum().backward()",
        {12: [(UNRECORDED, True)]},
        id="a default that raises",
    ),
    pytest.param(
        "def g():\n    for i in range(2):\n        yield w * h(i)\na = g()\nlist(a)\nlist(a)\nfor y in a:\n    y.backward()",
        {},
        id="a generator that has ended",
    ),
    pytest.param(
        "def g():\n    with torch.no_grad():\n        yield h(1)\na = g()\nfor y in a:\n    pass\nfor y in a:\n    (w * y).sum().backward()",
        {},
        id="a generator that a loop has ended",
    ),
    pytest.param(
        "def g():\n    with torch.no_grad():\n        yield h(1)\n        yield h(2)\na = g()\nfor y in a:\n    break\nfor y in a:\n    (w * y).sum().backward()",
        {16: [(UNRECORDED, True)]},
        id="a loop over a generator that another one has left",
    ),
    # what is saved
    pytest.param("F.kl_div(t, w)", {8: [(SAVED, True)]}, id="an op saves what its row says"),
    pytest.param(
        "with torch.inference_mode():\n    x = torch.ones(2, 2, requires_grad=True)\nF.mse_loss(x, torch.ones(2, 2))",
        {10: [(SAVED, False)]},
        id="because of an inference tensor, with a normal one beside it",
    ),
    pytest.param("F.kl_div(t, w, log_target=True)", {8: [(SAVED, False)]}, id="an option decides what is saved"),
    pytest.param("torch.einsum('ij,ij->', t, w)", {8: [(SAVED, False)]}, id="saved in some calls only"),
    pytest.param(
        "torch.einsum('ij,jk->ik', t, w)", {8: [(SAVED, True)]}, id="operands that are multiplied as they are"
    ),
    pytest.param("torch.einsum('ij,kl->kl', t, w)", {8: [(SAVED, False)]}, id="an operand that is summed first"),
    pytest.param("t @ w", {8: [(SAVED, True)]}, id="a product of new tensors"),
    pytest.param("t.transpose(0, 1) @ w", {8: [(SAVED, False)]}, id="of a view a product may save a copy"),
    pytest.param("F.linear(t[:, 1:], w)", {8: [(SAVED, False)]}, id="of a view a layer may save a copy"),
    pytest.param(
        """\
        class Keep(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                ctx.save_for_backward(x)
                return y * 2
        Keep.apply(t, torch.ones(2, 2))
        """,
        {},
        id="a Function that is given nothing that requires grad saves nothing",
    ),
    pytest.param(
        """\
        class Keep(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                ctx.save_for_backward(x)
                return y * 2
        Keep.apply(t, w)
        """,
        {11: [(SAVED, True)]},
        id="a Function saves",
    ),
    pytest.param(
        "with torch.no_grad():\n    v = w.view(2, 2)\n(v * t).sum().backward()",
        {10: [(SAVED, False)]},
        id="a view that nothing is recorded of gets no gradient",
    ),
    pytest.param(
        """\
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * x
        with torch._C._AutoDispatchBelowADInplaceOrView():
            Square.apply(w).backward(w)
        """,
        {},
        id="a Function is recorded as grad mode says",
    ),
    pytest.param(
        "with torch.inference_mode():\n    layer = nn.LayerNorm(2)\nlayer(t)",
        {},
        id="a layer of inference tensors records nothing",
    ),
    pytest.param(
        "bn = nn.BatchNorm1d(2)\nkept = [bn(w), [t] * 2]\n(kept[1][0] * w).sum()",
        {10: [(SAVED, True)]},
        id="an element of a list that repeats one",
    ),
    # what is written
    pytest.param("F.relu(t, inplace=True)", {8: [(WRITTEN, True)]}, id="a function in place"),
    pytest.param("nn.ReLU(inplace=True)(t)", {8: [(WRITTEN, True)]}, id="a layer in place"),
    pytest.param(
        """\
        with torch.inference_mode():
            bn = nn.BatchNorm1d(2)
        bn.eval()(torch.ones(2, 2))
        """,
        {},
        id="statistics aren't written in eval mode",
    ),
    pytest.param(
        """\
        net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2))
        for p in net.parameters():
            p.requires_grad = False
        net[2].weight.mul_(2)
        """,
        {},
        id="a loop does to many what it does to two",
    ),
    pytest.param(
        """\
        net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        def init(m):
            if isinstance(m, nn.Linear):
                m.weight.fill_(1)
        net.apply(init)
        """,
        {11: [(LEAF, True)]},
        id="apply runs a function on all layers",
    ),
    pytest.param(
        """\
        def step(p):
            loss = (p * 2).sum()
            loss.backward()
            p -= 0.1 * p.grad
        """,
        {11: [(LEAF, True)]},
        id="what has a gradient is a leaf",
    ),
    pytest.param(
        """\
        def step(p, loss):
            loss.backward()
            p -= 0.1 * p.grad
        """,
        {},
        id="what is differentiated comes from callers that may be under no_grad",
    ),
    pytest.param("x = torch.ones(2, 2)\nx.data = t\nx.add_(1)", {}, id="what is given data keeps its counter"),
    pytest.param("w[0].add_(1)", {8: [(LEAF, True)]}, id="a view of a leaf is written"),
    pytest.param("w.logical_not_()", {8: [(LEAF, False)]}, id="what isn't recorded may write a leaf"),
    pytest.param(
        "with torch.no_grad():\n    x = w * 2\nx.requires_grad_()\nx.mul_(2)",
        {11: [(LEAF, True)]},
        id="a leaf since then",
    ),
    pytest.param("x = torch.empty(2, 2).copy_(w)\nx.mul_(2)", {}, id="what was written with a gradient is no leaf"),
    pytest.param("x = w.detach_()\nw.mul_(2)", {}, id="a leaf that was detached"),
    pytest.param("x = w * 2\nx.requires_grad_()\nx.mul_(2)", {}, id="requires_grad_ makes no leaf"),
    pytest.param(
        "with torch.no_grad():\n    v = w.t()\nv.add_(1)",
        {10: [(VIEW, True)]},
        id="a view made under no_grad is written",
    ),
    pytest.param(
        "with torch.no_grad():\n    v = w.detach()[0]\nv.add_(1)",
        {10: [(VIEW, False)]},
        id="a view of what was detached: refused if what is written requires grad",
    ),
    pytest.param(
        "with torch.inference_mode():\n    layer = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(layer.parameters())\noptimizer.step()",
        {11: [(WRITTEN, False)]},
        id="a step changes what has a gradient",
    ),
    pytest.param("t.resize_(4)", {8: [(WRITTEN, False)]}, id="another size may be the same"),
    pytest.param("with torch.inference_mode():\n    t.resize_(4)", {}, id="in the mode it may have any"),
    pytest.param("with torch.no_grad():\n    w.detach().resize_(4)", {}, id="a normal tensor, too"),
    # whose version is asked for
    pytest.param("seen = t._version", {8: [(VERSION, True)]}, id="an inference tensor has no version"),
    pytest.param("t.view(4)._version", {8: [(VERSION, True)]}, id="nor has its view"),
    pytest.param(
        "with torch.inference_mode():\n    seen = t._version", {9: [(VERSION, True)]}, id="nor in inference mode"
    ),
    pytest.param("t.detach()._version", {}, id="what is detached outside the mode has one"),
    pytest.param("t.clone()._version", {}, id="so has a copy"),
    pytest.param(
        "with torch.inference_mode():\n    v = w.view(4)\nv._version", {}, id="so has a view of a normal tensor"
    ),
    pytest.param("seen = None if t.is_inference() else t._version", {}, id="the program asks first"),
    pytest.param(
        "try:\n    seen = t._version\nexcept RuntimeError:\n    seen = None",
        {},
        id="the program expects that it raises",
    ),
    # what isn't recorded
    pytest.param(
        "with torch.no_grad():\n    v = w.view(4)\nv.sum().backward()", {}, id="a view requires grad as its base does"
    ),
    pytest.param(
        "x = torch.zeros(2, 2)\nwith torch.no_grad():\n    x += w\nx.sum().backward()",
        {11: [(UNRECORDED, True)]},
        id="written under no_grad with what requires grad",
    ),
    pytest.param(
        "with torch.no_grad():\n    x = w * 2\nnn.ReLU()(x).sum().backward()",
        {10: [(UNRECORDED, True)]},
        id="a layer without parameters",
    ),
    pytest.param(
        "with torch.no_grad():\n    x = w[[0, 1]]\nx.sum().backward()",
        {10: [(UNRECORDED, True)]},
        id="an index by a list",
    ),
    # what shares with another tensor
    *(
        pytest.param(
            f"x = torch.ones(2, 2, requires_grad=True)\ny = {call}\ny.requires_grad_(False)\nx.add_(1)",
            {},
            id=f"a leaf that may be the same: {call}",
        )
        for call in (
            "x.contiguous()",
            "x.to(torch.float32)",
            "x.to('cpu')",
            "x.cpu()",
            "x.float()",
            "x.double().float()",
            "x.type_as(w)",
            "x.resolve_conj()",
            "x.resolve_neg()",
            "torch.ravel(x)",
        )
    ),
    pytest.param(
        "x = torch.ones(2, 2, requires_grad=True)\nwith torch.no_grad():\n    y = x.squeeze()\n"
        "y.requires_grad_(False)\nx.add_(1)",
        {12: [(LEAF, True)]},
        id="a view never is the leaf itself",
    ),
    pytest.param(
        "x = torch.ones(2, 2, requires_grad=True)\ny = x.float()\nx.requires_grad_(False)\ny.add_(1)",
        {},
        id="what a leaf may have been handed back as",
    ),
    pytest.param(
        "with torch.no_grad():\n    x = w * 2\ny = x.cpu()\nx.requires_grad_()\ny.sum().backward()",
        {},
        id="it may require grad since",
    ),
    pytest.param(
        "x = w * 2\ny = x.contiguous()\ny.detach_()\nx.sum().backward()", {}, id="detached, perhaps, through it"
    ),
    pytest.param(
        "with torch.no_grad():\n    x = w * 2\nx.view(-1).add_(w.view(-1))\nx.sum().backward()",
        {},
        id="a write to a view gives its base a graph",
    ),
    pytest.param(
        "with torch.no_grad():\n    x = w * 2\ny = x[0]\nx[1] = w[1]\ny.sum().backward()",
        {},
        id="a write to a base gives its views a graph",
    ),
    pytest.param(
        "with torch.no_grad():\n    x = w * 2\ny = x.detach()\ny.add_(w)\nx.sum().backward()",
        {12: [(UNRECORDED, True)]},
        id="a write to what was detached doesn't",
    ),
    # the way through a program
    pytest.param(
        "x = w\nfor i in range(2):\n    x = torch.ones(2, 2)\nx * t", {}, id="a range that is known runs as often"
    ),
    pytest.param(
        """\
        inner = torch.inference_mode()
        with torch.inference_mode():
            inner.__enter__()
            inner.__exit__(None, None, None)
            x = torch.ones(2, 2)
        x.add_(1)
        """,
        {13: [(WRITTEN, True)]},
        id="a guard that is left by hand leaves those around it",
    ),
    pytest.param(
        """\
        off = torch.set_grad_enabled(False)
        off.__enter__()
        off.__exit__(None, None, None)
        w.mul_(2)
        """,
        {11: [(LEAF, True)]},
        id="what sets the mode when it is made, and was entered too",
    ),
]


@pytest.mark.parametrize(("program", "expected"), CASES)
def test_events(program: str, expected: dict[int, list[tuple[EventKind, bool]]]) -> None:
    abstract = run_abstractly(_BEGIN + textwrap.dedent(program))
    found = {row: [(event.kind, event.certain) for event in events] for row, events in abstract.events.items()}
    assert found == expected
