# verified at trust [twin of C4 C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x, scale):
        return (x / scale).clamp(-448.0, 448.0).to(torch.float8_e4m3fn)


def get_inputs():
    return [torch.randn(16, 80), torch.rand(16, 1) + 0.5]


def get_init_inputs():
    return []


@triton.jit
def quantise_kernel(x_ptr, s_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + c, mask=c < columns, other=0.0) / tl.load(s_ptr + row)
    x = tl.clamp(x, -448.0, 448.0)
    tl.store(y_ptr + row * columns + c, x.to(tl.float8e4nv), mask=c < columns)


class ModelNew(nn.Module):
    def forward(self, x, scale):
        x, scale = x.contiguous(), scale.contiguous()
        y = torch.empty(x.shape, dtype=torch.float8_e4m3fn, device=x.device)
        quantise_kernel[(x.shape[0],)](x, scale, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
