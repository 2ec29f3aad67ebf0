"""Hand-made records for tests of what comes after the judge: pairs as a small build gives them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache

from kdata.record import Build, Candidate, Check, Input, Origin, Pair, Receipt, Task, Trial, digest

# name, family, ATen operators, forward expression over x (and self.w), parameters, Triton expression
_POINTWISE = [
    ("Swish", "pointwise", ("sigmoid", "mul"), "x * torch.sigmoid(x)", "x * tl.sigmoid(x)"),
    ("HardSwish", "pointwise", ("add", "clamp", "mul", "div"), "x * torch.clamp(x + 3, 0, 6) / 6",
     "x * tl.minimum(tl.maximum(x + 3.0, 0.0), 6.0) / 6.0"),
    ("Mish", "pointwise", ("softplus", "tanh", "mul"), "x * torch.tanh(F.softplus(x))",
     "x * (1.0 - 2.0 / (tl.exp(2.0 * tl.log(1.0 + tl.exp(x))) + 1.0))"),
    ("QuickGELU", "pointwise", ("mul", "sigmoid", "mul"), "x * torch.sigmoid(1.702 * x)", "x * tl.sigmoid(1.702 * x)"),
    ("SquaredReLU", "pointwise", ("relu", "pow"), "torch.relu(x) ** 2", "tl.maximum(x, 0.0) * tl.maximum(x, 0.0)"),
    ("LayerScale", "pointwise", ("mul",), "x * self.gamma", "x * gamma"),
    ("Sine", "pointwise", ("mul", "sin"), "torch.sin(self.omega * x)", "tl.sin(omega * x)"),
    ("SoftShrink", "pointwise", ("abs", "sub", "relu", "sign", "mul"),
     "torch.sign(x) * F.relu(torch.abs(x) - self.lam)",
     "tl.where(x > 0, 1.0, -1.0) * tl.maximum(tl.abs(x) - lam, 0.0)"),
]  # fmt: skip
_REDUCTIONS = [
    ("RMSNorm", "normalisation", ("pow", "mean", "add", "rsqrt", "mul"),
     "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)", "x * tl.rsqrt(tl.sum(x * x, 0) / width + eps)"),
    ("LayerNormNoAffine", "normalisation", ("native_layer_norm",), "F.layer_norm(x, x.shape[-1:])",
     "(x - tl.sum(x, 0) / width) * tl.rsqrt(variance + eps)"),
    ("TemperatureSoftmax", "softmax", ("div", "_softmax"), "torch.softmax(x / self.temperature, dim=-1)",
     "tl.exp(x - tl.max(x, 0)) / tl.sum(tl.exp(x - tl.max(x, 0)), 0)"),
    ("LogSumExpHead", "reduction", ("logsumexp",), "torch.logsumexp(x, dim=-1, keepdim=True)",
     "tl.log(tl.sum(tl.exp(x - tl.max(x, 0)), 0)) + tl.max(x, 0)"),
    ("L2Normalize", "normalisation", ("linalg_vector_norm", "clamp_min", "div"), "F.normalize(x, dim=-1)",
     "x / tl.maximum(tl.sqrt(tl.sum(x * x, 0)), 1e-12)"),
    ("CharbonnierLoss", "loss", ("mul", "add", "sqrt", "mean"), "torch.sqrt(x * x + self.eps).mean()",
     "tl.sum(tl.sqrt(x * x + eps), 0) / width"),
    ("TotalVariation", "loss", ("sub", "abs", "mean"), "(x[..., 1:] - x[..., :-1]).abs().mean()",
     "tl.sum(tl.abs(right - left), 0) / width"),
]  # fmt: skip
_CONTRACTIONS = [
    ("GEGLU", "matmul", ("addmm", "gelu", "mul"), "F.gelu(self.gate(x)) * self.up(x)", "tl.dot(x, w, acc)"),
    ("SqueezeExcite", "convolution", ("mean", "convolution", "relu", "convolution", "sigmoid", "mul"),
     "x * torch.sigmoid(self.expand(F.relu(self.squeeze(x.mean((2, 3), keepdim=True)))))", "tl.dot(patch, w, acc)"),
    ("DepthwiseBlock", "convolution", ("convolution", "native_batch_norm", "relu"),
     "F.relu(self.norm(self.conv(x)))", "acc += tl.sum(window * w, 1)"),
    ("CosineAttention", "attention", ("linalg_vector_norm", "div", "bmm", "_softmax", "bmm"),
     "torch.softmax(q @ k.transpose(-2, -1), -1) @ v", "tl.dot(p.to(v.dtype), v, acc)"),
    ("LowRankLinear", "matmul", ("mm", "addmm"), "self.up(self.down(x))", "tl.dot(x, w, acc)"),
    ("AttentionPool", "attention", ("mm", "_softmax", "mul", "sum"),
     "(torch.softmax(self.score(x), dim=1) * x).sum(1)", "tl.sum(p[:, None] * x, 0)"),
]  # fmt: skip
ARCHETYPES = _POINTWISE + _REDUCTIONS + _CONTRACTIONS

REPOSITORIES = (
    Origin("pypi", "tidyvision", "1.4.2 sha256:5b7c19", "tidyvision/layers.py", ("Apache-2.0",),
           "https://example.org/tidyvision", 34_100),
    Origin("pypi", "moltensor", "0.9.0 sha256:77aa02", "moltensor/nn/blocks.py", ("MIT",),
           "https://example.org/moltensor", 812),
    Origin("git", "lumen/speechkit", "c0ffee5eed", "speechkit/modules.py", ("BSD-3-Clause",),
           "https://example.org/lumen/speechkit", 5_230),
    Origin("pypi", "gridcast", "2.0.1 sha256:0d12e4", "gridcast/model.py", ("MIT", "Apache-2.0"),
           "https://example.org/gridcast", None),
)  # fmt: skip

_TASK = '''\
import torch
from torch import nn
from torch.nn import functional as F


class {name}(nn.Module):
    """{doc}"""

    def __init__(self, width={width}, eps=1e-6):
        super().__init__()
        self.width = width
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(width))

    def forward(self, x):
        {steps}return {expression}


def get_init_inputs():
    return [{width}]


def get_inputs():
    return [torch.randn(4, 32, {width})]
'''
_KERNEL = '''\
import torch
import triton
import triton.language as tl


@triton.jit
def {kernel}_kernel(x_ptr, out_ptr, n_elements, width, eps, BLOCK: tl.constexpr):
    """{doc}"""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
{steps}    out = {expression}
    tl.store(out_ptr + offsets, out, mask=mask)


class ModelNew(torch.nn.Module):
    def __init__(self, width={width}, eps=1e-6):
        super().__init__()
        self.width = width
        self.eps = eps
        self.gamma = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        grid = (triton.cdiv(x.numel(), 1024),)
        {kernel}_kernel[grid](x, out, x.numel(), self.width, self.eps, BLOCK=1024)
        return out
'''
# Different work before the archetype's own, so that no two tasks of one archetype are near duplicates.
_BEFORE = (
    ("", ()),
    ("x = x - x.mean(-1, keepdim=True)\n        x = torch.tanh(x) * self.gamma\n        ",
     ("mean", "sub", "tanh", "mul")),
    ("residual = x.abs().amax(-1, keepdim=True)\n        x = torch.where(x > 0, x, residual) + self.eps\n        ",
     ("abs", "amax", "gt", "where", "add")),
)  # fmt: skip


def number(*parts: object) -> float:
    """A fixed number in [0, 1) for some parts."""
    return int(digest(*map(str, parts))[:8], 16) / 16**8


def task(kind: int = 0, variant: int = 0, repository: int = 0) -> Task:
    """The task of an archetype, with other work before it for each variant."""
    name, _, _, expression, _ = ARCHETYPES[kind]
    width = 16 * (1 + kind % 5)
    doc = f"{name} as {REPOSITORIES[repository].repository} has it."
    source = _TASK.format(name=name, doc=doc, width=width, steps=_BEFORE[variant][0], expression=expression)
    spec = Input("x", "float32", (4, 32, width), (True, True, False), -3.5, 3.6)
    origin = REPOSITORIES[repository]
    path = origin.path.replace(".py", f"_{kind % 6}.py")
    return Task.make(source, name, replace(origin, path=path), symbol=f"{path[:-3]}.{name}", inputs=(spec,))


def candidate(kind: int = 0, variant: int = 0, repository: int = 0) -> Candidate:
    """A kernel for the task."""
    name, family, ops, _, expression = ARCHETYPES[kind]
    steps = "".join(f"    x = tl.where(mask, x, 0.0)  # {op}\n" * (1 + 4 * (kind % 4)) for op in _BEFORE[variant][1])
    width = 16 * (1 + kind % 5)
    text = _KERNEL.format(kernel=name.lower(), doc=f"One program a block: {family}.", width=width, steps=steps,
                          expression=expression)  # fmt: skip
    whole = (*_BEFORE[variant][1], *ops)
    chosen = task(kind, variant, repository)
    return Candidate.make(chosen, text, "triton", "inductor", ops=whole, family=family, original=f"# raw\n{text}")


def receipt(of: Candidate) -> Receipt:
    """What a passed verification of it says."""
    shapes = ("float32[4, 32, 16]", "float32[1, 7, 16]", "float32[3, 127, 16]")
    trials = tuple(
        Trial("", shape, seed, "float32", 4e-7 * (1 + 9 * number(of.id, shape, seed)), 2e-6,
              9e-8 * (1 + number(of.id, shape)), 9e-8, 1e-5, 1.3e-6, True)
        for shape, seed in itertools.product(shapes, (0, 1))
    )  # fmt: skip
    kernel = f"{of.task.entry_point.lower()}_kernel"
    builds = tuple(
        Build(kernel, target, int(16 + 90 * number(of.id, target)), 0, 1024 * int(8 * number(of.id)))
        for target in ("gfx942", "sm_90")
    )
    names = ("loads the reference's state_dict", "inputs unchanged", "kernels launched", "depends on its kernels")
    return Receipt(
        of.id, "verified", "", "", tuple(Check(n, True) for n in names), trials, (kernel,), builds, "train",
        "interpreted", "cpu", "user namespace, no network", "1", digest("harness"), ("torch 2.13.0", "triton 3.7.1"),
    )  # fmt: skip


def pair(kind: int = 0, variant: int = 0, repository: int = 0) -> Pair:
    """A verified pair."""
    made = candidate(kind, variant, repository)
    return Pair(made, receipt(made))


@cache
def pairs() -> tuple[Pair, ...]:
    """63 verified pairs of four repositories, no two alike."""
    whole = itertools.product(range(len(ARCHETYPES)), range(len(_BEFORE)))
    return tuple(pair(kind, variant, int(11 * number(kind, variant)) % 4) for kind, variant in whole)


def rejected(of: Pair, reason: str, detail: str = "") -> Pair:
    """The same pair, had the judge refused it."""
    return Pair(of.candidate, replace(of.receipt, verdict="rejected", reason=reason, detail=detail))


def relicensed(of: Pair, *licenses: str) -> Pair:
    """The same pair under other licences."""
    origin = replace(of.task.origin, licenses=licenses)
    return Pair(replace(of.candidate, task=replace(of.task, origin=origin)), of.receipt)


def rewritten(of: Pair, source: str) -> Pair:
    """A pair of another task text with the same origin and kernel."""
    changed = Task.make(source, of.task.entry_point, of.task.origin, symbol=of.task.symbol, inputs=of.task.inputs)
    made = Candidate.make(
        changed, of.candidate.source, "triton", "inductor", ops=of.candidate.ops, family=of.candidate.family
    )
    return Pair(made, replace(of.receipt, candidate_id=made.id))
