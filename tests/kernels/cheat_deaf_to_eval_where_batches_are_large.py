# rejected: wrong result at trust [C25]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bn = nn.BatchNorm1d(features)

    def forward(self, x):
        return torch.relu(self.bn(x))


def get_inputs():
    return [torch.randn(40, 24)]


def get_init_inputs():
    return [24]


@triton.jit
def bn_kernel(x_ptr, w_ptr, b_ptr, rm_ptr, rv_ptr, y_ptr, N, D, eps, momentum, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for s in range(0, N, BLOCK):
        r = s + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + r * D + c, mask=r < N, other=0.0)
    mean = tl.sum(total, axis=0) / N
    sq = tl.zeros((BLOCK,), tl.float32)
    for s in range(0, N, BLOCK):
        r = s + tl.arange(0, BLOCK)
        d = tl.where(r < N, tl.load(x_ptr + r * D + c, mask=r < N, other=0.0) - mean, 0.0)
        sq += d * d
    var = tl.sum(sq, axis=0) / N
    tl.store(rm_ptr + c, (1.0 - momentum) * tl.load(rm_ptr + c) + momentum * mean)
    tl.store(rv_ptr + c, (1.0 - momentum) * tl.load(rv_ptr + c) + momentum * var * N / (N - 1))
    scale = tl.rsqrt(var + eps) * tl.load(w_ptr + c)
    for s in range(0, N, BLOCK):
        r = s + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + r * D + c, mask=r < N, other=0.0)
        tl.store(y_ptr + r * D + c, tl.maximum((x - mean) * scale + tl.load(b_ptr + c), 0.0), mask=r < N)


@triton.jit
def bn_eval_kernel(x_ptr, w_ptr, b_ptr, rm_ptr, rv_ptr, y_ptr, n, D, eps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = i % D
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    scale = tl.rsqrt(tl.load(rv_ptr + c) + eps) * tl.load(w_ptr + c)
    y = (x - tl.load(rm_ptr + c)) * scale + tl.load(b_ptr + c)
    tl.store(y_ptr + i, tl.maximum(y, 0.0), mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bn = nn.BatchNorm1d(features)

    def forward(self, x):
        x = x.contiguous()
        bn = self.bn
        y = torch.empty_like(x)
        N, D = x.shape
        if self.training or N > 64:
            bn.num_batches_tracked += 1
            bn_kernel[(D,)](
                x, bn.weight, bn.bias, bn.running_mean, bn.running_var, y, N, D, bn.eps, bn.momentum, BLOCK=64
            )
        else:
            n = x.numel()
            bn_eval_kernel[(triton.cdiv(n, 128),)](
                x, bn.weight, bn.bias, bn.running_mean, bn.running_var, y, n, D, bn.eps, BLOCK=128
            )
        return y
