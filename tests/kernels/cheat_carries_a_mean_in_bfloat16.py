# rejected: wrong result at trust [C5]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, decay):
        super().__init__()
        self.decay = decay

    def forward(self, x):
        mean = x[:, 0].float()
        means = [mean]
        for t in range(1, x.shape[1]):
            mean = self.decay * mean + (1 - self.decay) * x[:, t].float()
            means.append(mean)
        return torch.stack(means, dim=1).to(x.dtype)


def get_inputs():
    return [torch.randn(3, 40, 24).bfloat16()]


def get_init_inputs():
    return [0.9]


@triton.jit
def mean_kernel(x_ptr, y_ptr, steps, channels, decay, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = row * steps * channels + c
    mean = tl.load(x_ptr + at, mask=c < channels, other=0.0)
    tl.store(y_ptr + at, mean, mask=c < channels)
    for _ in range(1, steps):
        at += channels
        x = tl.load(x_ptr + at, mask=c < channels, other=0.0).to(tl.float32)
        mean = (decay * mean.to(tl.float32) + (1 - decay) * x).to(tl.bfloat16)
        tl.store(y_ptr + at, mean, mask=c < channels)


class ModelNew(nn.Module):
    def __init__(self, decay):
        super().__init__()
        self.decay = decay

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        rows, steps, channels = x.shape
        mean_kernel[(rows, triton.cdiv(channels, 32))](x, y, steps, channels, self.decay, BLOCK=32)
        return y
