"""A model's answers, kept by model, prompt and seed: what has been answered once is never asked again.

Both generation and judgement are ``resume``d: a stage's finished shards are read first, and only what none of them
holds is worked on, whatever it was grouped with then.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Protocol, TypeVar

from kdata.record import Dropped, digest
from kdata.shards import Manifest, Store
from kdata.step import Step
from sft.chat import Message

GENERATE = "generate"


class Told(Protocol):
    """Who is told how far a stage is."""

    def __call__(self, stage: str, done: int, of: int) -> None: ...


class Named(Protocol):
    """A record with an id; a stage that can be resumed makes records with the ids of those it takes."""

    @property
    def id(self) -> str: ...


In = TypeVar("In", bound=Named)
Out = TypeVar("Out", bound=Named)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen."""

    temperature: float  # 0 takes the likeliest
    top_p: float
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt with one seed."""

    messages: tuple[Message, ...]
    seed: int

    @property
    def id(self) -> str:
        return digest("request", json.dumps(self.messages, sort_keys=True), str(self.seed))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said to a request."""

    id: str  # the request's
    model: str
    seed: int
    text: str
    finish: str  # why it ended: "stop", "length", ...
    tokens: int | None = None  # of the answer


class Generator(Protocol):
    """A model that answers."""

    @property
    def name(self) -> str:
        """Which model this is, so exactly that another one never has the same name."""

    @property
    def batch(self) -> int:
        """How many requests it is best given at once."""

    @property
    def apart(self) -> bool:
        """Whether it holds a GPU of this machine: its process must end before anything is timed."""

    def answer(self, requests: Sequence[Request], sampling: Sampling) -> Iterable[Answer | Dropped]:
        """Answer each request, in any order; dropped ones are asked again when the evaluation runs again.

        Raises:
            ValueError: the model cannot be had, or not be asked.
        """


def generate_step(generator: Generator, sampling: Sampling) -> Step[Request, Answer]:
    """The stage that asks a model."""
    parameters = {"model": generator.name, "temperature": sampling.temperature, "top_p": sampling.top_p,
                  "max_tokens": sampling.max_tokens}  # fmt: skip

    def run(requests: Sequence[Request]) -> Iterator[Answer | Dropped]:
        yield from generator.answer(requests, sampling)

    return Step(GENERATE, "1", Request, Answer, run, parameters)


def resume(
    step: Step[In, Out],
    store: Store,
    records: Sequence[In],
    chunks: Callable[[list[In]], list[list[In]]],
    workers: int = 1,
    told: Told = lambda stage, done, of: None,
) -> dict[str, Out | Dropped]:
    """What a stage makes of the records, by id; what it dropped in an earlier run is tried again.

    Args:
        step: it must make of each record one with the same id, or drop it under that id.
        store: where its shards are.
        records: any of them may be there more than once.
        chunks: divides those that no finished shard holds; a shard is made of each part.
        workers: shards in work at once.
        told: hears the stage's name, how many records are done, and how many there are.
    """
    wanted = {record.id: record for record in records}
    known: dict[str, Out] = _known(step, store, set(wanted))
    made: dict[str, Out | Dropped] = {**known}
    told(step.name, len(made), len(wanted))

    def work(part: list[In]) -> Manifest:
        ids = [record.id for record in part]
        return step.write(store, step.output(ids), ids, part)

    missing = [record for key, record in wanted.items() if key not in made]
    with ThreadPoolExecutor(workers) as threads:
        parts = [threads.submit(work, part) for part in (chunks(missing) if missing else [])]
        try:
            for part in as_completed(parts):
                name = part.result().name
                made |= {r.id: r for r in store.read(name, step.makes)}
                made |= {d.id: d for d in store.read_dropped(name)}
                told(step.name, len(made), len(wanted))
        finally:
            threads.shutdown(cancel_futures=True)
    return made


def _known(step: Step[In, Out], store: Store, wanted: set[str]) -> dict[str, Out]:
    """The wanted records of this stage's finished shards, those that were made with its version and parameters."""
    parameters = json.loads(json.dumps(dict(step.parameters)))
    own = [m for m in store.manifests(step.name) if m.parameters == parameters and m.name == step.output(m.inputs)]
    return {r.id: r for manifest in own for r in store.read(manifest.name, step.makes) if r.id in wanted}
