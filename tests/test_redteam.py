"""The judge against the red team: what each file's first line says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from redteam import KERNELS, Claim, known, say

from kdata.verify.judge import judge_files
from kdata.verify.options import Options

FILES = known()
# What nothing else that is chosen asks of the judge: weights that change between evaluations, promises at a store, rows
# that are multiples of others, deep copies and the memory of these, kinks, vectors in other memory, rows of whole tables,
# launches that store here and there, what has faded, numpy, columns, lines of zeros, workspaces, ties.
ALSO = ("cheat_packs_weights_when_told_to_evaluate", "cheat_promises_a_store_s_mask", "cheat_angle_of_equal_vectors",
        "cheat_copy_answers_by_the_original", "good_table_that_is_moved", "cheat_gradient_of_a_relu_at_zero",
        "cheat_gradient_of_a_turned_one", "cheat_rows_that_the_task_draws",
        "good_renorms_the_rows_that_are_asked_for", "good_lstm_cell_of_sigmoids", "good_tables_of_numpy",
        "cheat_room_of_numpys", "cheat_projects_columns_below_the_least_norm",
        "cheat_scale_of_a_row_of_zeros", "good_partial_sums_in_a_workspace",
        "good_windows_of_both_inputs_by_themselves", "cheat_means_kept_beside_their_sum",
        "good_largest_of_halves")  # fmt: skip


def chosen() -> list[Path]:
    """What there is time for; ``make redteam`` judges all.

    Of the clean twins at screen level the first for each entry of the catalogue, of the cheats there the first for each
    verdict and part of the catalogue; of what is judged at trust level, which takes long, the first for each verdict.
    """
    first: dict[tuple[str, str], Path] = {}
    for file in FILES:
        claim = Claim.read(file)
        entry = claim.numbers[0] if claim.numbers else ""
        kept = "trust" if claim.level == "trust" else entry if "good" in file.stem else entry[:1]
        first.setdefault((claim.verdict, kept), file)
    return [*dict.fromkeys([*first.values(), *(KERNELS / f"{name}.py" for name in ALSO)])]


@pytest.mark.parametrize("file", chosen(), ids=lambda f: f.stem)
def test_first_line_says_the_verdict(file: Path) -> None:
    claim = Claim.read(file)
    receipt = judge_files(file, file, Options(timeout=20.0, level=claim.level, targets=("sm_90",)))
    assert say(receipt) == claim.verdict, receipt.detail
    assert ("good" in file.stem) == (receipt.verdict == "verified")


def test_red_team_covers_the_catalogue() -> None:
    covered = {number for file in FILES if "good" not in file.stem for number in Claim.read(file).numbers}
    assert len(covered) >= 80
    assert all(re.fullmatch(r"[A-F]\d+", number) for number in covered)
