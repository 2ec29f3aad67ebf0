"""A small suite in KernelBench's form, and 100 answers to it whose verdicts are known: the kernels of ``kernels/``."""

from __future__ import annotations

from pathlib import Path

from kdata.verify.candidate.source import task_part

KERNELS = Path(__file__).parent / "kernels"
PROBLEMS = {  # name -> the kernel file whose task it is
    "level1/1_Affine_ReLU": "good_relu", "level1/2_Softmax": "good_softmax", "level1/10_Reduced": "good_layer_norm",
    "level2/1_Scaled": "cheat_skips_relu", "level2/2_Linear_GELU": "good_linear_gelu",
}  # fmt: skip
# Name of an answer -> rules that it passes: compiled and correct of "verified", "kernelbench", "kernelbench v0.1".
VERDICTS = {
    "good": ("11", "11", "11"),
    "good again": ("11", "11", "11"),  # another wording of the same answer
    "baked in": ("10", "11", "11"),  # only right at the task's own sizes
    "half": ("10", "10", "11"),  # computes in fp16
    "torch": ("10", "11", "11"),  # does not compute with kernels
    "wrong": ("10", "10", "10"),
    "no ModelNew": ("00", "00", "00"),
    "no block": ("00", "00", "00"),
    "syntax": ("00", "00", "00"),
    "cut off": ("00", "00", "00"),
    "imports os": ("00", "11", "11"),  # KernelBench lets it, and it is right
    "constructor": ("10", "00", "00"),  # KernelBench says "not compiled" of what raises a TypeError there
}
REASONS = {
    "baked in": "sizes baked in", "half": "wrong result", "torch": "calls ATen compute", "wrong": "wrong result",
    "no ModelNew": "no class ModelNew", "no block": "no fenced block", "syntax": "not Python", "cut off": "answer cut off",
    "imports os": "imports what it may not", "constructor": "constructor differs",
}  # fmt: skip
TORCH = "import torch\n\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return {}\n"
UNREADABLE = {
    "no ModelNew": "```python\nclass Model:\n    pass\n```",
    "no block": "I would rather not.",
    "syntax": "```python\nclass ModelNew(:\n```",
    "cut off": "```python\nimport torch\n\nclass ModelNew(torch.nn.Module):\n",
}
# Name of a problem -> its 20 answers, by how often each is given, in this order.
ANSWERS = {
    "level1/1_Affine_ReLU": {"good": 3, "good again": 2, "baked in": 4, "half": 5, "no block": 3, "imports os": 3},
    "level1/2_Softmax": {"good": 1, "torch": 9, "syntax": 6, "cut off": 4},
    "level1/10_Reduced": {"good": 20},
    "level2/1_Scaled": {"wrong": 18, "no ModelNew": 2},
    "level2/2_Linear_GELU": {"constructor": 20},
}
SAMPLES = 20


def write_suite(folder: Path) -> None:
    """The problems, one file each, and files beside them that are none."""
    for name, kernel in PROBLEMS.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(task_part((KERNELS / f"{kernel}.py").read_text()))
    (folder / "changelog").mkdir(exist_ok=True)
    (folder / "changelog" / "notes.py").write_text("nothing = 1\n")


def given(problem: str, seed: int) -> str:
    """The name of the answer to a problem with a seed."""
    return [name for name, count in ANSWERS[problem].items() for _ in range(count)][seed]


def problem_of(prompt: str) -> str:
    """The problem that a prompt asks for."""
    return next(n for n, k in PROBLEMS.items() if task_part((KERNELS / f"{k}.py").read_text()).strip() in prompt)


def reply(prompt: str, seed: int) -> str:
    """The answer to a prompt."""
    problem = problem_of(prompt)
    return answer(problem, given(problem, seed))


def answer(problem: str, name: str) -> str:
    """The text of an answer."""
    if name in UNREADABLE:
        return UNREADABLE[name]
    good = (KERNELS / f"{PROBLEMS[problem]}.py").read_text()
    sources = {
        "good": good,
        "good again": f"# the same\n{good}",
        "baked in": (KERNELS / "cheat_sizes_baked_in.py").read_text(),
        "half": (KERNELS / "cheat_half_precision.py").read_text(),
        "torch": TORCH.format("torch.softmax(x, dim=-1)"),
        "wrong": TORCH.format("x * 2.0"),
        "imports os": f"import os\n{good}\nSEPARATOR = os.sep\n",  # and uses it
        "constructor": TORCH.format("x"),
    }
    if name == "wrong":
        sources["wrong"] = good.replace("* 3.0, mask", "* 2.0, mask")
    return f"<think>\nLet me see.\n</think>\nHere it is:\n```python\n{sources[name]}```\nDone."
