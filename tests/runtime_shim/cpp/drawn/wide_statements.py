"""Statements of the profile "wide": what guards stand around in extensions; see wide_support.h."""

from __future__ import annotations

from collections.abc import Callable

from .scene import GUARDS, Scene, Shape


def apply(scene: Scene) -> None:
    draw = scene.draw
    a = scene.some()
    b = scene.of_shape(scene.shapes[a])
    shape = scene.shapes[a]
    size = 1
    for n in shape:
        size *= n
    forms: list[tuple[str, Shape]] = [
        (f"{name}::apply(v[{a}])", shape)
        for name in ("SavesItsResult", "ReturnsItsInput", "WritesBelow", "InInferenceMode", "Throws")
    ]
    forms += [(f"ProductBelow::apply(v[{a}], v[{b}])", shape)] * 2
    forms += [(f"SumAndProduct::apply(v[{a}], v[{b}])[{draw.pick('01')}]", shape)] * 2
    forms += [(f"ReturnsAView::apply(v[{a}])", (size,))]
    scene.assign(*draw.pick(forms))


def call_op(scene: Scene) -> None:
    draw = scene.draw
    a = scene.some()
    shape = scene.shapes[a]
    if draw.chance(0.25):
        scene.statement(f"halve_(v[{a}])")
        return
    forms: list[tuple[str, Shape]] = [(f"scale(v[{a}], {draw.pick(['2', '0.5'])})", shape)] * 2
    forms += [(f"{name}(v[{a}])", shape) for name in ("twice", "cpu_alone", "no_derivative")]
    forms += [(f"first_row(v[{a}])", shape[1:])]
    scene.assign(*draw.pick(forms))


def _inner(scene: Scene) -> str:
    """A statement for a body of a lambda."""
    draw = scene.draw
    a, b = scene.some(), scene.some()
    target = scene.target()
    forms: list[tuple[str, Shape | None]] = [
        (f"v[{target}] = v[{a}] * 2", scene.shapes[a]),
        (f"v[{target}] = v[{a}].exp()", scene.shapes[a]),
        (f"v[{target}] = v[{a}].alias()", scene.shapes[a]),
        (f"v[{target}] = v[{a}].unsqueeze(0)", (1, *scene.shapes[a])),
        (f"v[{target}] = torch::ones({{2, 2}}, torch::requires_grad())", (2, 2)),
        (f"v[{a}].mul_(2)", None),
        (f"v[{a}].add_(v[{b}])", None),
        (f"v[{a}].sum().backward()", None),
        (f"halve_(v[{a}])", None),
    ]
    text, shape = draw.pick(forms)
    if shape is not None:
        scene.shapes[target] = shape
    return text


def _body(scene: Scene, count: int) -> str:
    return " ".join(f"{_inner(scene)};" for _ in range(count))


def _guard(scene: Scene, name: str) -> str:
    guard, argument = scene.draw.pick(GUARDS)
    return f"{guard} {name}{f'({argument})' if argument else ''};"


def guarded_body(scene: Scene) -> None:
    """Guards within one statement: nested, in a lambda that is called elsewhere, left by an exception, in a thread."""
    draw = scene.draw
    guard, argument = draw.pick(GUARDS)
    tail = f", {argument}" if argument else ""
    forms = [
        lambda: (
            f"{_guard(scene, 'outer')} {_inner(scene)}; {{ {_guard(scene, 'inner')} {_inner(scene)}; }} {_inner(scene)}"
        ),
        lambda: f"auto later = [&] {{ {_body(scene, 2)} }}; {_guard(scene, 'guard')} later()",
        lambda: (
            f"auto made = [&] {{ {_guard(scene, 'guard')} return v[{scene.some()}] * 2; }}; {_inner(scene)}; "
            f"v[{scene.some()}] = made()"
        ),
        lambda: f"thrown_out_of<{guard}>([&] {{ {_body(scene, 2)} }}{tail})",
        lambda: (
            f'try {{ {_guard(scene, "guard")} {_inner(scene)}; throw std::runtime_error("left"); }} '
            f"catch (const std::runtime_error&) {{ {_inner(scene)}; }}"
        ),
        lambda: f"in_thread([&] {{ {_body(scene, 2)} }})",
        lambda: f"in_thread([&] {{ {_guard(scene, 'guard')} {_body(scene, 2)} }})",
        lambda: f"{_guard(scene, 'guard')} in_thread([&] {{ {_body(scene, 1)} }}); {_inner(scene)}",
    ]
    scene.statement(draw.pick(forms)())


