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
    "a bound of zero": ("low, high", "self.low, self.high = low, high", "return x.clamp(self.low, self.high)", "0.0, 0.5", "-1.0, 0.1"),
    "zero and others": ("a, b", "self.a, self.b = a, b", "return x.exp() * (1 - self.b) / (2 + self.a)", "0.0, 0.3", "0.8, 0.4"),
    "next to one": ("eps", "self.eps = eps", "return torch.acosh(x.abs().clamp(min=1 + self.eps))", "1e-7", "0.5"),
    "zero by chance": ("p", "self.p, self.off = p, p - 0.1", "return x.exp() * (self.p * 3) + self.off", "0.1", "0.7"),
    "in a dictionary": ("s", "self.d = nn.ModuleDict({'0': nn.LeakyReLU(s), 'a-b': nn.ELU(s)})",
                        "return self.d['0'](x) + self.d['a-b'](x)", "0.2", "0.7"),
    "of half precision": ("a", "self.a = a", "return (x.half() * self.a).float()", "0.3", "0.7"),
    "of statistics": ("e, m", "self.norm = nn.BatchNorm1d(6, e, m)", "return self.norm(x * 0.01)", "1e-5, 0.1", "1e-3, 0.4"),
    "beside dropout": ("rate, a", "self.drop, self.a = nn.Dropout(rate), a", "return self.drop(x.exp()) * self.a", "0.0, 2.0", "0.0, 0.7"),
    "an epsilon": ("eps", "self.norm = nn.LayerNorm(6, eps=eps)", "return self.norm(x * 0.01)", "1e-5", "1e-2"),
    "in a list": ("w", "self.w = w", "return x.sin() * self.w[0] + x.cos() * self.w[1]", "[0.3, 0.4]", "[1.5, -0.4]"),
    "beside a ratio": ("ratio, a", "self.a = a\nself.fc = nn.Linear(6, int(6 * ratio))", "return self.fc(x) * self.a",
                       "2.0, 0.3", "2.0, 0.9"),
}  # fmt: skip


def with_numbers(name: str, numbers: str) -> str:
    parameters, init, forward, _, _ = MODULES[name]
    source = task(forward, "[torch.randn(5, 6)]", init)
    return source.replace("(self)", f"(self, {parameters})").replace("return []", f"return [{numbers}]")


@pytest.mark.parametrize("name", MODULES)
def test_a_candidate_serves_other_numbers(name: str, tmp_path: Path) -> None:
    *_, own, others = MODULES[name]
    candidate = verified(with_numbers(name, own), tmp_path)
    other, kernel = tmp_path / "other.py", tmp_path / "kernel.py"
    other.write_text(with_numbers(name, others))
    kernel.write_text(candidate.source)
    receipt = judge_files(other, kernel, Options(targets=()))
    assert receipt.verdict == "verified", f"{receipt.reason}: {receipt.detail}"


OWN_ONLY = {
    "math.tanh(self.p)": "0.3", "max(self.p, 1.0)": "1.05", "min(self.p, 0.5)": "0.52",
    "(self.p if self.p >= 0.29 else 2 * self.p)": "0.3", "math.sqrt(abs(self.p))": "-0.25",
}  # fmt: skip


def test_a_number_of_double_precision_stays(tmp_path: Path) -> None:
    """Triton's arguments are of single precision."""
    source = task("return ((x.double() + self.a) * 1000).sin().float()", "[torch.randn(5, 6)]", "self.a = a")
    verified(source.replace("(self)", "(self, a)").replace("return []", "return [1234567.3]"), tmp_path)


@pytest.mark.parametrize("said", OWN_ONLY)
def test_a_number_that_cannot_be_told_stays(said: str, tmp_path: Path) -> None:
    """The kernel is for the task's own number then, as it is for sizes that stay."""
    source = task(f"return x.exp() * {said}", "[torch.randn(5, 6)]", "self.p = p").replace("(self)", "(self, p)")
    candidate = verified(source.replace("return []", f"return [{OWN_ONLY[said]}]"), tmp_path)
    assert "self.p" not in candidate.source.partition("def forward")[2]


def test_a_square_is_no_power(tmp_path: Path) -> None:
    source = task("return x.sin().pow(self.p)", "[torch.randn(5, 6)]", "self.p = p").replace("(self)", "(self, p)")
    assert "exp2" not in verified(source.replace("return []", "return [2.0]"), tmp_path).source
