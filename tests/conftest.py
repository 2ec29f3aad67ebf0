"""Settings for all tests: nothing of the user's is touched, and cores are not oversubscribed."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import setuptools  # noqa: F401 - PyTorch's operator database asks for it, and it must come before any distutils
from xdist.scheduler import LoadFileScheduling

ROOT = Path(__file__).resolve().parents[1]
_home = tempfile.TemporaryDirectory(prefix="kdata-tests-")
# Before anything imports torch, Prefect or a Hugging Face library: they read these once.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["PREFECT_HOME"] = _home.name
os.environ["HF_HUB_DISABLE_TELEMETRY"] = os.environ["DO_NOT_TRACK"] = "1"
os.environ["PREFECT_SERVER_ANALYTICS_ENABLED"] = "false"
os.environ["PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"] = "180"
os.environ.pop("PREFECT_API_URL", None)


class Scheduler(LoadFileScheduling):
    """The tests of a file in one process, for they share fixtures; the red team's, many and slow, in any."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return nodeid if file.endswith("test_redteam.py") else file


@pytest.hookimpl(optionalhook=True)  # where pytest runs without its plugin
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduler | None:
    """Take ours for ``--dist loadfile``."""
    return Scheduler(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a GPU where there is none."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    import torch

    if not torch.cuda.is_available():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))


@pytest.fixture(autouse=True)
def seeded() -> None:
    """What a test draws does not depend on which tests ran before it in its process."""
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)


@pytest.fixture
def environment() -> dict[str, str]:
    """The environment of a subprocess that runs this checkout, with no Prefect server named."""
    given = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_API")}
    return given | {"PYTHONPATH": os.pathsep.join([str(ROOT), *([p] if (p := given.get("PYTHONPATH")) else [])])}


@pytest.fixture
def kdata_command() -> list[str]:
    """The command ``kdata`` of this checkout, installed or not."""
    return [sys.executable, "-c", "from kdata.cli import main; main()"]
