"""Windows, filters and sampled systems of scipy.signal, in numpy."""

import numpy as np
import torch


def sampled(maker, points, sym, *given):
    """A window, or a period of one: that of one point more without it. One point is the window's middle."""
    return maker(points, *given) if sym or points < 2 else maker(points + 1, *given)[:points]


def get_window(window, Nx, fftbins=True):
    name, given = (window[0], window[1:]) if isinstance(window, tuple) else (window, ())
    makers = {"hann": np.hanning, "hanning": np.hanning, "hamming": np.hamming, "blackman": np.blackman,
              "bartlett": np.bartlett, "boxcar": np.ones, "ones": np.ones, "kaiser": np.kaiser}  # fmt: skip
    return sampled(makers[name], Nx, not fftbins, *given)


def kaiser(M, beta, sym=True):
    return sampled(np.kaiser, M, sym, beta)


def hann(M, sym=True):
    return sampled(np.hanning, M, sym)


def hamming(M, sym=True):
    return sampled(np.hamming, M, sym)


def blackman(M, sym=True):
    return sampled(np.blackman, M, sym)


def kaiser_atten(numtaps, width):
    return 2.285 * (numtaps - 1) * np.pi * width + 7.95


def kaiser_beta(a):
    if a > 50:
        return 0.1102 * (a - 8.7)
    return 0.5842 * (a - 21) ** 0.4 + 0.07886 * (a - 21) if a > 21 else 0.0


def firwin(numtaps, cutoff, width=None, window="hamming", pass_zero=True, scale=True, fs=2.0):
    edges = np.atleast_1d(cutoff) / (0.5 * fs)
    if isinstance(pass_zero, str):
        pass_zero = pass_zero in ("lowpass", "bandstop")
    pass_nyquist = bool(edges.size % 2) != bool(pass_zero)
    if pass_nyquist and numtaps % 2 == 0:
        raise ValueError("A filter with an even number of coefficients must have zero response at the Nyquist rate.")
    bands = np.hstack([[0.0] * bool(pass_zero), edges, [1.0] * pass_nyquist]).reshape(-1, 2)
    if width is not None:
        window = ("kaiser", kaiser_beta(kaiser_atten(numtaps, width / (0.5 * fs))))
    places = np.arange(numtaps) - 0.5 * (numtaps - 1)
    taps = sum(high * np.sinc(high * places) - low * np.sinc(low * places) for low, high in bands)
    taps = taps * get_window(window, numtaps, fftbins=False)
    if scale:
        low, high = bands[0]
        at = 0.0 if low == 0 else 1.0 if high == 1 else 0.5 * (low + high)
        taps = taps / np.sum(taps * np.cos(np.pi * places * at))
    return taps


def cont2discrete(system, dt, method="zoh", alpha=None):
    """A continuous system (A, B, C, D) sampled every ``dt``: by a zero-order hold, or generalised bilinearly."""
    a, b, c, d = (np.atleast_2d(np.asarray(matrix)) for matrix in system)
    if method == "zoh":
        whole = np.zeros((a.shape[0] + b.shape[1], a.shape[0] + b.shape[1]))
        whole[: a.shape[0]] = dt * np.hstack([a, b])
        held = torch.linalg.matrix_exp(torch.as_tensor(whole)).numpy()[: a.shape[0]]
        return held[:, : a.shape[1]], held[:, a.shape[1] :], c, d, dt
    share = {"euler": 0.0, "forward_diff": 0.0, "bilinear": 0.5, "tustin": 0.5, "backward_diff": 1.0, "gbt": alpha}
    alpha = share[method]
    ahead = np.eye(a.shape[0]) - alpha * dt * a
    ad = np.linalg.solve(ahead, np.eye(a.shape[0]) + (1.0 - alpha) * dt * a)
    bd = np.linalg.solve(ahead, dt * b)
    return ad, bd, np.linalg.solve(ahead.T, c.T).T, d + alpha * (c @ bd), dt
