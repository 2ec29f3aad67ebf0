"""What a verification is asked to do."""

from __future__ import annotations

from dataclasses import dataclass

from kdata.sandbox.guard import Limits


@dataclass(frozen=True, slots=True)
class Options:
    """Parameters of one verification. The same options, task and candidate give the same receipt."""

    targets: tuple[str, ...] = ("sm_90", "gfx942")  # GPUs to compile for; () skips compiling
    seeds: int = 2  # draws of weights and inputs for each variant
    variants: int = 3  # sets of sizes, the base one among them
    seed: int = 0  # where the draws start
    timeout: float = 60.0  # seconds of wall clock for the candidate, and for the reference
    memory: int = 6 << 30  # bytes

    def limits(self) -> Limits:
        """Resource limits of a child."""
        return Limits(wall=self.timeout, cpu=self.timeout, memory=self.memory, file_size=256 << 20)
