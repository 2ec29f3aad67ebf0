# verified at trust [twin of C5]
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
def after(a, x, b, y):
    return a * b, b * x + y


@triton.jit
def mean_kernel(x_ptr, y_ptr, steps, channels, decay, STEPS: tl.constexpr):
    row, channel = tl.program_id(0), tl.program_id(1)
    last = tl.load(x_ptr + row * steps * channels + channel).to(tl.float32)
    for start in range(0, steps, STEPS):
        t = start + tl.arange(0, STEPS)
        at = (row * steps + t) * channels + channel
        x = tl.load(x_ptr + at, mask=t < steps, other=0.0).to(tl.float32)
        keep = tl.full((STEPS,), 1.0, tl.float32) * decay
        kept, means = tl.associative_scan((keep, (1 - decay) * x), 0, after)
        means += kept * last
        tl.store(y_ptr + at, means.to(tl.bfloat16), mask=t < steps)
        last = tl.sum(tl.where(t == start + STEPS - 1, means, 0.0), 0)


class ModelNew(nn.Module):
    def __init__(self, decay):
        super().__init__()
        self.decay = decay

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        rows, steps, channels = x.shape
        mean_kernel[(rows, channels)](x, y, steps, channels, self.decay, STEPS=16)
        return y
