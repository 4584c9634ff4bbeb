"""Backward and autograd.grad, hooks, `.grad`, and what requires grad."""

from __future__ import annotations

from .scene import Scene, Var
from .subjects import subject


def _output(scene: Scene) -> Var | None:
    """Something to differentiate; now and then something that cannot be."""
    if scene.draw.chance(0.06):
        return scene.float_var()
    return scene.float_var(lambda var: var.grad and not var.leaf) or scene.float_var(lambda var: var.grad)


def _scalar(scene: Scene, var: Var) -> str:
    """An expression of no dimensions over `var`."""
    a = var.name
    return scene.draw.weighted(
        [
            (f"{a}.sum()", 4.0),
            (f"({a} * {a}).sum()", 3.0),
            (f"{a}.mean()", 1.5),
            (f"({a} * 3).sum()", 1.0),
            (f"{a}.exp().sum()", 0.7),
        ]
    )


@subject("gradients", 6.0)
def backward(scene: Scene) -> None:
    draw = scene.draw
    var = _output(scene)
    if var is None:
        return
    a = var.name
    options = draw.weighted([("", 6.0), ("retain_graph=True", 2.5), ("create_graph=True", 0.4)])
    if var.shape == () and draw.chance(0.8):
        scene.line(f"{a}.backward({options})")
    elif draw.chance(0.5):
        if scene.leaves_marks(var):
            return
        scene.line(f"{_scalar(scene, var)}.backward({options})")
    else:
        comma = ", " if options else ""
        gradient = draw.pick([f"torch.ones_like({a})", f"torch.full_like({a}, 0.5)", f"{a}.detach() * 2"])
        other = scene.float_var(lambda other: other.shape == var.shape and other.dtype == var.dtype)
        if other is not None and draw.chance(0.3):
            gradient = other.name
        scene.line(
            draw.pick(
                [
                    f"{a}.backward({gradient}{comma}{options})",
                    f"{a}.backward(gradient={gradient}{comma}{options})",
                ]
            )
        )


@subject("gradients", 2.0)
def loss(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: var.grad)
    if var is None or scene.leaves_marks(var):
        return
    other = scene.fits(var.shape, lambda other: other.floating) or var
    a, b = var.name, other.name
    expression = draw.pick(
        [
            f"({a} * {b}).sum()",
            f"({a} - {b}).square().mean()",
            f"({a} * {a} * {b}).sum()",
            f"({a} + {b}).exp().sum()",
            f"{a}.sigmoid().sum()",
            f"({a} / ({b} + 2)).sum()",
        ]
    )
    result = scene.computed((), var.dtype, [var, other])
    scene.assign(expression, result, raises=scene.saves_inference(var, other))


@subject("gradients", 2.0)
def gradient(scene: Scene) -> None:
    draw = scene.draw
    output = _output(scene)
    inputs = scene.vars(lambda var: var.grad and not (output is not None and var.name == output.name))
    if output is None or not inputs or scene.leaves_marks(output):
        return
    chosen = draw.some(inputs, 1 if draw.chance(0.75) else 2)
    options = "".join(
        text
        for text, probability in [
            (", retain_graph=True", 0.25),
            (", create_graph=True", 0.35),
            (", allow_unused=True", 0.6),
        ]
        if draw.chance(probability)
    )
    text = output.name if output.shape == () else _scalar(scene, output)
    names = [scene.fresh_name()]
    if len(chosen) == 2:
        names.append(next(name for name in "mnopqrstuvw" if name not in scene.variables and name not in names))
    left = f"({names[0]},)" if len(names) == 1 else ", ".join(names)
    wanted = ", ".join(var.name for var in chosen)
    scene.line(f"{left} = torch.autograd.grad({text}, [{wanted}]{options})")
    for name, var in zip(names, chosen, strict=True):
        graph = "create_graph" in options
        # Which inputs were used is not known here, so the gradient may be None or the statement fail.
        if name not in scene.variables:
            scene.remember(Var(name, var.shape, var.dtype, False, graph, not graph, scene.new_family(), doubtful=True))


