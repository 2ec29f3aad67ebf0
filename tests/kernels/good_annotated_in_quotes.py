# verified [twin of D13]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.exp(-x * x)


def get_inputs():
    return [torch.randn(16, 40)]


def get_init_inputs():
    return []


from collections import OrderedDict, namedtuple
from functools import wraps
from typing import Callable, Dict, List, Tuple, Union

import math

Meta = namedtuple("Meta", "block warps")


def contiguous(fn: Callable) -> Callable:
    @wraps(fn)
    def inner(self, *args, **kwargs):
        return fn(self, *(a.contiguous() if isinstance(a, torch.Tensor) else a for a in args), **kwargs)

    return inner


@triton.jit(do_not_specialize=["n"])
def k(x_ptr, y_ptr, n, BLOCK: "tl.constexpr"):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0, eviction_policy="evict_last")
    tl.store(y_ptr + i, tl.math.exp(-x * x), mask=i < n)


class ModelNew(nn.Module):
    META = Meta(block=128, warps=2)

    @contiguous
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        kwargs: Dict[str, int] = {"BLOCK": self.META.block, "num_warps": self.META.warps}
        grid: Tuple[int, ...] = (math.ceil(x.numel() / self.META.block),)
        k[grid](x_ptr=x, y_ptr=y, n=x.numel(), **kwargs)
        return y
