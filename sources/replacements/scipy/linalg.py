"""Decompositions and functions of matrices of scipy.linalg that layers start from, in numpy."""

import numpy as np
import torch


def qr(a, mode="full"):
    return np.linalg.qr(a, "reduced" if mode == "economic" else "complete")


def lu(a, permute_l=False):
    """``a = p @ l @ u``, with partial pivoting."""
    rows, columns = np.shape(a)
    u, order, least = np.array(a, dtype=np.result_type(a, np.float32)), np.arange(rows), min(rows, columns)
    below = np.zeros((rows, least), u.dtype)
    for i in range(least):
        pivot = i + int(np.argmax(np.abs(u[i:, i])))
        for rows_of in (u, order, below):
            rows_of[[i, pivot]] = rows_of[[pivot, i]]
        below[i + 1 :, i] = u[i + 1 :, i] / u[i, i]
        u[i + 1 :] -= np.outer(below[i + 1 :, i], u[i])
    p, low = np.eye(rows, dtype=u.dtype)[order].T, below + np.eye(rows, least, dtype=u.dtype)
    up = np.triu(u[:least])
    return (p @ low, up) if permute_l else (p, low, up)


def block_diag(*arrays):
    parts = [np.atleast_2d(a) for a in arrays]
    whole = np.zeros(tuple(sum(p.shape[i] for p in parts) for i in (0, 1)), dtype=np.result_type(*parts))
    row = column = 0
    for part in parts:
        whole[row : row + part.shape[0], column : column + part.shape[1]] = part
        row, column = row + part.shape[0], column + part.shape[1]
    return whole


def toeplitz(c, r=None):
    c = np.ravel(c)
    r = c.conjugate() if r is None else np.ravel(r)
    values = np.concatenate([c[::-1], r[1:]])
    places = np.arange(len(c))[::-1, None] + np.arange(len(r))[None, :]
    return values[places]


def hadamard(n, dtype=int):
    whole = np.array([[1]], dtype=dtype)
    while len(whole) < n:
        whole = np.block([[whole, whole], [whole, -whole]])
    return whole


def orth(a):
    u, s, _ = np.linalg.svd(a, full_matrices=False)
    return u[:, s > s.max() * max(np.shape(a)) * np.finfo(s.dtype).eps]


def inv(a):
    return np.linalg.inv(a)


def pinv(a):
    return np.linalg.pinv(a)


def norm(a, ord=None, axis=None, keepdims=False):
    return np.linalg.norm(a, ord, axis, keepdims)


def eigh(a):
    return np.linalg.eigh(a)


def svd(a, full_matrices=True):
    return np.linalg.svd(a, full_matrices)


def cholesky(a, lower=False):
    low = np.linalg.cholesky(a)
    return low if lower else low.T.conjugate()


def solve(a, b):
    return np.linalg.solve(a, b)


def solve_triangular(a, b, trans=0, lower=False):
    a = np.tril(a) if lower else np.triu(a)
    return np.linalg.solve(a if trans in (0, "N") else a.T if trans in (1, "T") else a.T.conjugate(), b)


def expm(A):
    return torch.linalg.matrix_exp(torch.as_tensor(A)).numpy()


def circulant(c):
    c = np.asarray(c).ravel()
    places = np.arange(len(c))
    return c[places[:, None] - places]
