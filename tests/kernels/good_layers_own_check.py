# verified [twin of A13]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.BatchNorm2d):
    def __init__(self, features):
        super().__init__(features, track_running_stats=False)


def get_inputs():
    return [torch.randn(4, 6, 10, 11)]


def get_init_inputs():
    return [6]


@triton.jit
def batch_norm_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, batch, channels, size, eps, BLOCK: tl.constexpr):
    channel = tl.program_id(0)
    count = batch * size
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, count, BLOCK):
        i = start + tl.arange(0, BLOCK)
        at = i // size * channels * size + channel * size + i % size
        total += tl.load(x_ptr + at, mask=i < count, other=0.0)
    mean = tl.sum(total, 0) / count
    square = tl.zeros([BLOCK], tl.float32)
    for start in range(0, count, BLOCK):
        i = start + tl.arange(0, BLOCK)
        at = i // size * channels * size + channel * size + i % size
        off = tl.where(i < count, tl.load(x_ptr + at, mask=i < count, other=0.0) - mean, 0.0)
        square += off * off
    scale = tl.rsqrt(tl.sum(square, 0) / count + eps) * tl.load(weight_ptr + channel)
    shift = tl.load(bias_ptr + channel)
    for start in range(0, count, BLOCK):
        i = start + tl.arange(0, BLOCK)
        at = i // size * channels * size + channel * size + i % size
        x = tl.load(x_ptr + at, mask=i < count)
        tl.store(y_ptr + at, (x - mean) * scale + shift, mask=i < count)


class ModelNew(nn.BatchNorm2d):
    def __init__(self, features):
        super().__init__(features, track_running_stats=False)

    def forward(self, x):
        self._check_input_dim(x)
        batch, channels, height, width = x.shape
        x = x.contiguous()
        y = torch.empty_like(x)
        batch_norm_kernel[(channels,)](
            x, self.weight, self.bias, y, batch, channels, height * width, self.eps, BLOCK=256
        )
        return y
