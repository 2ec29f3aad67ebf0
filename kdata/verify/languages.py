"""What the judge does otherwise for each language that candidates are written in."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from kdata.record import Candidate
from kdata.verify import reasons
from kdata.verify.candidate import source
from kdata.verify.compiling import targets
from kdata.verify.cuda import candidate as cuda
from kdata.verify.cuda import delays
from kdata.verify.cuda import text as cuda_text
from kdata.verify.evidence.findings import Findings, RejectedError
from kdata.verify.options import Options

TRITON, CUDA = "triton", "cuda"


def level(candidate: Candidate) -> str:
    """How a candidate's kernels run, as receipts have it."""
    return "compiled" if candidate.language == CUDA else "interpreted"


def lacking(candidate: Candidate, options: Options) -> tuple[str, str] | None:
    """What this machine lacks to judge a candidate: a reason and a detail; None where there is all."""
    if candidate.language == CUDA:
        return cuda.lacking(options)
    known = candidate.language == TRITON
    return None if known else (reasons.NO_GPU, f"{candidate.language} is neither interpreted nor compiled here")


def object_to(candidate: Candidate) -> source.Objection | None:
    """The first reason not to run a candidate's text; None if there is none."""
    return (cuda_text.object_to_text if candidate.language == CUDA else source.object_to)(candidate.source)


def python(candidate: Candidate) -> str:
    """A candidate's text as it is imported."""
    return cuda_text.python_part(candidate.source) if candidate.language == CUDA else candidate.source


def values_named(candidate: Candidate) -> tuple[float, ...]:
    """Numbers that a candidate's kernels name: inputs at which they may do other than they do elsewhere."""
    return (cuda_text.values_named if candidate.language == CUDA else source.values_named)(candidate.source)


def defines_kernel(candidate: Candidate) -> bool:
    """Whether a text that was admitted has a kernel of its own."""
    return candidate.language == CUDA or source.defines_kernel(candidate.source)


def prepare(candidate: Candidate, options: Options, found: Findings) -> None:
    """Compile what is compiled before it runs.

    Raises:
        RejectedError: it does not compile.
    """
    if candidate.language == CUDA:
        cuda.prepare(candidate, options, found)


def prepare_delays(candidate: Candidate, options: Options) -> None:
    """Compile once more what waits after barriers (``cuda.delays``), while the first is at work."""
    if options.level == "trust" and delays.bears(candidate):
        with suppress(RejectedError):  # who asks for it is told
            cuda.compiled(candidate, replace(options, delayed=True))


def build(candidate: Candidate, options: Options, found: Findings) -> None:
    """Compile the kernels that were launched for the GPUs that are asked for.

    Raises:
        RejectedError: one does not compile.
    """
    if not options.targets or candidate.language != TRITON:
        return
    launches = [*found.signatures, *reversed(found.launched)]  # the largest first
    builds, refused = targets.compile_kernels(candidate.source, launches, options.targets, found.own)
    found.builds = tuple(builds)
    if refused:
        found.check("fits a GPU at every size", False, refused)
    failed = [b for b in found.builds if b.error]
    built = ", ".join(target for target in options.targets if target not in {b.target for b in failed})
    found.check("compiles", not failed, built)
    if failed:
        others = f"compiles for {built} only; " if built else ""
        error = f"{others}{failed[0].kernel}: {failed[0].error}"
        raise RejectedError(f"{reasons.NO_COMPILE} {failed[0].target}", error)
