"""librosa's filters and helpers of arrays, in numpy, and its transforms, by torch's."""

import numpy as np
import torch


def hz_to_mel(frequencies, htk=False):
    frequencies = np.asanyarray(frequencies, dtype=float)
    if htk:
        return 2595.0 * np.log10(1.0 + frequencies / 700.0)
    logarithmic = 15.0 + np.log(np.maximum(frequencies, 1000.0) / 1000.0) / (np.log(6.4) / 27.0)
    return np.where(frequencies < 1000.0, frequencies * 3.0 / 200.0, logarithmic)


def mel_to_hz(mels, htk=False):
    mels = np.asanyarray(mels, dtype=float)
    if htk:
        return 700.0 * (10.0 ** (mels / 2595.0) - 1.0)
    return np.where(mels < 15.0, mels * 200.0 / 3.0, 1000.0 * np.exp(np.log(6.4) / 27.0 * (mels - 15.0)))


def mel_frequencies(n_mels=128, fmin=0.0, fmax=11025.0, htk=False):
    return mel_to_hz(np.linspace(hz_to_mel(fmin, htk), hz_to_mel(fmax, htk), n_mels), htk)


def fft_frequencies(sr=22050, n_fft=2048):
    return np.fft.rfftfreq(n=n_fft, d=1.0 / sr)


def mel(sr=22050, n_fft=2048, n_mels=128, fmin=0.0, fmax=None, htk=False, norm="slaney", dtype=np.float32):
    edges = mel_frequencies(n_mels + 2, fmin, float(sr) / 2 if fmax is None else fmax, htk)
    ramps = edges[:, None] - fft_frequencies(sr, n_fft)[None, :]
    widths = np.diff(edges)[:, None]
    weights = np.maximum(0, np.minimum(-ramps[:-2] / widths[:-1], ramps[2:] / widths[1:]))
    if norm in ("slaney", 1):
        weights *= (2.0 / (edges[2:] - edges[:-2]))[:, None]
    return weights.astype(dtype)


def get_window(window, Nx, fftbins=True):
    made = {"hamming": np.hamming, "blackman": np.blackman, "ones": np.ones}.get(window, np.hanning)
    return made(Nx + 1)[:Nx] if fftbins else made(Nx)


def pad_center(data, size, axis=-1, **kwargs):
    lengths = [(0, 0)] * data.ndim
    left = (size - data.shape[axis]) // 2
    lengths[axis] = (left, size - data.shape[axis] - left)
    return np.pad(data, lengths, mode=kwargs.get("mode", "constant"))


def tiny(x):
    kind = np.asarray(x).dtype
    return np.finfo(kind if np.issubdtype(kind, np.inexact) else np.float32).tiny


def normalize(S, norm=np.inf, axis=0, threshold=None, fill=None):
    magnitude = np.abs(S).astype(float)
    length = np.max(magnitude, axis=axis, keepdims=True)
    if norm is not None and norm != np.inf:
        length = np.sum(magnitude**norm, axis=axis, keepdims=True) ** (1.0 / norm)
    return S if norm is None else S / np.where(length < (threshold or tiny(S)), 1.0, length)


def framed(window, n_fft, win_length, dtype):
    length = win_length or n_fft
    values = get_window(window, length) if isinstance(window, str) else np.asarray(window)
    return length, torch.as_tensor(values, dtype=dtype)


def stft(y, n_fft=2048, hop_length=None, win_length=None, window="hann", center=True, dtype=None, pad_mode="constant"):
    signal = torch.as_tensor(y)
    length, values = framed(window, n_fft, win_length, signal.dtype)
    hop = hop_length or length // 4
    return torch.stft(signal, n_fft, hop, length, values, center, pad_mode, return_complex=True).numpy()


def istft(stft_matrix, hop_length=None, win_length=None, window="hann", n_fft=None, center=True, dtype=None,
          length=None):  # fmt: skip
    spectrum = torch.as_tensor(stft_matrix)
    size = n_fft or 2 * (spectrum.shape[-2] - 1)
    width, values = framed(window, size, win_length, spectrum.real.dtype)
    return torch.istft(spectrum, size, hop_length or width // 4, width, values, center, length=length).numpy()
