"""Functions that PyTorch composes of other ops, and so does this file: what joins tensors, products and powers of
matrices, areas, covariances and short-time spectra. Their derivatives are those of their parts."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import numpy as np

from ..core.function_table import FUNCTIONS, return_type
from ..core.tensor import Tensor, new_tensor
from ..dispatch.op_description import RESIZED
from ..dispatch.registration import composite
from .networks.unfolding import col2im, constant_pad_nd, pad
from .spectral import BY_N, BY_ROOT_N, NONE, c2c, c2r, r2c


def _listed(tensors: tuple[object, ...]) -> list[Tensor]:
    """The tensors that are given one by one, or as one sequence."""
    first = tensors[0] if tensors else ()
    given = tensors if isinstance(first, Tensor) or not isinstance(first, Sequence) else first
    return [one for one in given if isinstance(one, Tensor)]


# -- joining


@composite(method=False)
def cartesian_prod(*tensors: object) -> Tensor:
    """All combinations of an element from each 1-d tensor, as rows."""
    given = _listed(tensors)
    if len(given) == 1:
        return given[0]
    found: Tensor = FUNCTIONS["stack"]([grid.flatten() for grid in FUNCTIONS["meshgrid"](*given, indexing="ij")], 1)
    return found


@composite()
def combinations(self: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """The combinations of `r` elements of a 1-d tensor, as rows."""
    if self.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(self.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(len(self)), r)), np.int64)
    found: Tensor = self[new_tensor(places.reshape(-1, r))] if r else self.new_empty(0)
    return found


@composite(method=False)
def block_diag(*tensors: object) -> Tensor:
    """A matrix with the tensors, of up to 2 dimensions, along its diagonal and zeros elsewhere."""
    blocks = [FUNCTIONS["atleast_2d"](one) for one in _listed(tensors)]
    width, before, rows = sum(block.size(1) for block in blocks), 0, []
    for block in blocks:
        rows.append(constant_pad_nd(block, [before, width - before - block.size(1)]))
        before += block.size(1)
    found: Tensor = FUNCTIONS["cat"](rows)
    return found


@composite(method=False, out=RESIZED)
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors beside each other, those of 0 or 1 dimensions as columns."""
    found: Tensor = FUNCTIONS["cat"]([one if one.dim() > 1 else one.reshape(-1, 1) for one in tensors], 1)
    return found


@composite(method=False)
def unravel_index(indices: Tensor, shape: Sequence[int]) -> tuple[Tensor, ...]:
    """The coordinates of flat indices into a tensor of that shape."""
    found: list[Tensor] = []
    for size in reversed(shape):
        found.append(FUNCTIONS["remainder"](indices, size))
        indices = FUNCTIONS["div"](indices, size, rounding_mode="floor")
    return tuple(reversed(found))


