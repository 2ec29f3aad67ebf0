# rejected: wrong result [A13 C24]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        return self.bn(x)


def get_inputs():
    return [torch.rand([4, 4, 4, 4])]


def get_init_inputs():
    return [[], {"channels": 4}]


@triton.jit
def batch_norm_kernel(
    x_ptr, weight_ptr, bias_ptr, mean_ptr, var_ptr, y_ptr, B, C, S, momentum, eps, BLOCK: tl.constexpr
):
    c = tl.program_id(0)
    count = B * S
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, count, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + (i // S * C + c) * S + i % S, mask=i < count, other=0.0)
    mean = tl.sum(total, axis=0) / count
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, count, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + (i // S * C + c) * S + i % S, mask=i < count, other=0.0)
        squares += tl.where(i < count, (x - mean) * (x - mean), 0.0)
    square = tl.sum(squares, axis=0)
    var = square / count
    old_mean, old_var = tl.load(mean_ptr + c), tl.load(var_ptr + c)
    tl.store(mean_ptr + c, (1 - momentum) * old_mean + momentum * mean)
    tl.store(var_ptr + c, (1 - momentum) * old_var + momentum * square / (count - 1))
    scale = tl.rsqrt(var + eps) * tl.load(weight_ptr + c)
    bias = tl.load(bias_ptr + c)
    for start in range(0, count, BLOCK):
        i = start + tl.arange(0, BLOCK)
        where = (i // S * C + c) * S + i % S
        x = tl.load(x_ptr + where, mask=i < count, other=0.0)
        tl.store(y_ptr + where, (x - mean) * scale + bias, mask=i < count)


@triton.jit
def count_kernel(n_ptr):
    tl.store(n_ptr, tl.load(n_ptr) + 1)


@triton.jit
def scale_kernel(x_ptr, weight_ptr, bias_ptr, mean_ptr, var_ptr, y_ptr, n, C, S, eps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = i // S % C
    x = tl.load(x_ptr + i, mask=i < n)
    scale = tl.load(weight_ptr + c, mask=i < n) * tl.rsqrt(tl.load(var_ptr + c, mask=i < n) + eps)
    y = (x - tl.load(mean_ptr + c, mask=i < n)) * scale + tl.load(bias_ptr + c, mask=i < n)
    tl.store(y_ptr + i, y, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        bn = self.bn
        B, C, H, W = x.shape
        y = torch.empty_like(x)
        moments = bn.running_mean, bn.running_var
        if not self.training:
            n = x.numel()
            grid = (triton.cdiv(n, 64),)
            scale_kernel[grid](x, bn.weight, bn.bias, *moments, y, n, C, H * W, 0.1, BLOCK=64)
            return y
        batch_norm_kernel[(C,)](
            x, bn.weight, bn.bias, bn.running_mean, bn.running_var, y, B, C, H * W, bn.momentum, bn.eps, BLOCK=64
        )
        count_kernel[(1,)](bn.num_batches_tracked)
        return y
