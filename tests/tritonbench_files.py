"""A small suite in TritonBench-T's form: a function, a line, a test that calls it; and the statistics beside them."""

from __future__ import annotations

import json
from pathlib import Path

LINE = "#" * 146
# name -> the reference, what its test holds, its difficulty
PROBLEMS = {
    "scaled_relu": ("""
import torch
import torch.nn.functional as F

def scaled_relu(x, scale=2.0, inplace=False, out=None):
    y = F.relu(x, inplace=inplace) * scale
    return y if out is None else out.copy_(y)
""", """
    x = torch.tensor([-1.0, 2.0, -3.0], device='cuda')
    results["test_case_1"] = scaled_relu(x)
    x = torch.tensor([[-1.0, 2.0], [3.0, -4.0]], device='cuda')
    scale = 0.5
    results["test_case_2"] = scaled_relu(x, scale=scale).cpu()
    results["test_case_3"] = scaled_relu(torch.randn(9, 9).cuda(), inplace=True)
    results["test_case_4"] = scaled_relu(x, out=torch.empty(2, 2, device='cuda'))
""", 1),
    "norm_dropout": ("""
import torch

def norm_dropout(x, normalized_shape, p=0.5, training=True):
    y = torch.nn.functional.layer_norm(x, (normalized_shape,))
    return torch.nn.functional.dropout(y, p, training)
""", """
    n = 6
    x = torch.randn(4, n, device='cuda', requires_grad=True)
    x += 1
    results["test_case_1"] = norm_dropout(x, n)
    y, flag = torch.randn(3, n).to('cuda'), False
    results["test_case_2"] = norm_dropout(y, n, 0.3, training=flag)
""", 3),
    "labels": ("""
import torch

def labels(scores, target, weights):
    return (scores * target.unsqueeze(-1)).sum(-1) + torch.cat(weights)
""", """
    scores = torch.tensor([[0.5, 1.5], [2.5, 4.5], [1.0, 1.0]], device='cuda')
    target = torch.tensor([-1, 1, 1], device='cuda')
    results["test_case_1"] = labels(scores, target, [torch.tensor([1.0, 1.0, 1.0]).cuda()])
""", 2),
    "inverse": ("""
import torch

def inverse(A):
    if not torch.equal(A, A.mT):
        raise ValueError("not symmetric")
    return torch.linalg.inv(A)
""", """
    results["test_case_1"] = inverse(torch.tensor([[2.0, 1.0], [1.0, 3.0]], device='cuda'))
""", 4),
    "ones": ("import torch\n\ndef ones(x):\n    return torch.ones_like(x)\n", """
    results["test_case_1"] = ones(torch.randn(3, 3, device='cuda'))
""", 1),
    "noise": ("import torch\n\ndef noise(x):\n    return x + torch.rand_like(x)\n", """
    results["test_case_1"] = noise(torch.randn(3, device='cuda'))
""", 2),
    "fill_": ("import torch\n\ndef fill_(x, value):\n    return x.add_(value) * 2\n", """
    results["test_case_1"] = fill_(torch.randn(3, device='cuda'), 0.0)
""", 2),
    "statistics": ("import torch\n\ndef statistics(x, m, v):\n    return torch.nn.functional.batch_norm(x, m, v, None, "
                   "None, True)\n", """
    results["test_case_1"] = statistics(torch.randn(4, 3), torch.zeros(3), torch.ones(3))
""", 2),
    "turned": ("import torch\n\ndef turned(x):\n    return x.T\n", """
    results["test_case_1"] = turned(torch.randn(3, 2, device='cuda'))
""", 1),
    "optimiser": ("import torch\n\ndef optimiser(x):\n    return torch.optim.SGD(x, lr=0.1).defaults\n", """
    results["test_case_1"] = optimiser([torch.randn(3, device='cuda', requires_grad=True)])
""", 3),
    "trained": ("import torch\n\ndef trained(model, x):\n    return model(x)\n", """
    class Small(torch.nn.Linear):
        pass
    model = Small(2, 2).cuda()
    results["test_case_1"] = trained(model, torch.randn(3, 2, device='cuda'))
""", 3),
    "drawn": ("import torch\n\ndef drawn(*size):\n    return torch.zeros(*size)\n", """
    results["test_case_1"] = drawn(2, 3)
""", 1),
    "made": ("import torch\n\ndef made(size):\n    return torch.arange(size)\n", """
    results["test_case_1"] = made(3)
""", 1),
    "refused": ("import torch\n\ndef refused(x):\n    raise RuntimeError('no')\n", """
    results["test_case_1"] = refused(torch.randn(3, device='cuda'))
""", 1),
    "ended": ("import os, torch\n\ndef ended(x):\n    os._exit(3)\n", """
    results["test_case_1"] = ended(torch.randn(3, device='cuda'))
""", 1),
}  # fmt: skip
LEFT_OUT = {
    "noise": "random", "fill_": "changes its inputs", "statistics": "changes its inputs",
    "turned": "returns only views of its inputs", "optimiser": "returns no tensor",
    "trained": "takes what is no plain data", "drawn": "no call of the test can be cut out",
    "made": "takes no tensor", "refused": "raises on a CPU", "ended": "its process ended",
}  # fmt: skip
WEAK = dict.fromkeys(("ones", "inverse"), "the task tells right from wrong too poorly")  # tasks, but no measures


def text(name: str) -> str:
    """The file of a problem."""
    reference, body, _ = PROBLEMS[name]
    test = f"import torch\n\ndef test_{name}():\n    results = {{}}\n{body}\n    return results\n"
    return f"{reference.strip()}\n\n{LINE}\n\n{test}\ntest_results = test_{name}()\n"


def write_suite(folder: Path) -> Path:
    """A checkout with these problems."""
    problems = folder / "data" / "TritonBench_T_v1"
    problems.mkdir(parents=True)
    for name in PROBLEMS:
        (problems / f"{name}.py").write_text(text(name))
    rows = [{"file": f"{name}.py", "difficulty": level} for name, (*_, level) in PROBLEMS.items()]
    (folder / "data" / "TritonBench_T_v1.jsonl").write_text(json.dumps(rows))
    (folder / "README.md").write_text("A benchmark.\n")
    return folder
