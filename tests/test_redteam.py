"""The judge against the red team: what each file's first line says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from redteam import Claim, known, say

from kdata.verify.judge import judge_files
from kdata.verify.options import Options

FILES = known()


def chosen() -> list[Path]:
    """What there is time for; ``make redteam`` judges all.

    Of the clean twins at screen level the first for the same entries of the catalogue; of those at trust level, which
    take long, and of the cheats the first for each verdict and part of the catalogue.
    """
    first: dict[tuple[str, str], Path] = {}
    for file in FILES:
        claim = Claim.read(file)
        quick = "good" in file.stem and claim.level == "screen"
        entries = " ".join(claim.numbers)
        first.setdefault((claim.verdict, entries if quick else entries[:1]), file)
    return list(first.values())


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
