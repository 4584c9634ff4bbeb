"""Reductions and the matmul family."""

from __future__ import annotations

from .creation import created
from .scene import COMPLEX, Scene, Shape, Var
from .subjects import subject


def _reduced(shape: Shape, dim: int, keepdim: bool) -> Shape:
    if not shape:
        return shape
    dim %= len(shape)
    return shape[:dim] + ((1,) if keepdim else ()) + shape[dim + 1 :]


@subject("reductions", 2.5)
def reduce(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: var.size > 0 or draw.chance(0.3))
    if var is None or scene.leaves_marks(var):
        return
    a = var.name
    name = draw.weighted(
        [
            ("sum", 4.0),
            ("mean", 3.0),
            ("prod", 1.0),
            ("amax", 0.7),
            ("amin", 0.7),
            ("max", 0.8),
            ("min", 0.5),
            ("std", 0.5),
            ("norm", 0.7),
        ]
    )
    saves = name not in ("sum", "mean")
    whole = draw.chance(0.55) or not var.shape
    if whole or name in ("max", "min"):
        expression = draw.pick([f"{a}.{name}()", f"torch.{name}({a})"])
        result = scene.computed((), var.dtype, [var])
    else:
        dim, keepdim = scene.dim(var), draw.chance(0.35)
        keep = draw.pick([", keepdim=True", ", keepdim=True", ", True"]) if keepdim else ""
        if name == "norm":
            keep = ", keepdim=True" if keepdim else ""
            expression = f"{a}.norm(dim={dim}{keep})"
        elif name == "std":
            keep = ", keepdim=True" if keepdim else ""
            expression = f"{a}.std({dim}{keep})"
        else:
            expression = draw.pick([f"{a}.{name}({dim}{keep})", f"torch.{name}({a}, {dim}{keep})"])
        result = scene.computed(_reduced(var.shape, dim, keepdim), var.dtype, [var])
    scene.assign(expression, result, raises=saves and result.grad and var.inference)


