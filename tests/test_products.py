"""Products of float32 whose precision is left to Triton: receipts tell of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdata.record import Receipt
from kdata.verify.beyond import products
from kdata.verify.evidence.findings import Findings
from kdata.verify.judge import judge_files
from kdata.verify.options import Options

KERNELS = Path(__file__).parent / "kernels"
LEFT = "tl.dot(a, b, total)"


def told(receipt: Receipt) -> list[bool]:
    assert receipt.verdict == "verified"
    return [c.passed for c in receipt.checks if c.name == products.CHECK]


@pytest.mark.parametrize(
    ("said", "right"),
    [
        (LEFT, [False]),
        ('tl.dot(a, b, total, input_precision="ieee")', [True]),
        ('tl.dot(a, b, total, "ieee")', [True]),
        ("tl.dot(a, b, total, allow_tf32=False)", [True]),
        ("tl.dot(a, b, total, None, False)", [True]),
        ('tl.dot(a, b, tl.dot(a, b, input_precision="ieee")) - tl.dot(a, b, input_precision="ieee") + total', [False]),
    ],
)
def test_a_receipt_tells_whether_products_say_how_precise_they_are(
    tmp_path: Path, said: str, right: list[bool]
) -> None:
    text = (KERNELS / "good_dot_by_default.py").read_text()
    assert LEFT in text
    file = tmp_path / "kernel.py"
    file.write_text(text.replace(LEFT, said))
    assert told(judge_files(file, file, Options(targets=()))) == right


def test_nothing_is_told_where_there_is_no_such_product() -> None:
    for name in ("good_relu.py", "good_linear_gelu_in_bfloat16.py"):
        assert told(judge_files(KERNELS / name, KERNELS / name, Options(targets=()))) == []


def test_nothing_is_told_where_tf32_is_what_is_judged() -> None:
    found = Findings(products=True)
    products.tell(found, Options(device="cuda", precision="tf32"))
    assert not found.checks
