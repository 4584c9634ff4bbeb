"""What the generator believes about the program so far: variables with shapes and flags, and the mode in
force.

The beliefs steer the drawing (operands that broadcast, a tensor that requires grad for `backward`), nothing
more: the outcome of a program is what PyTorch does with it. Where a statement is believed to raise, its
target is not used later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..program import INDENT
from .draw import Draw

Shape = tuple[int, ...]

FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
NAMES = "abcdefghkmnpqrstuvwxyz"
MOST_VARIABLES = 9


@dataclass
class Var:
    """`family` numbers the tensors that share storage and version (base and views); `meta` is the creation
    meta of a view.
    """

    name: str
    shape: Shape
    dtype: str = "float32"
    inference: bool = False
    grad: bool = False
    leaf: bool = True
    family: int = 0
    meta: str | None = None
    doubtful: bool = False
    contiguous: bool = True

    @property
    def floating(self) -> bool:
        return self.dtype in FLOATS

    @property
    def differentiable(self) -> bool:
        return self.dtype in FLOATS or self.dtype in COMPLEX

    @property
    def size(self) -> int:
        size = 1
        for length in self.shape:
            size *= length
        return size


@dataclass(frozen=True)
class Mode:
    grad: bool = True
    inference: bool = False
    below_autograd: bool = False
    below_inplace: bool = False

    @property
    def records(self) -> bool:
        return self.grad and not (self.inference or self.below_autograd or self.below_inplace)


def broadcast(*shapes: Shape) -> Shape | None:
    """The shape that the shapes broadcast to, None where they do not."""
    result: list[int] = []
    for position in range(1, max(map(len, shapes), default=0) + 1):
        sizes = {shape[-position] for shape in shapes if len(shape) >= position} - {1}
        if len(sizes) > 1:
            return None
        result.append(sizes.pop() if sizes else 1)
    return tuple(reversed(result))


def promote(*dtypes: str) -> str:
    """Roughly PyTorch's promotion, of tensors with dimensions."""
    for family in (COMPLEX, FLOATS, INTEGERS):
        present = [name for name in family if name in dtypes]
        if present:
            if family is COMPLEX and "float64" in dtypes:
                return "complex128"
            return present[-1]
    return "bool"


