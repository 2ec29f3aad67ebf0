"""What forward returns beside tensors, and tasks that are given none."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdata.align.errors import AlignError
from kdata.align.step import align_file
from tests.align_tasks import task, verified


def test_plain_values_beside_tensors_are_returned_as_they_are(tmp_path: Path) -> None:
    forward = "return {'y': x * 2, 'names': ['p6', None], 'scale': 0.5}, x.relu(), True"
    source = verified(task(forward, "[torch.randn(6, 70)]"), tmp_path).source
    assert "'names': ['p6', None], 'scale': 0.5" in source.replace('"', "'")


NAMED = """from collections import OrderedDict
from typing import NamedTuple


class Both(NamedTuple):
    low: torch.Tensor
    high: torch.Tensor


"""


@pytest.mark.parametrize("made", ["OrderedDict(low=x - 1, high=[x + 1])", "Both(x - 1, x + 1), {'y': Both(x, x * 2)}"])
def test_classes_of_results_are_the_reference_s(made: str, tmp_path: Path) -> None:
    source = task(f"return {made}", "[torch.randn(6, 70)]").replace("class Model", f"{NAMED}class Model")
    verified(source, tmp_path)


def test_nothing_says_on_which_device_to_compute_where_no_tensor_is_given(tmp_path: Path) -> None:
    path = tmp_path / "task.py"
    for forward in ("return torch.arange(64).float() * n", "return torch.tensor([1.0, 2.0]) * n"):
        path.write_text(task(forward, "[1.5]", parameters="n"))
        with pytest.raises(AlignError, match="no tensors"):
            align_file(path)


SETS_ITSELF = """import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(64))

    def forward(self, x):
        self.shift.data.copy_(-x.mean(0))
        return x + self.shift


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return []
"""


def test_who_sets_its_weights_when_called_says_so(tmp_path: Path) -> None:
    path = tmp_path / "task.py"
    path.write_text(SETS_ITSELF)
    with pytest.raises(AlignError, match="into parameters") as found:
        align_file(path)
    assert found.value.reason == "changes its weights"
