"""Runs `modules.txt`, a program about modules and optimizers of one statement a line."""

# The classes below are written as users write them, over whichever module is under test.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, disallow-subclassing-any=False
from __future__ import annotations

import copy
import re
import warnings
from pathlib import Path
from typing import Any

LINES = Path(__file__).with_name("modules.txt").read_text(encoding="utf-8").splitlines()


def names(torch: Any) -> dict[str, Any]:
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(3, 4)
            self.b = nn.ModuleList([nn.Linear(4, 4), nn.Identity()])
            self.register_buffer("c", torch.ones(2))
            self.register_buffer("n", torch.zeros(1), persistent=False)
            self.d = nn.Parameter(torch.zeros(2))
            self.e = nn.ModuleDict({"x": nn.ReLU()})
            self.none = None
            self.register_parameter("pn", None)

        def forward(self, x):
            return self.b[0](self.a(x)).sum() + self.d.sum()

    class Bad(nn.Module):
        def __init__(self):
            self.a = nn.Linear(1, 1)

    class Bad2(nn.Module):
        def __init__(self):
            self.a = nn.Parameter(torch.ones(1))

    class Bad3(nn.Module):
        def __init__(self):
            self.register_buffer("a", torch.ones(1))

    def settled(module):
        with torch.no_grad():
            for i, p in enumerate(module.parameters()):
                p.copy_(torch.linspace(-0.5, 1.0 + i, p.numel()).reshape(p.shape))
        return module

    def trained(make):
        parameters = [nn.Parameter(torch.tensor([1.0, -2.0])), nn.Parameter(torch.tensor([[0.5]]))]
        optimizer = make(parameters)
        for i in range(3):
            optimizer.zero_grad(set_to_none=i % 2 == 0)
            (parameters[0] ** 2).sum().backward()
            (parameters[1] ** 3).sum().backward()
            optimizer.step()
        return optimizer, parameters

    def described(optimizer, parameters):
        state = {
            number: {
                key: (v.tolist(), v._version, str(v.dtype)) if isinstance(v, torch.Tensor) else v
                for key, v in values.items()
            }
            for number, values in optimizer.state_dict()["state"].items()
        }
        values = [(p.tolist(), p._version, p.grad._version) for p in parameters]
        return values, state, optimizer.state_dict()["param_groups"]

    return locals() | {"copy": copy}


def outcomes(torch: Any) -> list[str]:
    """What each line gives, as text: numbers to five digits, errors as type and message."""
    scope = names(torch)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in LINES:
            try:
                try:
                    code = compile(line, "<line>", "eval")
                except SyntaxError:
                    exec(line, scope)
                    value: Any = None
                else:
                    value = eval(code, scope)
                text = str(value)
            except Exception as error:
                message = str(error).split("\nException raised from")[0]
                text = f"!{type(error).__name__}: {message}"
            found.append(re.sub(r"-?\d+\.\d+(e-?\d+)?", lambda m: f"{float(m[0]) + 0.0:.5g}", _nameless(text)))
    return found


def _nameless(text: str) -> str:
    """Without addresses, and without the module that a class says it is from."""
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    return re.sub(r"(?:torch\.nn\.modules|guardfix\.runtime_shim\.nn)\.\w+\.", "", text)
