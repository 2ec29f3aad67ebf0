"""Imports that nothing uses."""

from __future__ import annotations

import ast

import pytest

from kdata.verify.candidate.idle import without_idle_lines

USED = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    pass\n"


def test_an_import_that_nothing_uses_leaves_an_empty_line() -> None:
    text = "import os\nimport sys, time\nfrom pathlib import (\n    Path,\n)\n" + USED
    assert without_idle_lines(text) == "\n\n\n\n\n" + USED


@pytest.mark.parametrize(
    "text",
    [
        USED,
        "import os\n" + USED + "os._exit(0)\n",
        "import os as torch_os\nnow = torch_os\n" + USED,
        "import os\ndef f():\n    global os\n" + USED,
        "import os; import torch\n",  # another statement on the line
        "x = 1\x0cimport os\r" + USED,  # no line of Python's ends at a form feed
        "import math, os; import torch\n",
        "torch.backends.cuda.matmul.allow_tf32 = True\n" + USED,
        "torch.set_float32_matmul_precision('high')\n" + USED,
        "import subprocess\n" + USED,  # nobody imports it for nothing
        "from os import *\n" + USED,
        "from .os import path\n" + USED,
        "def (\n",
    ],
)
def test_all_else_stays(text: str) -> None:
    assert without_idle_lines(text) == text


def test_of_several_imports_those_that_are_used_stay_and_settings_of_torchs_own_do_not() -> None:
    text = (
        "import math, os, sys as system\ntorch.backends.cudnn.allow_tf32 = False\n"
        "torch.backends.cudnn.benchmark = True\n" + USED + "math.pi\n"
    )
    assert without_idle_lines(text) == "import math\n\n\n" + USED + "math.pi\n"


def test_what_is_left_is_the_rest_where_lines_end_otherwise() -> None:
    text = "import os\r\nimport torch\r\nx = '\x0b'\r\n"
    left = ast.dump(ast.parse(without_idle_lines(text)))
    assert left == ast.dump(ast.parse("import torch\nx = '\x0b'\n"))
