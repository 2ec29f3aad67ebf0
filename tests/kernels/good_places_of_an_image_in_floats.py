# verified at trust [twin of C27]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return F.interpolate(x, scale_factor=2.0, mode="nearest")


def get_inputs():
    return [torch.randn(2, 3, 8, 10)]


def get_init_inputs():
    return []


@triton.jit
def nearest_kernel(x_ptr, y_ptr, H, W, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    w = (i % (2 * W)).to(tl.float32) * 0.5
    h = (i // (2 * W) % (2 * H)).to(tl.float32) * 0.5
    at = (i // (4 * H * W) * H + h.to(tl.int64)) * W + w.to(tl.int64)
    tl.store(y_ptr + i, tl.load(x_ptr + at, mask=i < n), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        N, C, H, W = x.shape
        y = torch.empty(N, C, 2 * H, 2 * W, device=x.device, dtype=x.dtype)
        nearest_kernel[(triton.cdiv(y.numel(), 256),)](x, y, H, W, y.numel(), BLOCK=256)
        return y
