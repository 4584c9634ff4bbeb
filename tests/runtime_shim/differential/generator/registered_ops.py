"""Libraries: ops with kernels under several dispatch keys, called under guards."""

from __future__ import annotations

from dataclasses import replace

from .scene import Scene
from .subjects import long_subject

KEYS = ["CPU", "Autograd", "AutogradCPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "ADInplaceOrView"]
SCHEMAS = {
    "twice": (
        "(Tensor x) -> Tensor",
        ["doubles", "lambda x: x.clone() * 2", "lambda x: x.detach() * 2", "Square.apply"],
    ),
    "grow_": ("(Tensor(a!) x) -> Tensor(a!)", ["tripled_in_place", "lambda x: x.add_(1)"]),
    "peek": ("(Tensor(a) x) -> Tensor(a)", ["lambda x: x.view_as(x)", "lambda x: x.view(-1)"]),
    "same": ("(Tensor x) -> Tensor", ["lambda x: x", "lambda x: x * 1"]),
}
GUARDS = [
    "torch._C._AutoDispatchBelowAutograd()", "torch._C._AutoDispatchBelowADInplaceOrView()", "torch.inference_mode()",
    "torch.no_grad()", "torch.enable_grad()",
]  # fmt: skip


@long_subject("libraries", 3.0)
def registered(scene: Scene) -> None:
    draw = scene.draw
    known = getattr(scene, "ops", ())
    name = draw.pick(sorted(SCHEMAS))
    if name in known:
        return
    schema, kernels = SCHEMAS[name]
    parts = []
    for key in draw.some(KEYS, draw.weighted([(1, 1.0), (2, 3.0), (3, 1.0)])):
        kernel = draw.pick(kernels)
        if key in ("Autograd", "AutogradCPU", "ADInplaceOrView") and draw.chance(0.75):
            guard = GUARDS[1] if key == "ADInplaceOrView" else draw.pick(GUARDS[:2])
            kernel = f"lambda x: within([{guard}], lambda: torch.ops.drawn.{name}(x))"
        parts.append(f"{key}=noting('{key}', {kernel})")
    scene.line(f"registered('{name}', '{schema}', {', '.join(parts)})")
    scene.ops = (*known, name)  # type: ignore[attr-defined]


@long_subject("libraries", 5.0)
def called_op(scene: Scene) -> None:
    draw = scene.draw
    known = getattr(scene, "ops", ())
    var = scene.float_var()
    if var is None or not known:
        return
    name = draw.pick(known)
    call = draw.pick([f"torch.ops.drawn.{name}({var.name})", f"torch.ops.drawn.{name}.default({var.name})"])
    if draw.chance(0.3):
        call = f"within([{draw.pick(GUARDS)}], lambda: {call})"
    made = scene.assign(call, replace(var, name="", doubtful=True))
    if draw.chance(0.4):
        scene.line(f"{made.name}.sum().backward()")
