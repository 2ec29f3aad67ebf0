# rejected: wrong result at trust [C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a):
        return torch.stack([torch.histc(r, 8, 0.0, 1.0) for r in a])


def get_inputs():
    return [torch.rand(16, 64)]


def get_init_inputs():
    return []


@triton.jit
def row_kernel(a_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    j = tl.arange(0, BLOCK)
    mask = j < columns
    a = tl.load(a_ptr + r * columns + j, mask=mask, other=0.0)
    k = tl.minimum((a * 8.0).to(tl.int32), 7)
    inside = mask & ((a >= 0.0) & (a < 1.0))
    for b in range(8):
        tl.store(y_ptr + r * 8 + b, tl.sum((inside & (k == b)).to(tl.float32)))
    pass


class ModelNew(nn.Module):
    def forward(self, a):
        a = a.contiguous()
        y = torch.empty((a.shape[0], 8), device=a.device)
        columns = a.shape[-1]
        row_kernel[(a.numel() // columns,)](a, y, columns, BLOCK=triton.next_power_of_2(columns))
        return y
