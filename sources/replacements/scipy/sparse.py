"""Matrices of scipy.sparse in numpy, held densely: those of the graphs that a task makes are small."""

import numpy as np


class spmatrix:
    __array_ufunc__ = None  # what is dense leaves operators to this class
    format = "csr"

    def __init__(self, given, shape=None, dtype=None, copy=False):
        held = np.array(_dense(given, shape, self.format == "csc"))
        self._held = held if dtype is None else held.astype(dtype)

    def _like(self, held):
        return type(self)(np.atleast_2d(held))

    @property
    def shape(self):
        return self._held.shape

    @property
    def dtype(self):
        return self._held.dtype

    @property
    def ndim(self):
        return 2

    @property
    def nnz(self):
        return int(np.count_nonzero(self._held))

    @property
    def T(self):
        return self.transpose()

    @property
    def A(self):
        return self.toarray()

    @property
    def data(self):
        return self._held[self.nonzero()]

    @data.setter
    def data(self, values):
        self._held[self.nonzero()] = values

    @property
    def row(self):
        return self.nonzero()[0]

    @property
    def col(self):
        return self.nonzero()[1]

    @property
    def indices(self):
        return self.nonzero()[self.format != "csc"]

    @property
    def indptr(self):
        counts = np.count_nonzero(self._held, axis=0 if self.format == "csc" else 1)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)

    def nonzero(self):
        if self.format == "csc":
            columns, rows = np.nonzero(self._held.T)
        else:
            rows, columns = np.nonzero(self._held)
        return rows.astype(np.int32), columns.astype(np.int32)

    def getnnz(self, axis=None):
        return np.count_nonzero(self._held, axis=axis)

    def toarray(self):
        return self._held.copy()

    def todense(self):
        return np.asmatrix(self._held.copy())

    def tocoo(self, copy=False):
        return coo_matrix(self)

    def tocsr(self, copy=False):
        return csr_matrix(self)

    def tocsc(self, copy=False):
        return csc_matrix(self)

    def tolil(self, copy=False):
        return lil_matrix(self)

    def todok(self, copy=False):
        return dok_matrix(self)

    def asformat(self, format, copy=False):
        return _in(self._held, format)

    def astype(self, dtype, copy=True):
        return self._like(self._held.astype(dtype))

    def copy(self):
        return self._like(self._held)

    def transpose(self):
        return self._like(self._held.T)

    def reshape(self, *shape):
        return self._like(self._held.reshape(*shape))

    def diagonal(self, k=0):
        return np.diagonal(self._held, k).copy()

    def setdiag(self, values, k=0):
        rows = np.arange(max(0, -k), min(self.shape[0], self.shape[1] - k))
        self._held[rows, rows + k] = values if np.ndim(values) == 0 else np.asarray(values)[: len(rows)]

    def sum(self, axis=None):
        return self._held.sum() if axis is None else np.asmatrix(self._held.sum(axis, keepdims=True))

    def mean(self, axis=None):
        return self._held.mean() if axis is None else np.asmatrix(self._held.mean(axis, keepdims=True))

    def max(self, axis=None):
        return self._held.max() if axis is None else coo_matrix(self._held.max(axis, keepdims=True))

    def power(self, n):
        there = self._held != 0
        return self._like(np.where(there, np.where(there, self._held, 1).astype(float) ** n, 0))

    def multiply(self, other):
        return self._like(self._held * _plain(other))

    def dot(self, other):
        if np.ndim(_plain(other)) == 0:
            return self._like(self._held * other)
        product = self._held @ np.asarray(_plain(other))
        return self._like(product) if issparse(other) else product

    __mul__ = __matmul__ = dot

    def __rmul__(self, other):
        return self._like(self._held * other) if np.ndim(other) == 0 else np.asarray(other) @ self._held

    __rmatmul__ = __rmul__

    def __truediv__(self, other):
        return self._like(self._held / _plain(other))

    def __add__(self, other):
        total = self._held + _plain(other)
        return self._like(total) if issparse(other) or np.ndim(other) == 0 else np.asmatrix(total)

    __radd__ = __add__

    def __neg__(self):
        return self._like(-self._held)

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __abs__(self):
        return self._like(np.abs(self._held))

    def __pow__(self, n):
        return self._like(np.linalg.matrix_power(self._held, n))

    def __gt__(self, other):
        return self._like(self._held > _plain(other))

    def __lt__(self, other):
        return self._like(self._held < _plain(other))

    def __ne__(self, other):
        return self._like(self._held != _plain(other))

    def __getitem__(self, at):
        part = self._held[at]
        if np.ndim(part) == 0:
            return part
        column = isinstance(at, tuple) and isinstance(at[1], int | np.integer)
        return self._like(part[:, None] if np.ndim(part) == 1 and column else part)

    def __setitem__(self, at, value):
        self._held[at] = value.toarray() if issparse(value) else value

    def getrow(self, i):
        return self[i]

    def getcol(self, i):
        return self[:, i]

    def keys(self):
        return list(zip(*self.nonzero(), strict=True))

    def items(self):
        return [(at, self._held[at]) for at in self.keys()]

    def update(self, values):
        for at, value in values.items():
            self._held[at] = value

    _update = update

    def eliminate_zeros(self):
        return None

    def sum_duplicates(self):
        return None

    def sort_indices(self):
        return None


