"""torch.einsum, made of views, sums and products of matrices as at::einsum is, so that its results are views,
have versions and need gradients as there.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import Any

from ...core.function_table import FUNCTIONS
from ...core.tensor import Tensor
from ...dispatch.registration import composite

_LETTERS = string.ascii_uppercase + string.ascii_lowercase
_DOTS = "..."


def _subscripts(text: str, operand: int) -> list[str]:
    """The labels of an operand, `...` as one."""
    found: list[str] = []
    i = 0
    while i < len(text):
        c = text[i]
        if c == " ":
            pass
        elif c == ".":
            if _DOTS in found:
                raise RuntimeError(f"einsum(): found '.' for operand {operand} for which an ellipsis was already found")
            if text[i : i + 3] != _DOTS:
                raise RuntimeError(f"einsum(): found '.' for operand {operand} that is not part of any ellipsis")
            found.append(_DOTS)
            i += 2
        elif c in _LETTERS:
            found.append(c)
        else:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {i} in the equation string, subscripts must be in [a-zA-Z]"
            )
        i += 1
    return found


def _parse(equation: str, tensors: Sequence[Tensor]) -> tuple[list[list[str]], list[str] | None]:
    left, arrow, right = equation.partition("->")
    parts = left.split(",")
    labels = [_subscripts(part, i) for i, part in enumerate(parts)]
    if len(parts) < len(tensors):
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    if len(parts) > len(tensors):
        raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    if not arrow:
        return labels, None
    output: list[str] = []
    i = 0
    while i < len(right):
        c = right[i]
        if c == " ":
            pass
        elif c == ".":
            if _DOTS in output:
                raise RuntimeError("einsum(): found '.' for output but an ellipsis (...) was already found")
            if right[i : i + 3] != _DOTS:
                raise RuntimeError("einsum(): found '.' for output that is not part of any ellipsis (...)")
            output.append(_DOTS)
            i += 2
        elif c in _LETTERS:
            if c in output:
                raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")
            if not any(c in found for found in labels):
                raise RuntimeError(
                    f"einsum(): output subscript {c} does not appear in the equation for any input operand"
                )
            output.append(c)
        else:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {len(left) + 2 + i} in the equation string, "
                "subscripts must be in [a-zA-Z]"
            )
        i += 1
    return labels, output


def _ellipsis_size(labels: Sequence[Sequence[str]], tensors: Sequence[Tensor]) -> int:
    """The most dimensions that an ellipsis covers."""
    most = 0
    for i, (found, t) in enumerate(zip(labels, tensors, strict=True)):
        named = len(found) - (_DOTS in found)
        ndim = t._array.ndim
        if _DOTS in found:
            if named > ndim:
                raise RuntimeError(
                    f"einsum(): the number of subscripts in the equation ({named}) is more than the number "
                    f"of dimensions ({ndim}) for operand {i}"
                )
            most = max(most, ndim - named)
        elif named != ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) does not match the number of "
                f"dimensions ({ndim}) for operand {i} and no ellipsis was given"
            )
    return most


def _aligned(
    t: Tensor,
    labels: Sequence[str],
    place: dict[str, int],
    total: int,
    dots: int,
    covered: int,
    operand: int,
) -> Tensor:
    """The operand with its dimensions in the common order, 1 where it has none; diagonals taken.

    Its own ellipsis stands for `covered` of the `dots` dimensions.
    """
    order = [-1] * total
    seen: dict[str, int] = {}
    j = 0
    for label in labels:
        if label == _DOTS:
            for k in range(dots - covered, dots):
                order[place[_DOTS] + k] = j
                j += 1
        elif label in seen:
            d = seen[label]
            sizes = t._array.shape[d], t._array.shape[j]
            if sizes[0] != sizes[1]:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {operand} but the sizes don't "
                    f"match, {sizes[1]} != {sizes[0]}"
                )
            t = t.diagonal(0, d, j).movedim(-1, d)
        else:
            seen[label] = j
            order[place[label]] = j
            j += 1
    for k in range(total):
        if order[k] == -1:
            t = t.unsqueeze(-1)
            order[k] = j
            j += 1
    return t.permute(order)


def _pair_product(left: Tensor, right: Tensor, sum_dims: Sequence[int]) -> Tensor:
    """The product of both, summed over `sum_dims`, which stay as 1 (at::native::sumproduct_pair)."""
    if not sum_dims:
        return left * right
    a, b = left._array.shape, right._array.shape
    both: list[int] = []
    only_left: list[int] = []
    only_right: list[int] = []
    for d in range(len(a)):
        if d in sum_dims:
            continue
        if a[d] != 1 and b[d] != 1:
            both.append(d)
        else:
            (only_left if a[d] != 1 else only_right).append(d)
    if only_left and only_right and only_right[-1] < only_left[0]:  # so that the product is contiguous
        left, right, a, b, only_left, only_right = right, left, b, a, only_right, only_left
    batch = math.prod(a[d] for d in both)
    summed = math.prod(a[d] for d in sum_dims)
    shape = [*(a[d] for d in both), *(a[d] for d in only_left), *[1] * len(sum_dims)]
    shape += [b[d] for d in only_right]
    left = left.permute([*both, *only_left, *sum_dims, *only_right])
    right = right.permute([*both, *sum_dims, *only_right, *only_left])
    product = FUNCTIONS["bmm"](
        left.reshape(batch, math.prod(a[d] for d in only_left), summed),
        right.reshape(batch, summed, math.prod(b[d] for d in only_right)),
    )
    order = [*both, *only_left, *sum_dims, *only_right]
    inverse = [order.index(d) for d in range(len(order))]
    return product.view(shape).permute(inverse)


@composite("einsum", method=False)
def einsum(*args: Any) -> Tensor:
    """Products of tensors summed over the labels that the output does not name.

    `einsum("ij,jk->ik", a, b)`, or with the operands in one sequence, or with lists of integers for labels:
    `einsum(a, [0, 1], b, [1, 2], [0, 2])`.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    if isinstance(args[0], Tensor):
        return _from_sublists(args)
    equation, *operands = args
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = list(operands[0])
    return _contract(equation, operands)


