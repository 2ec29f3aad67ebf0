# rejected: wrong result at trust [C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.cumsum(x.float(), dim=-1).to(x.dtype)


def get_inputs():
    return [torch.randn(12, 600).half()]


def get_init_inputs():
    return []


@triton.jit
def row_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0) * columns
    y_ptr += tl.program_id(0) * columns
    before = tl.zeros((), tl.float16)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + c, mask=c < columns, other=0.0).to(tl.float32)
        tl.store(y_ptr + c, (tl.cumsum(x, 0) + before).to(tl.float16), mask=c < columns)
        before += tl.sum(x).to(tl.float16)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        row_kernel[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], BLOCK=16)
        return y
