# verified at trust [twin of D11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.fc = nn.utils.parametrizations.weight_norm(nn.Linear(width, out))

    def forward(self, x):
        return torch.relu(self.fc(x))


def get_inputs():
    return [torch.randn(24, 32)]


def get_init_inputs():
    return [32, 16]


@triton.jit
def lin(x_ptr, v_ptr, g_ptr, b_ptr, y_ptr, width, out, BW: tl.constexpr, BO: tl.constexpr):
    row = tl.program_id(0)
    o = tl.arange(0, BO)
    c = tl.arange(0, BW)
    x = tl.load(x_ptr + row * width + c, mask=c < width, other=0.0)
    m = (o < out)[:, None] & (c < width)[None, :]
    v = tl.load(v_ptr + o[:, None] * width + c[None, :], mask=m, other=0.0)
    n = tl.sqrt(tl.sum(v * v, axis=1))
    n = tl.where(o < out, n, 1.0)
    g = tl.load(g_ptr + o, mask=o < out, other=0.0)
    b = tl.load(b_ptr + o, mask=o < out, other=0.0)
    y = tl.sum(v * x[None, :], axis=1) * (g / n) + b
    tl.store(y_ptr + row * out + o, tl.maximum(y, 0.0), mask=o < out)


class ModelNew(nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.fc = nn.utils.parametrizations.weight_norm(nn.Linear(width, out))

    def forward(self, x):
        x = x.contiguous()
        p = self.fc.parametrizations.weight
        g, v = p.original0, p.original1
        out, width = v.shape
        y = torch.empty(x.shape[0], out, device=x.device, dtype=x.dtype)
        lin[(x.shape[0],)](
            x, v, g, self.fc.bias, y, width, out, triton.next_power_of_2(width), triton.next_power_of_2(out)
        )
        return y
