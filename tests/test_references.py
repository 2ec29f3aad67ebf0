"""What launches kernels of Triton's is said as its reference in plain torch, where one stands beside it."""

from __future__ import annotations

import ast
from typing import Any

import pytest
import torch

from sources.pairs.package import KernelPackage
from sources.text.references import with_references
from tests.cuts import HEAD, cut

KERNELS = '''import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def _kernel(x, y):
    pass


def rms_norm_ref(x, weight, eps=1e-6, gate=None):
    out = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight
    return out if gate is None else out * F.silu(gate)


def split_scan_combined_ref(x, decay, start, length):
    return (x * decay).cumsum(-1) + start


class Normed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps):
        y = torch.empty_like(x)
        _kernel[(1,)](x, y)
        return y


def rmsnorm_fn(x, weight, eps=1e-6, prenorm=False, *, gate=None):
    """Normalised."""
    return Normed.apply(x, weight, eps)


def norm(x, weight):
    return Normed.apply(x, weight, 1e-5)


def long_scan_combined(x, decay, start, length, state=None, limits=(0.0, 1.0)):
    y = torch.empty_like(x)
    _kernel[(1,)](x, y)
    return y


def long_scan_combined_step(x, decay, start, other):
    y = torch.empty_like(x)
    _kernel[(1,)](x, y)
    return y
'''
NET = """from kernels import long_scan_combined, rmsnorm_fn


class Net(nn.Module):
    def __init__(self, width, prenorm=False):
        super().__init__()
        self.weight, self.prenorm = nn.Parameter(torch.ones(width)), prenorm

    def forward(self, x, decay):
        return long_scan_combined(rmsnorm_fn(x, self.weight, prenorm=self.prenorm, gate=x), decay, 0, 4)
"""


def test_the_reference_computes_what_its_kernel_does() -> None:
    text = cut({"kernels.py": KERNELS, "net.py": HEAD + NET}, "net.py", "Net")
    assert "triton" not in text and "Normed" not in text
    space: dict[str, Any] = {}
    exec(text, space)
    x, decay = torch.randn(3, 8), torch.rand(3, 8)
    normed = torch.nn.functional.rms_norm(x, (8,), eps=1e-6) * torch.nn.functional.silu(x)
    torch.testing.assert_close(space["Net"](8)(x, decay), (normed * decay).cumsum(-1))
    with pytest.raises(NotImplementedError):  # of which the reference knows nothing
        space["Net"](8, prenorm=True)(x, decay)


@pytest.mark.parametrize("name", ["norm(x, x)", "long_scan_combined_step(x, x, 0, 4)"])
def test_what_has_no_reference_stays(name: str) -> None:
    net = (
        f"from kernels import {name.partition('(')[0]}\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
        f"        return {name}\n"
    )
    assert "_kernel" in cut({"kernels.py": KERNELS, "net.py": HEAD + net}, "net.py", "Net")


@pytest.mark.parametrize("given", ["weight, x", "x, weight, *more", "x, weight, **more", "x, *, weight", "x, /"])
def test_what_would_be_handed_on_otherwise_stays(given: str) -> None:
    needs = "x" if "*, w" in given or "/" in given else "x, weight"
    text = (
        f"import triton\n\ndef norm_ref({needs}, eps=1e-6):\n    return x\n\n"
        f"def norm({given}):\n    kernel[(1,)](x)\n    return x\n"
    )
    assert with_references(text, ast.parse(text)) == text


def test_libraries_of_kernels_keep_their_launches() -> None:
    package = KernelPackage({"kernels.py": KERNELS})
    file = package.file("kernels.py")
    assert file is not None
    assert ast.unparse(file.tree).count("_kernel[1,](x, y)") == 3
