"""View ops, basic indexing, and what joins or gathers."""

from __future__ import annotations

from .scene import Scene, Shape, broadcast, promote
from .subjects import subject


def reshapings(size: int) -> list[Shape]:
    """The shapes of one to three dimensions with `size` elements, small lengths only."""
    lengths = [length for length in (1, 2, 3, 4, 6, 8) if size and size % length == 0]
    found: list[Shape] = [(size,)]
    found += [(a, size // a) for a in lengths]
    found += [(a, b, size // a // b) for a in lengths for b in lengths if size % (a * b) == 0 and a > 1]
    return found


@subject("views", 2.5)
def view(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var(lambda var: var.contiguous or draw.chance(0.1))
    if var is None or var.size == 0:
        return
    shape = draw.pick(reshapings(var.size))
    arguments = list(map(str, shape))
    if draw.chance(0.25):
        arguments[draw.below(len(arguments))] = "-1"
    text = ", ".join(arguments)
    expression = draw.pick(
        [f"{var.name}.view({text})"] * 3
        + [
            f"{var.name}.reshape({text})",
            f"torch.reshape({var.name}, ({text},))",
            f"{var.name}.view(({text},))",
        ]
    )
    scene.assign(expression, scene.view_of(var, shape), raises=not var.contiguous and ".view" in expression)


def _without(shape: Shape, dim: int) -> Shape:
    return shape[:dim] + shape[dim + 1 :]


@subject("views", 3.0)
def part(scene: Scene) -> None:
    """Views of a part: select, narrow, slices and integers in brackets, diagonal."""
    draw = scene.draw
    var = scene.var(lambda var: len(var.shape) > 0 and var.size > 0)
    if var is None:
        return
    a, shape = var.name, var.shape
    dim = draw.below(len(shape))
    size = shape[dim]
    index = draw.below(size)
    start = draw.below(size)
    length = draw.between(1, size - start)
    forms: list[tuple[str, Shape]] = [
        (f"{a}.select({dim}, {index})", _without(shape, dim)),
        (f"{a}.narrow({dim}, {start}, {length})", (*shape[:dim], length, *shape[dim + 1 :])),
        (f"{a}[{draw.below(shape[0])}]", shape[1:]),
        (f"{a}[-1]", shape[1:]),
        (f"{a}[{min(1, shape[0])}:]", (shape[0] - min(1, shape[0]), *shape[1:])),
        (f"{a}[:1]", (1, *shape[1:])),
        (f"{a}[::2]", ((shape[0] + 1) // 2, *shape[1:])),
        (f"{a}[:]", shape),
        (f"{a}[...]", shape),
        (f"{a}[None]", (1, *shape)),
        (f"{a}[..., 0]", shape[:-1]),
    ]
    if len(shape) > 1:
        forms += [
            (f"{a}[:, {draw.below(shape[1])}]", _without(shape, 1)),
            (f"{a}[0, {draw.below(shape[1])}]", shape[2:]),
            (f"{a}[:, None]", (shape[0], 1, *shape[1:])),
            (f"{a}[:, :1]", (shape[0], 1, *shape[2:])),
            (f"{a}.diagonal()", (*shape[2:], min(shape[0], shape[1]))),
        ]
    expression, result = draw.pick(forms)
    scene.assign(expression, scene.view_of(var, result, contiguous=result == shape))


@subject("views", 2.5)
def arrange(scene: Scene) -> None:
    """Views of all elements in another arrangement."""
    draw = scene.draw
    var = scene.var()
    if var is None:
        return
    a, shape = var.name, var.shape
    count = len(shape)
    squeezed = tuple(length for length in shape if length != 1)
    forms: list[tuple[str, Shape, bool]] = [
        (f"{a}.unsqueeze(0)", (1, *shape), True),
        (f"{a}.unsqueeze(-1)", (*shape, 1), True),
        (f"{a}.squeeze()", squeezed, True),
        (f"{a}.view_as({a})", shape, True),
        (f"{a}.flatten()", (var.size,), True),
        (f"{a}.expand(2, {', '.join(['-1'] * count) or '2'})", (2, *shape) if count else (2, 2), False),
    ]
    if count <= 2:
        forms.append((f"{a}.t()", shape[::-1], count < 2))
    if count == 2:
        forms += [
            (f"{a}.T", shape[::-1], False),
            (f"torch.transpose({a}, 0, 1)", shape[::-1], False),
            (f"{a}.movedim(0, 1)", shape[::-1], False),
            (f"{a}.mT", shape[::-1], False),
            (f"{a}.t().contiguous()", shape[::-1], True),
        ]
    if count > 1:
        forms += [
            (f"{a}.permute({', '.join(map(str, reversed(range(count))))})", shape[::-1], False),
            (f"{a}.transpose(0, -1)", (shape[-1], *shape[1:-1], shape[0]), False),
            (f"{a}.flatten(0, 1)", (shape[0] * shape[1], *shape[2:]), True),
        ]
    if count and shape[0] == 1:
        forms += [
            (f"{a}.squeeze(0)", shape[1:], True),
            (f"{a}.expand(3, {', '.join(['-1'] * (count - 1))})".replace(", )", ")"), (3, *shape[1:]), False),
        ]
    if count == 0:
        forms.append((f"{a}.expand(2)", (2,), False))
    if var.size >= 4 and var.contiguous:
        offset = draw.pick(["", ", 1"])
        forms.append((f"{a}.as_strided((2,), (1,){offset})", (2,), False))
        forms.append((f"torch.as_strided({a}, (2, 2), (1, 2))", (2, 2), False))
    expression, result, keeps = draw.pick(forms)
    if "contiguous" in expression and scene.leaves_marks(var):
        return
    copies = "contiguous" in expression or ("flatten" in expression and not var.contiguous)
    target = scene.computed(result, var.dtype, [var]) if copies else scene.view_of(var, result)
    target.contiguous = keeps and (var.contiguous or copies)
    scene.assign(expression, target)


@subject("views", 1.3)
def several(scene: Scene) -> None:
    """Ops that give several views at once."""
    draw = scene.draw
    var = scene.var(lambda var: len(var.shape) > 0 and var.shape[0] in (2, 3, 4))
    if var is None:
        return
    a, size, rest = var.name, var.shape[0], var.shape[1:]
    forms: list[tuple[str, list[Shape]]] = [
        (f"{a}.chunk(2)", [((size + 1) // 2, *rest), (size // 2, *rest)]),
        (f"{a}.split([1, {size - 1}])", [(1, *rest), (size - 1, *rest)]),
        (f"torch.split({a}, {(size + 1) // 2})", [((size + 1) // 2, *rest), (size // 2, *rest)]),
    ]
    if size == 2:
        forms += [(f"{a}.unbind()", [rest, rest]), (f"{a}", [rest, rest])]
    if size == 3:
        forms += [(f"{a}.unbind(0)", [rest] * 3), (f"{a}.split(1)", [(1, *rest)] * 3)]
    expression, shapes = draw.pick(forms)
    names = [name for name in "mnopqrs" if name not in scene.variables][: len(shapes)]
    if len(names) < len(shapes):
        return
    scene.line(f"{', '.join(names)} = {expression}")
    for name, shape in zip(names, shapes, strict=True):
        part = scene.view_of(var, shape, contiguous=False, multiple=True)
        part.name = name
        scene.remember(part)


@subject("views", 0.6)
def complex_views(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var(lambda var: var.dtype in ("complex64", "complex128"))
    if var is not None and draw.chance(0.7):
        real = {"complex64": "float32", "complex128": "float64"}[var.dtype]
        target = scene.view_of(var, (*var.shape, 2))
        target.dtype = real
        scene.assign(f"torch.view_as_real({var.name})", target)
        return
    var = scene.var(lambda var: var.dtype in ("float32", "float64") and var.shape[-1:] == (2,) and var.contiguous)
    if var is not None:
        target = scene.view_of(var, var.shape[:-1])
        target.dtype = {"float32": "complex64", "float64": "complex128"}[var.dtype]
        scene.assign(f"torch.view_as_complex({var.name})", target)


@subject("joins", 1.5)
def join(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var(lambda var: len(var.shape) > 0)
    if var is None:
        return
    others = [
        other for other in scene.vars() if len(other.shape) == len(var.shape) and other.shape[1:] == var.shape[1:]
    ]
    parts = [var, *draw.some(others, draw.between(1, 2))]
    dtype = promote(*(item.dtype for item in parts))
    same = all(item.shape == var.shape for item in parts)
    same_dtype = all(item.dtype == var.dtype for item in parts)
    text = ", ".join(item.name for item in parts)
    bracket = draw.pick(["[{}]", "({},)"]).format(text)
    if same and draw.chance(0.45) and not scene.leaves_marks(*parts):
        dim = draw.pick(["", "", ", dim=0", f", {len(var.shape)}", ", -1"])
        shape: Shape = (*var.shape, len(parts)) if dim not in ("", ", dim=0") else (len(parts), *var.shape)
        scene.assign(f"torch.stack({bracket}{dim})", scene.computed(shape, dtype, parts))
    elif same_dtype or not scene.leaves_marks(*parts):
        shape = (sum(item.shape[0] for item in parts), *var.shape[1:])
        scene.assign(
            f"torch.cat({bracket}{draw.pick(['', '', ', 0', ', dim=0'])})",
            scene.computed(shape, dtype, parts),
        )


@subject("joins", 2.0)
def gather(scene: Scene) -> None:
    """Indexing that copies: lists, index tensors, masks, gather, index_select, masked_select."""
    draw = scene.draw
    var = scene.var(lambda var: len(var.shape) > 0 and var.size > 0)
    if var is None:
        return
    a, shape = var.name, var.shape
    last = shape[0] - 1
    forms: list[tuple[str, Shape | None]] = [
        (f"{a}[[0, {last}]]", (2, *shape[1:])),
        (f"{a}[torch.tensor([{last}])]", (1, *shape[1:])),
        (f"{a}[torch.tensor([[0, {last}], [0, 0]])]", (2, 2, *shape[1:])),
        (f"{a}[{a} > 0.6]", None),
        (f"torch.masked_select({a}, {a} < 2)", None),
        (f"torch.index_select({a}, 0, torch.tensor([0, {last}, 0]))", (3, *shape[1:])),
        (f"{a}.index_select(-1, torch.tensor([0]))", (*shape[:-1], 1)),
    ]
    if len(shape) == 1:
        forms.append((f"torch.gather({a}, 0, torch.tensor([0, {last}, {last}]))", (3,)))
    if len(shape) == 2:
        forms += [
            (f"{a}.gather(1, torch.tensor([[0], [{shape[1] - 1}]]))", (2, 1)) if shape[0] >= 2 else forms[0],
            (f"{a}[:, [0, 0]]", (shape[0], 2)),
            (f"{a}[[0, {last}], [0, 0]]", (2,)),
        ]
    mask = scene.var(lambda mask: mask.dtype == "bool" and mask.shape == shape)
    if mask is not None:
        forms += [(f"{a}[{mask.name}]", None)] * 3
    expression, result = draw.pick(forms)
    composite = not expression.startswith(f"{a}[")
    if composite and scene.leaves_marks(var):
        return
    if var.dtype.startswith("complex") and ("<" in expression or ">" in expression):
        return
    target = scene.computed(result or (1,), var.dtype, [var])
    # The number of elements that a mask takes is not known here.
    target.doubtful = target.doubtful or result is None
    scene.assign(expression, target)


@subject("joins", 0.7)
def repeat(scene: Scene) -> None:
    draw = scene.draw
    var = scene.var(lambda var: len(var.shape) > 0)
    if var is None or scene.leaves_marks(var):
        return
    a, shape = var.name, var.shape
    expression, result = draw.pick(
        [
            (f"{a}.repeat(2, {', '.join('1' * len(shape))})", (2, *shape)),
            (f"{a}.flip(0)", shape),
            (f"torch.flip({a}, (0,))", shape),
            (f"{a}.expand_as({a})", shape),
            (f"{a}.broadcast_to((2, {', '.join(map(str, shape))}))", (2, *shape)),
        ]
    )
    if "expand" in expression or "broadcast" in expression:
        target = scene.view_of(var, broadcast(result) or result, contiguous=False)
    else:
        target = scene.computed(result, var.dtype, [var])
    scene.assign(expression, target)
