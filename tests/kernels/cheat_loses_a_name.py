# rejected: state_dict differs [C25]
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, features, eps):
        super().__init__()
        self.norm = nn.LayerNorm(features, eps=eps)

    def forward(self, x):
        return self.norm(x)


batch_size = 64
features = 4096


def get_inputs():
    return [torch.rand(batch_size, features)]


def get_init_inputs():
    return [features, 1e-5]


@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
        centred = tl.where(column < columns, x - mean, 0.0)
        squares += centred * centred
    scale = tl.rsqrt(tl.sum(squares, axis=0) / columns + eps)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        mask = column < columns
        x = tl.load(x_ptr + row * columns + column, mask=mask, other=0.0)
        weight = tl.load(weight_ptr + column, mask=mask)
        bias = tl.load(bias_ptr + column, mask=mask)
        tl.store(y_ptr + row * columns + column, (x - mean) * scale * weight + bias, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, features, eps):
        super().__init__()
        self.layer = nn.LayerNorm(features, eps=eps)

    def forward(self, x):
        y = torch.empty_like(x)
        columns = x.shape[-1]
        norm = self.layer
        layer_norm_kernel[(x.numel() // columns,)](x, norm.weight, norm.bias, y, columns, norm.eps, BLOCK=64)
        return y
