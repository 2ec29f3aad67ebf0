"""What shows that the last rows, or the last programs, of a large call are left out."""

from __future__ import annotations

import numpy as np
import torch

from kdata.verify.interpreter import sampling
from kdata.verify.reference.draws import LONG, TAIL, draw


def test_the_last_of_a_long_dimension_is_larger() -> None:
    given = torch.ones(LONG, 3)
    (found,) = draw("tailed", [given], torch.Generator()) or []
    assert torch.equal(found[-1], torch.full((3,), TAIL))
    assert torch.equal(found[:-1], given[:-1])  # a dimension of three has no tail
    assert torch.equal(given, torch.ones(LONG, 3))


def test_how_much_one_program_writes_at_most() -> None:
    tensor = torch.empty(12)
    sampling.sample(2)
    for program, places in ((1, [0, 1, 2]), (1, [3]), (2, [4, 5, 200])):
        addresses = tensor.data_ptr() + 4 * np.array(places, np.int64)
        vars(sampling)["_written"].append(addresses)
        vars(sampling)["_writers"].append(program)
    assert sampling.most_written(tensor) == 4
    sampling.sample(0)
    assert sampling.most_written(tensor) == 0
