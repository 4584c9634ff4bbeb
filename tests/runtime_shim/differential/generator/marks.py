"""Custom Functions with all marks: dirty, non-differentiable, unmaterialized, views given back, several results,
setup_context, once_differentiable, Functions in Functions.
"""

from __future__ import annotations

from dataclasses import replace

from .scene import Scene
from .subjects import long_subject

ONE = [
    "WithSetup", "DirtyView", "DirtyTwice", "ViewOfInput", "InsideAnother", "SavesResult", "GradientsInside", "ReturnsNone",
    "MixedResults", "DirtyNonDifferentiable", "MarksAll", "InputAndResult", "Detached", "SwapsSaved", "SavesIntermediate",
]  # fmt: skip


@long_subject("marks", 4.0)
def marked(scene: Scene) -> None:
    draw = scene.draw
    name = draw.pick(ONE)
    var = scene.float_var(lambda var: not (name.startswith("Dirty") and var.grad and var.leaf) or draw.chance(0.3))
    if var is None or scene.leaves_marks(var):
        return
    other = scene.float_var(lambda item: item.shape == var.shape) or var
    text = f"{name}.apply({var.name})"
    if name in ("DirtyTwice", "MarksAll"):
        text = f"{name}.apply({var.name}, {other.name})"
    if name in ("MixedResults", "ReturnsNone", "DirtyTwice", "MarksAll", "InputAndResult"):
        text += f"[{draw.pick(['0', '0', '1', '-1'])}]"
    grad = scene.mode.records and var.grad
    made = scene.assign(text, replace(var, name="", grad=grad, leaf=not grad, doubtful=True))
    if draw.chance(0.35):
        scene.line(f"{made.name}.sum().backward()")


@long_subject("marks", 1.5)
def marked_twice(scene: Scene) -> None:
    """The second derivative through a Function."""
    draw = scene.draw
    var = scene.float_var(lambda var: var.grad and not var.doubtful)
    if var is None or scene.leaves_marks(var):
        return
    a = var.name
    name = draw.pick(
        ["Square", "Exponential", "WithSetup", "SavesResult", "OnceOnly", "GradientsInside", "InsideAnother"]
    )
    target = scene.fresh_name()
    scene.line(f"({target},) = torch.autograd.grad({name}.apply({a}).sum(), {a}, create_graph=True)")
    scene.remember(replace(var, name=target, leaf=False, doubtful=True, family=scene.new_family()))
    scene.line(
        draw.pick([f"{target}.sum().backward()", f"torch.autograd.grad({target}.sum(), {a}, allow_unused=True)"])
    )
