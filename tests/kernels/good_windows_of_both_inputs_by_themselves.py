# verified at trust [twin of C5]
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
def window_kernel(a_ptr, b_ptr, y_ptr, columns, windows, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    w = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = w < windows
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(4):
        total += tl.load(a_ptr + row * columns + 4 * w + i, mask=inside, other=0.0)
        total -= tl.load(b_ptr + row * columns + 4 * w + i, mask=inside, other=0.0)
    tl.store(y_ptr + row * windows + w, total, mask=inside)


class ModelNew(nn.Module):
    def forward(self, a, b):
        a, b = a.contiguous(), b.contiguous()
        columns = a.shape[-1]
        rows, windows = a.numel() // columns, columns // 4
        y = torch.empty(*a.shape[:-1], windows, device=a.device, dtype=a.dtype)
        window_kernel[(rows, triton.cdiv(windows, 32))](a, b, y, columns, windows, BLOCK=32)
        return y
