"""nn.functional, modules and optimizers."""

from __future__ import annotations

from .creation import created
from .scene import Scene, Shape, Var
from .subjects import subject


def _of_shape(scene: Scene, shape: Shape, *, grad: bool | None = None, dtype: str = "float32") -> Var:
    found = scene.var(lambda var: var.shape == shape and var.dtype == dtype)
    return found or created(scene, dtype=dtype, shape=shape, grad=grad)


@subject("networks", 1.5)
def functional(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: len(var.shape) > 0 and var.size > 0 and var.dtype != "float16")
    if var is None or scene.leaves_marks(var):
        return
    a, last = var.name, var.shape[-1]
    forms: list[tuple[str, bool]] = [
        (f"F.relu({a})", True),
        (f"F.gelu({a})", True),
        (f"F.gelu({a}, approximate='tanh')", True),
        (f"F.softmax({a}, dim=-1)", True),
        (f"F.log_softmax({a}, dim=0)", True),
        (f"F.layer_norm({a}, ({last},))", True),
        (f"F.dropout({a}, p=0.5, training=False)", False),
        (f"F.dropout({a}, p=0.0)", False),
        (f"F.dropout({a}, p=1.0)", False),
        (f"torch.sigmoid({a}) * F.relu({a})", True),
    ]
    expression, saves = draw.pick(forms)
    result = scene.computed(var.shape, var.dtype, [var])
    scene.assign(expression, result, raises=saves and result.grad and var.inference)


@subject("networks", 1.5)
def layer(scene: Scene) -> None:
    """Ops with weights."""
    draw = scene.draw
    shape: Shape
    rows = draw.pick([1, 2])
    kind = draw.pick(["linear", "linear", "conv", "batch_norm", "layer_norm", "embedding"])
    if kind == "linear":
        x, w = _of_shape(scene, (rows, 3)), _of_shape(scene, (2, 3))
        bias = _of_shape(scene, (2,)) if draw.chance(0.6) else None
        operands, shape = [x, w, *([bias] if bias else [])], (rows, 2)
        expression = f"F.linear({x.name}, {w.name}{f', {bias.name}' if bias else ''})"
    elif kind == "conv":
        x = _of_shape(scene, (rows, 1, 3, 3))
        w = _of_shape(scene, (2, 1, 2, 2))
        bias = _of_shape(scene, (2,)) if draw.chance(0.5) else None
        options, size = draw.pick([("", 2), (", stride=2", 1), (", padding=1", 4), (", stride=2, padding=1", 2)])
        first = f", {bias.name}" if bias else ""
        operands, shape = [x, w, *([bias] if bias else [])], (rows, 2, size, size)
        expression = f"F.conv2d({x.name}, {w.name}{first}{options})"
    elif kind == "batch_norm":
        x = _of_shape(scene, (2, 3))
        if draw.chance(0.5):
            expression = f"F.batch_norm({x.name}, None, None, training=True)"
            operands = [x]
        else:
            mean, var = (
                _of_shape(scene, (3,), grad=False),
                created(scene, dtype="float32", shape=(3,), grad=False),
            )
            training = draw.chance(0.5)
            expression = f"F.batch_norm({x.name}, {mean.name}, {var.name}.abs() + 1, training={training})"
            operands = [x, mean, var]
        shape = (2, 3)
    elif kind == "layer_norm":
        x, w = _of_shape(scene, (2, 3)), _of_shape(scene, (3,))
        expression, operands, shape = f"F.layer_norm({x.name}, (3,), {w.name})", [x, w], (2, 3)
    else:
        table = _of_shape(scene, (3, 2))
        expression = f"F.embedding(torch.tensor([0, 2, 1, 0]), {table.name})"
        operands, shape = [table], (4, 2)
    if scene.leaves_marks(*operands):
        return
    result = scene.computed(shape, operands[0].dtype, operands)
    scene.assign(expression, result, raises=scene.saves_inference(*operands))


