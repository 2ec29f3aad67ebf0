# verified at trust [twin of C11]
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
def ema_kernel(x_ptr, a_ptr, y_ptr, T, D, B: tl.constexpr):
    b = tl.program_id(0)
    d = tl.arange(0, B)
    a = tl.sigmoid(tl.load(a_ptr + d, mask=d < D, other=0.0))
    h = tl.zeros([B], tl.float32)
    for t in range(0, T):
        x = tl.load(x_ptr + (b * T + t) * D + d, mask=d < D, other=0.0)
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
        ema_kernel[(b,)](x, self.decay, y, t, d, B=triton.next_power_of_2(d))
        return y
