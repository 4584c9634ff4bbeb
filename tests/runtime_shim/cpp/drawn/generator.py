"""Draws C++ programs, statement by statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.runtime_shim.differential.generator.draw import Draw

from . import wide_statements
from .scene import GUARDS, SHAPES, CppProgram, Scene, Shape

Subject = Callable[[Scene], None]
"""Draws a statement."""
PROFILES = ("plain", "wide")
UNARY = "exp sin cos tanh sigmoid relu neg abs square sqrt log reciprocal floor sign".split()
BINARY = "add sub mul div maximum minimum atan2".split()
COMPARISON = "eq lt ge ne".split()
REDUCTIONS = "sum mean amax prod".split()


def generate(seed: int, profile: str = "plain") -> CppProgram:
    """A program of the profile "plain", or of "wide", which has the statements of `wide_statements` as well."""
    draw = Draw(f"cpp/{seed}" if profile == "plain" else f"cpp {profile}/{seed}")
    subjects = SUBJECTS if profile == "plain" else [*SUBJECTS, *wide_statements.SUBJECTS]
    scene = Scene(draw)
    for _ in range(draw.between(2, 3)):
        create(scene)
    fill(scene, subjects, draw.between(8, 20), 0.25)
    return CppProgram(seed, tuple(scene.lines))


def fill(scene: Scene, subjects: Sequence[tuple[Subject, float]], length: int, closing: float) -> None:
    """Draw statements up to this number of lines; a block that is open ends after one with the chance `closing`."""
    while len(scene.lines) < length:
        scene.draw.weighted(subjects)(scene)
        if scene.depth and scene.draw.chance(closing):
            close(scene)
    while scene.depth:
        close(scene)


# -- statements
# ---------------------------------------------------------------------------------------------------


def _braced(numbers: object) -> str:
    return "{" + ", ".join(map(str, numbers)) + "}"  # type: ignore[call-overload]


def create(scene: Scene) -> None:
    draw = scene.draw
    shape = draw.pick(SHAPES)
    options = draw.pick(["", "", "at::kDouble", "torch::requires_grad()", "torch::requires_grad()", "at::kLong"])
    tail = f", {options}" if options else ""
    size = 1
    for n in shape:
        size *= n
    numbers = _braced(draw.pick([-1.0, 0.5, 0.25, 2.0, 3.0, 1.5]) for _ in range(size))
    forms = [
        f"torch::ones({_braced(shape)}{tail})",
        f"torch::full({_braced(shape)}, {draw.pick(['0.5', '2.0', '-1.5'])}{tail})",
        f"torch::zeros({_braced(shape)}{tail})",
    ]
    if shape and options != "at::kLong":
        forms += [f"torch::tensor({numbers}{tail}).view({_braced(shape)})"] * 2
        if options != "torch::requires_grad()":
            forms.append(f"torch::tensor({numbers}{tail}).view({_braced(shape)}).set_requires_grad(true)")
    scene.assign(draw.pick(forms), shape)


def unary(scene: Scene) -> None:
    a = scene.some()
    name = scene.draw.pick(UNARY)
    form = scene.draw.pick([f"v[{a}].{name}()", f"torch::{name}(v[{a}])"])
    scene.assign(form, scene.shapes[a])


def binary(scene: Scene) -> None:
    draw = scene.draw
    a = scene.some()
    b = scene.of_shape(scene.shapes[a])
    name = draw.pick(BINARY)
    forms = [f"v[{a}].{name}(v[{b}])", f"torch::{name}(v[{a}], v[{b}])"]
    if name in ("add", "sub", "mul", "div"):
        sign = {"add": "+", "sub": "-", "mul": "*", "div": "/"}[name]
        forms += [f"v[{a}] {sign} v[{b}]", f"v[{a}] {sign} {draw.pick(['2', '0.5', '-1'])}", f"v[{a}].{name}(2)"]
    if draw.chance(0.1):
        forms = [f"v[{a}].{draw.pick(COMPARISON)}(v[{b}])", f"v[{a}] > 0", f"torch::where(v[{a}] > 0, v[{a}], v[{b}])"]
    scene.assign(draw.pick(forms), scene.shapes[a])


def reduce(scene: Scene) -> None:
    a = scene.some()
    name = scene.draw.pick(REDUCTIONS)
    shape = scene.shapes[a]
    if name != "prod" and shape and scene.draw.chance(0.4):
        keep = scene.draw.pick(["true", "false"])
        scene.assign(f"v[{a}].{name}(0, {keep})", ((1,) if keep == "true" else ()) + shape[1:])
    else:
        whole = "amax()" if name == "amax" else f"{name}()"
        scene.assign(f"v[{a}].{whole}", ())


def view(scene: Scene) -> None:
    draw = scene.draw
    a = scene.some()
    shape = scene.shapes[a]
    size = 1
    for n in shape:
        size *= n
    forms: list[tuple[str, Shape]] = [(f"v[{a}].view({{-1}})", (size,)), (f"v[{a}].detach()", shape)]
    forms += [(f"v[{a}].reshape({{-1}})", (size,)), (f"v[{a}].unsqueeze(0)", (1, *shape)), (f"v[{a}].alias()", shape)]
    if len(shape) == 2:
        turned = (shape[1], shape[0])
        forms += [(f"v[{a}].t()", turned), (f"v[{a}].transpose(0, 1)", turned), (f"v[{a}].diagonal()", (min(shape),))]
        forms += [(f"v[{a}].permute({{1, 0}})", turned)]
    if shape:
        forms += [
            (f"v[{a}].select(0, 0)", shape[1:]),
            (f"v[{a}][0]", shape[1:]),
            (f"v[{a}].narrow(0, 0, 1)", (1, *shape[1:])),
        ]
        forms += [(f"v[{a}].slice(0, 0, 2)", (min(2, shape[0]), *shape[1:]))]
        forms += [
            (f"v[{a}].index({{Slice(0, 1)}})", (1, *shape[1:])),
            (f"v[{a}].expand({_braced((2, *shape))})", (2, *shape)),
        ]
        forms += [(f"v[{a}].split(1)[0]", (1, *shape[1:])), (f"v[{a}].unbind(0)[0]", shape[1:])]
        forms += [(f"v[{a}].as_strided({{1, 2}}, {{1, 1}})", (1, 2))]
    expression, found = draw.pick(forms)
    scene.assign(expression, found)


def write(scene: Scene) -> None:
    draw = scene.draw
    a = scene.some()
    b = scene.of_shape(scene.shapes[a])
    shape = scene.shapes[a]
    forms = [f"v[{a}].{draw.pick(['add_', 'mul_', 'sub_'])}({draw.pick([f'v[{b}]', '2', '0.5'])})"]
    forms += [f"v[{a}].{draw.pick(['exp_', 'sigmoid_', 'relu_', 'neg_', 'zero_', 'tanh_', 'sin_'])}()"]
    forms += [f"v[{a}].copy_(v[{b}])", f"v[{a}].fill_({draw.pick(['1', '0.5'])})", f"v[{a}] += v[{b}]", f"v[{a}] *= 2"]
    if shape:
        forms += [f"v[{a}].index_put_({{0}}, 0.5)", f"v[{a}].select(0, 0).mul_(3)", f"v[{a}].narrow(0, 0, 1).add_(1)"]
        forms += [f"v[{a}].index_put_({{torch::tensor({{0}})}}, v[{b}])", f"v[{a}].view({{-1}}).sub_(1)"]
        forms += [f"v[{a}][0] = v[{b}][0]", f"v[{a}].t_()", f"v[{a}].unsqueeze_(0)", f"v[{a}].resize_({{2}})"]
    c = scene.some()
    forms += [f"torch::add_out(v[{c}], v[{a}], v[{b}])", f"torch::exp_out(v[{c}], v[{a}])"]
    forms += [f"v[{a}].set_data(v[{b}])", f"v[{a}].detach_()", f"v[{a}].requires_grad_({draw.pick(['true', 'false'])})"]
    scene.statement(draw.pick(forms))


def differentiate(scene: Scene) -> None:
    draw = scene.draw
    a, b = scene.some(), scene.some()
    keep = draw.pick(["", "{}, true", "{}, true, true"])
    create_graph = draw.pick(["true", "false"])
    forms = [f"v[{a}].sum().backward({keep})"] * 3
    forms += [f"v[{a}].backward(torch::ones_like(v[{a}]), {draw.pick(['true', 'false'])})", f"v[{a}].backward()"]
    forms += [f"v[{b}].retain_grad()", f"v[{b}].mutable_grad().zero_()", f"v[{b}].mutable_grad() = at::Tensor()"]
    forms += [f"v[{b}].register_hook([](at::Tensor grad) {{ return grad * 2; }})"]
    if draw.chance(0.5):
        gradient = f"torch::autograd::grad({{v[{a}].sum()}}, {{v[{b}]}}, {{}}, true, {create_graph}, true)[0]"
        scene.assign(gradient, scene.shapes[b])
    else:
        scene.statement(draw.pick(forms))


def apply(scene: Scene) -> None:
    a = scene.some()
    name = scene.draw.pick(["Square", "AddsOne", "BelowAutograd", "TwoResults"])
    scene.assign(f"{name}::apply(v[{a}])" + ("[0]" if name == "TwoResults" else ""), scene.shapes[a])


def combine(scene: Scene) -> None:
    draw = scene.draw
    a = scene.some()
    b = scene.of_shape(scene.shapes[a])
    shape = scene.shapes[a]
    forms: list[tuple[str, Shape]] = [(f"torch::stack({{v[{a}], v[{b}]}})", (2, *shape)), (f"v[{a}].clone()", shape)]
    forms += [(f"v[{a}].to({draw.pick(['at::kDouble', 'at::kFloat', 'at::kHalf', 'at::kLong'])})", shape)]
    forms += [(f"v[{a}].contiguous()", shape), (f"torch::zeros_like(v[{a}])", shape), (f"v[{a}].softmax(-1)", shape)]
    forms += [(f"v[{a}].pow({draw.pick(['2', '3', '0.5'])})", shape), (f"v[{a}].clamp(0, 1)", shape)]
    forms += [(f"v[{a}].masked_fill(v[{a}] > 1, 0)", shape), (f"v[{a}].data()", shape), (f"v[{a}].cumsum(-1)", shape)]
    if shape:
        forms += [(f"torch::cat({{v[{a}], v[{b}]}})", (2 * shape[0], *shape[1:])), (f"v[{a}].flip(0)", shape)]
        forms += [(f"v[{a}].index_select(0, torch::tensor({{0}}))", (1, *shape[1:]))]
        forms += [(f"v[{a}].index({{torch::tensor({{0, 0}})}})", (2, *shape[1:]))]
    if len(shape) == 2:
        forms += [
            (f"v[{a}].mm(v[{b}].t())", (shape[0], shape[0])),
            (f"torch::matmul(v[{a}], v[{b}].t())", (shape[0],) * 2),
        ]
    scene.assign(*draw.pick(forms))


def ask(scene: Scene) -> None:
    a, b = scene.some(), scene.some()
    forms = [f"v[{a}].is_same(v[{b}])", f"v[{a}].is_alias_of(v[{b}])", f"v[{a}].is_contiguous()", f"v[{a}].dim()"]
    forms += [
        f"v[{a}].item<float>()",
        f"v[{a}].equal(v[{b}])",
        f"v[{a}].grad().defined()",
        f"v[{a}]._base().is_same(v[{b}])",
    ]
    scene.statement(f"note([&] {{ return {scene.draw.pick(forms)}; }})")


def open_guard(scene: Scene, guards: Sequence[tuple[str, str]] = GUARDS) -> None:
    if scene.depth > 2:
        return
    guard, argument = scene.draw.pick(guards)
    scene.lines.append("  " * (scene.depth + 1) + "{")
    scene.depth += 1
    scene.lines.append(
        "  " * (scene.depth + 1) + f"GUARD(guard{scene.guards}, {guard}{', ' if argument else ''}{argument})"
    )
    scene.guards += 1


def close(scene: Scene) -> None:
    scene.depth -= 1
    scene.lines.append("  " * (scene.depth + 1) + "}")


SUBJECTS: list[tuple[Subject, float]] = [
    (create, 1.0),
    (unary, 2.0),
    (binary, 3.0),
    (reduce, 1.0),
    (view, 3.0),
    (write, 4.0),
    (differentiate, 2.5),
    (apply, 1.0),
    (combine, 2.0),
    (ask, 0.7),
    (open_guard, 2.0),
]