@subject("reductions", 1.0)
def max_over_dim(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var(lambda var: len(var.shape) > 0 and var.size > 0)
    if var is None or scene.leaves_marks(var):
        return
    name, dim = draw.pick(["max", "min"]), scene.dim(var)
    values, indices = scene.fresh_name(), "indices"
    shape = _reduced(var.shape, dim, False)
    form = draw.pick(["tuple", "values", "indices"])
    if form == "tuple":
        scene.line(f"{values}, {indices} = {var.name}.{name}({dim})")
    else:
        scene.line(f"{values} = torch.{name}({var.name}, {dim}).{form}")
    result = scene.computed(shape, "int64" if form == "indices" else var.dtype, [var])
    if form == "indices":
        result.grad, result.leaf = False, True
    result.name, result.family = values, scene.new_family()
    scene.remember(result)


@subject("reductions", 0.8)
def index_of_extreme(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var(lambda var: var.size > 0 and var.dtype not in (*COMPLEX, "bool"))
    if var is None or scene.leaves_marks(var):
        return
    name = draw.pick(["argmax", "argmin"])
    if draw.chance(0.5) or not var.shape:
        scene.assign(f"{var.name}.{name}()", Var("", (), "int64", scene.mode.inference))
    else:
        dim = scene.dim(var)
        scene.assign(
            f"torch.{name}({var.name}, {dim})",
            Var("", _reduced(var.shape, dim, False), "int64", scene.mode.inference),
        )


@subject("reductions", 0.6)
def whole_numbers(scene: Scene) -> None:
    """sum, prod and friends of integers and booleans promote to int64; mean refuses."""
    draw = scene.draw
    var = scene.var(lambda var: not var.differentiable)
    if var is None or scene.leaves_marks(var):
        return
    name = draw.pick(["sum", "sum", "prod", "max", "amax", "mean", "cumsum", "all", "any", "std"])
    shape: Shape = ()
    call = f"{var.name}.{name}()"
    if name == "cumsum":
        call, shape = f"{var.name}.cumsum({scene.dim(var)})", var.shape
    dtype = var.dtype if "max" in name else "bool" if name in ("all", "any") else "int64"
    raises = name in ("mean", "std") or ("max" in name and var.size == 0)
    scene.assign(call, Var("", shape, dtype, scene.mode.inference), raises=raises)


@subject("reductions", 0.8)
def running(scene: Scene) -> None:
    draw = scene.draw
    var = scene.float_var()
    if var is None or scene.leaves_marks(var):
        return
    a, dim = var.name, scene.dim(var)
    expression = draw.pick(
        [
            f"{a}.cumsum({dim})",
            f"torch.cumsum({a}, {dim})",
            f"{a}.softmax({dim})",
            f"torch.softmax({a}, {dim})",
            f"torch.log_softmax({a}, {dim})",
            f"{a}.logsumexp({dim})",
            f"{a}.sum({dim}, dtype=torch.float64)",
        ]
    )
    shape = _reduced(var.shape, dim, False) if "sumexp" in expression or "dtype" in expression else var.shape
    result = scene.computed(shape, "float64" if "dtype" in expression else var.dtype, [var])
    scene.assign(expression, result)


def _matrix(scene: Scene, dims: int) -> Var | None:
    return scene.float_var(lambda var: len(var.shape) == dims and var.size > 0)


def _partner(scene: Scene, like: Var, shape: Shape) -> Var:
    """A factor of that shape: an existing one if there is, else a new tensor."""
    found = scene.var(lambda var: var.shape == shape and var.dtype == like.dtype)
    return found or created(scene, dtype=like.dtype, shape=shape)


@subject("matmul", 2.0)
def multiply_matrices(scene: Scene) -> None:
    draw = scene.draw
    left = _matrix(scene, 2)
    if left is None:
        return
    rows, inner = left.shape
    columns = draw.pick([2, 3])
    right = _partner(scene, left, (inner, columns))
    a, b = left.name, right.name
    expression = draw.pick(
        [f"{a} @ {b}", f"{a} @ {b}", f"torch.mm({a}, {b})", f"{a}.mm({b})", f"torch.matmul({a}, {b})"]
    )
    result = scene.computed((rows, columns), left.dtype, [left, right])
    scene.assign(expression, result, raises=scene.saves_inference(left, right))


@subject("matmul", 1.2)
def multiply_vectors(scene: Scene) -> None:
    draw = scene.draw
    vector = _matrix(scene, 1)
    if vector is None:
        return
    (size,) = vector.shape
    kind = draw.pick(["dot", "mv", "vm", "outer"])
    if kind == "dot":
        other = _partner(scene, vector, (size,))
        a, b = vector.name, other.name
        expression = draw.pick([f"{a} @ {b}", f"torch.dot({a}, {b})", f"{a}.dot({b})"])
        shape: Shape = ()
    elif kind == "mv":
        other = _partner(scene, vector, (draw.pick([2, 3]), size))
        a, b = other.name, vector.name
        expression = draw.pick([f"{a} @ {b}", f"torch.mv({a}, {b})", f"{a}.mv({b})"])
        shape = (other.shape[0],)
    elif kind == "vm":
        if not scene.leaks:
            return
        other = _partner(scene, vector, (size, 2))
        expression, shape = f"{vector.name} @ {other.name}", (2,)
    else:
        other = _partner(scene, vector, (draw.pick([2, 3]),))
        expression, shape = f"torch.outer({vector.name}, {other.name})", (size, other.shape[0])
    if scene.leaves_marks(vector, other):
        return
    result = scene.computed(shape, vector.dtype, [vector, other])
    scene.assign(expression, result, raises=scene.saves_inference(vector, other))


@subject("matmul", 1.0)
def multiply_more(scene: Scene) -> None:
    draw = scene.draw
    left = _matrix(scene, draw.pick([2, 3]))
    if left is None:
        return
    if len(left.shape) == 3:
        batch, rows, inner = left.shape
        right = _partner(scene, left, (batch, inner, 2))
        expression = draw.pick(
            [
                f"torch.bmm({left.name}, {right.name})",
                f"{left.name} @ {right.name}",
                f"torch.einsum('bij,bjk->bik', {left.name}, {right.name})",
            ]
        )
        shape: Shape = (batch, rows, 2)
        operands = [left, right]
    else:
        rows, inner = left.shape
        form = draw.pick(["addmm", "addmm", "einsum", "trace", "linear", "transposed"])
        if form == "addmm":
            right = _partner(scene, left, (inner, 2))
            bias = _partner(scene, left, draw.pick([(2,), (rows, 2)]))
            options = draw.pick(["", "", ", beta=2", ", alpha=0.5"])
            expression = f"torch.addmm({bias.name}, {left.name}, {right.name}{options})"
            shape, operands = (rows, 2), [left, right, bias]
        elif form == "einsum":
            right = _partner(scene, left, (inner, 2))
            equation, shape = draw.pick([("ij,jk->ik", (rows, 2)), ("ij,jk->ki", (2, rows)), ("ij,jk->", ())])
            expression = f"torch.einsum('{equation}', {left.name}, {right.name})"
            operands = [left, right]
        elif form == "trace":
            expression, shape = f"torch.einsum('ij->j', {left.name})", (inner,)
            operands = [left]
        elif form == "linear":
            right = _partner(scene, left, (2, inner))
            expression, shape = f"F.linear({left.name}, {right.name})", (rows, 2)
            operands = [left, right]
        else:
            expression, shape = f"{left.name} @ {left.name}.t()", (rows, rows)
            operands = [left]
    if scene.leaves_marks(*operands):
        return
    result = scene.computed(shape, left.dtype, operands)
    scene.assign(expression, result, raises=scene.saves_inference(*operands))
