"""Small tasks for the tests of alignment, and their way through align and judge."""

from __future__ import annotations

from pathlib import Path

from kdata.align.step import align_file
from kdata.record import Candidate
from kdata.verify.judge import judge
from kdata.verify.options import Options


def task(forward: str, inputs: str, init: str = "", text: str = "", parameters: str = "x") -> str:
    """A task's text.

    Args:
        forward: what ``forward`` says, lines joined by newlines.
        inputs: the list of inputs.
        init: what the constructor says after ``super().__init__()``.
        text: module-level lines: constants and helpers.
        parameters: of ``forward``.
    """
    head = "import copy\nimport math\nimport numpy as np\n"
    head += "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n"
    made = _method("__init__", "self", f"super().__init__()\n{init}".strip())
    model = f"class Model(nn.Module):\n{made}\n{_method('forward', f'self, {parameters}', forward)}"
    return f"{head}{text}\n{model}\ndef get_inputs():\n    return {inputs}\n\ndef get_init_inputs():\n    return []\n"


def _method(name: str, parameters: str, body: str) -> str:
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    return f"    def {name}({parameters}):\n{lines}\n"


def verified(source: str, tmp_path: Path) -> Candidate:
    """The task's candidate, asserted to be verified by the judge, with nothing left to ATen."""
    path = tmp_path / "task.py"
    path.write_text(source)
    candidate = align_file(path)
    assert not candidate.left_to_aten
    receipt = judge(candidate.task, candidate, Options(targets=()))
    assert receipt.verdict == "verified", f"{receipt.reason}: {receipt.detail}"
    return candidate
