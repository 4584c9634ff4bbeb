"""In-place ops, augmented assignment, item assignment, scatter: everything that writes into a tensor that is
there.
"""

from __future__ import annotations

from .scene import COMPLEX, Scene, Var, broadcast
from .subjects import subject

UNARY = ["neg_", "abs_", "exp_", "sqrt_", "sin_", "cos_", "tanh_", "sigmoid_", "relu_", "square_"]


def _target(scene: Scene, *, floating: bool = False) -> Var | None:
    """What to write into: seldom a leaf that requires grad where that is an error."""
    draw = scene.draw

    def wanted(var: Var) -> bool:
        if floating and not var.floating:
            return False
        refused = scene.mode.records and var.grad and var.leaf
        return not refused or draw.chance(0.25)

    return scene.var(wanted)


def _write(scene: Scene, source: str, target: Var, *operands: Var) -> None:
    scene.line(source)
    mode = scene.mode
    refused = mode.records and target.leaf and target.grad
    outside = target.inference and not (mode.inference or mode.below_inplace)
    if refused or outside:
        return
    if mode.records and any(operand.grad for operand in operands) and target.floating:
        for var in scene.variables.values():
            if var.family == target.family and (var is target or var.meta is not None or target.meta is not None):
                var.grad, var.leaf = True, False
    scene.written(target)


@subject("writes", 2.0)
def unary(scene: Scene) -> None:
    target = _target(scene, floating=not scene.draw.chance(0.1))
    if target is None:
        return
    name = scene.draw.pick(UNARY)
    form = f"torch.{name}({target.name})" if scene.draw.chance(0.1) else f"{target.name}.{name}()"
    _write(scene, form, target)


@subject("writes", 5.0)
def binary(scene: Scene) -> None:
    draw = scene.draw
    target = _target(scene)
    if target is None:
        return
    fits = scene.fits(
        target.shape,
        lambda var: (
            broadcast(var.shape, target.shape) == target.shape
            and (var.dtype == target.dtype or draw.chance(0.3))
            and var.dtype not in COMPLEX
            # What overlaps in part is read while it is written: the result depends on the order of the loop.
            and (var.family != target.family or var.shape == target.shape)
        ),
    )
    number = scene.number() if target.floating else scene.whole_number()
    other = None if draw.chance(0.45) else fits
    text = other.name if other else number
    name, symbol = draw.weighted(
        [
            (("add", "+="), 4.0),
            (("mul", "*="), 4.0),
            (("sub", "-="), 2.0),
            (("div", "/="), 1.0),
            (("pow", "**="), 0.5),
        ]
    )
    a = target.name
    forms = [f"{a}.{name}_({text})"] * 3 + [f"{a} {symbol} {text}"]
    if name in ("add", "sub"):
        forms.append(f"{a}.{name}_({text}, alpha=2)")
    source = draw.pick(forms)
    _write(scene, source, target, *([other] if other else []))


@subject("writes", 2.0)
def overwrite(scene: Scene) -> None:
    draw = scene.draw
    target = _target(scene)
    if target is None:
        return
    source = scene.fits(target.shape, lambda var: broadcast(var.shape, target.shape) == target.shape)
    a = target.name
    number = scene.number() if target.floating else scene.whole_number()
    forms = [f"{a}.zero_()", f"{a}.fill_({number})"]
    if source is not None and source.dtype not in COMPLEX:
        forms += [f"{a}.copy_({source.name})"] * 3
        if not source.shape:
            forms.append(f"{a}.fill_({source.name})")
    if target.dtype not in (*COMPLEX, "bool"):
        forms += [f"{a}.clamp_(min={number})", f"{a}.clamp_(0, 2)", f"{a}.masked_fill_({a} > 1, {number})"]
    text = draw.pick(forms)
    operands = [source] if source is not None and source.name in text.partition("(")[2] else []
    _write(scene, text, target, *operands)


