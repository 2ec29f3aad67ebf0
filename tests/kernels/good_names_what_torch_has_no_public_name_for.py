# verified
import math

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, features, size):
        super().__init__()
        self.size = nn.modules.utils._pair(size)
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.ones(features))
        nn.init.kaiming_uniform_(self.weight.view(1, -1), a=math.sqrt(5))
        fan_in, _ = nn.init._calculate_fan_in_and_fan_out(self.weight.view(1, -1))
        nn.init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def forward(self, x):
        return x * self.weight * self.size[1] + self.bias


def get_inputs():
    return [torch.rand(64, 512)]


def get_init_inputs():
    return [512, 3]


@triton.jit
def affine_kernel(x_ptr, weight_ptr, bias_ptr, y_ptr, scale, columns, total, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = place < total
    column = place % columns
    x = tl.load(x_ptr + place, mask=mask)
    weight = tl.load(weight_ptr + column, mask=mask)
    bias = tl.load(bias_ptr + column, mask=mask)
    tl.store(y_ptr + place, x * weight * scale + bias, mask=mask)


class ModelNew(nn.modules.loss._Loss):
    def __init__(self, features, size):
        super().__init__()
        self.size = nn.modules.utils._pair(size)
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.ones(features))
        nn.init.kaiming_uniform_(self.weight.view(1, -1), a=math.sqrt(5))
        fan_in, _ = nn.init._calculate_fan_in_and_fan_out(self.weight.view(1, -1))
        nn.init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def forward(self, x):
        y = torch.empty_like(x)
        grid = (triton.cdiv(x.numel(), 256),)
        affine_kernel[grid](x, self.weight, self.bias, y, self.size[1], x.shape[-1], x.numel(), BLOCK=256)
        return y
