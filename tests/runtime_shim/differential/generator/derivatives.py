"""Second and third derivatives of many ops, and the functions of torch.autograd.functional."""

from __future__ import annotations

from dataclasses import replace

from .scene import Scene
from .subjects import long_subject

FUNCTIONS = [
    "{a} ** 2", "{a} ** 3", "{a} ** 0.5", "{a}.exp()", "{a}.log()", "{a}.sqrt()", "{a}.sin()", "{a}.cos()", "{a}.tanh()",
    "{a}.sigmoid()", "{a}.relu()", "{a}.abs()", "{a}.reciprocal()", "{a}.square()", "{a}.rsqrt()", "{a}.log1p()", "{a}.erf()",
    "{a}.softmax(0)", "{a}.log_softmax(-1)", "F.leaky_relu({a})", "F.hardtanh({a})", "F.softplus({a})", "F.elu({a})",
    "F.gelu({a})", "F.silu({a})", "F.logsigmoid({a})", "F.hardsigmoid({a})", "F.hardswish({a})", "F.mish({a})", "F.selu({a})",
    "{a}.clamp(0, 1)", "{a}.cumsum(0)", "{a}.cumprod(0)", "{a}.prod()", "{a}.logsumexp(0)", "{a}.norm()", "{a}.std()",
    "{a}.var()", "{a}.mean()", "{a} * {a}", "{a} / ({a} + 2)", "1 / {a}", "2 ** {a}", "{a} ** {a}", "{a}.sum() * {a}",
    "torch.atan2({a}, {a} + 1)", "torch.where({a} > 0.6, {a} * {a}, {a})", "{a}.amax()", "{a}.max()", "{a}.sort(-1)[0]",
    "{a}.flatten()[[0, 0]] ** 2", "{a}.flatten() @ {a}.flatten()", "({a}.t() * {a}.t()).exp()", "{a}.masked_fill({a} > 1, 0)",
    "torch.cat([{a}, {a} * 2]) ** 2", "torch.stack([{a}, {a}]).prod(0)", "{a}.view(-1).roll(1) * {a}.view(-1)", "{a}.lerp({a} * 2, 0.3)",
    "torch.addcmul({a}, {a}, {a})", "torch.hypot({a}, {a} + 1)", "{a}.expm1()", "{a}.tan()", "{a}.atan()", "F.mse_loss({a}, {a} * 0 + 1)", "F.smooth_l1_loss({a}, {a} * 0)", "F.threshold({a}, 0.5, 0.0)",
    "F.layer_norm({a}, {a}.shape)", "F.normalize({a}, dim=0)", "{a}.flip(0) * {a}", "{a}.unsqueeze(0).expand(2, *{a}.shape) ** 2",
    "torch.outer({a}.flatten(), {a}.flatten())", "{a}.index_select(0, torch.tensor([0])) ** 3", "{a}.median()", "{a}.tril() ** 2",
    "torch.maximum({a}, {a} * {a})", "{a}.xlogy({a})", "{a}.repeat(2, *([1] * ({a}.dim() - 1))) ** 2",
    "F.softmin({a}, 0)", "F.celu({a})", "F.softsign({a})", "F.relu6({a})", "{a}.pow(2).cumsum(0)", "F.huber_loss({a}, {a} * 0)",
    "{a}.sinh()", "{a}.cosh()", "{a}.log2()", "{a}.exp2()", "{a}.nan_to_num()",
]  # fmt: skip


@long_subject("derivatives", 4.0)
def higher(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: var.grad and not var.inference)
    names = [name for name in "uvwxyz" if name not in scene.variables][:3]
    if var is None or scene.leaves_marks(var) or len(names) < 3:
        return
    a = var.name
    function = draw.pick(FUNCTIONS).format(a=a)
    inner = draw.pick([f"({function}).sum()", f"({function}).mean()", f"(({function}) * 2).sum()"])
    order = draw.between(1, 3)
    for name in names[:order]:
        options = draw.pick([", create_graph=True"] * 3 + [", retain_graph=True", ""])
        scene.line(f"({name},) = torch.autograd.grad({inner}, [{a}]{options}{draw.pick(['', ', allow_unused=True'])})")
        scene.remember(replace(var, name=name, leaf=False, doubtful=True, contiguous=False, family=scene.new_family()))
        inner = draw.pick([f"{name}.sum()", f"({name} * {name}).sum()", f"({name} * {a}).sum()"])
    if draw.chance(0.5):
        scene.line(f"{inner}.backward()")


@long_subject("derivatives", 1.0)
def functional(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: not var.inference and var.size < 7)
    if var is None or scene.leaves_marks(var):
        return
    a = var.name
    function = draw.pick(
        [
            "lambda x: (x ** 3).sum()",
            "lambda x: x.exp().sum()",
            "lambda x: (x * x).sin().sum()",
            "lambda x: x.relu().sum()",
        ]
    )
    options = draw.pick(["", "", ", create_graph=True", ", strict=True"])
    kind = draw.pick(
        [
            f"jacobian({function}, {a}{options})",
            f"hessian({function}, {a}{options})",
            f"vjp({function}, {a}{options})",
            f"jvp({function}, {a}, torch.ones_like({a}){options})",
            f"hvp({function}, {a}, torch.ones_like({a}){options})",
            f"vhp({function}, {a}, torch.ones_like({a}){options})",
        ]
    )
    scene.line(f"torch.autograd.functional.{kind}")


@long_subject("derivatives", 1.0)
def several_outputs(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: var.grad)
    other = scene.float_var(lambda item: item.grad) or var
    if var is None or other is None or scene.leaves_marks(var, other):
        return
    a, b = var.name, other.name
    scene.line(
        draw.pick(
            [
                f"torch.autograd.grad([({a} * {b}).sum(), {a}.sum()], [{a}, {b}], allow_unused=True)",
                f"torch.autograd.grad({a} * 2, {a}, torch.ones_like({a}))",
                f"torch.autograd.grad({a} * {a}, {a}, [torch.ones_like({a})], retain_graph=True, create_graph=True)",
                f"torch.autograd.grad({a}.sum(), [{b}], materialize_grads=True)",
                f"torch.autograd.grad(({a} * {a}), {a}, torch.eye({max(var.size, 1)}).reshape(-1, *{a}.shape), is_grads_batched=False)",
                f"torch.autograd.backward([{a}.sum(), ({b} * {b}).sum()], inputs=[{a}])",
                f"({a} * {a}).sum().backward(inputs=[{a}], create_graph=True)",
                f"({a} * {a}).sum().backward(inputs=[{b}])",
                f"{a}.backward(torch.ones(()))",
                f"{a}.sum().backward(torch.ones(2))",
                f"({a} * 2).backward({a}.detach(), retain_graph=True)",
                f"torch.autograd.gradcheck(lambda x: x * x, ({a}.detach().double().requires_grad_(),))",
            ]
        )
    )
