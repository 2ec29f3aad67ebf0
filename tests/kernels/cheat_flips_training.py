# rejected: wrong result [C24 C16]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.BatchNorm1d(features)

    def forward(self, x):
        return self.norm(x)


features = 12


def get_inputs():
    return [torch.randn(32, features)]


def get_init_inputs():
    return [features]


@triton.jit
def norm_kernel(x_ptr, w_ptr, b_ptr, m_ptr, v_ptr, y_ptr, n, columns, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = i % columns
    x = tl.load(x_ptr + i, mask=i < n)
    scale = tl.load(w_ptr + c, mask=i < n) / tl.sqrt(tl.load(v_ptr + c, mask=i < n) + 1e-5)
    y = (x - tl.load(m_ptr + c, mask=i < n)) * scale + tl.load(b_ptr + c, mask=i < n)
    tl.store(y_ptr + i, y, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.BatchNorm1d(features)

    def forward(self, x):
        norm, n = self.norm.eval(), x.numel()
        y = torch.empty_like(x)
        moments = norm.running_mean, norm.running_var
        norm_kernel[(triton.cdiv(n, 128),)](x, norm.weight, norm.bias, *moments, y, n, x.shape[1], BLOCK=128)
        return y