def _from_sublists(args: Sequence[Any]) -> Tensor:
    def text(labels: Sequence[Any]) -> str:
        for n in labels:
            if n is not Ellipsis and not 0 <= n < 52:
                raise ValueError(f"einsum(): subscript in subscript list is not within the valid range [0, 52): {n}")
        return "".join(_DOTS if n is Ellipsis else _LETTERS[n] for n in labels)

    count = len(args) // 2
    equation = ",".join(text(args[2 * i + 1]) for i in range(count))
    if len(args) % 2:
        equation += "->" + text(args[-1])
    return _contract(equation, [args[2 * i] for i in range(count)])


def _contract(equation: str, tensors: Sequence[Tensor]) -> Tensor:
    labels, output = _parse(equation, tensors)
    dots = _ellipsis_size(labels, tensors)
    if output is None:
        flat = [label for found in labels for label in found]
        output = [_DOTS] if _DOTS in flat else []
        output += [c for c in _LETTERS if flat.count(c) == 1]
    place: dict[str, int] = {}
    total = 0
    for label in output:
        place[label] = total
        total += dots if label == _DOTS else 1
    kept = total
    if _DOTS not in place:
        place[_DOTS] = total
        total += dots
    for c in _LETTERS:
        if c not in place and any(c in found for found in labels):
            place[c] = total
            total += 1
    ready = []
    for i, (t, found) in enumerate(zip(tensors, labels, strict=True)):
        covered = t._array.ndim - (len(found) - 1) if _DOTS in found else 0
        ready.append(_aligned(t, found, place, total, dots, covered, i))
    counts = _check_sizes(ready, labels, place, total)
    result = ready[0]
    for other in ready[1:]:
        result = _step(result, other, counts, kept)
    if total > kept:
        if len(ready) > 1:
            return result.view(result._array.shape[:kept])
        return result.sum(list(range(kept, total)))
    return result


def _check_sizes(
    ready: Sequence[Tensor], labels: Sequence[Sequence[str]], place: dict[str, int], total: int
) -> list[int]:
    """How many operands have each dimension; RuntimeError if their sizes differ."""
    counts = [0] * total
    for d in range(total):
        size = 1
        for i, t in enumerate(ready):
            n = t._array.shape[d]
            if n == 1:
                continue
            counts[d] += 1
            if size not in (1, n):
                label = next((name for name, at in place.items() if at == d and name != _DOTS), _DOTS)
                shapes = "".join(
                    f"->{list(t._array.shape)}" if k == i else f" {list(t._array.shape)}" for k, t in enumerate(ready)
                )
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {n} for operand {i} which does not broadcast with "
                    f"previously seen size {size}"
                    if label != _DOTS
                    else "einsum(): operands do not broadcast with remapped shapes [original->remapped]: "
                    + shapes.strip()
                )
            size = n
    return counts


def _step(left: Tensor, right: Tensor, counts: list[int], kept: int) -> Tensor:
    """Contract two operands, summing what no other operand has."""
    both: list[int] = []
    only_left: list[int] = []
    only_right: list[int] = []
    for d in range(kept, len(counts)):
        a, b = left._array.shape[d], right._array.shape[d]
        if a != 1 and b != 1:
            counts[d] -= 1
            if counts[d] == 1:
                both.append(d)
                counts[d] = 0
        elif counts[d] == 1:
            if a != 1:
                only_left.append(d)
                counts[d] = 0
            elif b != 1:
                only_right.append(d)
                counts[d] = 0
    if only_left:
        left = left.sum(only_left, keepdim=True)
    if only_right:
        right = right.sum(only_right, keepdim=True)
    return _pair_product(left, right, both)