@subject("writes", 3.0)
def assign_item(scene: Scene) -> None:
    draw = scene.draw
    target = _target(scene)
    if target is None or target.size == 0:
        return
    a, shape = target.name, target.shape
    number = scene.number() if target.floating else scene.whole_number()
    if not shape:
        _write(scene, draw.pick([f"{a}[()] = {number}", f"{a}[...] = {number}"]), target)
        return
    places: list[tuple[str, tuple[int, ...]]] = [
        ("0", shape[1:]),
        ("-1", shape[1:]),
        (":1", (1, *shape[1:])),
        ("...", shape),
        (":", shape),
        ("[0]", (1, *shape[1:])),
        ("torch.tensor([0, 0])", (2, *shape[1:])),
    ]
    if len(shape) > 1:
        places += [
            (":, 0", (shape[0], *shape[2:])),
            ("0, 0", shape[2:]),
            (":, :1", (shape[0], 1, *shape[2:])),
        ]
    if target.dtype not in (*COMPLEX, "bool"):
        places.append((f"{a} > 1", ()))
    place, size = draw.pick(places)
    value = scene.fits(size, lambda var: broadcast(var.shape, size) == size and var.dtype not in COMPLEX)
    text = value.name if value is not None and draw.chance(0.6) else number
    _write(
        scene,
        f"{a}[{place}] = {text}",
        target,
        *([value] if value is not None and text == value.name else []),
    )


@subject("writes", 0.8)
def augment_item(scene: Scene) -> None:
    draw = scene.draw
    target = _target(scene, floating=True)
    if target is None or target.size == 0 or not target.shape:
        return
    place = draw.pick(["0", ":1", "-1", "..."])
    symbol = draw.pick(["+=", "*=", "-="])
    _write(scene, f"{target.name}[{place}] {symbol} {scene.number()}", target)


@subject("writes", 0.9)
def scatter(scene: Scene) -> None:
    draw = scene.draw
    target = _target(scene, floating=True)
    if target is None or not target.shape or target.size == 0:
        return
    a, shape = target.name, target.shape
    index = "torch.tensor([0])" if len(shape) == 1 else "torch.tensor([[0]])" if len(shape) == 2 else ""
    forms = [f"{a}.index_put_((torch.tensor([0]),), torch.tensor(2.0, dtype={a}.dtype))"]
    if index:
        forms += [f"{a}.scatter_(0, {index}, 5.0)", f"{a}.scatter_({len(shape) - 1}, {index}, {a} * 2)"]
    _write(scene, draw.pick(forms), target, target)


@subject("writes", 0.7)
def rearrange_in_place(scene: Scene) -> None:
    """In-place view ops change shape and strides and count as writes."""
    draw = scene.draw
    target = _target(scene)
    if target is None or len(target.shape) > 3:
        return
    a, shape = target.name, target.shape
    forms: list[tuple[str, tuple[int, ...]]] = [
        (f"{a}.unsqueeze_(0)", (1, *shape)),
        (f"{a}.squeeze_()", tuple(length for length in shape if length != 1)),
    ]
    if len(shape) == 2:
        forms += [(f"{a}.t_()", shape[::-1]), (f"{a}.transpose_(0, 1)", shape[::-1])]
    source, result = draw.pick(forms)
    raises = scene.mode.records and target.leaf and target.grad
    _write(scene, source, target)
    if not raises:
        target.shape = result
        target.contiguous = target.contiguous and "t_()" not in source and "transpose" not in source


@subject("writes", 0.5)
def write_through_view(scene: Scene) -> None:
    """View and write in one statement."""
    draw = scene.draw
    target = _target(scene, floating=True)
    if target is None or target.size == 0:
        return
    a = target.name
    views = [f"{a}.view_as({a})", f"{a}.unsqueeze(0)", f"{a}.detach()", f"{a}.data"]
    if target.shape:
        views += [f"{a}[0]", f"{a}.select(0, 0)", f"{a}.unbind()[0]", f"{a}.narrow(0, 0, 1)"]
    _write(scene, f"{draw.pick(views)}.{draw.pick(['add_(1)', 'mul_(2)', 'zero_()', 'exp_()'])}", target)
