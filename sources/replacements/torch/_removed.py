"""What torch had and has no longer, in what took its place; complex numbers were pairs in the last dimension.

As torch 1.7 documented each: spectra over the last ``signal_ndim`` dimensions, and answers with names.
"""

from typing import NamedTuple

import torch


class symeig_answer(NamedTuple):
    eigenvalues: torch.Tensor
    eigenvectors: torch.Tensor


class solve_answer(NamedTuple):
    solution: torch.Tensor
    LU: torch.Tensor


class lstsq_answer(NamedTuple):
    solution: torch.Tensor
    QR: torch.Tensor


def _last(signal_ndim):
    return tuple(range(-signal_ndim, 0))


def _scaled(normalized):
    return "ortho" if normalized else "backward"


def rfft(input, signal_ndim, normalized=False, onesided=True):
    transform = torch.fft.rfftn if onesided else torch.fft.fftn
    return torch.view_as_real(transform(input, dim=_last(signal_ndim), norm=_scaled(normalized)))


def irfft(input, signal_ndim, normalized=False, onesided=True, signal_sizes=None):
    spectrum = torch.view_as_complex(input.contiguous())
    if not onesided:
        return torch.fft.ifftn(spectrum, dim=_last(signal_ndim), norm=_scaled(normalized)).real
    sizes = tuple(signal_sizes) if signal_sizes else None
    return torch.fft.irfftn(spectrum, s=sizes, dim=_last(signal_ndim), norm=_scaled(normalized))


def fft(input, signal_ndim, normalized=False):
    spectrum = torch.view_as_complex(input.contiguous())
    return torch.view_as_real(torch.fft.fftn(spectrum, dim=_last(signal_ndim), norm=_scaled(normalized)))


def ifft(input, signal_ndim, normalized=False):
    spectrum = torch.view_as_complex(input.contiguous())
    return torch.view_as_real(torch.fft.ifftn(spectrum, dim=_last(signal_ndim), norm=_scaled(normalized)))


def symeig(input, eigenvectors=False, upper=True):
    values, vectors = torch.linalg.eigh(input, UPLO="U" if upper else "L")
    return symeig_answer(values, vectors if eigenvectors else vectors.new_empty(0))


def eig(input, eigenvectors=False):
    values, vectors = torch.linalg.eig(input)  # of two that are conjugate, the columns were the parts of the first
    packed = torch.where(values.imag.unsqueeze(-2) < 0, -vectors.imag, vectors.real)
    return symeig_answer(torch.view_as_real(values), packed if eigenvectors else input.new_empty(0))


def solve(input, A):
    return solve_answer(torch.linalg.solve(A, input), torch.linalg.lu_factor(A)[0])


def lstsq(input, A):
    return lstsq_answer(torch.linalg.lstsq(A, input).solution, torch.geqrf(A).a)  # without the rows of residues


def potrf(a, upper=True):
    factor = torch.linalg.cholesky(a)
    return factor.mT if upper else factor


def matrix_rank(input, tol=None, symmetric=False):
    return torch.linalg.matrix_rank(input, tol=tol, hermitian=symmetric)


gels, gesv = lstsq, solve
