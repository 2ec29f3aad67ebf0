"""KernelBench's own way of judging, in a child of the sandbox: reference and candidate in one process, as there.

Written after ``eval_kernel_against_ref``, ``run_and_check_correctness`` and ``get_tolerance_for_precision`` in
KernelBench's src/kernelbench/eval.py and ``time_execution_with_cuda_event`` in its src/kernelbench/timing.py, at commit
423217d, with the settings of its scripts/eval_from_generations.py.  What it does not look at (other sizes, values of
weights and inputs, whose kernels did the work) is not looked at here either, and whoever patches ``torch.allclose``
passes.  Two things are added: modules with several outputs, and KernelBook's constructor arguments.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from kdata.task import Program, execute, resize
from kdata.verify.candidate.setting import outcome
from kdata.verify.exchange.scratch import LIBRARIES, SOURCE
from kdata.verify.exchange.telling import line
from kdata.verify.gpu.baselines import private_caches

SEED, TRIALS = 42, 5
TOLERANCES = {"now": 1e-4, "v0.1": 1e-2}  # absolute and relative, for fp32: today's, and that of the papers
WARMUP, TIMED, FLUSHED = 3, 100, 1 << 28  # calls, calls, bytes


def answer(payload: dict[str, Any], scratch: Path) -> dict[str, Any]:
    """Judge ``candidate.py`` in the scratch folder.

    ``payload``: source, entry_point, sizes (of the task, where they are to be others), device.
    Returns compiled, correct (by tolerance) and error; of an error, too, whether it was ``short`` of memory.
    """
    device = payload["device"]
    if device == "cuda":
        private_caches(scratch)
    program = execute(resize(payload["source"], payload["sizes"]), payload["entry_point"])
    result: dict[str, Any] = {"compiled": False, "correct": dict.fromkeys(TOLERANCES, False), "error": ""}
    with torch.no_grad():
        try:
            arguments = _arguments(program, device)
            reference = _build(program.namespace[payload["entry_point"]], arguments)
            candidate, problem = _construct(_load(scratch / SOURCE), arguments, device)
            result["compiled"] = True
            if problem:
                return result | _told(problem)
            result["correct"] = _trials(reference.to(device, torch.float32), candidate, program, device)
        except BaseException as error:  # noqa: BLE001 - whatever is raised is the answer
            return result | _told(error)
    return result


def _told(error: BaseException) -> dict[str, Any]:
    return {"error": line(error), "short": outcome(error) == "memory"}


def _load(path: Path) -> Any:
    if (path.parent / LIBRARIES).exists():
        from kdata.verify.cuda import host as cuda_host

        cuda_host.offer_plainly(path.parent)
    spec = importlib.util.spec_from_file_location("temp_module", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ModelNew


def _construct(kind: Any, arguments: tuple[list[Any], dict[str, Any]], device: str) -> tuple[Any, Exception | None]:
    """The candidate's module, or what it raised: there a RuntimeError counts as compiled and anything else does not."""
    try:
        return _build(kind, arguments).to(device, torch.float32), None
    except RuntimeError as error:
        return None, error


def _arguments(program: Program, device: str) -> tuple[list[Any], dict[str, Any]]:
    torch.manual_seed(SEED)
    arguments: tuple[list[Any], dict[str, Any]] = _placed(program.arguments(), device)
    return arguments


def _build(kind: Any, arguments: tuple[list[Any], dict[str, Any]]) -> Any:
    """The module with the weights that the seed gives: equal ones come of equal constructors only."""
    torch.manual_seed(SEED)
    return kind(*arguments[0], **arguments[1])


def _placed(values: Any, device: str) -> Any:
    """All tensors in fp32 on the device; integers become floats, too, as there."""
    return tree_map(lambda v: v.to(dtype=torch.float32).to(device) if isinstance(v, torch.Tensor) else v, values)


def _inputs(program: Program, seed: int, device: str) -> list[Any]:
    torch.manual_seed(seed)
    inputs: list[Any] = _placed(program.inputs(), device)
    return inputs


def _trials(reference: Any, candidate: Any, program: Program, device: str) -> dict[str, bool]:
    """Whether all trials pass, for each tolerance."""
    torch.manual_seed(SEED)
    seeds = [int(torch.randint(0, 2**32 - 1, (1,)).item()) for _ in range(TRIALS)]
    passed = dict.fromkeys(TOLERANCES, True)
    for seed in seeds:
        inputs = _inputs(program, seed, device)
        torch.manual_seed(seed)
        wanted, form = tree_flatten(reference(*inputs))
        found, other = tree_flatten(candidate(*inputs))
        if form != other:
            return dict.fromkeys(TOLERANCES, False)
        for name, tolerance in TOLERANCES.items():
            passed[name] &= all(_close(a, b, tolerance) for a, b in zip(wanted, found, strict=True))
    return passed


def _close(wanted: Any, found: Any, tolerance: float) -> bool:
    if not isinstance(wanted, torch.Tensor):
        return bool(wanted == found)
    return wanted.shape == found.shape and torch.allclose(wanted, found, atol=tolerance, rtol=tolerance)


def times(payload: dict[str, Any], scratch: Path) -> dict[str, float]:
    """Mean microseconds a call of each of ``payload["programs"]``: "candidate", "eager", "compile".

    The other keys are those of ``answer``. What cannot be measured is left out.
    """
    private_caches(scratch)
    program = execute(resize(payload["source"], payload["sizes"]), payload["entry_point"])
    found: dict[str, float] = {}
    with torch.no_grad():
        arguments = _arguments(program, "cuda")
        for name in payload["programs"]:
            kind = _load(scratch / SOURCE) if name == "candidate" else program.namespace[payload["entry_point"]]
            module = _build(kind, arguments).to("cuda", torch.float32)
            with contextlib.suppress(Exception):  # torch.compile fails in many ways: no such baseline then
                found[name] = _mean(
                    torch.compile(module) if name == "compile" else module, _inputs(program, SEED, "cuda")
                )
    return found


def _mean(module: Callable[..., Any], inputs: list[Any]) -> float:
    """Microseconds between two events on the current stream, the cache overwritten before each call."""
    for _ in range(WARMUP):
        module(*inputs)
        torch.cuda.synchronize()
    total = 0.0
    for number in range(TIMED + 1):
        torch.cuda.synchronize()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.empty(FLUSHED // 8, dtype=torch.int64, device="cuda").fill_(42)
        start.record()
        module(*inputs)
        end.record()
        torch.cuda.synchronize()
        total += start.elapsed_time(end) if number else 0.0  # the first is left out, as there
    return 1e3 * total / TIMED
