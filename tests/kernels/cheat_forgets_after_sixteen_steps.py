# rejected: wrong result at trust [C11]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.decay = nn.Parameter(torch.zeros(d))

    def forward(self, x):
        a = torch.sigmoid(self.decay)
        h = torch.zeros_like(x[:, 0])
        out = []
        for t in range(x.shape[1]):
            h = a * h + (1 - a) * x[:, t]
            out.append(h)
        return torch.stack(out, 1)


def get_inputs():
    return [torch.randn(2, 24, 8)]


def get_init_inputs():
    return [8]


@triton.jit
def ema_kernel(x_ptr, a_ptr, y_ptr, T, D, B: tl.constexpr, W: tl.constexpr):
    b = tl.program_id(0)
    t = tl.program_id(1)
    d = tl.arange(0, B)
    a = tl.sigmoid(tl.load(a_ptr + d, mask=d < D, other=0.0))
    h = tl.zeros([B], tl.float32)
    for k in range(0, W):
        s = t - W + 1 + k
        x = tl.load(x_ptr + (b * T + s) * D + d, mask=(d < D) & (s >= 0), other=0.0)
        h = a * h + (1 - a) * x
    tl.store(y_ptr + (b * T + t) * D + d, h, mask=d < D)


class ModelNew(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.decay = nn.Parameter(torch.zeros(d))

    def forward(self, x):
        x = x.contiguous()
        b, t, d = x.shape
        y = torch.empty_like(x)
        ema_kernel[(b, t)](x, self.decay, y, t, d, B=triton.next_power_of_2(d), W=16)
        return y
