"""Other tensors over the same memory, and copies: detach, `.data`, clone, numpy, deepcopy, pickle."""

from __future__ import annotations

from dataclasses import replace

from .scene import Scene, Var
from .subjects import subject


@subject("storage", 2.5)
def detach(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var()
    if var is None:
        return
    expression = draw.weighted([(f"{var.name}.detach()", 3.0), (f"{var.name}.data", 2.0)])
    # Of an inference tensor outside inference mode both have a counter of their own: mutable.
    scene.assign(expression, replace(var, name="", grad=False, leaf=True, meta=None, family=var.family))


@subject("storage", 2.0)
def clone(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var()
    if var is None or (scene.mode.below_autograd and scene.leaves_marks(var)):
        return
    expression = draw.weighted(
        [
            (f"{var.name}.clone()", 5.0),
            (f"torch.clone({var.name})", 0.5),
            (f"{var.name}.detach().clone()", 1.0),
            (f"{var.name}.clone().detach()", 0.5),
            (f"{var.name}.contiguous()", 1.0),
        ]
    )
    result = scene.computed(var.shape, var.dtype, [var])
    if "detach" in expression:
        result.grad, result.leaf = False, True
    if "contiguous" in expression:
        if not var.contiguous and scene.leaves_marks(var):
            return
        result = replace(var, name="")
    scene.assign(expression, result)


@subject("storage", 1.2)
def set_data(scene: Scene) -> None:
    draw = scene.draw
    target = scene.var()
    source = scene.var(
        lambda var: target is not None and (var.dtype == target.dtype or draw.chance(0.1)) and not var.doubtful
    )
    if target is None or source is None or target is source:
        return
    text = draw.pick([source.name, source.name, f"{source.name}.clone()", f"{source.name} + 1"])
    if scene.leaves_marks(source) and text != source.name:
        return
    scene.line(f"{target.name}.data = {text}")
    mixed = source.inference != target.inference
    target.shape, target.dtype, target.contiguous = source.shape, source.dtype, source.contiguous
    if text == source.name:
        target.inference, target.family = source.inference, scene.new_family()
    target.doubtful = target.doubtful or mixed or target.grad


@subject("storage", 0.6)
def detach_in_place(scene: Scene) -> None:
    var = scene.var()
    if var is None:
        return
    scene.line(f"{var.name}.detach_()")
    if var.meta is None and not (scene.mode.inference or scene.mode.below_autograd):
        var.grad, var.leaf = False, True


@subject("storage", 0.8)
def through_numpy(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var(lambda var: not var.grad or draw.chance(0.15))
    if var is None:
        return
    a = var.name
    result = Var("", var.shape, var.dtype, scene.mode.inference, family=scene.new_family())
    raises = var.grad
    form = draw.pick(["from_numpy", "as_tensor", "tensor", "detached"])
    if form == "detached":
        scene.assign(f"torch.from_numpy({a}.detach().numpy())", result)
    elif form == "tensor":
        if scene.leaves_marks(var):
            return
        scene.assign(
            f"torch.tensor({a}.tolist())",
            replace(result, dtype="float32" if var.floating else "int64", doubtful=not var.floating),
        )
    else:
        scene.assign(f"torch.{form}({a}.numpy())", result, raises=raises)


@subject("storage", 0.7)
def copy(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var(lambda var: var.leaf or draw.chance(0.25))
    if var is None or scene.mode.below_autograd:
        return
    expression = draw.weighted(
        [(f"copied({var.name})", 2.0), (f"pickled({var.name})", 1.0), (f"saved({var.name})", 0.7)]
    )
    result = replace(var, name="", inference=scene.mode.inference, family=scene.new_family(), doubtful=var.doubtful)
    scene.assign(expression, result, raises=not var.leaf)


@subject("storage", 0.8)
def read(scene: Scene) -> None:
    """Reads that must work in every state, and the text of a tensor."""
    draw = scene.draw
    var = scene.var()
    if var is None:
        return
    a = var.name
    forms = [
        f"{a}.tolist()",
        f"{a}.shape",
        f"{a}.dtype",
        f"{a}.stride()",
        f"{a}.is_contiguous()",
        f"{a}.numel()",
        f"{a}.dim()",
        f"{a}.storage_offset()",
        f"{a}.is_leaf",
        f"{a}.requires_grad",
        f"{a}.is_floating_point()",
        f"{a}.element_size()",
        f"repr({a})",
        f"repr({a})",
        f"str({a})",
    ]
    if var.shape:
        forms += [f"len({a})", f"{a}.size(0)", f"{a}.size()"]
    if var.size == 1:
        forms += [f"{a}.item()", f"float({a})", f"bool({a})", f"int({a})"]
    scene.line(draw.pick(forms))


@subject("storage", 0.3)
def forget(scene: Scene) -> None:
    """A base may lose its name while its views live on."""
    if len(scene.variables) < 5:
        return
    var = scene.var(lambda var: not var.doubtful)
    if var is not None:
        scene.line(f"del {var.name}")
        del scene.variables[var.name]


@subject("storage", 0.25)
def version(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var()
    if var is None:
        return
    a = var.name
    scene.line(
        draw.pick(
            [
                f"{a}._version",
                f"{a}._version",
                f"torch.autograd.graph.increment_version({a})",
                f"{a}._version = 3",
                f"{a}.is_inference()",
                f"torch.is_inference({a})",
                f"{a}.data_ptr() == {draw.pick(sorted(scene.variables))}.data_ptr()",
            ]
        )
    )
