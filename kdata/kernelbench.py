"""Rows that pair a problem in KernelBench's form with a program for it, under the names that published sets give them.

KernelBench's own set (huggingface.co/datasets/ScalingIntelligence/KernelBench) holds the problems in ``code``; sets of
answers to it name the problem's text and the answer's each in their own way.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from kdata import folders
from kdata.kernelbook import text
from kdata.record import Candidate, Origin

CODE = ("code", "ref_arch_src", "reference", "reference_code", "pytorch_code", "python_code", "PyTorch_Code_Module")
KERNEL = ("kernel", "kernel_code", "kernel_src", "custom_kernel", "generated_code", "solution", "triton_code", "answer",
          "model_new", "CUDA_Code")  # fmt: skip
NAME = ("name", "problem_name", "Op_Name", "uuid", "id")


def columns(have: Set[str]) -> tuple[str, str] | None:
    """The columns of the problem's text and of the answer's; None where one is missing."""
    found = [next((name for name in names if name in have), "") for names in (CODE, KERNEL)]
    return (found[0], found[1]) if all(found) else None


def candidate(row: Mapping[str, Any]) -> Candidate:
    """The candidate of a row; where a text is missing or no text, the judge says what that makes of it."""
    code, kernel = columns(row.keys()) or ("", "")
    name = next((str(row[n]) for n in NAME if row.get(n) is not None), "")
    level = row.get("level", row.get("Level_ID"))
    origin = Origin("kernelbench", "ScalingIntelligence/KernelBench", "", f"level{level}/{name}" if level else name)
    return folders.make(text(row.get(code)), text(row.get(kernel)), origin, "kernelbench")
