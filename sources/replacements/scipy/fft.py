"""Cosine transforms of scipy.fft, in numpy; of types two and three, which are each other's inverses."""

import numpy as np
from numpy.fft import fft, fft2, fftfreq, fftn, fftshift, ifft, ifft2, ifftshift, irfft, rfft  # noqa: F401
from scipy.fftpack import next_fast_len  # noqa: F401


def dct(x, type=2, n=None, axis=-1, norm=None):
    x = np.moveaxis(np.asarray(x), axis, -1)
    n = x.shape[-1] if n is None else n
    x = x[..., :n] if n <= x.shape[-1] else np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, n - x.shape[-1])])
    waves = 2 * np.cos(np.pi * np.outer(np.arange(n), 2 * np.arange(n) + 1) / (2 * n))
    if norm == "ortho":
        waves *= np.where(np.arange(n) == 0, np.sqrt(1 / (4 * n)), np.sqrt(1 / (2 * n)))[:, None]
    if type == 3:
        waves = waves.T.copy()
        if norm != "ortho":
            waves[:, 0] = 1.0
    elif type != 2:
        raise NotImplementedError(f"a cosine transform of type {type}")
    return np.moveaxis(x @ waves.T, -1, axis)


def idct(x, type=2, n=None, axis=-1, norm=None):
    out = dct(x, {2: 3, 3: 2}[type], n, axis, norm)
    return out if norm == "ortho" else out / (2 * out.shape[axis])
