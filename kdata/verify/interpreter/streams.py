"""Streams and events of a GPU that is not here: what was put on which, and which waits for which. In the host's child.

Kernels run as soon as they are launched, so that every answer is there; on a GPU one for which no stream waits may run
later, and one that waits for nobody earlier.  What is known is kept beside streams and events, not in them: those that
a module holds look the same after each call.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch

GPU = torch.device("cuda", 0)
_now = time.perf_counter


class Stream:
    """What is put on it is done in turn."""

    __slots__ = ("__weakref__",)
    __module__ = "torch.cuda.streams"
    device, device_index, priority = GPU, 0, 0

    def __init__(self, *_args: Any, **_more: Any) -> None:
        _numbers[self] = len(_made)
        _made.append(True)

    @property
    def cuda_stream(self) -> int:
        """Zero for the one that all work goes to where no other is asked for."""
        return _numbers[self]

    stream_id = cuda_stream

    def wait_stream(self, other: Stream) -> None:
        """What comes on this one comes after what is on the other one."""
        _order.join(self, _order.point(other))

    def wait_event(self, event: Event) -> None:
        """What comes on this one comes after the event; after nothing where it was not recorded."""
        _order.join(self, _order.events.get(event, Counter()))

    def record_event(self, event: Event | None = None) -> Event:
        """An event after what is on this one."""
        event = event or Event()
        event.record(self)
        return event

    def synchronize(self) -> None:
        """All that follows comes after what is on this one."""
        _order.join(None, _order.point(self))

    def query(self) -> bool:
        """Whether everything is done; who asks has waited."""
        self.synchronize()
        return True

    def __enter__(self) -> Stream:
        _entered.append(current())
        choose(self)
        return self

    def __exit__(self, *_error: object) -> None:
        choose(_entered.pop())


class Event:
    """A point in a stream's work."""

    __slots__ = ("__weakref__",)
    __module__ = "torch.cuda.streams"
    device, cuda_event = GPU, 0

    def __init__(self, *_args: Any, **_more: Any) -> None:
        _times[self] = _now()

    def record(self, stream: Stream | None = None) -> None:
        """It happens now, after what is on a stream."""
        _times[self] = _now()
        _order.events[self] = _order.point(stream or current())

    def wait(self, stream: Stream | None = None) -> None:
        """As ``Stream.wait_event``."""
        (stream or current()).wait_event(self)

    def synchronize(self) -> None:
        """All that follows comes after it."""
        _order.join(None, _order.events.get(self, Counter()))

    def query(self) -> bool:
        """Whether it has happened; who asks has waited."""
        self.synchronize()
        return True

    def elapsed_time(self, other: Event) -> float:
        """Milliseconds between two events."""
        return 1e3 * (_times[other] - _times[self])


class Chosen:
    """``torch.cuda.stream``: where work goes to another stream; to the same for None."""

    __module__ = "torch.cuda"

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        (self.stream or current()).__enter__()

    def __exit__(self, *_error: object) -> None:
        (self.stream or current()).__exit__()


class _Order:
    """Of one call: how much is on each stream, and after how much of the others' work its next one comes."""

    def __init__(self) -> None:
        self.work: Counter[Stream] = Counter()
        self.after: defaultdict[Stream | None, Counter[Stream]] = defaultdict(Counter)  # None: of the host
        self.events: dict[Event, Counter[Stream]] = {}
        self.written: dict[int, tuple[Stream, int]] = {}  # memory by its address: by what it was last written
        self.held: list[Any] = []  # memory that is freed would be another's
        self.early = ""

    def point(self, stream: Stream) -> Counter[Stream]:
        """What is done once all is that is on a stream now."""
        return self.after[stream] | self.after[None] | Counter({stream: self.work[stream]})

    def join(self, waiting: Stream | None, point: Counter[Stream]) -> None:
        """One stream, or the host, waits for what is done at a point."""
        self.after[waiting] |= point

    def follows(self, stream: Stream, other: Stream, work: int) -> bool:
        """Whether what comes next on a stream comes after so much work of another one."""
        return stream is other or max(self.after[stream][other], self.after[None][other]) >= work


_numbers: WeakKeyDictionary[Stream, int] = WeakKeyDictionary()
_times: WeakKeyDictionary[Event, float] = WeakKeyDictionary()
_made: list[bool] = []  # one for each stream
DEFAULT = Stream()
_entered: list[Stream] = []
_current = DEFAULT
_order = _Order()
_caller = DEFAULT


def current() -> Stream:
    """The stream that work goes to."""
    return _current


def choose(stream: Stream) -> None:
    """Let work go to a stream."""
    global _current
    _current = stream


def synchronize(*_args: Any) -> None:
    """All that follows comes after all that is on any stream."""
    for stream in list(_order.work):
        stream.synchronize()


def begin() -> None:
    """A call begins: what it is given was just put on the stream of its caller."""
    global _order, _caller
    _order, _caller = _Order(), _current
    _order.work[_caller] = 1


@contextlib.contextmanager
def beside() -> Iterator[None]:
    """Where work goes to a stream that nobody knows."""
    with Chosen(Stream()):
        yield


def several() -> bool:
    """Whether there is any stream that somebody has made."""
    return len(_made) > 1


def start(memory: Iterable[int]) -> None:
    """A kernel that uses memory at these addresses is launched, which what is given to the call is in at first."""
    here = current()
    for address in memory:
        stream, work = _order.written.get(address, (_caller, 1))
        if not _order.follows(here, stream, work):
            _order.early = f"{_said(here)} does not wait for {_said(stream)}, which writes what its kernel uses"
    _order.work[here] += 1


def wrote(changed: Collection[int], held: Sequence[Any]) -> None:
    """The kernel that was started last has changed memory at these addresses; what is ``held`` stays in use."""
    _order.written |= dict.fromkeys(changed, (current(), _order.work[current()]))
    _order.held += held


def unfinished() -> str:
    """On which stream there are kernels of a call that has returned, and that its caller's does not come after."""
    left = [stream for stream, work in _order.work.items() if not _order.follows(current(), stream, work)]
    return f"nobody waits for {_said(left[0])}, on which it launched kernels" if left else ""


def early() -> str:
    """Which kernel of the last call did not come after what writes the memory that it uses."""
    return _order.early


def _said(stream: Stream) -> str:
    return "the caller's stream" if stream is _caller else f"its stream {stream.cuda_stream}"
