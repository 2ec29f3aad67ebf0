# verified [torch adds one to num_batches_tracked, also when calls are timed]
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        return F.relu(self.bn(x))


def get_inputs():
    return [torch.randn(8, 32, 28, 28)]


def get_init_inputs():
    return [32]


@triton.jit
def stats_kernel(x_ptr, mean_ptr, var_ptr, rm_ptr, rv_ptr, N, C, HW, momentum, BLOCK: tl.constexpr):
    c = tl.program_id(0).to(tl.int64)
    s = tl.zeros([BLOCK], tl.float32)
    for n in range(N):
        base = x_ptr + (tl.cast(n, tl.int64) * C + c) * HW
        for start in range(0, HW, BLOCK):
            i = start + tl.arange(0, BLOCK)
            s += tl.load(base + i, mask=i < HW, other=0.0).to(tl.float32)
    count = N * HW
    mean = tl.sum(s) / count
    s2 = tl.zeros([BLOCK], tl.float32)
    for n in range(N):
        base = x_ptr + (tl.cast(n, tl.int64) * C + c) * HW
        for start in range(0, HW, BLOCK):
            i = start + tl.arange(0, BLOCK)
            d = tl.load(base + i, mask=i < HW, other=0.0).to(tl.float32) - mean
            s2 += tl.where(i < HW, d * d, 0.0)
    var = tl.sum(s2) / count
    tl.store(mean_ptr + c, mean)
    tl.store(var_ptr + c, var)
    rm = tl.load(rm_ptr + c)
    rv = tl.load(rv_ptr + c)
    tl.store(rm_ptr + c, rm + momentum * (mean - rm))
    tl.store(rv_ptr + c, rv + momentum * (var * count / (count - 1) - rv))


@triton.jit
def apply_kernel(x_ptr, y_ptr, mean_ptr, var_ptr, w_ptr, b_ptr, C, HW, eps, BLOCK: tl.constexpr):
    p = tl.program_id(0).to(tl.int64)
    c = p % C
    mean = tl.load(mean_ptr + c)
    scale = tl.load(w_ptr + c) / tl.sqrt(tl.load(var_ptr + c) + eps)
    shift = tl.load(b_ptr + c)
    for start in range(0, HW, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + p * HW + i, mask=i < HW, other=0.0).to(tl.float32)
        y = (x - mean) * scale + shift
        tl.store(y_ptr + p * HW + i, tl.where(y < 0.0, 0.0, y), mask=i < HW)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bn = nn.BatchNorm2d(channels)

    def forward(self, x):
        x = x.contiguous()
        n, c, h, w = x.shape
        bn = self.bn
        y = torch.empty_like(x)
        if self.training:
            mean = torch.empty(c, device=x.device, dtype=torch.float32)
            var = torch.empty_like(mean)
            stats_kernel[(c,)](x, mean, var, bn.running_mean, bn.running_var, n, c, h * w, bn.momentum, BLOCK=1024)
            bn.num_batches_tracked += 1
        else:
            mean, var = bn.running_mean, bn.running_var
        apply_kernel[(n * c,)](x, y, mean, var, bn.weight, bn.bias, c, h * w, bn.eps, BLOCK=1024)
        return y
