"""What a text's names mean where functions bind them anew, and which of its functions a candidate reaches."""

from __future__ import annotations

import pytest

from kdata.verify.candidate.source import object_to

HEAD = "import functools, math, operator, torch, triton\nimport torch.nn as nn\nimport triton.language as tl\n"
ENTRY = "class ModelNew(nn.Module):\n    def forward(self, x):\n        return {}\n"
TASK = "class Model(nn.Module):\n    def forward(self, v):\n        return {}\n"


def objection(text: str, calls: str = "f(x)") -> str:
    """What is said against a text whose candidate calls this."""
    found = object_to(HEAD + text + ENTRY.format(calls))
    return found.detail if found else ""


@pytest.mark.parametrize(
    "text",
    [
        "def f(operator=None):\n    return [operator]\n",
        "def f(x):\n    math = x + 1\n    return [math]\n",
        "f = lambda math: [math]\n",
        "def f(operator):\n    operator.add = 1\n    return (lambda: operator)()\n",
        "@triton.jit\ndef f(x):\n    n: tl.constexpr = tl.standard._log2(x.shape[0])\n",
    ],
)
def test_a_functions_own_names_are_no_modules(text: str) -> None:
    assert objection(text) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(operator=operator):\n    return 0\n", "operator as a value"),
        ("def f(x):\n    operator = torch\n    return [operator]\n", "operator as a value"),
        ("def f(x):\n    operator = triton.language\n    return [operator]\n", "operator as a value"),
        ("def f(x):\n    a = [0 for torch in ()]\n    return [torch]\n", "torch as a value"),
        ("def f(torch):\n    def g():\n        nonlocal torch\n    return [torch]\n", "torch as a value"),
        ("def f(torch):\n    class A:\n        import torch\n        x = [torch]\n", "torch as a value"),
        ("def f(torch):\n    import math as torch\n    return [torch]\n", "math as a value"),
        ("def f(x):\n    def g(torch): pass\n    return [torch]\n", "torch as a value"),
        ("def f(x, y: g(torch)):\n    pass\n", "torch as a value"),
        ("class f:\n    torch = 1\n    def g(self):\n        return [torch]\n", "torch as a value"),
        ("@triton.jit\ndef f(x):\n    tl.core._x(x)\n", "tl.core._x"),
    ],
)
def test_modules_are_modules_everywhere_else(text: str, said: str) -> None:
    assert objection(text) == said


@pytest.mark.parametrize("also", ["", "def ref(v):\n    return torch._C._x(v)\n"])
def test_what_the_task_asks_of_torch_is_not_the_candidates(also: str) -> None:
    assert objection(also + TASK.format("ref(v)" if also else "torch._weight_norm(v, v, 0)"), "x") == ""


@pytest.mark.parametrize(
    "text",
    [
        TASK.format("torch._x(v)") + "f = Model\n",
        TASK.format("torch._x(v)") + "f = 'Model'\n",
        "def ref(v):\n    return torch._x(v)\n" + TASK.format("0") + "class f:\n    g = ref\n",
        TASK.format("0").replace("def forward", "f = torch._x\n    def forward"),
        TASK.format("0").replace("forward(self, v)", "forward(self, v=torch._x)"),
        TASK.format("torch._x").replace("    def", "    @property\n    def"),
        TASK.format("torch._x").replace("forward", "__set_name__"),
        TASK.format("torch._x").replace("nn.Module", "Other"),
        "def f(x):\n    return torch._x\nf = f\n",
        "def f(x):\n    return 1\ndef f(x):\n    return torch._x\n",
    ],
)
def test_what_the_candidate_may_reach_is(text: str) -> None:
    assert objection(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import numpy as np\ndef f(x):\n    return np.sqrt(np.prod(x.shape))\n", ""),
        ("from numpy import sqrt\ndef f(x):\n    return sqrt(x.ndim)\n", ""),
        ("import numpy as np\ndef f(x: np.ndarray):\n    return isinstance(x, np.ndarray)\n", ""),
        ("import numpy as np\ndef f(x):\n    return np.ndarray(4)\n", "numpy.ndarray"),
        ("import numpy as np\ndef f(x):\n    return np.load('golden')\n", "numpy.load"),
        ("import numpy as np\ndef f(x):\n    return np.random.rand()\n", "numpy.random.rand"),
        ("import numpy as np\ndef f(x):\n    return [np]\n", "numpy as a value"),
        ("from numpy import memmap\ndef f(x):\n    return memmap\n", "numpy.memmap"),
        ("import numpy.ctypeslib\ndef f(x):\n    return 0\n", "numpy.ctypeslib"),
    ],
)
def test_of_numpy_there_is_what_computes_sizes_and_tables(text: str, said: str) -> None:
    assert objection(text) == said
