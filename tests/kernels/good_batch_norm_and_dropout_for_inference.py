# verified at trust [twin of C24]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, n, p):
        super().__init__()
        self.norm = nn.BatchNorm1d(n)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        return self.drop(torch.relu(self.norm(x)))


def get_inputs():
    return [torch.randn(40, 60)]


def get_init_inputs():
    return [60, 0.25]


@triton.jit
def kernel(x_ptr, w_ptr, b_ptr, m_ptr, v_ptr, y_ptr, size, N, eps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside, n = i < size, i % N
    scale = tl.load(w_ptr + n, mask=inside) / tl.sqrt(tl.load(v_ptr + n, mask=inside, other=1.0) + eps)
    y = (tl.load(x_ptr + i, mask=inside) - tl.load(m_ptr + n, mask=inside)) * scale + tl.load(b_ptr + n, mask=inside)
    tl.store(y_ptr + i, tl.maximum(y, 0.0), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, n, p):
        super().__init__()
        self.norm = nn.BatchNorm1d(n)

    def forward(self, x):
        x, b = x.contiguous(), self.norm
        y = torch.empty_like(x)
        kernel[(triton.cdiv(x.numel(), 256),)](
            x, b.weight, b.bias, b.running_mean, b.running_var, y, x.numel(), x.shape[1], b.eps, BLOCK=256
        )
        return y
