"""Products in tf32: a track with tolerances of its own, on a GPU only, never mixed with IEEE precision."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from factories import pair

from kdata import publish
from kdata.verify.candidate.source import task_part
from kdata.verify.evidence.compare import Nature, errors
from kdata.verify.evidence.expecting import expect
from kdata.verify.evidence.trial import LIKE_TF32, nature
from kdata.verify.judge import judge_files
from kdata.verify.options import Options
from kdata.verify.tolerances import tolerance

PRODUCT = Path(__file__).parent / "kernels" / "cheat_dot_in_tf32.py"
QUICK = Options(targets=(), timeout=10.0)


def test_tf32_is_a_track_of_its_own() -> None:
    """It allows products what cutting their factors does, nothing else more, and is judged on a GPU only."""
    ieee, tf32 = (tolerance("float32", 1.0, 64, True, 4e-4, 2e-3, tf32=track) for track in (False, True))
    assert (ieee.atol, tf32.atol) == (4e-3, 8e-3)  # twice, and four times, the honest largest error
    assert 4e-4 < ieee.rmse < tf32.rmse < 1e-3
    assert tolerance("float16", 1.0, 64, True, 0.0, 0.0, tf32=True) == tolerance("float16", 1.0, 64, True, 0.0, 0.0)
    with pytest.raises(ValueError, match="on a GPU only"):
        Options(precision="tf32")
    with pytest.raises(ValueError, match="no tf32 track"):
        Options(precision="tf32", device="cuda", level="kernelbench")


def test_a_detail_says_where_errors_are_as_large_as_those_of_tf32() -> None:
    assert judge_files(PRODUCT, PRODUCT, QUICK).detail.endswith(LIKE_TF32)
    half = PRODUCT.with_name("cheat_half_precision.py")
    assert LIKE_TF32 not in judge_files(half, half, QUICK).detail


@pytest.mark.parametrize(
    ("name", "inside", "nearest", "passes"),
    [("fp32", 0, False, True), ("tf32", 13, True, True), ("tf32, cut", 13, False, True), ("bf16", 16, True, False)],
)
def test_products_in_tf32_pass_on_its_track_and_in_less_do_not(
    name: str, inside: int, nearest: bool, passes: bool
) -> None:
    """Factors cut to fewer bits before an exact product, on the CPU, where the GPU's trials have their reference."""
    task = task_part(PRODUCT.read_text())
    expected = expect(task, "Model", replace(QUICK, precision="tf32", device="cuda"))
    every = []
    for trial in (t for t in expected.trials if t["style"] == "natural"):
        a, b = (expected.given.array(n["tensor"]).astype(np.float32) for n in trial["given"]["inputs"]["list"])
        answer = _rounded(a, inside, nearest) @ _rounded(b, inside, nearest)
        eager, golden = (expected.kept.array(trial["kept"][k]["tensor"]) for k in ("eager", "golden"))
        noisy = [expected.kept.array(node["tensor"]) for node, _ in trial["kept"]["noisy"]]
        every.append(errors("output", answer.astype(np.float64), eager, golden, noisy, "float32", nature(trial)))
    assert all(found.passed for found in every) == passes, (name, every)
    plain = expect(task, "Model", QUICK)
    assert not any(t["kept"]["tf32"] for t in plain.trials)


def test_the_two_are_not_published_together(tmp_path: Path) -> None:
    one, other = pair(1), pair(2)
    other = replace(other, receipt=replace(other.receipt, precision="tf32"))
    with pytest.raises(ValueError, match="ieee and in tf32 precision are not mixed"):
        publish.write_dataset([one, other], [], str(tmp_path), lambda _: "")


def _rounded(values: np.ndarray[Any, Any], bits: int, nearest: bool) -> np.ndarray[Any, Any]:
    """Floats without the last bits of the fraction: the nearest, or cut as tensor cores do."""
    half = np.uint32(1 << (bits - 1) if nearest else 0)
    kept = np.uint32(~((1 << bits) - 1) & 0xFFFFFFFF)
    return ((values.view(np.uint32) + half) & kept).view(np.float32)


def test_limits_are_finite_where_squares_are_not() -> None:
    golden = np.array([1e200, -2e200, 3e200])
    plain = Nature(terms=1, sums=False)
    assert errors("output", golden, golden, golden, [], "float64", plain).passed
    assert not errors("output", golden * 2, golden, golden, [], "float64", plain).passed
