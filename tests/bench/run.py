"""Run all benchmarks of this folder, or those named: ``python tests/bench/run.py [verify ...]``.

A benchmark is a file ``bench_NAME.py`` with a ``main()`` that prints a small table.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]


def main(names: list[str]) -> int:
    """Run the benchmarks one after another, each in a process of its own; returns how many failed."""
    known = {path.stem.removeprefix("bench_"): path for path in sorted(FOLDER.glob("bench_*.py"))}
    unknown = sorted(set(names) - set(known))
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 1
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{platform.machine()}, {os.cpu_count()} cores{load}, Python {platform.python_version()}")
    failed = 0
    for name in names or known:
        print(f"\n# {name}", flush=True)
        failed += subprocess.run([sys.executable, str(known[name])], env=environment, check=False).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
