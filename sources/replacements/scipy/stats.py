"""Distributions of scipy.stats, drawn with torch's generator: a task's weights follow its seed.

Of these there are the truncated normal and the chi distribution, the length of a vector of normal numbers; and the
probabilities of a beta-binomial count, which attention starts from.
"""

import math

import numpy as np
import torch


def filled(given, *args):
    """Arguments, those of a frozen distribution for such as are None."""
    return tuple(known if value is None else value for value, known in zip(args, given, strict=True))


class TruncatedNormal:
    """``a`` and ``b`` are counted in standard deviations from ``loc``, as scipy's are."""

    def __init__(self, a=None, b=None, loc=0.0, scale=1.0):
        self.given = (a, b, loc, scale)

    def __call__(self, a, b, loc=0.0, scale=1.0):
        return TruncatedNormal(a, b, loc, scale)

    def stats(self, a=None, b=None, loc=None, scale=None, moments="mv"):
        mean, variance, loc, scale = self.moments(a, b, loc, scale)
        return tuple({"m": loc + scale * mean, "v": scale**2 * variance}[m] for m in moments)

    def mean(self, *args, **kwargs):
        return self.stats(*args, **kwargs)[0]

    def var(self, *args, **kwargs):
        return self.stats(*args, **kwargs)[1]

    def std(self, *args, **kwargs):
        return math.sqrt(self.var(*args, **kwargs))

    def rvs(self, a=None, b=None, loc=None, scale=None, size=1, random_state=None):
        a, b, loc, scale = filled(self.given, a, b, loc, scale)
        drawn = torch.nn.init.trunc_normal_(torch.empty(size), 0.0, 1.0, a, b)
        return (loc + scale * drawn.double()).numpy()

    def moments(self, *args):
        a, b, loc, scale = filled(self.given, *args)
        low, high = (math.exp(-x * x / 2) / math.sqrt(2 * math.pi) for x in (a, b))
        inside = (math.erf(b / math.sqrt(2)) - math.erf(a / math.sqrt(2))) / 2
        mean = (low - high) / inside
        ends = (a * low if math.isfinite(a) else 0.0) - (b * high if math.isfinite(b) else 0.0)
        return mean, 1 + ends / inside - mean**2, loc, scale


class Chi:
    def rvs(self, df, loc=0.0, scale=1.0, size=1, random_state=None):
        halves = torch.full(torch.empty(size).shape, df / 2, dtype=torch.double)
        return (loc + scale * (2 * torch._standard_gamma(halves)).sqrt()).numpy()


class BetaBinomial:
    """How often of ``n`` times, where what each comes to has the odds of a beta distribution."""

    def __init__(self, n=None, a=None, b=None, loc=0):
        self.given = (n, a, b, loc)

    def __call__(self, n, a, b, loc=0):
        return BetaBinomial(n, a, b, loc)

    def logpmf(self, k, n=None, a=None, b=None, loc=None):
        def beta(x, y):
            return np.vectorize(math.lgamma)(x) + np.vectorize(math.lgamma)(y) - np.vectorize(math.lgamma)(x + y)

        n, a, b, loc = filled(self.given, n, a, b, loc)
        k = np.asarray(k, dtype=float) - loc
        inside = (k >= 0) & (k <= n) & (k == np.floor(k))
        known = np.where(inside, k, 0.0)
        ways = -np.log(n + 1.0) - beta(n - known + 1.0, known + 1.0)
        return np.where(inside, ways + beta(known + a, n - known + b) - beta(a, b), -np.inf)

    def pmf(self, *args, **kwargs):
        return np.exp(self.logpmf(*args, **kwargs))


truncnorm = TruncatedNormal()
betabinom = BetaBinomial()
chi = Chi()
