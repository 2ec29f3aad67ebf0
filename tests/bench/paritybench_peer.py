"""Paritybench's own generator on one repository: ``paritybench_peer.py CHECKOUT FOLDER``.

Prints, as one line of JSON, how many classes it tried, how many ran once, and the CPU seconds of all its processes.
What a current torch lacks is supplied, as paritybench would have it; what it imports and is not installed leaves its
list of packages; its endless recursion on definitions in a circle is cut.  It RUNS THE REPOSITORY'S CODE IN THE OPEN.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch._inductor.utils as inductor

MEMORY = "10"  # GB, paritybench's own default


def main(checkout: str, folder: str) -> None:
    """Generate tests from the Python files of a folder and print what became of its classes."""
    sys.path.insert(0, checkout)
    os.environ["RLIMIT_AS_GB"] = MEMORY
    supply()
    generate = importlib.import_module("paritybench.generate")
    sys.modules["_paritybench_helpers"] = importlib.import_module("paritybench._paritybench_helpers")
    with tempfile.TemporaryDirectory() as scratch:
        archive = Path(scratch) / f"{Path(folder).name}.zip"
        with zipfile.ZipFile(archive, "w") as packed:
            for file in sorted(Path(folder).rglob("*.py")):
                packed.write(file, file.relative_to(folder))
        options = argparse.Namespace(tests_dir=scratch, filter=None)
        sys.argv = sys.argv[:1]
        _, stats = generate.generate_zipfile_subproc(scratch, str(archive), options)
    print("\n" + json.dumps({"tried": stats["total"], "ran": stats["deduced_args_ok"], "seconds": round(seconds(), 1)}))


def supply() -> None:
    """Make paritybench run on this torch, without the packages that are not here."""
    if not hasattr(inductor, "fresh_inductor_cache"):
        vars(inductor)["fresh_inductor_cache"] = inductor.fresh_cache
    static: Any = importlib.import_module("paritybench.static_analysis")
    static.IMPORT_WHITELIST -= {name for name in static.IMPORT_WHITELIST if find_spec(name) is None}
    if find_spec("astor") is None:
        raise SystemExit("paritybench needs astor: pip install astor")
    extractor = importlib.import_module("paritybench.module_extractor").PyTorchModuleExtractor
    add, inside = extractor.add_requirements, set[int]()

    def once(self: Any, statement: Any) -> None:
        if id(statement) not in inside:
            inside.add(id(statement))
            add(self, statement)
            inside.discard(id(statement))

    extractor.add_requirements = once


def seconds() -> float:
    """CPU seconds of this process and of those that it waited for."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


if __name__ == "__main__":
    main(*sys.argv[1:])
