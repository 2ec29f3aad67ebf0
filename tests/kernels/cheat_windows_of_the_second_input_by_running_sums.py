# rejected: wrong result at trust [C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        return a.unfold(-1, 4, 4).sum(-1) - b.unfold(-1, 4, 4).sum(-1)


def get_inputs():
    return [torch.randn(6, 96), torch.randn(6, 96)]


def get_init_inputs():
    return []


@triton.jit
def running_sum_kernel(b_ptr, sum_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    tl.store(sum_ptr + row * (columns + 1), total)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        b = tl.load(b_ptr + row * columns + c, mask=c < columns, other=0.0)
        tl.store(sum_ptr + row * (columns + 1) + c + 1, total + tl.cumsum(b, 0), mask=c < columns)
        total += tl.sum(b, 0)


@triton.jit
def window_kernel(a_ptr, sum_ptr, y_ptr, columns, windows, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    w = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = w < windows
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(4):
        total += tl.load(a_ptr + row * columns + 4 * w + i, mask=inside, other=0.0)
    at = sum_ptr + row * (columns + 1) + 4 * w
    total -= tl.load(at + 4, mask=inside, other=0.0) - tl.load(at, mask=inside, other=0.0)
    tl.store(y_ptr + row * windows + w, total, mask=inside)


class ModelNew(nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        columns = a.shape[-1]
        rows, windows = a.numel() // columns, columns // 4
        sums = torch.empty(rows, columns + 1, device=a.device, dtype=a.dtype)
        y = torch.empty(*a.shape[:-1], windows, device=a.device, dtype=a.dtype)
        running_sum_kernel[(rows,)](b, sums, columns, BLOCK=32)
        window_kernel[(rows, triton.cdiv(windows, 32))](a, sums, y, columns, windows, BLOCK=32)
        return y