class coo_matrix(spmatrix):
    format = "coo"


class csr_matrix(spmatrix):
    format = "csr"


class csc_matrix(spmatrix):
    format = "csc"


class lil_matrix(spmatrix):
    format = "lil"


class dok_matrix(spmatrix):
    format = "dok"


class dia_matrix(spmatrix):
    format = "dia"


def _plain(value):
    return value.toarray() if issparse(value) else value


def _dense(given, shape, by_columns):
    """The array of what a matrix is made of: its size, its values with their places, or itself."""
    if not isinstance(given, tuple):
        return np.atleast_2d(np.asarray(_plain(given)))
    if len(given) == 2 and np.ndim(given[0]) == np.ndim(given[1]) == 0:
        return np.zeros(given)
    if len(given) == 3:  # of compressed rows, or columns
        values, across, ends = map(np.asarray, given)
        along = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        places = (across, along) if by_columns else (along, across)
    else:
        values, places = np.asarray(given[0]), tuple(np.asarray(p).astype(int).ravel() for p in given[1])
    held = np.zeros(shape or tuple(int(p.max()) + 1 for p in places), np.result_type(values))
    np.add.at(held, places, values.ravel())
    return held


def _in(held, format):
    kinds = (coo_matrix, csc_matrix, lil_matrix, dok_matrix, dia_matrix)
    return next((k for k in kinds if k.format == format), csr_matrix)(held)


def issparse(x):
    return isinstance(x, spmatrix)


isspmatrix = issparse


def isspmatrix_coo(x):
    return issparse(x) and x.format == "coo"


def isspmatrix_csr(x):
    return issparse(x) and x.format == "csr"


def eye(m, n=None, k=0, dtype=float, format=None):
    return _in(np.eye(m, n, k, dtype), format or "dia")


def identity(n, dtype=float, format=None):
    return eye(n, dtype=dtype, format=format)


def diags(diagonals, offsets=0, shape=None, format=None, dtype=None):
    rows = [np.ravel(diagonals)] if np.ndim(offsets) == 0 else [np.ravel(d) for d in diagonals]
    places = [offsets] if np.ndim(offsets) == 0 else list(offsets)
    size = shape or (max(len(r) + abs(k) for r, k in zip(rows, places, strict=True)),) * 2
    held = np.zeros(size, dtype or np.result_type(*rows))
    for row, k in zip(rows, places, strict=True):
        at = np.arange(max(0, -k), min(size[0], size[1] - k))
        held[at, at + k] = row if len(row) == 1 else row[: len(at)]
    return _in(held, format or "dia")


def vstack(blocks, format=None, dtype=None):
    return _in(np.vstack([_plain(b) for b in blocks]), format or "csr")


def hstack(blocks, format=None, dtype=None):
    return _in(np.hstack([_plain(b) for b in blocks]), format or "csr")


def bmat(blocks, format=None, dtype=None):
    """Rows of blocks, of which some may be None: these are as high and wide as those beside them."""
    shapes = [[None if b is None else np.shape(_plain(b)) for b in row] for row in blocks]
    high = [next(s[0] for s in row if s) for row in shapes]
    wide = [next(row[i][1] for row in shapes if row[i]) for i in range(len(shapes[0]))]
    filled = [
        [np.zeros((h, w)) if b is None else _plain(b) for b, w in zip(row, wide, strict=True)]
        for row, h in zip(blocks, high, strict=True)
    ]
    return _in(np.block(filled), format or "coo")


def block_diag(blocks, format=None, dtype=None):
    blocks = list(blocks)
    rows = [[b if i == j else None for j in range(len(blocks))] for i, b in enumerate(blocks)]
    return bmat(rows, format)


def kron(a, b, format=None):
    return _in(np.kron(_plain(a), _plain(b)), format or "coo")


def triu(a, k=0, format=None):
    return _in(np.triu(_plain(a), k), format or "coo")


def tril(a, k=0, format=None):
    return _in(np.tril(_plain(a), k), format or "coo")


def find(a):
    rows, columns = a.nonzero()
    return rows, columns, a.data
