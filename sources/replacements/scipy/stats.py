"""Distributions of scipy.stats, drawn with torch's generator: a task's weights follow its seed.

Of these there are the truncated normal and the chi distribution, the length of a vector of normal numbers.
"""

import math

import torch


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
        a, b, loc, scale = self.filled(a, b, loc, scale)
        drawn = torch.nn.init.trunc_normal_(torch.empty(size), 0.0, 1.0, a, b)
        return (loc + scale * drawn.double()).numpy()

    def filled(self, *args):
        return tuple(known if value is None else value for value, known in zip(args, self.given, strict=True))

    def moments(self, *args):
        a, b, loc, scale = self.filled(*args)
        low, high = (math.exp(-x * x / 2) / math.sqrt(2 * math.pi) for x in (a, b))
        inside = (math.erf(b / math.sqrt(2)) - math.erf(a / math.sqrt(2))) / 2
        mean = (low - high) / inside
        ends = (a * low if math.isfinite(a) else 0.0) - (b * high if math.isfinite(b) else 0.0)
        return mean, 1 + ends / inside - mean**2, loc, scale


class Chi:
    def rvs(self, df, loc=0.0, scale=1.0, size=1, random_state=None):
        halves = torch.full(torch.empty(size).shape, df / 2, dtype=torch.double)
        return (loc + scale * (2 * torch._standard_gamma(halves)).sqrt()).numpy()


truncnorm = TruncatedNormal()
chi = Chi()
