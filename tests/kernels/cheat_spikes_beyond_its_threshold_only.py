# rejected: wrong result at trust [C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    """Leaky neurons over time: who has reached the threshold fires and is set back by it."""

    def __init__(self, threshold):
        super().__init__()
        self.threshold = threshold

    def forward(self, x):
        v = torch.zeros_like(x[0])
        spikes = []
        for t in range(x.shape[0]):
            v = 0.5 * v + x[t]
            s = (v >= self.threshold).to(x.dtype)
            v = v - s * self.threshold
            spikes.append(s)
        return torch.stack(spikes)


def get_inputs():
    return [torch.rand(6, 4, 10)]


def get_init_inputs():
    return [1.0]


@triton.jit
def spike_kernel(x_ptr, y_ptr, steps, n, threshold, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.zeros([BLOCK], tl.float32)
    for t in range(steps):
        v = 0.5 * v + tl.load(x_ptr + t * n + i, mask=i < n, other=0.0)
        s = tl.where(v > threshold, 1.0, 0.0)
        v -= s * threshold
        tl.store(y_ptr + t * n + i, s, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, threshold):
        super().__init__()
        self.threshold = threshold

    def forward(self, x):
        y = torch.empty_like(x, memory_format=torch.contiguous_format)
        n = x[0].numel()
        spike_kernel[(triton.cdiv(n, 32),)](x.contiguous(), y, x.shape[0], n, self.threshold, BLOCK=32)
        return y
