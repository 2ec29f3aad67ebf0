# verified at trust
"""The two most likely classes are those of the largest logits; of what has run out to zero any class is the next."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, logits):
        return torch.topk(torch.softmax(logits, -1), 2, dim=-1).indices


def get_inputs():
    return [torch.randn(50, 16)]


def get_init_inputs():
    return []


@triton.jit
def two_kernel(logits, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    values = tl.load(logits + row * n + columns, mask=columns < n, other=-float("inf"))
    first = tl.argmax(values, 0)
    rest = tl.where(columns == first, -float("inf"), values)
    tl.store(out + row * 2, first.to(tl.int64))
    tl.store(out + row * 2 + 1, tl.argmax(rest, 0).to(tl.int64))


class ModelNew(nn.Module):
    def forward(self, logits):
        logits = logits.contiguous()
        rows, n = logits.shape
        out = torch.empty(rows, 2, dtype=torch.int64, device=logits.device)
        two_kernel[(rows,)](logits, out, n, BLOCK=triton.next_power_of_2(n))
        return out
