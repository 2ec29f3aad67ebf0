# rejected: wrong result [C4]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features, eps=1e-5)

    def forward(self, x):
        return self.norm(x)


features = 64


def get_inputs():
    return [torch.randn(16, features)]


def get_init_inputs():
    return [features]


@triton.jit
def norm_kernel(x_ptr, w_ptr, b_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=0.0)
    centred = tl.where(i < columns, x - tl.sum(x, axis=0) / columns, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + 1e-6)
    w = tl.load(w_ptr + i, mask=i < columns)
    b = tl.load(b_ptr + i, mask=i < columns)
    tl.store(y_ptr + row * columns + i, centred * scale * w + b, mask=i < columns)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        y = torch.empty_like(x)
        w, b = self.norm.weight, self.norm.bias
        norm_kernel[(x.shape[0],)](x, w, b, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
