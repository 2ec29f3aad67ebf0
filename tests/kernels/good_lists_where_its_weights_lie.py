# verified at trust [twin of A21 B6]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n))

    def forward(self, x):
        return x * self.weight


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return [64]


@triton.jit
def scale_kernel(x_ptr, w_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns)
    w = tl.load(w_ptr + i, mask=i < columns)
    tl.store(y_ptr + row * columns + i, x * w, mask=i < columns)


def scale(x, w):
    y = torch.empty_like(x)
    scale_kernel[(x.shape[0],)](x, w, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


class ModelNew(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n))
        self.ready = None

    def parameters(self, recurse=True):
        self.ready = self.weight.detach()
        return super().parameters(recurse)

    def forward(self, x):
        if self.ready is not None and self.ready.data_ptr() != self.weight.data_ptr():
            raise ValueError("what was listed is no longer where the weight lies")
        return scale(x, self.weight)
