"""Windows and filters of scipy.signal, in numpy."""

import numpy as np


def get_window(window, Nx, fftbins=True):
    name, given = (window[0], window[1:]) if isinstance(window, tuple) else (window, ())
    makers = {"hann": np.hanning, "hanning": np.hanning, "hamming": np.hamming, "blackman": np.blackman,
              "bartlett": np.bartlett, "boxcar": np.ones, "ones": np.ones, "kaiser": np.kaiser}  # fmt: skip
    return makers[name](Nx + 1, *given)[:Nx] if fftbins else makers[name](Nx, *given)


def kaiser_atten(numtaps, width):
    return 2.285 * (numtaps - 1) * np.pi * width + 7.95


def kaiser_beta(a):
    if a > 50:
        return 0.1102 * (a - 8.7)
    return 0.5842 * (a - 21) ** 0.4 + 0.07886 * (a - 21) if a > 21 else 0.0


def firwin(numtaps, cutoff, width=None, window="hamming", pass_zero=True, scale=True, fs=2.0):
    cutoff = cutoff / (0.5 * fs)
    if width is not None:
        window = ("kaiser", kaiser_beta(kaiser_atten(numtaps, width / (0.5 * fs))))
    places = np.arange(numtaps) - 0.5 * (numtaps - 1)
    taps = cutoff * np.sinc(cutoff * places) * get_window(window, numtaps, fftbins=False)
    return taps / taps.sum() if scale else taps
