"""Candidates that refuse sizes at which a reference runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdata.record import Receipt, Trial
from kdata.verify import reasons
from kdata.verify.evidence.refusals import EQUAL, WIDTHS, refuses_unequal, refuses_widths
from kdata.verify.judge import judge_files
from kdata.verify.options import Options

SQUARE = "def get_inputs():\n    return [torch.randn(96, 96)]\n"
OBLONG = SQUARE.replace("96, 96", "96, 95")
KERNELS = Path(__file__).parent / "kernels"
GOOD = KERNELS / "good_refuses_what_is_not_square.py"
HEAD = KERNELS / "good_head_of_a_power_of_two.py"


def receipt(reason: str, *details: str) -> Receipt:
    trials = tuple(Trial("", "", 0, "float32", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, not d, d) for d in details)
    return Receipt("it", "rejected", reason, trials=trials)


@pytest.mark.parametrize(
    ("said", "source", "refuses"),
    [
        (receipt(reasons.WRONG_ODD, "", "AssertionError: square matrices only"), SQUARE, True),
        (receipt(reasons.BAKED_IN, "ValueError"), SQUARE, True),
        (receipt(reasons.WRONG_ODD, "AssertionError"), OBLONG, False),
        (receipt(reasons.WRONG_ODD, "AssertionError", "output: error 0.3, 9 times what is allowed"), SQUARE, False),
        (receipt(reasons.WRONG_ODD, "IndexError: program 0 loads outside the tensors it was given"), SQUARE, False),
        (receipt(reasons.WRONG, "AssertionError"), SQUARE, False),
        (receipt(reasons.WRONG_ODD), SQUARE, False),
    ],
)
def test_who_raises_at_other_sizes_refuses_and_who_answers_wrongly_does_not(
    said: Receipt, source: str, refuses: bool
) -> None:
    assert refuses_unequal(said, source) == refuses


def test_a_receipt_says_where_equal_sizes_were_not_taken_apart() -> None:
    found = judge_files(GOOD, GOOD, Options(targets=()))
    assert found.verdict == "verified"
    assert next(check.name for check in found.checks if not check.passed) == EQUAL
    assert "float32[61, 61], float32[61, 61]" in {trial.shapes for trial in found.trials}


@pytest.mark.parametrize(
    ("said", "refuses"),
    [
        (receipt(reasons.WRONG_ODD, "", "InterpreterError: arange's range must be a power of 2"), True),
        (receipt(reasons.BAKED_IN, "AssertionError"), True),
        (receipt(reasons.WRONG_ODD, "OutOfResources: out of resource: shared memory, Required: 401664"), True),
        (receipt(reasons.WRONG_ODD, "NotImplementedError: head sizes are powers of two from 16"), True),
        (receipt(reasons.WRONG_ODD, "ValueError: head_dim must be 16, 32, 64 or 128"), True),
        (receipt(reasons.WRONG_ODD, "RuntimeError: shapes differ"), False),
        (receipt(reasons.WRONG_ODD, "AssertionError", "output: error 0.3, 9 times what is allowed"), False),
        (receipt(reasons.WRONG, "AssertionError"), False),
    ],
)
def test_who_asks_for_powers_of_two_refuses_other_widths(said: Receipt, refuses: bool) -> None:
    assert refuses_widths(said) == refuses


def test_a_receipt_says_where_last_dimensions_were_powers_of_two() -> None:
    found = judge_files(HEAD, HEAD, Options(targets=()))
    assert found.verdict == "verified"
    assert WIDTHS in {check.name for check in found.checks if not check.passed}
    shapes = [trial.shapes.split(", float32")[0][:-1].split("[")[1].split(", ") for trial in found.trials]
    assert {int(shape[-1]) for shape in shapes} <= {16, 32, 64, 128}
    assert any(int(shape[-2]) % 2 for shape in shapes)
