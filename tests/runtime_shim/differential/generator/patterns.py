"""Short stories that single statements seldom tell by chance: what the versions and the creation metas are
for.
"""

from __future__ import annotations

from dataclasses import replace

from .modes import guards
from .scene import Mode, Scene, Var
from .subjects import subject


def _guarded(scene: Scene, probability: float) -> bool:
    """Opens a guard, or none; says whether it did."""
    if not scene.draw.chance(probability):
        return False
    guard, mode = scene.draw.weighted(guards(scene))
    scene.enter(guard, mode)
    return True


def _spare(scene: Scene, count: int) -> list[str]:
    return [name for name in "stuvwxyz" if name not in scene.variables][:count]


@subject("patterns", 1.6)
def write_then_differentiate(scene: Scene) -> None:
    """A saved tensor changes between forward and backward, under some guard."""
    draw = scene.draw
    var = scene.float_var(lambda var: var.grad and not var.inference and not var.doubtful)
    names = _spare(scene, 2)
    if var is None or not scene.mode.records or len(names) < 2:
        return
    base, result = names
    scene.line(f"{base} = {var.name}.clone()")
    expression, target = draw.pick(
        [
            (f"{base} * {base}", base),
            (f"{base}.exp()", result),
            (f"{base}.sin()", base),
            (f"{base} + 1", base),
            (f"{base} * 3", base),
            (f"{base}.sigmoid()", result),
            (f"{base}.tanh()", result),
            (f"{base} / {base}", base),
            (f"{base}.view_as({base}) * {base}", base),
            (f"({base} * 2).clamp(0, 3)", base),
        ]
    )
    scene.line(f"{result} = {expression}")
    for name in names:
        scene.remember(replace(var, name=name, leaf=False, meta=None, family=scene.new_family()))
    opened = _guarded(scene, 0.75)
    suffix = draw.pick(["", "", "", ".detach()", ".data", f".view_as({target})"])
    scene.line(f"{target}{suffix}.{draw.pick(['mul_(3)', 'add_(1)', 'zero_()', 'exp_()'])}")
    if opened:
        scene.leave()
    scene.line(draw.pick([f"{result}.sum().backward()", f"{result}.backward(torch.ones_like({result}))"]))


@subject("patterns", 2.2)
def view_then_write(scene: Scene) -> None:
    """A view made under one guard; base or view written under another; then the view is used."""
    draw = scene.draw
    var = scene.float_var(lambda var: len(var.shape) > 0 and var.size > 0 and not var.doubtful and var.contiguous)
    names = _spare(scene, 2)
    if var is None or len(names) < 2:
        return
    base, view = names
    if var.grad and draw.chance(0.75) and scene.mode.records:
        scene.line(f"{base} = {var.name} * 1")
        scene.remember(replace(var, name=base, leaf=False, meta=None, family=scene.new_family()))
    else:
        base = var.name
    source = scene.variables[base]
    opened = _guarded(scene, 0.7)
    expression, multiple = draw.pick(
        [
            (f"{base}.view(-1)", False),
            (f"{base}[0]", False),
            (f"{base}[:1]", False),
            (f"{base}.unsqueeze(0)", False),
            (f"{base}.view_as({base})", False),
            (f"{base}.unbind()[0]", True),
            (f"{base}.split(1)[0]", True),
            (f"{base}.detach()", False),
            (f"{base}.view(-1).view(-1)[:1]", False),
        ]
    )
    scene.line(f"{view} = {expression}")
    shape = {"v": (source.size,), "[": source.shape[1:]}.get("v" if ".view(-1)" in expression[:12] else "", ())
    result = replace(scene.view_of(source, shape, multiple=multiple), name=view, doubtful=True)
    scene.remember(result)
    if opened:
        scene.leave()
    opened = _guarded(scene, 0.35)
    target = draw.pick([base, view, view])
    scene.line(f"{target}.{draw.pick(['mul_(3)', 'add_(1)', 'zero_()', 'exp_()', 'fill_(2.0)'])}")
    scene.written(scene.variables[target])
    if opened:
        scene.leave()
    for _ in range(draw.between(1, 2)):
        scene.line(_use(scene, base, view, source))


