# verified at trust [twin of E13]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return nn.functional.softplus(x)


def get_inputs():
    return [torch.randn(16, 64)]


def get_init_inputs():
    return []


@triton.jit
def softplus_kernel(x_ptr, out_ptr, n, shift, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) - shift
    mask = (i >= 0) & (i < n)
    x = tl.load(x_ptr + i, mask=mask, other=0.0).to(tl.float32)
    y = tl.maximum(x, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(x)))
    tl.store(out_ptr + i, y, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        n = x.numel()
        out = torch.zeros_like(x)
        shift = x.storage_offset() % 4
        softplus_kernel[(triton.cdiv(n + shift, 256),)](x, out, n, shift, BLOCK=256)
        return out
