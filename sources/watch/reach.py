"""Which lines of a task run, whatever is done with it: other sizes, training, gradients, its weights taken and given.

Runs in a fork inside the sandbox: the tasks are strangers' code.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import sys
import time
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from kdata.task import execute, sizes
from sources.cut.unreached import NOTE, without_unreached
from sources.infer.running.check import Work, leaves
from sources.infer.running.initial import cheaply
from sources.infer.running.memory import bounded
from sources.infer.running.rehearsal import shadow
from sources.infer.running.reshaped import same

FILE = "<task>"  # as which ``kdata.task`` executes a text
LARGE = 1 << 22  # weights and buffers of a module that is not to be in memory several times
SECONDS = 2  # CPU seconds that runs at other sizes may take together
SHARE = 0.5  # of the work of the largest task that one of these may take: patches of one pixel make an image long
KEPT = ("get_inputs", "get_init_inputs")


class Reach:
    """Notes the lines of a task that run while it is active."""

    def __init__(self) -> None:
        self.lines: set[int] = set()
        self._left: dict[types.CodeType, set[int]] = {}  # lines that have not run yet of the functions that did

    def __enter__(self) -> Reach:
        sys.settrace(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _call(self, frame: types.FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        if code.co_filename != FILE:
            return None
        if code not in self._left:
            self._left[code] = {line for *_, line in code.co_lines() if line}
        self._left[code] -= self.lines
        return self._line if self._left[code] else None  # of which all lines ran needs no more looking at

    def _line(self, frame: types.FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            self.lines.add(frame.f_lineno)
        return self._line


def shortened(source: str, entry_point: str, small: Mapping[str, int]) -> dict[str, Any]:
    """The ``source`` of a task without what it does not reach; it answers as the whole does.

    A task that is dear has ``small`` sizes, at which most is tried.

    Raises:
        ValueError: it does not answer so.
        Exception: whatever the task raises.
    """
    with Reach() as reach:
        whole = _answers(source, entry_point, small, _use)
        with cheaply():
            _try_sizes(source, entry_point, small)
    short = f"# {NOTE}\n{without_unreached(source, reach.lines, [entry_point, *KEPT])}"
    if not same(whole, _answers(short, entry_point, small)):
        raise ValueError("the shorter text does not answer as the whole one")
    return {"reason": "", "source": short}


def _try_sizes(source: str, entry_point: str, small: Mapping[str, int]) -> None:
    """Run a task at its own sizes, which ``small`` are not, and at others, as long as the time lasts."""
    ends = time.process_time() + SECONDS
    with contextlib.suppress(Exception), bounded():
        _answers(source, entry_point, {}, modes=(False,))
    for values in _other_sizes(source, small):
        if time.process_time() > ends:
            break
        with contextlib.suppress(Exception), bounded():  # sizes that do not fit: what they reach stays
            _answers(source, entry_point, values, modes=(False,), share=SHARE)


def _answers(
    source: str, entry_point: str, values: Mapping[str, int], use: Callable[[Any, list[Any]], None] | None = None,
    modes: Sequence[bool] = (True, False), share: float | None = None,
) -> list[torch.Tensor]:  # fmt: skip
    """What a task answers at the sizes that ``values`` says, in training and in evaluation or one of these.

    Raises:
        UnfitError: a call takes more than a ``share``, if given, of what the largest task may.
        Exception: whatever the task raises.
    """
    torch.manual_seed(0)
    program = execute(source, entry_point, values=values)
    module, inputs = program.build(), program.inputs()
    found = list[torch.Tensor]()
    for training in modes:
        module.train(training)
        torch.manual_seed(0)
        with torch.no_grad(), Work(sys.maxsize, share) if share else contextlib.nullcontext():
            found += leaves(module(*copy.deepcopy(inputs)))
    if use is not None:
        use(module, inputs)
    return found


def _use(module: Any, inputs: list[Any]) -> None:
    """Do what is done with any module: copies, weights, number formats, gradients."""
    with contextlib.suppress(Exception):  # none of it need work
        copied = _copied(module)
        copied.load_state_dict(copied.state_dict())
    with contextlib.suppress(Exception):
        _copied(module).double()
    with contextlib.suppress(Exception), bounded(), torch.enable_grad():
        module.train()
        out = [t for t in leaves(module(*copy.deepcopy(inputs))) if t.requires_grad]
        sum(t.abs().sum() for t in out).backward()  # type: ignore[union-attr]


def _copied(module: Any) -> Any:
    """A copy of a module; of a large one without the values, which copies and number formats take several times."""
    large = sum(t.numel() for t in itertools.chain(module.parameters(), module.buffers())) > LARGE
    if not large:
        return copy.deepcopy(module)
    with contextlib.suppress(Exception):  # what is looked at while it is copied
        return shadow(module)
    return copy.deepcopy(module)


def _other_sizes(source: str, small: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """All of them one larger; then each odd, doubled, and one."""
    found = {**{size.name: size.value for size in sizes(source)}, **small}
    yield {name: value + 1 for name, value in found.items()}
    for name, value in found.items():
        for other in dict.fromkeys((value + 1, 2 * value + 1, 1)):
            yield {**found, name: other}
