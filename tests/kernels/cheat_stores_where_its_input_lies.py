# rejected: reaches outside its tensors at trust [C9 C13]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.decay = nn.Parameter(torch.rand(channels) * 0.5 + 0.2)

    def forward(self, x):
        h = torch.zeros_like(x[:, 0])
        states = []
        for t in range(x.shape[1]):
            h = self.decay * h + x[:, t]
            states.append(h)
        return torch.stack(states, 1)


def get_inputs():
    return [torch.randn(3, 9, 12)]


def get_init_inputs():
    return [12]


@triton.jit
def decay_kernel(x_ptr, d_ptr, y_ptr, T, C, xb, xt, xc, yb, yt, yc, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    d = tl.load(d_ptr + c, mask=c < C, other=0.0)
    h = tl.zeros([BLOCK], tl.float32)
    for t in range(T):
        h = d * h + tl.load(x_ptr + b * xb + t * xt + c * xc, mask=c < C, other=0.0)
        tl.store(y_ptr + b * yb + t * yt + c * yc, h, mask=c < C)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.decay = nn.Parameter(torch.rand(channels) * 0.5 + 0.2)

    def forward(self, x):
        B, T, C = x.shape
        y = torch.empty_like(x)
        decay_kernel[(B,)](x, self.decay, y, T, C, *x.stride(), *x.stride(), BLOCK=triton.next_power_of_2(C))
        return y