def _use(scene: Scene, base: str, view: str, source: Var) -> str:
    forms = [
        f"{view}.grad_fn is None",
        f"{view} * 2",
        f"{view}.sum()",
        f"{view}.is_leaf",
        f"{view}.detach()",
        f"{view}.add_(1)",
        f"{base}.mul_(2)",
        f"repr({view})",
        f"{view}.view(-1)",
    ]
    if source.grad:
        forms += [
            f"{base}.sum().backward()",
            f"{view}.sum().backward()",
            f"({base} * {base}).sum().backward()",
        ] * 2
    if scene.leaves_marks(source):
        forms = [f"{view}.is_leaf", f"{view}.detach()", f"{base}.mul_(2)"]
    return scene.draw.pick(forms)


@subject("patterns", 1.0)
def accumulate(scene: Scene) -> None:
    """Backward under guards: the kind of the first gradient decides what later ones may do."""
    draw = scene.draw
    var = scene.float_var(lambda var: var.grad and not var.doubtful and not var.inference)
    if var is None or scene.mode.below_autograd:
        return
    a = var.name
    names = _spare(scene, 2)
    if len(names) < 2 or not scene.mode.records:
        return
    for name in names:
        scene.line(f"{name} = ({a} * {a}).sum()")
    for name in names:
        opened = _guarded(scene, 0.5)
        scene.line(f"{name}.backward()")
        if opened:
            scene.leave()
        if draw.chance(0.3):
            scene.line(draw.pick([f"{a}.grad.zero_()", f"{a}.grad = None", f"{a}.grad.is_inference()"]))


@subject("patterns", 1.0)
def across_the_border(scene: Scene) -> None:
    """An inference tensor meets normal ones outside, and the documented ways out."""
    draw = scene.draw
    var = scene.float_var(lambda var: not var.doubtful)
    names = _spare(scene, 2)
    if var is None or len(names) < 2 or scene.mode != Mode():
        return
    a, (kept, out) = var.name, names
    scene.enter("torch.inference_mode()", Mode(grad=False, inference=True))
    made = [f"{a} * 2", f"{a}.clone()", f"{a}.view_as({a})", f"torch.ones_like({a})", f"{a}.detach()"]
    scene.line(f"{kept} = {draw.pick(made)}")
    scene.leave()
    inference = not ("view_as" in scene.lines[-1] or "detach" in scene.lines[-1]) or var.inference
    scene.remember(
        replace(var, name=kept, inference=inference, grad=False, leaf=True, meta=None, family=scene.new_family())
    )
    for _ in range(draw.between(1, 3)):
        scene.line(
            draw.pick(
                [
                    f"{kept}.add_(1)",
                    f"{kept} + {a}",
                    f"{kept} * {a}",
                    f"({kept} * {a}).sum().backward()",
                    f"({kept} + {a}).sum().backward()",
                    f"{kept}.requires_grad_()",
                    f"{kept}.view(-1)",
                    f"{kept}.detach().add_(1)",
                    f"{kept}.data.mul_(2)",
                    f"{a}.copy_({kept})",
                    f"{kept}.copy_({a})",
                    f"{a}.add_({kept})",
                    f"{kept}[...] = 1.0",
                    f"{out} = {kept}.clone()",
                    f"{out} = {kept}.clone().requires_grad_()",
                    f"torch.nn.Parameter({kept})",
                    f"torch.add({kept}, 1, out={kept})",
                    f"Square.apply({kept})",
                    f"Product.apply({kept}, {a})",
                    f"torch.cat([{kept}.view(-1), {a}.view(-1)])",
                    f"{kept}._version",
                ]
            )
        )
