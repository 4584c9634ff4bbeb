"""Ops on tensors whose memory isn't in order: what they give, and with which strides."""

from __future__ import annotations

from dataclasses import replace

from .scene import FLOATS, Scene, Var
from .subjects import long_subject


@long_subject("layouts", 3.0)
def rearranged(scene: Scene) -> None:
    """A tensor with other strides: transposed, expanded, with steps, permuted."""
    var = scene.var(lambda var: len(var.shape) > 0 and var.size > 0)
    if var is None:
        return
    a, shape = var.name, var.shape
    forms = [(f"{a}[::2]", ((shape[0] + 1) // 2, *shape[1:])), (f"{a}.expand(2, *{a}.shape)", (2, *shape))]
    if len(shape) > 1:
        forms += [
            (f"{a}.transpose(0, -1)", (shape[-1], *shape[1:-1], shape[0])),
            (f"{a}[:, ::2]", (shape[0], (shape[1] + 1) // 2, *shape[2:])),
            (f"{a}.permute({', '.join(map(str, reversed(range(len(shape)))))})", shape[::-1]),
            (f"{a}.swapaxes(0, 1)", (shape[1], shape[0], *shape[2:])),
            (f"{a}.T", shape[::-1]) if len(shape) == 2 else (f"{a}.mT", (*shape[:-2], shape[-1], shape[-2])),
        ]
    expression, result = scene.draw.pick(forms)
    scene.assign(expression, scene.view_of(var, result, contiguous=False))


UNARY = [
    "exp()", "sigmoid()", "neg()", "abs()", "relu()", "tanh()", "square()", "clone()", "log1p()", "sqrt()", "sign()",
    "clamp(min=0.5)", "roll(1)", "contiguous()", "floor()", "round()", "erf()", "sin()", "cos()", "expm1()",
    "softmax(0)", "log_softmax(-1)", "softmax(-1)", "cumsum(0)", "cumsum(-1)", "cumprod(0)", "flip(0)", "flip(-1)",
    "sort(0)[0]", "sort(-1).values", "argsort(-1)", "masked_fill(torch.tensor(True), 2.0)", "tril()", "triu()",
    "roll(1, 0)", "float()", "double()", "to(torch.float64)", "bool()", "nan_to_num()",
    "add(1)", "mul(2)", "gelu()", "detach().clone()", "pow(2)", "reciprocal()",
    "repeat_interleave(2, 0)", "clone(memory_format=torch.contiguous_format)",
]  # fmt: skip


@long_subject("layouts", 4.0)
def same_shape(scene: Scene) -> None:
    var = scene.float_var(lambda var: len(var.shape) > 0)
    if var is None or scene.leaves_marks(var):
        return
    name = scene.draw.pick(UNARY)
    source = f"torch.nn.functional.gelu({var.name})" if name == "gelu()" else f"{var.name}.{name}"
    result = scene.computed(var.shape, var.dtype, [var])
    scene.assign(source, replace(result, doubtful=True, contiguous=False), raises=scene.saves_inference(var))


@long_subject("layouts", 2.0)
def like(scene: Scene) -> None:
    var = scene.var()
    if var is None:
        return
    a = var.name
    form = scene.draw.pick(
        [
            "torch.zeros_like({})", "torch.ones_like({}, dtype=torch.float64)", "torch.full_like({}, 2)",
            "torch.zeros_like({}, memory_format=torch.contiguous_format)", "torch.ones_like({}, requires_grad=True)",
            "torch.rand_like({}, dtype=torch.float32) * 0", "{}.new_zeros(2)", "{}.new_full((2, 2), 3)",
            "{}.new_ones({}.shape)", "torch.empty_like({}).fill_(1)", "{}.new_tensor([1, 2])",
        ]
    )  # fmt: skip
    scene.assign(form.replace("{}", a), Var("", var.shape, var.dtype, scene.mode.inference, doubtful=True))


@long_subject("layouts", 4.0)
def of_two(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var()
    other = scene.fits(var.shape, lambda item: item.dtype in FLOATS) if var else None
    if var is None or other is None or scene.leaves_marks(var, other):
        return
    a, b = var.name, other.name
    form = draw.pick(
        [
            "{a} + {b}", "{a} * {b}", "{b} - {a}", "{a} / {b}", "torch.where({a} > {b}, {a}, {b})", "torch.maximum({a}, {b})",
            "torch.fmin({a}, {b})", "torch.atan2({a}, {b})", "torch.lerp({a}, {b}, 0.5)", "torch.addcmul({a}, {a}, {b})",
            "torch.addcdiv({a}, {a}, {b}, value=2)", "torch.hypot({a}, {b})", "{a}.eq({b})", "{a} < {b}",
            "torch.broadcast_tensors({a}, {b})[0]", "{a}.masked_fill({b} > 0.6, 0.0)",
            "torch.remainder({a}, {b})", "torch.fmod({a}, {b})", "torch.isclose({a}, {b})",
            "torch.nn.functional.mse_loss({a}, {b})", "torch.nn.functional.smooth_l1_loss({a}, {b}, reduction='none')",
            "torch.copysign({a}, {b})", "torch.xlogy({a}, {b})", "{a}.expand_as({b})", "torch.heaviside({a}, {b})",
            "torch.stack([{a}, {a}], -1)", "torch.outer({a}.flatten(), {b}.flatten())",
        ]
    ).format(a=a, b=b)  # fmt: skip
    result = scene.computed(var.shape, var.dtype, [var, other])
    scene.assign(form, replace(result, doubtful=True, contiguous=False), raises=scene.saves_inference(var, other))


@long_subject("layouts", 3.0)
def reduced(scene: Scene) -> None:
    var = scene.float_var(lambda var: len(var.shape) > 0 and var.size > 0)
    if var is None or scene.leaves_marks(var):
        return
    dim = scene.dim(var)
    keep = scene.draw.pick(["", ", keepdim=True"])
    name = scene.draw.pick(
        ["sum", "mean", "prod", "amax", "amin", "logsumexp", "std", "var", "max", "min", "median", "argmax", "norm", "all",
         "any", "nansum", "kthvalue", "count_nonzero"]
    )  # fmt: skip
    text = f"{var.name}.{name}({'2, ' if name == 'norm' else '1, ' if name == 'kthvalue' else ''}{'dim=' if name in ('std', 'var') else ''}{dim}{'' if name == 'count_nonzero' else keep})"
    if name in ("max", "min", "median", "kthvalue", "mode"):
        text += "[0]"
    rest = list(var.shape)
    if keep and name != "count_nonzero":
        rest[dim] = 1
    else:
        rest.pop(dim)
    result = scene.computed(tuple(rest), var.dtype, [var])
    scene.assign(text, replace(result, doubtful=True), raises=scene.saves_inference(var))


@long_subject("layouts", 1.5)
def multiplied(scene: Scene) -> None:
    var = scene.float_var(lambda var: len(var.shape) in (1, 2) and var.size > 0)
    if var is None or scene.leaves_marks(var):
        return
    a = var.name
    if len(var.shape) == 2:
        form, shape = scene.draw.pick(
            [
                (f"{a} @ {a}.t()", (var.shape[0], var.shape[0])),
                (f"{a}.t() @ {a}", (var.shape[1], var.shape[1])),
                (f"torch.addmm({a}.new_zeros(1), {a}, {a}.t())", (var.shape[0], var.shape[0])),
                (f"torch.einsum('ij,kj->ik', {a}, {a})", (var.shape[0], var.shape[0])),
                (f"torch.nn.functional.linear({a}, {a})", (var.shape[0], var.shape[0])),
                (f"torch.bmm({a}[None], {a}.t()[None])", (1, var.shape[0], var.shape[0])),
                (f"{a} @ {a}[0]", (var.shape[0],)),
                (f"{a}.mv({a}[-1])", (var.shape[0],)),
            ]
        )
    else:
        form, shape = scene.draw.pick(
            [(f"{a} @ {a}", ()), (f"{a}.dot({a})", ()), (f"torch.outer({a}, {a})", var.shape * 2)]
        )
    scene.assign(form, scene.computed(shape, var.dtype, [var]), raises=scene.saves_inference(var))
