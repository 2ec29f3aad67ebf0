"""The judge: trusted orchestration of a reference's process, a candidate's process, the comparison and the compilers.

Seeds, goldens and tolerances never enter the candidate's process; what comes out of it is bytes and a JSON account,
which is compared here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from kdata.record import Candidate, Check, Origin, Receipt, Task
from kdata.sandbox.worker import Answer, JobError
from kdata.task import TaskError, find_entry_point, sizes
from kdata.verify import languages, reasons, receipts
from kdata.verify.beyond import aside, beyond, compiled, left_out, placed, products, training, unseen, whole, within
from kdata.verify.candidate import indices
from kdata.verify.candidate.arms import THEN
from kdata.verify.candidate.idle import without_idle_lines
from kdata.verify.candidate.settled import settled
from kdata.verify.candidate.source import (
    asks_how,
    integers,
    object_to,
    task_part,
)
from kdata.verify.compiling import targets
from kdata.verify.cuda import delays
from kdata.verify.cuda.text import language_of
from kdata.verify.evidence import calls, witness
from kdata.verify.evidence.compare import Tensors
from kdata.verify.evidence.expecting import UndecidedError, expect
from kdata.verify.evidence.findings import Findings, Judgement, Launch, RejectedError
from kdata.verify.evidence.refusals import (
    DESCRIPTOR_STEP,
    conceded_sizes,
    refuses_odd_rows,
    refuses_unequal,
    refuses_widths,
)
from kdata.verify.evidence.trial import Expected
from kdata.verify.exchange.scratch import RETURNED
from kdata.verify.gpu import judge as gpu_judge
from kdata.verify.gpu.cards import LostError
from kdata.verify.gpu.judge import Seat
from kdata.verify.lifting import lifted
from kdata.verify.options import WHOLE, Concession, Options
from kdata.verify.reference import breadth
from kdata.verify.reference.extents import asked_apart
from kdata.verify.reference.styles import TAILED

Rule = Callable[[Task, Candidate, Options], Receipt]
BRIEF = 8.0  # seconds of a call at larger sizes, at trust four times that: what takes longer is not seen
BLOCKS = 1024  # integers up to this one are block sizes as often as not
THRIFT = 8  # by which sizes cost less at the second attempt
BOTH = Concession(together=True, powers=True)
CRASHES = {"timeout": reasons.TIMEOUT, "memory": reasons.MEMORY}


def judge(task: Task, candidate: Candidate, options: Options = Options()) -> Receipt:  # noqa: B008 - frozen
    """Execute a candidate beside its task's reference and say what was seen.

    Never raises for what a task or a candidate does: that is a verdict.  A kernel of tensor descriptors that raises at
    rows of an odd number of bytes, which no descriptor can describe, is judged at others; a GPU does not raise there,
    but reads something else.  One that raises wherever sizes differ that its task says as equal numbers is judged where
    they are equal; one that raises at widths that are no powers of two, where these are such.  One that takes too long
    in the interpreter is judged at smaller sizes once more: in how many programs a kernel does how much is not seen in
    what its reference costs; if that takes too long, too, nothing is decided.  Sizes that stand in the constructors of
    both only are arguments of these where nothing else can be scaled down.  Imports that nothing uses are left out.
    """
    candidate = replace(candidate, source=without_idle_lines(settled(candidate.source)))
    receipt = _judged(task, candidate, options)
    if receipt.detail == reasons.TOO_LARGE and (other := lifted(candidate)):
        receipt = judge(other.task, other, options)
        return replace(
            receipt, checks=(Check("its sizes are arguments", False, "constructors say them"), *receipt.checks)
        )
    if receipt.reason == reasons.SLOW:
        receipt = _judged(task, candidate, replace(options, timeout=options.timeout / 2), Concession(thrift=THRIFT))
    if receipt.verdict != "rejected" or object_to(candidate.source):
        return receipt
    return _conceding(task, candidate, options, receipt)


def _conceding(task: Task, candidate: Candidate, options: Options, receipt: Receipt) -> Receipt:
    """Judge a rejected candidate that refuses sizes at others; one that refuses for two reasons, for the sake of both.

    What descriptors say comes first: it names its reason, and other reasons may hold for the same trials by chance.
    """
    described = Concession(step=DESCRIPTOR_STEP)
    if refuses_odd_rows(receipt, candidate.source, options):
        receipt = _judged(task, candidate, options, described)
        unequal = refuses_unequal(receipt, task.source)
        return _judged(task, candidate, options, replace(described, together=True)) if unequal else receipt
    if refuses_widths(receipt):
        anew = _judged(task, candidate, options, Concession(powers=True))
        receipt = anew if anew.verdict == "verified" else receipt
    if not refuses_unequal(receipt, task.source):
        return receipt
    receipt = _judged(task, candidate, options, Concession(together=True))
    if receipt.verdict == "rejected" and refuses_odd_rows(receipt, candidate.source, options):
        return _judged(task, candidate, options, replace(described, together=True))
    return _judged(task, candidate, options, BOTH) if refuses_widths(receipt) else receipt


def _judged(task: Task, candidate: Candidate, options: Options, conceded: Concession = Concession()) -> Receipt:  # noqa: B008
    found = Findings()
    for name, detail in conceded_sizes(conceded):
        found.check(name, False, detail)
    try:
        _admit(candidate, options)
        found.device = gpu_judge.device(options)
        salt = candidate.id if options.level == "trust" else ""  # no candidate can hold answers to draws of its own id
        gradient = breadth.offers_gradients(candidate.source)
        named = languages.values_named(candidate)
        plain = replace(options, targets=())
        unlike = asked_apart(languages.python(candidate)) if salt and not conceded.together else frozenset[int]()
        asked = task.source, task.entry_point, plain, salt, gradient, named, conceded, unlike
        expected = expect(*asked)
        found.mode = expected.mode
        if not (salt or asks_how(candidate.source)):
            expected = expected.called_one_way()
        languages.prepare(candidate, options, found)
        with gpu_judge.seated(candidate, expected.mode, options, found) as seat:
            _run(candidate, expected, options, found, seat)
            if seat is None:
                if candidate.language == "triton":
                    placed.look(lambda: calls.placed(candidate, expected, options), found)
                _look_wider(candidate, expected, options, found)
                products.tell(found, options)
                _within(candidate, expected, options, found)  # first: it may show what is seen at no size
                _at_own_sizes(candidate, expected, options, found, lambda most: expect(*asked, most))
                _beyond(candidate, expected, options, found)
                _aside(candidate, expected, options, found)
                languages.build(candidate, options, found)
            else:
                with witness.beside(lambda: _testify(candidate, expected, options, found.launched)) as second:
                    _look_wider(candidate, expected, options, found)
                    if candidate.language != "triton":  # of which the witness has nothing to say
                        _aside(candidate, expected, options, found)
                        _beyond_compiled(candidate, expected, options, found)
                    languages.build(candidate, options, found)
                    gpu_judge.measure(seat, found, expected.grows)
                    seat.close()  # nothing is on the GPU while it waits
                    witness.note(second, found)
    except RejectedError as rejection:
        return receipts.write(candidate, "rejected", rejection.reason, rejection.detail, found, options)
    except UndecidedError as undecided:
        return receipts.write(candidate, "unverified", undecided.reason, undecided.detail, found, options)
    except LostError as lost:
        return receipts.write(candidate, "unverified", reasons.GPU_LOST, str(lost), found, options)
    return receipts.write(candidate, "verified", "", "", found, options)


def judge_files(
    task_path: str | Path, kernel_path: str | Path, options: Options = Options(), rule: Rule = judge  # noqa: B008
) -> Receipt:  # fmt: skip
    """Judge a kernel file against a task file in the KernelBench interface, by our rule or another.

    Raises:
        OSError: a file cannot be read.
    """
    text, kernel = (_read(Path(p)) for p in (task_path, kernel_path))
    text, language = task_part(text), language_of(kernel)
    origin = Origin("local", Path(task_path).parent.name, "", Path(task_path).name)
    try:
        entry_point = find_entry_point(text)
    except TaskError as error:
        task = Task.make(text, "Model", origin)
        candidate = Candidate.make(task, kernel, language, "file")
        return receipts.write(candidate, "unverified", reasons.BAD_TASK, str(error), Findings(), options)
    task = Task.make(text, entry_point, origin)
    return rule(task, Candidate.make(task, kernel, language, "file"), options)


def _read(path: Path) -> str:
    return path.read_bytes()[: 11 << 20].decode("utf-8", "replace")


def _admit(candidate: Candidate, options: Options) -> None:
    if options.device == "cuda" and not gpu_judge.device(options):
        raise UndecidedError(reasons.NO_GPU, "there is no CUDA device here")
    if missing := languages.lacking(candidate, options):
        raise UndecidedError(*missing)
    try:
        for target in options.targets:
            targets.parse(target)
    except ValueError as error:
        raise UndecidedError(reasons.BAD_OPTION, str(error)) from error
    if objection := languages.object_to(candidate):
        raise RejectedError(objection.reason, objection.detail)


def _run(
    candidate: Candidate, expected: Expected, options: Options, found: Findings, seat: Seat | None
) -> None:  # fmt: skip
    """Run every trial in one child, and judge what comes back."""
    numbers = expected.numbers("base", "odd", "one", "mixed", "uneven", "next", TAILED, "few", "large")
    numbers += expected.afterwards(numbers) if options.level == "trust" else []
    try:
        answer = found.saw(calls.call(candidate, expected, numbers, options, seat=seat))
    except JobError as error:
        found.guards = error.guards
        raise _crash(error, candidate, expected, options) from error
    found.guards = answer.guards
    value: dict[str, Any] = answer.value
    if "failed" in value:
        raise RejectedError(*value["failed"])
    returned = Tensors(value["manifest"], answer.files.get(RETURNED, b""))
    own = _own_sizes(candidate) if expected.variants[0]["sizes"] else ()
    judgement = Judgement(expected, numbers, value, returned, languages.defines_kernel(candidate), own)
    for name in expected.unused:
        found.check("every parameter matters", False, name)
    judgement.decide(
        found,
        lambda: calls.works_at(candidate, expected, "double", options),
        partial(calls.works_alone, candidate, expected, options),
        partial(calls.unfused, candidate, expected, options),
    )


def _look_wider(candidate: Candidate, expected: Expected, options: Options, found: Findings) -> None:
    def run(wider: Expected, chosen: Sequence[int]) -> Answer:
        return found.heard(calls.call(candidate, wider, chosen, options, ablate=None))  # no arm is judged by it

    breadth.look(expected, run, found, candidate.source)
    if options.level == "trust" and not breadth.offers_gradients(candidate.source):
        breadth.tell_of_none(expected, found)
    if options.level == "trust" and candidate.language == "triton":
        indices.tell(candidate.source, found)
        left_out.tell(found, partial(calls.works_alone, candidate, expected, options, backwards=False, shown=True))
        training.look(expected, partial(calls.trained, candidate, expected, options), found)


def _testify(
    candidate: Candidate, expected: Expected, options: Options, launched: Sequence[Launch]
) -> witness.Testimony:  # fmt: skip
    """What the interpreter sees of a candidate that a GPU has found right in these trials, with these launches.

    Raises:
        RejectedError: it is believed in what it objects to.
        UndecidedError: the candidate does something at larger sizes that cannot be judged.
    """
    here, found = replace(options, device="cpu", precision="ieee"), Findings()
    if candidate.language != "triton":
        languages.prepare_delays(candidate, options)
        return witness.Testimony(found, f"{candidate.language} is not interpreted")

    def again(number: int) -> bool:
        return calls.works_alone(candidate, expected, here, number, expected.trials[number]["backwards"])

    def run(every: Expected, chosen: Sequence[int], few: int) -> Answer:
        turned = not (few or whole.may_wait(candidate.source))
        return calls.call(candidate, every, chosen, here, turned, ablate=None, few=few)

    doubt = witness.hear(lambda: _run(candidate, expected, here, found, None), again, found)
    found.launched += launched
    own = None if doubt else witness.hear_at_large(lambda: whole.look(expected, run, found, options.level == "trust"))
    if not doubt:
        _within(candidate, expected, here, found)
    _beyond(candidate, expected, here, found, interpreted=not (doubt or own))
    if not doubt:
        _aside(candidate, expected, here, found)
        left_out.tell(found, partial(calls.works_alone, candidate, expected, here, backwards=False, shown=True))
    products.tell(found, options)
    return witness.Testimony(found, doubt, own)


def _at_own_sizes(
    candidate: Candidate, expected: Expected, options: Options, found: Findings, larger: Callable[[int], Expected]
) -> None:
    """Look at the task's own sizes: at some programs, or where there are too many elements at the wrapper alone.

    Raises:
        RejectedError: it is wrong there.
        UndecidedError: it does something there that cannot be judged.
    """

    def run(every: Expected, chosen: Sequence[int], few: int) -> Answer:
        turned = not (few or whole.may_wait(candidate.source))
        return found.saw(calls.call(candidate, every, chosen, options, turned, ablate=None, few=few))

    found.launched += whole.look(expected, run, found, options.level == "trust")
    other = (
        unseen.look(expected, lambda: calls.outlined(candidate, expected, [expected.own], options, "far off"), found)
        if expected.own
        else ""
    )
    if other and not whole.look(larger(WHOLE["trust"]), run, found, thorough=True):
        raise UndecidedError(reasons.UNSEEN, other)


def _beyond(
    candidate: Candidate, expected: Expected, options: Options, found: Findings, interpreted: bool = True
) -> None:  # fmt: skip
    """Look at sizes beyond those of the trials; where kernels are not ``interpreted`` rightly at what calls them.

    Raises:
        RejectedError: it is wrong there.
        UndecidedError: it does something there that cannot be judged.
    """
    brief = replace(options, timeout=min(options.timeout, BRIEF))

    def run(every: Expected, chosen: Sequence[int], few: int) -> Answer:
        return found.saw(calls.call(candidate, every, chosen, brief, ablate=None, few=few))

    def outlined(outlines: list[Any]) -> Answer:
        counts = candidate.language == "triton" and indices.may_count(candidate.source)
        return calls.outlined(candidate, expected, outlines, options, indices.COUNTED_SO if counts else "")

    if other := beyond.look(candidate, expected, options, outlined, run if interpreted else None, found):
        raise UndecidedError(reasons.UNSEEN_BEYOND, other)


def _beyond_compiled(candidate: Candidate, expected: Expected, options: Options, found: Findings) -> None:
    """At trust level, look at sizes beyond the task's, and at other turns of its warps, where kernels are compiled.

    Raises:
        RejectedError: it is wrong there.
    """
    if options.level != "trust":
        return

    def run(every: Expected, chosen: Sequence[int], few: int) -> Answer:
        return found.heard(calls.call(candidate, every, chosen, options, ablate=None, few=few))

    compiled.look(candidate, expected, options, run, found)
    if delays.bears(candidate):
        delays.look(expected, partial(calls.delayed, candidate, expected, options), found)


def _aside(candidate: Candidate, expected: Expected, options: Options, found: Findings) -> None:
    """Call it as its own tests ask about, where no trial did.

    Raises:
        RejectedError: it gives another answer.
    """

    def run(given: Expected, plan: dict[str, Any]) -> Answer:
        chosen = range(len(given.trials)) if plan["others"] else range(THEN + 1 if plan["kept"] else 1)
        payload = {"manifest": given.manifest, "mode": expected.mode, "ablate": None, "aside": plan,
                   "trials": given.sequence(chosen, backwards=False)}  # fmt: skip
        call = gpu_judge.call if options.device == "cuda" else calls.interpreted
        return call(candidate, payload, given.given_bytes, options)

    def elsewhere(shapes: aside.Shapes) -> Expected:
        task = candidate.task
        base = tuple(expected.base.items())
        return aside.expect(task.source, task.entry_point, options, expected.mode, base, shapes)

    aside.look(languages.python(candidate), expected, run, elsewhere, found)


def _within(candidate: Candidate, expected: Expected, options: Options, found: Findings) -> None:
    """Run it with other numbers in place of those that no size reaches.

    Raises:
        RejectedError: it is wrong beyond one of them.
    """
    brief = replace(options, timeout=min(options.timeout, BRIEF))

    def run(text: str, chosen: Sequence[int]) -> Answer:
        return calls.call(replace(candidate, source=text), expected, chosen, brief, ablate=None)

    within.look(candidate, expected, run, found)


def _own_sizes(candidate: Candidate) -> tuple[int, ...]:
    """The task's sizes beyond what kernels use as blocks and constants, as far as the candidate's text says them."""
    said = integers(candidate.source)
    return tuple(sorted({s.value for s in sizes(candidate.task.source) if s.value in said and s.value > BLOCKS}))


def _crash(
    error: JobError, candidate: Candidate, expected: Expected, options: Options
) -> RejectedError | UndecidedError:  # fmt: skip
    """Why the candidate's process gave no answer; whether it would have at the base sizes alone.

    Out of time where kernels are interpreted says nothing of them, if what calls them ends without them.
    """
    if error.reason == "timeout" and options.device == "cpu":
        brief = replace(options, timeout=min(options.timeout, BRIEF))
        if calls.ends_idle(candidate, expected, brief):
            return UndecidedError(reasons.SLOW, error.detail)
    if error.reason in CRASHES:
        return RejectedError(CRASHES[error.reason], error.detail)
    if error.reason == "crash" and calls.works_at(candidate, expected, "base", options):
        doubled = calls.works_at(candidate, expected, "double", options)
        return RejectedError(
            reasons.WRONG_ODD if doubled else reasons.BAKED_IN, f"at other sizes its process ends with {error}"
        )
    return RejectedError(reasons.CRASH, str(error))
