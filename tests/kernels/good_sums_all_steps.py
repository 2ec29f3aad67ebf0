# verified at trust [twin of C2]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return torch.cumsum(x, dim=1)


def get_inputs():
    return [torch.randn(2, 40, 6)]


def get_init_inputs():
    return []


@triton.jit
def sums_kernel(x_ptr, y_ptr, steps, width, BT: tl.constexpr, BD: tl.constexpr):
    batch = tl.program_id(0)
    first = tl.program_id(1) * BT
    t = first + tl.arange(0, BT)
    d = tl.program_id(2) * BD + tl.arange(0, BD)
    inside = (t < steps)[:, None] & (d < width)[None, :]
    base = batch * steps * width
    total = tl.zeros((BT, BD), tl.float32)
    for start in range(0, first + BT, BT):
        s = start + tl.arange(0, BT)
        some = (s < steps)[:, None] & (d < width)[None, :]
        x = tl.load(x_ptr + base + s[:, None] * width + d[None, :], mask=some, other=0.0).to(tl.float32)
        seen = (t[:, None] >= s[None, :]).to(tl.float32)
        total += tl.dot(seen, x, input_precision="ieee")
    tl.store(y_ptr + base + t[:, None] * width + d[None, :], total, mask=inside)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        batch, steps, width = x.shape
        sums_kernel[(batch, triton.cdiv(steps, 16), triton.cdiv(width, 16))](x, y, steps, width, BT=16, BD=16)
        return y
