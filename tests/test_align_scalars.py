"""Numbers that a constructor is given: a candidate that was made for some serves others, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from kdata.verify.judge import judge_files
from kdata.verify.options import Options
from tests.align_tasks import task, verified

# What the constructor is given and says, what forward says, and two sets of numbers.
MODULES = {
    "held": ("a, b", "self.a, self.b = a, b", "return x * self.a + self.b", "0.3, -0.7", "1.9, 0.4"),
    "computed": ("p", "self.rest = 1 - p", "return (x * self.rest).exp()", "0.1", "0.6"),
    "not kept": ("slope", "self.act = nn.Sequential(nn.LeakyReLU(slope))", "return self.act(x)", "0.2", "0.01"),
    "told": ("t, p, g", "self.t, self.p, self.g = t, p, g",
             "return F.softmax(x / self.t, -1) * (1 - self.p) + (self.g + 2) * x - self.g / 3", "0.5, 0.2, 3.5", "2.0, 0.9, 0.1"),
    "one number twice": ("a, b", "self.a, self.b = a, b", "return (x * self.a).exp() * self.b", "0.1, 0.1", "0.7, 0.2"),
    "a factor of one": ("a, b", "self.a, self.b = a, b", "return x.exp() * self.a + self.b", "1.0, 0.25", "0.5, 3.0"),
    "an exponent": ("p", "self.p = p", "return x.abs().pow(self.p)", "2.5", "1.5"),
    "bounds": ("low, high", "self.low, self.high = low, high", "return x.clamp(self.low, self.high)", "-0.5, 0.5", "-1.0, 0.1"),
    "an epsilon": ("eps", "self.norm = nn.LayerNorm(6, eps=eps)", "return self.norm(x * 0.01)", "1e-5", "1e-2"),
    "in a list": ("w", "self.w = w", "return x.sin() * self.w[0] + x.cos() * self.w[1]", "[0.3, 0.4]", "[1.5, -0.4]"),
    "beside a ratio": ("ratio, a", "self.a = a\nself.fc = nn.Linear(6, int(6 * ratio))", "return self.fc(x) * self.a",
                       "2.0, 0.3", "2.0, 0.9"),
}  # fmt: skip


def with_numbers(name: str, numbers: str) -> str:
    parameters, init, forward, _, _ = MODULES[name]
    source = task(forward, "[torch.randn(5, 6)]", init)
    return source.replace("__init__(self)", f"__init__(self, {parameters})").replace("return []", f"return [{numbers}]")


@pytest.mark.parametrize("name", MODULES)
def test_a_candidate_serves_other_numbers(name: str, tmp_path: Path) -> None:
    *_, own, others = MODULES[name]
    candidate = verified(with_numbers(name, own), tmp_path)
    other, kernel = tmp_path / "other.py", tmp_path / "kernel.py"
    other.write_text(with_numbers(name, others))
    kernel.write_text(candidate.source)
    receipt = judge_files(other, kernel, Options(targets=()))
    assert receipt.verdict == "verified", f"{receipt.reason}: {receipt.detail}"


def test_a_number_that_cannot_be_told_stays(tmp_path: Path) -> None:
    """The kernel is for the task's own number then, as it is for sizes that stay."""
    source = task("return x + self.shift", "[torch.randn(5, 6)]", "self.shift = math.tanh(p) if p > 0.1 else 7.0")
    verified(source.replace("__init__(self)", "__init__(self, p)").replace("return []", "return [0.1]"), tmp_path)
