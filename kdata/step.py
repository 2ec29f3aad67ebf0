"""A stage: a function over the records of one shard that accounts for every record.

``Step.run`` names its output by everything that decides it (stage, version, parameters, input), so a rerun is a resume
and a changed parameter is a new shard.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from kdata.record import Dropped, digest
from kdata.shards import Manifest, Store

In = TypeVar("In")
Out = TypeVar("Out")
Settled = Callable[[bool], None]  # is told of each record whether it is kept


@dataclass(frozen=True, slots=True)
class Step(Generic[In, Out]):
    """One stage of the pipeline.

    ``function`` takes the records of a shard and yields, in any order, output records and ``Dropped`` ones.  It must
    be deterministic given records and parameters, which are plain JSON values.
    """

    name: str
    version: str  # raise it when the same input and parameters give another output
    takes: type[In]
    makes: type[Out]
    function: Callable[[Sequence[In]], Iterable[Out | Dropped]]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def output(self, inputs: Sequence[str]) -> str:
        """The name of the shard that this stage makes of these input shards."""
        key = json.dumps([self.version, dict(self.parameters), list(inputs)], sort_keys=True)
        return f"{self.name}/{digest(self.name, key)}"

    def run(self, store: Store, inputs: Sequence[str], settled: Settled | None = None) -> Manifest:
        """Make the output shard, unless it is already finished, and return its manifest."""
        name = self.output(inputs)
        if finished := store.manifest(name):
            return finished
        records = [r for shard in inputs for r in store.read(shard, self.takes)]
        return self.write(store, name, inputs, records, settled)

    def run_on(self, store: Store, records: Sequence[In], settled: Settled | None = None) -> Manifest:
        """Like ``run``, for records in hand: their ids stand for the input shard."""
        inputs = _inputs(records)
        return self.finished(store, records) or self.write(store, self.output(inputs), inputs, records, settled)

    def finished(self, store: Store, records: Sequence[In]) -> Manifest | None:
        """The manifest of what an earlier run made of these records."""
        return store.manifest(self.output(_inputs(records)))

    def write(
        self, store: Store, name: str, inputs: Sequence[str], records: Sequence[In], settled: Settled | None = None
    ) -> Manifest:
        """Run the stage on records in hand and write the shard ``name``; ``settled`` is told of each outcome."""
        started = time.monotonic()
        kept: list[Out] = []
        dropped: list[Dropped] = []
        for outcome in self.function(records):
            if isinstance(outcome, Dropped):
                dropped.append(outcome)
            else:
                kept.append(outcome)
            if settled:
                settled(not isinstance(outcome, Dropped))
        return store.make(name, self.name, self.makes, kept, dropped, self.parameters, started, inputs)


def _inputs(records: Sequence[Any]) -> list[str]:
    """What stands for the input shard of records in hand.

    Ids are of texts; the licences of a text may become others, and a row is published by them.
    """
    return [digest(*(str(getattr(r, "id", "")) + "".join(_licences(r)) for r in records))]


def _licences(record: Any) -> tuple[str, ...]:
    origin = getattr(record, "origin", None) or getattr(getattr(record, "task", None), "origin", None)
    return origin.licenses if origin else ()