@subject("gradients", 0.8)
def second_derivative(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: var.grad and not var.inference and not var.doubtful)
    if var is None or scene.mode.below_autograd:
        return
    a = var.name
    inner = draw.pick(
        [
            f"({a} ** 3).sum()",
            f"({a} * {a} * {a}).sum()",
            f"{a}.exp().sum()",
            f"{a}.sin().sum()",
            f"{a}.sigmoid().sum()",
            f"{a}.tanh().sum()",
            f"({a} / ({a} * {a} + 1)).sum()",
            f"Square.apply({a}).sum()",
            f"{a}.prod()",
        ]
    )
    name = scene.fresh_name()
    scene.line(f"({name},) = torch.autograd.grad({inner}, [{a}], create_graph=True)")
    graph = scene.mode.records
    if graph:
        scene.remember(Var(name, var.shape, var.dtype, False, True, False, scene.new_family()))
        scene.line(
            draw.pick(
                [
                    f"{name}.sum().backward()",
                    f"torch.autograd.grad({name}.sum(), [{a}])",
                    f"({name} * {a}).sum().backward()",
                ]
            )
        )


@subject("gradients", 0.4)
def several_roots(scene: Scene) -> None:
    roots = scene.vars(lambda var: var.grad and not var.leaf and var.floating)
    if len(roots) < 2:
        return
    a, b = scene.draw.some(roots, 2)
    if scene.leaves_marks(a, b):
        return
    ones = ", ".join(f"torch.ones_like({root.name})" for root in (a, b))
    scene.line(f"torch.autograd.backward([{a.name}, {b.name}], [{ones}])")


@subject("gradients", 1.2)
def use_grad(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: var.grad and var.leaf)
    if var is None:
        return
    a = var.name
    fits = scene.float_var(lambda other: other.shape == var.shape and other.dtype == var.dtype)
    forms = [
        (f"{a}.grad = None", 1.5),
        (f"{a}.grad.zero_()", 1.5),
        (f"{a}.grad = torch.zeros_like({a})", 0.7),
        (f"{a}.grad.mul_(0.5)", 0.5),
        (f"{a}.grad.is_inference()", 0.5),
        (f"{a} -= 0.1 * {a}.grad", 0.7),
        (f"{a}.sub_({a}.grad, alpha=0.5)", 0.7),
    ]
    if fits is not None:
        forms.append((f"{a}.grad = {fits.name}", 0.7))
    if scene.leaks:
        forms.append((f"{scene.fresh_name()} = {a}.grad", 0.5))
    scene.line(draw.weighted(forms))


@subject("flags", 1.5)
def require(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var(lambda var: var.differentiable or draw.chance(0.08))
    if var is None:
        return
    flag = not var.grad if draw.chance(0.75) else draw.chance(0.5)
    a = var.name
    scene.line(
        draw.pick(
            [
                f"{a}.requires_grad_({'' if flag and draw.chance(0.6) else flag})",
                f"{a}.requires_grad = {flag}",
            ]
        )
    )
    refused = (
        not var.differentiable or (not var.leaf and not flag) or (flag and var.inference and not scene.mode.inference)
    )
    if not refused:
        var.grad = flag


@subject("flags", 0.7)
def retain(scene: Scene) -> None:
    var = scene.float_var(lambda var: not var.leaf) or scene.float_var()
    if var is not None:
        scene.line(f"{var.name}.retain_grad()")


@subject("flags", 1.2)
def hook(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: var.grad) or scene.float_var()
    if var is None:
        return
    function = draw.weighted([("noted", 3.0), ("doubled", 3.0), ("halved_in_place", 0.5), ("lambda g: None", 0.3)])
    call = f"{var.name}.register_hook({function})"
    if draw.chance(0.25) and var.grad:
        scene.line(f"handle = {call}")
        if draw.chance(0.5):
            scene.line(f"({var.name} * 2).sum().backward()" if not scene.leaves_marks(var) else "modes()")
        scene.line("handle.remove()")
    else:
        scene.line(call if draw.chance(0.3) else f"handle = {call}")


@subject("flags", 0.4)
def ask(scene: Scene) -> None:
    var = scene.var()
    if var is not None:
        a = var.name
        scene.line(
            scene.draw.pick(
                [
                    f"{a}.grad_fn is None",
                    f"{a}.is_leaf",
                    f"{a}._is_view()",
                    f"{a}._base is None",
                    f"{a}.output_nr",
                    f"{a}.retains_grad",
                    f"type({a}.grad_fn).__name__",
                ]
            )
        )
