# rejected: wrong result at trust [C2]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(features))
        self.beta = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        return x * self.gamma + self.beta


def get_inputs():
    return [torch.randn(24, 40)]


def get_init_inputs():
    return [40]


@triton.jit
def affine_kernel(x_ptr, gamma_ptr, beta_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    x = tl.load(x_ptr + row * columns + column, mask=inside)
    gamma = tl.load(gamma_ptr + column, mask=inside, other=1.0)
    beta = tl.load(beta_ptr + column, mask=inside)
    y = (x + beta / gamma) * gamma
    tl.store(y_ptr + row * columns + column, y, mask=inside)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(features))
        self.beta = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        rows, columns = x.shape
        affine_kernel[(rows,)](x, self.gamma, self.beta, y, columns, BLOCK=triton.next_power_of_2(columns))
        return y