@composite()
def aminmax(self: Tensor, *, dim: int | None = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The least and the largest elements."""
    dims = () if dim is None else dim
    made: tuple[Tensor, Tensor] = return_type("aminmax", "min max")(self.amin(dims, keepdim), self.amax(dims, keepdim))
    return made


# -- matrices


@composite(out=RESIZED)
def kron(self: Tensor, other: Tensor) -> Tensor:
    """The Kronecker product."""
    dims = max(self.dim(), other.dim())
    left, right = ([1] * (dims - one.dim()) + list(one.shape) for one in (self, other))
    product = self.reshape([n for size in left for n in (size, 1)]) * other.reshape(
        [n for size in right for n in (1, size)]
    )
    found: Tensor = product.reshape([a * b for a, b in zip(left, right, strict=True)])
    return found


@composite(out=RESIZED)
def addr(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """`beta * self` and `alpha` times the outer product of two vectors."""
    found: Tensor = beta * self + alpha * FUNCTIONS["outer"](vec1, vec2)
    return found


@composite(out=RESIZED)
def addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """`beta * self` and `alpha` times the sum of a batch of products."""
    found: Tensor = beta * self + alpha * batch1.bmm(batch2).sum(0)
    return found


@composite("linalg_vecdot", method=False, out=RESIZED)
def linalg_vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The dot products of vectors along a dimension."""
    found: Tensor = (x.conj() * y).sum(dim)
    return found


def _matrix_power(A: Tensor, n: int) -> Tensor:
    """`A` to the power of `n`, by squaring; a negative power is one of the inverse."""
    if n < 0:
        A, n = FUNCTIONS["linalg_inv"](A), -n
    if n == 0:
        identity: Tensor = A.clone().zero_() + FUNCTIONS["eye"](A.size(-1), dtype=A.dtype)
        return identity
    if n == 1:
        return A.clone()
    half = _matrix_power(A, n // 2)
    squared: Tensor = half @ half
    return squared @ A if n % 2 else squared


composite("linalg_matrix_power", method=False)(lambda A, n: _matrix_power(A, n))
composite("matrix_power")(lambda self, n: _matrix_power(self, n))


@composite()
def matrix_exp(self: Tensor) -> Tensor:
    """The matrix exponential: Taylor's series of a 2 ** n-th of the matrix, squared n times."""
    largest = float(np.abs(self._array).sum(-2).max(initial=0))
    halvings = max(0, int(np.ceil(np.log2(largest))) + 2) if largest > 0 else 0
    part = self / 2**halvings
    term = found = FUNCTIONS["eye"](self.size(-1), dtype=self.dtype).expand(self.shape)
    for n in range(1, 19):
        term = term @ part / n
        found = found + term
    for _ in range(halvings):
        found = found @ found
    return found


composite("linalg_matrix_exp", method=False)(lambda A: matrix_exp(A))


@composite("linalg_multi_dot", method=False, out=RESIZED)
def linalg_multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of several matrices; the first and the last may be vectors."""
    return functools.reduce(FUNCTIONS["matmul"], tensors)


composite("chain_matmul", method=False)(lambda *matrices: linalg_multi_dot(_listed(matrices)))


@composite("linalg_matrix_rank", method=False, out=RESIZED)
def linalg_matrix_rank(
    A: Tensor,
    tol: float | None = None,
    hermitian: bool = False,
    *,
    atol: float | None = None,
    rtol: float | None = None,
) -> Tensor:
    """How many singular values are larger than `atol` (`tol`) and `rtol` times the largest."""
    values = FUNCTIONS["linalg_svdvals"](A)
    least = atol if atol is not None else tol
    if rtol is None:
        rtol = 0.0 if least is not None else max(A.shape[-2:]) * float(np.finfo(A._array.dtype).eps)
    largest = values.amax(-1, True) if values.size(-1) else values.sum(-1, True)
    found: Tensor = ((values > largest * rtol) & (values > (least or 0.0))).sum(-1)
    return found


composite("pinverse")(lambda self, rcond=1e-15: FUNCTIONS["linalg_pinv"](self, rcond))


@composite(out=RESIZED)
def cholesky_solve(self: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """The solution of `A @ X = self`, where `input2` is the Cholesky factor of `A`."""
    solve = FUNCTIONS["linalg_solve_triangular"]
    lower = input2.mH if upper else input2
    found: Tensor = solve(lower.mH, solve(lower, self, upper=False), upper=True)
    return found


@composite("linalg_lstsq", method=False, out=RESIZED)
def linalg_lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> tuple[Tensor, ...]:
    """What solves `A @ X = B` in the sense of least squares, the squared residuals, the rank and no singular values."""
    solution = FUNCTIONS["linalg_pinv"](A, rcond) @ B
    rank = linalg_matrix_rank(A, rtol=rcond)
    residuals = B.new_empty(0)
    if driver in ("gels", "gelsd") and A.size(-2) > A.size(-1) and bool((rank == A.size(-1)).all()):
        residuals = (A @ solution - B).abs().square().sum(-2)
    made = return_type("linalg_lstsq", "solution residuals rank singular_values")
    found: tuple[Tensor, ...] = made(solution, residuals, rank, B.new_empty(0))
    return found


# -- numbers


def _trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """The integral along a dimension, by the trapezoidal rule."""
    count = y.size(dim) - 1
    heights = y.narrow(dim, 0, count) + y.narrow(dim, 1, count)
    if x is None:
        found: Tensor = heights.sum(dim) * (dx / 2)
        return found
    if x.dim() == 1:
        x = x.reshape([-1 if d == dim % y.dim() else 1 for d in range(y.dim())])
    areas: Tensor = (x.diff(dim=dim) * heights).sum(dim) / 2
    return areas


composite("trapezoid", method=False)(_trapezoid)
composite("trapz", method=False)(lambda y, x=None, *, dx=1, dim=-1: _trapezoid(y, x, dx=dx, dim=dim))


@composite()
def cov(self: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """The covariances of the variables in the rows."""
    rows = FUNCTIONS["atleast_2d"](self)
    weights = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    total = rows.size(1) if weights is None else weights.sum()
    mean = (rows.sum(1, True) if weights is None else (rows * weights).sum(1, True)) / total
    apart = rows - mean
    norm = total - correction
    if aweights is not None and correction:
        norm = total - correction * (weights * aweights).sum() / total
    found: Tensor = (apart if weights is None else apart * weights) @ apart.mH / norm
    return found.squeeze()


# -- spectra


def _window(window: Tensor | None, length: int, n_fft: int, like: Tensor) -> Tensor:
    """The window in the middle of `n_fft` samples."""
    shown = like.new_ones(length) if window is None else window
    left = (n_fft - length) // 2
    return constant_pad_nd(shown, [left, n_fft - length - left])


@composite()
def stft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:
    """The short-time spectra of signals (…, time): (…, frequency, frame)."""
    if not return_complex:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that "
            "return_complex=True in a future PyTorch release."
        )
    signals = self
    if center:
        padded = pad(self.reshape(1, -1, self.size(-1)), (n_fft // 2, n_fft // 2), pad_mode)
        signals = padded.reshape(*self.shape[:-1], -1)
    frames = signals.unfold(-1, n_fft, hop_length or n_fft // 4) * _window(window, win_length or n_fft, n_fft, self)
    norm = BY_ROOT_N if normalized else NONE
    spectra = c2c(frames, [-1], norm, True) if self.is_complex() else r2c(frames, [-1], norm, onesided is not False)
    found: Tensor = spectra.transpose(-1, -2)
    return found


@composite()
def istft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signals (…, time) of one-sided short-time spectra (…, frequency, frame)."""
    hop, spectra = hop_length or n_fft // 4, self.reshape(-1, *self.shape[-2:])
    frames = c2r(spectra.transpose(1, 2), [-1], BY_ROOT_N if normalized else BY_N, n_fft)
    shown = _window(window, win_length or n_fft, n_fft, frames)
    end = n_fft + hop * (frames.size(1) - 1)

    def added(parts: Tensor) -> Tensor:
        summed: Tensor = col2im(parts.transpose(1, 2), (1, end), (1, n_fft), (1, 1), (0, 0), (1, hop))
        return summed.reshape(parts.size(0), end)

    start = n_fft // 2 if center else 0
    stop = end - start if length is None else start + length
    signals, weights = added(frames * shown), added((shown * shown).expand(1, frames.size(1), n_fft))
    found: Tensor = (signals[:, start:stop] / weights[:, start:stop]).reshape(*self.shape[:-2], -1)
    return found
