"""What must be refused: shapes, dims, indices and dtypes that do not fit, and calls that make no sense."""

from __future__ import annotations

from .scene import Scene, Var
from .subjects import subject


@subject("mistakes", 1.2)
def wrong_shape(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var()
    if var is None:
        return
    a = var.name
    forms = [
        f"{a} + torch.ones(5)",
        f"{a} * torch.ones(7, 5)",
        f"{a}.add_(torch.ones(5))",
        f"{a}.mul_(torch.ones(2, 2, 2, 2))",
        f"{a}.view(5)",
        f"{a}.reshape(7, -1)",
        f"{a}.view(-1, -1)",
        f"{a}.expand(5, 5, 5, 5)",
        f"{a}.copy_(torch.ones(5))",
        f"torch.cat([{a}, torch.ones(5, 5, 5, 5)])",
        f"torch.stack([{a}, torch.ones(5)])",
        f"torch.mm({a}, torch.ones(5, 5))",
        f"{a} @ torch.ones(5, 5)",
        f"{a} @ torch.ones(5)",
        f"torch.where({a} > 0, {a}, torch.ones(5))",
        f"torch.bmm({a}, {a})",
        f"torch.dot({a}, torch.ones(5))",
        f"torch.mv({a}, torch.ones(5))",
        f"F.linear({a}, torch.ones(5, 5))",
        f"{a}.view()",
        f"torch.addmm({a}, torch.ones(2, 3), torch.ones(2, 3))",
        f"{a}.masked_fill(torch.ones(5) > 0, 1.0)",
    ]
    if var.shape:
        forms += [f"{a}[0] = torch.ones(5)", f"{a}[torch.ones(5) > 0]"]
    _emit(scene, draw.pick(forms), var)


def _emit(scene: Scene, source: str, var: Var) -> None:
    if not scene.leaves_marks(var):
        scene.line(source)


@subject("mistakes", 1.2)
def wrong_index(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var()
    if var is None:
        return
    a = var.name
    forms = [
        f"{a}[9]",
        f"{a}[-9]",
        f"{a}[0, 0, 0, 0, 0]",
        f"{a}.select(0, 9)",
        f"{a}.select(5, 0)",
        f"{a}.narrow(0, 1, 9)",
        f"{a}.sum(5)",
        f"{a}.unsqueeze(7)",
        f"{a}.transpose(0, 5)",
        f"{a}.squeeze(5)",
        f"{a}.permute(0, 0)",
        f"{a}.permute(3, 1, 0, 2, 4)",
        f"{a}.t()",
        f"{a}.size(5)",
        f"{a}.softmax(5)",
        f"{a}.split(-1)",
        f"{a}.chunk(0)",
        f"{a}.flatten(3, 1)",
        f"torch.index_select({a}, 0, torch.tensor([9]))",
        f"{a}[[9]]",
        f"{a}['x']",
        f"{a}[1.5]",
        f"{a}.diagonal(0, 3, 4)",
        f"{a}.movedim(0, 7)",
        f"{a}.unbind(4)",
        f"{a}.mean(dim=6)",
        f"{a}.argmax(7)",
        f"{a}.cumsum(8)",
        f"torch.gather({a}, 0, torch.tensor([9]))",
    ]
    if len(var.shape) <= 2:
        forms.remove(f"{a}.t()")
    _emit(scene, draw.pick(forms), var)


@subject("mistakes", 1.0)
def wrong_type(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var()
    if var is None:
        return
    a = var.name
    forms = [
        f"{a} + 'x'",
        f"{a} + None",
        f"torch.add({a}, 'x')",
        f"{a}.add()",
        f"{a}.view('x')",
        "torch.exp(3)",
        "torch.exp()",
        "torch.tensor([1, 2]) @ torch.ones(2)",
        "torch.tensor([1, 2]).add_(1.5)",
        "torch.tensor([1, 2]).div_(2)",
        "torch.tensor([1, 2]).exp_()",
        "torch.tensor([True]) - torch.tensor([True])",
        "-torch.tensor([True])",
        "torch.arange(3).mean()",
        "torch.arange(3).pow(-1)",
        "torch.ones(2, dtype=torch.int64, requires_grad=True)",
        "torch.tensor([[1.0], [1.0, 2.0]])",
        "torch.ones(-1)",
        "torch.zeros(2, dtype='float32')",
        "torch.cat([])",
        "torch.stack([])",
        f"torch.cat({a})",
        "torch.ones(2, 3).masked_fill_(torch.ones(2, 3), 1.0)",
        f"torch.where(1, {a}, {a})",
        f"{a}.nothing",
        f"{a}.nothing = 1",
        "torch.full((2,), 'x')",
        "torch.arange(3, 0)",
        f"{a}.to('x')",
        "torch.tensor('x')",
        f"{a} & 1.5",
        "torch.ones(2, 2).index_put_((torch.tensor([0.5]),), torch.tensor(1.0))",
        "torch.inference_mode(3, 4)",
        "torch.set_grad_enabled()",
        f"{a}.requires_grad_('x')",
        f"{a}.requires_grad = 3",
    ]
    if var.size != 1:
        forms += [f"{a}.item()", f"bool({a})", f"float({a})", f"if_any = 1 if {a} else 0"]
    _emit(scene, draw.pick(forms), var)


@subject("mistakes", 0.8)
def wrong_gradient(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: var.grad) or scene.float_var()
    if var is None:
        return
    a = var.name
    forms = [
        f"{a}.backward()",
        f"torch.autograd.grad({a}, [{a}])",
        f"torch.autograd.grad({a}.sum(), [torch.ones(2)])",
        f"{a}.backward(torch.ones(7))",
        "torch.ones(2).sum().backward()",
        f"{a}.grad = 3",
        f"{a}.grad = torch.ones(7)",
        f"{a}.grad = torch.ones_like({a}, dtype=torch.int64)",
        f"{a}.numpy()",
        "torch.arange(3).requires_grad_()",
        "torch.ones(2).register_hook(doubled)",
        "torch.ones(2).retain_grad()",
        f"{a}.requires_grad_(False)",
        f"{a}.data = 3",
        f"{a}.data = torch.ones(2, dtype=torch.int64)",
        f"{a}.register_hook(3)",
        "Square.apply()",
        f"Square.apply({a}, {a})",
        "Square.apply(3)",
        f"Square()({a})",
        f"torch.autograd.grad([], [{a}])",
        f"{a}.sum().backward(inputs=[])",
        f"Square.apply({a}, x=1)",
        f"{a}.grad_fn = None",
        f"{a}.is_leaf = True",
        f"{a}._base = None",
    ]
    _emit(scene, draw.pick(forms), var)


@subject("mistakes", 0.4)
def overlapping(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: var.shape[:1] == (1,))
    text = (
        f"{var.name}.expand(3, {', '.join(['-1'] * (len(var.shape) - 1))})".replace(", )", ")")
        if var
        else "torch.ones(2).expand(3, 2)"
    )
    write = draw.pick(["add_(1)", "mul_(2)", "copy_(torch.ones(3, 2))", "exp_()", "zero_()", "fill_(2.0)"])
    scene.line(f"{text}.{write}")
