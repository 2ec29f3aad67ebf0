"""Rows whose kernels are fast, and as many of the same families at random: does a filter by speed help a model?

Needs a GPU.

``python tests/bench/study_speed.py DATASET OUT [WORKERS]`` times each row's task and kernel with Triton's ``do_bench``
on the task's own inputs (quick and shared with other work: good enough to choose by, no claim about any one kernel),
and writes ``OUT/fast``, of each operator family the half that gains most over eager PyTorch, and ``OUT/control``, as many
of each family at random.  Without regard to families the fast half has half the products and convolutions of the rest.
"""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import study

from kdata.sandbox.pool import lease
from kdata.sandbox.worker import JobError
from kdata.verify.exchange.telling import line
from kdata.verify.gpu import cards as gpu
from kdata.verify.gpu.baselines import private_caches

BATCH = 16  # rows a child: starting CUDA takes it seconds
SECONDS, MEMORY = 20.0, 32 << 30  # a row's

Row = dict[str, Any]


def time_job(payload: list[dict[str, str]], scratch: Path) -> list[list[float] | str]:
    """Milliseconds of task and kernel, for each row; of one that fails, why. In a sandbox worker, on a GPU."""
    private_caches(scratch)  # no other place can be written to
    return [_times(row, scratch, f"kernels{number}") for number, row in enumerate(payload)]


def _times(row: dict[str, str], scratch: Path, name: str) -> list[float] | str:
    import torch
    from triton.testing import do_bench

    from kdata.task import execute

    try:
        program = execute(row["python_code"], row["entry_point"])
        program.namespace["ModelNew"] = _module(row["triton_code"], scratch / f"{name}.py").ModelNew
        inputs = [x.cuda() if isinstance(x, torch.Tensor) else x for x in program.inputs()]
        found = []
        for model in (program.build(), program.build("ModelNew")):
            model = model.cuda().eval()
            with torch.no_grad():
                found.append(float(do_bench(lambda call=model: call(*inputs), warmup=5, rep=25, return_mode="median")))
        return found
    except Exception as error:  # whatever a mined program raises: the row is left out of both halves
        return line(error)


def _module(text: str, file: Path) -> ModuleType:
    """Triton reads a kernel's text from its file."""
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timed(rows: list[Row]) -> list[list[float] | str]:
    """Of a batch; where its child is lost, of each row by itself."""
    given = [{key: row[key] for key in ("python_code", "triton_code", "entry_point")} for row in rows]
    with gpu.borrow() as card, lease("torch", PYTHONPATH=study.PATH, **card.environment()) as worker:
        try:
            limits = card.limits(SECONDS * len(rows), MEMORY)
            found: list[list[float] | str] = worker.call("study_speed:time_job", given, limits).value
            return found
        except JobError as error:
            lost = str(error)
    return [lost] if len(rows) == 1 else [times for row in rows for times in timed([row])]


def halves(known: list[tuple[float, Row]]) -> tuple[list[Row], list[Row]]:
    """Of rows and their gains: the faster half of each family, and as many of it at random."""
    fast: list[Row] = []
    control: list[Row] = []
    for family in sorted({row["family"] for _, row in known}):
        of_it = sorted(((gain, row) for gain, row in known if row["family"] == family), key=lambda item: -item[0])
        half = (len(of_it) + 1) // 2
        fast += [row for _, row in of_it[:half]]
        control += [row for _, row in random.Random(0).sample(of_it, half)]
    return fast, control


def main(dataset: Path, out: Path, workers: int = 4) -> None:
    """Write both folders, and all times beside them."""
    rows, schema = study.read(dataset)
    batches = [rows[at : at + BATCH] for at in range(0, len(rows), BATCH)]
    with ThreadPoolExecutor(workers) as threads:
        times = [t for batch in threads.map(timed, batches) for t in batch]
    known = [(t[0] / t[1], row) for row, t in zip(rows, times, strict=True) if not isinstance(t, str)]
    for why, count in Counter(t for t in times if isinstance(t, str)).most_common(5):
        print(f"{count} rows not timed: {why}", file=sys.stderr)
    for name, chosen in zip(("fast", "control"), halves(known), strict=True):
        study.write(chosen, schema, dataset, out / name)
    (out / "times.json").write_text(json.dumps({row["id"]: ratio for ratio, row in known}))
    print(f"{len(known)} of {len(rows)} rows timed")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))
