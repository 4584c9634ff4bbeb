"""Conversions and promotion."""

from __future__ import annotations

from dataclasses import replace

from .scene import COMPLEX, FLOATS, Scene, Var, broadcast, promote
from .subjects import subject

METHODS = {
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "bool": "bool",
}
TARGETS = ["float32", "float64", "float16", "int64", "int32", "int8", "bool", "complex64", "uint8"]


@subject("dtypes", 2.0)
def convert(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var(lambda var: var.dtype not in COMPLEX)
    if var is None or scene.leaves_marks(var):
        return
    if draw.chance(0.5):
        method = draw.pick(sorted(METHODS))
        dtype, expression = METHODS[method], f"{var.name}.{method}()"
    else:
        dtype = draw.pick(TARGETS)
        expression = draw.pick(
            [f"{var.name}.to(torch.{dtype})"] * 3
            + [
                f"{var.name}.to(dtype=torch.{dtype})",
                f"{var.name}.type(torch.{dtype})",
                f"{var.name}.to(torch.{dtype}, copy=True)",
            ]
        )
    if dtype == var.dtype and "copy" not in expression:
        scene.assign(expression, replace(var, name=""))
    elif not (dtype == "uint8" and var.floating):  # a negative float has no defined value there
        scene.assign(expression, scene.computed(var.shape, dtype, [var]))


@subject("dtypes", 0.5)
def convert_like(scene: Scene) -> None:
    draw = scene.draw
    var, other = (
        scene.var(lambda var: var.dtype not in COMPLEX),
        scene.var(lambda var: var.dtype not in (*COMPLEX, "uint8")),
    )
    if var is None or other is None or scene.leaves_marks(var):
        return
    expression = draw.pick(
        [
            f"{var.name}.to({other.name})",
            f"{var.name}.type_as({other.name})",
            f"{var.name}.to({other.name}.dtype)",
        ]
    )
    if var.dtype == other.dtype:
        scene.assign(expression, replace(var, name=""))
    else:
        scene.assign(expression, scene.computed(var.shape, other.dtype, [var]))


@subject("dtypes", 1.5)
def mix(scene: Scene) -> None:
    """Binary ops over two dtypes, tensors of no dimensions and numbers among them."""
    draw = scene.draw
    var = scene.var()
    if var is None:
        return
    other = scene.fits(var.shape, lambda other: other.dtype != var.dtype)
    if other is None:
        text = draw.pick(
            [
                "torch.tensor(2.0, dtype=torch.float64)",
                "torch.tensor(3)",
                "True",
                "2.5",
                "3",
                "torch.tensor(1.5)",
            ]
        )
        dtype = var.dtype if var.differentiable or "." not in text else "float32"
        operands, shape = [var], var.shape
    else:
        text, operands = other.name, [var, other]
        shape = broadcast(var.shape, other.shape) or var.shape
        dtype = promote(var.dtype, other.dtype)
    symbol = draw.pick(["+", "*", "-", "/", "+", "*"])
    expression = f"{var.name} {symbol} {text}" if draw.chance(0.7) else f"{text} {symbol} {var.name}"
    if symbol == "/" and dtype not in (*FLOATS, *COMPLEX):
        dtype = "float32"
    if scene.leaves_marks(*operands) and symbol == "/":
        return
    result = scene.computed(shape, dtype, operands)
    scene.assign(
        expression,
        replace(result, doubtful=result.doubtful or var.dtype == "bool"),
        raises=symbol in "*/" and scene.saves_inference(*operands),
    )


@subject("dtypes", 0.4)
def ask(scene: Scene) -> None:
    draw = scene.draw
    a: Var | None = scene.var()
    b: Var | None = scene.var()
    if a is None or b is None:
        return
    first, second = draw.pick(TARGETS), draw.pick(TARGETS)
    scene.line(
        draw.pick(
            [
                f"torch.result_type({a.name}, {b.name})",
                f"torch.result_type({a.name}, 1.5)",
                f"torch.promote_types(torch.{first}, torch.{second})",
                f"torch.can_cast(torch.{first}, torch.{second})",
                f"{a.name}.is_complex()",
                "torch.get_default_dtype()",
            ]
        )
    )
