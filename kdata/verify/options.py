"""What a verification is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kdata.sandbox.guard import Limits

# What a process is started with that interprets kernels: products of fp32 are fp32's unless a kernel asks for less.
INTERPRETED = {"TRITON_INTERPRET": "1", "TRITON_F32_DEFAULT": "ieee"}
Precision = Literal["ieee", "tf32"]  # of products of fp32: a track of its own each, in which both sides compute
Level = Literal["screen", "trust", "kernelbench"]  # the last: see kdata.verify.kernelbench.verdict
# Draws, sets of sizes, and how many times the timeout they may take.
LEVELS: dict[Level, tuple[int, int, int]] = {"screen": (2, 3, 1), "trust": (8, 4, 4), "kernelbench": (2, 3, 1)}
FILE = 256 << 20  # bytes of a file that a child may write, beside what it is given
WEIGHTS = 512 << 20  # bytes that the draws of a task's weights and inputs may come to
# Elements up to which a task that was scaled down is also run at its own sizes.
WHOLE: dict[Level, int] = {"screen": 1 << 21, "trust": 1 << 24, "kernelbench": 1 << 21}

LOADED = 2.0  # patience with references: a candidate is not to go without a verdict because a machine is loaded


@dataclass(frozen=True, slots=True)
class Concession:
    """What is conceded to a candidate in the sizes that it is tried at; its receipt tells of it."""

    step: int = 1  # sizes other than the base ones are multiples of it, but for those of the first of several axes
    thrift: int = 1  # by which everything is to cost less than usual, for kernels that take long
    # Equal numbers in shapes stay equal, for kernels that refuse others: a text does not tell which are so by chance.
    together: bool = False
    powers: bool = False  # last dimensions are powers of two, for kernels that refuse others: head sizes mostly


@dataclass(frozen=True, slots=True)
class Options:
    """Parameters of one verification. The same options, task and candidate give the same receipt."""

    targets: tuple[str, ...] = ("sm_90", "gfx942")  # GPUs to compile for; () skips compiling
    seeds: int | None = None  # draws of weights and inputs for each variant; None: as many as the level asks for
    variants: int | None = None  # sets of sizes, the base one among them; None: likewise
    seed: int = 0  # where the draws start
    timeout: float = 60.0  # seconds of wall clock for the candidate, and for the reference; at trust four times that
    memory: int = 6 << 30  # bytes
    level: Level = "screen"  # "trust": more draws and sizes, other distributions, draws that follow from the candidate
    device: Literal["cpu", "cuda"] = "cpu"  # where candidates run: in Triton's interpreter, or on a GPU
    timed: bool = True  # on a GPU: measure the speedup, too
    baselines: tuple[str, ...] = ("eager", "compile", "max-autotune")  # what it is over: the fastest of these
    gpu_timeout: float = 300.0  # seconds of wall clock for a child that uses a GPU: it compiles, too
    gpu_memory: int = 64 << 30  # bytes of the host's memory that it may write to
    precision: Precision = "ieee"
    fused: bool = True  # on a GPU: whether its compiler may fuse products and sums; see Judgement._excuse
    delayed: bool = False  # on a GPU: whether warps of compiled code wait after barriers; see kdata.verify.cuda.delays

    def __post_init__(self) -> None:
        """Refuse what cannot be judged.

        Raises:
            ValueError: tf32 is asked for where there is none, or of a rule that knows no such track.
        """
        if self.tf32 and self.device == "cpu":
            raise ValueError("tf32 is judged on a GPU only: on a CPU kernels are interpreted, in IEEE precision")
        if self.tf32 and self.level == "kernelbench":
            raise ValueError("KernelBench's rule has no tf32 track: leave --precision out, or choose another level")

    @property
    def tf32(self) -> bool:
        """Whether products of fp32 may be computed in tf32."""
        return self.precision == "tf32"

    @property
    def draws(self) -> int:
        """Draws of weights and inputs for each variant."""
        return self.seeds or LEVELS[self.level][0]

    @property
    def sizes(self) -> int:
        """Sets of sizes."""
        return self.variants or LEVELS[self.level][1]

    def limits(self, given: int = 0, patience: float = 1.0) -> Limits:
        """Resource limits of a child that is ``given`` so many bytes, which it may hand back changed.

        ``patience``: on the clock it may take so many times the seconds that it may take of the CPU.
        """
        seconds = self.timeout * LEVELS[self.level][2]
        return Limits(wall=patience * seconds, cpu=seconds, memory=self.memory, file_size=FILE + 2 * given)
