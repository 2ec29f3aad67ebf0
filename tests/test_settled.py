"""Questions to the machine whose answers are known."""

from __future__ import annotations

import pytest

from kdata.verify.candidate.settled import settled

HEAD = "import importlib.metadata\nimport os\nimport torch, triton\n"


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("DEBUG = os.environ.get('LIGER_DEBUG', '0') == '1'", "DEBUG = '0' == '1'"),
        ("FAST = os.getenv('FLA_USE_FAST_OPS')", "FAST = None"),
        ("é = 'é' + os.getenv('FLA_X', 'a') + os.getenv('FLA_Y', 'b')", "é = 'é' + 'a' + 'b'"),
        ("if 'UNSLOTH_STUDIO' not in os.environ: pass", "if True: pass"),
        ("os.environ['TRITON_PRINT_AUTOTUNING'] = '0'", "pass"),
        ("os.environ.setdefault('FLA_X', '0')", "pass"),
        ("V = importlib.metadata.version('triton')", "V = str(triton.__version__)"),
        ("@torch.compiler.disable\ndef f(): pass", "\ndef f(): pass"),
        ("@torch.compiler.disable(recursive=False)\ndef f(): pass", "\ndef f(): pass"),
    ],
)
def test_the_answer_stands_where_it_is_asked(asked: str, answer: str) -> None:
    assert settled(HEAD + asked + "\n") == HEAD + answer + "\n"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "x = os.environ.get('PATH', '')\n",  # set on every machine but here
        HEAD + "x = os.environ.get('TRITON_INTERPRET', '0')\n",
        HEAD + "x = os.environ.get(name, '0')\n",
        HEAD + "x = os.environ.get('FLA_X', f())\n",
        HEAD + "x = os.environ['FLA_X']\n",  # would raise
        HEAD + "os.environ['TRITON_INTERPRET'] = '0'\n",
        HEAD + "os.environ['FLA_X'] = f()\n",
        HEAD + "def f(os):\n    return os.getenv('FLA_X')\n",
        HEAD + "os = torch\nx = os.getenv('FLA_X')\n",
        HEAD + "import torch as os\nx = os.getenv('FLA_X')\n",
        HEAD + "x = os.getenv(\n'FLA_X')\n",
        HEAD + "V = importlib.metadata.version('kdata')\n",
        HEAD + "@torch.compiler.disable(f())\ndef f(): pass\n",
        "x = os.getenv('FLA_X')\n",
        "def (\n",
    ],
)
def test_all_else_is_asked(text: str) -> None:
    assert settled(text) == text