def hook(scene: Scene) -> None:
    draw = scene.draw
    a, b = scene.some(), scene.some()
    forms = [
        f"v[{a}].register_hook([&](at::Tensor grad) {{ v[{b}].mul_(2); return grad + 1; }})",
        f"v[{a}].register_hook([](at::Tensor grad) {{ grad.mul_(2); }})",
        f"v[{a}].register_hook([](at::Tensor grad) {{ c10::InferenceMode guard; return grad * 2; }})",
        f"v[{a}].register_hook([](at::Tensor grad) {{ at::AutoGradMode guard(true); return grad * grad; }})",
        f"v[{a}].remove_hook(v[{a}].register_hook([](at::Tensor grad) {{ return grad * 7; }}))",
        f"v[{a}].remove_hook(0)",
        f"v[{a}].retain_grad(); note([&] {{ return v[{a}].retains_grad(); }})",
    ]
    scene.statement(draw.pick(forms))


def write_memory(scene: Scene) -> None:
    """Writes that no layer sees, and what counts one."""
    draw = scene.draw
    a = scene.some()
    shape = scene.shapes[a]
    forms = [f"v[{a}].data_ptr<float>()[0] = 3", f"v[{a}].mutable_data_ptr<float>()[0] += 1"]
    forms += [f"torch::autograd::increment_version(v[{a}])", f"v[{a}].unsafeGetTensorImpl()->bump_version()"]
    forms += [f"torch::autograd::impl::bump_version(v[{a}])", f"v[{a}].data().add_(1)", f"v[{a}].detach().mul_(2)"]
    if shape:
        zeros = "[0]" * len(shape)
        forms += [f"v[{a}].accessor<float, {len(shape)}>(){zeros} = 2"]
        forms += [f"v[{a}].accessor<float, {len(shape)}>(){zeros} *= 2; v[{a}].unsafeGetTensorImpl()->bump_version()"]
    scene.statement(draw.pick(forms))


def write_out(scene: Scene) -> None:
    draw = scene.draw
    a, c = scene.some(), scene.some()
    b = scene.of_shape(scene.shapes[a])
    forms = [f"torch::{name}_out(v[{c}], v[{a}], v[{b}])" for name in ("add", "mul", "div", "maximum")]
    forms += [f"at::{name}_out(v[{c}], v[{a}])" for name in ("sin", "sigmoid", "neg", "abs")]
    forms += [f"torch::cat_out(v[{c}], {{v[{a}], v[{b}]}})", f"torch::cumsum_out(v[{c}], v[{a}], 0)"]
    forms += [f"torch::mm_out(v[{c}], v[{a}], v[{b}])", f"torch::matmul_out(v[{c}], v[{a}], v[{b}])"]
    scene.statement(draw.pick(forms))


def train(scene: Scene) -> None:
    draw = scene.draw
    a = scene.some()
    shape = scene.shapes[a]
    if draw.chance(0.5):
        optimizer = draw.pick(["SGD", "Adam", "AdamW", "Adagrad", "RMSprop"])
        scene.statement(f"step<torch::optim::{optimizer}>(v[{a}], torch::optim::{optimizer}Options(0.1))")
        return
    forms: list[tuple[str, Shape]] = [
        (f"linear(v[{a}])", (*shape[:-1], 2)),
        (f"weight_after_step(v[{a}])", (1, *shape[-1:])),
        (f"normalized(v[{a}])", shape[-1:]),
        (f"torch::nn::functional::layer_norm(v[{a}], torch::nn::functional::LayerNormFuncOptions({{2}}))", shape),
        (f"torch::nn::ReLU(torch::nn::ReLUOptions(true))(v[{a}])", shape),
        (f"torch::nn::Sequential(torch::nn::Tanh(), torch::nn::Softmax(-1))->forward(v[{a}])", shape),
        (f"torch::mse_loss(v[{a}], v[{scene.of_shape(shape)}])", ()),
    ]
    scene.assign(*draw.pick(forms))


SUBJECTS: list[tuple[Callable[[Scene], None], float]] = [
    (apply, 4.0),
    (call_op, 4.0),
    (guarded_body, 4.0),
    (hook, 1.5),
    (write_memory, 2.0),
    (write_out, 1.5),
    (train, 2.0),
]
