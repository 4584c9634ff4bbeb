"""Draws programs, each by its number.

Every tensor is a matrix of two rows and two columns, so that nearly every statement is valid but for what the modes do;
what isn't, `agreement` takes out. Conditions are over what is known: flags that are set once, and what a tensor says of
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from tests.runtime_shim.differential.generator.draw import Draw

from .pieces import (
    CONDITIONS,
    DECORATORS,
    DERIVATIVES,
    EXPRESSIONS,
    FACTORIES,
    HEADER,
    LAYERS,
    LIBRARY,
    OPERATORS,
    WRITES,
)
from .table_calls import CallPattern, drawn_call

Statement: TypeAlias = Callable[["_Drawing"], None]


def draw(number: int) -> str:
    """The program of this number."""
    return _Drawing(Draw(f"flow/{number}")).program()


class _Drawing:
    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.depth = 0
        self.tensors: list[str] = []
        self.callables: list[str] = []
        """What takes one matrix and gives one."""
        self.modules: list[str] = []
        self.lists: list[str] = []
        self.holders: list[str] = []
        self.flags: dict[str, bool] = {}
        self.defined: set[str] = set()
        self.made = 0
        self.looping = 0

    # -- the whole

    def program(self) -> str:
        draw = self.draw
        self.defined = set(draw.some(sorted(LIBRARY), draw.between(0, 3)))
        parts = [HEADER]
        for name in sorted(self.defined):
            self.tensors = ["x"]
            text = LIBRARY[name].format(
                guard=self.guard(),
                decorator=self.decorator("    " if name != "pieces" else ""),
                operator=draw.pick([" + ", " * ", " @ "]),
                body={"Net": self.net_body(), "Double": draw.pick(["x * 2", "x * x", "x.clone()"])}.get(
                    name, self.expression(1)
                ),
                saved=draw.pick(["x", "result", "x.detach()"]),
            )
            parts.append(text)
        if "Double" in self.defined:
            self.callables.append("Double.apply")
        for number in range(draw.between(0, 3)):
            parts.append(self.function(f"helper{number}"))
            self.callables.append(f"helper{number}")
        self.tensors = []
        self.opening()
        for _ in range(draw.between(8, 16)):
            self.statement()
        return "\n".join([*parts, *self.lines, ""])

    def net_body(self) -> str:
        return self.draw.pick(
            ["self.first(x) * self.scale", "F.relu(self.first(x))", "x + self.scale", "self.first(x)"]
        )

    def function(self, name: str) -> str:
        """A helper: it takes a matrix and gives one."""
        begun, self.lines, self.depth = self.lines, [], 1
        self.tensors = ["x"]
        lists, self.lists = self.lists, []
        callables = list(self.callables)
        for _ in range(self.draw.between(0, 3)):
            self.draw.weighted(_IN_FUNCTIONS)(self)
        self.line(f"return {self.expression(2)}")
        self.callables, self.lists = callables, lists
        body, self.lines, self.depth = self.lines, begun, 0
        return "\n".join([f"{self.decorator('')}def {name}(x):", *body, ""])

    def decorator(self, indent: str) -> str:
        if self.draw.chance(0.55):
            return ""
        return f"@{self.draw.pick(DECORATORS)}\n{indent}"

    def opening(self) -> None:
        self.flags = {"on": self.draw.chance(0.5)}
        self.line(f"on = {self.flags['on']}")
        self.bind("torch.full((2, 2), 0.5)")
        self.bind("torch.full((2, 2), 0.25, requires_grad=True)")
        if "Net" in self.defined:
            self.line("net = Net()")
            self.modules.append("net")
            self.callables.append("net")
        if self.draw.chance(0.4):
            self.line(f"layer = nn.{self.draw.pick(LAYERS)}")
            self.modules.append("layer")
            self.callables.append("layer")
        if "Holder" in self.defined:
            self.line(f"holder = Holder({self.tensor()})")
            self.holders.append("holder")

    # -- writing

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def name(self, prefix: str = "t") -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    def bind(self, expression: str) -> str:
        """Give a variable a matrix; seldom one that has one already."""
        if len(self.tensors) > 2 and self.draw.chance(0.12) and not self.looping:
            name = self.draw.pick(self.tensors)
        else:
            name = self.name()
        self.line(f"{name} = {expression}")
        if name not in self.tensors:
            self.tensors.append(name)
        return name

    @contextmanager
    def block(self, header: str, *, may_be_skipped: bool = False) -> Iterator[None]:
        """What is inside is indented; what a block that may be skipped binds isn't there behind it."""
        self.line(header)
        known = [list(names) for names in (self.tensors, self.callables, self.lists)]
        self.depth += 1
        yield
        self.depth -= 1
        if may_be_skipped:
            self.tensors, self.callables, self.lists = known

    # -- expressions

    def tensor(self) -> str:
        count = len(self.tensors)
        # The youngest carry what the last statements made.
        return self.tensors[max(self.draw.below(count), self.draw.below(count))]

    def called(self, pattern: CallPattern) -> str:
        return pattern.text.format(*(self.tensor() for _ in range(pattern.tensors)))

    def expression(self, deepest: int = 2) -> str:
        draw = self.draw
        if deepest and draw.chance(0.2):
            return f"({self.expression(deepest - 1)}) {draw.pick(OPERATORS)} {self.tensor()}"
        if self.callables and draw.chance(0.25):
            return f"{draw.pick(self.callables)}({self.tensor()})"
        if self.lists and draw.chance(0.1):
            return f"{draw.pick(self.lists)}[{draw.below(2)}]"
        if self.holders and draw.chance(0.1):
            return draw.pick(["holder.kept", f"holder.update({self.tensor()})", f"holder.fill({self.tensor()})"])
        if draw.chance(0.3):
            return self.called(drawn_call(draw, "value"))
        return self.called(CallPattern((text := draw.pick(EXPRESSIONS)), text.count("{}")))

    def guard(self) -> str:
        draw = self.draw
        on = draw.pick([True, False])
        forms = [
            ("torch.inference_mode()", 5.0),
            ("torch.no_grad()", 3.0),
            ("torch.inference_mode(False)", 1.5),
            ("torch.enable_grad()", 1.5),
            (f"torch.set_grad_enabled({on})", 1.5),
            (f"torch.inference_mode(mode={on})", 1.0),
        ]
        if self.flags:
            forms += [
                ("torch.inference_mode(on)", 0.7),
                ("torch.set_grad_enabled(on)", 0.7),
                ("torch.inference_mode() if on else contextlib.nullcontext()", 0.7),
                ("torch.no_grad(), torch.inference_mode(False)", 0.4),
                ("torch.inference_mode(), torch.enable_grad()", 0.4),
            ]
            forms += [(f"{name}()", 2.0) for name in sorted(self.defined & {"quiet", "Quietly"})]
        return draw.weighted(forms)

    # -- statements

    def statement(self) -> None:
        self.draw.weighted(_STATEMENTS if self.depth < 3 else _IN_FUNCTIONS)(self)

    def body(self, least: int = 1, most: int = 3) -> None:
        for _ in range(self.draw.between(least, most)):
            self.statement()


