"""Pointwise ops: unary, binary, comparison, choice; as methods, functions, operators and with `out=`."""

from __future__ import annotations

from .scene import COMPLEX, FLOATS, Scene, Var, broadcast, promote
from .subjects import subject

# Names with what autograd saves for them: nothing, the operand or the result.
UNARY = ["neg", "abs", "exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "relu", "square", "reciprocal"]
UNARY_SAVING_NOTHING = {"neg"}
UNARY_KEEPING_WHOLE_NUMBERS = {"neg", "abs", "relu", "square"}
UNARY_LEAVING_MARKS = {"abs", "square", "reciprocal", "gelu"}

BINARY = [("add", "+", 4.0), ("sub", "-", 2.5), ("mul", "*", 5.0), ("div", "/", 2.0), ("pow", "**", 1.0)]
BINARY_SAVING_NOTHING = {"add", "sub"}
COMPARISON = [("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")]


def _result_dtype_of_unary(name: str, var: Var) -> str:
    if var.dtype in COMPLEX:
        return {"complex64": "float32", "complex128": "float64"}[var.dtype] if name == "abs" else var.dtype
    if var.dtype in FLOATS or name in UNARY_KEEPING_WHOLE_NUMBERS:
        return var.dtype
    return "float32"


@subject("arithmetic", 3.0)
def unary(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var(lambda var: var.dtype != "bool" or draw.chance(0.1))
    if var is None:
        return
    name = draw.pick(UNARY)
    if name in UNARY_LEAVING_MARKS and scene.leaves_marks(var):
        return
    expression = draw.pick(
        [f"{var.name}.{name}()", f"torch.{name}({var.name})", f"-{var.name}" if name == "neg" else ""]
    )
    result = scene.computed(var.shape, _result_dtype_of_unary(name, var), [var])
    raises = (var.dtype == "bool" and name in ("neg", "abs")) or (name == "relu" and var.dtype in COMPLEX)
    scene.assign(
        expression or f"{var.name}.{name}()",
        result,
        raises=raises or (result.grad and name not in UNARY_SAVING_NOTHING and var.inference),
    )


def _operand(scene: Scene, var: Var) -> tuple[str, Var | None]:
    """The other side of a binary op: a tensor that broadcasts, or a number."""
    if scene.draw.chance(0.3):
        return (scene.number() if var.floating else scene.whole_number()), None
    other = scene.fits(var.shape)
    return (other.name, other) if other else (scene.number(), None)


def _joint(scene: Scene, var: Var, other: Var | None, text: str) -> Var:
    if other is None:
        dtype = "float32" if "." in text and not var.differentiable else var.dtype
        return scene.computed(var.shape, dtype, [var])
    shape = broadcast(var.shape, other.shape)
    return scene.computed(var.shape if shape is None else shape, promote(var.dtype, other.dtype), [var, other])


@subject("arithmetic", 5.0)
def binary(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var()
    if var is None:
        return
    name, symbol, _ = draw.weighted([(row, row[2]) for row in BINARY])
    text, other = _operand(scene, var)
    operands = [var] if other is None else [var, other]
    forms = [f"{var.name} {symbol} {text}"] * 4 + [f"torch.{name}({var.name}, {text})"]
    forms.append(f"{var.name}.{name}({text})")
    if other is None and name != "pow":
        forms.append(f"{text} {symbol} {var.name}")
    if name in ("add", "sub"):
        forms.append(f"torch.{name}({var.name}, {text}, alpha={draw.pick(['2', '3'])})")
    expression = draw.pick(forms)
    # Reciprocal and scalar ** tensor are composites of their own.
    if name in ("div", "pow") and other is None and scene.leaves_marks(var):
        return
    result = _joint(scene, var, other, text)
    if name == "div" and not result.differentiable:
        result.dtype = "float32"
    raises = name == "sub" and var.dtype == "bool" and (other is None or other.dtype == "bool")
    saves = name not in BINARY_SAVING_NOTHING and scene.saves_inference(*operands)
    scene.assign(expression, result, raises=raises or saves)


@subject("arithmetic", 1.5)
def chain(scene: Scene) -> None:
    """An expression of several ops: intermediate results without a name are freed at once."""
    draw = scene.draw
    var = scene.float_var()
    if var is None or scene.leaves_marks(var):
        return
    other = scene.fits(var.shape, lambda other: other.floating and broadcast(other.shape, var.shape) == var.shape)
    b = other.name if other else scene.number()
    a = var.name
    expression = draw.pick(
        [
            f"({a} * {b}).exp() + {a}",
            f"({a} + {b}) * ({a} - {b})",
            f"torch.sigmoid({a} * {b}) * {a}",
            f"({a} - {b}) ** 2",
            f"{a} * {a} * {b}",
            f"torch.tanh({a}) / ({b} + 2.5)",
            f"({a} * 2).relu() + {b}",
            f"-({a}.abs() + 1).log()",
            f"({a}.exp() + 1).sqrt() - {b}",
        ]
    )
    operands = [var, *([other] if other else [])]
    result = scene.computed(var.shape, promote(*(item.dtype for item in operands)), operands)
    scene.assign(expression, result, raises=scene.saves_inference(*operands))


@subject("arithmetic", 1.0)
def compare(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var(lambda var: var.dtype not in COMPLEX)
    if var is None:
        return
    name, symbol = draw.pick(COMPARISON)
    text, other = _operand(scene, var)
    expression = draw.pick([f"{var.name} {symbol} {text}", f"torch.{name}({var.name}, {text})"])
    result = _joint(scene, var, other, text)
    result.dtype, result.grad, result.leaf = "bool", False, True
    scene.assign(expression, result, raises=other is not None and other.dtype in COMPLEX)


@subject("arithmetic", 0.6)
def logic(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var(lambda var: var.dtype == "bool") or scene.var()
    if var is None or scene.leaves_marks(var):
        return
    other = scene.fits(var.shape, lambda other: other.dtype == "bool") or var
    a, b = var.name, other.name
    forms = [
        f"torch.logical_and({a}, {b})",
        f"torch.logical_or({a}, {b})",
        f"torch.logical_not({a})",
        f"torch.logical_xor({a}, {b})",
    ]
    if var.dtype == other.dtype == "bool":
        forms += [f"{a} & {b}", f"{a} | {b}", f"~{a}", f"{a} ^ {b}"]
    expression = draw.pick(forms)
    shape = var.shape if "not" in expression or "~" in expression else broadcast(var.shape, other.shape)
    scene.assign(expression, Var("", shape or var.shape, "bool", scene.mode.inference))


@subject("arithmetic", 1.2)
def choose(scene: Scene) -> None:
    """where, maximum, minimum, clamp, masked_fill."""
    draw = scene.draw
    var = scene.var(lambda var: var.dtype not in (*COMPLEX, "bool"))
    if var is None:
        return
    other = scene.fits(var.shape, lambda other: other.dtype not in (*COMPLEX, "bool")) or var
    a, b = var.name, other.name
    low, high = draw.pick([("0", "1"), ("-0.5", "0.75"), ("0.5", "2"), ("1", "0")])
    expression, saves = draw.pick(
        [
            (f"torch.where({a} > 0.6, {a}, {b})", False),
            (f"torch.where({b} > 0.6, {a}, {scene.number()})", False),
            (f"torch.maximum({a}, {b})", True),
            (f"torch.minimum({a}, {b})", True),
            (f"{a}.clamp(min={low})", True),
            (f"{a}.clamp({low}, {high})", True),
            (f"torch.clamp({a}, max={high})", True),
            (f"torch.clamp({a}, {b})", True),
            (f"{a}.masked_fill({b} > 0.6, {scene.number()})", False),
        ]
    )
    composite = "masked_fill" in expression or "imum" in expression
    if composite and scene.leaves_marks(var, other):
        return
    operands = [var] if f", {b}" not in expression and "where" not in expression else [var, other]
    shape = broadcast(var.shape, other.shape) if b in expression else var.shape
    dtype = promote(*(item.dtype for item in operands))
    if "clamp" in expression and not var.floating and "." in expression.partition("(")[2]:
        dtype = "float32"
    result = scene.computed(var.shape if shape is None else shape, dtype, operands)
    scene.assign(expression, result, raises=saves and scene.saves_inference(*operands))


@subject("out", 1.0)
def with_out(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var()
    if var is None:
        return
    other = scene.fits(var.shape, lambda other: other.floating) or var
    shape = broadcast(var.shape, other.shape)
    # Another shape would resize the target, with a warning: rare in programs that anybody wrote.
    target = scene.float_var(
        lambda target: target.shape == shape and (not (target.grad and target.leaf) or draw.chance(0.3))
    )
    a, b = var.name, other.name
    name = draw.pick(["add", "sub", "mul", "div", "maximum", "minimum", "exp", "neg", "sigmoid", "sqrt", "pow"])
    call = f"{a}, {b}" if name in ("add", "sub", "mul", "div", "maximum", "minimum", "pow") else a
    if b not in call:
        target = scene.float_var(lambda target: target.shape == var.shape)
        shape = var.shape
    if target is None or draw.chance(0.15):
        # Under a guard that lets composites leave marks, the resize of an empty target is one.
        if scene.leaves_marks(var, other):
            return
        dtype = promote(var.dtype, other.dtype)
        scene.assign(
            f"torch.{name}({call}, out=torch.empty({shape}, dtype=torch.{dtype}))",
            Var("", shape or (), dtype, scene.mode.inference),
            raises=scene.mode.records and (var.grad or other.grad),
        )
        return
    scene.line(f"torch.{name}({call}, out={target.name})")
    scene.written(target)
