"""Raw bytes of tensors, whatever lies between their elements."""

from __future__ import annotations

import pytest
import torch

from kdata.verify.exchange import wire

MATRIX = torch.arange(12.0).reshape(3, 4)
COMPLEX = torch.tensor([[1 + 2j, 3 - 1j]])


@pytest.mark.parametrize(
    "tensor",
    [MATRIX, MATRIX.t(), MATRIX[:, ::2], MATRIX[1:2, 3:], MATRIX[:1].expand(5, 4), MATRIX[0, 0], MATRIX[:0], COMPLEX,
     COMPLEX.imag, COMPLEX[:, 1:].real, COMPLEX.conj(), COMPLEX.imag.neg(), MATRIX > 5, MATRIX.half()[::2]],
    ids=lambda t: f"{t.dtype}{tuple(t.shape)}",
)  # fmt: skip
def test_raw_bytes_are_the_elements_in_order(tensor: torch.Tensor) -> None:
    assert wire.raw(tensor) == tensor.resolve_conj().resolve_neg().contiguous().numpy().tobytes()


def test_one_element_may_have_any_stride() -> None:
    """A real part of one complex number counts as contiguous, with a stride of two."""
    one = torch.tensor([[1 + 2j]]).real
    assert one.is_contiguous()
    assert one.stride() == (2, 2)
    assert wire.raw(one) == torch.tensor([1.0]).numpy().tobytes()
