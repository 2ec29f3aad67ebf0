"""Is nearly the same program in the set already?

MinHash over runs of tokens proposes candidates, their exact Jaccard similarity decides: unverified MinHash merges
wrongly (measured: one removal in ten).  51 bands of 5 rows propose practically every pair of texts above 0.7.

Texts can be alike by what surrounds the work: ``torch.relu(x)`` and ``torch.selu(x)`` in a module have 0.76, and tasks
that carry the same long helper more.  So two tasks are duplicates only if their operators are alike, too; of one that
was never traced, as of other people's sets, these are what its text calls.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from filters.canonical import calls, jaccard, ops_jaccard, shingles
from kdata.record import Pair

if TYPE_CHECKING:
    from datasketch import MinHash, MinHashLSH

THRESHOLD = 0.7
BANDS, ROWS = 51, 5
PERMUTATIONS = BANDS * ROWS
OPS_THRESHOLD = 0.7


@dataclass(slots=True)
class Index:
    """The tasks kept so far. About 10 kB each: for sets of up to some hundred thousand tasks."""

    threshold: float = THRESHOLD
    seed: int = 1
    texts: dict[str, frozenset[str]] = field(default_factory=dict)  # task id -> shingles
    ops: dict[str, tuple[str, ...]] = field(default_factory=dict)  # task id -> ATen operators, or calls
    lsh: MinHashLSH | None = None

    def add(self, task_id: str, text: frozenset[str], ops: tuple[str, ...], sketch: MinHash | None = None) -> None:
        """Take a task in, with its sketch if it is at hand."""
        self.texts[task_id], self.ops[task_id] = text, ops
        self._lsh().insert(task_id, sketch or self.sketch(text))

    def nearest(
        self, text: frozenset[str], ops: tuple[str, ...], sketch: MinHash | None = None
    ) -> tuple[float, str] | None:
        """The most similar task at or above the threshold: its exact Jaccard similarity and id."""
        proposed = self._lsh().query(sketch or self.sketch(text))
        found = [(jaccard(text, self.texts[i]), i) for i in proposed if ops_jaccard(ops, self.ops[i]) >= OPS_THRESHOLD]
        similar = sorted(((j, i) for j, i in found if j >= self.threshold), key=lambda f: (-f[0], f[1]))
        return similar[0] if similar else None

    def _lsh(self) -> MinHashLSH:
        from datasketch import MinHashLSH

        if self.lsh is None:
            self.lsh = MinHashLSH(num_perm=PERMUTATIONS, params=(BANDS, ROWS))
        return self.lsh

    def sketch(self, text: frozenset[str]) -> MinHash:
        """MinHash signature of a text, 255 values."""
        from datasketch import MinHash

        sketch = MinHash(num_perm=PERMUTATIONS, seed=self.seed, scheme="affine32")
        sketch.update_batch([s.encode("utf-8", "surrogatepass") for s in sorted(text)])
        return sketch


def check(pair: Pair, index: Index) -> str | None:
    """A reason where another task of the index is as similar as its threshold; else the task is taken in."""
    if pair.task.id in index.texts:
        return None
    text, ops = shingles(pair.task.source), pair.candidate.ops or calls(pair.task.source)
    sketch = index.sketch(text)
    if found := index.nearest(text, ops, sketch):
        return f"near duplicate: Jaccard {found[0]:.2f} with task {found[1]}"
    index.add(pair.task.id, text, ops, sketch)
    return None
