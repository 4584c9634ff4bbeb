"""Functions that are made of other ops: numpy's of the same name give the values, and differences the derivatives."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import guardfix.runtime_shim as torch

A = np.array([[2.0, 1.0], [1.0, 3.0]])
B = np.arange(6.0).reshape(3, 2) + 0.5
V = np.array([1.0, 2.0, 4.0])
X = np.arange(12.0).reshape(3, 4) ** 1.1
FACTOR = np.linalg.cholesky(A)
SIGNAL = np.sin(np.arange(32.0) * 0.7)
HANN = torch.hann_window(8, dtype=torch.float64)
_trapezoid = getattr(np, "trapezoid", None) or np.trapz  # type: ignore[attr-defined]


def block(*parts: Any) -> Any:
    found = np.zeros((sum(p.shape[0] for p in parts), sum(p.shape[1] for p in parts)))
    row = column = 0
    for p in parts:
        found[row : row + p.shape[0], column : column + p.shape[1]] = p
        row, column = row + p.shape[0], column + p.shape[1]
    return found


def exponential(a: Any) -> Any:
    values, vectors = np.linalg.eigh(a)
    return vectors @ np.diag(np.exp(values)) @ vectors.T


def spectra(signal: Any) -> Any:
    padded = np.pad(signal, 4, mode="reflect")
    return np.stack([np.fft.rfft(padded[i : i + 8]) for i in range(0, len(padded) - 7, 2)], 1)


CASES: list[tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = [
    (torch.cartesian_prod, lambda a, b: np.array(list(itertools.product(a, b))), (V, V[:2])),
    (torch.combinations, lambda a: np.array(list(itertools.combinations(a, 2))), (V,)),
    (torch.block_diag, block, (A, B)),
    (lambda *t: torch.column_stack(t), lambda *t: np.column_stack(t), (V, B)),
    (lambda a: torch.stack(list(torch.aminmax(a))), lambda a: np.array([a.min(), a.max()]), (X,)),
    (torch.kron, np.kron, (A, B)),
    (torch.kron, np.kron, (V, A)),
    (lambda *t: torch.addr(*t, beta=2, alpha=3), lambda a, b, c: 2 * a + 3 * np.outer(b, c), (A, V[:2], V[1:])),
    (lambda a, b: torch.addbmm(a, b[None], b[None]), lambda a, b: a + b @ b, (A, A)),
    (torch.linalg.vecdot, lambda a, b: (a * b).sum(-1), (X, X + 1)),
    *((lambda a, n=n: torch.linalg.matrix_power(a, n), lambda a, n=n: np.linalg.matrix_power(a, n), (A,)) for n in (-2, 0, 5)),
    (torch.matrix_exp, exponential, (A,)),
    (torch.linalg.matrix_exp, exponential, (np.zeros((2, 2)),)),
    (lambda *t: torch.linalg.multi_dot(t), lambda *t: np.linalg.multi_dot(t), (V[:2], A, A)),
    (torch.pinverse, np.linalg.pinv, (B,)),
    (lambda b: torch.cholesky_solve(b, torch.tensor(FACTOR)), lambda b: np.linalg.solve(A, b), (A,)),
    (lambda b: torch.cholesky_solve(b, torch.tensor(FACTOR.T), True), lambda b: np.linalg.solve(A, b), (A,)),
    (lambda a, b: torch.linalg.lstsq(a, b).solution, lambda a, b: np.linalg.lstsq(a, b, None)[0], (B, B[:, :1] ** 2)),
    (lambda a: torch.trapezoid(a, dx=0.5), lambda a: _trapezoid(a, dx=0.5), (X,)),
    (lambda a, b: torch.trapz(a, b, dim=0), lambda a, b: _trapezoid(a, b, axis=0), (X, V)),
    (torch.cov, np.cov, (X,)),
    (torch.cov, np.cov, (V,)),
    (
        lambda a: torch.cov(a, fweights=torch.tensor([1, 2, 1, 3]), aweights=torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)),
        lambda a: np.cov(a, fweights=[1, 2, 1, 3], aweights=[0.1, 0.2, 0.3, 0.4]),
        (X,),
    ),
    (lambda a: torch.stft(a, 8, 2, return_complex=True).real, lambda a: spectra(a).real, (SIGNAL,)),
    (lambda a: torch.stft(a, 8, 2, return_complex=True).imag, lambda a: spectra(a).imag, (SIGNAL,)),
    (
        lambda a: torch.istft(torch.stft(a, 8, 2, window=HANN, return_complex=True), 8, 2, window=HANN),
        lambda a: a,
        (SIGNAL,),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("ours", "numpys", "arguments"), CASES)
def test_values_and_derivatives(
    ours: Callable[..., Any], numpys: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    given = [torch.tensor(a, requires_grad=True) for a in arguments]
    found = ours(*given)
    assert found.shape == numpys(*arguments).shape
    assert np.allclose(found.detach().numpy(), numpys(*arguments), rtol=1e-9, atol=1e-12)
    assert torch.autograd.gradcheck(ours, given)


def test_what_has_no_derivative() -> None:
    assert [t.tolist() for t in torch.unravel_index(torch.tensor([3, 5]), (2, 3))] == [[1, 1], [0, 2]]
    assert torch.linalg.matrix_rank(torch.tensor([[1.0, 2.0], [2.0, 4.0]])).item() == 1
    assert torch.linalg.matrix_rank(torch.diag(torch.tensor([1.0, 0.1])), atol=0.5).item() == 1
    assert torch.aminmax(torch.tensor([[3.0, 1.0], [2.0, 5.0]]), dim=1).max.tolist() == [3.0, 5.0]
    assert torch.linalg.lstsq(torch.tensor(B), torch.tensor(B)).rank.item() == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: torch.combinations(torch.ones(2, 2)), r"Expect a 1D vector, but got shape \[2, 2\]"),
        (lambda: torch.combinations(torch.ones(2), -1), "Expect a non-negative number, but got -1"),
        (lambda: torch.stft(torch.ones(16), 4), "stft requires the return_complex parameter be given for real inputs"),
    ],
)
def test_what_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call()