def _value(drawing: _Drawing) -> None:
    drawing.bind(drawing.expression())


def _created(drawing: _Drawing) -> None:
    drawing.bind(drawing.draw.pick(FACTORIES).format(drawing.tensor()))


def _write(drawing: _Drawing) -> None:
    draw = drawing.draw
    if draw.chance(0.3):
        drawing.line(drawing.called(drawn_call(draw, "write")))
        return
    text = draw.pick(WRITES)
    drawing.line(drawing.called(CallPattern(text, text.count("{}"))))


def _other(drawing: _Drawing) -> None:
    drawing.line(drawing.called(drawn_call(drawing.draw, "other")))


def _derive(drawing: _Drawing) -> None:
    text = drawing.draw.pick(DERIVATIVES)
    drawing.line(drawing.called(CallPattern(text, text.count("{}"))))


def _guarded(drawing: _Drawing) -> None:
    with drawing.block(f"with {drawing.guard()}:"):
        drawing.body(1, 4)


def _branch(drawing: _Drawing) -> None:
    draw = drawing.draw
    condition = draw.pick(CONDITIONS).format(drawing.tensor())
    with drawing.block(f"if {condition}:", may_be_skipped=True):
        drawing.body()
    if draw.chance(0.4):
        with drawing.block("else:", may_be_skipped=True):
            drawing.body(1, 2)


def _loop(drawing: _Drawing) -> None:
    draw = drawing.draw
    name = drawing.name("each")
    over = [f"({drawing.tensor()}, {drawing.tensor()})", "range(2)", "range(2)"]
    over += drawing.lists[-1:]
    if "pieces" in drawing.defined:
        over += [f"pieces({drawing.tensor()})"] * 2
    iterable = draw.pick(over)
    drawing.looping += 1
    with drawing.block(f"for {name} in {iterable}:", may_be_skipped=True):
        if iterable != "range(2)":
            drawing.tensors.append(name)
        drawing.body()
    drawing.looping -= 1


