# verified at trust [twin of C8 C11]
import torch
import triton
import triton.language as tl
from torch import nn


class Model(nn.Module):
    def forward(self, x, lengths):
        kept = torch.arange(x.shape[1], device=x.device)[None, :] < lengths[:, None]
        return torch.where(kept, x, 0.0).sum(1)


def get_inputs():
    return [torch.randn(8, 50), torch.randint(1, 17, (8,))]


def get_init_inputs():
    return []


@triton.jit
def sum_kernel(x_ptr, lengths_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    length = tl.load(lengths_ptr + row)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + c, mask=(c < length) & (c < columns), other=0.0)
    tl.store(y_ptr + row, tl.sum(total, 0))


class ModelNew(nn.Module):
    def forward(self, x, lengths):
        x, lengths = x.contiguous(), lengths.contiguous()
        y = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
        sum_kernel[(x.shape[0],)](x, lengths, y, x.shape[1], BLOCK=16)
        return y
