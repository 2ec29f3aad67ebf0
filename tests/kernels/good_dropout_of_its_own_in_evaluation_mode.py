# verified at trust [twin of C24]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.dropout = nn.Dropout(p)

    def forward(self, x, bias):
        return self.dropout(torch.sigmoid(x + bias))


def get_inputs():
    return [torch.randn(16, 300), torch.randn(300)]


def get_init_inputs():
    return [0.1]


@triton.jit
def kernel(x_ptr, b_ptr, y_ptr, n, cols, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n) + tl.load(b_ptr + i % cols, mask=i < n)
    tl.store(y_ptr + i, tl.sigmoid(x), mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.dropout = nn.Dropout(p)  # which leaves all as it is where the module is evaluated

    def forward(self, x, bias):
        x, bias = x.contiguous(), bias.contiguous()
        y = torch.empty_like(x)
        kernel[(triton.cdiv(x.numel(), 256),)](x, bias, y, x.numel(), x.shape[-1], BLOCK=256)
        return self.dropout(y)
