"""Functions of scipy.special that layers start from, in numpy and torch."""

import math

import numpy as np
import torch


def _of(function):
    """A function of torch's for arrays and numbers."""

    def applied(x):
        found = function(torch.as_tensor(np.asarray(x, dtype=np.float64))).numpy()
        return found[()]

    return applied


erf, erfc, erfinv = _of(torch.special.erf), _of(torch.special.erfc), _of(torch.special.erfinv)
expit, logit, ndtr = _of(torch.special.expit), _of(torch.special.logit), _of(torch.special.ndtr)
gammaln, digamma, i0, i1 = (
    _of(torch.special.gammaln),
    _of(torch.special.digamma),
    _of(torch.special.i0),
    _of(torch.special.i1),
)
j0, j1 = _of(torch.special.bessel_j0), _of(torch.special.bessel_j1)


def gamma(x):
    return np.vectorize(math.gamma, otypes=[float])(x)[()]


def factorial(n, exact=False):
    return math.factorial(n) if exact else np.vectorize(lambda k: float(math.factorial(int(k))))(n)[()]


def comb(N, k, exact=False, repetition=False):
    most = N + k - 1 if repetition else N
    return math.comb(most, k) if exact else np.vectorize(lambda n, m: float(math.comb(int(n), int(m))))(most, k)[()]


def binom(n, k):
    return comb(n, k)


def _of_degrees(basis):
    """A polynomial of a degree, or of several, at points: both are spread over each other."""

    def at(n, x):
        degrees, points = np.broadcast_arrays(n, np.asarray(x, dtype=np.float64))
        found = np.empty(points.shape)
        for degree in np.unique(degrees):
            found[degrees == degree] = basis(int(degree))(points[degrees == degree])
        return found[()]

    return at


eval_legendre = _of_degrees(np.polynomial.Legendre.basis)
eval_chebyt = _of_degrees(np.polynomial.Chebyshev.basis)
eval_hermite = _of_degrees(np.polynomial.Hermite.basis)


def logsumexp(a, axis=None, keepdims=False):
    largest = np.max(a, axis=axis, keepdims=True)
    summed = np.log(np.sum(np.exp(a - largest), axis=axis, keepdims=True)) + largest
    return summed if keepdims else np.squeeze(summed, axis=axis)[()]


def softmax(x, axis=None):
    return np.exp(x - logsumexp(x, axis=axis, keepdims=True))


def log_softmax(x, axis=None):
    return x - logsumexp(x, axis=axis, keepdims=True)
