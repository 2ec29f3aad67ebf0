"""Loads whose masks leave something out that has no value: receipts at trust tell where answers rest on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdata.verify.beyond import left_out
from kdata.verify.judge import judge_files
from kdata.verify.options import Options

HONEST = Path(__file__).parent / "kernels" / "good_leaves_out_what_it_did_not_load.py"
WHERE = "tl.sum(tl.where(c < cols, x, 0.0), 0)"


@pytest.mark.parametrize(("summed", "right"), [(WHERE, True), ("tl.sum(x, 0)", False)])
def test_a_receipt_tells_of_what_rests_on_zeros_that_triton_does_not_promise(
    tmp_path: Path, summed: str, right: bool
) -> None:
    text = HONEST.read_text()
    assert WHERE in text
    file = tmp_path / "kernel.py"
    file.write_text(text.replace(WHERE, summed))
    receipt = judge_files(file, file, Options(level="trust", targets=()))
    assert (receipt.verdict, receipt.reason) == ("verified", "")
    assert [c.passed for c in receipt.checks if c.name == left_out.CHECK] == [right]


def test_nothing_is_told_where_a_load_leaves_nothing_out(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_text(HONEST.read_text().replace("mask=c < cols)", "mask=c < cols, other=0.0)"))
    receipt = judge_files(file, file, Options(level="trust", targets=()))
    assert receipt.verdict == "verified"
    assert left_out.CHECK not in {c.name for c in receipt.checks}
