"""What shows that the last rows, or the last programs, of a large call are left out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from kdata.verify.beyond import whole
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


def test_a_last_program_of_one_row_does_not_stand_for_others() -> None:
    """Of 1537 programs the first and the last had ended when time was over: of 32 rows, and of one."""
    written = np.zeros(1536 * 32 + 1, np.uint8)
    written[:32] = written[-1] = 1
    report = {"outcome": "ok", "launches": [{"grid": [1537, 1, 1]}], "programs": 2, "ends": 1,
              **{part: {"tensor": n} for n, part in enumerate(("written", "outputs", "spared"))}}  # fmt: skip
    expected: Any = SimpleNamespace(trials=[{"kept": {"eager": {"value": None}}}])
    returned: Any = SimpleNamespace(array=lambda number: written)
    assert whole._covered(expected, 0, report, returned) >= 1.0
    assert whole._covered(expected, 0, report | {"programs": 3}, returned) < whole.LEAST  # one of them wrote nothing
