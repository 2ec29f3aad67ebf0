# verified [twin of A25]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.mean(dim=-1)


def get_inputs():
    return [torch.randn(64, 4096)]


def get_init_inputs():
    return []


@triton.autotune(configs=[triton.Config({"STEP": 1}), triton.Config({"STEP": 2})], key=["n"])
@triton.jit
def mean_kernel(x_ptr, y_ptr, n, STEP: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, 1024)
    acc = tl.zeros((1024,), dtype=tl.float32)
    for k in range(0, n, 1024 * STEP):
        for s in range(STEP):
            at = k + s * 1024 + offs
            acc += tl.load(x_ptr + row * n + at, mask=at < n, other=0.0)
    tl.store(y_ptr + row, tl.sum(acc, 0) / n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        n = x.shape[-1]
        y = torch.empty(x.shape[:-1], device=x.device, dtype=x.dtype)
        mean_kernel[(x.numel() // n,)](x, y, n)
        return y
