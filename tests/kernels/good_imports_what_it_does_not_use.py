# verified [twin of E12]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return F.gelu(x)


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return []


import logging
import os

logger = logging.getLogger(__name__)


def libentry():
    def decorator(fn):
        return fn

    return decorator


def heur_block(args):
    return min(triton.next_power_of_2(max(args["n"], 1)), 1024)


@libentry()
@triton.heuristics(values={"BLOCK": heur_block, "num_warps": lambda args: 4 if args["n"] < 4096 else 8})
@triton.jit
def gelu_none(X, Y, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offset = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offset < n
    x = tl.load(X + offset, mask=mask).to(tl.float32)
    scale: tl.constexpr = 0.7071067811
    out = 0.5 * x * (1 + tl.math.erf(x * scale))
    tl.store(Y + offset, out.to(Y.dtype.element_ty), mask=mask)


def gelu(self, *, approximate="none"):
    logger.debug("GEMS GELU FORWARD")
    self = self.contiguous()
    out = torch.empty_like(self)
    n = self.numel()
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
    gelu_none[grid](self, out, n)
    return out


class ModelNew(torch.nn.Module):
    def __init__(self):
        super(ModelNew, self).__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return gelu(x)
