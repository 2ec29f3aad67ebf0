"""Eigenvalues, norms and solutions of scipy.sparse.linalg, in numpy."""

import numpy as np


def _array(a):
    return a.toarray() if hasattr(a, "toarray") else np.asarray(a)


def _chosen(values, vectors, k, which, wanted):
    size = np.abs(values) if which[1] == "M" else values.real
    order = np.argsort(size)
    order = order[-k:] if which[0] == "L" else order[:k]
    order = order[np.argsort(values[order].real)]
    return (values[order], vectors[:, order]) if wanted else values[order]


def eigsh(A, k=6, M=None, sigma=None, which="LM", v0=None, ncv=None, maxiter=None, tol=0, return_eigenvectors=True):
    return _chosen(*np.linalg.eigh(_array(A).astype(float)), k, which, return_eigenvectors)


def eigs(A, k=6, M=None, sigma=None, which="LM", v0=None, ncv=None, maxiter=None, tol=0, return_eigenvectors=True):
    return _chosen(*np.linalg.eig(_array(A).astype(complex)), k, which, return_eigenvectors)


def svds(A, k=6, ncv=None, tol=0, which="LM", v0=None, maxiter=None, return_singular_vectors=True):
    """The ``k`` largest, in rising order."""
    u, s, v = np.linalg.svd(_array(A).astype(float), full_matrices=False)
    return u[:, :k][:, ::-1], s[:k][::-1], v[:k][::-1]


def norm(x, ord=None, axis=None):
    return np.linalg.norm(_array(x), ord, axis)


def inv(A):
    return type(A)(np.linalg.inv(_array(A)))


def spsolve(A, b):
    return np.linalg.solve(_array(A), _array(b))
