"""What would end the process of a reference raises there."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from kdata.verify.reference.unchecked import checked

LONG, SHORT = torch.full((3,), 9), torch.full((3,), 4)


@pytest.mark.parametrize(("labels", "inputs", "targets"), [
    (torch.full((3, 4), 7), LONG, SHORT),  # of seven classes
    (torch.ones(3, 4, dtype=torch.long), LONG, SHORT + 1),
    (torch.ones(3, 4, dtype=torch.long), LONG + 1, SHORT),
    (torch.ones(11, dtype=torch.long), LONG, SHORT),
])  # fmt: skip
def test_labels_and_lengths_beyond_what_they_are_of_raise(
    labels: torch.Tensor, inputs: torch.Tensor, targets: torch.Tensor
) -> None:
    given = torch.randn(9, 3, 7).log_softmax(-1)
    with checked(), pytest.raises(IndexError):
        functional.ctc_loss(given, labels, inputs, targets)


def test_what_is_right_stays_what_it_is() -> None:
    given, labels = torch.randn(9, 3, 7).log_softmax(-1), torch.randint(1, 7, (3, 4))
    usual = functional.ctc_loss(given, labels, LONG, SHORT)
    with checked():
        assert torch.equal(functional.ctc_loss(given, labels, LONG, SHORT), usual)
        assert torch.equal(functional.ctc_loss(given, labels, (9, 9, 9), (4, 4, 4)), usual)
        filled = torch.cat([labels, torch.full((3, 2), -1)], 1)  # rows of other lengths
        assert torch.equal(functional.ctc_loss(given, filled, LONG, SHORT), usual)
        assert torch.equal(functional.ctc_loss(given, labels.reshape(-1), LONG, SHORT), usual)
        functional.ctc_loss(given[:, 0], labels[0], LONG[0], SHORT[0])
    assert functional.torch.ctc_loss is torch.ctc_loss and torch.ctc_loss.__name__ == "ctc_loss"
