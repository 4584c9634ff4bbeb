"""A C++ program while it is drawn: lines that write to `v[0]` to `v[7]`, and blocks with guards."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.runtime_shim.differential.generator.draw import Draw

VARIABLES = 8
Shape = tuple[int, ...]
SHAPES: tuple[Shape, ...] = ((2, 3), (3,), (2, 2), (3, 2), (1, 3), (), (2, 1), (4,))
GUARDS = (
    ("c10::InferenceMode", "true"),
    ("c10::InferenceMode", "true"),
    ("c10::InferenceMode", "false"),
    ("torch::NoGradGuard", ""),
    ("torch::NoGradGuard", ""),
    ("at::AutoGradMode", "true"),
    ("at::AutoGradMode", "false"),
    ("at::AutoDispatchBelowAutograd", ""),
    ("at::AutoDispatchBelowADInplaceOrView", ""),
)


@dataclass(frozen=True)
class CppProgram:
    """`lines` are statements and the lines of blocks, one each; `seed` says where they came from."""

    seed: int
    lines: tuple[str, ...]


@dataclass
class Scene:
    """What is believed of the variables: their shapes; which require grad."""

    draw: Draw
    lines: list[str] = field(default_factory=list)
    shapes: dict[int, Shape] = field(default_factory=dict)
    depth: int = 0
    guards: int = 0

    def some(self) -> int:
        return self.draw.pick(sorted(self.shapes))

    def of_shape(self, shape: Shape) -> int:
        """A variable of this shape, or else any."""
        fitting = [i for i, found in sorted(self.shapes.items()) if found == shape]
        return self.draw.pick(fitting) if fitting else self.some()

    def target(self) -> int:
        free = [i for i in range(VARIABLES) if i not in self.shapes]
        return free[0] if free and not self.draw.chance(0.2) else self.draw.between(0, VARIABLES - 1)

    def statement(self, text: str) -> None:
        self.lines.append("  " * (self.depth + 1) + f"S({text})")

    def assign(self, expression: str, shape: Shape) -> None:
        target = self.target()
        self.statement(f"v[{target}] = {expression}")
        self.shapes[target] = shape
