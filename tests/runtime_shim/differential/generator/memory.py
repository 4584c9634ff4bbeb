"""Other readings of the same memory: views as another dtype, as_strided, set_, resize_, storages that are shared, copied,
pickled.
"""

from __future__ import annotations

from dataclasses import replace

from .scene import Scene, Var
from .subjects import long_subject

SIZES = {"float64": 8, "int64": 8, "float32": 4, "int32": 4, "float16": 2, "int16": 2, "uint8": 1, "int8": 1, "bool": 1}


@long_subject("memory", 1.0)
def as_another_dtype(scene: Scene) -> None:
    var = scene.var(lambda var: var.dtype in SIZES)
    if var is None:
        return
    dtype = scene.draw.pick(sorted(SIZES))
    if SIZES[dtype] > SIZES[var.dtype] and scene.draw.chance(0.6):
        dtype = {8: "int64", 4: "int32", 2: "int16", 1: "uint8"}[SIZES[var.dtype]]
    ratio = SIZES[var.dtype] / SIZES[dtype]
    raises = not var.shape and ratio != 1
    shape = (*var.shape[:-1], int(var.shape[-1] * ratio)) if var.shape else ()
    scene.assign(
        f"{var.name}.view(torch.{dtype})", replace(scene.view_of(var, shape), dtype=dtype, grad=False, doubtful=True),
        raises=raises,
    )  # fmt: skip


@long_subject("memory", 2.0)
def strided(scene: Scene) -> None:
    var = scene.var(lambda var: var.size > 3)
    if var is None:
        return
    sizes, strides = scene.draw.pick([("(1, 2)", "(1, 1)"), ("(3,)", "(1,)"), ("(2,)", "(2,)"), ("(2, 2)", "(2, 1)")])
    offset = scene.draw.pick(["", ", 0", ", 1"])
    shape = tuple(map(int, sizes.strip("(),").split(", ")))
    scene.assign(
        f"{var.name}.as_strided({sizes}, {strides}{offset})", replace(scene.view_of(var, shape), contiguous=False)
    )


@long_subject("memory", 2.0)
def resized(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var(lambda var: (not var.grad or draw.chance(0.2)) and var.size > 1 and not var.doubtful)
    if var is None:
        return
    other = scene.var(lambda item: item.dtype == var.dtype) or var
    a, b = var.name, other.name
    scene.line(
        draw.pick(
            [
                f"{a}.resize_({a}.shape)",
                f"{a}.resize_(1)",
                f"{a}.resize_(2)",
                f"{a}.resize_as_({b})" if other.size <= var.size else f"{a}.resize_(1)",
                f"{a}.set_({b})",
                f"{a}.set_({b}.untyped_storage(), 0, (1,), (1,))",
                f"{a}.set_()",
                f"{a}.untyped_storage().nbytes()",
                f"{a}.untyped_storage().data_ptr() == {b}.untyped_storage().data_ptr()",
                f"{a}.is_set_to({b})",
                f"{a}.data = {b}.detach()",
            ]
        )
    )
    var.doubtful = True


@long_subject("memory", 2.5)
def duplicated(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var(lambda var: var.inference) if draw.chance(0.6) else scene.var()
    var = var or scene.var()
    if var is None:
        return
    other = scene.var() or var
    a, b = var.name, other.name
    target = scene.fresh_name()
    form = draw.pick(
        [
            f"{target} = copied({a})", f"{target} = pickled({a})", f"{target} = saved({a})", f"{target} = shallow({a})",
            f"{target}, _ = copied([{a}, {b}])", f"{target}, _ = pickled([{a}, {a}.detach().view(-1)])",
            f"{target} = copied(torch.nn.Parameter({a}))", f"{target} = within([torch.inference_mode()], lambda: copied({a}))",
            f"{target} = within([torch.inference_mode(False)], lambda: pickled({a}))",
            f"{target} = pickled({a}.detach())", f"{target} = copied({a}.detach())", f"{target} = shallow({a}.data)",
            f"{target} = torch.asarray({a})", f"{target} = torch.as_tensor({a}, dtype=torch.float64)",
        ]
    )  # fmt: skip
    scene.line(form)
    scene.remember(replace(var, name=target, doubtful=True, family=scene.new_family(), inference=False))


@long_subject("memory", 2.0)
def overlapping_write(scene: Scene) -> None:
    """Writes through a part of the memory, and what the others see of it."""
    draw = scene.draw
    var = scene.float_var(lambda var: var.size > 1 and len(var.shape) > 0)
    if var is None:
        return
    a = var.name
    scene.line(
        draw.pick(
            [
                f"{a}.flip(0).copy_({a})", f"{a}[:1].mul_({a}[-1:])", f"{a}.copy_({a}.flip(0))", f"{a}[0] = {a}[-1]",
                f"{a}.data.add_(1)", f"{a}.detach().mul_(2)", f"{a}.view(-1)[0].fill_(3)", f"{a}.expand(2, *{a}.shape).add_(1)", f"{a}.numpy().fill(1)", f"{a}.detach().numpy()[...] = 2",
                f"torch.add({a}, 1, out={a})", f"torch.cumsum({a}, 0, out={a}.detach())", f"{a}.swapaxes_(0, -1)",
                f"{a}.squeeze_().add_(1)", f"{a}.index_fill_(0, torch.tensor([0]), 2)", f"{a}.clamp_(min=0.5)",
                f"{a}.masked_fill_({a} > 1, 0)", f"{a}.diagonal().zero_()", f"{a}.unbind()[0].add_(1)",
                f"{a}.chunk(2)[0].mul_(2)", f"{a}.select(0, 0).detach().zero_()", f"{a}.index_add_(0, torch.tensor([0]), {a}[:1])",
            ]
        )
    )  # fmt: skip
    var.doubtful = True


@long_subject("memory", 0.8)
def created_of_views(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: len(var.shape) > 0 and var.size > 0)
    if var is None:
        return
    a = var.name
    text, shape = draw.pick(
        [
            (f"{a}.unfold(0, 1, 1)", (*var.shape, 1)),
            (f"torch.atleast_2d({a})", var.shape if len(var.shape) > 1 else (1, *var.shape)),
            (f"{a}.tile((2,))", (*var.shape[:-1], 2 * var.shape[-1])),
            (f"torch.vstack([{a}, {a}])", (2, *var.shape)),
            (f"{a}.unflatten(0, (1, -1))", (1, *var.shape)),
            (f"{a}.view_as({a}.clone())", var.shape),
            (f"torch.meshgrid({a}.flatten(), {a}.flatten(), indexing='ij')[0]", (var.size, var.size)),
            (f"torch.tensor_split({a}, 2)[0]", var.shape),
        ]
    )
    if scene.leaves_marks(var):
        return
    scene.assign(text, Var("", shape, var.dtype, scene.mode.inference, var.grad, not var.grad, doubtful=True))
