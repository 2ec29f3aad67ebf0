"""The interpreter as second witness: what it is believed in and what not. The device's part is in ``test_gpu.py``."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import pytest
import triton
from triton.runtime.errors import OutOfResources

from kdata.record import Candidate, Origin, Task
from kdata.verify import judge, reasons
from kdata.verify.candidate.source import task_part, values_named
from kdata.verify.evidence import witness
from kdata.verify.evidence.expecting import UndecidedError
from kdata.verify.evidence.findings import Findings, RejectedError
from kdata.verify.evidence.witness import CHECK
from kdata.verify.gpu.launches import DeviceLedger
from kdata.verify.options import Options

KERNELS = Path(__file__).parent / "kernels"
UNSEEN_BY_A_DEVICE = [
    "cheat_autotune_one_wrong", "cheat_one_configuration_of_twenty", "cheat_loads_where_and_would_end",
    "cheat_counts_on_a_library_function", "cheat_patches_a_module_class", "cheat_wrong_at_round_sizes",
]  # fmt: skip
DEVICE = Options(device="cuda", targets=())


def heard(name: str, before: str = "", after: str = "") -> witness.Testimony:
    """As if a GPU had found a file of the red team right."""
    text = (KERNELS / f"{name}.py").read_text().replace(before, after)
    task = Task.make(task_part(text), "Model", Origin("local", "tests", "", name))
    candidate = Candidate.make(task, text, "triton", "test")
    expected = judge.expect(task.source, "Model", DEVICE, named=values_named(text))
    return judge._testify(candidate, expected, DEVICE, [])


def wanted(name: str) -> str:
    line = (KERNELS / f"{name}.py").read_text().splitlines()[0]
    return line.removeprefix("# rejected: ").partition(" [")[0]


def test_it_does_not_object_where_it_takes_too_long() -> None:
    def run() -> None:
        raise UndecidedError(reasons.SLOW, "more than 60 s")

    assert witness.hear(run, lambda _: False, Findings()) == f"{reasons.SLOW}: more than 60 s"


@pytest.mark.parametrize("name", UNSEEN_BY_A_DEVICE)
def test_it_objects_to_what_a_device_does_not_show(name: str) -> None:
    with pytest.raises(RejectedError) as rejection:
        heard(name)
    assert rejection.value.reason == wanted(name)


@pytest.mark.parametrize("name", ["good_layer_norm", "good_linear_autotuned", "good_histogram_atomics"])
def test_it_agrees_with_honest_kernels(name: str) -> None:
    testimony = heard(name)
    assert testimony.doubt == ""
    assert all(trial.passed for trial in testimony.found.trials)


def test_a_kernel_that_it_cannot_run_is_not_rejected() -> None:
    assert heard("cheat_assembly").doubt.startswith(f"{reasons.RAISES}: ")


def test_it_is_not_believed_where_it_only_contradicts_the_device() -> None:
    """It rounds factors as asked; the device that has answered rightly would not have."""
    assert heard("cheat_dot_in_tf32").doubt.startswith(f"{reasons.WRONG}: ")


def test_nor_in_what_the_device_it_stands_for_might_have_said() -> None:
    assert "what a launch returns" in heard("cheat_asks_a_launch_for_its_code").doubt


def test_what_calls_the_kernels_is_seen_though_they_cannot_be_run() -> None:
    """The wrapper leaves the work to torch from a size on that no trial has."""
    load = "    x = tl.load"
    assembly = f'    tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [i], tl.int32, True, 1)\n{load}'
    with pytest.raises(RejectedError) as rejection:
        heard("cheat_torch_beyond_a_named_size", load, assembly)
    assert rejection.value.reason == reasons.ATEN


def noted(result: witness.Testimony | RejectedError) -> Findings:
    second: Future[witness.Testimony] = Future()
    if isinstance(result, RejectedError):
        second.set_exception(result)
    else:
        second.set_result(result)
    found = Findings()
    try:
        witness.note(second, found)
    except RejectedError as rejection:
        found.check("rejected", False, rejection.detail)
    return found


def test_a_receipt_says_what_it_has_seen() -> None:
    [*_, check] = noted(heard("good_layer_norm")).checks
    assert (check.name, check.passed, check.detail) == (CHECK, True, "9 trials")
    [check] = noted(witness.Testimony(Findings(), "raises: no such operator")).checks
    assert (check.passed, check.detail) == (False, "could not say: raises: no such operator")
    own = RejectedError(reasons.WRONG_LARGE, "at the task's own sizes: 0% of the answer is written")
    first, last = noted(witness.Testimony(Findings(), own=own)).checks  # the device has not said that it is right there
    assert (first.passed, last.detail) == (False, f"in the interpreter: {own.detail}")
    first, last = noted(RejectedError(reasons.ORDER, "programs race")).checks
    assert (first.name, first.passed, last.detail) == (CHECK, False, "in the interpreter: programs race")


def test_a_configuration_that_does_not_fit_on_the_device_is_passed_over() -> None:
    large, small = triton.Config({"BLOCK": 1 << 20}), triton.Config({"BLOCK": 64})
    tuner = SimpleNamespace(configs=[large, small], cache={}, best_config=None)
    ledger = DeviceLedger()
    bench = ledger._taking_turns(None)

    def run(tuner: SimpleNamespace, fits: bool) -> triton.Config:
        tuner.best_config = min(tuner.configs, key=lambda config: bench(tuner, config=config))
        if tuner.best_config is large or not fits:
            raise OutOfResources(1 << 20, 1 << 17, "shared memory")
        return tuner.best_config

    passing = ledger._passing_over(run)
    assert passing(tuner, True) is small
    with pytest.raises(OutOfResources):
        passing(tuner, False)  # there is none left
