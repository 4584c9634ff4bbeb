"""Custom autograd Functions: those of the prelude, applied to what is there."""

from __future__ import annotations

from dataclasses import replace

from .scene import Scene, Var
from .subjects import subject

CALLS = [
    ("Square", 3.0),
    ("Exponential", 2.0),
    ("Modes", 1.5),
    ("AddsOne", 3.0),
    ("AddsOneUnmarked", 1.0),
    ("DirtyNotReturned", 0.5),
    ("AsIs", 2.0),
    ("Flat", 1.5),
    ("OnceOnly", 1.0),
    ("TooManyGradients", 0.4),
    ("WrongShape", 0.4),
    ("NoGradient", 0.7),
    ("NoBackward", 0.4),
    ("SavesNumber", 0.4),
    ("InferenceInside", 1.0),
    ("SavesInference", 0.7),
    ("Truncated", 0.5),
]
WRITING = {"AddsOne", "AddsOneUnmarked", "DirtyNotReturned"}


def _recorded(scene: Scene, var: Var) -> bool:
    """Function.apply looks at the grad mode alone, not at the dispatch keys."""
    return scene.mode.grad and not scene.mode.inference and var.grad


@subject("functions", 3.0)
def apply(scene: Scene) -> None:
    draw = scene.draw
    name = draw.weighted(CALLS)
    var = scene.float_var(lambda var: name not in WRITING or not (var.grad and var.leaf) or draw.chance(0.2))
    if var is None or scene.leaves_marks(var):
        return
    recorded = _recorded(scene, var)
    if name in WRITING:
        refused = (recorded and var.leaf) or (var.inference and not scene.mode.inference)
        refused = refused or (name == "DirtyNotReturned" and recorded)
        result = replace(var, name="", grad=recorded, leaf=not recorded, meta="custom")
        scene.assign(f"{name}.apply({var.name})", replace(result, doubtful=True), raises=refused)
        scene.written(var)
        return
    dtype = "int64" if name == "Truncated" else var.dtype
    grad = recorded and name not in ("Truncated",)
    result = Var("", var.shape, dtype, scene.mode.inference or name == "InferenceInside", grad, not grad)
    if name in ("AsIs", "Flat"):
        shape = (var.size,) if name == "Flat" else var.shape
        result = replace(scene.view_of(var, shape), meta="custom", leaf=not grad)
        if name == "Flat" and not var.contiguous:
            return
    raises = name == "SavesNumber" or (
        recorded and (name == "SavesInference" or (name in ("Square", "OnceOnly") and var.inference))
    )
    scene.assign(f"{name}.apply({var.name})", result, raises=raises)


@subject("functions", 1.2)
def apply_to_two(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var()
    if var is None or scene.leaves_marks(var):
        return
    if draw.chance(0.35):
        factor = scene.number()
        result = scene.computed(var.shape, var.dtype, [var])
        scene.assign(f"Scaled.apply({var.name}, {factor})", result)
        return
    other = scene.float_var(lambda other: other.shape == var.shape and other.dtype == var.dtype)
    if other is None:
        return
    result = scene.computed(var.shape, var.dtype, [var, other])
    scene.assign(
        f"Product.apply({var.name}, {other.name})",
        result,
        raises=scene.mode.grad and (var.grad or other.grad) and (var.inference or other.inference),
    )


@subject("functions", 1.5)
def apply_with_two_results(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var()
    if var is None or scene.leaves_marks(var):
        return
    name = draw.pick(["WithMask", "WithConstant", "TwoResults", "Unmaterialized"])
    names = [name for name in "mnopqrs" if name not in scene.variables][:2]
    if len(names) < 2:
        return
    scene.line(f"{', '.join(names)} = {name}.apply({var.name})")
    grad = _recorded(scene, var)
    first = Var(names[0], var.shape, var.dtype, scene.mode.inference, grad, not grad, scene.new_family())
    second = replace(first, name=names[1], family=scene.new_family())
    if name.startswith("With"):
        second = replace(second, grad=False, leaf=True, dtype="bool" if name == "WithMask" else var.dtype)
    scene.remember(first)
    scene.remember(second)


@subject("functions", 0.8)
def apply_and_differentiate(scene: Scene) -> None:
    """Forward and backward in one statement: the tape is gone after it."""
    draw = scene.draw
    var = scene.float_var(lambda var: var.grad)
    if var is None or scene.leaves_marks(var):
        return
    name = draw.pick(["Square", "Exponential", "Modes", "TooManyGradients", "WrongShape", "NoBackward", "OnceOnly"])
    scene.line(f"{name}.apply({var.name}).sum().backward()")