class Scene:
    """The program being written. Subjects append lines by `line`, `assign` and `block`."""

    def __init__(self, profile: str, draw: Draw) -> None:
        self.leaks = profile == "leaks"
        self.draw = draw
        self.lines: list[str] = []
        self.variables: dict[str, Var] = {}
        self.modes: list[Mode] = [Mode()]
        self._families = 0

    # -- writing ---------------------------------------------------------------------------------------------

    @property
    def mode(self) -> Mode:
        return self.modes[-1]

    @property
    def depth(self) -> int:
        return len(self.modes) - 1

    def line(self, source: str) -> None:
        self.lines.append(INDENT * self.depth + source)

    def enter(self, guard: str, mode: Mode) -> None:
        self.line(f"with {guard}:")
        self.modes.append(mode)

    def leave(self) -> None:
        self.modes.pop()

    def set_mode(self, mode: Mode) -> None:
        self.modes[-1] = mode

    # -- variables -------------------------------------------------------------------------------------------

    def new_family(self) -> int:
        self._families += 1
        return self._families

    def fresh_name(self) -> str:
        """A name that is free, seldom one that is taken: old tensors must be able to lose their names."""
        unused = [name for name in NAMES if name not in self.variables]
        if len(self.variables) < MOST_VARIABLES and unused and not (len(self.variables) > 3 and self.draw.chance(0.12)):
            return unused[0]
        return self.draw.pick(sorted(self.variables)) if self.variables else unused[0]

    def remember(self, var: Var) -> None:
        self.variables[var.name] = var

    def assign(self, expression: str, result: Var, *, raises: bool = False) -> Var:
        """Writes `name = expression`; `result.name` may be empty for a fresh name."""
        name = result.name or self.fresh_name()
        self.line(f"{name} = {expression}")
        result = replace(result, name=name, family=result.family or self.new_family())
        if not raises:
            self.remember(result)
        return result

    def computed(self, shape: Shape, dtype: str, operands: Sequence[Var]) -> Var:
        """What a functional op gives."""
        grad = (
            self.mode.records
            and dtype in (*FLOATS, *COMPLEX)
            and any(operand.grad for operand in operands)
            and not all(operand.inference for operand in operands)
        )
        doubtful = any(operand.doubtful for operand in operands)
        return Var("", shape, dtype, self.mode.inference, grad, not grad, doubtful=doubtful)

    def view_of(self, base: Var, shape: Shape, *, contiguous: bool = True, multiple: bool = False) -> Var:
        if base.inference or self.mode.below_inplace:
            return replace(base, name="", shape=shape, grad=False, leaf=True, meta=None, contiguous=contiguous)
        if self.mode.inference or base.meta == "inference":
            meta = "inference"
        elif not self.mode.grad:
            meta = "no_grad"
        elif base.meta not in (None, "default"):
            meta = base.meta
        else:
            meta = "multiple" if multiple else "default"
        leaf = not base.grad or not self.mode.records
        return replace(base, name="", shape=shape, meta=meta, leaf=leaf, contiguous=contiguous)

    # -- choosing --------------------------------------------------------------------------------------------

    def vars(self, want: Callable[[Var], bool] = lambda _: True) -> list[Var]:
        found = [var for var in self.variables.values() if want(var)]
        sure = [var for var in found if not var.doubtful]
        return sure if sure and not self.draw.chance(0.15) else found

    def var(self, want: Callable[[Var], bool] = lambda _: True) -> Var | None:
        found = self.vars(want)
        if not found:
            return None
        # The youngest are the most interesting: they carry the state that the last statements built.
        return found[max(self.draw.below(len(found)), self.draw.below(len(found)))]

    def float_var(self, want: Callable[[Var], bool] = lambda _: True) -> Var | None:
        return self.var(lambda var: var.floating and want(var))

    def fits(self, shape: Shape, want: Callable[[Var], bool] = lambda _: True) -> Var | None:
        """A variable that broadcasts with `shape`."""
        return self.var(lambda var: broadcast(var.shape, shape) is not None and want(var))

    def dim(self, var: Var) -> int:
        """A dimension of `var`, sometimes counted from the end."""
        count = len(var.shape)
        if count == 0:
            return self.draw.pick([0, -1])
        number = self.draw.below(count)
        return number - count if self.draw.chance(0.3) else number

    # -- what is avoided -------------------------------------------------------------------------------------

    def leaves_marks(self, *operands: Var) -> bool:
        """Whether a composite kernel would run with view and version tracking on and no autograd kernel
        around it: then PyTorch leaves versions and view flags on fresh results. True means: not in documented
        programs.
        """
        mode = self.mode
        if self.leaks or mode.inference or mode.below_inplace:
            return False
        return mode.below_autograd or all(operand.inference for operand in operands)

    def saves_inference(self, *operands: Var) -> bool:
        """Whether an op that saves its operands is believed to refuse."""
        return self.mode.records and any(var.grad for var in operands) and any(var.inference for var in operands)

    def written(self, var: Var) -> None:
        """After an in-place op on `var`: relatives that were made under another mode are now doubtful."""
        for other in self.variables.values():
            if other.family == var.family and other.name != var.name and other.meta not in (None, "default"):
                other.doubtful = True

    # -- values ----------------------------------------------------------------------------------------------

    def number(self) -> str:
        return self.draw.pick(["0.5", "2.0", "2", "3", "-1.0", "1.5", "0.25", "-2", "1"])

    def whole_number(self) -> str:
        return self.draw.pick(["2", "3", "1", "-1", "4"])

    def literal(self, shape: Shape, dtype: str = "float32") -> str:
        """Nested lists of simple values, mostly positive, so that `log` and `sqrt` mostly make sense."""

        def scalar() -> str:
            if dtype == "bool":
                return self.draw.pick(["True", "False"])
            if dtype in INTEGERS:
                return str(self.draw.between(0 if dtype == "uint8" else -2, 5))
            real = self.draw.pick(["0.5", "1.0", "1.5", "2.0", "0.25", "3.0", "0.75", "-1.0", "-0.5", "2.5", "1.25"])
            if dtype in COMPLEX:
                return f"{real}+{self.draw.pick(['0.5', '1', '2'])}j"
            return real

        def nested(sizes: Shape) -> str:
            if not sizes:
                return scalar()
            return f"[{', '.join(nested(sizes[1:]) for _ in range(sizes[0]))}]"

        return nested(shape)
