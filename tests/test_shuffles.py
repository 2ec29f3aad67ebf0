"""A copy in another order is work for a kernel; a view, or a copy of a part, is none."""

from __future__ import annotations

import pytest

from sources.infer.running.check import UnfitError, check

TASK = (
    "import torch\nimport torch.nn as nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return {}\n\n\n"
    "def get_inputs():\n    return [torch.randn(2, 6, 4, 4)]\n\n\ndef get_init_inputs():\n    return []\n"
)


@pytest.mark.parametrize("answer", ["x.view(2, 3, 2, 4, 4).transpose(1, 2).reshape(2, 6, 4, 4)", "x.mT.contiguous()"])
def test_a_copy_in_another_order_is_a_task(answer: str) -> None:
    assert check(TASK.format(answer), "Net")["operators"] == 1


@pytest.mark.parametrize("answer", ["x.flatten(1)", "x.transpose(1, 2)", "x[:, :, :-1].contiguous()", "x.clone()"])
def test_a_view_and_a_copy_of_a_part_are_none(answer: str) -> None:
    with pytest.raises(UnfitError) as found:
        check(TASK.format(answer), "Net")
    assert found.value.reason == "computes nothing"