@subject("networks", 0.8)
def pool(scene: Scene) -> None:
    draw = scene.draw
    x = _of_shape(scene, (1, 1, 4, 4)) if draw.chance(0.6) else _of_shape(scene, (1, 1, 3, 3))
    if scene.leaves_marks(x):
        return
    size = x.shape[-1]
    options, kept = draw.pick([("2", size // 2), ("2, stride=1", size - 1), ("(2, 2)", size // 2)])
    name = draw.pick(["max_pool2d", "avg_pool2d"])
    result = scene.computed((1, 1, kept, kept), x.dtype, [x])
    scene.assign(f"F.{name}({x.name}, {options})", result, raises=result.grad and x.inference)


@subject("networks", 1.0)
def loss(scene: Scene) -> None:
    draw = scene.draw
    shape: Shape
    reduction = draw.pick(["", "", ", reduction='sum'", ", reduction='none'"])
    if draw.chance(0.5):
        x = _of_shape(scene, (2, 3))
        target = draw.pick(["torch.tensor([0, 2])", "torch.tensor([1, 1])"])
        expression, shape = f"F.cross_entropy({x.name}, {target}{reduction})", (2,)
        operands = [x]
    else:
        x, y = _of_shape(scene, (2, 3)), _of_shape(scene, (2, 3))
        expression, shape = f"F.mse_loss({x.name}, {y.name}{reduction})", (2, 3)
        operands = [x, y]
    if scene.leaves_marks(*operands):
        return
    result = scene.computed(shape if "none" in reduction else (), "float32", operands)
    scene.assign(expression, result, raises=scene.saves_inference(*operands))


TWO_LAYERS = "torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))"
MODULES: list[tuple[str, str, Shape, Shape]] = [
    # module, its weight, shape of the input, shape of the output
    ("torch.nn.Linear(3, 2)", "weight", (2, 3), (2, 2)),
    ("torch.nn.Linear(3, 2, bias=False)", "weight", (2, 3), (2, 2)),
    ("torch.nn.Linear(3, 2, dtype=torch.float64).float()", "weight", (1, 3), (1, 2)),
    (TWO_LAYERS, "[0].weight", (2, 3), (2, 2)),
    ("torch.nn.Conv2d(1, 2, 2)", "weight", (1, 1, 3, 3), (1, 2, 2, 2)),
    ("torch.nn.Conv2d(1, 1, 3, padding=1, bias=False)", "weight", (1, 1, 3, 3), (1, 1, 3, 3)),
    ("torch.nn.BatchNorm2d(1)", "weight", (1, 1, 3, 3), (1, 1, 3, 3)),
    ("torch.nn.Embedding(3, 2)", "weight", (), (3, 2)),
]


@subject("networks", 1.2)
def module(scene: Scene) -> None:
    draw = scene.draw
    if scene.mode.below_autograd:
        return
    maker, weight, shape, result = draw.pick(MODULES)
    x = _of_shape(scene, shape) if shape else None
    scene.line(f"net = settled({maker})")
    call = f"net({x.name})" if x else "net(torch.tensor([0, 2, 0]))"
    if draw.chance(0.15):
        scene.line("net.eval()")
    name = scene.fresh_name()
    scene.line(f"{name} = {call}")
    grad = scene.mode.records
    scene.remember(
        Var(
            name,
            result,
            "float32",
            scene.mode.inference,
            grad,
            not grad,
            scene.new_family(),
            doubtful=x is not None and x.inference,
        )
    )
    weight = f"net{weight}" if weight.startswith("[") else f"net.{weight}"
    forms = [
        f"{name}.sum().backward()",
        f"{name}.sum().backward()",
        f"{weight}.is_inference()",
        f"{weight}.requires_grad",
        f"{weight}.is_leaf",
        "[name for name, _ in net.named_parameters()]",
        "net.requires_grad_(False)",
        "net.eval().training",
        "net.train(False)(" + call.partition("(")[2],
        "sorted(net.state_dict())",
        "[value.requires_grad for value in net.state_dict().values()]",
        "str(net.load_state_dict(net.state_dict()))",
        "[value.tolist() for value in net.buffers()]",
        "copied(net)(" + call.partition("(")[2],
        f"{weight}.data.zero_()",
        f"{weight}.add_(1)",
        "repr(net)",
        "net.zero_grad()",
        "sum(parameter.numel() for parameter in net.parameters())",
    ]
    for source in draw.some(forms, draw.between(1, 3)):
        scene.line(source)
    if draw.chance(0.5):
        scene.line(f"grad = {weight}.grad" if scene.leaks else f"{weight}.grad is None")


@subject("networks", 0.7)
def optimize(scene: Scene) -> None:
    draw = scene.draw
    weight = scene.float_var(lambda var: var.grad and var.leaf and not var.inference and var.meta is None)
    if weight is None or scene.mode != type(scene.mode)():
        return
    w = weight.name
    optimizer = draw.pick(
        [
            f"torch.optim.SGD([{w}], lr=0.1)",
            f"torch.optim.SGD([{w}], lr=0.1, momentum=0.9)",
            f"torch.optim.SGD([{w}], lr=0.1, weight_decay=0.01)",
            f"torch.optim.Adam([{w}], lr=0.1)",
        ]
    )
    scene.line(f"optimizer = {optimizer}")
    for _ in range(draw.between(1, 3)):
        scene.line(f"({w} * {w}).sum().backward()")
        guard = draw.weighted([("", 4.0), ("torch.no_grad()", 1.0), ("torch.inference_mode()", 1.0)])
        if guard:
            scene.line(f"with {guard}:")
        scene.lines.append("    " * (scene.depth + bool(guard)) + "optimizer.step()")
        if draw.chance(0.7):
            scene.line(draw.pick(["optimizer.zero_grad()", "optimizer.zero_grad(set_to_none=False)"]))
