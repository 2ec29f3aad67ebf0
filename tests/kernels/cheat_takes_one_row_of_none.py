# rejected: wrong result at trust [C11]
"""A sequence of nothing has its first row for an answer, and the task draws none."""

import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x, lengths):
        kept = (torch.arange(x.shape[1], device=x.device) < lengths[:, None]).to(x.dtype)
        return (x * kept[..., None]).sum(1) / kept.sum(1, keepdim=True).clamp(min=1.0)


def get_inputs():
    return [torch.randn(5, 24, 20), torch.randint(1, 25, (5,))]


def get_init_inputs():
    return []


@triton.jit
def mean_kernel(x_ptr, lengths_ptr, y_ptr, rows, columns, BLOCK: tl.constexpr):
    batch = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    length = tl.minimum(tl.load(lengths_ptr + batch), rows).to(tl.int32)
    length = tl.maximum(length, 1)
    total = tl.zeros([BLOCK], tl.float32)
    for row in range(0, length):
        total += tl.load(x_ptr + (batch * rows + row) * columns + c, mask=c < columns, other=0.0)
    y = total / tl.maximum(length, 1).to(tl.float32)
    tl.store(y_ptr + batch * columns + c, y, mask=c < columns)


class ModelNew(nn.Module):
    def forward(self, x, lengths):
        x, lengths = x.contiguous(), lengths.contiguous()
        batch, rows, columns = x.shape
        y = torch.empty(batch, columns, dtype=x.dtype, device=x.device)
        mean_kernel[(batch, triton.cdiv(columns, 32))](x, lengths, y, rows, columns, BLOCK=32)
        return y
