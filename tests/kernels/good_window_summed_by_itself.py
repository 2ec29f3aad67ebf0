# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Mean of each eight numbers that stand side by side."""

    def forward(self, x):
        return torch.nn.functional.avg_pool1d(x, 8, stride=1)


def get_inputs():
    return [torch.randn(4, 8, 128)]


def get_init_inputs():
    return []


@triton.jit
def window_kernel(x_ptr, y_ptr, length, windows, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for k in tl.static_range(8):
        total += tl.load(x_ptr + row * length + i + k, mask=i < windows, other=0.0)
    tl.store(y_ptr + row * windows + i, total / 8.0, mask=i < windows)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        length = x.shape[-1]
        rows, windows = x.numel() // length, length - 7
        y = torch.empty(*x.shape[:-1], windows, device=x.device)
        window_kernel[(rows, triton.cdiv(windows, 64))](x, y, length, windows, BLOCK=64)
        return y
