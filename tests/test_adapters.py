"""Modules that take records: from a package, through task files, to a verified pair; and the class that a file is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdata.align import step as align
from kdata.record import Candidate, Definition, Origin, SourceFile, Task
from kdata.task import find_entry_point
from kdata.verbs import read_all
from kdata.verify.judge import judge
from kdata.verify.options import Options
from sources.mine import cut_step, step, write_tasks

MASKED = """
import torch.nn as nn


class Masked(nn.Module):
    def __init__(self, scale: float = 2.0):
        super().__init__()
        self.scale = scale

    def forward(self, tensor_list):
        x, mask = tensor_list.tensors, tensor_list.mask
        return (x * self.scale).masked_fill(mask, 0.0)
"""
INPUTS = "\n\ndef get_inputs():\n    return [1]\n"


def test_a_module_that_takes_a_record_becomes_a_verified_pair(tmp_path: Path) -> None:
    file = SourceFile(Origin("local", "pkg", "1", "masked.py", ("MIT",)), MASKED)
    definitions = [d for d in cut_step().function([file]) if isinstance(d, Definition)]
    (mined,) = (t for t in step().function(definitions) if isinstance(t, Task))
    assert (mined.symbol, mined.entry_point) == ("Masked", "MaskedOfTensors")
    assert [i.name for i in mined.inputs] == ["tensors", "mask"]
    write_tasks([mined], tmp_path)
    (read,) = read_all([str(tmp_path)], Task)
    assert (read.id, read.entry_point) == (mined.id, mined.entry_point)
    (candidate,) = align.step().function([read])
    assert isinstance(candidate, Candidate), candidate
    receipt = judge(read, candidate, Options(targets=()))
    assert receipt.verdict == "verified", receipt.detail


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("class Model(nn.Module): ...\nclass Other(nn.Module): ...", "Model"),
        ("class Part(nn.Module): ...\nclass Whole(nn.Module):\n    def f(self): return Part()", "Whole"),
        ("class Base(nn.Module): ...\nclass Derived(Base): ...", "Derived"),
        ("class Part(torch.nn.Module): ...\nclass Stem(nn.Sequential):\n    def f(self): return Part()", "Stem"),
        ("class Whole(nn.Module):\n    def f(self): return TABLE\nclass Late(nn.Module): ...\nTABLE = {'l': Late}", "Whole"),
        ("class Net(nn.Module):\n    def f(self): super(Net, self).f()\nclass Settings: ...", "Net"),
    ],
)  # fmt: skip
def test_the_class_that_a_file_is_about(text: str, name: str) -> None:
    assert find_entry_point(text + INPUTS) == name
