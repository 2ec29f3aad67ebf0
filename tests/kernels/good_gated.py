# verified
import dataclasses
import types

import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    """An odd number of features may be cut, too, and one column then spreads over the others: that is an accident."""

    def forward(self, x):
        x, gate = x.chunk(2, dim=-1)
        return x * F.sigmoid(gate)


def get_inputs():
    return [torch.randn(6, 8)]


def get_init_inputs():
    return []


@dataclasses.dataclass
class Choice:
    block: int = 64


def chosen(block):
    return Choice() if isinstance(block, (type(None), types.FunctionType)) else Choice(block)


@triton.jit
def gated_kernel(x_ptr, out_ptr, n, features, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, column = i // features, i % features
    x = tl.load(x_ptr + row * 2 * features + column, mask=i < n, other=0.0)
    gate = tl.load(x_ptr + row * 2 * features + features + column, mask=i < n, other=0.0)
    tl.store(out_ptr + i, x * tl.sigmoid(gate), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        features = x.shape[-1] // 2
        out = torch.empty((*x.shape[:-1], features), dtype=x.dtype, device=x.device)
        block = chosen(None).block
        gated_kernel[(triton.cdiv(out.numel(), block),)](x, out, out.numel(), features, BLOCK=block)
        return out