def _closure(drawing: _Drawing) -> None:
    draw, name = drawing.draw, drawing.name("inner")
    form = draw.below(3)
    if form == 0:
        drawing.line(f"{name} = lambda x: x {draw.pick(OPERATORS)} {drawing.tensor()}")
    elif form == 1 and drawing.callables:
        drawing.line(f"{name} = functools.partial({draw.pick(drawing.callables)})")
    else:
        captured = drawing.tensor()
        if draw.chance(0.4):
            drawing.line(f"@{draw.pick(DECORATORS)}")
        drawing.line(f"def {name}(x):")
        drawing.line(f"    return {captured} {draw.pick(OPERATORS)} x")
    drawing.callables.append(name)


def _container(drawing: _Drawing) -> None:
    draw, name = drawing.draw, drawing.name("many")
    form = draw.below(6)
    one, two = drawing.tensor(), drawing.tensor()
    if form == 0:
        drawing.line(f"{name} = [{one}, {two}]")
        drawing.lists.append(name)
    elif form == 1:
        drawing.line(f"{name} = [{one}]")
        drawing.line(f"{name}.append({two})")
        drawing.lists.append(name)
    elif form == 2:
        drawing.line(f"{name} = {{'one': {one}, 'two': {drawing.expression(0)}}}")
        drawing.bind(f"{name}['{draw.pick(['one', 'two'])}']")
    elif form == 3:
        drawing.line(f"{name} = ({drawing.expression(0)}, {two})")
        drawing.line(f"first_{name}, second_{name} = {name}")
        drawing.tensors += [f"first_{name}", f"second_{name}"]
    elif form == 4 and drawing.lists:
        drawing.line(f"{name} = [each * 2 for each in {draw.pick(drawing.lists)}]")
        drawing.lists.append(name)
    else:
        drawing.line(f"{name} = [{one}, {two}]")
        drawing.bind(f"torch.stack({name}).sum(0)")


def _object(drawing: _Drawing) -> None:
    if not drawing.holders:
        _container(drawing)
        return
    form = drawing.draw.below(3)
    if form == 0:
        drawing.line(f"holder.kept = {drawing.expression(1)}")
    elif form == 1:
        drawing.line("holder.kept.mul_(2)")
    else:
        drawing.bind(f"holder.update({drawing.tensor()})")


def _module(drawing: _Drawing) -> None:
    draw = drawing.draw
    if not drawing.modules:
        drawing.line(f"layer = nn.{draw.pick(LAYERS)}")
        drawing.modules.append("layer")
        if drawing.depth == 0:
            drawing.callables.append("layer")
        return
    name = draw.pick(drawing.modules)
    form = draw.below(5)
    if form == 0:
        drawing.line(f"{name}.requires_grad_({draw.pick(['', 'False'])})")
    elif form == 1:
        drawing.line(f"{name}.{draw.pick(['eval', 'train', 'zero_grad'])}()")
    elif form == 2 and name == "net":
        drawing.bind("net.scale")
    elif form == 3:
        optimizer = drawing.name("optimizer")
        drawing.line(f"{optimizer} = torch.optim.SGD({name}.parameters(), lr=0.1)")
        drawing.line(f"({name}({drawing.tensor()})).sum().backward()")
        drawing.line(f"{optimizer}.step()")
    else:
        drawing.bind(f"{name}({drawing.tensor()})")


def _optimizer(drawing: _Drawing) -> None:
    name, tensor = drawing.name("optimizer"), drawing.tensor()
    drawing.line(f"{name} = torch.optim.{drawing.draw.pick(['SGD', 'Adam'])}([{tensor}], lr=0.1)")
    drawing.line(f"({drawing.expression(1)}).sum().backward()")
    drawing.line(f"{name}.step()")


def _switch(drawing: _Drawing) -> None:
    """The bare setter, and the mode as it was."""
    drawing.line(f"torch.set_grad_enabled({drawing.draw.pick(['False', 'True', 'on'])})")
    drawing.body(1, 2)
    drawing.line("torch.set_grad_enabled(True)")


def _attempt(drawing: _Drawing) -> None:
    with drawing.block("try:", may_be_skipped=True):
        drawing.body(1, 2)
    with drawing.block("except RuntimeError:", may_be_skipped=True):
        drawing.body(1, 1)


_IN_FUNCTIONS: list[tuple[Statement, float]] = [(_value, 5.0), (_created, 1.0), (_write, 1.0)]
_STATEMENTS: list[tuple[Statement, float]] = [
    (_value, 5.0),
    (_created, 1.5),
    (_write, 2.5),
    (_other, 0.5),
    (_derive, 1.5),
    (_guarded, 4.0),
    (_branch, 1.0),
    (_loop, 0.8),
    (_closure, 0.8),
    (_container, 1.2),
    (_object, 0.8),
    (_module, 0.8),
    (_optimizer, 0.4),
    (_switch, 0.4),
    (_attempt, 0.2),
]
