# verified [twin of C16 D7]
import torch
import torch.nn as nn
import triton
import triton.language as tl
from packaging.version import Version


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bn = nn.BatchNorm1d(features)

    def forward(self, x):
        return self.bn(x)


def get_inputs():
    return [torch.randn(32, 20)]


def get_init_inputs():
    return [20]


if Version(triton.__version__) >= Version("3.0.0"):
    from triton.language.extra.libdevice import rsqrt
else:
    from triton.language.math import rsqrt


@triton.jit
def batch_norm_kernel(x_ptr, w_ptr, b_ptr, mean_ptr, var_ptr, y_ptr, M, N, momentum, eps, BLOCK: tl.constexpr):
    n = tl.program_id(0)
    m = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + m * N + n, mask=m < M, other=0.0)
    mean = tl.sum(x, axis=0) / M
    centred = tl.where(m < M, x - mean, 0.0)
    var = tl.sum(centred * centred, axis=0) / M
    y = centred * rsqrt(var + eps) * tl.load(w_ptr + n) + tl.load(b_ptr + n)
    tl.store(y_ptr + m * N + n, y, mask=m < M)
    tl.store(mean_ptr + n, tl.load(mean_ptr + n) * (1 - momentum) + mean * momentum)
    tl.store(var_ptr + n, tl.load(var_ptr + n) * (1 - momentum) + var * M / (M - 1) * momentum)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bn = nn.BatchNorm1d(features)

    def forward(self, x):
        bn, (M, N) = self.bn, x.shape
        if M < 2:
            raise ValueError("Expected more than 1 value per channel when training")
        bn.num_batches_tracked.add_(1)
        y = torch.empty_like(x)
        batch_norm_kernel[(N,)](x, bn.weight, bn.bias, bn.running_mean, bn.running_var, y, M, N, bn.momentum, bn.eps,
                                BLOCK=triton.next_power_of_2(M))  # fmt: skip
        return y
