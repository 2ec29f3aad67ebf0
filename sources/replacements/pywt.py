"""PyWavelets' orthogonal wavelets of Daubechies, in numpy, and how much a transform by them gives."""

import math
import re

import numpy as np


def _scaling(moments):
    """The filter of so many vanishing moments: of each pair of zeros that may be its, the one within the unit circle."""
    halves = 1 - 2 * np.roots([math.comb(moments - 1 + k, k) for k in reversed(range(moments))]).astype(complex)
    pairs = np.stack([halves + np.sqrt(halves**2 - 1), halves - np.sqrt(halves**2 - 1)])
    zeros = np.where(np.abs(pairs[0]) < 1, pairs[0], pairs[1])
    found = np.real(np.poly(np.concatenate([-np.ones(moments), zeros])))
    return found * math.sqrt(2) / found.sum()


class Wavelet:
    def __init__(self, name, filter_bank=None):
        self.name, self.orthogonal = name, filter_bank is None
        match = re.fullmatch(r"haar|db(\d+)|sym([123])", name)  # the first of the symmetric ones are Daubechies'
        if filter_bank is None and match is None:
            raise ValueError(f"Unknown wavelet name '{name}', of: 'haar', 'db1', 'db2', 'db4'")
        low = _scaling(int(match[1] or match[2] or 1)) if filter_bank is None else None
        high = low[::-1] * (-1.0) ** np.arange(len(low)) if filter_bank is None else None
        bank = filter_bank or (low[::-1], high[::-1], low, high)
        self.dec_lo, self.dec_hi, self.rec_lo, self.rec_hi = (list(map(float, f)) for f in bank)
        self.dec_len = self.rec_len = len(self.dec_lo)

    @property
    def filter_bank(self):
        return self.dec_lo, self.dec_hi, self.rec_lo, self.rec_hi

    def __len__(self):
        return self.dec_len


def _length(filter_len):
    return filter_len if isinstance(filter_len, int) else len(filter_len)


def dwt_coeff_len(data_len, filter_len, mode="symmetric"):
    if mode in ("per", "periodization"):
        return (data_len + 1) // 2
    return (data_len + _length(filter_len) - 1) // 2


def dwt_max_level(data_len, filter_len):
    least = _length(filter_len) - 1
    return max(0, int(math.log2(data_len / least))) if least > 0 and data_len >= least else 0
