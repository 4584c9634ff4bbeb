"""Hooks of tensors, nodes, saved tensors and modules."""

from __future__ import annotations

from .scene import Scene
from .subjects import long_subject

HOOKS = [
    "noted",
    "doubled",
    "halved_in_place",
    "lambda g: None",
    "raising",
    "lambda g: g.sum()",
    "lambda g: g.detach()",
]
PACKINGS = [
    "lambda x: x, lambda x: x", "lambda x: x * 2, lambda x: x", "lambda x: x.clone(), lambda x: x / 2",
    "lambda x: x.detach(), lambda x: x", "raising, lambda x: x", "lambda x: x, raising", "lambda x: 3, lambda x: x",
    "lambda x: seen.append(tuple(x.shape)) or x, lambda x: x", "lambda x: x.add_(1), lambda x: x",
]  # fmt: skip


@long_subject("hooking", 3.0)
def of_tensor(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: var.grad) or scene.float_var()
    if var is None:
        return
    a, hook = var.name, draw.pick(HOOKS)
    other = scene.float_var(lambda item: item.grad) or var
    scene.line(
        draw.pick(
            [
                f"handle = {a}.register_hook({hook})",
                f"handle = {a}.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.tolist()))",
                f"handle = {a}.register_post_accumulate_grad_hook(lambda t: setattr(t, 'grad', None))",
                f"handle = {a}.grad_fn.register_hook(lambda i, o: seen.append((len(i), len(o))))",
                f"handle = {a}.grad_fn.register_prehook(lambda g: (g[0] * 2, *g[1:]))",
                f"handle = {a}.grad_fn.register_hook(lambda i, o: tuple(None if x is None else x * 2 for x in i))",
                f"handle = torch.autograd.graph.register_multi_grad_hook([{a}, {other.name}], lambda gs: seen.append([g is None for g in gs]))",
                f"handle = torch.autograd.graph.register_multi_grad_hook([{a}, {other.name}], lambda g: seen.append(g.tolist()), mode='any')",
                "handle.remove()",
                f"{a}.retain_grad()",
                f"{a}._backward_hooks is None",
                f"[type(n).__name__ for n, _ in {a}.grad_fn.next_functions]",
                f"torch.autograd.graph.get_gradient_edge({a}).output_nr",
                f"torch.autograd.grad({a}.sum(), torch.autograd.graph.get_gradient_edge({other.name}), allow_unused=True)",
                f"{a}.grad_fn._raw_saved_self.register_hooks(lambda x: x, lambda x: x * 2)",
                f"{a}.grad_fn._saved_self",
                f"{a}.grad_fn.metadata",
                f"{a}.grad_fn.name()",
            ]
        )
    )


@long_subject("hooking", 2.0)
def of_saved(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: var.grad) or scene.float_var()
    if var is None or scene.leaves_marks(var):
        return
    a = var.name
    work = draw.pick(
        [f"{a} * {a}", f"{a}.exp()", f"{a}.sin()", f"Square.apply({a})", f"({a} * {a}).exp()", f"{a} ** 2"]
    )
    guard = f"torch.autograd.graph.saved_tensors_hooks({draw.pick(PACKINGS)})"
    result = scene.computed(var.shape, var.dtype, [var])
    made = scene.assign(f"within([{guard}], lambda: {work})", result, raises=scene.saves_inference(var))
    if made.name in scene.variables and draw.chance(0.6):
        scene.line(f"{made.name}.sum().backward()")


@long_subject("hooking", 1.0)
def of_module(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: len(var.shape) > 0 and var.dtype == "float32" and var.size > 0)
    if var is None or scene.leaves_marks(var):
        return
    size = var.shape[-1]
    scene.line(f"layer = settled(torch.nn.Linear({size}, 2))")
    scene.line(
        draw.pick(
            [
                "handle = layer.register_forward_hook(lambda m, i, o: o * 2)",
                "handle = layer.register_forward_pre_hook(lambda m, i: (i[0] + 1,))",
                "handle = layer.register_full_backward_hook(lambda m, i, o: seen.append((i[0] is None, o[0].tolist())))",
                "handle = layer.register_full_backward_hook(lambda m, i, o: (None if i[0] is None else i[0] * 2,))",
                "handle = layer.register_full_backward_pre_hook(lambda m, o: (o[0] * 3,))",
                "handle = layer.weight.register_hook(noted)",
                "layer.requires_grad_(False)",
            ]
        )
    )
    made = scene.assign(f"layer({var.name})", scene.computed((*var.shape[:-1], 2), "float32", [var]))
    if draw.chance(0.7):
        scene.line(f"{made.name}.sum().backward()")
        scene.line("layer.weight.grad")
