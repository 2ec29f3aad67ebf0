# rejected: does not compile for sm_90 at trust [C7]
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def row_kernel(x_ptr, out_ptr, n, LOOPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    if LOOPS:
        best = 0
        for start in range(0, n, BLOCK):
            x = tl.load(x_ptr + row * n + start + i, mask=start + i < n, other=0.0)
            best = best + tl.sum(x * x)
        tl.store(out_ptr + row, best)
    else:
        x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
        tl.store(out_ptr + row, tl.sum(x * x))


class Model(nn.Module):
    def forward(self, x):
        return (x * x).sum(dim=1)


def get_inputs():
    return [torch.randn(32, 50)]


def get_init_inputs():
    return []


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        row_kernel[(x.shape[0],)](x, out, x.shape[1], LOOPS=x.shape[1] > 128, BLOCK=128)
        return out
