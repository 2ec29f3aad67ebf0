# verified at trust [twin of C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        scale = x.abs().amax(-1, keepdim=True).clamp(min=1e-4) / 448.0
        return (x / scale).to(torch.float8_e4m3fn).float() * scale


def get_inputs():
    return [torch.randn(64, 192)]


def get_init_inputs():
    return []


@triton.jit
def quantise_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < columns
    x = tl.load(x_ptr + row * columns + i, mask=mask, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(x), 0), 1e-4) / 448.0
    quantised = tl.clamp(x / scale, -448.0, 448.0).to(tl.float8e4nv)
    tl.store(y_ptr + row * columns + i, quantised.to(tl.float32) * scale, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        columns = x.shape[-1]
        quantise_kernel[(x.numel() // columns,)](x, y, columns, BLOCK=triton.next_power_of_2(columns))
        return y
