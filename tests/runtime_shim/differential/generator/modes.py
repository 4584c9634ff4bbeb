"""Guards: blocks nested any way, bare setters, decorators, generators, threads, and what the modes say of
themselves.
"""

from __future__ import annotations

from dataclasses import replace

from .scene import Mode, Scene
from .subjects import subject

DEEPEST = 4


def guards(scene: Scene) -> list[tuple[tuple[str, Mode], float]]:
    """Each guard with the mode that it makes of the one in force, and a weight."""
    mode = scene.mode
    inference = replace(mode, grad=False, inference=True)
    normal = replace(mode, grad=True, inference=False, below_autograd=False)
    quiet, loud = replace(mode, grad=False), replace(mode, grad=True)
    rare = 1.0 if scene.leaks else 0.35
    return [
        (("torch.no_grad()", quiet), 4.0),
        (("torch.enable_grad()", loud), 2.0),
        (("torch.set_grad_enabled(False)", quiet), 1.0),
        (("torch.set_grad_enabled(True)", loud), 1.0),
        (("torch.inference_mode()", inference), 5.0),
        (("torch.inference_mode(True)", inference), 1.0),
        (("torch.inference_mode(mode=True)", inference), 0.5),
        (("torch.inference_mode(False)", normal), 2.0),
        (("torch._C._InferenceMode(True)", inference), 1.0 * rare),
        (("torch._C._InferenceMode(False)", normal), 0.6 * rare),
        (("torch._C._AutoDispatchBelowAutograd()", replace(mode, below_autograd=True)), 1.5 * rare),
        (
            (
                "torch._C._AutoDispatchBelowADInplaceOrView()",
                replace(mode, below_autograd=True, below_inplace=True),
            ),
            3.0 * rare,
        ),
    ]


@subject("modes", 4.0)
def open_block(scene: Scene) -> None:
    if scene.depth >= DEEPEST or (scene.depth and scene.draw.chance(0.4)):
        return
    guard, mode = scene.draw.weighted(guards(scene))
    scene.enter(guard, mode)


@subject("modes", 1.0)
def close(scene: Scene) -> None:
    """Leaves the innermost block, where it has a body."""
    if scene.depth and not scene.lines[-1].endswith(":"):
        scene.leave()


@subject("modes", 0.3)
def set_by_hand(scene: Scene) -> None:
    flag = scene.draw.chance(0.5)
    scene.line(f"torch.set_grad_enabled({flag})")
    scene.set_mode(replace(scene.mode, grad=flag))


@subject("modes", 0.6)
def ask(scene: Scene) -> None:
    scene.line(
        scene.draw.pick(
            [
                "modes()",
                "torch.is_grad_enabled()",
                "torch.is_inference_mode_enabled()",
                "in_thread(modes)",
                "torch.no_grad()(modes)()",
                "torch.inference_mode()(modes)()",
                "torch.inference_mode(False)(modes)()",
                "torch.inference_mode(modes)()",
                "torch.no_grad(modes)()",
                "torch.enable_grad()(modes)()",
                "torch.set_grad_enabled(False)(modes)()",
            ]
        )
    )


@subject("modes", 1.2)
def decorated(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var()
    if var is None:
        return
    guard, mode = draw.pick(
        [
            ("torch.no_grad()", replace(scene.mode, grad=False)),
            ("torch.inference_mode()", replace(scene.mode, grad=False, inference=True)),
            (
                "torch.inference_mode(False)",
                replace(scene.mode, grad=True, inference=False, below_autograd=False),
            ),
            ("torch.enable_grad()", replace(scene.mode, grad=True)),
        ]
    )
    outside = scene.mode
    scene.set_mode(mode)
    result = scene.computed(var.shape, var.dtype, [var])
    scene.set_mode(outside)
    if draw.chance(0.25):
        writes = not (var.inference and not mode.inference) and not (var.grad and var.leaf and mode.records)
        scene.assign(
            f"{guard}(tripled_in_place)({var.name})",
            replace(var, name="", doubtful=not writes),
            raises=not writes,
        )
        scene.written(var)
    else:
        scene.assign(f"{guard}(doubles)({var.name})", result)


@subject("modes", 0.4)
def generator_function(scene: Scene) -> None:
    var = scene.float_var(lambda var: not var.inference)
    if var is None:
        return
    guard = scene.draw.pick(["torch.no_grad()", "torch.inference_mode()", "torch.enable_grad()"])
    name = scene.fresh_name()
    scene.line(f"steps = {guard}(powers)({var.name})")
    scene.line(f"{name} = next(steps)")
    scene.remember(replace(var, name=name))
    scene.line(f"{name} = next(steps)")
    scene.remember(replace(var, name=name, grad=False, doubtful=True, inference="inference" in guard))
    scene.line("modes()")


@subject("modes", 0.3)
def tensor_in_thread(scene: Scene) -> None:
    var = scene.float_var()
    if var is None:
        return
    expression, dtype = scene.draw.pick(
        [
            (f"in_thread(lambda: {var.name} * 2)", var.dtype),
            (f"in_thread(lambda: torch.ones_like({var.name}))", var.dtype),
            (f"in_thread(lambda: {var.name}.view(-1))", var.dtype),
        ]
    )
    shape = (var.size,) if "view" in expression else var.shape
    result = scene.computed(shape, dtype, [var])
    result.inference, result.doubtful = False, True
    scene.assign(expression, result, raises=var.inference)
