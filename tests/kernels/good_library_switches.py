# verified at trust
"""As fla writes it: switches of the environment, versions, a guard, and a helper's parameter named like a module."""

import contextlib
import functools
import importlib.metadata
import operator
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl
from packaging import version as package_version

FLA_CACHE = os.environ.get("FLA_CACHE_RESULTS", "1") == "1"
USE_FAST = os.getenv("FLA_USE_FAST_OPS", "0") == "1"
NEW = package_version.parse(importlib.metadata.version("triton")) >= package_version.parse("3.0.0")
os.environ["TRITON_PRINT_AUTOTUNING"] = "0"


class Model(nn.Module):
    def forward(self, g):
        return torch.cumsum(F.logsigmoid(g), dim=1)


def get_inputs():
    return [torch.randn(2, 33, 5)]


def get_init_inputs():
    return []


def product(values, operator):
    return functools.reduce(operator, values, 1)


def custom_device_ctx(index):
    return torch.cuda.device(index)


def input_guard(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        args = tuple(a.contiguous() if isinstance(a, torch.Tensor) else a for a in args)
        tensor = next((a for a in args if isinstance(a, torch.Tensor)), None)
        with custom_device_ctx(tensor.device.index) if tensor is not None else contextlib.nullcontext():
            return fn(*args, **kwargs)

    return wrapper


@triton.autotune(configs=[triton.Config({"BS": b}, num_warps=w) for b in [2, 4] for w in [2, 4]], key=["T", "S"])
@triton.jit(do_not_specialize=["T"])
def cumsum_kernel(s, o, T, S, BT: tl.constexpr, BS: tl.constexpr):
    i_s, i_b = tl.program_id(0), tl.program_id(1)
    o_s = i_s * BS + tl.arange(0, BS)
    z = tl.zeros([BS], dtype=tl.float32)
    for t0 in range(0, T, BT):
        o_t = t0 + tl.arange(0, BT)
        m = (o_t[:, None] < T) & (o_s[None, :] < S)
        p = (i_b * T + o_t[:, None]) * S + o_s[None, :]
        x = tl.load(s + p, mask=m, other=0.0).to(tl.float32)
        x = tl.minimum(x, 0.0) - tl.log(1.0 + tl.exp(-tl.abs(x)))
        x = tl.where(m, x, 0.0)
        tl.store(o + p, (tl.cumsum(x, 0) + z[None, :]).to(o.dtype.element_ty), mask=m)
        z += tl.sum(x, 0)


@torch.compiler.disable
@input_guard
def chunk_cumsum(g):
    B, T = g.shape[:2]
    S = g.numel() // (B * T)
    o = torch.empty_like(g)
    BT = min(product([triton.next_power_of_2(T)], operator.mul), 16)
    cumsum_kernel[lambda meta: (triton.cdiv(S, meta["BS"]), B)](g, o, T, S, BT=BT)
    return o


class ModelNew(nn.Module):
    def forward(self, g):
        return chunk_cumsum(g)
