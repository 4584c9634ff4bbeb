"""Guards across functions, generators, exceptions and threads."""

from __future__ import annotations

from dataclasses import replace

from .scene import Scene
from .subjects import long_subject

GUARDS = [
    "torch.no_grad()", "torch.enable_grad()", "torch.inference_mode()", "torch.inference_mode(False)",
    "torch._C._AutoDispatchBelowAutograd()", "torch._C._AutoDispatchBelowADInplaceOrView()",
    "torch.set_grad_enabled(False)", "torch.set_grad_enabled(True)", "torch._C._InferenceMode(False)",
    "torch.autograd.graph.save_on_cpu()", "torch.autograd.set_multithreading_enabled(False)",
    "torch.autograd.grad_mode.set_grad_enabled(False)", "torch.autograd.graph.disable_saved_tensors_hooks('off')",
]  # fmt: skip


def _guards(scene: Scene) -> str:
    return f"[{', '.join(scene.draw.pick(GUARDS) for _ in range(scene.draw.between(1, 3)))}]"


def _work(scene: Scene, name: str) -> str:
    return scene.draw.pick(
        [
            f"{name} * 2", f"{name}.view(-1)", f"{name}.clone()", f"({name} * {name}).sum()", f"{name}.mul_(2)",
            f"{name}.detach()", f"torch.ones_like({name})", f"{name}.add_(1)", f"{name}[...]", f"{name}.exp()",
            f"{name}.requires_grad_()", f"Square.apply({name})", f"AddsOne.apply({name})", f"{name}.sum().backward()",
            f"torch.autograd.grad(({name} * {name}).sum(), {name})[0]", f"{name}.view_as({name})", "modes()",
            f"{name}.unbind()[0]", f"copied({name})", f"{name}.to(torch.float64)", f"torch.empty(0).set_({name}.detach())",
        ]
    )  # fmt: skip


@long_subject("nesting", 4.0)
def called(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var()
    if var is None:
        return
    a = var.name
    work = _work(scene, a)
    call = draw.weighted(
        [
            (f"within({_guards(scene)}, lambda: {work})", 4.0),
            (f"interrupted({_guards(scene)}, lambda: {work})", 2.0),
            (f"within({_guards(scene)}, lambda: within({_guards(scene)}, lambda: {work}))", 2.0),
            (f"within({_guards(scene)}, lambda: interrupted({_guards(scene)}, lambda: {work}))", 1.0),
            (f"in_thread(lambda: within({_guards(scene)}, lambda: {work}))", 1.0),
            (f"within({_guards(scene)}, lambda: in_thread(lambda: {work}))", 1.0),
            (f"list(stepping({_guards(scene)}, lambda: {work}))[-1]", 1.0),
        ]
    )
    if draw.chance(0.6) and "modes()" not in call and "backward" not in call:
        scene.assign(call, replace(var, name="", doubtful=True, family=scene.new_family()))
    else:
        scene.line(call)


@long_subject("nesting", 2.0)
def suspended(scene: Scene) -> None:
    """Generators that stand still inside a guard, advanced and closed in any order."""
    draw = scene.draw
    var = scene.float_var()
    if var is None:
        return
    running = getattr(scene, "running", [])
    if running and draw.chance(0.7):
        name = draw.pick(running)
        action = draw.weighted(
            [
                (f"next({name})", 4.0),
                (f"{name}.close()", 2.0),
                (f"{name}.throw(ValueError('stop'))", 1.0),
                (f"del {name}", 0.5),
            ]
        )
        scene.line(action)
        if not action.startswith("next"):
            running.remove(name)
        return
    name = next((name for name in ("first_run", "second_run", "third_run") if name not in running), None)
    if name is None:
        return
    form = draw.pick(
        [
            f"stepping({_guards(scene)}, lambda: {_work(scene, var.name)})",
            f"torch.no_grad()(powers)({var.name})",
            f"torch.inference_mode()(powers)({var.name})",
            f"torch.enable_grad()(stepping)({_guards(scene)}, lambda: {_work(scene, var.name)})",
        ]
    )
    scene.line(f"{name} = {form}")
    scene.line(f"next({name})")
    scene.running = [*running, name]  # type: ignore[attr-defined]


@long_subject("nesting", 1.5)
def by_hand(scene: Scene) -> None:
    """Guards entered without a block, left later or never."""
    draw = scene.draw
    scene.line(
        draw.pick(
            [
                f"import contextlib; stack = contextlib.ExitStack(); stack.enter_context({draw.pick(GUARDS)})",
                "stack.close()",
                f"stack.enter_context({draw.pick(GUARDS)})",
                f"guard = {draw.pick(GUARDS)}; guard.__enter__()",
                "guard.__exit__(None, None, None)",
                "modes()",
                "torch._C._dispatch_tls_is_dispatch_key_excluded('AutogradCPU')",
                "torch._C._dispatch_tls_is_dispatch_key_included('ADInplaceOrView')",
                "torch._C._dispatch_tls_is_dispatch_key_excluded('ADInplaceOrView')",
            ]
        )
    )
