"""Tensors out of nothing: literals, factories, the `_like` family."""

from __future__ import annotations

from .scene import Mode, Scene, Shape, Var
from .subjects import subject

SHAPES: list[tuple[Shape, float]] = [
    ((2, 3), 6),
    ((3,), 4),
    ((2,), 2),
    ((2, 2), 3),
    ((3, 2), 2),
    ((), 1.5),
    ((1,), 1),
    ((4,), 1),
    ((6,), 1),
    ((1, 3), 1.5),
    ((2, 1), 1.5),
    ((3, 3), 1),
    ((2, 2, 2), 1),
    ((2, 1, 3), 1),
    ((0,), 0.3),
    ((2, 0), 0.2),
]
DTYPES = [
    ("float32", 16.0),
    ("float64", 3.0),
    ("float16", 0.6),
    ("int64", 2.5),
    ("int32", 0.6),
    ("int8", 0.3),
    ("int16", 0.2),
    ("uint8", 0.3),
    ("bool", 1.2),
    ("complex64", 0.8),
    ("complex128", 0.3),
]


def sizes(shape: Shape) -> str:
    return ", ".join(map(str, shape)) if shape else "()"


def created(scene: Scene, *, grad: bool | None = None, dtype: str | None = None, shape: Shape | None = None) -> Var:
    """Writes one creation. `grad=None` leaves it to chance."""
    draw = scene.draw
    shape = draw.weighted(SHAPES) if shape is None else shape
    dtype = draw.weighted(DTYPES) if dtype is None else dtype
    grad = draw.chance(0.45) if grad is None else grad
    grad = grad and (dtype.startswith(("float", "complex")) or draw.chance(0.03))
    options = "" if dtype == "float32" else f", dtype=torch.{dtype}"
    options += ", requires_grad=True" if grad else ""
    expression = draw.weighted(
        [
            (f"torch.tensor({scene.literal(shape, dtype)}{options})", 7.0),
            (f"torch.ones({sizes(shape)}{options})", 1.5),
            (f"torch.zeros({sizes(shape)}{options})", 0.5),
            (f"torch.full({shape}, {scene.literal((), dtype)}{options})", 1.5),
        ]
    )
    result = Var("", shape, dtype, scene.mode.inference, grad)
    return scene.assign(expression, result, raises=grad and not result.differentiable)


def opening(scene: Scene) -> None:
    """The first lines: always something that requires grad, something that does not, and often an inference
    tensor.
    """
    draw = scene.draw
    shape = draw.weighted(SHAPES)
    common: Shape | None = shape if draw.chance(0.6) else None
    main = "float64" if draw.chance(0.12) else "float32"
    created(scene, grad=True, dtype=main, shape=shape)
    created(scene, grad=False, dtype=main if draw.chance(0.85) else None, shape=common)
    if draw.chance(0.5):
        scene.enter(draw.pick(["torch.inference_mode()", "torch.inference_mode(True)"]), INFERENCE)
        created(scene, grad=draw.chance(0.2), dtype=main if draw.chance(0.8) else None, shape=common)
        scene.leave()
    if draw.chance(0.5):
        created(scene)


INFERENCE = Mode(grad=False, inference=True)


@subject("creation")
def create(scene: Scene) -> None:
    created(scene)


@subject("creation", 0.5)
def create_range(scene: Scene) -> None:
    draw = scene.draw
    options = draw.pick(["", "", ", dtype=torch.float64", ", requires_grad=True"])
    dtype = "float64" if "float64" in options else "float32"
    expression, shape = draw.pick(
        [
            ("torch.arange(4", (4,)),
            ("torch.arange(3.0", (3,)),
            ("torch.arange(1, 7, 2", (3,)),
            ("torch.arange(0.5, 2.0, 0.5", (3,)),
            ("torch.arange(5, 1, -2", (2,)),
            ("torch.linspace(0, 1, 3", (3,)),
            ("torch.linspace(-1.0, 2.0, 6", (6,)),
            ("torch.eye(2", (2, 2)),
            ("torch.eye(2, 3", (2, 3)),
        ]
    )
    whole = expression in ("torch.arange(4", "torch.arange(1, 7, 2", "torch.arange(5, 1, -2")
    if whole and not options:
        dtype = "int64"
    grad = "requires_grad" in options
    scene.assign(
        f"{expression}{options})",
        Var("", shape, dtype, scene.mode.inference, grad),
        raises=grad and whole,
    )


@subject("creation", 0.6)
def create_like(scene: Scene) -> None:
    draw = scene.draw
    like = scene.var()
    if like is None or scene.leaves_marks(like):
        return
    grad = draw.chance(0.25) and like.differentiable
    dtype = draw.pick([like.dtype, like.dtype, like.dtype, "float64", "int64"])
    grad = grad and dtype in ("float32", "float64")
    options = "" if dtype == like.dtype else f", dtype=torch.{dtype}"
    options += ", requires_grad=True" if grad else ""
    expression = draw.pick(
        [
            f"torch.ones_like({like.name}{options})",
            f"torch.zeros_like({like.name}{options})",
            f"torch.full_like({like.name}, {scene.literal((), dtype)}{options})",
            f"torch.empty_like({like.name}{options.replace(', requires_grad=True', '')}).fill_(2)",
        ]
    )
    scene.assign(expression, Var("", like.shape, dtype, scene.mode.inference, grad and "empty" not in expression))


@subject("creation", 0.25)
def create_random(scene: Scene) -> None:
    """Of random numbers only what does not depend on the generator's algorithm."""
    draw = scene.draw
    shape = draw.pick([(2, 3), (3,), (2, 2)])
    maker = draw.pick(["rand", "randn"])
    expression = draw.pick(
        [
            f"torch.{maker}({sizes(shape)}) * 0",
            f"torch.zeros_like(torch.{maker}({sizes(shape)}, dtype=torch.float64))",
            f"(torch.rand({sizes(shape)}) < 1).to(torch.float32)",
            f"torch.{maker}(2, 3).shape",
        ]
    )
    if expression.endswith("shape"):
        same = f"len({{str((torch.manual_seed(7), torch.{maker}(2).tolist())[1]) for _ in range(2)}})"
        scene.line(draw.pick([expression, same]))
        return
    dtype = "float64" if "float64" in expression else "float32"
    if not scene.leaves_marks():
        scene.assign(expression, Var("", shape, dtype, scene.mode.inference))


@subject("creation", 0.3)
def create_parameter(scene: Scene) -> None:
    draw = scene.draw
    source = scene.float_var(lambda var: not var.grad and var.meta is None)
    if source is None or draw.chance(0.5):
        shape = draw.weighted(SHAPES)
        scene.assign(
            f"torch.nn.Parameter(torch.tensor({scene.literal(shape)}))",
            Var("", shape, "float32", scene.mode.inference, True),
        )
    else:
        option = draw.pick(["", "", ", requires_grad=False"])
        raises = source.inference and not scene.mode.inference and not option
        scene.assign(
            f"torch.nn.Parameter({source.name}{option})",
            Var("", source.shape, source.dtype, source.inference, not option, True, source.family),
            raises=raises,
        )
