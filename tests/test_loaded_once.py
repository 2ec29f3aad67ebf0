"""Capture: what all files of a package need is loaded once, whichever file of the repository comes first."""

from __future__ import annotations

from pathlib import Path

from sources.probe import warm
from sources.watch.capture_package import observe

NET = "from torch import nn\n\n\nclass {}(nn.Module):\n    def forward(self, x):\n        return x.exp()\n"


def test_a_package_is_loaded_once_where_a_script_comes_first(tmp_path: Path) -> None:
    warm()
    log = tmp_path / "loaded"
    core = f"import os\nwith open({str(log)!r}, 'a') as f:\n    f.write(f'{{os.getpid()}}\\n')\n"
    inner = {f"pkg/{name}.py": NET.format(name.title()) for name in ("one", "two", "three", "four")}
    files = {
        "a_script.py": NET.format("Script"),
        "pkg/__init__.py": "from . import core\n",
        "pkg/core.py": core,
        **inner,
    }
    wanted = {"a_script.py": {"Script"}} | {path: {path[4:-3].title()} for path in inner}
    assert observe(files, wanted, tmp_path).seen.keys() == wanted.keys()
    assert len(log.read_text().split()) == 2  # to see whether it does harm, and before the forks
