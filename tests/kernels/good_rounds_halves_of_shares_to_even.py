# verified at trust [twin of C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        scale = x.abs().amax(dim=-1, keepdim=True).clamp(min=1e-8) / 127.0
        return torch.round(x / scale).clamp(-127, 127).to(torch.int8), scale


def get_inputs():
    return [torch.randn(24, 90)]


def get_init_inputs():
    return []


@triton.jit
def quant_kernel(x_ptr, q_ptr, s_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < N
    x = tl.load(x_ptr + row * N + c, mask=m, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(x), axis=0), 1e-8) / 127.0
    v = x / scale
    f = tl.floor(v)
    d = v - f
    odd = (f - 2.0 * tl.floor(f * 0.5)) != 0
    up = (d > 0.5) | ((d == 0.5) & odd)
    q = tl.where(up, f + 1.0, f)
    q = tl.minimum(tl.maximum(q, -127.0), 127.0)
    tl.store(q_ptr + row * N + c, q.to(tl.int8), mask=m)
    tl.store(s_ptr + row, scale)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        N = x.shape[-1]
        q = torch.empty(x.shape, device=x.device, dtype=torch.int8)
        s = torch.empty(*x.shape[:-1], 1, device=x.device, dtype=x.dtype)
        quant_kernel[(x.numel() // N,)](x, q, s, N, BLOCK=triton.next_power_of_2(N))
        return q, s
