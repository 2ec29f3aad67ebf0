"""Receipts: what was seen of a candidate, on what, and by which judge. The trusted side."""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kdata.record import Build, Candidate, Check, Receipt, Trial, Verdict, digest
from kdata.verify import languages
from kdata.verify.evidence.findings import Findings
from kdata.verify.options import Options
from kdata.verify.tolerances import VERSION

DEVICE = "cpu: triton interpreter"


def write(
    candidate: Candidate, verdict: Verdict, reason: str, detail: str, found: Findings, options: Options
) -> Receipt:  # fmt: skip
    """What is put down of a verdict."""
    checks: tuple[Check, ...] = tuple(found.checks)
    trials: tuple[Trial, ...] = tuple(found.trials)
    builds: tuple[Build, ...] = found.builds
    return Receipt(
        candidate.id, verdict, reason, detail[:1000], checks, trials, tuple(s["kernel"] for s in found.signatures),
        builds,
        mode=found.mode, level=languages.level(candidate), effort=options.level, device=found.device or DEVICE,
        isolation="+".join(found.guards),
        tolerances=VERSION, harness=harness(), versions=versions() + found.versions, timing=found.timing,
        precision=options.precision,
    )  # fmt: skip


@cache
def harness() -> str:
    """Hash of the judge's own source."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return digest(*(f"{f.relative_to(Path(__file__).parent)}\n{f.read_text()}" for f in files))


@cache
def versions() -> tuple[str, ...]:
    """What the judge ran on."""
    found = [f"python {sys.version_info.major}.{sys.version_info.minor}"]
    for package in ("torch", "triton", "numpy"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return tuple(found)
