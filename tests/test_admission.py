"""What the reference leaves is looked at before any candidate is: is it a measure of anything?"""

from __future__ import annotations

import pytest

from kdata.verify.evidence.expecting import UndecidedError, expect
from kdata.verify.options import Options

TASK = """import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return {answer}


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return []
"""


def test_sizes_at_which_the_answer_is_no_number_are_left_out() -> None:
    expected = expect(TASK.format(answer="x / x.std(0)"), "Model", Options(targets=()))  # of one row there is none
    kinds = [expected.variants[trial["variant"]]["kind"] for trial in expected.trials]
    assert {"base", "odd", "one"} <= set(kinds)
    assert not any("float32[1, " in trial["shapes"] for trial in expected.trials)


def test_a_task_whose_own_answer_is_no_number_is_no_task() -> None:
    with pytest.raises(UndecidedError, match="not a number in places"):
        expect(TASK.format(answer="torch.log(x)"), "Model", Options(targets=()))
